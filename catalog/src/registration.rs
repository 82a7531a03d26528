//! One file on its way into a commit: read its footer or take the writer's word, and make of it what the store keeps.

use std::collections::BTreeMap;

use prunus_manifest::{EncodedStatistics, FileLeaf, NewDataFile};
use prunus_statistics::{
    ColumnStatistics, FieldId, FileColumn, FileStatistics, PrimitiveType, cut_to_limit, normalise,
};

use crate::collect::{self, CollectedColumns, Footer, ItemHolder, TableColumn};
use crate::commit::AddedFile;
use crate::declared::{self, DeclaredStatistics};
use crate::location::Location;
use crate::partition::{self, Constants};
use crate::properties::{StatisticsProperties, Verification};
use crate::schema::{Field, LeafColumn, NewField, NewType, Schema};
use crate::storage::{Storage, StorageError, StoredObject};
use crate::{Error, Fault, Result, column_ref, hive};

/// What registering needs to know of the table.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) location: Option<Location>,
    pub(crate) columns: Vec<LeafColumn>,
    /// The same, as the collector looks for them in files.
    pub(crate) wanted: Vec<TableColumn>,
    /// The leaves that lie in lists and maps.
    pub(crate) items: Vec<LeafColumn>,
    /// These lists and maps, as the collector looks for them in files.
    pub(crate) holders: Vec<ItemHolder>,
    /// Whether there are lists or maps too, whose presence in a file is not checked.
    pub(crate) has_nested: bool,
    pub(crate) properties: StatisticsProperties,
}

/// A file that is ready to be committed, and what in its declaration was taken as unknown.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) file: NewDataFile,
    pub(crate) warnings: Vec<Fault>,
}

/// Why a file cannot be committed.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// What is wrong with it.
    Faults(Vec<Fault>),
    /// Its store did not answer.
    Unavailable { path: String, source: StorageError },
    /// What is known of it cannot be kept.
    Store(prunus_manifest::Error),
}

impl From<Vec<Fault>> for Refusal {
    fn from(faults: Vec<Fault>) -> Self {
        Self::Faults(faults)
    }
}

/// Reads or takes one file.
pub(crate) async fn register(storage: &Storage, target: &Target, added: AddedFile) -> Result<Registered, Refusal> {
    let location = Location::parse(&added.path, target.location.as_ref())
        .map_err(|error| vec![Fault::of_path(&added.path, error.to_string())])?;
    if location.is_folder() {
        return Err(Refusal::Faults(vec![Fault::of_path(&added.path, "the path names a folder, not a file")]));
    }
    let mut file =
        Registration { target, location, added, constants_known: true, faults: Vec::new(), warnings: Vec::new() };
    let constants = file.constants();
    match target.properties.verification {
        Verification::Footer => {
            let (object, collected) = file.read(storage).await?;
            file.check_object(&object, collected.row_count);
            let row_count = Some(collected.row_count);
            let columns = file.reconciled(collected.columns, &constants, row_count);
            file.finish(Content { object: Some(object), row_count, leaves: collected.leaves, columns }, constants)
        }
        Verification::Declared => {
            let row_count = file.added.row_count;
            let columns = file.declared_alone(&constants, row_count);
            file.finish(Content { object: None, row_count, leaves: Vec::new(), columns }, constants)
        }
    }
}

struct Registration<'a> {
    target: &'a Target,
    location: Location,
    added: AddedFile,
    /// Whether the partition values could all be read.
    constants_known: bool,
    faults: Vec<Fault>,
    warnings: Vec<Fault>,
}

/// What a file turned out to hold.
struct Content {
    object: Option<StoredObject>,
    row_count: Option<u64>,
    leaves: Vec<FileLeaf>,
    columns: BTreeMap<FieldId, FileColumn>,
}

/// What a footer says, in the table's columns.
struct Collected {
    row_count: u64,
    leaves: Vec<FileLeaf>,
    columns: BTreeMap<FieldId, FileColumn>,
}

