//! Every fault of form of what was sent, not the first alone.
//!
//! serde stops at the first fault. So what was sent becomes a tree, and the request is read from it again and again: what is at
//! fault is noted with its place and gives way to a stand-in, which reads as whatever is asked for, so that nothing is found
//! wrong that was not sent so. What was read before a fault is right, and lists of it are not read again: all tries together
//! take about as long as one, whatever the size of the lists.

use std::cell::Cell;

use prunus_catalog::Fault;
use serde::de::DeserializeOwned;
use serde_path_to_error::{Path, Segment};

use super::form_error::{FormError, FormPart};
use super::form_tree::{Node, TreeReader, push_key};
use crate::wire::MAX_FAULTS;

/// The most nodes of a tree that are read in all tries but the first.
const MAX_NODES_READ: u64 = 10_000_000;

/// A step from a node to one in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    /// The place among the items that are still there.
    Index(usize),
}

/// Reads a request from its tree; or finds every fault of it, up to [`MAX_FAULTS`] and to what they cost. `part` is what faults
/// call its fields.
pub(super) fn read<T: DeserializeOwned>(mut tree: Node, part: FormPart) -> Result<T, Vec<Fault>> {
    let mut faults: Vec<Fault> = Vec::new();
    let nodes_read = Cell::new(0);
    // Each try makes the tree smaller or a node of it a stand-in; the bound is for what is not foreseen.
    for _ in 0..2 * MAX_FAULTS {
        let error = match serde_path_to_error::deserialize(TreeReader { node: &tree, nodes_read: &nodes_read }) {
            Ok(value) if faults.is_empty() => return Ok(value),
            Ok(_) => break,
            Err(error) => error,
        };
        let steps = steps(error.path());
        let error = error.into_inner();
        let mended = steps.and_then(|steps| mend(&mut tree, &steps, &error));
        let (at, is_caused, goes_on) = match mended {
            Some(Mended { at, is_caused }) => (at, is_caused, true),
            None => (String::new(), !faults.is_empty(), false),
        };
        let fault = Fault { at: Some(at).filter(|at| !at.is_empty()), ..Fault::new(error.message(part)) };
        if !is_caused && !faults.contains(&fault) {
            faults.push(fault);
        }
        if !goes_on || faults.len() == MAX_FAULTS || nodes_read.get() > MAX_NODES_READ {
            break;
        }
    }
    Err(faults)
}

/// The way to what is at fault; `None` if it is not known.
fn steps(path: &Path) -> Option<Vec<Step>> {
    let step = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(Some(Step::Index(*index))),
        Segment::Map { key } => Some(Some(Step::Key(key.clone()))),
        // A variant is no node of its own.
        Segment::Enum { .. } => Some(None),
        Segment::Unknown => None,
    };
    path.iter().map(step).collect::<Option<Vec<_>>>().map(|steps| steps.into_iter().flatten().collect())
}

/// What came of taking a fault out of a tree.
struct Mended {
    /// Its place, as clients are told it.
    at: String,
    /// Whether it may be there only because of what was taken out before.
    is_caused: bool,
}

