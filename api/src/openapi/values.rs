//! How the document describes what derives cannot: names with their limits, values of columns, and the types that belong to the
//! catalog, which does not know of the document.
//!
//! None of these is ever a value. Fields of wire types name them with `#[schema(value_type = ...)]`.

use prunus_catalog::schema::MAX_FIELD_NAME_BYTES;
use prunus_catalog::{
    DEFAULT_PAGE_SIZE, MAX_NAME_BYTES, MAX_NAMESPACE_PARTS, MAX_PAGE_SIZE, MAX_TOKEN_NAME_BYTES, Outcome,
};
use utoipa::openapi::schema::{
    AdditionalProperties, ObjectBuilder, OneOfBuilder, RefBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::{ArrayBuilder, KnownFormat, Ref, RefOr, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

/// A character of names: all but control characters, `.`, `/`, `"` and `#`.
const NAME_CHARACTER: &str = r##"[^\u0000-\u001f\u007f-\u009f./"#]"##;

/// Names of primitive types.
const TYPE_NAME: &str = r"^(boolean|u?int(8|16|32|64)|float(16|32|64)|string|binary|uuid|date|(time|timestamp|timestamptz)(\((s|ms|us|ns)\))?|decimal\([0-9]+, ?[0-9]+\)|fixed\([0-9]+\))$";

/// The name of a table or a tag.
pub(crate) struct NameSchema;
/// The name of a namespace.
pub(crate) struct NamespaceNameSchema;
/// The name of a token.
pub(crate) struct TokenNameSchema;
/// A grant.
pub(crate) struct GrantSchema;
/// A table behind its namespace.
pub(crate) struct QualifiedNameSchema;
/// A value of a column.
pub(crate) struct ValueSchema;
/// The size of a page.
pub(crate) struct PageSizeSchema;
/// The number of a snapshot, an audit or a manifest.
pub(crate) struct NumberSchema;
/// A count of rows or bytes.
pub(crate) struct CountSchema;
/// The id of a field.
pub(crate) struct FieldIdSchema;
/// An Arrow IPC stream.
pub(crate) struct ArrowStreamSchema;
/// A field of a schema.
pub(crate) struct FieldSchema;
/// The type of a field.
pub(crate) struct TypeSchema;
/// A kind of finding of an audit.
pub(crate) struct FindingKindSchema;
/// What a condition may be on a row.
pub(crate) struct OutcomeSchema;
struct StructSchema;
struct ListSchema;
struct MapSchema;

fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// Names of so many parts with dots between them. The document counts characters where the server counts bytes of UTF-8.
fn name(parts_min: usize, parts_max: usize) -> ObjectBuilder {
    let part = format!("{NAME_CHARACTER}{{1,{MAX_NAME_BYTES}}}");
    let more = format!("(\\.{part}){{{},{}}}", parts_min - 1, parts_max - 1);
    let more = if parts_max == 1 { "" } else { &more };
    string().pattern(Some(format!("^{part}{more}$")))
}

impl PartialSchema for NameSchema {
    fn schema() -> RefOr<Schema> {
        let description = "A name of at most 255 bytes of UTF-8, case-sensitive.";
        name(1, 1).description(Some(description)).examples(["trips"]).into()
    }
}

impl PartialSchema for NamespaceNameSchema {
    fn schema() -> RefOr<Schema> {
        let description = "One to four names joined by dots, each of at most 255 bytes of UTF-8, case-sensitive.";
        name(1, MAX_NAMESPACE_PARTS).description(Some(description)).examples(["lake.raw"]).into()
    }
}

impl PartialSchema for TokenNameSchema {
    fn schema() -> RefOr<Schema> {
        let description =
            "What the holder of a token is called. A name is never given twice, also after its token was revoked.";
        let pattern = format!("^[A-Za-z0-9][A-Za-z0-9._@-]{{0,{}}}$", MAX_TOKEN_NAME_BYTES - 1);
        string().pattern(Some(pattern)).description(Some(description)).examples(["nightly-load"]).into()
    }
}

impl PartialSchema for GrantSchema {
    fn schema() -> RefOr<Schema> {
        let description = "A role, `reader`, `writer` or `admin`, which is granted everywhere; or a role, a colon and a namespace, for that \
                           and all namespaces below it. The namespace need not be there.";
        let part = format!("{NAME_CHARACTER}{{1,{MAX_NAME_BYTES}}}");
        let pattern = format!("^(reader|writer|admin)(:{part}(\\.{part}){{0,{}}})?$", MAX_NAMESPACE_PARTS - 1);
        string().pattern(Some(pattern)).description(Some(description)).examples(["reader:sales.eu"]).into()
    }
}

impl PartialSchema for QualifiedNameSchema {
    fn schema() -> RefOr<Schema> {
        let description = "The name of a table behind that of its namespace and a dot.";
        name(2, MAX_NAMESPACE_PARTS + 1).description(Some(description)).examples(["lake.raw.trips"]).into()
    }
}

impl PartialSchema for ValueSchema {
    fn schema() -> RefOr<Schema> {
        let description = "A value of a column, by the column's type: a boolean; a number for integers and floats; a string for \
                           `NaN`, `Infinity`, `-Infinity`, decimals, strings, uuids, dates, times, timestamps, and for bytes as \
                           lower-case hex; null.";
        let types = [Type::Boolean, Type::Number, Type::String, Type::Null];
        let examples = [serde_json::json!(17), serde_json::json!("2024-01-31")];
        let value = ObjectBuilder::new().schema_type(SchemaType::from_iter(types));
        value.description(Some(description)).examples(examples).into()
    }
}

impl PartialSchema for PageSizeSchema {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int32)))
            .minimum(Some(1))
            .maximum(Some(MAX_PAGE_SIZE))
            .default(Some(DEFAULT_PAGE_SIZE.into()))
            .description(Some("The most entries of a page."))
            .into()
    }
}

