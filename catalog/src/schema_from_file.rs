//! The schema of a new table, taken from a file.

use prunus_statistics::PrimitiveType;

use crate::collect::{self, Footer, SchemaInferenceError};
use crate::location::{Location, without_credentials};
use crate::schema::{NewField, NewType};
use crate::storage::Storage;
use crate::{Error, Fault, Result, blocking, hive};

/// The field of a request that names the file.
const SCHEMA_FROM: &str = "schema_from";

/// The schema that a table made from this file has: the file's own, and a string column more for each partition folder above
/// it that names none. (Text is what a path holds; any other type would be a guess from one file.)
pub(crate) async fn schema_of_file(storage: &Storage, path: &str, base: Option<&Location>) -> Result<Vec<NewField>> {
    let shown = &*without_credentials(path);
    let fault =
        |message: String| Error::invalid(Fault { at: Some(SCHEMA_FROM.to_owned()), ..Fault::of_path(shown, message) });
    let location = Location::parse(path, base).map_err(|error| fault(error.to_string()))?;
    let bytes = match storage.read_footer(&location).await {
        Err(source) if source.is_retryable() => {
            return Err(Error::StorageUnavailable { path: path.to_owned(), source });
        }
        Err(error) => return Err(fault(error.to_string())),
        Ok(bytes) => bytes,
    };
    let inferred =
        blocking::run(move || Ok(Footer::parse(&bytes.metadata).map(|footer| collect::infer_schema(&footer))));
    let inferred = inferred.await?.map_err(|error| fault(error.to_string()))?;
    let of_column = |error: &SchemaInferenceError| Fault {
        at: Some(SCHEMA_FROM.to_owned()),
        evidence: error.file_type().map(str::to_owned),
        ..Fault::of_path(path, error.to_string()).in_column(error.column())
    };
    let mut fields = inferred.map_err(|errors| Error::Invalid(errors.iter().map(of_column).collect()))?;
    let below = base.and_then(|base| location.below(base)).unwrap_or_default();
    for (key, _) in hive::partition_segments(below) {
        if !fields.iter().any(|field| field.name == key) {
            let field_type = NewType::Primitive(PrimitiveType::String);
            fields.push(NewField { id: None, name: key, field_type, nullable: true, default: None, doc: None });
        }
    }
    Ok(fields)
}
