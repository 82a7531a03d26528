//! Names that differ by case or Unicode form only.

use unicode_normalization::UnicodeNormalization;

/// Whether an engine that ignores case, or that normalises Unicode, takes the two for one.
pub(crate) fn same_when_folded(a: &str, b: &str) -> bool {
    if a.is_ascii() && b.is_ascii() { a.eq_ignore_ascii_case(b) } else { folded(a) == folded(b) }
}

/// What all spellings of a name have in common. Compatibility composition before and after, since changing case can take a
/// text out of it; up, then down, so that letters with two small forms or a longer large form (final sigma, sharp s) meet.
pub(super) fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let composed: String = name.nfkc().collect();
    composed.to_uppercase().to_lowercase().nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: &str, b: &str, same: bool) {
        assert_eq!(same_when_folded(a, b), same, "{a} {b}");
    }

    #[test]
    fn case_and_unicode_form_are_ignored() {
        check("id", "ID", true);
        check("é", "e\u{301}", true);
        check("É", "e\u{301}", true);
        check("straße", "STRASSE", true);
        check("οδος", "ΟΔΟΣ", true);
        check("\u{212a}", "k", true);
        check("ﬁ", "FI", true);
        check("", "", true);
    }

    #[test]
    fn other_names_are_others() {
        check("id", "id ", false);
        check("e", "é", false);
        check("", " ", false);
    }
}
