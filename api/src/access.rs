//! Who asks, and what they may do.
//!
//! A request comes in through [`admit`], which knows its operation and what that needs (`needs`), and finds out who asks. What only
//! the body names is required by the handler, of the principal that it has with its catalog ([`ActingCatalog`]).

mod acting;
mod guard;
mod host;
mod needs;
mod rule;

pub(crate) use acting::ActingCatalog;
pub(crate) use guard::{Guard, admit, principal_name};
pub(crate) use needs::{Need, need_of};
pub use rule::NoAdmin;
pub(crate) use rule::{Access, is_loopback};
