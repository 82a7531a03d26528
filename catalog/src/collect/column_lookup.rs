//! Which leaf of a file is which column of a table.
//!
//! A column is the leaf that has its field id and its name, now or formerly; a leaf without an id it is if the names are
//! exactly the same. Where id and name disagree, or a name differs by case or Unicode form only, no leaf is taken, since
//! engines would take different ones. A column of which the file has neither id nor any name is known to be absent. What is
//! plainly another column's leaf is no reason to refuse the file, and no proof of absence either: then nothing is known. Nor is
//! anything known of a column whose id the file has more than once, unless one leaf has the id and the name.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use prunus_statistics::FieldId;

use super::column_fault::ColumnProblem;
use super::column_matching::TableColumn;
use super::file_schema::{Content, FileLeaf, Node};
use super::footer::Footer;
use super::name_folding::{folded, same_when_folded};
use super::node_shape::Shape;

/// Whether a column that was not found is proven not to be in the file.
pub(super) enum Absence {
    Known,
    Unknown,
}

/// The fields of a file by name and by id.
pub(super) struct FileColumns<'f, 'a> {
    footer: &'f Footer<'a>,
    top: HashMap<&'a str, Vec<&'f Node<'a>>>,
    /// The same by folded name, made when a column is missing.
    top_folded: OnceCell<HashMap<String, Vec<&'f Node<'a>>>>,
    by_id: HashMap<FieldId, &'f Node<'a>>,
}

/// What stands in a file where a path leads.
enum Found {
    Leaf {
        index: usize,
        field_id: Option<FieldId>,
    },
    /// Something that has no single value per row where the table has one, or a value where the table has a struct.
    Obstacle {
        file_path: String,
        shape: &'static str,
    },
}

impl<'f, 'a> FileColumns<'f, 'a> {
    pub(super) fn of(footer: &'f Footer<'a>) -> Self {
        let fields = &footer.schema().fields;
        let mut top: HashMap<&'a str, Vec<&'f Node<'a>>> = HashMap::with_capacity(fields.len());
        for node in fields {
            top.entry(node.name).or_default().push(node);
        }
        let mut by_id = HashMap::new();
        index_ids(fields, &mut by_id);
        Self { footer, top, top_folded: OnceCell::new(), by_id }
    }

    /// The leaf that a column is, or that none is; else what is in the way.
    pub(super) fn locate(&self, column: &TableColumn) -> Result<Option<usize>, ColumnProblem> {
        let named = self.find_exactly(&column.path);
        if let Some(node) = self.with_id(column.id) {
            return self.locate_by_id(node, column, &named).map(Some);
        }
        match named.as_slice() {
            [] => Ok(None),
            [Found::Leaf { index, .. }] if self.is_shared_with_others(column.id, *index) => Ok(None),
            [Found::Leaf { index, field_id: None }] => Ok(Some(*index)),
            [Found::Leaf { field_id: Some(file_id), .. }] => {
                Err(ColumnProblem::OtherId { file_id: *file_id, id: column.id })
            }
            [Found::Obstacle { file_path, shape }] => {
                Err(ColumnProblem::OtherShape { file_path: file_path.clone(), shape })
            }
            [_, _, ..] => Err(ColumnProblem::SeveralLeaves),
        }
    }

    /// Whether several elements have the id, and this leaf is none of them.
    fn is_shared_with_others(&self, id: FieldId, leaf: usize) -> bool {
        let has_id = |leaf: &FileLeaf| leaf.field_id == Some(id.0);
        self.footer.schema().is_shared(id) && !self.footer.leaves().get(leaf).is_some_and(has_id)
    }

    fn locate_by_id(&self, node: &Node<'a>, column: &TableColumn, named: &[Found]) -> Result<usize, ColumnProblem> {
        let other_shape = |file_path: String| ColumnProblem::OtherShape { file_path, shape: node.shape().name() };
        let Content::Leaf(index) = node.content else { return Err(other_shape(node.name.to_owned())) };
        let Some(leaf) = self.footer.leaves().get(index) else { return Err(other_shape(node.name.to_owned())) };
        if leaf.repeated {
            return Err(ColumnProblem::OtherShape { file_path: leaf.dotted_path(), shape: "in a list or map" });
        }
        if leaf.path != column.path && !column.former_paths.contains(&leaf.path) {
            return Err(ColumnProblem::OtherName { id: column.id, file_path: leaf.dotted_path() });
        }
        let is_other = |found: &Found| !matches!(found, Found::Leaf { index: other, .. } if *other == index);
        if named.iter().any(is_other) { Err(ColumnProblem::SeveralLeaves) } else { Ok(index) }
    }

