//! Why a file cannot be taken for one of a table: what is wrong with one column.

use prunus_statistics::{FieldId, PrimitiveType};

use super::column_matching::TableColumn;

/// What is wrong with one column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column `{column}`: {problem}")]
pub struct ColumnFault {
    id: FieldId,
    column: String,
    problem: ColumnProblem,
}

/// What can be wrong with a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnProblem {
    /// The id is on a leaf of another name.
    #[error("the file has its field id {id} on `{file_path}`, which never was its name")]
    OtherName {
        /// The id.
        id: FieldId,
        /// The path of the leaf that has it.
        file_path: String,
    },
    /// The name is on a leaf of another id.
    #[error("the file's column of that name has the field id {file_id} instead of {id}")]
    OtherId {
        /// The id in the file.
        file_id: FieldId,
        /// The id in the table.
        id: FieldId,
    },
    /// The file has a former name, without an id that would tell whether this column is meant.
    #[error("the file has no such column, but `{file_path}`, its former name, without a field id")]
    FormerName {
        /// The former name.
        file_path: String,
    },
    /// The file has another spelling of the name.
    #[error("the file has `{file_path}`, which differs from its name in case or Unicode form only")]
    OtherSpelling {
        /// The path of the leaf in the file.
        file_path: String,
    },
    /// More than one leaf could be meant.
    #[error("more than one column of the file could be it")]
    SeveralLeaves,
    /// The file has something else than one value per row there.
    #[error("`{file_path}` is {shape} in the file, and not in the table")]
    OtherShape {
        /// The path in the file.
        file_path: String,
        /// What it is there.
        shape: &'static str,
    },
    /// The values do not convert.
    #[error("the file's type {file_type} does not convert to the table's {table_type}{}", remedy(file_type, *table_type))]
    Type {
        /// The type in the file.
        file_type: String,
        /// The type in the table.
        table_type: PrimitiveType,
    },
}

/// What would make the table take such files, where something would.
fn remedy(file_type: &str, table_type: PrimitiveType) -> String {
    match file_type.parse::<PrimitiveType>() {
        Ok(wider) if table_type.widens_to(wider) => {
            format!("; it would if the column were widened to {wider} (`widen` in a PATCH of the table)")
        }
        _ => String::new(),
    }
}

impl ColumnFault {
    pub(super) fn of(column: &TableColumn, problem: ColumnProblem) -> Self {
        Self { id: column.id, column: column.path.join("."), problem }
    }

    /// The id of the table's column.
    pub fn id(&self) -> FieldId {
        self.id
    }

    /// The path of the table's column, its names joined with dots.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// What is wrong with it.
    pub fn problem(&self) -> &ColumnProblem {
        &self.problem
    }
}
