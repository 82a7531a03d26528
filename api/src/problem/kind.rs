//! The table of problems: which error has which status and name, and what people are told of each. The one place that decides it.

use axum::http::StatusCode;
use prunus_catalog::Error;

use super::Problem;

/// What is the same for all problems of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) status: StatusCode,
    /// What stands after `/problems/`.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Whether the same request may succeed later.
    pub(crate) retryable: bool,
    /// After how many seconds it makes sense to send it again, for statuses whose answers say so; `None` where that may be long.
    pub(crate) retry_after_seconds: Option<u16>,
    /// What it means, and what to do about it.
    pub(crate) description: &'static str,
    /// What is said in `detail`, for example.
    pub(crate) example: &'static str,
    /// What it has beside the fields that all have.
    pub(crate) adds: Adds,
}

/// What a problem says beside what all say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Adds {
    Nothing,
    /// The faults of the request, for example these: the place of each, and its message.
    Faults(&'static [(&'static str, &'static str)]),
    /// The newest snapshot, and the paths in the way.
    Conflicts,
}

impl Kind {
    const fn new(status: StatusCode, name: &'static str, title: &'static str) -> Self {
        let retry_after_seconds = Some(1);
        Self {
            status,
            name,
            title,
            retryable: false,
            retry_after_seconds,
            description: "",
            example: "",
            adds: Adds::Nothing,
        }
    }

    const fn retryable(self) -> Self {
        Self { retryable: true, ..self }
    }

    /// What of it does not pass in a moment.
    const fn retryable_after(self, seconds: u16) -> Self {
        Self { retryable: true, retry_after_seconds: Some(seconds), ..self }
    }

    /// What may be sent again, and should not be without a thought.
    const fn without_retry_after(self) -> Self {
        Self { retry_after_seconds: None, ..self }
    }

    /// What people are told of it, and an example.
    const fn means(self, description: &'static str, example: &'static str) -> Self {
        Self { description, example, ..self }
    }

    const fn adds(self, adds: Adds) -> Self {
        Self { adds, ..self }
    }

    /// The kind of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().copied().find(|kind| kind.name == name)
    }

    /// The `type` of its problems.
    pub(crate) fn uri(&self) -> String {
        format!("/problems/{}", self.name)
    }
}

/// All kinds, by rising status.
pub(crate) const KINDS: [&Kind; 36] = [
    &MALFORMED_BODY,
    &MALFORMED_QUERY,
    &MALFORMED_HEADER,
    &MALFORMED_PATH,
    &FOREIGN_PAGE_TOKEN,
    &UNAUTHORIZED,
    &FORBIDDEN,
    &NOT_FOUND,
    &NO_SUCH_ROUTE,
    &METHOD_NOT_ALLOWED,
    &NOT_ACCEPTABLE,
    &BODY_TOO_SLOW,
    &CONFLICT,
    &ALREADY_EXISTS,
    &NAMESPACE_NOT_EMPTY,
    &SCHEMA_MOVED,
    &TABLE_MOVED,
    &EXPIRED,
    &STALE_PAGE_TOKEN,
    &BODY_TOO_LARGE,
    &UNSUPPORTED_MEDIA_TYPE,
    &UNSUPPORTED_ENCODING,
    &MISDIRECTED,
    &INVALID_REQUEST,
    &INVALID_FILTER,
    &KEY_REUSED,
    &TOO_MANY_REQUESTS,
    &INTERNAL,
    &STORAGE_UNAVAILABLE,
    &STORE_FULL,
    &OVERLOADED,
    &NOT_READY,
    &TOO_SLOW,
    &NO_ROOM_FOR_BODY,
    &SHUTTING_DOWN,
    &TOO_MANY_CONNECTIONS,
];

