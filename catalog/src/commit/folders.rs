//! Partition folders that say less than they seem to. None of it is wrong, and all of it is worth a warning.

use std::collections::{BTreeMap, BTreeSet};

use prunus_manifest::NewDataFile;
use prunus_pruner::nearest;
use prunus_statistics::FieldId;

use crate::location::Location;
use crate::registration::Target;
use crate::schema::LeafColumn;
use crate::{Fault, column_ref, hive};

/// How many files a warning names.
const MAX_NAMED_FILES: usize = 3;

/// Files of a commit that share a peculiarity.
#[derive(Default)]
struct Met<'f> {
    files: usize,
    first: Vec<&'f str>,
}

/// What to warn of in the folders of the files of a commit: keys that are no columns, and files that lack a folder that others
/// have, and do not hold the column either. A warning for each key, however many files there are.
pub(super) fn warnings(target: &Target, files: &[NewDataFile]) -> Vec<Fault> {
    let Some(base) = &target.location else { return Vec::new() };
    let mut ignored: BTreeMap<String, Met<'_>> = BTreeMap::new();
    let mut in_folders = BTreeSet::new();
    for file in files {
        let Ok(location) = Location::parse(&file.path, None) else { continue };
        for (key, _) in hive::partition_segments(location.below(base).unwrap_or_default()) {
            match target.columns.iter().find(|leaf| leaf.path.as_slice() == [key.as_str()]) {
                Some(leaf) => _ = in_folders.insert(leaf.id),
                None => ignored.entry(key).or_default().add(&file.path),
            }
        }
    }
    let of_ignored = ignored.iter().map(|(key, met)| met.warning(ignored_key(key, &target.columns)).in_column(key));
    let with_folders = target.columns.iter().filter(|leaf| in_folders.contains(&leaf.id));
    let of_lacking = with_folders.filter_map(|leaf| lacking(leaf, files));
    of_ignored.chain(of_lacking).collect()
}

fn ignored_key(key: &str, columns: &[LeafColumn]) -> String {
    let names = columns.iter().filter_map(|leaf| if let [name] = leaf.path.as_slice() { Some(name) } else { None });
    let suggestion = nearest(key, names.map(String::as_str)).map(|name| format!(" (`{name}` is one)"));
    format!("the partition folder `{key}=` names no column{} and is ignored", suggestion.unwrap_or_default())
}

/// The files that have no value of a column that folders of other files give.
fn lacking(leaf: &LeafColumn, files: &[NewDataFile]) -> Option<Fault> {
    let mut met = Met::default();
    for file in files.iter().filter(|file| is_without(file, leaf.id)) {
        met.add(&file.path);
    }
    let key = column_ref::key(&leaf.path);
    let message = format!("there is no partition folder `{key}=` as other files have it, and the column reads as null");
    (met.files > 0).then(|| met.warning(message).in_column(key))
}

/// Whether a file neither has a constant in a column nor holds it. Of one that was not read the latter is not known.
fn is_without(file: &NewDataFile, id: FieldId) -> bool {
    !file.partition.contains_key(&id)
        && !file.leaves.is_empty()
        && file.leaves.iter().all(|leaf| leaf.column != Some(id))
}

impl<'f> Met<'f> {
    fn add(&mut self, path: &'f str) {
        self.files += 1;
        if self.first.len() < MAX_NAMED_FILES {
            self.first.push(path);
        }
    }

    fn warning(&self, message: String) -> Fault {
        match self.first.as_slice() {
            [only] => Fault::of_path(*only, message),
            first => {
                let more = match self.files.saturating_sub(first.len()) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                Fault::new(format!("{message}, in {} files: {}{more}", self.files, first.join(", ")))
            }
        }
    }
}