/// An object that refuses what it does not name.
fn closed() -> ObjectBuilder {
    ObjectBuilder::new().additional_properties(Some(AdditionalProperties::FreeForm(false)))
}

impl PartialSchema for NumberSchema {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(0))
            .maximum(Some(i64::MAX))
            .description(Some(
                "The number of a snapshot, an audit or a manifest, which counts up from 1; snapshot 0 is the empty table.",
            ))
            .into()
    }
}

impl PartialSchema for CountSchema {
    fn schema() -> RefOr<Schema> {
        let count = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(u64::MAX));
        count.description(Some("How many there are.")).into()
    }
}

impl PartialSchema for ArrowStreamSchema {
    fn schema() -> RefOr<Schema> {
        let description = "An IPC stream of record batches, whose columns have the names of the JSON's fields.";
        string().format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary))).description(Some(description)).into()
    }
}

impl PartialSchema for FindingKindSchema {
    fn schema() -> RefOr<Schema> {
        let kinds = ["missing", "changed", "unreadable", "refuted", "schema"];
        let description = "What is the matter: the file is not there, is another one, or cannot be read; a statistic is false; or \
                           a column cannot be told.";
        string().enum_values(Some(kinds)).description(Some(description)).into()
    }
}

impl PartialSchema for OutcomeSchema {
    fn schema() -> RefOr<Schema> {
        let outcomes = [Outcome::True, Outcome::False, Outcome::Null].map(Outcome::name);
        string().enum_values(Some(outcomes)).description(Some("What a condition may be on a row.")).into()
    }
}

impl PartialSchema for FieldIdSchema {
    fn schema() -> RefOr<Schema> {
        field_id("the field").schema_type(Type::Integer).into()
    }
}

/// A field id, or null to have one assigned.
fn field_id(of: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Integer, Type::Null]))
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int32)))
        .minimum(Some(1))
        .maximum(Some(i32::MAX))
        .description(Some(format!("The field id of {of}, above 0 and never given twice; assigned where it is absent.")))
}

