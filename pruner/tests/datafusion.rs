//! The contract, held against DataFusion's own evaluation of filters over rows: no container with a matching row is skipped,
//! none with another is called wholly matching, and what is left of a filter for a kept container matches the same rows.
//!
//! Cases and filters are those of the tests against engines of our own, which are held against DataFusion here, too. These
//! tests stand beside those and not in the package of whole-system tests: they need nothing but the pruner, and share its
//! generators. `PRUNUS_ROUNDS` and `PRUNUS_SEED` ask for more of them, and for others.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_lossless,
    clippy::struct_excessive_bools,
    clippy::too_many_lines,
    clippy::needless_pass_by_value,
    clippy::wrong_self_convention,
    reason = "plain evaluators over many choices; and the helpers of tests are tests, too, but clippy does not see it"
)]

#[path = "datafusion/agreement.rs"]
mod agreement;
#[path = "datafusion/arrays.rs"]
mod arrays;
#[path = "datafusion/contract.rs"]
mod contract;
#[path = "datafusion/power.rs"]
mod power;
#[path = "support/rounds.rs"]
mod rounds;
#[path = "datafusion/session.rs"]
mod session;
#[path = "support/zones.rs"]
mod zones;

/// Plain columns of all types.
#[path = "soundness"]
#[expect(dead_code, reason = "what other tests need of these modules is not needed here")]
mod plain {
    pub(crate) mod case;
    pub(crate) mod choices;
    pub(crate) mod engine;
    pub(crate) mod exact;
    pub(crate) mod filters;
    pub(crate) mod rows;
    pub(crate) mod statistics;
}

/// Computed values.
#[path = "values"]
#[expect(dead_code, reason = "what other tests need of these modules is not needed here")]
mod computed {
    pub(crate) mod case;
    pub(crate) mod engine;
    pub(crate) mod generate;
}

use computed::generate::{self, Random};
use contract::{Counts, Table};
use plain::case::Case;
use prunus_pruner::{BindOptions, NanOrder, Predicate};

/// Many, since planning a filter takes longer than judging a container.
const CONTAINERS: usize = 64;

/// A case of plain columns.
fn plain_case(random: &mut Random, containers: usize) -> Case {
    Case::new((0..100 + 60 * containers).map(|_| random.below(1 << 32) as u32).collect(), containers)
}

/// The filters of a case that DataFusion can read and reads as we do: it has not the function `f` of the filters, and no type
/// for UUIDs, of which it compares the bytes with those of the text.
fn filters(case: &Case) -> impl Iterator<Item = &Predicate> {
    let is_for_datafusion = |text: &str| !["f(", "-0000-", "-ffff-"].iter().any(|part| text.contains(part));
    case.filters.iter().filter(move |filter| is_for_datafusion(&filter.to_string()))
}

#[test]
fn datafusion_contradicts_no_verdict_and_no_residual_on_plain_columns() {
    let mut random = Random(rounds::seed().unwrap_or(2));
    let context = session::context();
    let mut counts = Counts::default();
    for _ in 0..400 * rounds::times() {
        let case = plain_case(&mut random, CONTAINERS);
        let table = Table::of_plain(&case);
        filters(&case).for_each(|filter| table.judge(&context, filter, &case.options(NanOrder::Any), &mut counts));
    }
    counts.are_enough();
}

#[test]
fn datafusion_contradicts_no_verdict_and_no_residual_on_computed_values() {
    let mut random = Random(rounds::seed().unwrap_or(3));
    let context = session::context();
    let mut counts = Counts::default();
    for _ in 0..300 * rounds::times() {
        let table = Table::of_computed(computed::case::Case::new(&mut random, CONTAINERS));
        for depth in 0..8 {
            let filter = generate::predicate(&mut random, depth % 4);
            table.judge(&context, &filter, &BindOptions::default(), &mut counts);
        }
    }
    counts.are_enough();
}
