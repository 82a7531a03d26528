//! How what other layers have counted is written: families of series whose values are there when they are asked for.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prunus_catalog::{Counted, Histogram, Number};

/// The labels of a series, by name.
pub(super) type Labels<'l> = &'l [(&'static str, &'static str)];

/// What a histogram counts.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    /// Nanoseconds, which are written as seconds.
    Nanoseconds,
    /// A number of things.
    Count,
}

/// Writes families.
pub(super) struct Families<'e>(pub(super) DescriptorEncoder<'e>);

impl Families<'_> {
    /// The head of a family; its help is a sentence.
    fn describe<'s>(
        &'s mut self,
        name: &'s str,
        help: &str,
        metric_type: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0.encode_descriptor(name, &format!("{help}."), None, metric_type)
    }

    /// A counter without labels; its name is written with `_total` behind it.
    pub(super) fn counter(&mut self, name: &str, help: &str, number: &Number) -> fmt::Result {
        self.counters(name, help, [(&[] as Labels<'_>, number.get())])
    }

    /// A counter with labels.
    pub(super) fn counters<'l>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'l>, u64)>,
    ) -> fmt::Result {
        let mut family = self.describe(name, help, MetricType::Counter)?;
        for (labels, value) in series {
            family.encode_family(&labels)?.encode_counter::<NoLabelSet, u64, u64>(&value, None)?;
        }
        Ok(())
    }

    /// A value that goes up and down.
    pub(super) fn gauge(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        self.describe(name, help, MetricType::Gauge)?.encode_gauge(&value)
    }

    /// The same for a number of other things than whole ones.
    pub(super) fn real_gauge(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        self.describe(name, help, MetricType::Gauge)?.encode_gauge(&value)
    }

    /// A counter of other things than whole ones.
    pub(super) fn real_counter(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        let mut family = self.describe(name, help, MetricType::Counter)?;
        family.encode_counter::<NoLabelSet, f64, u64>(&value, None)
    }

    /// A histogram without labels.
    pub(super) fn histogram(&mut self, name: &str, help: &str, unit: Unit, histogram: &Histogram) -> fmt::Result {
        self.histograms(name, help, unit, [(&[] as Labels<'_>, histogram)])
    }

    /// A histogram with labels.
    pub(super) fn histograms<'l, 'h>(
        &mut self,
        name: &str,
        help: &str,
        unit: Unit,
        series: impl IntoIterator<Item = (Labels<'l>, &'h Histogram)>,
    ) -> fmt::Result {
        let mut family = self.describe(name, help, MetricType::Histogram)?;
        for (labels, histogram) in series {
            let Counted { sum, count, buckets } = histogram.read();
            let buckets: Vec<(f64, u64)> = buckets.into_iter().map(|(end, count)| (unit.of(end), count)).collect();
            let mut series = family.encode_family(&labels)?;
            series.encode_histogram::<NoLabelSet>(unit.of(sum), count, &buckets, None)?;
        }
        Ok(())
    }
}

impl Unit {
    #[expect(clippy::cast_precision_loss, reason = "what is shown of a sum beyond 2^53 is near enough")]
    fn of(self, value: u64) -> f64 {
        match self {
            Self::Nanoseconds => value as f64 / 1e9,
            Self::Count => value as f64,
        }
    }
}
