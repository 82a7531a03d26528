//! The routes of the API: those that it documents or, where it has no document, those of the router's source.

use std::path::Path;

use serde_json::Value;

use crate::session::Reached;

/// Routes that are not for a command: what scrapes metrics, browsers, and makers of clients ask for them.
const NOT_FOR_COMMANDS: [&str; 4] = ["/metrics", "/openapi.json", "/docs", "/problems"];
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// All routes that some command must reach.
pub(crate) fn all() -> Reached {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let routes = std::fs::read_to_string(document).map_or_else(|_| of_source(), |document| of_document(&document));
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

fn of_source() -> Reached {
    let source = include_str!("../../src/router.rs").split("#[cfg(test)]").next().unwrap();
    let mut routes = Reached::new();
    for route in source.split(".route(").skip(1) {
        let path = route.split('"').nth(1).unwrap();
        let handlers = route.split_once(',').unwrap().1;
        for method in METHODS {
            if [" ", ".", "\n"].iter().any(|before| handlers.contains(&format!("{before}{method}("))) {
                routes.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    routes
}
