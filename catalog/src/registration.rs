//! One file on its way into a commit: read its footer or take the writer's word, and make of it what the store keeps.

use std::collections::BTreeMap;

use prunus_manifest::{EncodedStatistics, FileLeaf, NewDataFile};
use prunus_statistics::{
    ColumnStatistics, FieldId, FileColumn, FileStatistics, PrimitiveType, cut_to_limit, normalise,
};

use crate::collect::{
    self, CollectedColumns, CollectedItems, ColumnFault, Footer, ItemHolder, ScanError, ScanFor, ScannedLeaves,
    TableColumn,
};
use crate::commit::AddedFile;
use crate::declared::{self, DeclaredStatistics};
use crate::location::Location;
use crate::partition::{self, Constants};
use crate::properties::{KeptStatistics, NanCounts, StatisticsProperties, Verification};
use crate::schema::{LeafColumn, NewField, NewType};
use crate::storage::{FooterBytes, Storage, StorageError, StoredObject};
use crate::{Error, Fault, Result, blocking, column_ref, hive};

/// What registering needs to know of the table.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) location: Option<Location>,
    pub(crate) columns: Vec<LeafColumn>,
    /// The same in the same order, as the collector looks for them in files.
    pub(crate) wanted: Vec<TableColumn>,
    /// The leaves that lie in lists and maps.
    pub(crate) items: Vec<LeafColumn>,
    /// These lists and maps, as the collector looks for them in files.
    pub(crate) holders: Vec<ItemHolder>,
    /// Whether there are lists or maps too, whose presence in a file is not checked.
    pub(crate) has_nested: bool,
    pub(crate) properties: StatisticsProperties,
    /// The columns of which not all statistics are kept.
    pub(crate) kept: BTreeMap<FieldId, KeptStatistics>,
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

/// A file on its way into a commit, by its place.
#[derive(Debug)]
pub(crate) struct LocatedFile {
    pub(crate) location: Location,
    pub(crate) added: AddedFile,
    /// Its footer, if it was read already.
    pub(crate) footer: Option<Result<FooterBytes, StorageError>>,
}

/// Finds the place of a file.
pub(crate) fn locate(target: &Target, added: AddedFile) -> Result<LocatedFile, Refusal> {
    let location = Location::parse(&added.path, target.location.as_ref())
        .map_err(|error| vec![Fault::of_path(&added.path, error.to_string())])?;
    if location.is_folder() {
        return Err(Refusal::Faults(vec![Fault::of_path(&added.path, "the path names a folder, not a file")]));
    }
    Ok(LocatedFile { location, added, footer: None })
}

/// Reads or takes one file.
pub(crate) async fn register(storage: &Storage, target: &Target, file: LocatedFile) -> Result<Registered, Refusal> {
    let LocatedFile { location, added, footer } = file;
    let mut file = Registration {
        target,
        location,
        added,
        footer,
        constants_known: true,
        faults: Vec::new(),
        warnings: Vec::new(),
    };
    let constants = file.constants();
    let content = match target.properties.verification {
        Verification::Footer | Verification::Scan => file.read(storage, &constants).await?,
        Verification::Declared => file.declared_alone(&constants),
    };
    file.finish(content, constants)
}

impl Target {
    /// What is kept of the statistics of a column.
    pub(crate) fn kept(&self, field_id: FieldId) -> KeptStatistics {
        self.kept.get(&field_id).copied().unwrap_or_default()
    }

    /// What is kept of a file's statistics, with bounds no longer than the table has them. What a column is known to be without
    /// its values (a constant, not in the file) always is.
    pub(crate) fn kept_of(&self, mut columns: BTreeMap<FieldId, FileColumn>) -> BTreeMap<FieldId, FileColumn> {
        for leaf in self.columns.iter().chain(&self.items) {
            let Some(FileColumn::Present(statistics)) = columns.get_mut(&leaf.id) else { continue };
            if statistics.is_constant() {
                continue;
            }
            cut_to_limit(statistics, leaf.column_type, self.properties.string_bound_bytes);
            match self.kept(leaf.id) {
                KeptStatistics::Bounds => {}
                KeptStatistics::Counts => (statistics.min, statistics.max) = (None, None),
                KeptStatistics::None => _ = columns.remove(&leaf.id),
            }
        }
        columns
    }
}

/// The columns of a table in a file, those in lists and maps too. Bounds are not cut: what they refute would be less.
pub(crate) struct Matched {
    /// What is known of each; one that is missing here is unknown.
    pub(crate) columns: BTreeMap<FieldId, FileColumn>,
    leaves: Vec<(Vec<String>, Option<i32>)>,
    leaf_of_column: BTreeMap<FieldId, usize>,
    leaf_of_item: BTreeMap<FieldId, usize>,
}

