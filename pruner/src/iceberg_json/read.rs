//! From JSON to predicates.

use prunus_statistics::FieldId;
use serde_json::{Map, Value};

use crate::{
    ColumnName, CompareOp, Expression, FilterError, FilterLanguage, FilterLimits, JsonLiteral, JsonScalar,
    MAX_FILTER_DEPTH, MAX_FILTER_VALUES, Predicate, Unsupported, nearest,
};

/// The types of tests and connectives.
const TESTS: [&str; 20] = [
    "true",
    "false",
    "literal",
    "and",
    "or",
    "not",
    "eq",
    "not-eq",
    "lt",
    "lt-eq",
    "gt",
    "gt-eq",
    "in",
    "not-in",
    "is-null",
    "not-null",
    "is-nan",
    "not-nan",
    "starts-with",
    "not-starts-with",
];

/// Those of what is tested.
const OPERANDS: [&str; 4] = ["reference", "literal", "apply", "transform"];

pub(super) fn predicate(json: &Value, limits: FilterLimits) -> Result<Predicate, FilterError> {
    let mut reader = Reader { limits, places: vec![(0, "")], parts: 0, values: 0 };
    reader.predicate(Part { json, place: Place(0), depth: 0, negated: false })
}

struct Reader {
    limits: FilterLimits,
    /// Where the parts are that were come upon: the place above, and the key below it.
    places: Vec<(usize, &'static str)>,
    parts: usize,
    /// How many values the lists have that were come upon.
    values: usize,
}

#[derive(Clone, Copy)]
struct Place(usize);

/// A part of the whole that is read.
#[derive(Clone, Copy)]
struct Part<'a> {
    json: &'a Value,
    place: Place,
    /// How many connectives are around it.
    depth: usize,
    /// Whether an odd number of NOTs is around it.
    negated: bool,
}

type Object = Map<String, Value>;

impl Reader {
    fn predicate(&mut self, part: Part<'_>) -> Result<Predicate, FilterError> {
        self.count(part)?;
        if let Value::Bool(value) = part.json {
            return Ok(Predicate::Constant(Some(*value)));
        }
        let Value::Object(object) = part.json else {
            return Err(self.fault(part.place, "an object or a boolean is expected"));
        };
        let name = self.operator(object, part.place)?;
        match name.as_str() {
            "true" => Ok(Predicate::Constant(Some(true))),
            "false" => Ok(Predicate::Constant(Some(false))),
            "literal" => match object.get("value") {
                Some(Value::Bool(value)) => Ok(Predicate::Constant(Some(*value))),
                _ => Err(self.fault(part.place, "a literal alone must be true or false")),
            },
            "and" => Ok(Predicate::And(self.operands(&name, part)?)),
            "or" => Ok(Predicate::Or(self.operands(&name, part)?)),
            "not" => {
                let json = self.member(object, part.place, "child")?;
                let place = self.below(part.place, "child");
                let child = Part { json, place, depth: part.depth + 1, negated: !part.negated };
                Ok(Predicate::Not(Box::new(self.predicate(child)?)))
            }
            name => self.test(name, object, part),
        }
    }

    /// Counts a part against the limits.
    fn count(&mut self, part: Part<'_>) -> Result<(), FilterError> {
        let FilterLimits { depth, words, .. } = self.limits;
        if part.depth > depth {
            return Err(FilterError::TooComplex { what: "levels of nesting", max: depth });
        }
        self.parts += 1;
        if self.parts > words {
            return Err(FilterError::TooComplex { what: "tests and connectives", max: words });
        }
        Ok(())
    }

    /// The operands of a chain of one connective, however deep the chain is.
    fn operands(&mut self, connective: &str, chain: Part<'_>) -> Result<Vec<Predicate>, FilterError> {
        let mut operands = Vec::new();
        let mut open = vec![chain];
        while let Some(part) = open.pop() {
            let object = part.json.as_object();
            let Some(object) = object.filter(|object| is_operator(object, connective)) else {
                operands.push(self.predicate(Part { depth: chain.depth + 1, ..part })?);
                continue;
            };
            // The first connective was counted where it was found.
            if part.place.0 != chain.place.0 {
                self.count(part)?;
            }
            for key in ["right", "left"] {
                let json = self.member(object, part.place, key)?;
                open.push(Part { json, place: self.below(part.place, key), ..part });
            }
        }
        Ok(operands)
    }

