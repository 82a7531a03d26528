//! Cases from public reports of wrong or missed pruning (`bugcases.json`): no case is answered wrongly, and those whose
//! pruning is not reached yet are listed, so that the list can only shrink.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests are tests, too, but clippy does not see it"
)]

use std::collections::BTreeSet;

use prunus_pruner::{BindOptions, BoundPredicate, Column, Predicate, PruningProgram, Verdict};
use prunus_statistics::{
    Bound, ColumnStatistics, Count, FieldId, FileColumn, Precision, PrimitiveType, Provenance, ZoneMap, parse_value,
};
use serde_json::Value as Json;

#[path = "support/zones.rs"]
mod zones;

/// Cases of which some file in `may_prune` is kept or some in `fully_matching` not proven: there is no rule yet for what their filters hold.
const NOT_REACHED: [&str; 0] = [];

struct Case {
    json: Json,
    columns: Vec<Column>,
}

impl Case {
    fn new(json: Json) -> Self {
        let columns = json["schema"].as_array().unwrap().iter().enumerate().map(|(index, column)| Column {
            id: FieldId(i32::try_from(index).unwrap() + 1),
            path: vec![column["name"].as_str().unwrap().to_owned()],
            column_type: Some(type_named(column["type"].as_str().unwrap())),
            items: Vec::new(),
        });
        Self { columns: columns.collect(), json }
    }

    fn id(&self) -> &str {
        self.json["id"].as_str().unwrap()
    }

    fn filter(&self) -> &str {
        self.json["filter_sql"].as_str().unwrap()
    }

    /// The files that a list of the case names.
    fn files(&self, list: &str) -> Vec<usize> {
        let index = |index: &Json| usize::try_from(index.as_u64().unwrap()).unwrap();
        self.json[list].as_array().into_iter().flatten().map(index).collect()
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let predicate = Predicate::parse_sql(self.filter()).unwrap_or_else(|fault| panic!("{}: {fault}", self.id()));
        let bound = BoundPredicate::bind(&predicate, &self.columns, &BindOptions::default());
        let program = PruningProgram::compile(bound.unwrap_or_else(|faults| panic!("{}: {faults:?}", self.id())));
        let files = self.json["files"].as_array().unwrap();
        let row_counts: Vec<Option<u64>> = files.iter().map(|file| file["row_count"].as_u64()).collect();
        let zones: Vec<Vec<ZoneMap>> =
            self.columns.iter().map(|column| files.iter().map(|file| zone(file, column)).collect()).collect();
        let selection = program.evaluate(&zones::zone_maps(&self.columns, &row_counts, &zones));
        (0..files.len()).map(|index| selection.verdict(index)).collect()
    }
}

fn type_named(name: &str) -> PrimitiveType {
    match name {
        "bool" => PrimitiveType::Boolean,
        "utf8" => PrimitiveType::String,
        name => name.parse().unwrap(),
    }
}

/// The zone map of a column in a file, as the catalog makes it of what the file says.
fn zone(file: &Json, column: &Column) -> ZoneMap {
    let (name, column_type) = (column.path[0].as_str(), column.column_type.unwrap());
    let row_count = file["row_count"].as_u64();
    if file["missing_columns"].as_array().is_some_and(|names| names.contains(&Json::from(name))) {
        return ZoneMap::of_file(Some(&FileColumn::Absent), column_type, row_count);
    }
    let file_type = file["file_types"][name].as_str().map_or(column_type, type_named);
    let statistics = &file["stats"][name];
    let bound = |side: &str| {
        let text = match &statistics[side] {
            Json::Null => return None,
            Json::String(text) if matches!(file_type, PrimitiveType::Binary) => {
                text.trim_start_matches("0x").to_owned()
            }
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        let value = parse_value(&text, file_type).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        // Bounds of a string say nothing of the numbers that its texts are read as; the wider types hold the narrower's.
        let kept = file_type == column_type || value.fits(column_type);
        kept.then_some(Bound { value, precision: Precision::Bound, provenance: Provenance::Footer })
    };
    let count = |name: &str| statistics[name].as_u64().map(|value| Count { value, provenance: Provenance::Footer });
    let column = FileColumn::Present(ColumnStatistics {
        min: bound("min"),
        max: bound("max"),
        null_count: count("null_count"),
        nan_count: count("nan_count"),
    });
    ZoneMap::of_file(Some(&column), column_type, row_count)
}

fn cases() -> Vec<Case> {
    let cases: Vec<Json> = serde_json::from_str(include_str!("bugcases.json")).unwrap();
    assert!(!cases.is_empty());
    cases.into_iter().map(Case::new).collect()
}

#[test]
fn no_case_is_answered_wrongly() {
    for case in cases() {
        let verdicts = case.verdicts();
        let at = |file: usize| format!("{}: file {file}, {}", case.id(), case.filter());
        for file in case.files("must_keep").into_iter().chain(case.files("semantics_keep")) {
            assert_ne!(verdicts[file], Verdict::None, "{}", at(file));
        }
        for file in case.files("not_fully_matching") {
            assert_ne!(verdicts[file], Verdict::All, "{}", at(file));
        }
    }
}

#[test]
fn what_may_be_pruned_is_pruned_but_for_the_listed_cases() {
    let mut not_reached = BTreeSet::new();
    for case in cases() {
        let verdicts = case.verdicts();
        let kept: Vec<usize> =
            case.files("may_prune").into_iter().filter(|file| verdicts[*file] != Verdict::None).collect();
        // An empty file matches as a whole and not at all.
        let is_empty = |file: usize| case.json["files"][file]["row_count"].as_u64() == Some(0);
        let proven =
            |file: usize| verdicts[file] == Verdict::All || (is_empty(file) && verdicts[file] == Verdict::None);
        let partial: Vec<usize> = case.files("fully_matching").into_iter().filter(|file| !proven(*file)).collect();
        if !kept.is_empty() || !partial.is_empty() {
            println!("{}: {} keeps {kept:?}, does not prove {partial:?}", case.id(), case.filter());
            not_reached.insert(case.id().to_owned());
        }
    }
    assert_eq!(not_reached, NOT_REACHED.map(str::to_owned).into());
}
