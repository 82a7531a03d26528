//! `prunus demo`

use clap::Args;

use crate::demo::DemoOptions;

use super::{CliError, Exit};

const EXAMPLES: &str = "\
Example:
  prunus demo";

/// Show what Prunus does on generated files in a temporary folder, and prove it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DemoArgs {
    /// The scale of TPC-H
    #[arg(long, hide = true, default_value = "0.1", value_parser = scale)]
    scale: f64,
}

pub(super) async fn run(args: DemoArgs) -> Result<Exit, CliError> {
    crate::demo::run(DemoOptions { scale: args.scale }, &mut std::io::stdout()).await?;
    Ok(Exit::Done)
}

/// At scale 1 the rows take a good gigabyte of memory.
fn scale(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if (0.001..=1.0).contains(&scale) => Ok(scale),
        _ => Err("the scale is from 0.001 to 1".to_owned()),
    }
}
