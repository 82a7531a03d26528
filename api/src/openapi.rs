//! The OpenAPI document: put together from what stands at handlers and wire types, and completed here.

#[cfg(test)]
mod answers;
mod operations;
mod problems;
pub(crate) mod values;

use std::sync::LazyLock;

use axum::http::Method;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{AdditionalProperties, Schema};
use utoipa::openapi::{OpenApi, PathItem, RefOr};
use utoipa::{OpenApi as _, ToSchema};

use crate::wire::{ConflictReasonJson, DefaultsJson, LimitsJson, SchemaChangeJson, ZoneJson};
pub(crate) use problems::{Conflict, Gone, NotFound, Refused, TooMany, Unavailable};

/// What is said of the API as a whole.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Prunus",
        description = "A lakehouse catalog: it keeps Parquet files with statistics, and tells which of them can hold a row that a \
                       filter matches.\n\nErrors are `application/problem+json`, with a `type` that names the problem. Listings and \
                       plans come in pages: send `next_page_token` as `page_token` until there is none. A changing request may \
                       have an `Idempotency-Key`, under which it can be sent again. Bodies may be compressed, as the header \
                       `Content-Encoding: gzip` or `zstd` says then.\n\nA server that is reached from other machines needs \
                       tokens: what an operation needs of one stands in `docs/access.md`.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "namespaces", description = "Where tables are."),
        (name = "tables", description = "Tables and their schemas."),
        (name = "commits", description = "Changes of tables: each makes a snapshot."),
        (name = "scans", description = "Which files may hold a matching row, and why."),
        (name = "snapshots", description = "What tables were."),
        (name = "files", description = "What is registered of files and columns."),
        (name = "audits", description = "Whether what is registered is true."),
        (name = "maintenance", description = "The layout of a table, and what it no longer needs."),
        (name = "access", description = "Who may use it."),
        (name = "server", description = "The server itself."),
    ),
    components(schemas(crate::wire::ProblemJson)),
)]
struct Api;

/// The document before it has any operation.
pub(crate) fn opening() -> OpenApi {
    Api::openapi()
}

/// The operations of a path.
pub(crate) fn operations_of(item: &PathItem) -> impl Iterator<Item = (Method, &Operation)> {
    let operations = [
        (Method::GET, &item.get),
        (Method::PUT, &item.put),
        (Method::POST, &item.post),
        (Method::PATCH, &item.patch),
        (Method::DELETE, &item.delete),
    ];
    operations.into_iter().filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

/// The document of the router, as it is served: pretty-printed JSON.
pub(crate) fn document() -> &'static str {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| written(crate::router::described()));
    &DOCUMENT
}

/// The document of these operations.
fn written(mut api: OpenApi) -> String {
    for (path, item) in &mut api.paths.paths {
        operations::complete(path, item);
    }
    let mut components = operations::components(api.components.unwrap_or_default());
    if let Some(RefOr::T(Schema::OneOf(changes))) = components.schemas.get_mut(&*SchemaChangeJson::name()) {
        changes.items.iter_mut().for_each(close);
    }
    for name in [LimitsJson::name(), DefaultsJson::name(), ZoneJson::name()] {
        components.schemas.get_mut(&*name).into_iter().for_each(always_send);
    }
    if let Some(RefOr::T(Schema::Object(reasons))) = components.schemas.get_mut(&*ConflictReasonJson::name()) {
        // What a client reads that does not know the word.
        reasons.enum_values.iter_mut().for_each(|words| words.retain(|word| word != "unknown"));
    }
    let schemas = std::mem::take(&mut components.schemas).into_iter();
    components.schemas = schemas.map(|(name, schema)| (public_name(&name).to_owned(), schema)).collect();
    api.components = Some(components);
    with_public_names(&api.to_pretty_json().unwrap_or_default()) + "\n"
}

/// Says that an object refuses what it does not name, which a derived schema does not say of the variants of an enum.
fn close(schema: &mut RefOr<Schema>) {
    if let RefOr::T(Schema::Object(object)) = schema {
        object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
    }
}

/// Says that every field of an answer is there, where what a client takes for one that an older server does not send was derived.
fn always_send(schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::Object(object)) = schema else { return };
    object.required = object.properties.keys().cloned().collect();
    for property in object.properties.values_mut() {
        if let RefOr::T(Schema::Object(property)) = property {
            property.default = None;
        }
    }
}

/// Types of the wire end in `Json`, so as not to be taken for those of the catalog. Clients know no others.
fn public_name(name: &str) -> &str {
    name.strip_suffix("Json").unwrap_or(name)
}

/// The text with public names where it refers to schemas.
fn with_public_names(text: &str) -> String {
    const SCHEMAS: &str = "#/components/schemas/";
    let mut parts = text.split(SCHEMAS);
    let mut renamed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('"').unwrap_or((part, ""));
        renamed.extend([SCHEMAS, public_name(name), "\"", rest]);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Where the document is kept, so that clients can be made without a server and changes of it are seen.
    const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");

    fn parsed() -> Value {
        serde_json::from_str(document()).unwrap()
    }

    /// Every operation by path and method.
    fn operations(document: &Value) -> Vec<(String, &Value)> {
        let mut operations = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            operations.extend(item.as_object().unwrap().iter().map(|(method, of)| (format!("{method} {path}"), of)));
        }
        operations
    }

    #[test]
    fn the_document_is_the_one_that_is_kept() {
        if std::env::var_os("PRUNUS_WRITE_OPENAPI").is_some() {
            std::fs::write(KEPT, document()).unwrap();
        }
        let kept = std::fs::read_to_string(KEPT).unwrap_or_default();
        assert!(
            kept == document(),
            "api/openapi.json is not what the code says; if the code is right, write it anew with \
             `PRUNUS_WRITE_OPENAPI=1 cargo test -p prunus --lib the_document_is_the_one_that_is_kept`"
        );
    }

    #[test]
    fn operations_have_names_that_are_unique() {
        let document = parsed();
        let names: Vec<&str> =
            operations(&document).iter().map(|(_, of)| of["operationId"].as_str().unwrap()).collect();
        let unique: std::collections::BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), unique.len(), "{names:?}");
    }

    #[test]
    fn every_operation_and_parameter_is_described() {
        let document = parsed();
        for (name, operation) in operations(&document) {
            assert!(operation["summary"].is_string() && operation["description"].is_string(), "{name}");
            for parameter in operation["parameters"].as_array().unwrap() {
                assert!(parameter["$ref"].is_string() || parameter["description"].is_string(), "{name}: {parameter}");
            }
        }
    }

    #[test]
    fn descriptions_link_to_nothing_of_the_code() {
        let (before, _) = document().split_once("[`").unwrap_or_default();
        assert!(before.is_empty(), "after {}", before.lines().last().unwrap_or_default());
    }

    #[test]
    fn everything_that_is_referred_to_is_there() {
        let document = parsed();
        let mut rest = vec![&document];
        while let Some(next) = rest.pop() {
            match next {
                Value::Object(object) => rest.extend(object.values()),
                Value::Array(array) => rest.extend(array),
                Value::String(text) => {
                    let pointer = text.strip_prefix('#').filter(|pointer| pointer.starts_with("/components/"));
                    assert!(pointer.is_none_or(|pointer| document.pointer(pointer).is_some()), "{text}");
                }
                _ => {}
            }
        }
    }
}
