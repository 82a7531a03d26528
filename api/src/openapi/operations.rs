//! What is the same in all operations: the variable parts of paths, the headers, and the problems that layers and extractors
//! answer with. It is said once, here, so that no operation can leave it out.

use axum::http::Method;
use utoipa::ToSchema;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{Components, ComponentsBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Ref, RefOr, Required, Response};

use super::problems::{self, Answer};
use super::values::{NameSchema, NamespaceNameSchema, NumberSchema, TokenNameSchema};
use crate::accept::Offer;
use crate::access::{Need, need_of};
use crate::idempotency::{self, MAX_KEY_BYTES};
use crate::unread::PAGES;

const REQUEST_ID: &str = "X-Request-Id";
/// What the document calls the way in which a token is shown.
const BEARER: &str = "bearer";
const REPLAYED: &str = "Idempotency-Replayed";

/// Completes the operations of a path.
pub(super) fn complete(path: &str, item: &mut PathItem) {
    let variable: Vec<RefOr<Parameter>> = variable_parts(path).map(|part| RefOr::T(path_parameter(part))).collect();
    let operations = [
        (Method::GET, &mut item.get),
        (Method::PUT, &mut item.put),
        (Method::POST, &mut item.post),
        (Method::PATCH, &mut item.patch),
        (Method::DELETE, &mut item.delete),
    ];
    for (method, operation) in operations {
        if let Some(operation) = operation {
            let takes_key = idempotency::takes_key(&method, path);
            operation.parameters.get_or_insert_default().splice(0..0, variable.iter().cloned());
            complete_operation(operation, takes_key);
            complete_access(operation);
            // Queries that an operation does not know are refused, by the pages alone they are passed over.
            if !path.starts_with(PAGES) || !variable.is_empty() {
                answer(operation, [problems::MALFORMED]);
            }
            if Offer::of_route(path) != Offer::Own {
                answer(operation, [problems::NOT_ACCEPTABLE]);
            }
        }
    }
}

fn complete_operation(operation: &mut Operation, takes_key: bool) {
    let parameters = operation.parameters.get_or_insert_default();
    parameters.push(parameter_reference("RequestId"));
    if takes_key {
        parameters.push(parameter_reference("IdempotencyKey"));
    }
    // The time until an answer begins is bounded for all.
    answer(operation, [problems::FAILED, problems::UNAVAILABLE]);
    if operation.request_body.is_some() {
        answer(operation, [problems::TOO_SLOW, problems::TOO_LARGE, problems::UNSUPPORTED]);
    }
    if takes_key {
        // Its body is read for its key, which may have stood for another request.
        answer(operation, [problems::REFUSED]);
    }
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response {
            add_headers(response, takes_key);
        }
    }
}

/// Says what the door answers. Where a server needs no token, an operation that would need one is open without.
fn complete_access(operation: &mut Operation) {
    answer(operation, [problems::MISDIRECTED]);
    let need = operation.operation_id.as_deref().map_or(Need::Impossible, need_of);
    if need == Need::Anyone {
        return;
    }
    let token = SecurityRequirement::new::<_, _, String>(BEARER, []);
    operation.security = Some(vec![token, SecurityRequirement::default()]);
    answer(operation, [problems::UNAUTHORIZED]);
    if need != Need::Token {
        answer(operation, [problems::FORBIDDEN]);
    }
}

fn answer(operation: &mut Operation, answers: impl IntoIterator<Item = Answer>) {
    let answers = answers.into_iter().map(|answer| (answer.status.to_owned(), answer.reference()));
    operation.responses.responses.extend(answers);
}

/// The headers of an answer.
pub(super) fn add_headers(response: &mut Response, takes_key: bool) {
    response.headers.insert(REQUEST_ID.to_owned(), header_reference("RequestId"));
    if takes_key {
        response.headers.insert(REPLAYED.to_owned(), header_reference("IdempotencyReplayed"));
    }
}

/// The parts of a path that stand in braces.
fn variable_parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// A variable part of a path. Each has one meaning wherever it stands.
fn path_parameter(part: &str) -> Parameter {
    let reference = |name: &str| RefOr::Ref(Ref::from_schema_name(name));
    let text = || RefOr::from(Schema::from(string().build()));
    let (schema, description) = match part {
        "namespace" => (reference(&NamespaceNameSchema::name()), "The namespace."),
        "table" => (reference(&NameSchema::name()), "The table, by its name in the namespace."),
        "tag" => (reference(&NameSchema::name()), "The tag."),
        "snapshot_id" => (reference(&NumberSchema::name()), "The snapshot, by its number in the table."),
        "audit_id" => (reference(&NumberSchema::name()), "The audit."),
        "manifest_id" => (reference(&NumberSchema::name()), "The manifest."),
        "token" => (reference(&TokenNameSchema::name()), "The token, by its name."),
        "file" => (text(), "The name of the file."),
        "name" => (text(), "What stands behind `/problems/`."),
        _ => (text(), ""),
    };
    ParameterBuilder::new()
        .name(part)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(description).filter(|description| !description.is_empty()))
        .schema(Some(schema))
        .build()
}

fn parameter_reference(name: &str) -> RefOr<Parameter> {
    RefOr::Ref(Ref::new(format!("#/components/parameters/{name}")))
}

fn header_reference(name: &str) -> RefOr<Header> {
    RefOr::Ref(Ref::new(format!("#/components/headers/{name}")))
}

/// What operations refer to.
pub(super) fn components(components: Components) -> Components {
    let components = ComponentsBuilder::from(components)
        .parameter("RequestId", request_id_parameter())
        .parameter("IdempotencyKey", idempotency_key())
        .header("RequestId", request_id_header())
        .header("IdempotencyReplayed", replayed())
        .security_scheme(BEARER, bearer());
    problems::components(components).build()
}

fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn bearer() -> SecurityScheme {
    let description = "A token, as `prunus token create` or `POST /v1/tokens` gives it. Where the server needs none, a request may be \
                       without; one that has a token is held to it.";
    SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(description)).build())
}

fn request_id_parameter() -> Parameter {
    let description = "The id under which the server's log tells of the request. One that is longer than 255 bytes, or not visible \
                       ASCII, is passed over.";
    ParameterBuilder::new()
        .name(REQUEST_ID)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(string()))
        .build()
}

fn request_id_header() -> Header {
    HeaderBuilder::new()
        .schema(Some(string()))
        .description(Some("The id of the request: its own, or a new one."))
        .build()
}

fn idempotency_key() -> Parameter {
    let description = "A name for this request; a UUID is advised. Sent again with the same content within 24 hours, the request is \
                       answered as before and carried out once; with other content it is refused.";
    ParameterBuilder::new()
        .name(idempotency::HEADER)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(string().min_length(Some(1)).max_length(Some(MAX_KEY_BYTES))))
        .build()
}

fn replayed() -> Header {
    let description = "`true` where the answer is the one to an earlier request under the same Idempotency-Key.";
    HeaderBuilder::new().schema(Some(string().enum_values(Some(["true"])))).description(Some(description)).build()
}