impl Registration<'_> {
    fn path(&self) -> &str {
        self.location.as_str()
    }

    fn constants(&mut self) -> Constants {
        let Target { location, columns, .. } = self.target;
        partition::constants(&self.added.partition, &self.location, location.as_ref(), columns).unwrap_or_else(
            |faults| {
                self.faults.extend(faults);
                self.constants_known = false;
                Constants::new()
            },
        )
    }

    async fn read(&mut self, storage: &Storage) -> Result<(StoredObject, Collected), Refusal> {
        let refusal = |error: StorageError, mut faults: Vec<Fault>, path: &str| {
            if error.is_retryable() {
                return Refusal::Unavailable { path: path.to_owned(), source: error };
            }
            faults.push(Fault::of_path(path, error.to_string()));
            Refusal::Faults(faults)
        };
        let bytes = match storage.read_footer(&self.location).await {
            Ok(bytes) => bytes,
            Err(error) => return Err(refusal(error, std::mem::take(&mut self.faults), self.path())),
        };
        let footer = match Footer::parse(&bytes.metadata) {
            Ok(footer) => footer,
            Err(error) => return Err(refusal(error.into(), std::mem::take(&mut self.faults), self.path())),
        };
        let collected = collect::match_columns(&footer, &self.target.wanted, self.target.properties.string_bound_bytes);
        let CollectedColumns { mut columns, leaves } = collected.map_err(|faults| {
            let path = self.path();
            let mut all = self.faults.clone();
            all.extend(
                faults.into_iter().map(|fault| Fault::of_path(path, fault.to_string()).in_column(fault.column())),
            );
            all
        })?;
        columns.extend(collect::match_items(&footer, &self.target.holders, self.target.properties.string_bound_bytes));
        let leaves = leaves.into_iter().map(|(path, field_id)| FileLeaf { path, field_id }).collect();
        Ok((bytes.object, Collected { row_count: footer.row_count(), leaves, columns }))
    }

    /// Holds the declared size and rows against the object.
    fn check_object(&mut self, object: &StoredObject, row_count: u64) {
        for (what, declared, found) in
            [("size_bytes", self.added.size_bytes, object.size_bytes), ("row_count", self.added.row_count, row_count)]
        {
            if let Some(declared) = declared.filter(|declared| *declared != found) {
                let fault = Fault::of_path(self.path(), format!("{what} differs from the file's"));
                self.faults.push(fault.with_evidence(declared.to_string(), format!("the file has {found}")));
            }
        }
    }

    /// What the footer says, held against what the writer declares and against the partition constants.
    fn reconciled(
        &mut self,
        mut columns: BTreeMap<FieldId, FileColumn>,
        constants: &Constants,
        row_count: Option<u64>,
    ) -> BTreeMap<FieldId, FileColumn> {
        for (leaf, declared) in self.declarations(row_count) {
            let reconciled = match columns.remove(&leaf.id) {
                Some(FileColumn::Present(footer)) => {
                    if declared::is_tighter(&declared, &footer) {
                        let message =
                            "the declared bounds are tighter than the footer's, which stand: only reading could decide";
                        let warning = Fault::of_path(self.path(), message);
                        self.warnings.push(warning.in_column(column_ref::key(&leaf.path)));
                    }
                    declared::reconcile(footer, declared, leaf.column_type)
                }
                Some(FileColumn::Absent) => Err(vec![Fault::new("the file does not hold the column")]),
                None => Ok(declared),
            };
            match reconciled {
                Ok(statistics) => {
                    columns.insert(leaf.id, FileColumn::Present(statistics));
                }
                Err(faults) => self.column_faults(&leaf, faults),
            }
        }
        for leaf in self.absent_columns() {
            if matches!(columns.get(&leaf.id), Some(FileColumn::Present(_))) && leaf.default.is_none() {
                let fault = Fault::new("the file holds the column");
                self.column_faults(&leaf, vec![fault.with_evidence("absent", "its schema names it")]);
            }
        }
        self.check_presence(&columns, constants);
        self.apply_constants(&mut columns, constants, row_count);
        columns
    }

    /// A file must hold what the table requires, and something of the table at all.
    fn check_presence(&mut self, columns: &BTreeMap<FieldId, FileColumn>, constants: &Constants) {
        let target = self.target;
        let is_absent = |leaf: &LeafColumn| matches!(columns.get(&leaf.id), Some(FileColumn::Absent));
        let missing: Vec<&LeafColumn> = target
            .columns
            .iter()
            .filter(|leaf| leaf.required && is_absent(leaf) && !constants.contains_key(&leaf.id))
            .collect();
        for leaf in missing {
            let message = "the file does not hold the column, which may not be null and has no default";
            self.column_faults(leaf, vec![Fault::new(message)]);
        }
        for leaf in partition::undecided(&self.location, constants, &target.columns) {
            if self.constants_known && is_absent(leaf) {
                let message = "the path has a folder of that name, which is a partition value only below the table's location \
                               and in the column's own spelling, and the file does not hold the column: give its value in \
                               `partition`";
                self.column_faults(leaf, vec![Fault::new(message)]);
            }
        }
        let mut others = target.columns.iter().filter(|leaf| !constants.contains_key(&leaf.id)).peekable();
        if !target.has_nested && others.peek().is_some() && others.all(is_absent) {
            self.faults.push(Fault::of_path(self.path(), "the file holds none of the table's columns"));
        }
    }

    /// The writer's word alone.
    fn declared_alone(&mut self, constants: &Constants, row_count: Option<u64>) -> BTreeMap<FieldId, FileColumn> {
        if self.added.size_bytes.is_none() {
            let message = "size_bytes is needed, since the table's files are not read";
            self.faults.push(Fault::of_path(self.path(), message));
        }
        let declared = self.declarations(row_count);
        let mut columns: BTreeMap<FieldId, FileColumn> =
            declared.into_iter().map(|(leaf, statistics)| (leaf.id, FileColumn::Present(statistics))).collect();
        for leaf in self.absent_columns() {
            let column = match &leaf.default {
                Some(value) => FileColumn::Present(ColumnStatistics::constant(Some(value.clone()), row_count)),
                None => FileColumn::Absent,
            };
            if columns.insert(leaf.id, column).is_some() {
                let fault = Fault::new("the column is declared absent and has statistics");
                self.column_faults(&leaf, vec![fault]);
            }
        }
        self.apply_constants(&mut columns, constants, row_count);
        columns
    }

    /// The declared statistics in their columns' types, made harmless; what is no statistic of its column is a fault.
    fn declarations(&mut self, row_count: Option<u64>) -> Vec<(LeafColumn, ColumnStatistics)> {
        let declared = std::mem::take(&mut self.added.columns);
        let mut typed = Vec::with_capacity(declared.len());
        for (key, declared) in declared {
            let Some((leaf, statistics)) = self.declaration(&key, &declared, row_count) else { continue };
            if typed.iter().any(|(earlier, _): &(LeafColumn, _)| earlier.id == leaf.id) {
                let message = "the commit names the column more than once";
                self.column_faults(&leaf, vec![Fault::new(message)]);
            }
            typed.push((leaf, statistics));
        }
        typed
    }

    fn declaration(
        &mut self,
        key: &str,
        declared: &DeclaredStatistics,
        row_count: Option<u64>,
    ) -> Option<(LeafColumn, ColumnStatistics)> {
        let leaf = self.column(key)?;
        let mut statistics = match declared.typed(leaf.column_type) {
            Ok(statistics) => statistics,
            Err(faults) => {
                self.column_faults(&leaf, faults);
                return None;
            }
        };
        let is_item = self.target.items.iter().any(|item| item.id == leaf.id);
        if is_item {
            self.drop_counts(&mut statistics, key);
        }
        let row_count = row_count.filter(|_| !is_item);
        for defect in normalise(&mut statistics, leaf.column_type, row_count) {
            let warning = Fault::of_path(self.path(), format!("{defect}; it is taken as unknown"));
            self.warnings.push(warning.in_column(key));
        }
        cut_to_limit(&mut statistics, leaf.column_type, self.target.properties.string_bound_bytes);
        Some((leaf, statistics))
    }

    /// Takes counts of what a list or map holds as unknown, which would be taken for counts of rows.
    fn drop_counts(&mut self, statistics: &mut ColumnStatistics, key: &str) {
        let counts = [statistics.null_count.take(), statistics.nan_count.take()];
        if counts.iter().any(Option::is_some) {
            let message =
                "null_count and nan_count count rows, and what a list or map holds is none; they are taken as unknown";
            self.warnings.push(Fault::of_path(self.path(), message).in_column(key));
        }
    }

    fn absent_columns(&mut self) -> Vec<LeafColumn> {
        let keys = std::mem::take(&mut self.added.absent_columns);
        keys.iter().filter_map(|key| self.column(key)).collect()
    }

    fn column(&mut self, key: &str) -> Option<LeafColumn> {
        let Target { columns, items, .. } = self.target;
        let leaf = column_ref::find(columns, key).or_else(|| column_ref::find(items, key)).cloned();
        if leaf.is_none() {
            let message = "the table has no such column, or it is nested";
            self.faults.push(Fault::of_path(self.path(), message).in_column(key));
        }
        leaf
    }

    /// A partition constant holds where the file does not have the column; where it has it, the file's own statistics count
    /// and must not speak against the constant.
    fn apply_constants(
        &mut self,
        columns: &mut BTreeMap<FieldId, FileColumn>,
        constants: &Constants,
        row_count: Option<u64>,
    ) {
        let target = self.target;
        for leaf in &target.columns {
            let Some(constant) = constants.get(&leaf.id) else { continue };
            match columns.get(&leaf.id) {
                Some(FileColumn::Present(statistics)) if !is_constant(statistics) => {
                    if declared::refutes_constant(statistics, constant.as_ref()) {
                        let fault = Fault::new("the partition value lies outside the file's values");
                        let shown = constant
                            .as_ref()
                            .map_or("null".to_owned(), |value| value.display(leaf.column_type).to_string());
                        self.column_faults(
                            leaf,
                            vec![fault.with_evidence(shown, describe(statistics, leaf.column_type))],
                        );
                    }
                }
                _ => {
                    let statistics = ColumnStatistics::constant(constant.clone(), row_count);
                    columns.insert(leaf.id, FileColumn::Present(statistics));
                }
            }
        }
    }

    fn column_faults(&mut self, leaf: &LeafColumn, faults: Vec<Fault>) {
        let (path, column) = (self.location.as_str().to_owned(), column_ref::key(&leaf.path));
        let placed =
            faults.into_iter().map(|fault| Fault { path: Some(path.clone()), column: Some(column.clone()), ..fault });
        self.faults.extend(placed);
    }

    fn finish(self, content: Content, partition: Constants) -> Result<Registered, Refusal> {
        if !self.faults.is_empty() {
            return Err(Refusal::Faults(self.faults));
        }
        let (size_bytes, etag, last_modified_ms) = match content.object {
            Some(object) => (object.size_bytes, object.etag, Some(object.last_modified_ms)),
            None => (self.added.size_bytes.unwrap_or_default(), None, None),
        };
        let statistics =
            EncodedStatistics::new(&FileStatistics { columns: content.columns }).map_err(Refusal::Store)?;
        let file = NewDataFile {
            path: self.location.as_str().to_owned(),
            size_bytes,
            row_count: content.row_count,
            etag,
            last_modified_ms,
            leaves: content.leaves,
            partition,
            statistics,
        };
        Ok(Registered { file, warnings: self.warnings })
    }
}