    fn test(&mut self, name: &str, object: &Object, part: Part<'_>) -> Result<Predicate, FilterError> {
        let (plain, negated) = match name {
            "not-eq" => ("eq", true),
            "not-in" => ("in", true),
            "not-starts-with" => ("starts-with", true),
            "not-nan" => ("is-nan", true),
            plain => (plain, false),
        };
        let compare_op = match plain {
            "eq" => Some(CompareOp::Eq),
            "lt" => Some(CompareOp::Lt),
            "lt-eq" => Some(CompareOp::LtEq),
            "gt" => Some(CompareOp::Gt),
            "gt-eq" => Some(CompareOp::GtEq),
            _ => None,
        };
        let predicate = match (plain, compare_op) {
            ("is-null" | "not-null", _) => {
                let expression = self.child(object, part.place)?;
                return Ok(Predicate::IsNull { expression, negated: plain == "not-null" });
            }
            ("is-nan", _) => Predicate::IsNan(self.child(object, part.place)?),
            ("in", _) => match self.values(object, part.place)? {
                Some(list) => Predicate::In { expression: self.child(object, part.place)?, list, negated: false },
                None => return without_rule(part),
            },
            ("starts-with", _) => match self.sides(object, part.place)? {
                Some((expression, Expression::Json(JsonLiteral { scalar: JsonScalar::Text(prefix), data_type })))
                    if data_type.as_deref().is_none_or(|name| name == "string") =>
                {
                    Predicate::StartsWith { expression, prefix }
                }
                _ => return without_rule(part),
            },
            (_, Some(op)) => match self.sides(object, part.place)? {
                Some((left, right)) => Predicate::Compare { left, op, right },
                None => return without_rule(part),
            },
            (_, None) => return Ok(Predicate::Other(of_unknown_type(part.json, name, &TESTS)?)),
        };
        let two_valued = negated || (part.negated && !matches!(predicate, Predicate::IsNan(_)));
        Ok(if two_valued { Predicate::TwoValued { predicate: Box::new(predicate), negated } } else { predicate })
    }

    /// What is tested by a test of one operand, or looked for in a list.
    fn child(&mut self, object: &Object, place: Place) -> Result<Expression, FilterError> {
        let key = if object.contains_key("child") { "child" } else { "term" };
        let json = self.member(object, place, key)?;
        let place = self.below(place, key);
        self.operand(json, place)?.ok_or_else(|| self.fault(place, "a name or an object is expected"))
    }

    /// The two sides of a comparison; `None` if one is a literal that no column has.
    fn sides(&mut self, object: &Object, place: Place) -> Result<Option<(Expression, Expression)>, FilterError> {
        if object.contains_key("left") {
            let mut side = |key| {
                let json = self.member(object, place, key)?;
                let place = self.below(place, key);
                self.operand(json, place)
            };
            return Ok(side("left")?.zip(side("right")?));
        }
        let term = self.child(object, place)?;
        let value = self.member(object, place, "value")?;
        let place = self.below(place, "value");
        Ok(self.literal(value, place)?.map(|literal| (term, Expression::Json(literal))))
    }

    /// A reference, a literal, or what has no rule; `None` for a literal that no column has.
    fn operand(&mut self, json: &Value, place: Place) -> Result<Option<Expression>, FilterError> {
        let object = match json {
            Value::String(name) => return Ok(Some(Expression::Column(column(name)))),
            Value::Object(object) => object,
            _ => return Err(self.fault(place, "a name or an object is expected")),
        };
        Ok(Some(match self.operator(object, place)?.as_str() {
            "literal" => return Ok(self.literal(json, place)?.map(Expression::Json)),
            "reference" => Expression::Column(self.reference(object, place)?),
            "apply" | "transform" => Expression::Other(unsupported(json)?),
            name => Expression::Other(of_unknown_type(json, name, &OPERANDS)?),
        }))
    }

    /// A reference by name (the key was once `term`), or by field id.
    fn reference(&self, object: &Object, place: Place) -> Result<ColumnName, FilterError> {
        match (object.get("name").or_else(|| object.get("term")), object.get("id")) {
            (Some(Value::String(name)), _) => Ok(column(name)),
            (None, Some(Value::Number(id))) => match id.as_i64().and_then(|id| i32::try_from(id).ok()) {
                Some(id) => Ok(ColumnName::of_id(FieldId(id))),
                // No column has it.
                None => Ok(ColumnName::exact([format!("#{id}")])),
            },
            (None, None) => Err(self.fault(place, "`name` is missing")),
            _ => Err(self.fault(place, "a reference names a column or its id")),
        }
    }

    /// `None` for a value that no column has, such as a list.
    fn literal(&self, json: &Value, place: Place) -> Result<Option<JsonLiteral>, FilterError> {
        let Value::Object(object) = json else { return self.scalar(json, None, place) };
        match (object.get("type").and_then(Value::as_str), object.get("value")) {
            (Some("literal"), Some(value)) => self.scalar(value, object.get("data-type"), place),
            (Some("literal"), None) => Err(self.fault(place, "`value` is missing")),
            _ => Ok(None),
        }
    }

    fn scalar(
        &self,
        json: &Value,
        data_type: Option<&Value>,
        place: Place,
    ) -> Result<Option<JsonLiteral>, FilterError> {
        let scalar = match json {
            Value::Null => return Err(self.fault(place, "a literal cannot be null: `is-null` tests for it")),
            Value::Bool(value) => JsonScalar::Boolean(*value),
            Value::Number(number) => {
                let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
                match (integer, number.as_f64()) {
                    (Some(integer), _) => JsonScalar::Integer(integer),
                    (None, Some(float)) => JsonScalar::Float(float),
                    (None, None) => return Ok(None),
                }
            }
            Value::String(text) => JsonScalar::Text(text.clone()),
            Value::Array(_) | Value::Object(_) => return Ok(None),
        };
        let data_type = match data_type {
            None => None,
            Some(Value::String(name)) => Some(name.clone()),
            // The type of a list, struct or map.
            Some(_) => return Ok(None),
        };
        Ok(Some(JsonLiteral { scalar, data_type }))
    }

