//! What object stores were asked for, and what came of it.

use prunus_manifest::{Histogram, Number};

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreScheme {
    /// The file system of this machine.
    File,
    /// S3 and what speaks like it.
    S3,
    /// Google Cloud Storage.
    Gs,
    /// Azure.
    Az,
    /// Any other HTTP server.
    Http,
}

/// What a store is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreOperation {
    /// A part of an object.
    Get,
    /// What it says of an object.
    Head,
    /// The objects below a prefix.
    List,
}

/// What came of asking a store, once it was tried as often as makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreOutcome {
    /// It gave what was asked for.
    Ok,
    /// It has no such object.
    NotFound,
    /// It refuses access.
    Denied,
    /// It says that it will not do this.
    Refused,
    /// It failed, or did not answer.
    Failed,
    /// Nobody waited for it any more.
    Abandoned,
}

/// What came of one try of a request over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryOutcome {
    /// A status below 400.
    Ok,
    /// A status of 4xx, but for those that may pass.
    Refused,
    /// A status of 408, 429 or 5xx: it is tried again.
    Failed,
    /// No answer: it is tried again where that may help.
    NoAnswer,
}

/// What was asked of one kind of store by one operation.
#[derive(Debug)]
pub struct OperationActivity {
    outcomes: [Number; StoreOutcome::ALL.len()],
    /// How long it took until all had arrived, or it was given up, in nanoseconds; tries and pauses between them included.
    pub duration_ns: Histogram,
}

/// What was asked of one kind of store.
#[derive(Debug, Default)]
pub struct SchemeActivity {
    operations: [OperationActivity; StoreOperation::ALL.len()],
    tries: [Number; TryOutcome::ALL.len()],
    /// Bytes of objects that came.
    pub bytes_read: Number,
}

/// What was asked of stores, and is.
#[derive(Debug, Default)]
pub struct StorageActivity {
    schemes: [SchemeActivity; StoreScheme::ALL.len()],
    /// Requests that run, those included that wait for their turn.
    pub in_flight: Number,
}

macro_rules! named {
    ($kind:ty: $($variant:ident $name:literal),+) => {
        impl $kind {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }
    };
}

named!(StoreScheme: File "file", S3 "s3", Gs "gs", Az "az", Http "http");
named!(StoreOperation: Get "get", Head "head", List "list");
named!(StoreOutcome: Ok "ok", NotFound "not_found", Denied "denied", Refused "refused", Failed "failed", Abandoned "abandoned");
named!(TryOutcome: Ok "ok", Refused "refused", Failed "failed", NoAnswer "no_answer");

impl Default for OperationActivity {
    fn default() -> Self {
        Self { outcomes: Default::default(), duration_ns: Histogram::of_durations() }
    }
}

impl StoreScheme {
    /// The kind of store that a URL of this scheme, in lower case, names.
    pub(super) fn of_url(scheme: &str) -> Self {
        match scheme {
            "file" => Self::File,
            "s3" | "s3a" => Self::S3,
            "gs" => Self::Gs,
            "az" | "adl" | "azure" | "abfs" | "abfss" => Self::Az,
            _ => Self::Http,
        }
    }
}

impl StorageActivity {
    /// What was asked of a kind of store.
    pub fn of(&self, scheme: StoreScheme) -> &SchemeActivity {
        let [file, s3, gs, az, http] = &self.schemes;
        match scheme {
            StoreScheme::File => file,
            StoreScheme::S3 => s3,
            StoreScheme::Gs => gs,
            StoreScheme::Az => az,
            StoreScheme::Http => http,
        }
    }
}

impl SchemeActivity {
    /// What was asked by an operation.
    pub fn of(&self, operation: StoreOperation) -> &OperationActivity {
        let [get, head, list] = &self.operations;
        match operation {
            StoreOperation::Get => get,
            StoreOperation::Head => head,
            StoreOperation::List => list,
        }
    }

    /// How many tries over HTTP ended so; the first ones included, and those that ask for credentials.
    pub fn tries(&self, outcome: TryOutcome) -> &Number {
        let [ok, refused, failed, no_answer] = &self.tries;
        match outcome {
            TryOutcome::Ok => ok,
            TryOutcome::Refused => refused,
            TryOutcome::Failed => failed,
            TryOutcome::NoAnswer => no_answer,
        }
    }
}

impl OperationActivity {
    /// How many ended so.
    pub fn ended(&self, outcome: StoreOutcome) -> &Number {
        let [ok, not_found, denied, refused, failed, abandoned] = &self.outcomes;
        match outcome {
            StoreOutcome::Ok => ok,
            StoreOutcome::NotFound => not_found,
            StoreOutcome::Denied => denied,
            StoreOutcome::Refused => refused,
            StoreOutcome::Failed => failed,
            StoreOutcome::Abandoned => abandoned,
        }
    }
}