const MALFORMED_BODY: Kind = Kind::new(StatusCode::BAD_REQUEST, "malformed-body", "Malformed body")
    .means(
        "The body is not the JSON that this route reads: it breaks off or is no JSON, a field is unknown, missing, given twice or \
         of another type. Nothing was done. Every fault of form is listed with its place; those of content are looked for once \
         the form is right. Mend the body and send it again.",
        "the body is malformed: unknown field `filtr`, expected one of `filter`, `select`; did you mean `filter`? (line 1 column 9)",
    )
    .adds(Adds::Faults(&[(
        "filtr",
        "unknown field `filtr`, expected one of `filter`, `select`; did you mean `filter`? (line 1 column 9)",
    )]));

const MALFORMED_QUERY: Kind = Kind::new(StatusCode::BAD_REQUEST, "malformed-query", "Malformed query string")
    .means(
        "A parameter behind the `?` is unknown, missing, given twice or not of its type. Nothing was done. Every fault is listed. \
         Mend the parameters and send the request again.",
        "the query string is malformed: `many` is not a whole number from 0 to 4294967295",
    )
    .adds(Adds::Faults(&[("page_size", "`many` is not a whole number from 0 to 4294967295")]));

const MALFORMED_HEADER: Kind = Kind::new(StatusCode::BAD_REQUEST, "malformed-header", "Malformed header").means(
    "A header that the server reads is not what it should be; the detail says which and why. Nothing was done.",
    "the header Idempotency-Key is malformed: it is not a string of 1 to 255 bytes",
);

const MALFORMED_PATH: Kind = Kind::new(StatusCode::BAD_REQUEST, "malformed-path", "Malformed path")
    .means(
        "A part of the path is no name of a namespace, table or tag, or no number where an id is needed. Nothing was done. Names \
         have at most 255 bytes and none of the characters `.`, `/`, `\"`, `#` or control characters, but for the dots between the \
         one to four parts of a namespace; what is special in a URL is percent-encoded.",
        "the snapshot_id in the path is none: `x` is not a whole number",
    )
    .adds(Adds::Faults(&[("snapshot_id", "`x` is not a whole number")]));

const FOREIGN_PAGE_TOKEN: Kind =
    Kind::new(StatusCode::BAD_REQUEST, "foreign-page-token", "Foreign page token").means(
        "The page token is not one that was given for this request: it is of another route, table, filter or time, or it was \
         changed. All but `page_size` must be as it was for the page before. Ask for the first page again.",
        "the page token does not belong to this request",
    );

const UNAUTHORIZED: Kind = Kind::new(StatusCode::UNAUTHORIZED, "unauthorized", "Token needed").means(
    "The request shows no token where one is needed, or one that opens nothing: it was never given, has expired or was revoked, \
     which is not told apart. Nothing was done. Send a token that holds as `Authorization: Bearer TOKEN`; who runs the server \
     gives them, with `prunus token create`, and its log says what became of one that was refused.",
    "a token is needed here: send it as `Authorization: Bearer TOKEN`",
);

const FORBIDDEN: Kind = Kind::new(StatusCode::FORBIDDEN, "forbidden", "Not allowed").means(
    "The token is known, and does not open this; the detail says which role is needed, and where. Nothing was done. What a token may \
     not see is answered so whether it is there or not. A role on a namespace holds for those below it; ask an admin of it for a token \
     that has the role.",
    "the role `writer` on namespace `sales` is needed",
);

const NOT_FOUND: Kind = Kind::new(StatusCode::NOT_FOUND, "not-found", "Not found").means(
    "There is no namespace, table, snapshot, tag, file, audit or token of this name; the detail says which, and where there is one of \
     nearly that name, or a table of that name in another namespace, which. Nothing was done. In a transaction `table` says whose \
     commit it is.",
    "table `sales.order` does not exist, did you mean `sales.orders`?",
);

const NO_SUCH_ROUTE: Kind = Kind::new(StatusCode::NOT_FOUND, "no-such-route", "No such route").means(
    "The server has no route of this path. All routes of the API begin with `/v1/`.",
    "there is no route `/v2`; what there is stands at /docs, and for programs at /openapi.json",
);

const METHOD_NOT_ALLOWED: Kind = Kind::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed")
    .means(
        "The route has other methods; the header Allow lists them. Nothing was done.",
        "the path does not have the method PUT",
    );

