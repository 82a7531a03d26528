//! Numbers and texts as people read them, tables, and lines of a title and a value.

use std::borrow::Cow;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// A line below the header, and no frame.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// `1234567` as `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things, in the singular or plural.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Bytes in the unit that leaves one to four digits: `512 B`, `3.2 MiB`.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut whole, mut rest, mut unit) = (number, 0, "B");
    for larger in UNITS {
        if whole < 1024 {
            break;
        }
        (whole, rest, unit) = (whole / 1024, whole % 1024, larger);
    }
    if unit == "B" { format!("{whole} B") } else { format!("{whole}.{} {unit}", rest * 10 / 1024) }
}

/// Microseconds as milliseconds, or as seconds from one on.
pub(crate) fn micros(number: u64) -> String {
    if number < 1_000_000 {
        format!("{}.{:02} ms", number / 1_000, number % 1_000 / 10)
    } else {
        format!("{}.{} s", number / 1_000_000, number % 1_000_000 / 100_000)
    }
}

/// A text that someone else chose, on one line and without power over the terminal: what would end the line, move the cursor or turn
/// the direction of writing is escaped.
pub(crate) fn legible(text: &str) -> Cow<'_, str> {
    let commands = |character: char| {
        let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        character.is_control() || turns || matches!(character, '\u{2028}' | '\u{2029}')
    };
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if commands(character) { escaped.extend(character.escape_default()) } else { escaped.push(character) }
    }
    Cow::Owned(escaped)
}

/// A table whose cells are [`legible`].
pub(crate) struct TextTable(Table);

/// An empty table with these columns.
pub(crate) fn table<const N: usize>(header: [(&str, Side); N]) -> TextTable {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_header(header.map(|(title, _)| title));
    for (column, (_, side)) in table.column_iter_mut().zip(header) {
        column.set_cell_alignment(match side {
            Side::Left => CellAlignment::Left,
            Side::Right => CellAlignment::Right,
        });
    }
    // No frame: the first column begins at the margin.
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    TextTable(table)
}

impl TextTable {
    /// Adds a row; cells that it does not have are empty.
    pub(crate) fn add_row<C: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.0.add_row(cells.into_iter().map(|cell| legible(cell.as_ref()).into_owned()));
    }

    /// Its lines, without spaces at their ends and without the last line's end.
    pub(crate) fn trim_fmt(&self) -> String {
        self.0.trim_fmt()
    }
}

/// Lines of a title and a value, which is [`legible`].
#[derive(Debug, Default)]
pub(crate) struct Fields(String);

impl Fields {
    pub(crate) fn line(&mut self, title: &str, value: impl AsRef<str>) {
        let _ = writeln!(self.0, "{title:<12} {}", legible(value.as_ref()));
    }

    /// A line for each key and value of a map, under one title.
    pub(crate) fn pairs<K: AsRef<str>, V: AsRef<str>>(&mut self, title: &str, pairs: impl IntoIterator<Item = (K, V)>) {
        for (key, value) in pairs {
            self.line(title, format!("{}={}", key.as_ref(), value.as_ref()));
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

/// The side that a column is aligned to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_has_no_power_over_the_terminal() {
        for (text, expected) in [
            ("naïve 名前", "naïve 名前"),
            ("\u{1b}[2Jx\ny", r"\u{1b}[2Jx\ny"),
            ("a\u{202e}b\u{9b}", r"a\u{202e}b\u{9b}"),
        ] {
            assert_eq!(legible(text), expected);
        }
        let mut table = table([("a", Side::Left)]);
        table.add_row(["x\n\u{1b}y"]);
        assert!(table.trim_fmt().ends_with("\nx\\n\\u{1b}y"), "{}", table.trim_fmt());
        let mut fields = Fields::default();
        fields.pairs("property", [("k\n", "v\u{7}")]);
        assert_eq!(fields.into_text(), "property     k\\n=v\\u{7}\n");
    }

    #[test]
    fn counts_have_commas() {
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), expected);
        }
    }

    #[test]
    fn bytes_have_the_unit_that_fits() {
        for (number, expected) in
            [(0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (3_355_443, "3.1 MiB"), (u64::MAX, "15.9 EiB")]
        {
            assert_eq!(bytes(number), expected);
        }
    }

    #[test]
    fn times_are_short() {
        for (number, expected) in [(0, "0.00 ms"), (1_239, "1.23 ms"), (2_360_000, "2.3 s")] {
            assert_eq!(micros(number), expected);
        }
    }
}
