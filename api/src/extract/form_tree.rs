//! What was sent, as a tree that can be read more than once and that remembers what stands twice.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserialize, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::form::Step;
use super::form_error::FormError;

/// A node of what was sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// A null, boolean, number or string of JSON.
    Scalar(Value),
    /// The text of a parameter, which may stand for a number or boolean.
    Parameter(String),
    /// A list, of whose items the first so many are gone.
    List(usize, Vec<Node>),
    /// Fields in their order.
    Object(Vec<(String, Node)>),
    /// What a fault was found in: it reads as whatever is asked for.
    StandIn,
}

impl Node {
    /// The node that a step leads to, which is added to the place `at`. Lists on the way there are emptied: they are read and
    /// right, and so is what comes before the node in its own list, which goes.
    pub(super) fn descend(&mut self, step: &Step, at: &mut String) -> Option<&mut Self> {
        match (self, step) {
            (Self::Object(fields), Step::Key(key)) => {
                let index = fields.iter().position(|(name, _)| name == key)?;
                fields.iter_mut().take(index).for_each(|(_, node)| node.forget());
                push_key(key, at);
                fields.get_mut(index).map(|(_, node)| node)
            }
            (Self::List(gone, items), Step::Index(index)) => {
                items.drain(..*index.min(&items.len()));
                *gone += index;
                at.extend(["[", &gone.to_string(), "]"]);
                items.first_mut()
            }
            _ => None,
        }
    }

    /// Empties the lists of what is right.
    fn forget(&mut self) {
        match self {
            Self::List(gone, items) => {
                *gone += items.len();
                items.clear();
            }
            Self::Object(fields) => fields.iter_mut().for_each(|(_, node)| node.forget()),
            Self::Scalar(_) | Self::Parameter(_) | Self::StandIn => {}
        }
    }

    /// Takes the first item out of a list.
    pub(super) fn drop_first(&mut self) {
        if let Self::List(gone, items) = self {
            items.drain(..items.len().min(1));
            *gone += 1;
        }
    }

    /// Takes a field out: of those of its name the one behind `others`.
    pub(super) fn remove(&mut self, name: &str, others: usize) -> Option<()> {
        let Self::Object(fields) = self else { return None };
        let mut of_name = fields.iter().enumerate().filter(|(_, (key, _))| key == name);
        let index = of_name.nth(others).map(|(index, _)| index)?;
        fields.remove(index);
        Some(())
    }

    /// Adds a field that reads as whatever is asked for.
    pub(super) fn insert(&mut self, name: &str) {
        match self {
            Self::Object(fields) => fields.push((name.to_owned(), Self::StandIn)),
            other => *other = Self::Object(vec![(name.to_owned(), Self::StandIn)]),
        }
    }

    /// The first key that an object has more than once.
    pub(super) fn key_given_twice(&self) -> Option<String> {
        let Self::Object(fields) = self else { return None };
        let mut seen = BTreeSet::new();
        fields.iter().find(|(key, _)| !seen.insert(key)).map(|(key, _)| key.clone())
    }

    /// Whether a field of an object was taken out.
    pub(super) fn holds_stand_in(&self) -> bool {
        matches!(self, Self::Object(fields) if fields.iter().any(|(_, node)| *node == Self::StandIn))
    }

    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Scalar(Value::Bool(value)) => Unexpected::Bool(*value),
            Self::Scalar(Value::Number(number)) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => Unexpected::Unsigned(number),
                (_, Some(number), _) => Unexpected::Signed(number),
                (.., Some(number)) => Unexpected::Float(number),
                _ => Unexpected::Other("a number"),
            },
            Self::Scalar(Value::String(text)) | Self::Parameter(text) => Unexpected::Str(text),
            Self::List(..) => Unexpected::Seq,
            Self::Object(_) => Unexpected::Map,
            Self::Scalar(_) | Self::StandIn => Unexpected::Unit,
        }
    }
}

