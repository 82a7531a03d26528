//! Filters as Iceberg JSON.
#![no_main]

#[path = "../../tests/support/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::iceberg_json(input));
