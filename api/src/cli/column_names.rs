//! Options that name columns.

/// The columns that an option names: it may be given more than once, and may name several, split at commas that no quotes are around.
pub(super) fn columns(given: &[String]) -> Vec<String> {
    given.iter().flat_map(|text| parts(text)).map(str::to_owned).collect()
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let parts = text.split(move |character| {
        quoted ^= character == '"';
        character == ',' && !quoted
    });
    parts.map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_split_at_commas_outside_of_quotes() {
        let given = ["day, price", "\"a,b\".c", "x"].map(str::to_owned).to_vec();
        assert_eq!(columns(&given), ["day", "price", "\"a,b\".c", "x"]);
    }
}
