//! The passes over a table's statistics: manifests by their zones, files by their column blocks, the tail.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{Array, Int64Array, UInt64Array};
use prunus_manifest::{EntryBlock, FileId, ManifestRow, SnapshotId, TableRow, Totals};
use prunus_pruner::{Mask, Obstacles, PruningProgram, Selection, Verdict, ZoneMaps};

use super::filter::{ResidualIndex, ResidualTable};
use super::metrics::{PlanMetrics, add_file};
use super::prepare::Prepared;
use super::{Pruning, add_elapsed};
use crate::plan_cache::{PlanReader, ReadCounts, Removals};
use crate::zone_maps::{self, DeclaredZoneMaps, ManifestZoneMaps, ProgramColumn};
use crate::{Result, live_entries};

/// A file that may match. Packed, since a plan may keep many millions of them.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
pub(super) struct Survivor {
    file_id: FileId,
    residual: Option<ResidualIndex>,
}

impl Survivor {
    /// A file that is kept, with what of the filter is left for it. One all of whose rows match has nothing left to filter,
    /// whatever pruning found of the parts of the filter.
    pub(super) fn new(file_id: FileId, verdict: Verdict, residual: ResidualIndex) -> Self {
        Self { file_id, residual: (verdict != Verdict::All).then_some(residual) }
    }

    pub(super) fn file_id(self) -> FileId {
        self.file_id
    }

    /// Which residual it has; `None` if all its rows match.
    pub(super) fn residual(self) -> Option<ResidualIndex> {
        self.residual
    }

    /// `Some` or `All`.
    pub(super) fn verdict(self) -> Verdict {
        if self.residual().is_some() { Verdict::Some } else { Verdict::All }
    }
}

/// What the passes find: the files that may match, in no order; what of the filter is left for them; and what was done.
pub(crate) struct Passed {
    pub(super) survivors: Vec<Survivor>,
    pub(super) residuals: ResidualTable,
    pub(super) metrics: PlanMetrics,
}

/// The files that are live in one snapshot and were added after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) after: SnapshotId,
    pub(super) up_to: SnapshotId,
}

impl Span {
    fn has_added(self, added: SnapshotId) -> bool {
        self.after < added && added <= self.up_to
    }

    /// Whether a manifest may have a file that was added in it.
    fn reaches(self, manifest: &ManifestRow) -> bool {
        manifest.first_added_snapshot <= self.up_to && self.after < manifest.last_added_snapshot
    }

    /// Whether all files were added in it, from the first of them to the last.
    fn has_added_all(self, first: SnapshotId, last: SnapshotId) -> bool {
        self.has_added(first) && self.has_added(last)
    }
}

/// Runs a program over the files of a span.
pub(super) fn run(reader: &PlanReader<'_>, table: &TableRow, span: Span, prepared: &Prepared) -> Result<Passed> {
    let columns = match prepared.pruning {
        Pruning::On => prepared.program.columns(),
        Pruning::Off => Vec::new(),
    };
    let metrics = PlanMetrics::new(&prepared.program);
    let found = Passed { survivors: Vec::new(), residuals: ResidualTable::default(), metrics };
    let mut passes = Passes { reader, span, prepared, columns, found };
    tracing::debug_span!("plan_manifests").in_scope(|| passes.over_manifests(table))?;
    tracing::debug_span!("plan_tail").in_scope(|| passes.over_tail())?;
    let ReadCounts { read, cached } = reader.counts();
    passes.found.metrics.parts_read = read;
    passes.found.metrics.parts_cached = cached;
    Ok(passes.found)
}

struct Passes<'a> {
    reader: &'a PlanReader<'a>,
    span: Span,
    prepared: &'a Prepared,
    columns: Vec<ProgramColumn>,
    found: Passed,
}

/// The files of a manifest or of the tail, as columns.
struct Files {
    file_ids: Int64Array,
    row_counts: UInt64Array,
    sizes_bytes: UInt64Array,
    /// Which of them the span has.
    live: Mask,
}

/// What would become of manifests if no writer's word were taken.
struct Declared {
    /// Those that would be kept.
    kept: Mask,
    /// How many files at most of each have statistics that are their writer's word.
    files: Vec<u64>,
}

