//! The filters that are measured, each as a text that both pruners read.

use super::data::{EPOCH, MINUTE, STEP, Table, id_place, mixed, text, timestamp};

/// A filter over a table.
pub(crate) struct Filter {
    pub(crate) name: &'static str,
    pub(crate) text: String,
    /// What is asked of the pruner where it cannot read the text.
    pub(crate) instead: Option<String>,
    pub(crate) floor: Floor,
    /// Whether DataFusion can run it; a list of 100,000 values takes it minutes and gigabytes of stack.
    pub(crate) for_datafusion: bool,
}

/// What a loop made for the filter alone tests.
pub(crate) enum Floor {
    /// Whether the timestamps of a container overlap one of these ranges, ends included.
    Timestamps(Vec<[i64; 2]>),
    /// The same for ids.
    Ids([i64; 2]),
    /// The same for texts, the upper end excluded.
    Texts([String; 2]),
    /// Whether one of these ids may be among those of a container.
    IdList(Vec<i64>),
    TenConjuncts,
    PriceIsNull,
}

/// Ten conjuncts, a column each, of which each keeps nine in ten containers.
fn ten_conjuncts(containers: usize) -> String {
    let tenth = containers / 10;
    format!(
        "ts >= {} AND id >= {} AND s < '{}' AND price < 9000.0 AND d < DATE '2024-06-26' AND id32 >= 100000 AND qty < 45 \
         AND f1 >= 50000.0 AND i1 < 6300000 AND cat < 'cat-90'",
        timestamp(tenth),
        tenth * STEP,
        text(tenth * 9 * STEP),
    )
}

impl Filter {
    pub(crate) fn all(table: &Table) -> Vec<Self> {
        let containers = table.containers;
        let share = (containers / 1_000).max(1);
        let minutes = |from: usize, to: usize| [EPOCH + from as i64 * MINUTE, EPOCH + to as i64 * MINUTE - 1];
        let between = |from, to| format!("ts >= {} AND ts < {}", timestamp(from), timestamp(to));
        let first = containers * 2 / 5;
        let starts = [containers / 10, containers / 2, containers * 4 / 5];
        let id = (id_place(containers, containers / 3) * STEP) as i64 + 500;
        let texts = [text(first * STEP), text((first + share) * STEP)];
        let in_list = |name, len, for_datafusion| {
            let mut values: Vec<i64> = (0..len).map(|at| (mixed(50, at) % (containers * STEP)) as i64).collect();
            let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
            values.sort_unstable();
            values.dedup();
            let text = format!("id IN ({})", shown.join(", "));
            Self { name, text, instead: None, floor: Floor::IdList(values), for_datafusion }
        };
        // As many digits of the number as leave open a thousandth of the containers.
        let prefix = &texts[0][..16 - (share * STEP).ilog10() as usize];
        let mut beyond = prefix.to_owned();
        let last = beyond.pop().unwrap();
        beyond.push(char::from(last as u8 + 1));
        let simple = |name, text: String, floor| Self { name, text, instead: None, floor, for_datafusion: true };
        vec![
            simple(
                "timestamp range",
                between(first, first + share),
                Floor::Timestamps(vec![minutes(first, first + share)]),
            ),
            simple("id = k", format!("id = {id}"), Floor::Ids([id, id])),
            simple("string range", format!("s >= '{}' AND s < '{}'", texts[0], texts[1]), Floor::Texts(texts.clone())),
            in_list("IN (20)", 20, true),
            in_list("IN (1,000)", 1_000, true),
            in_list("IN (100,000)", 100_000, false),
            simple("ten conjuncts", ten_conjuncts(containers), Floor::TenConjuncts),
            simple(
                "OR of three ranges",
                starts.map(|start| format!("({})", between(start, start + share))).join(" OR "),
                Floor::Timestamps(starts.map(|start| minutes(start, start + share)).to_vec()),
            ),
            Self {
                name: "LIKE 'prefix%'",
                text: format!("s LIKE '{prefix}%'"),
                instead: Some(format!("s >= '{prefix}' AND s < '{beyond}'")),
                floor: Floor::Texts([prefix.to_owned(), beyond]),
                for_datafusion: true,
            },
            simple("IS NULL", "price IS NULL".to_owned(), Floor::PriceIsNull),
            simple("range that keeps all", "id >= 0".to_owned(), Floor::Ids([0, i64::MAX])),
        ]
    }
}
