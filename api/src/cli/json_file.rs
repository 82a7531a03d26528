//! Requests that stand in files, or come by standard input.

use std::io::Read;

use serde::de::DeserializeOwned;

use super::CliError;

/// What names standard input instead of a file.
const STANDARD_INPUT: &str = "-";

/// Reads JSON from a file, or from standard input if the file is called `-`.
///
/// # Errors
/// [`CliError::File`] and [`CliError::Json`].
pub(super) async fn read_json<T>(path: &str, what: &'static str) -> Result<T, CliError>
where
    T: DeserializeOwned + Send + 'static,
{
    let path = path.to_owned();
    // Standard input may be a while in coming, and an interrupt is not to wait for it.
    let read = tokio::task::spawn_blocking(move || {
        let text = read_text(&path).map_err(|source| CliError::File { path: path.clone(), source })?;
        parse(&text, path, what)
    });
    read.await.map_err(|lost| CliError::Runtime(std::io::Error::other(lost)))?
}

fn read_text(path: &str) -> std::io::Result<String> {
    if path == STANDARD_INPUT {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(path)
}

fn parse<T: DeserializeOwned>(text: &str, path: String, what: &'static str) -> Result<T, CliError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let at = error.path().to_string();
        // The whole of it is called `.`.
        let at = if at == "." { String::new() } else { format!("`{at}` of ") };
        CliError::Json { path: path.clone(), what, at, source: error.into_inner() }
    })?;
    json.end().map_err(|source| CliError::Json { path, what, at: String::new(), source })?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::super::invocation::Invocation;
    use super::super::prose::Paint;
    use super::*;
    use crate::wire::CommitJson;

    fn fault(text: &str) -> String {
        let error = parse::<CommitJson>(text, "c.json".to_owned(), "a commit").unwrap_err();
        error.report_in(Paint::Plain, &Invocation::default())
    }

    #[test]
    fn what_does_not_read_is_told_with_its_place() {
        insta::assert_snapshot!(
            fault(r#"{"operation": "append", "add": [{"path": 5}]}"#),
            @"error: `add[0].path` of `c.json` is not as a commit has it: invalid type: integer `5`, expected a string at line 1 column 42"
        );
    }

    #[test]
    fn what_follows_the_json_is_an_error() {
        assert!(fault(r#"{"operation": "append"} x"#).contains("trailing characters"));
    }
}