const NOT_ACCEPTABLE: Kind = Kind::new(StatusCode::NOT_ACCEPTABLE, "not-acceptable", "Not acceptable").means(
    "The Accept header excludes every format that this route answers in. Leave it out, or name one that the route has; JSON is \
     always one.",
    "the answer is application/json, which the Accept header excludes",
);

const BODY_TOO_SLOW: Kind = Kind::new(StatusCode::REQUEST_TIMEOUT, "body-too-slow", "Body too slow").retryable().means(
    "The body of the request did not arrive in the time that it has. Nothing was done, and the connection is closed. Send the \
     request again, in smaller parts or compressed if the network is slow.",
    "the body did not arrive within 60 seconds",
);

const CONFLICT: Kind = Kind::new(StatusCode::CONFLICT, "conflict", "Conflict")
    .means(
        "The commit contradicts what is in the table now: a path to be added is live already, one to be removed is not live or was \
         not at the base snapshot, an object was overwritten since it was registered, or a file that came after the base snapshot \
         may hold rows of the filter. Nothing was done. Sent again as it is, it meets the same conflict: look at `current_snapshot`, \
         work the commit out anew, and send that. In a transaction `table` says whose commit it is.",
        "the commit conflicts with snapshot 7",
    )
    .adds(Adds::Conflicts);

const ALREADY_EXISTS: Kind = Kind::new(StatusCode::CONFLICT, "already-exists", "Already exists").means(
    "There is a namespace or table of this name already, or there is or was a token of it. Nothing was done. Take another name, or use \
     what is there.",
    "table `sales.orders` exists already",
);

const NAMESPACE_NOT_EMPTY: Kind = Kind::new(StatusCode::CONFLICT, "namespace-not-empty", "Namespace not empty").means(
    "A namespace is deleted only when it holds no table. Nothing was done. Delete its tables, or move them by renaming, first.",
    "namespace `sales` is not empty",
);

const SCHEMA_MOVED: Kind = Kind::new(StatusCode::CONFLICT, "schema-moved", "Schema moved")
    .retryable()
    .means(
        "The table's schema was changed while the request was checked against the one before. Nothing was done. The same request \
         may be sent again, and is then held against the new schema.",
        "the table's schema changed while the request was checked",
    );

const TABLE_MOVED: Kind = Kind::new(StatusCode::CONFLICT, "table-moved", "Table moved")
    .retryable()
    .means(
        "The table changed again and again while the request was held against the changes. Nothing was done. The same request may \
         be sent again, best after a moment.",
        "the table changed faster than the filter could be held against the changes",
    );

const EXPIRED: Kind = Kind::new(StatusCode::GONE, "expired", "Expired").means(
    "What is asked for was there once, and its snapshot has been expired. It does not come back. Ask for a snapshot that is still \
     there; those that must stay can be given a tag.",
    "what the table held at 2024-01-31T12:00:00Z is expired",
);

const STALE_PAGE_TOKEN: Kind = Kind::new(StatusCode::GONE, "stale-page-token", "Stale page token").means(
    "The snapshot that the page token pins has been expired, since the token was not used for too long, or its table was dropped. \
     The pages read so far belong to no state that can be read on. Ask for the first page again.",
    "the snapshot of the page token is gone: ask for the first page again",
);

const BODY_TOO_LARGE: Kind = Kind::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "Body too large").means(
    "The body is larger than the server reads, as it is sent or once it is decompressed; the detail says how large one may be, \
     which is 64 MiB unless the server's operator has set less. Nothing was done. Split the commit: appends never conflict with \
     each other.",
    "the body is larger than 67108864 bytes",
);

const UNSUPPORTED_MEDIA_TYPE: Kind =
    Kind::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "Unsupported media type").means(
        "Bodies are JSON, and the Content-Type must say so: `Content-Type: application/json`. Nothing was done.",
        "the body must be application/json, not `text/plain`",
    );

const UNSUPPORTED_ENCODING: Kind =
    Kind::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-encoding", "Unsupported encoding").means(
        "The header Content-Encoding names an encoding that the server does not read, or several. Nothing was done. Bodies are sent as \
         they are, or with `Content-Encoding: gzip` or `zstd`.",
        "a body may be encoded as gzip or as zstd, not as `br`",
    );
