//! What README.md shows of PyIceberg, as it stands there.

use crate::clients::{NEW, run_to_the_end, script};
use crate::served::Server;

const README: &str = include_str!("../../../README.md");
const FENCE: &str = "```python\n";

#[test]
fn the_readme_reads_a_table() {
    let Some(mut script) = script(NEW, "readme") else { return };
    let (_, code) = README.split_once(FENCE).unwrap();
    let (code, _) = code.split_once("```").unwrap();
    let server = Server::start();
    script.args([server.url(), &server.data()]).arg(code.replace("http://127.0.0.1:8181", server.url()));
    run_to_the_end(script);
}