/// Whether the statistics are not the file's own but those of a default that stands for the column.
fn is_constant(statistics: &ColumnStatistics) -> bool {
    statistics.null_count.is_some_and(|count| count.provenance == prunus_statistics::Provenance::Constant)
}

fn describe(statistics: &ColumnStatistics, column_type: PrimitiveType) -> String {
    let bound = |bound: &Option<prunus_statistics::Bound>| {
        bound.as_ref().map_or("unknown".to_owned(), |bound| bound.value.display(column_type).to_string())
    };
    let nulls = statistics.null_count.map_or("an unknown number of".to_owned(), |count| count.value.to_string());
    format!("min {}, max {}, {nulls} nulls", bound(&statistics.min), bound(&statistics.max))
}

impl From<&LeafColumn> for TableColumn {
    fn from(leaf: &LeafColumn) -> Self {
        Self {
            id: leaf.id,
            path: leaf.path.clone(),
            former_paths: Vec::new(),
            column_type: leaf.column_type,
            default: leaf.default.clone(),
        }
    }
}

/// The lists and maps of a schema, as the collector looks for them in files.
pub(crate) fn item_holders(schema: &Schema) -> Vec<ItemHolder> {
    let holder =
        |(path, field): (Vec<String>, &Field)| ItemHolder { field: field.clone(), path, former_paths: Vec::new() };
    schema.item_holders().into_iter().map(holder).collect()
}

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
    let footer = Footer::parse(&bytes.metadata).map_err(|error| fault(error.to_string()))?;
    let mut fields = collect::infer_schema(&footer).map_err(|error| fault(error.to_string()))?;
    let below = base.and_then(|base| location.below(base)).unwrap_or_default();
    for (key, _) in hive::partition_segments(below) {
        if !fields.iter().any(|field| field.name == key) {
            let field_type = NewType::Primitive(PrimitiveType::String);
            fields.push(NewField { id: None, name: key, field_type, nullable: true, default: None, doc: None });
        }
    }
    Ok(fields)
}