const MISDIRECTED: Kind = Kind::new(StatusCode::MISDIRECTED_REQUEST, "misdirected-request", "Misdirected request").means(
    "The server needs no tokens, since it listens on a loopback address, and the Host header names another host, or a header such as \
     X-Forwarded-For says that a proxy passed the request on: a page in a browser may have led it here, or anyone may have sent it. Nothing \
     was done. On the machine itself, name the server by 127.0.0.1, [::1] or localhost. Behind a proxy have the server ask for tokens \
     (`tokens = \"required\"` in the section `access` of its settings).",
    "requests here need no token, so they must name a loopback address such as 127.0.0.1 or localhost as their host",
);

const INVALID_REQUEST: Kind = Kind::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid-request", "Invalid request")
    .means(
        "The request was read and cannot be carried out as it is: a name, type, value, column, path or file is not what it must be. \
         Nothing was done. Every fault that was found is listed, each with its place, and with the file, the column, what was claimed \
         and what speaks against it where that applies. Mend them all and send it again.",
        "unknown column `amont`, did you mean `amount`?",
    )
    .adds(Adds::Faults(&[("cluster_by", "unknown column `amont`, did you mean `amount`?")]));

const INVALID_FILTER: Kind = Kind::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid-filter", "Invalid filter")
    .means(
        "The filter does not read, or does not go with the table's columns: a column is unknown, or a literal is no value of its \
         column's type. Every fault is listed. Forms that cannot prune are no fault: they keep their files, and the plan says why.",
        "the filter cannot be planned",
    )
    .adds(Adds::Faults(&[("filter", "unknown column `amont`, did you mean `amount`?")]));

const KEY_REUSED: Kind =
    Kind::new(StatusCode::UNPROCESSABLE_ENTITY, "idempotency-key-reused", "Idempotency key reused").means(
        "The Idempotency-Key was sent before with a request of another content on the same route. Nothing was done. A key stands \
         for one request for 24 hours: give a new request a new key.",
        "the key was given to a request of another content before",
    );

const TOO_MANY_REQUESTS: Kind =
    Kind::new(StatusCode::TOO_MANY_REQUESTS, "too-many-requests", "Too many requests").retryable().means(
        "As many plans, or other requests that may take long, are worked on and wait as this server takes; `/v1/config` has the \
         numbers. Nothing was done. The same request may be sent again, best after the seconds that the header Retry-After says and \
         a random while more.",
        "plans: 16 are worked on and 1024 wait, and there is no room for more",
    );

const INTERNAL: Kind = Kind::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "The server failed").means(
    "The server failed, and not because of the request. Its log says why, under the `request_id`. Whether a change was made may be \
     unknown: send it again under the same Idempotency-Key, which carries it out once, or look first.",
    "the server failed; its log has more under the request id",
);

const STORAGE_UNAVAILABLE: Kind =
    Kind::new(StatusCode::SERVICE_UNAVAILABLE, "storage-unavailable", "Object store unavailable").retryable_after(5).means(
        "The object store that holds a file did not answer, or failed, though it was asked again for a while. Nothing was done. The \
         same request may be sent again; the header Retry-After says after how many seconds.",
        "the object store failed for `s3://bucket/a.parquet`",
    );

const STORE_FULL: Kind =
    Kind::new(StatusCode::SERVICE_UNAVAILABLE, "store-full", "The store has no room").retryable_after(30).means(
        "The disk that the catalog is kept on has no room for the change. Nothing was done. The same request may be sent again when \
         there is room; the header Retry-After says when to try first. Plans are answered meanwhile.",
        "the store has no room",
    );

const OVERLOADED: Kind = Kind::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", "Overloaded").retryable().means(
    "As many changes are worked on or wait for the store as this server takes, or as large ones; `/v1/config` has the number. \
     Nothing was done. The same request may be sent again, best after the seconds that the header Retry-After says and a random \
     while more. Plans are answered meanwhile.",
    "1024 changes are worked on or wait for the writer, and there is no room for more",
);

