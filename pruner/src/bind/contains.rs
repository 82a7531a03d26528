//! What the list or map of a column holds.

use super::{Binder, BoundColumn, BoundNode};
use crate::outcome::OutcomeSet;
use crate::{ColumnName, Expression, ItemKind};

impl Binder<'_> {
    /// A list may hold a value only if that lies between the bounds of all items. All else is possible: the list may be null or
    /// empty, or hold others or nulls, of which engines make false or null; some find nulls in lists, too.
    pub(super) fn contains(&mut self, name: &ColumnName, kind: ItemKind, value: &Expression) -> BoundNode {
        let column = match self.find(name) {
            Ok(column) => column,
            Err(fault) => {
                self.faults.push(fault);
                return BoundNode::Unknown(String::new());
            }
        };
        let Some(items) = column.items.iter().find(|items| items.kind == kind) else {
            return BoundNode::Unknown(format!("no bounds are known of the {kind} of `{}`", column.path.join(".")));
        };
        let Expression::Literal(literal) = value else { return BoundNode::Constant(OutcomeSet::ANY) };
        let name = format!("{}.{}", column.path.join("."), kind.name());
        let items = BoundColumn { id: items.id, column_type: items.column_type, name };
        let held = self.equals(items, literal);
        // Two items may meet what none does alone: this must not be intersected with another test of the same list.
        BoundNode::Any(vec![
            BoundNode::All(vec![held, BoundNode::Constant(OutcomeSet::ANY)]),
            BoundNode::Constant(OutcomeSet::FALSE | OutcomeSet::NULL),
        ])
    }
}