impl PartialSchema for FieldSchema {
    fn schema() -> RefOr<Schema> {
        let nullable = ObjectBuilder::new().schema_type(Type::Boolean).default(Some(true.into()));
        let default = RefBuilder::new().ref_location_from_schema_name(ValueSchema::name());
        let doc = ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null]));
        closed()
            .property("id", field_id("the field"))
            .property("name", string().max_length(Some(MAX_FIELD_NAME_BYTES)).description(Some("Its name.")))
            .required("name")
            .property("type", TypeSchema::schema())
            .required("type")
            .property("nullable", nullable.description(Some("Whether rows may be null.")))
            .property("default", default.description(Some("What rows of files without the field read as.")))
            .property("doc", doc.description(Some("A note for people.")))
            .description(Some("A field of a schema."))
            .examples([serde_json::json!({"name": "fare", "type": "decimal(9,2)"})])
            .into()
    }
}

/// A type stands where it is used and has no name: generators of clients know no name for one of several that refers to itself.
impl PartialSchema for TypeSchema {
    fn schema() -> RefOr<Schema> {
        let primitive =
            ObjectBuilder::new().schema_type(Type::String).title(Some("PrimitiveType")).pattern(Some(TYPE_NAME));
        let description = "The name of a primitive type; times are in microseconds without a unit.";
        OneOfBuilder::new()
            .item(primitive.description(Some(description)))
            .item(Ref::from_schema_name(StructSchema::name()))
            .item(Ref::from_schema_name(ListSchema::name()))
            .item(Ref::from_schema_name(MapSchema::name()))
            .description(Some("The name of a primitive type, or an object that says how the type is nested."))
            .into()
    }
}

impl PartialSchema for StructSchema {
    fn schema() -> RefOr<Schema> {
        let fields = ArrayBuilder::new().items(Ref::from_schema_name(FieldSchema::name()));
        nested("struct").property("fields", fields).required("fields").into()
    }
}

impl PartialSchema for ListSchema {
    fn schema() -> RefOr<Schema> {
        nested("list")
            .property("element_id", field_id("the elements"))
            .property("element", TypeSchema::schema())
            .required("element")
            .into()
    }
}

impl PartialSchema for MapSchema {
    fn schema() -> RefOr<Schema> {
        nested("map")
            .property("key_id", field_id("the keys"))
            .property("key", TypeSchema::schema())
            .required("key")
            .property("value_id", field_id("the values"))
            .property("value", TypeSchema::schema())
            .required("value")
            .into()
    }
}

fn nested(name: &str) -> ObjectBuilder {
    closed().property("type", string().enum_values(Some([name]))).required("type")
}

/// Each has its name in the document, and brings the schemas that it refers to.
macro_rules! named {
    ($($described:ident as $name:literal with [$($referred:ident),*];)*) => {$(
        impl ToSchema for $described {
            fn name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
                schemas.extend([$(($referred::name().into_owned(), $referred::schema())),*]);
            }
        }
    )*};
}

named! {
    NameSchema as "Name" with [];
    NamespaceNameSchema as "NamespaceName" with [];
    TokenNameSchema as "TokenName" with [];
    GrantSchema as "Grant" with [];
    QualifiedNameSchema as "QualifiedName" with [];
    ValueSchema as "ColumnValue" with [];
    PageSizeSchema as "PageSize" with [];
    NumberSchema as "Number" with [];
    CountSchema as "Count" with [];
    ArrowStreamSchema as "ArrowStream" with [];
    FindingKindSchema as "FindingKind" with [];
    OutcomeSchema as "Outcome" with [];
    FieldIdSchema as "FieldId" with [];
    FieldSchema as "Field" with [FieldSchema, StructSchema, ListSchema, MapSchema, ValueSchema];
    TypeSchema as "FieldType" with [FieldSchema, StructSchema, ListSchema, MapSchema, ValueSchema];
    StructSchema as "StructType" with [];
    ListSchema as "ListType" with [];
    MapSchema as "MapType" with [];
}
