//! Arguments of the form KEY=VALUE.

/// A property: what stands before the first `=`, and what stands behind it.
pub(super) fn property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a property is KEY=VALUE".to_owned()),
    }
}