impl Matched {
    /// Finds them.
    ///
    /// # Errors
    /// As [`collect::match_columns`].
    pub(crate) fn find(
        footer: &Footer<'_>,
        scanned: &ScannedLeaves,
        target: &Target,
    ) -> Result<Self, Vec<ColumnFault>> {
        let CollectedColumns { mut columns, leaves, leaf_of_column } =
            collect::match_scanned_columns(footer, scanned, &target.wanted, usize::MAX)?;
        let CollectedItems { columns: items, leaf_of_item } =
            collect::match_items(footer, scanned, &target.holders, usize::MAX);
        columns.extend(items);
        Ok(Self { columns, leaves, leaf_of_column, leaf_of_item })
    }

    /// Which leaf of the file a column is, if it holds it.
    pub(crate) fn leaf_of(&self, field_id: FieldId) -> Option<usize> {
        self.leaf_of_column.get(&field_id).or_else(|| self.leaf_of_item.get(&field_id)).copied()
    }
}

struct Registration<'a> {
    target: &'a Target,
    location: Location,
    added: AddedFile,
    footer: Option<Result<FooterBytes, StorageError>>,
    /// Whether the partition values could all be read.
    constants_known: bool,
    faults: Vec<Fault>,
    warnings: Vec<Fault>,
}

/// A leaf that is to be read.
struct Wish {
    /// The key of the table's column.
    column: String,
    scan_for: ScanFor,
}

/// What a file turned out to hold.
struct Content {
    object: Option<StoredObject>,
    row_count: Option<u64>,
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

    /// What the file says of itself, held against what the writer declares.
    async fn read(&mut self, storage: &Storage, constants: &Constants) -> Result<Content, Refusal> {
        let read = match self.footer.take() {
            Some(read) => read,
            None => storage.read_footer(&self.location).await,
        };
        let bytes = read.map_err(|error| self.unreadable(error))?;
        let footer = Footer::parse(&bytes.metadata).map_err(|error| self.unreadable(error.into()))?;
        let row_count = footer.row_count();
        self.check_object(&bytes.object, row_count);
        let mut collected = self.matched(&footer, &ScannedLeaves::new())?;
        let declared = self.declarations(Some(row_count));
        let wishes = self.leaves_to_scan(&collected, &declared);
        if !wishes.is_empty() {
            let scanned = self.scan(storage, &bytes.object, &footer, wishes).await?;
            collected = self.matched(&footer, &scanned)?;
        }
        let Matched { columns, leaves, leaf_of_column, .. } = collected;
        let columns = self.reconciled(columns, declared, constants, row_count);
        let column_of: BTreeMap<usize, FieldId> = leaf_of_column.into_iter().map(|(id, leaf)| (leaf, id)).collect();
        let leaf = |(index, (path, field_id))| FileLeaf { path, field_id, column: column_of.get(&index).copied() };
        let leaves = leaves.into_iter().enumerate().map(leaf).collect();
        Ok(Content { object: Some(bytes.object), row_count: Some(row_count), leaves, columns })
    }

    /// Why a file could not be read, with the faults that were found before.
    fn unreadable(&mut self, error: StorageError) -> Refusal {
        if error.is_retryable() {
            return Refusal::Unavailable { path: self.path().to_owned(), source: error };
        }
        let mut faults = std::mem::take(&mut self.faults);
        faults.push(Fault::of_path(self.path(), error.to_string()));
        Refusal::Faults(faults)
    }

    /// The table's columns in the file.
    fn matched(&self, footer: &Footer<'_>, scanned: &ScannedLeaves) -> Result<Matched, Refusal> {
        Matched::find(footer, scanned, self.target).map_err(|faults| {
            let path = self.path();
            let placed = |fault: ColumnFault| Fault::of_path(path, fault.to_string()).in_column(fault.column());
            Refusal::Faults(self.faults.iter().cloned().chain(faults.into_iter().map(placed)).collect())
        })
    }

    /// Which leaves have to be read, and for what.
    fn leaves_to_scan(
        &self,
        collected: &Matched,
        declared: &[(LeafColumn, ColumnStatistics)],
    ) -> BTreeMap<usize, Wish> {
        let claims: BTreeMap<FieldId, &ColumnStatistics> =
            declared.iter().map(|(leaf, statistics)| (leaf.id, statistics)).collect();
        let properties = &self.target.properties;
        let wish = |leaf: &LeafColumn| {
            let index = collected.leaf_of(leaf.id)?;
            let unknown = ColumnStatistics::default();
            let known = match collected.columns.get(&leaf.id) {
                Some(FileColumn::Present(known)) => known,
                _ => &unknown,
            };
            let kept = self.target.kept(leaf.id);
            let is_contested = || claims.get(&leaf.id).is_some_and(|claim| declared::is_tighter(claim, known));
            let scan_for = match properties.verification {
                _ if kept == KeptStatistics::None => return None,
                Verification::Scan => ScanFor::Everything,
                _ if kept == KeptStatistics::Bounds && is_contested() => ScanFor::Everything,
                _ if properties.nan_counts == NanCounts::AtCommit && lacks_nan_count(leaf, known) => ScanFor::NanCount,
                _ => return None,
            };
            Some((index, Wish { column: column_ref::key(&leaf.path), scan_for }))
        };
        self.target.columns.iter().chain(&self.target.items).filter_map(wish).collect()
    }