const NOT_READY: Kind = Kind::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", "Not ready").retryable().means(
    "The server runs, and its catalog cannot be worked with, for the reason that `detail` says: its store cannot be read, or the disk \
     that it is kept on is gone, read-only, or nearly full. The same request may be sent again; whoever routes requests should send \
     none here meanwhile.",
    "the server is not ready: its store does not answer",
);

const TOO_SLOW: Kind = Kind::new(StatusCode::SERVICE_UNAVAILABLE, "request-timeout", "Request took too long")
    .retryable()
    .without_retry_after()
    .means(
    "The answer did not begin in the time that it has; the detail says which. What only reads was ended, and may be sent again \
     (`retryable`), though it will hardly be faster soon, so that no header Retry-After asks for it. A change that has begun is carried \
     to its end, and whether it was made is not known here: look first, or send it again under the same Idempotency-Key after a while, \
     which carries it out once.",
    "the answer did not begin within 300 seconds; a change that has begun is carried to its end",
);

const NO_ROOM_FOR_BODY: Kind =
    Kind::new(StatusCode::SERVICE_UNAVAILABLE, "too-many-large-bodies", "Too many large bodies").retryable().means(
        "So many large bodies are being read that there is no room for this one, and none came free while it was waited for. Nothing \
         was done, and the connection is closed. The same request may be sent again; the header Retry-After says when to try first. \
         Requests with small bodies are answered meanwhile.",
        "too many large bodies are being read",
    );

const SHUTTING_DOWN: Kind = Kind::new(StatusCode::SERVICE_UNAVAILABLE, "shutting-down", "Shutting down").retryable().means(
    "The server finishes what it has begun, and takes no change any more. Nothing was done, and the connection is closed. The same \
     request may be sent again, to the server that comes after it; the header Retry-After says when to try first.",
    "the server is shutting down",
);

const TOO_MANY_CONNECTIONS: Kind =
    Kind::new(StatusCode::SERVICE_UNAVAILABLE, "too-many-connections", "Too many connections").retryable().means(
        "The server has as many connections as it takes. The request was not read, and the connection is closed. The same request may \
         be sent again; the header Retry-After says when to try first. Clients do best to keep a few connections and to send \
         all their requests over these.",
        "the server has as many connections as it takes",
    );

/// Rows of the table, as a match without a rest: an error without a row does not compile. `inside` are errors that are of the
/// kind of another one that they hold.
macro_rules! rows {
    ($kind_of:ident($error:ty), $rows:ident, inside { $($holder:pat => $held:expr,)* } $($pattern:pat => $kind:ident,)*) => {
        fn $kind_of(error: &$error) -> &'static Kind {
            match error {
                $($holder => $held,)*
                $($pattern => &$kind,)*
            }
        }

        #[cfg(test)]
        const $rows: &[(&str, &Kind)] = &[$((stringify!($pattern), &$kind),)*];
    };
}

