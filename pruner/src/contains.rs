//! Tests of what a list or a map holds.

use std::fmt;

/// A test of whether a list holds a value, or a map a key or a value, by the name that engines give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ContainsTest {
    ArrayHas,
    ArrayContains,
    ListHas,
    ListContains,
    /// `value = ANY(list)`.
    EqualsAny,
    MapContains,
    MapContainsKey,
    MapContainsValue,
}

/// What of a list or a map has one value for each of its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// The elements of a list.
    Element,
    /// The keys of a map.
    Key,
    /// The values of a map.
    Value,
}

/// The tests that are calls, whose first argument is the list or map.
const CALLS: [(&str, ContainsTest, ItemKind); 7] = [
    ("array_has", ContainsTest::ArrayHas, ItemKind::Element),
    ("array_contains", ContainsTest::ArrayContains, ItemKind::Element),
    ("list_has", ContainsTest::ListHas, ItemKind::Element),
    ("list_contains", ContainsTest::ListContains, ItemKind::Element),
    ("map_contains", ContainsTest::MapContains, ItemKind::Key),
    ("map_contains_key", ContainsTest::MapContainsKey, ItemKind::Key),
    ("map_contains_value", ContainsTest::MapContainsValue, ItemKind::Value),
];

impl ContainsTest {
    /// The test that a call of this name is, whatever the name's case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        CALLS.iter().find(|(call, ..)| call.eq_ignore_ascii_case(name)).map(|(_, test, _)| *test)
    }

    /// Which items are tested.
    pub(crate) fn item(self) -> ItemKind {
        CALLS.iter().find(|(_, test, _)| *test == self).map_or(ItemKind::Element, |(.., item)| *item)
    }

    /// Writes the test as SQL.
    pub(crate) fn write(
        self,
        f: &mut fmt::Formatter<'_>,
        list: &dyn fmt::Display,
        value: &dyn fmt::Display,
    ) -> fmt::Result {
        match CALLS.iter().find(|(_, test, _)| *test == self) {
            Some((name, ..)) => write!(f, "{name}({list}, {value})"),
            None => write!(f, "{value} = ANY({list})"),
        }
    }
}

impl ItemKind {
    /// What such an item is called in the path to it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Element => "element",
            Self::Key => "key",
            Self::Value => "value",
        }
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Element => "elements",
            Self::Key => "keys",
            Self::Value => "values",
        })
    }
}
