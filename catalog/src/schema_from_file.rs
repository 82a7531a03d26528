//! The schema of a new table, taken from a file.

use prunus_statistics::PrimitiveType;

use crate::collect::{self, Footer};
use crate::location::Location;
use crate::schema::{NewField, NewType};
use crate::storage::Storage;
use crate::{Error, Fault, Result, blocking, hive};

/// The schema that a table made from this file has: the file's own, and a string column more for each partition folder above
/// it that names none. (Text is what a path holds; any other type would be a guess from one file.)
pub(crate) async fn schema_of_file(storage: &Storage, path: &str, base: Option<&Location>) -> Result<Vec<NewField>> {
    let fault =
        |message: String| Error::invalid(Fault { at: Some("schema_from".to_owned()), ..Fault::of_path(path, message) });
    let location = Location::parse(path, base).map_err(|error| fault(error.to_string()))?;
    let bytes = match storage.read_footer(&location).await {
        Err(source) if source.is_retryable() => {
            return Err(Error::StorageUnavailable { path: path.to_owned(), source });
        }
        Err(error) => return Err(fault(error.to_string())),
        Ok(bytes) => bytes,
    };
    let inferred = blocking::run(move || {
        let footer = Footer::parse(&bytes.metadata).map_err(|error| error.to_string());
        Ok(footer.and_then(|footer| collect::infer_schema(&footer).map_err(|error| error.to_string())))
    });
    let mut fields = inferred.await?.map_err(fault)?;
    let below = base.and_then(|base| location.below(base)).unwrap_or_default();
    for (key, _) in hive::partition_segments(below) {
        if !fields.iter().any(|field| field.name == key) {
            let field_type = NewType::Primitive(PrimitiveType::String);
            fields.push(NewField { id: None, name: key, field_type, nullable: true, default: None, doc: None });
        }
    }
    Ok(fields)
}
