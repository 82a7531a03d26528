//! Maps of a request, in which a key stands once: of two values nobody could say which was meant.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// Reads a map and refuses a key that stands in it twice.
pub(super) fn deserialize<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, V>, D::Error> {
    struct UniqueKeys<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for UniqueKeys<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some(key) = access.next_key::<String>()? {
                match map.entry(key) {
                    Entry::Vacant(vacant) => {
                        vacant.insert(access.next_value()?);
                    }
                    Entry::Occupied(occupied) => {
                        return Err(A::Error::custom(format_args!("the key `{}` stands twice", occupied.key())));
                    }
                }
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(UniqueKeys(PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stands_once() {
        let read = |text: &str| deserialize::<_, u8>(&mut serde_json::Deserializer::from_str(text));
        assert_eq!(read(r#"{"a": 1, "b": 2}"#).unwrap().len(), 2);
        let error = read(r#"{"a": 1, "a": 1}"#).unwrap_err().to_string();
        assert!(error.starts_with("the key `a` stands twice"), "{error}");
    }
}
