//! A filter in the language in which it was asked, and what of it is left for a file, in the same language.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use prunus_pruner::{FilterError, FilterLimits, IcebergForm, Mask, Predicate, Residual, Residuals};
use serde_json::Value;

use super::PlanRequest;
use crate::limits::Limits;

/// A filter as it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// A SQL boolean expression.
    Sql(String),
    /// An Iceberg expression.
    Iceberg(Value),
}

impl Filter {
    /// How long it is as text.
    pub fn written_bytes(&self) -> usize {
        match self {
            Self::Sql(text) => text.len(),
            Self::Iceberg(json) => json.to_string().len(),
        }
    }
}

/// A filter that was read.
pub(super) struct ReadFilter {
    written: Arc<Filter>,
    pub(super) predicate: Predicate,
}

impl ReadFilter {
    /// The filter of a plan, if it has one.
    pub(super) fn parse_of(request: &PlanRequest, limits: &Limits) -> Result<Option<Self>, FilterError> {
        request.filter.clone().map(|filter| Self::parse(filter, &limits.of_filter())).transpose()
    }

    pub(super) fn parse(filter: Filter, limits: &FilterLimits) -> Result<Self, FilterError> {
        let predicate = match &filter {
            Filter::Sql(text) => Predicate::parse_sql_within(text, limits),
            Filter::Iceberg(json) => {
                let bytes = filter.written_bytes();
                if bytes > limits.bytes {
                    return Err(FilterError::TooLong { bytes, max: limits.bytes });
                }
                Predicate::parse_iceberg_json_within(json, limits)
            }
        }?;
        Ok(Self { written: Arc::new(filter), predicate })
    }

    /// A fault of it, in the words of its language.
    pub(super) fn fault(&self, error: FilterError) -> FilterError {
        match &*self.written {
            Filter::Sql(_) => error.in_sql(),
            Filter::Iceberg(_) => error,
        }
    }

    /// What is left of the filter, in its language; `None` if nothing is.
    fn write(&self, residual: &Residual) -> Option<Arc<Filter>> {
        if *residual == Residual::WHOLE {
            return Some(Arc::clone(&self.written));
        }
        let left = residual.predicate(&self.predicate)?;
        Some(match &*self.written {
            Filter::Sql(_) => Arc::new(Filter::Sql(left.to_string())),
            Filter::Iceberg(json) => match left.to_iceberg_json(IcebergForm::of(json)) {
                Some(left) => Arc::new(Filter::Iceberg(left)),
                // What cannot be written alone is right as a part of the whole.
                None => Arc::clone(&self.written),
            },
        })
    }
}

/// Which of a plan's residuals a file has, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ResidualIndex(NonZeroU32);

impl ResidualIndex {
    /// That of the residual at a place.
    fn at(place: usize) -> Option<Self> {
        Some(Self(NonZeroU32::new(u32::try_from(place).ok()?.checked_add(1)?)?))
    }

    fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The different residuals of a plan's files, each once.
#[derive(Default)]
pub(super) struct ResidualTable {
    residuals: Vec<Residual>,
    indices: HashMap<Residual, ResidualIndex>,
}

impl ResidualTable {
    fn intern(&mut self, residual: &Residual) -> ResidualIndex {
        if let Some(index) = self.indices.get(residual) {
            return *index;
        }
        // The first is the whole filter, which is right for every file.
        let Some(index) = ResidualIndex::at(self.residuals.len()) else { return ResidualIndex(NonZeroU32::MIN) };
        self.residuals.push(residual.clone());
        self.indices.insert(residual.clone(), index);
        index
    }

    /// The residual of every container of `kept`, by its index among all; the whole filter where none was found.
    pub(super) fn of_containers(&mut self, residuals: Option<&Residuals>, kept: &Mask) -> Vec<ResidualIndex> {
        let mut by_container = vec![self.intern(&Residual::WHOLE); kept.len()];
        for (residual, mask) in residuals.iter().flat_map(|residuals| residuals.groups()) {
            let mask = mask.clone().and(kept);
            if mask.is_none() {
                continue;
            }
            let interned = self.intern(residual);
            for index in mask.indices() {
                if let Some(slot) = by_container.get_mut(index) {
                    *slot = interned;
                }
            }
        }
        by_container
    }

    /// The residuals of these files, each different one written once. Without a filter nothing is left of it.
    pub(super) fn write(
        &self,
        filter: Option<&ReadFilter>,
        of_files: impl Iterator<Item = ResidualIndex>,
    ) -> WrittenResiduals {
        let mut written = WrittenResiduals::default();
        let Some(filter) = filter else { return written };
        for index in of_files {
            let WrittenResiduals { filters, places } = &mut written;
            places.entry(index).or_insert_with(|| {
                filters.push(filter.write(self.residuals.get(index.place()).unwrap_or(&Residual::WHOLE))?);
                Some(filters.len() - 1)
            });
        }
        written
    }

    /// About how much memory it takes.
    pub(super) fn size_bytes(&self) -> usize {
        const RESIDUAL_BYTES: usize = 256;
        self.residuals.len() * RESIDUAL_BYTES
    }
}

/// The different residuals of the files of a page, written.
#[derive(Default)]
pub(super) struct WrittenResiduals {
    pub(super) filters: Vec<Arc<Filter>>,
    /// Where those that files of the page have are among them; `None` where nothing is left to filter.
    places: HashMap<ResidualIndex, Option<usize>>,
}

impl WrittenResiduals {
    /// Where a residual is among [`WrittenResiduals::filters`]; `None` if nothing is left to filter.
    pub(super) fn place(&self, index: ResidualIndex) -> Option<usize> {
        self.places.get(&index).copied().flatten()
    }

    /// How long the longest is.
    pub(super) fn longest_bytes(&self) -> usize {
        self.filters.iter().map(|filter| filter.written_bytes()).max().unwrap_or(0)
    }
}
