//! Who asks for a change.

/// Who asks for what is done, for the journal. By default nobody who had to say who they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actor {
    /// The name of the token that was presented; empty where none was needed.
    pub principal: String,
    /// The id of the request; empty outside of requests.
    pub request_id: String,
}
