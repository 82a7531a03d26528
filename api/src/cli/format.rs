//! Numbers as people read them, and tables.

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

/// An empty table with these columns.
pub(crate) fn table<const N: usize>(header: [(&str, Side); N]) -> Table {
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
    table
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
