//! The routes of the API, as the router has them.

use crate::session::Reached;

/// Routes that are not for a command: what scrapes metrics, browsers, and makers of clients ask for them.
const NOT_FOR_COMMANDS: [&str; 4] = ["/metrics", "/openapi.json", "/docs", "/problems"];

/// All routes that some command must reach.
pub(crate) fn all() -> Reached {
    let source = include_str!("../../src/router.rs");
    let source = source.split("#[cfg(test)]").next().unwrap();
    let mut routes = Reached::new();
    for route in source.split(".route(").skip(1) {
        let path = route.split('"').nth(1).unwrap();
        let methods = route.split_once(',').unwrap().1;
        for method in ["get", "post", "put", "patch", "delete"] {
            let is_there = [" ", ".", "\n"].iter().any(|before| methods.contains(&format!("{before}{method}(")));
            if is_there && !NOT_FOR_COMMANDS.iter().any(|other| path.starts_with(other)) {
                routes.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    routes
}