/// Takes a fault out of the tree; `None` if that cannot be done.
fn mend(tree: &mut Node, steps: &[Step], error: &FormError) -> Option<Mended> {
    let (mut at, mut node) = (String::new(), tree);
    let (last, way) = match steps.split_last() {
        Some((last, way)) => (Some(last), way),
        None => (None, steps),
    };
    for step in way {
        node = node.descend(step, &mut at)?;
    }
    match (error, last) {
        (FormError::UnknownField { field, .. }, Some(Step::Key(key))) if key == field => {
            node.descend(&Step::Key(key.clone()), &mut at)?;
            node.remove(field, 0)?;
            return Some(Mended { at, is_caused: false });
        }
        (FormError::UnknownField { .. }, _) => return None,
        _ => {}
    }
    // The parent is needed to take an item out of its list.
    if let (FormError::UnknownValue { .. } | FormError::Other(_), Some(last)) = (error, last) {
        let child = node.descend(last, &mut at)?;
        let is_caused = child.holds_stand_in();
        if let Some(key) = child.key_given_twice() {
            child.remove(&key, 1)?;
        } else if matches!(child, Node::StandIn) {
            return None;
        } else if matches!(last, Step::Index(_)) {
            // Those before it are gone already.
            node.drop_first();
        } else {
            *child = Node::StandIn;
        }
        return Some(Mended { at, is_caused });
    }
    if let Some(last) = last {
        node = node.descend(last, &mut at)?;
    }
    let field = match error {
        FormError::MissingField(field) => {
            node.insert(field);
            (*field).to_owned()
        }
        FormError::FieldGivenTwice(field) => {
            node.remove(field, 1)?;
            (*field).to_owned()
        }
        _ => return None,
    };
    push_key(&field, &mut at);
    Some(Mended { at, is_caused: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{AlterTableJson, CommitJson, ExplainJson, NewAuditJson, NewTableJson, PlanJson, TransactionJson};

    /// The place of every fault, and its message up to what was expected.
    fn faults<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> Vec<(String, String)> {
        let faults = read::<T>(serde_json::from_str(text).unwrap(), FormPart::Field).unwrap_err();
        let short = |message: &str| message.split(", expected").next().unwrap().to_owned();
        faults.into_iter().map(|fault| (fault.at.unwrap_or_default(), short(&fault.message))).collect()
    }

    fn check<T: DeserializeOwned + std::fmt::Debug>(text: &str, expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected.iter().map(|(at, message)| ((*at).to_owned(), (*message).to_owned())).collect();
        assert_eq!(faults::<T>(text), expected, "{text}");
    }

    #[test]
    fn every_fault_of_every_file_is_found() {
        check::<CommitJson>(
            r#"{"opration": "append", "base_snapshot": "x", "add": [
                {"path": "good"},
                {"pth": "a", "size_bytes": -1, "columns": {"a": {"min": 1, "nul_count": 3}, "b": {"min_precision": "exactly"}}},
                {"path": "b", "row_count": 1.5, "absent_columns": {}},
                {"path": "good"},
                {"path": 5, "partition": []}
            ], "remove": ["a", 7, "b", null], "filter": 5}"#,
            &[
                ("opration", "unknown field `opration`"),
                (
                    "base_snapshot",
                    "expected a whole number from -9223372036854775808 to 9223372036854775807, found the string `x`",
                ),
                ("add[1].pth", "unknown field `pth`"),
                ("add[1].size_bytes", "expected a whole number from 0 to 18446744073709551615, found -1"),
                ("add[1].columns.a.nul_count", "unknown field `nul_count`"),
                ("add[1].columns.b.min_precision", "unknown value `exactly`"),
                ("add[1].path", "missing field `path`"),
                ("add[2].row_count", "expected a whole number from 0 to 18446744073709551615, found 1.5"),
                ("add[2].absent_columns", "expected an array, found an object"),
                ("add[4].path", "expected a string, found 5"),
                ("add[4].partition", "expected an object, found an array"),
                ("remove[1]", "expected a string, found 7"),
                ("remove[3]", "expected a string, found null"),
                ("filter", "a filter is SQL text or an Iceberg expression object"),
                ("operation", "missing field `operation`"),
            ],
        );
    }

    #[test]
    fn nothing_is_found_that_taking_out_faults_caused() {
        check::<CommitJson>(r#"{"operation": 5}"#, &[("operation", "expected a string, found 5")]);
        check::<CommitJson>(
            r#"{"operation": "append", "add": [5, {"path": "a"}]}"#,
            &[("add[0]", "expected an object, found 5")],
        );
        check::<AlterTableJson>(
            r#"{"schema": [{"op": "ad", "nam": "x"}, {"op": "drop", "column": 5}]}"#,
            &[
                ("schema[0].op", "unknown value `ad`"),
                ("schema[0].nam", "unknown field `nam`"),
                ("schema[1].column", "expected a string, found 5"),
            ],
        );
        check::<NewTableJson>(
            r#"{"name": [], "schema": 5}"#,
            &[("name", "expected a string, found an array"), ("schema", "expected an object, found 5")],
        );
    }

    #[test]
    fn what_stands_twice_is_found_wherever_it_is() {
        check::<CommitJson>(
            r#"{"operation": "append", "operation": "append", "summary": {"a": "1", "a": "2", "b": 5}, "nan_order": "odd"}"#,
            &[
                ("operation", "the field `operation` stands twice"),
                ("summary", "the key `a` stands twice"),
                ("summary.b", "expected a string, found 5"),
                ("nan_order", "unknown value `odd`"),
            ],
        );
    }

    #[test]
    fn faults_of_nested_types_have_their_place() {
        check::<NewTableJson>(
            r#"{"name": "t", "schema": {"fields": [
                {"name": "s", "type": {"type": "struct", "fields": [
                    {"name": "x", "typ": "int32"}, {"name": "y", "type": {"type": "lst", "element": 5}}
                ]}},
                {"name": "m", "type": {"type": "map", "key": "string"}},
                {"name": "l", "type": {"type": "list", "element": "date", "fields": []}},
                {"name": "n", "type": 7, "nullable": "no"}
            ]}}"#,
            &[
                ("schema.fields[0].type.fields[0].typ", "unknown field `typ`"),
                ("schema.fields[0].type.fields[0].type", "missing field `type`"),
                ("schema.fields[0].type.fields[1].type.type", "unknown value `lst`"),
                (
                    "schema.fields[0].type.fields[1].type.element",
                    "expected the name of a type or the object of a nested type, found 5",
                ),
                ("schema.fields[1].type", "a map needs `value`"),
                ("schema.fields[2].type", "a list has no `fields`"),
                ("schema.fields[3].type", "expected the name of a type or the object of a nested type, found 7"),
                ("schema.fields[3].nullable", "expected true or false, found the string `no`"),
            ],
        );
    }

    #[test]
    fn faults_of_changes_of_a_schema_have_their_place() {
        check::<AlterTableJson>(
            r#"{"schema": [
                {"op": "add", "name": "a", "type": {"type": "list"}, "nulable": false},
                {"op": "rename", "column": "a", "name": "b"},
                {"op": "widen", "column": "a"},
                {"op": "move", "column": "a"},
                {"op": "drop", "column": "a", "after": null},
                {"column": "a"}
            ]}"#,
            &[
                ("schema[0].type", "a list needs `element`"),
                ("schema[0].nulable", "unknown field `nulable`"),
                ("schema[1]", "`rename` has no `name`; `rename` needs `to`"),
                ("schema[2]", "`widen` needs `type`"),
                ("schema[3]", "`move` needs `after`"),
                ("schema[4]", "`drop` has no `after`"),
                ("schema[5].op", "missing field `op`"),
            ],
        );
    }

    #[test]
    fn faults_of_plans_and_explanations_have_their_place() {
        let (expected, body) = (
            [
                ("page_size", "expected a whole number from 0 to 4294967295, found the string `many`"),
                ("prune", "expected true or false, found 1"),
                ("filtr", "unknown field `filtr`"),
            ],
            r#""page_size": "many", "prune": 1, "filtr": "a""#,
        );
        check::<PlanJson>(&format!("{{{body}}}"), &expected);
        let explained = [&expected[..], &[("path", "missing field `path`")]].concat();
        check::<ExplainJson>(&format!("{{{body}}}"), &explained);
    }

    #[test]
    fn the_nearest_of_what_was_expected_is_suggested() {
        let message = |text: &str| {
            let faults = read::<NewAuditJson>(serde_json::from_str(text).unwrap(), FormPart::Field).unwrap_err();
            faults.into_iter().map(|fault| fault.message).collect::<Vec<_>>()
        };
        assert_eq!(
            message(r#"{"mode": "footers", "smple": 1}"#),
            [
                "unknown value `footers`, expected `footer` or `scan`; did you mean `footer`?",
                "unknown field `smple`, expected one of `mode`, `sample`, `repair`; did you mean `sample`?",
            ]
        );
        assert_eq!(
            message(r#"{"mode": "scan", "xyz": 1}"#),
            ["unknown field `xyz`, expected one of `mode`, `sample`, `repair`",]
        );
    }

    #[test]
    fn faults_are_looked_for_up_to_the_limit() {
        let count = |count: usize| {
            let files = vec![r#"{"pth": "x", "path": "x"}"#; count].join(",");
            faults::<CommitJson>(&format!(r#"{{"operation": "append", "add": [{files}]}}"#)).len()
        };
        assert_eq!(count(MAX_FAULTS - 1), MAX_FAULTS - 1);
        assert_eq!(count(MAX_FAULTS + 1), MAX_FAULTS);
    }

    #[test]
    fn lists_before_a_fault_are_not_read_again() {
        const FILES: usize = 20_000;
        let mut files = vec![r#"{"path": "x"}"#; FILES];
        for index in (1..=50).map(|number| number * FILES / 50 - 1) {
            files[index] = r#"{"path": "x", "rows": 1}"#;
        }
        let text =
            format!(r#"{{"commits": [{{"table": "n.t", "operation": "append", "add": [{}]}}]}}"#, files.join(","));
        let nodes_read = Cell::new(0);
        let mut tree: Node = serde_json::from_str(&text).unwrap();
        let mut found = 0;
        loop {
            let reader = TreeReader { node: &tree, nodes_read: &nodes_read };
            let Err(error) = serde_path_to_error::deserialize::<_, TransactionJson>(reader) else { break };
            let steps = steps(error.path()).unwrap();
            mend(&mut tree, &steps, &error.into_inner()).unwrap();
            found += 1;
        }
        // Each file is an object and a path.
        assert!(found == 50 && nodes_read.get() < 3 * FILES as u64, "{found} {}", nodes_read.get());
    }
}