    /// Whether a column that was not located is absent: nothing in the file may go by one of its names, former ones and
    /// other spellings included. What is another column's leaf is no reason to refuse the file, but no proof either.
    pub(super) fn absence(&self, column: &TableColumn, claimed: &BTreeSet<usize>) -> Result<Absence, ColumnProblem> {
        if self.footer.schema().is_shared(column.id) {
            return Ok(Absence::Unknown);
        }
        let mut absence = Absence::Known;
        for path in std::iter::once(&column.path).chain(&column.former_paths) {
            for (found, exactly) in self.find_any_spelling(path) {
                match found {
                    Found::Leaf { index, .. } if claimed.contains(&index) => absence = Absence::Unknown,
                    found => return Err(self.near_miss(column, &found, exactly)),
                }
            }
        }
        Ok(absence)
    }

    fn near_miss(&self, column: &TableColumn, found: &Found, exactly: bool) -> ColumnProblem {
        match found {
            Found::Leaf { field_id: Some(file_id), .. } if exactly => {
                ColumnProblem::OtherId { file_id: *file_id, id: column.id }
            }
            Found::Leaf { index, .. } => {
                let leaf = self.footer.leaves().get(*index);
                let file_path = leaf.map(FileLeaf::dotted_path).unwrap_or_default();
                if exactly {
                    ColumnProblem::FormerName { file_path }
                } else {
                    ColumnProblem::OtherSpelling { file_path }
                }
            }
            Found::Obstacle { file_path, shape } => ColumnProblem::OtherShape { file_path: file_path.clone(), shape },
        }
    }

    /// The fields at the top of the file that have a name.
    pub(super) fn at_top(&self, name: &str) -> &[&'f Node<'a>] {
        self.top.get(name).map_or(&[], Vec::as_slice)
    }

    /// The same when case and Unicode form are ignored.
    pub(super) fn at_top_in_any_spelling(&self, name: &str) -> &[&'f Node<'a>] {
        self.top_folded().get(&folded(name)).map_or(&[], Vec::as_slice)
    }

    /// The node with a field id that no other has, wherever it stands.
    pub(super) fn with_id(&self, id: FieldId) -> Option<&'f Node<'a>> {
        self.by_id.get(&id).copied()
    }

    fn find_exactly(&self, path: &[String]) -> Vec<Found> {
        let mut found = Vec::new();
        if let Some((name, below)) = path.split_first() {
            for node in self.at_top(name) {
                follow(node, below, |a, b| a == b, &mut found);
            }
        }
        found
    }

    fn top_folded(&self) -> &HashMap<String, Vec<&'f Node<'a>>> {
        self.top_folded.get_or_init(|| {
            let mut top: HashMap<String, Vec<&'f Node<'a>>> = HashMap::new();
            for node in &self.footer.schema().fields {
                top.entry(folded(node.name)).or_default().push(node);
            }
            top
        })
    }

    /// What goes by a path when case and Unicode form are ignored, and whether it goes by it exactly.
    fn find_any_spelling(&self, path: &[String]) -> Vec<(Found, bool)> {
        let mut all: Vec<(Found, bool)> = self.find_exactly(path).into_iter().map(|found| (found, true)).collect();
        let exact: BTreeSet<usize> = all.iter().filter_map(|(found, _)| found.leaf()).collect();
        let mut respelled = Vec::new();
        if let Some((name, below)) = path.split_first() {
            for node in self.at_top_in_any_spelling(name) {
                follow(node, below, same_when_folded, &mut respelled);
            }
        }
        respelled.retain(|found| found.leaf().is_none_or(|leaf| !exact.contains(&leaf)));
        all.extend(respelled.into_iter().map(|found| (found, false)));
        all
    }
}

impl Found {
    fn leaf(&self) -> Option<usize> {
        match self {
            Self::Leaf { index, .. } => Some(*index),
            Self::Obstacle { .. } => None,
        }
    }
}

fn index_ids<'f, 'a>(nodes: &'f [Node<'a>], by_id: &mut HashMap<FieldId, &'f Node<'a>>) {
    for node in nodes {
        if let Some(id) = node.field_id {
            by_id.insert(id, node);
        }
        if let Content::Group { children, .. } = &node.content {
            index_ids(children, by_id);
        }
    }
}

/// Goes down from a node that has the first name of a path, by the names below it.
fn follow(node: &Node<'_>, below: &[String], same: fn(&str, &str) -> bool, found: &mut Vec<Found>) {
    match (node.shape(), below.split_first()) {
        (Shape::Leaf(index), None) => found.push(Found::Leaf { index, field_id: node.field_id }),
        (Shape::Struct(children), Some((name, below))) => {
            for child in children.iter().filter(|child| same(child.name, name)) {
                follow(child, below, same, found);
            }
        }
        (shape, _) => found.push(Found::Obstacle { file_path: node.name.to_owned(), shape: shape.name() }),
    }
}
