//! One column over the files of a manifest, as plans use it and as it was registered.

use prunus_statistics::FileColumn;

use crate::Result;
use crate::column_zones::ColumnZones;
use crate::error::FormatError;
use crate::manifest::ManifestRow;
use crate::schema::SchemaColumn;
use crate::transaction::ReadTransaction;

/// One column over the entries of a manifest, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisteredColumn {
    /// What plans use of it, as the type that it is asked for as.
    pub zones: ColumnZones,
    /// What each file said of it when it was registered, in the type that it is asked for as; `None` is nothing.
    pub files: Vec<Option<FileColumn>>,
}

impl ReadTransaction<'_> {
    /// One column over the entries of a manifest. Reads two blocks, each once; nothing is known where the manifest is from before
    /// the column.
    ///
    /// # Errors
    /// [`crate::Error::MissingBlock`], [`crate::Error::DamagedBlock`], [`crate::Error::Sqlite`].
    pub fn load_registered_column(&self, manifest: &ManifestRow, column: SchemaColumn) -> Result<RegisteredColumn> {
        let SchemaColumn { column_type, .. } = column;
        let mut registered = RegisteredColumn {
            zones: ColumnZones::unknown(column_type, manifest.len()),
            files: vec![None; manifest.len()],
        };
        self.read_detail(manifest, column, |column_of| {
            registered.files = (0..manifest.len()).map(column_of).collect::<Result<_, FormatError>>()?;
            Ok(())
        })?;
        if let Some(zones) = self.get_column_zones(manifest, column)? {
            registered.zones = zones;
        }
        Ok(registered)
    }
}
