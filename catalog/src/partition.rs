//! The values that a file has in every row: given with the commit, or written into its path.

use std::collections::{BTreeMap, BTreeSet};

use prunus_statistics::{FieldId, Literal, PrimitiveType, Value, parse_value};

use crate::collect::{TableColumn, same_when_folded};
use crate::hive::FolderValue;
use crate::location::Location;
use crate::schema::LeafColumn;
use crate::schema_json::value_from_literal;
use crate::{Fault, column_ref, hive};

/// Partition constants by field; `None` is null.
pub(crate) type Constants = BTreeMap<FieldId, Option<Value>>;

/// The constants of a file. `given` are those of the commit, by column key; those of the path are its `key=value` folders
/// below `base` whose key is, to the letter, the name of a top-level column. Every fault found.
pub(crate) fn constants(
    given: &BTreeMap<String, Option<Literal>>,
    location: &Location,
    base: Option<&Location>,
    leaves: &[LeafColumn],
) -> Result<Constants, Vec<Fault>> {
    let mut constants = Constants::new();
    let mut faults = Vec::new();
    for (key, literal) in given {
        let fault = |message: String| Fault::of_path(location.as_str(), message).in_column(key);
        let Some(leaf) = column_ref::find(leaves, key) else {
            faults.push(fault(column_ref::unknown(key, leaves, &[])));
            continue;
        };
        let value = literal.as_ref().map(|literal| value_from_literal(literal, leaf.column_type).ok_or(literal));
        match value.transpose() {
            Ok(value) => {
                if constants.insert(leaf.id, value).is_some() {
                    faults.push(fault("the commit names the column more than once".to_owned()));
                }
            }
            Err(literal) => faults.push(fault(not_of_type(&literal.to_string(), leaf.column_type))),
        }
    }
    let below = base.and_then(|base| location.below(base)).unwrap_or_default();
    for (key, value) in hive::partition_segments(below) {
        let Some(leaf) = leaves.iter().find(|leaf| leaf.path.as_slice() == [key.as_str()]) else { continue };
        let mut fault = |message: String| faults.push(Fault::of_path(location.as_str(), message).in_column(&key));
        let value = match value {
            FolderValue::Null => None,
            FolderValue::Undecodable => {
                fault("the partition value in the path is not UTF-8".to_owned());
                continue;
            }
            FolderValue::Text(text) => {
                let Ok(value) = parse_value(&text, leaf.column_type) else {
                    fault(not_of_type(&text, leaf.column_type));
                    continue;
                };
                Some(value)
            }
        };
        if constants.get(&leaf.id).is_some_and(|given| *given != value) {
            fault("the partition value of the commit and that of the path differ".to_owned());
        }
        constants.insert(leaf.id, value);
    }
    if faults.is_empty() { Ok(constants) } else { Err(faults) }
}

/// The columns that a `key=value` folder of the path names without being a constant: because it does not lie below the table's
/// location, because it is spelled otherwise, or because the column was called so before. What such a file reads as in the column
/// is not known. `wanted` are the same columns with their former names.
pub(crate) fn undecided<'a>(
    location: &Location,
    constants: &Constants,
    leaves: &'a [LeafColumn],
    wanted: &[TableColumn],
) -> Vec<&'a LeafColumn> {
    let segments = hive::partition_segments(location.key());
    let is_named = |path: &Vec<String>| match path.as_slice() {
        [name] => segments.iter().any(|(key, _)| same_when_folded(key, name)),
        _ => false,
    };
    let named: BTreeSet<FieldId> = wanted
        .iter()
        .filter(|column| std::iter::once(&column.path).chain(&column.former_paths).any(is_named))
        .map(|column| column.id)
        .collect();
    leaves.iter().filter(|leaf| named.contains(&leaf.id)).filter(|leaf| !constants.contains_key(&leaf.id)).collect()
}

fn not_of_type(value: &str, column_type: PrimitiveType) -> String {
    format!("the partition value {value} is not of type {column_type}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves() -> Vec<LeafColumn> {
        [("year", PrimitiveType::Int32), ("c", PrimitiveType::String)]
            .into_iter()
            .zip(1..)
            .map(|((name, column_type), id)| LeafColumn {
                id: FieldId(id),
                path: vec![name.to_owned()],
                column_type,
                default: None,
                required: false,
            })
            .collect()
    }

    fn check(given: &[(&str, Option<Literal>)], path: &str) -> Result<Constants, Vec<String>> {
        let given = given.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let base = Location::parse("/t/", None).unwrap();
        let location = Location::parse(path, None).unwrap();
        constants(&given, &location, Some(&base), &leaves())
            .map_err(|faults| faults.into_iter().map(|fault| fault.message).collect())
    }

    #[test]
    fn constants_come_from_the_commit_and_from_the_path() {
        let text = |text: &str| Some(Value::Bytes(text.as_bytes().to_vec()));
        let expected = Constants::from([(FieldId(1), Some(Value::Integer(2024))), (FieldId(2), text("de"))]);
        assert_eq!(check(&[], "/t/year=2024/c=de/x=1/a.parquet"), Ok(expected.clone()));
        assert_eq!(check(&[("c", Some(Literal::Text("de".to_owned())))], "/t/year=2024/a.parquet"), Ok(expected));
        let null = Constants::from([(FieldId(1), None)]);
        assert_eq!(check(&[], "/t/year=__HIVE_DEFAULT_PARTITION__/a.parquet"), Ok(null));
        assert_eq!(check(&[], "/elsewhere/year=2024/a.parquet"), Ok(Constants::new()));
        assert_eq!(check(&[], "/t/Year=2024/a.parquet"), Ok(Constants::new()));
    }

    #[test]
    fn every_constant_that_is_none_is_a_fault() {
        assert_eq!(
            check(&[("c", Some(Literal::Boolean(true))), ("d", None)], "/t/year=MMXXIV/a.parquet"),
            Err(vec![
                "the partition value TRUE is not of type string".to_owned(),
                "unknown column `d`".to_owned(),
                "the partition value MMXXIV is not of type int32".to_owned(),
            ])
        );
        assert_eq!(
            check(&[("year", None)], "/t/year=2024/a.parquet"),
            Err(vec!["the partition value of the commit and that of the path differ".to_owned()])
        );
    }
}