    /// Reads leaves. One that cannot be read is a fault where all are to be read, else it is as the footer says.
    async fn scan(
        &mut self,
        storage: &Storage,
        object: &StoredObject,
        footer: &Footer<'_>,
        wishes: BTreeMap<usize, Wish>,
    ) -> Result<ScannedLeaves, Refusal> {
        let mut scanned = ScannedLeaves::new();
        for (index, Wish { column, scan_for }) in wishes {
            match collect::scan(storage, object, footer, &[index], scan_for).await {
                Ok(found) => scanned.extend(found),
                Err(ScanError::Storage(error)) if error.is_retryable() => return Err(self.unreadable(error)),
                Err(error) => {
                    let fault = Fault::of_path(self.path(), error.with_cause()).in_column(column);
                    match self.target.properties.verification {
                        Verification::Scan => self.faults.push(fault),
                        Verification::Footer | Verification::Declared => self.warnings.push(fault),
                    }
                }
            }
        }
        Ok(scanned)
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

    /// What the file says, held against what the writer declares and against the partition constants.
    fn reconciled(
        &mut self,
        mut columns: BTreeMap<FieldId, FileColumn>,
        declared: Vec<(LeafColumn, ColumnStatistics)>,
        constants: &Constants,
        row_count: u64,
    ) -> BTreeMap<FieldId, FileColumn> {
        for (leaf, declared) in declared {
            let row_count = Some(row_count).filter(|_| !self.is_item(&leaf));
            let column = declared::Column { column_type: leaf.column_type, row_count };
            let reconciled = match columns.remove(&leaf.id) {
                Some(FileColumn::Present(known)) => declared::reconcile(&known, declared, column)
                    .map_err(|refuted| refuted.into_iter().map(Fault::from).collect()),
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
        self.apply_constants(&mut columns, constants, Some(row_count));
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
        for leaf in partition::undecided(&self.location, constants, &target.columns, &target.wanted) {
            let is_default = matches!(columns.get(&leaf.id), Some(FileColumn::Present(column)) if column.is_constant());
            if self.constants_known && (is_absent(leaf) || is_default) {
                let message = "the path has a folder of that name, which is a partition value only below the table's location \
                               and in the column's current spelling, and the file does not hold the column: give its value in \
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
    fn declared_alone(&mut self, constants: &Constants) -> Content {
        let row_count = self.added.row_count;
        if self.added.size_bytes.is_none() {
            let message = "size_bytes is needed, since the table's files are not read";
            self.faults.push(Fault::of_path(self.path(), message));
        }
        let declared = self.declarations(row_count);
        let mut columns: BTreeMap<FieldId, FileColumn> =
            declared.into_iter().map(|(leaf, statistics)| (leaf.id, FileColumn::Present(statistics))).collect();
        for leaf in self.absent_columns() {
            if columns.insert(leaf.id, TableColumn::from(&leaf).absent(row_count)).is_some() {
                let fault = Fault::new("the column is declared absent and has statistics");
                self.column_faults(&leaf, vec![fault]);
            }
        }
        self.apply_constants(&mut columns, constants, row_count);
        Content { object: None, row_count, leaves: Vec::new(), columns }
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
        let is_item = self.is_item(&leaf);
        if is_item {
            self.drop_counts(&mut statistics, key);
        }
        let row_count = row_count.filter(|_| !is_item);
        for defect in normalise(&mut statistics, leaf.column_type, row_count) {
            let warning = Fault::of_path(self.path(), format!("{defect}; it is taken as unknown"));
            self.warnings.push(warning.in_column(key));
        }
        Some((leaf, statistics))
    }

    /// Whether a leaf lies in a list or map.
    fn is_item(&self, leaf: &LeafColumn) -> bool {
        self.target.items.iter().any(|item| item.id == leaf.id)
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
                Some(FileColumn::Present(statistics)) if !statistics.is_constant() => {
                    if declared::refutes_constant(statistics, constant.as_ref()) {
                        let fault = Fault::new("the partition value lies outside the file's values");
                        let shown = constant
                            .as_ref()
                            .map_or("null".to_owned(), |value| value.display(leaf.column_type).to_string());
                        self.column_faults(
                            leaf,
                            vec![fault.with_evidence(shown, declared::describe(statistics, leaf.column_type))],
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
        let columns = self.target.kept_of(content.columns);
        let statistics = EncodedStatistics::new(&FileStatistics { columns }).map_err(Refusal::Store)?;
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

fn lacks_nan_count(leaf: &LeafColumn, known: &ColumnStatistics) -> bool {
    leaf.column_type.is_float() && known.nan_count.is_none()
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
