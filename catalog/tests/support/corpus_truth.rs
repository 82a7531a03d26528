//! The corpus as its tests read it: Parquet files of many writers, with the truth about their columns found by reading all the
//! data; and how values stand to that truth.
//!
//! The folder is the one that `PRUNUS_CORPUS` names, else `../shared/corpus` beside the repository. Where it is missing the
//! tests say so and pass, unless `PRUNUS_REQUIRE_CORPUS=1` is set.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use half::f16;
use prunus_statistics::Value;
use serde_json::Value as Json;

/// Where the corpus is; `None` if there is none.
pub(crate) fn corpus_folder() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let folder = std::env::var_os("PRUNUS_CORPUS").map_or(default, PathBuf::from);
    if folder.join("corpus.json").is_file() {
        return Some(folder);
    }
    let required = std::env::var_os("PRUNUS_REQUIRE_CORPUS").is_some_and(|value| value == "1");
    assert!(!required, "the corpus is required and not at {}", folder.display());
    eprintln!("SKIPPED: no corpus at {}; set PRUNUS_CORPUS to its folder", folder.display());
    None
}

/// What the corpus says of each of its files.
pub(crate) fn corpus(folder: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(folder.join("corpus.json")).unwrap();
    let corpus: Json = serde_json::from_str(&text).unwrap();
    corpus["files"].as_array().unwrap().clone()
}

/// How a bound stands to a true value; `None` where only the beginning of the true value is recorded and that does not decide.
pub(crate) fn compare(bound: &Value, truth: &Json) -> Option<Ordering> {
    if let (Some(prefix), Value::Bytes(bytes)) = (truth["hex_prefix"].as_str(), bound) {
        let prefix = from_hex(prefix);
        return if bytes.starts_with(&prefix) { None } else { Some(bytes.cmp(&prefix)) };
    }
    Some(bound.compare(&true_value(truth)).unwrap_or_else(|| panic!("{bound:?} is not comparable with {truth}")))
}

/// Whether the value is the true one, to the sign of a zero.
pub(crate) fn is_same(value: &Value, truth: &Json) -> bool {
    match (value, truth["hex_prefix"].as_str()) {
        (Value::Bytes(bytes), Some(prefix)) => {
            bytes.starts_with(&from_hex(prefix)) && truth["len"].as_u64() == u64::try_from(bytes.len()).ok()
        }
        (Value::Float(value), None) => {
            matches!(true_value(truth), Value::Float(truth) if truth.to_bits() == value.to_bits())
        }
        _ => *value == true_value(truth),
    }
}

/// A true value that is recorded whole.
pub(crate) fn true_value(truth: &Json) -> Value {
    let integer = |key: &str| Value::Integer(truth[key].as_str().unwrap().parse().unwrap());
    let bits = || u64::from_str_radix(truth["bits"].as_str().unwrap(), 16).unwrap();
    match truth["type"].as_str().unwrap() {
        "boolean" => Value::Boolean(truth["value"] == "true"),
        "float16" => Value::Float(f16::from_bits(bits().try_into().unwrap()).into()),
        "float32" => Value::Float(f32::from_bits(bits().try_into().unwrap()).into()),
        "float64" => Value::Float(f64::from_bits(bits())),
        "decimal" => integer("unscaled"),
        "timestamp" if truth["raw"].is_null() => {
            let days = i128::from(truth["julian_day"].as_i64().unwrap()) - 2_440_588;
            let nanoseconds: i128 = truth["nanos"].as_str().unwrap().parse().unwrap();
            Value::Integer(days * 86_400_000_000_000 + nanoseconds)
        }
        "date" | "time" | "timestamp" => integer("raw"),
        number if number.starts_with("int") || number.starts_with("uint") => integer("value"),
        _ => Value::Bytes(from_hex(truth["hex"].as_str().unwrap())),
    }
}

fn from_hex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}