    /// The literals of a list; `None` if no column has one of them.
    fn values(&mut self, object: &Object, place: Place) -> Result<Option<Vec<Expression>>, FilterError> {
        let json = self.member(object, place, "values")?;
        let place = self.below(place, "values");
        let (list, data_type) = match json {
            Value::Array(list) => (list, None),
            Value::Object(typed) => match typed.get("values") {
                Some(Value::Array(list)) => (list, typed.get("data-type")),
                _ => return Err(self.fault(place, "a list of literals is expected")),
            },
            _ => return Err(self.fault(place, "a list of literals is expected")),
        };
        self.values += list.len();
        if self.values > MAX_FILTER_VALUES {
            return Err(FilterError::TooComplex { what: "values", max: MAX_FILTER_VALUES });
        }
        let mut values = Vec::with_capacity(list.len());
        for (index, json) in list.iter().enumerate() {
            let literal = match data_type {
                Some(_) => self.scalar(json, data_type, place),
                None => self.literal(json, place),
            };
            match literal.map_err(|error| at_index(error, index))? {
                Some(literal) => values.push(Expression::Json(literal)),
                None => return Ok(None),
            }
        }
        Ok(Some(values))
    }

    /// The name of an operator. Iceberg reads it in any case, and with `_` for `-`.
    fn operator(&self, object: &Object, place: Place) -> Result<String, FilterError> {
        match object.get("type") {
            Some(Value::String(name)) => Ok(normalised(name)),
            Some(_) => Err(self.fault(place, "`type` must be a string")),
            None => Err(self.fault(place, "`type` is missing")),
        }
    }

    fn member<'a>(&self, object: &'a Object, place: Place, key: &'static str) -> Result<&'a Value, FilterError> {
        object.get(key).ok_or_else(|| self.fault(place, &format!("`{key}` is missing")))
    }

    fn below(&mut self, above: Place, key: &'static str) -> Place {
        self.places.push((above.0, key));
        Place(self.places.len() - 1)
    }

    fn fault(&self, place: Place, message: &str) -> FilterError {
        let mut keys = Vec::new();
        let mut at = place.0;
        while let Some((above, key)) = self.places.get(at).filter(|_| at > 0) {
            keys.push(*key);
            at = *above;
        }
        keys.reverse();
        let at = keys.into_iter().flat_map(|key| ["/", key]).collect();
        FilterError::Json { at, message: message.to_owned() }
    }
}

/// A part of a type that is newer than this program, or misspelled.
fn of_unknown_type(json: &Value, name: &str, known: &[&str]) -> Result<Unsupported, FilterError> {
    let suggestion = nearest(name, known.iter().copied()).map(|name| format!("; did you mean `{name}`?"));
    let reason = format!("unknown expression type `{name}`{}", suggestion.unwrap_or_default());
    Ok(Unsupported { reason: Some(reason), ..unsupported(json)? })
}

fn without_rule(part: Part<'_>) -> Result<Predicate, FilterError> {
    Ok(Predicate::Other(unsupported(part.json)?))
}

fn at_index(error: FilterError, index: usize) -> FilterError {
    match error {
        FilterError::Json { at, message } => FilterError::Json { at: format!("{at}/{index}"), message },
        other => other,
    }
}

fn is_operator(object: &Object, name: &str) -> bool {
    object.get("type").and_then(Value::as_str).is_some_and(|written| normalised(written) == name)
}

fn normalised(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// A column by its dotted path, to the letter.
fn column(path: &str) -> ColumnName {
    ColumnName::exact(path.split('.'))
}

/// A part that has no rule, with the columns that it refers to.
fn unsupported(json: &Value) -> Result<Unsupported, FilterError> {
    let mut columns = Vec::new();
    let mut open = vec![(json, 0)];
    while let Some((json, depth)) = open.pop() {
        // Writing it as text takes a stack as deep as it is.
        if depth > MAX_FILTER_DEPTH {
            return Err(FilterError::TooComplex { what: "levels of nesting", max: MAX_FILTER_DEPTH });
        }
        match json {
            Value::Array(parts) => open.extend(parts.iter().map(|part| (part, depth + 1))),
            Value::Object(object) => {
                columns.extend(named_column(object).filter(|name| !columns.contains(name)));
                open.extend(object.values().map(|part| (part, depth + 1)));
            }
            _ => {}
        }
    }
    Ok(Unsupported { expression: json.to_string(), language: FilterLanguage::IcebergJson, columns, reason: None })
}

fn named_column(object: &Object) -> Option<ColumnName> {
    let key = match object.get("type")?.as_str()? {
        "reference" => "name",
        "transform" => "term",
        _ => return None,
    };
    object.get(key)?.as_str().map(column)
}
