//! The routes of the API, as its document has them.

use std::path::Path;

use serde_json::Value;

use crate::session::Reached;

/// Routes that are not for a command: what scrapes metrics, browsers, and makers of clients ask for them.
const NOT_FOR_COMMANDS: [&str; 4] = ["/metrics", "/openapi.json", "/docs", "/problems"];
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// All routes that some command must reach.
pub(crate) fn all() -> Reached {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let routes = of_document(&std::fs::read_to_string(document).unwrap());
    let for_commands = |route: &String| {
        let path = route.split_once(' ').unwrap().1;
        !NOT_FOR_COMMANDS.iter().any(|other| path.starts_with(other))
    };
    routes.into_iter().filter(for_commands).collect()
}

fn of_document(document: &str) -> Reached {
    let document: Value = serde_json::from_str(document).unwrap();
    let mut routes = Reached::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in METHODS.iter().filter(|method| methods.get(**method).is_some()) {
            routes.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    routes
}
