//! The problems that an operation may answer with. A handler names those that its use case can give; what layers and extractors
//! answer is added to each operation (`operations`).

use std::collections::BTreeMap;

use utoipa::IntoResponses;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::{ComponentsBuilder, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};

use super::operations::add_headers;

/// The media type of problems.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// A kind of problem, of which there is one response for each status.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub(super) status: &'static str,
    name: &'static str,
    description: &'static str,
}

pub(super) const MALFORMED: Answer = Answer {
    status: "400",
    name: "Malformed",
    description: "The request is malformed: its path, query, headers or body are not those of the operation, or its page token \
                  belongs to another request.",
};
pub(super) const UNAUTHORIZED: Answer = Answer {
    status: "401",
    name: "Unauthorized",
    description: "The request shows no token where one is needed, or one that opens nothing.",
};
pub(super) const FORBIDDEN: Answer = Answer {
    status: "403",
    name: "Forbidden",
    description: "The token does not open this; `detail` says which role is needed where. What it may not see is answered so whether it \
                  is there or not.",
};
const NOT_FOUND: Answer =
    Answer { status: "404", name: "NotFound", description: "What the request names does not exist." };
pub(super) const NOT_ACCEPTABLE: Answer = Answer {
    status: "406",
    name: "NotAcceptable",
    description: "The answer has no format that the Accept header allows.",
};
pub(super) const TOO_SLOW: Answer = Answer {
    status: "408",
    name: "TooSlow",
    description: "The body did not arrive in time. The connection is closed, and the request may be sent again.",
};
const CONFLICT: Answer = Answer {
    status: "409",
    name: "Conflict",
    description: "The request contradicts what is there. It may succeed later where `retryable` says so; a conflict of a commit \
                  lists the paths at fault and the snapshot that it was held against.",
};
const GONE: Answer = Answer {
    status: "410",
    name: "Gone",
    description: "What the request names is expired: a snapshot, or that of a page token.",
};
pub(super) const TOO_LARGE: Answer = Answer {
    status: "413",
    name: "TooLarge",
    description: "The body is larger than the server reads, as it is sent or once it is decompressed.",
};
pub(super) const UNSUPPORTED: Answer = Answer {
    status: "415",
    name: "UnsupportedMediaType",
    description: "The body is not said to be JSON, or has an encoding other than gzip and zstd.",
};
pub(super) const MISDIRECTED: Answer = Answer {
    status: "421",
    name: "Misdirected",
    description: "The server needs no token, and the Host header names no loopback address, or a proxy passed the request on.",
};
pub(super) const REFUSED: Answer = Answer {
    status: "422",
    name: "Refused",
    description: "The request is understood and refused; `faults` says what is wrong with which part of it.",
};
pub(super) const TOO_MANY: Answer = Answer {
    status: "429",
    name: "TooMany",
    description: "As many such requests are worked on and wait as the server takes. Nothing was done, and the request may be sent \
                  again.",
};
pub(super) const FAILED: Answer =
    Answer { status: "500", name: "Failed", description: "The server failed. Its log has more under the request id." };
pub(super) const UNAVAILABLE: Answer = Answer {
    status: "503",
    name: "Unavailable",
    description: "An object store does not answer, the server's own store has no room, as many changes wait as the server takes, the \
                  answer took too long to begin, or the server is shutting down. The request may be sent again.",
};

const ALL: [Answer; 15] = [
    MALFORMED,
    UNAUTHORIZED,
    FORBIDDEN,
    NOT_FOUND,
    NOT_ACCEPTABLE,
    TOO_SLOW,
    CONFLICT,
    GONE,
    TOO_LARGE,
    UNSUPPORTED,
    MISDIRECTED,
    REFUSED,
    TOO_MANY,
    FAILED,
    UNAVAILABLE,
];

impl Answer {
    /// What an operation says of it.
    pub(super) fn reference(self) -> RefOr<Response> {
        RefOr::Ref(Ref::from_response_name(self.name))
    }

    fn response(self) -> Response {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("ProblemJson"))).build();
        let response = ResponseBuilder::new().description(self.description).content(PROBLEM_JSON, content);
        let mut response = response.build();
        add_headers(&mut response, self.is_stored());
        if self.status == UNAUTHORIZED.status {
            let challenge = ObjectBuilder::new().schema_type(Type::String);
            let description = Some("`Bearer`, with `error=\"invalid_token\"` where a token was shown.");
            let header = HeaderBuilder::new().schema(Some(challenge)).description(description).build();
            response.headers.insert("WWW-Authenticate".to_owned(), RefOr::T(header));
        }
        if [TOO_MANY.status, UNAVAILABLE.status].contains(&self.status) {
            let seconds = ObjectBuilder::new().schema_type(Type::Integer);
            let description = Some("Seconds to wait before the next attempt.");
            let header = HeaderBuilder::new().schema(Some(seconds)).description(description).build();
            response.headers.insert("Retry-After".to_owned(), RefOr::T(header));
        }
        response
    }

    /// Whether it may be one to a change that is given again: what came of the change itself, and not by chance.
    fn is_stored(self) -> bool {
        const NEVER: [Answer; 9] =
            [UNAUTHORIZED, FORBIDDEN, NOT_ACCEPTABLE, TOO_SLOW, TOO_LARGE, MISDIRECTED, TOO_MANY, FAILED, UNAVAILABLE];
        NEVER.iter().all(|answer| answer.status != self.status)
    }
}

/// All of them, by name, added to what operations refer to.
pub(super) fn components(components: ComponentsBuilder) -> ComponentsBuilder {
    ALL.into_iter().fold(components, |components, answer| components.response(answer.name, answer.response()))
}

/// Something that the path or the body names may not exist.
pub(crate) struct NotFound;
/// The request may contradict what is there.
pub(crate) struct Conflict;
/// A snapshot that the request names may be expired.
pub(crate) struct Gone;
/// The request may be understood and refused.
pub(crate) struct Refused;
/// There may be as many such requests as the server takes.
pub(crate) struct TooMany;
/// The request may need an object store that does not answer.
pub(crate) struct Unavailable;

macro_rules! answers {
    ($($marker:ident: $answer:ident;)*) => {$(
        impl IntoResponses for $marker {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [($answer.status.to_owned(), $answer.reference())].into()
            }
        }
    )*};
}

answers! {
    NotFound: NOT_FOUND;
    Conflict: CONFLICT;
    Gone: GONE;
    Refused: REFUSED;
    TooMany: TOO_MANY;
    Unavailable: UNAVAILABLE;
}
