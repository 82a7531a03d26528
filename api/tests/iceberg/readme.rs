//! What README.md shows of PyIceberg, as it stands there.

use crate::python::{NEW, interpreter, run, script};
use crate::served::Server;

const README: &str = include_str!("../../../README.md");
const FENCE: &str = "```python\n";

#[test]
fn the_readme_reads_a_table() {
    let Some(mut python) = interpreter(NEW) else { return };
    let (_, code) = README.split_once(FENCE).unwrap();
    let (code, _) = code.split_once("```").unwrap();
    let server = Server::start();
    python.args([&script("readme"), server.url(), &server.data()]);
    python.arg(code.replace("http://127.0.0.1:8181", server.url()));
    run(python);
}