impl Passes<'_> {
    fn program(&self) -> &PruningProgram {
        &self.prepared.program
    }

    fn over_manifests(&mut self, table: &TableRow) -> Result<()> {
        let started = Instant::now();
        let manifests = self.reader.list_manifests()?;
        let ManifestZoneMaps { zones, declared } = zone_maps::of_manifests(self.reader, &manifests, &self.columns)?;
        let selection = self.select(&zones);
        let declared = declared.map(|DeclaredZoneMaps { undeclared, files }| Declared {
            kept: self.select(&undeclared).kept().clone(),
            files,
        });
        let mut kept = Vec::new();
        for (index, manifest) in manifests.rows.iter().enumerate() {
            if !self.span.reaches(manifest) {
                continue;
            }
            self.found.metrics.manifests_considered += 1;
            if selection.verdict(index) == Verdict::None {
                let sum = self.prune_manifest(table, manifest, index, &selection)?;
                let declared = declared.as_ref().filter(|declared| declared.kept.contains(index));
                let files = declared.and_then(|declared| declared.files.get(index)).copied().unwrap_or(0);
                self.found.metrics.files_pruned_as_declared += files.min(sum.files);
            } else {
                let declared = declared.as_ref().and_then(|declared| declared.files.get(index)).copied();
                kept.push((manifest, declared.unwrap_or(0)));
            }
        }
        add_elapsed(&mut self.found.metrics.timings.manifests, started);
        kept.into_iter().try_for_each(|(manifest, declared)| self.over_manifest(manifest, declared))
    }

    /// Counts the files of a manifest that was pruned as a whole. Its entries are read only for an older snapshot, and where its row
    /// and its removals do not tell what is live of it.
    fn prune_manifest(
        &mut self,
        table: &TableRow,
        manifest: &ManifestRow,
        index: usize,
        selection: &Selection,
    ) -> Result<Totals> {
        self.reader.check_awaited()?;
        self.found.metrics.manifests_pruned += 1;
        let sum = if self.span.has_added_all(manifest.first_added_snapshot, manifest.last_added_snapshot)
            && let Some(sum) = live_entries::sum_of_added(self.reader, table, manifest, self.span.up_to)?
        {
            sum
        } else {
            let entries = self.reader.load_entries(manifest)?;
            let files = Files::of_entries(&entries, self.live_entries(manifest, &entries)?);
            files.sum(files.live.indices())
        };
        for (conjunct, metrics) in self.found.metrics.conjuncts.iter_mut().enumerate() {
            if selection.pruned_by(conjunct).is_some_and(|pruned| pruned.contains(index)) {
                metrics.files_pruned += sum.files;
            }
        }
        self.found.metrics.count_pruned(sum);
        Ok(sum)
    }

    /// Prunes the files of a manifest; so many of them at most have statistics that are their writer's word.
    fn over_manifest(&mut self, manifest: &ManifestRow, declared: u64) -> Result<()> {
        let started = Instant::now();
        self.reader.check_awaited()?;
        let entries = self.reader.load_entries(manifest)?;
        let live = self.live_entries(manifest, &entries)?;
        let zones = zone_maps::of_entries(self.reader, manifest, &entries, &self.columns)?;
        let undeclared = match declared {
            0 => None,
            _ => Some(zone_maps::of_undeclared_entries(self.reader, manifest, &entries, &self.columns)?),
        };
        self.over_files(&Files::of_entries(&entries, live), &zones, undeclared.as_ref());
        add_elapsed(&mut self.found.metrics.timings.files, started);
        Ok(())
    }

    fn over_tail(&mut self) -> Result<()> {
        let started = Instant::now();
        let tail = self.reader.load_tail()?;
        for chunk in tail.chunks() {
            self.reader.check_awaited()?;
            let zones = zone_maps::of_tail(self.reader, chunk, &self.columns)?;
            let undeclared = zone_maps::of_undeclared_tail(self.reader, chunk, &self.columns)?;
            let live = self.live(&chunk.block, chunk.added_snapshots, tail.removals());
            self.over_files(&Files::of_entries(&chunk.block, live), &zones, undeclared.as_ref());
        }
        add_elapsed(&mut self.found.metrics.timings.files, started);
        Ok(())
    }

    /// Which entries of a manifest the span has.
    fn live_entries(&self, manifest: &ManifestRow, entries: &EntryBlock) -> Result<Mask> {
        let removals = match manifest.removed.files {
            0 => Arc::default(),
            _ => self.reader.load_removals(manifest)?,
        };
        Ok(self.live(entries, (manifest.first_added_snapshot, manifest.last_added_snapshot), &removals))
    }

    /// Which entries are; they were added from the first of these snapshots to the last.
    fn live(&self, entries: &EntryBlock, (first, last): (SnapshotId, SnapshotId), removals: &Removals) -> Mask {
        let added = if self.span.has_added_all(first, last) {
            Mask::all(entries.len())
        } else {
            let added = entries.added_snapshots();
            Mask::from_fn(entries.len(), |index| self.span.has_added(SnapshotId(added.value(index))))
        };
        if removals.is_empty() {
            return added;
        }
        let file_ids = entries.file_ids();
        let is_there = |index| removals.get(&file_ids.value(index)).is_none_or(|removed| *removed > self.span.up_to);
        added.and(&Mask::from_fn(entries.len(), is_there))
    }

    fn select(&self, zones: &ZoneMaps) -> Selection {
        match self.prepared.pruning {
            Pruning::On => self.program().evaluate(zones),
            Pruning::Off => Selection::keep_all(zones.containers(), self.program().conjuncts().len()),
        }
    }

    /// Prunes files by their zone maps and counts them; with `undeclared`, the zone maps without what is the writer's word alone,
    /// also those that are pruned by that.
    fn over_files(&mut self, files: &Files, zones: &ZoneMaps, undeclared: Option<&ZoneMaps>) {
        let selection = self.select(zones);
        let kept = selection.kept().clone().and(&files.live);
        if let Some(undeclared) = undeclared {
            let kept_otherwise = self.select(undeclared).kept().clone().and(&files.live);
            self.found.metrics.files_pruned_as_declared += kept_otherwise.and_not(&kept).count() as u64;
        }
        for (index, conjunct) in self.prepared.program.conjuncts().iter().enumerate() {
            let Some(metrics) = self.found.metrics.conjuncts.get_mut(index) else { continue };
            if let Some(pruned) = selection.pruned_by(index) {
                metrics.files_pruned += pruned.clone().and(&files.live).count() as u64;
            }
            if self.prepared.pruning == Pruning::On {
                let obstacles = Obstacles::of(conjunct, zones, &kept);
                metrics.obstacles = std::mem::take(&mut metrics.obstacles).plus(obstacles);
            }
        }
        self.found.metrics.count_kept(files.sum(kept.indices()));
        self.found.metrics.count_pruned(files.sum(files.live.clone().and_not(&kept).indices()));
        let residuals = self.prepared.residuals.as_ref().map(|program| program.evaluate(zones, &selection));
        let residuals = self.found.residuals.of_containers(residuals.as_ref(), &kept);
        for (index, residual) in kept.indices().filter_map(|index| Some((index, *residuals.get(index)?))) {
            let verdict = selection.verdict(index);
            self.found.metrics.files_all += u64::from(verdict == Verdict::All);
            let file_id = FileId(files.file_ids.value(index));
            self.found.survivors.push(Survivor::new(file_id, verdict, residual));
        }
    }
}

impl Files {
    fn of_entries(entries: &EntryBlock, live: Mask) -> Self {
        Self {
            file_ids: entries.file_ids().clone(),
            row_counts: entries.row_counts().clone(),
            sizes_bytes: entries.sizes_bytes().clone(),
            live,
        }
    }

    fn sum(&self, indices: impl Iterator<Item = usize>) -> Totals {
        let mut sum = Totals::default();
        for index in indices {
            let row_count = self.row_counts.is_valid(index).then(|| self.row_counts.value(index));
            add_file(&mut sum, row_count, self.sizes_bytes.value(index));
        }
        sum
    }
}
