//! Who asks, and what they may do.

mod acting;

pub(crate) use acting::ActingCatalog;
