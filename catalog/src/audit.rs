//! Audits: files that are registered are looked at again, and what is known of them is held against them.
//!
//! An audit is a row of the store that says how far it has come, so one that a restart interrupts goes on where it was. One
//! task works on all that run ([`worker`]), a step of each in turn ([`step`]): it looks at some files ([`examine`]), notes what
//! is false, mends that if it was asked to, and notes how far it has come, in this order, so that whatever interrupts it is done
//! again and nothing is left out. Another task does the same for files whose statistics could be better ([`background`]).

mod background;
mod examine;
mod located;
mod outcome;
mod reach;
mod reading;
mod step;
mod upgrade;
mod worker;

use prunus_manifest::{
    AuditChange, AuditEnd, AuditFinding, AuditId, AuditMode, AuditRow, NewAudit, Sample, WriteTransaction,
};

use crate::catalog::Catalog;
use crate::journal::{Change, Made};
use crate::name::TableIdent;
use crate::once::{Done, Once};
use crate::page::PageSize;
use crate::schema::LeafColumn;
use crate::{Error, Fault, Result, column_ref, tables};

pub use background::{AuditBudget, DEFAULT_AUDIT_BYTES_PER_SECOND};

/// What the journal calls the id of an audit.
const AUDIT_ID: &str = "audit_id";

/// What is to be audited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AuditRequest {
    /// What is read of the files.
    pub mode: AuditMode,
    /// Which share of the files is looked at: above 0, at most 1. Chance picks them.
    pub sample: f64,
    /// Whether statistics are replaced by better ones, and false ones by true ones. No snapshot changes by it.
    pub repair: bool,
}

/// A page of what an audit has found.
#[derive(Clone, Debug)]
pub struct AuditPage {
    /// How the audit stands.
    pub audit: AuditRow,
    /// What it found, in the order in which it did.
    pub findings: Vec<FoundByAudit>,
    /// After which finding the next page begins; `None` at the end.
    pub next_after: Option<u64>,
}

/// Something that an audit found.
#[derive(Clone, Debug)]
pub struct FoundByAudit {
    /// What it is.
    pub finding: AuditFinding,
    /// The key of the column that it is about; `None` if it is about the file as a whole.
    pub column: Option<String>,
}

impl Catalog {
    /// Begins an audit of the newest snapshot of a table. It is worked on behind the answer.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a sample that is none, or if too many audits of the table are running; [`Error::NotFound`],
    /// [`Error::KeyReused`], [`Error::Store`].
    pub async fn start_audit(
        &self,
        ident: TableIdent,
        request: AuditRequest,
        once: Once<AuditRow>,
    ) -> Result<Done<AuditRow>> {
        let AuditRequest { mode, sample, repair } = request;
        let (high, low) = self.clock.new_uuid().as_u64_pair();
        let sample = Sample::new(sample, high ^ low)
            .ok_or_else(|| Error::invalid(Fault::at("sample", "the sample is not above 0 and at most 1")))?;
        let created_at_ms = self.clock.now_ms();
        let start = move |tx: &WriteTransaction<'_>| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let (table_id, snapshot_id) = (table.table_id, table.current_snapshot);
            let files_total = table.totals.files;
            let audit =
                tx.create_audit(&NewAudit { table_id, snapshot_id, mode, sample, repair, files_total, created_at_ms })?;
            let made = Change::of_table("start_audit", &ident).with(AUDIT_ID, audit.audit_id.0);
            Ok(Made::change(audit, made.with("mode", mode.name()).with("repair", repair)))
        };
        let started = self.write_once(once, start).await?;
        self.audits_begun.notify_one();
        Ok(started)
    }

    /// How an audit stands, with a page of what it found from the first finding after `after`.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub async fn load_audit(
        &self,
        ident: TableIdent,
        audit_id: AuditId,
        after: u64,
        page_size: PageSize,
    ) -> Result<AuditPage> {
        // Findings may be long, and the schema that names their columns large.
        self.read_in_turn(move |tx, cancelled| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let audit = tx.load_audit(table.table_id, audit_id)?;
            let mut rows = tx.list_audit_findings(audit_id, after, page_size.and_one())?;
            let more = page_size.cut(&mut rows);
            let next_after = rows.last().filter(|_| more).map(|row| row.ordinal);
            let leaves = tables::load_schema(tx, &table, table.schema_id)?.leaf_columns();
            cancelled.check()?;
            let findings = rows.into_iter().map(|row| FoundByAudit::new(row.finding, &leaves)).collect();
            Ok(AuditPage { audit, findings, next_after })
        })
        .await
    }

    /// The audits of a table that are kept, newest first.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub async fn list_audits(&self, ident: TableIdent) -> Result<Vec<AuditRow>> {
        self.read(move |tx| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            Ok(tx.list_audits(table.table_id)?)
        })
        .await
    }

    /// Ends an audit; what it has found and mended stays. One that is over stays as it is.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::KeyReused`], [`Error::Store`].
    pub async fn cancel_audit(
        &self,
        ident: TableIdent,
        audit_id: AuditId,
        once: Once<AuditRow>,
    ) -> Result<Done<AuditRow>> {
        let now_ms = self.clock.now_ms();
        let cancel = move |tx: &WriteTransaction<'_>| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let change = tx.end_audit(table.table_id, audit_id, AuditEnd::Cancelled, now_ms)?;
            Ok(match change {
                AuditChange::Made(audit) => {
                    let made = Change::of_table("cancel_audit", &ident).with(AUDIT_ID, audit_id.0);
                    Made::change(audit, made)
                }
                AuditChange::Refused(audit) => Made::nothing(audit),
            })
        };
        self.write_once(once, cancel).await
    }
}

impl FoundByAudit {
    fn new(finding: AuditFinding, leaves: &[LeafColumn]) -> Self {
        let key = |field_id| {
            let leaf = leaves.iter().find(|leaf| leaf.id == field_id);
            leaf.map_or_else(|| field_id.to_string(), |leaf| column_ref::key(&leaf.path))
        };
        Self { column: finding.field_id.map(key), finding }
    }
}
