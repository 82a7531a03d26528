//! Errors as Iceberg's specification has them: a message, the name of an exception, and the status once more.

use axum::Json;
use axum::http::StatusCode;
use axum::http::response::Parts;
use axum::response::{IntoResponse, Response};
use prunus_catalog::{Error, Fault};
use serde::Serialize;

use crate::problem::Problem;
use crate::wire::cut_to_limit;

/// What this API alone refuses. Everything else is a problem of both.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// The table is none that Iceberg could have, as far as the request asks for it.
    #[error("{0}")]
    NotOfIceberg(String),
    /// No plan has this id.
    #[error("{0}")]
    NoSuchPlan(String),
    /// No plan has this task.
    #[error("{0}")]
    NoSuchPlanTask(String),
}

#[derive(Serialize)]
struct ErrorJson {
    error: ErrorModelJson,
}

#[derive(Serialize)]
struct ErrorModelJson {
    message: String,
    #[serde(rename = "type")]
    exception: &'static str,
    code: u16,
}

/// The answer that says so; its head is that of the problem but for the status.
pub(crate) fn answer(mut head: Parts, problem: &Problem) -> Response {
    let status = status_of(problem);
    head.status = status;
    let error = ErrorModelJson {
        message: message_of(problem),
        exception: exception_of(problem, status),
        code: status.as_u16(),
    };
    (head, Json(ErrorJson { error })).into_response()
}

/// A refusal that another try would meet again is 400 and nothing that clients try again, or take for what they know better.
fn status_of(problem: &Problem) -> StatusCode {
    match problem {
        Problem::MethodNotAllowed(_) => StatusCode::NOT_ACCEPTABLE,
        Problem::Iceberg(Refusal::NoSuchPlan(_) | Refusal::NoSuchPlanTask(_)) | Problem::StalePageToken => {
            StatusCode::NOT_FOUND
        }
        problem => match problem.kind().status {
            StatusCode::GONE => StatusCode::NOT_FOUND,
            StatusCode::UNPROCESSABLE_ENTITY | StatusCode::UNSUPPORTED_MEDIA_TYPE => StatusCode::BAD_REQUEST,
            status => status,
        },
    }
}

fn exception_of(problem: &Problem, status: StatusCode) -> &'static str {
    match problem {
        Problem::Catalog(Error::NotFound { what, .. } | Error::Misnamed { what, .. }) => no_such(what),
        Problem::Catalog(Error::Expired { .. }) => no_such("snapshot"),
        Problem::Iceberg(Refusal::NoSuchPlan(_)) => "NoSuchPlanIdException",
        Problem::Iceberg(Refusal::NoSuchPlanTask(_)) => "NoSuchPlanTaskException",
        Problem::Iceberg(Refusal::NotOfIceberg(_)) => "ValidationException",
        _ => exception_of_status(status),
    }
}

fn no_such(what: &str) -> &'static str {
    match what {
        "namespace" => "NoSuchNamespaceException",
        "table" => "NoSuchTableException",
        "snapshot" | "snapshot at" => "NoSuchSnapshotException",
        _ => "NotFoundException",
    }
}

fn exception_of_status(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "NotAuthorizedException",
        StatusCode::FORBIDDEN => "ForbiddenException",
        StatusCode::NOT_FOUND => "NotFoundException",
        StatusCode::NOT_ACCEPTABLE => "UnsupportedOperationException",
        StatusCode::TOO_MANY_REQUESTS => "TooManyRequestsException",
        StatusCode::SERVICE_UNAVAILABLE => "ServiceUnavailableException",
        status if status.is_server_error() => "InternalServerError",
        _ => "BadRequestException",
    }
}

fn message_of(problem: &Problem) -> String {
    let faults: Vec<String> = problem.faults().iter().map(with_place).collect();
    cut_to_limit(match problem {
        Problem::MethodNotAllowed(method) => {
            format!("{method} is not served here: tables are read by this API, and written by the native one under /v1")
        }
        problem if faults.is_empty() => problem.told(),
        // There is no other place for them.
        problem => format!("{}: {}", problem.kind().title, faults.join("; ")),
    })
}

fn with_place(fault: &Fault) -> String {
    match &fault.at {
        Some(at) => format!("{at}: {}", fault.message),
        None => fault.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(problem: &Problem, status: u16, exception: &str) {
        let found = status_of(problem);
        assert_eq!((found.as_u16(), exception_of(problem, found)), (status, exception));
    }

    #[test]
    fn each_problem_has_its_exception() {
        let not_found = |what| Problem::Catalog(Error::NotFound { what, name: "x".to_owned() });
        check(&not_found("namespace"), 404, "NoSuchNamespaceException");
        check(&not_found("table"), 404, "NoSuchTableException");
        check(&not_found("snapshot"), 404, "NoSuchSnapshotException");
        check(&Problem::Catalog(Error::Expired { what: "x".to_owned() }), 404, "NoSuchSnapshotException");
        check(&Problem::StalePageToken, 404, "NotFoundException");
        check(&Refusal::NoSuchPlan(String::new()).into(), 404, "NoSuchPlanIdException");
        check(&Refusal::NoSuchPlanTask(String::new()).into(), 404, "NoSuchPlanTaskException");
        check(&Refusal::NotOfIceberg(String::new()).into(), 400, "ValidationException");
        check(&Problem::NoToken, 401, "NotAuthorizedException");
        check(&Problem::Closed, 403, "ForbiddenException");
        check(&Problem::MethodNotAllowed("PUT".to_owned()), 406, "UnsupportedOperationException");
        check(&Problem::NoSuchRoute("/iceberg/x".to_owned()), 404, "NotFoundException");
        check(&Problem::from(Fault::new("x")), 400, "BadRequestException");
        check(&Problem::UnsupportedMediaType(String::new()), 400, "BadRequestException");
        check(&Problem::ShuttingDown, 503, "ServiceUnavailableException");
        check(&Problem::Panicked(String::new()), 500, "InternalServerError");
    }

    #[test]
    fn all_faults_stand_in_the_message() {
        let of_form = Problem::MalformedBody(vec![Fault::at("filter", "x")]);
        assert!(message_of(&of_form).ends_with(": filter: x"), "{}", message_of(&of_form));
        let two = Problem::from(vec![Fault::at("filter", "x"), Fault::new("y")]);
        assert!(message_of(&two).ends_with(": filter: x; y"), "{}", message_of(&two));
    }
}