rows! {
    kind_of_problem(Problem), ROWS_OF_PROBLEMS,
    inside { Problem::Catalog(error) => kind_of_error(error), }
    Problem::NoToken => UNAUTHORIZED,
    Problem::RefusedToken => UNAUTHORIZED,
    Problem::Closed => FORBIDDEN,
    Problem::ForeignHost => MISDIRECTED,
    Problem::Forwarded => MISDIRECTED,
    Problem::NoSuchRoute(_) => NO_SUCH_ROUTE,
    Problem::MethodNotAllowed(_) => METHOD_NOT_ALLOWED,
    Problem::NotAcceptable => NOT_ACCEPTABLE,
    Problem::UnsupportedMediaType(_) => UNSUPPORTED_MEDIA_TYPE,
    Problem::BodyTooLarge(_) => BODY_TOO_LARGE,
    Problem::BodyTooSlow(_) => BODY_TOO_SLOW,
    Problem::NoRoomForBody => NO_ROOM_FOR_BODY,
    Problem::UnsupportedEncoding(_) => UNSUPPORTED_ENCODING,
    Problem::TooSlow { .. } => TOO_SLOW,
    Problem::ShuttingDown => SHUTTING_DOWN,
    Problem::TooManyConnections => TOO_MANY_CONNECTIONS,
    Problem::BodyUnreadable => MALFORMED_BODY,
    Problem::MalformedBody(_) => MALFORMED_BODY,
    Problem::MalformedQuery(_) => MALFORMED_QUERY,
    Problem::MalformedHeader { .. } => MALFORMED_HEADER,
    Problem::MalformedPath(_) => MALFORMED_PATH,
    Problem::MalformedPathParts(_) => MALFORMED_PATH,
    Problem::StalePageToken => STALE_PAGE_TOKEN,
    // Which has statuses of its own there.
    Problem::Iceberg(_) => INVALID_REQUEST,
    Problem::NotReady(_) => NOT_READY,
    Problem::Metrics(_) => INTERNAL,
    Problem::UnusableReply(_) => INTERNAL,
    Problem::Unwritten(_) => INTERNAL,
    Problem::Panicked(_) => INTERNAL,
}

rows! {
    kind_of_error(Error), ROWS_OF_ERRORS,
    inside { Error::OfTable { source, .. } => kind_of_error(source), }
    Error::NotFound { .. } => NOT_FOUND,
    Error::Misnamed { .. } => NOT_FOUND,
    Error::Expired { .. } => EXPIRED,
    Error::AlreadyExists { .. } => ALREADY_EXISTS,
    Error::NamespaceNotEmpty(_) => NAMESPACE_NOT_EMPTY,
    Error::Conflict { .. } => CONFLICT,
    Error::SchemaMoved => SCHEMA_MOVED,
    Error::HeadMoved => TABLE_MOVED,
    Error::KeyReused => KEY_REUSED,
    Error::Forbidden(_) => FORBIDDEN,
    Error::Invalid(_) => INVALID_REQUEST,
    Error::Filter(_) => INVALID_FILTER,
    Error::ForeignPageToken => FOREIGN_PAGE_TOKEN,
    Error::StorageUnavailable { .. } => STORAGE_UNAVAILABLE,
    Error::StoreFull(_) => STORE_FULL,
    Error::TooMany { .. } => TOO_MANY_REQUESTS,
    Error::Overloaded { .. } => OVERLOADED,
    // Whoever would be told is gone.
    Error::Cancelled => INTERNAL,
    Error::Store(_) => INTERNAL,
    Error::StoredSchema => INTERNAL,
    Error::StoredGrant(_) => INTERNAL,
    Error::NoRandomness => INTERNAL,
    Error::ZoneMaps(_) => INTERNAL,
    Error::Reply(_) => INTERNAL,
    Error::Background => INTERNAL,
}