/// Adds the place of a field to that of the node that it is a field of.
pub(super) fn push_key(key: &str, at: &mut String) {
    if !at.is_empty() {
        at.push('.');
    }
    at.push_str(key);
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodeVisitor;

        impl<'de> Visitor<'de> for NodeVisitor {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Node, E> {
                Ok(Node::Scalar(Value::Null))
            }

            fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
                Ok(Node::Scalar(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
                Ok(Node::Scalar(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
                Ok(Node::Scalar(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
                Ok(Node::Scalar(value.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Node, E> {
                Ok(Node::Scalar(text.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element()? {
                    items.push(item);
                }
                Ok(Node::List(0, items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = access.next_entry()? {
                    fields.push(field);
                }
                Ok(Node::Object(fields))
            }
        }

        deserializer.deserialize_any(NodeVisitor)
    }
}

/// Reads a tree, and counts the nodes that it looks at.
#[derive(Clone, Copy)]
pub(super) struct TreeReader<'t> {
    pub(super) node: &'t Node,
    pub(super) nodes_read: &'t Cell<u64>,
}

impl<'t> TreeReader<'t> {
    fn fields(self, fields: &'t [(String, Node)]) -> impl Iterator<Item = (&'t str, Self)> {
        fields.iter().map(move |(key, node)| (key.as_str(), Self { node, ..self }))
    }

    /// A number that a parameter stands for.
    fn parsed<T: std::str::FromStr>(text: &str, expected: &str) -> Result<T, FormError> {
        text.parse()
            .map_err(|_| FormError::custom(format_args!("`{}` is not {expected}", super::form_error::cut(text))))
    }
}

impl<'de> IntoDeserializer<'de, FormError> for TreeReader<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// A number: of a parameter its text is read, a stand-in is 0. Whole ones may be written as floats: JSON Schema has it that `7.0` is
/// the integer `7`.
macro_rules! deserialize_numbers {
    ($($method:ident, $visit:ident, $type:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FormError> {
            match self.node {
                Node::StandIn => visitor.$visit(<$type>::default()),
                Node::Parameter(text) => {
                    visitor.$visit(Self::parsed(text, &super::form_error::for_people(stringify!($type)))?)
                }
                Node::Scalar(Value::Number(number)) => match whole(number) {
                    Some(number) => visitor.visit_i64(number),
                    None => self.deserialize_any(visitor),
                },
                _ => self.deserialize_any(visitor),
            }
        }
    )*};
}

/// The whole number that a float is. From 2^53 on floats are more than one apart, and it is not known which was meant.
#[expect(clippy::cast_possible_truncation, reason = "it is whole and within the range of i64")]
fn whole(number: &serde_json::Number) -> Option<i64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT_MAX)?;
    Some(float as i64)
}

impl<'de> Deserializer<'de> for TreeReader<'de> {
    type Error = FormError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FormError> {
        self.nodes_read.set(self.nodes_read.get() + 1);
        match self.node {
            Node::Scalar(Value::Bool(value)) => visitor.visit_bool(*value),
            Node::Scalar(Value::Number(number)) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (.., number) => visitor.visit_f64(number.unwrap_or(f64::NAN)),
            },
            Node::Scalar(Value::String(text)) | Node::Parameter(text) => visitor.visit_str(text),
            Node::Scalar(_) => visitor.visit_unit(),
            Node::List(_, items) => {
                visitor.visit_seq(SeqDeserializer::new(items.iter().map(|node| Self { node, ..self })))
            }
            Node::Object(fields) => visitor.visit_map(MapDeserializer::new(self.fields(fields))),
            Node::StandIn => visitor.visit_str(""),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FormError> {
        match self.node {
            Node::StandIn => visitor.visit_bool(false),
            Node::Parameter(text) => visitor.visit_bool(Self::parsed(text, "true or false")?),
            _ => self.deserialize_any(visitor),
        }
    }

    deserialize_numbers! {
        deserialize_i8, visit_i8, i8;
        deserialize_i16, visit_i16, i16;
        deserialize_i32, visit_i32, i32;
        deserialize_i64, visit_i64, i64;
        deserialize_u8, visit_u8, u8;
        deserialize_u16, visit_u16, u16;
        deserialize_u32, visit_u32, u32;
        deserialize_u64, visit_u64, u64;
        deserialize_f32, visit_f32, f32;
        deserialize_f64, visit_f64, f64;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FormError> {
        match self.node {
            Node::Scalar(Value::Null) | Node::StandIn => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, FormError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FormError> {
        match self.node {
            Node::StandIn => visitor.visit_seq(SeqDeserializer::new(std::iter::empty::<Self>())),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FormError> {
        match self.node {
            Node::StandIn => visitor.visit_map(MapDeserializer::new(self.fields(&[]))),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, FormError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, FormError> {
        let text = match self.node {
            Node::StandIn => variants.first().copied().unwrap_or_default(),
            Node::Scalar(Value::String(text)) | Node::Parameter(text) => text,
            other => return Err(FormError::invalid_type(other.unexpected(), &"a string")),
        };
        let text: serde::de::value::StrDeserializer<'_, FormError> = text.into_deserializer();
        text.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}