impl Problem {
    pub(crate) fn kind(&self) -> &'static Kind {
        kind_of_problem(self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A line for each row.
    fn table(rows: &[(&str, &Kind)]) -> String {
        let line = |(pattern, kind): &(&str, &Kind)| {
            let variant = pattern.rsplit("::").next().unwrap();
            let variant: String = variant.chars().take_while(|character| character.is_alphanumeric()).collect();
            let retryable = if kind.retryable { " retryable" } else { "" };
            format!("{variant}: {} {} ({}){retryable}", kind.status.as_u16(), kind.name, kind.title)
        };
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_problem_of_a_request_has_a_status_and_a_name() {
        insta::assert_snapshot!(table(ROWS_OF_PROBLEMS), @r"
        NoToken: 401 unauthorized (Token needed)
        RefusedToken: 401 unauthorized (Token needed)
        Closed: 403 forbidden (Not allowed)
        ForeignHost: 421 misdirected-request (Misdirected request)
        Forwarded: 421 misdirected-request (Misdirected request)
        NoSuchRoute: 404 no-such-route (No such route)
        MethodNotAllowed: 405 method-not-allowed (Method not allowed)
        NotAcceptable: 406 not-acceptable (Not acceptable)
        UnsupportedMediaType: 415 unsupported-media-type (Unsupported media type)
        BodyTooLarge: 413 body-too-large (Body too large)
        BodyTooSlow: 408 body-too-slow (Body too slow) retryable
        NoRoomForBody: 503 too-many-large-bodies (Too many large bodies) retryable
        UnsupportedEncoding: 415 unsupported-encoding (Unsupported encoding)
        TooSlow: 503 request-timeout (Request took too long) retryable
        ShuttingDown: 503 shutting-down (Shutting down) retryable
        TooManyConnections: 503 too-many-connections (Too many connections) retryable
        BodyUnreadable: 400 malformed-body (Malformed body)
        MalformedBody: 400 malformed-body (Malformed body)
        MalformedQuery: 400 malformed-query (Malformed query string)
        MalformedHeader: 400 malformed-header (Malformed header)
        MalformedPath: 400 malformed-path (Malformed path)
        MalformedPathParts: 400 malformed-path (Malformed path)
        StalePageToken: 410 stale-page-token (Stale page token)
        Iceberg: 422 invalid-request (Invalid request)
        NotReady: 503 not-ready (Not ready) retryable
        Metrics: 500 internal (The server failed)
        UnusableReply: 500 internal (The server failed)
        Unwritten: 500 internal (The server failed)
        Panicked: 500 internal (The server failed)
        ");
    }

    #[test]
    fn every_error_of_the_catalog_has_a_status_and_a_name() {
        insta::assert_snapshot!(table(ROWS_OF_ERRORS), @r"
        NotFound: 404 not-found (Not found)
        Misnamed: 404 not-found (Not found)
        Expired: 410 expired (Expired)
        AlreadyExists: 409 already-exists (Already exists)
        NamespaceNotEmpty: 409 namespace-not-empty (Namespace not empty)
        Conflict: 409 conflict (Conflict)
        SchemaMoved: 409 schema-moved (Schema moved) retryable
        HeadMoved: 409 table-moved (Table moved) retryable
        KeyReused: 422 idempotency-key-reused (Idempotency key reused)
        Forbidden: 403 forbidden (Not allowed)
        Invalid: 422 invalid-request (Invalid request)
        Filter: 422 invalid-filter (Invalid filter)
        ForeignPageToken: 400 foreign-page-token (Foreign page token)
        StorageUnavailable: 503 storage-unavailable (Object store unavailable) retryable
        StoreFull: 503 store-full (The store has no room) retryable
        TooMany: 429 too-many-requests (Too many requests) retryable
        Overloaded: 503 overloaded (Overloaded) retryable
        Cancelled: 500 internal (The server failed)
        Store: 500 internal (The server failed)
        StoredSchema: 500 internal (The server failed)
        StoredGrant: 500 internal (The server failed)
        NoRandomness: 500 internal (The server failed)
        ZoneMaps: 500 internal (The server failed)
        Reply: 500 internal (The server failed)
        Background: 500 internal (The server failed)
        ");
    }

    #[test]
    fn what_holds_an_error_is_of_its_kind() {
        let of_table = Error::OfTable { table: "n.t".parse().unwrap(), source: Box::new(Error::SchemaMoved) };
        assert_eq!(*Problem::Catalog(of_table).kind(), SCHEMA_MOVED);
    }

    #[test]
    fn the_list_of_kinds_is_that_of_the_rows() {
        let names: BTreeSet<&str> = ROWS_OF_PROBLEMS.iter().chain(ROWS_OF_ERRORS).map(|(_, kind)| kind.name).collect();
        assert_eq!(KINDS.iter().map(|kind| kind.name).collect::<BTreeSet<_>>(), names);
        assert_eq!(KINDS.len(), names.len());
        assert!(KINDS.is_sorted_by_key(|kind| kind.status));
    }

    #[test]
    fn every_kind_is_described() {
        for kind in KINDS {
            assert!(kind.description.ends_with('.') && !kind.example.is_empty(), "{}", kind.name);
            let Adds::Faults(faults) = kind.adds else { continue };
            assert!(!faults.is_empty(), "{}", kind.name);
        }
    }
}
