//! Measured response times: the times that requests took when the trace was recorded.
//!
//! Some traces have the time in the line of the request. Others have a line at the end of a request, which is matched with the line at its
//! beginning by device and address.

use std::collections::{BTreeMap, HashMap};

use flashraid_model::metrics::LatencyHistogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compression::Origin;
use super::filter::Filter;
use super::record::TraceRecord;
use super::spec::TraceSpec;
use crate::{BLOCK_REQUESTS, OpKind, SourceError, Stop};

/// Measured response times of one group of requests, in microseconds. Means are exact, and percentiles exceed the exact values by at
/// most 0.1 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredResponseTime {
    /// Number of requests of the group whose time the trace tells.
    pub count: u64,
    /// Mean measured response time of the group.
    pub mean: f64,
    /// Median of the measured response times of the group.
    pub p50: f64,
    /// Time that 99 % of the requests of the group did not exceed when they were recorded.
    pub p99: f64,
    /// Time that 99.9 % of the requests of the group did not exceed when they were recorded.
    pub p99_9: f64,
    /// Longest measured response time of the group.
    pub max: f64,
}

/// Measured response times of a trace, by kind of request. Kinds whose times the trace does not tell are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredResponseTimes {
    /// Response times of reads and writes together.
    pub total: Option<MeasuredResponseTime>,
    /// Response times of reads.
    pub read: Option<MeasuredResponseTime>,
    /// Response times of writes.
    pub write: Option<MeasuredResponseTime>,
    /// Response times of flushes.
    pub flush: Option<MeasuredResponseTime>,
}

impl MeasuredResponseTimes {
    /// Returns the response times as a sentence for people.
    #[must_use]
    pub fn sentence(&self) -> String {
        let of_kind = |(kind, times): (&str, Option<MeasuredResponseTime>)| {
            let MeasuredResponseTime { count, mean, p50, p99, p99_9, .. } = times?;
            Some(format!("{count} {kind} {mean:.1} µs in the mean (50 % {p50:.1}, 99 % {p99:.1}, 99.9 % {p99_9:.1})"))
        };
        let kinds: Vec<String> =
            [("reads", self.read), ("writes", self.write), ("flushes", self.flush)].into_iter().filter_map(of_kind).collect();
        format!("measured: when the trace was recorded, it took {}", kinds.join(", "))
    }
}

/// Returns the response times that a trace tells of its first requests, at least as many as given, or `None` if it tells none.
///
/// # Errors
/// Returns an error if these requests cannot be read.
pub fn measured_response_times(spec: &TraceSpec, requests: u64) -> Result<Option<MeasuredResponseTimes>, SourceError> {
    let mut source = Filter::open(spec, &Origin::file(&spec.path, &Stop::default()))?;
    source.measure();
    let mut measured = MeasuredHistograms::default();
    let (mut records, mut read) = (Vec::new(), 0);
    while read < requests {
        records.clear();
        let block = source.append_next(&mut records, BLOCK_REQUESTS)?;
        let times = records.iter().filter_map(|numbered| Some((numbered.record.kind, numbered.record.response_ns?)));
        times.for_each(|(kind, response_ns)| measured.record(kind, response_ns.get()));
        read += block as u64;
        if block < BLOCK_REQUESTS {
            break;
        }
    }
    if let Some(by_events) = source.measured() {
        measured.add_all(by_events);
    }
    Ok(measured.summary())
}

/// Histograms of measured response times, by kind of request.
#[derive(Debug, Clone, Default)]
pub(crate) struct MeasuredHistograms {
    read: LatencyHistogram,
    write: LatencyHistogram,
    flush: LatencyHistogram,
}

impl MeasuredHistograms {
    /// Counts a request that took this time. Discards are not counted, because they move no data.
    pub(crate) fn record(&mut self, kind: OpKind, response_ns: u64) {
        match kind {
            OpKind::Read => self.read.record(response_ns),
            OpKind::Write => self.write.record(response_ns),
            OpKind::Flush => self.flush.record(response_ns),
            OpKind::Trim => {}
        }
    }

    /// Adds the response times of `other`.
    pub(crate) fn add_all(&mut self, other: &Self) {
        self.read.add_all(&other.read);
        self.write.add_all(&other.write);
        self.flush.add_all(&other.flush);
    }

    /// Returns the response times, or `None` if there are none.
    pub(crate) fn summary(&self) -> Option<MeasuredResponseTimes> {
        let mut total = self.read.clone();
        total.add_all(&self.write);
        let times = MeasuredResponseTimes {
            total: summary_of(&total),
            read: summary_of(&self.read),
            write: summary_of(&self.write),
            flush: summary_of(&self.flush),
        };
        (times.total.is_some() || times.flush.is_some()).then_some(times)
    }
}

fn summary_of(histogram: &LatencyHistogram) -> Option<MeasuredResponseTime> {
    let us = |quantile: f64| histogram.quantile_ns(quantile).map(|ns| ns as f64 / 1e3);
    let moments = histogram.moments();
    Some(MeasuredResponseTime {
        count: moments.count(),
        mean: moments.mean()? / 1e3,
        p50: us(0.5)?,
        p99: us(0.99)?,
        p99_9: us(0.999)?,
        max: moments.max()? as f64 / 1e3,
    })
}

/// Largest number of requests in flight that are remembered. A recording that has lost ends would otherwise fill the memory.
const IN_FLIGHT_MAX: usize = 1 << 20;

/// Requests whose end has not been seen, with the response times of those whose end has.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight {
    /// Requests that move data, by device and first byte.
    by_place: BTreeMap<(u32, u64), Begun>,
    /// Times of the flushes in flight, by device.
    flushes: HashMap<u32, Vec<u64>>,
    measured: MeasuredHistograms,
}

#[derive(Debug, Clone, Copy)]
struct Begun {
    time_ns: u64,
    kind: OpKind,
}

impl InFlight {
    /// Notes the beginning of a request.
    pub(crate) fn begin(&mut self, record: &TraceRecord) {
        if record.kind == OpKind::Flush {
            let flushes = self.flushes.entry(record.device).or_default();
            if flushes.len() < IN_FLIGHT_MAX {
                flushes.push(record.time_ns);
            }
        } else if self.by_place.len() < IN_FLIGHT_MAX {
            self.by_place.insert((record.device, record.offset_bytes), Begun { time_ns: record.time_ns, kind: record.kind });
        }
    }

    /// Notes the end of a request at `end.time_ns`. Requests that were merged into it end with it.
    pub(crate) fn end(&mut self, end: &TraceRecord) {
        if end.kind == OpKind::Flush {
            let flushes = self.flushes.get_mut(&end.device);
            if let Some(begun_ns) = flushes.filter(|times| !times.is_empty()).map(|times| times.remove(0)) {
                self.measured.record(OpKind::Flush, end.time_ns.saturating_sub(begun_ns));
            }
            return;
        }
        let (from, to) = (end.offset_bytes, end.offset_bytes + end.length_bytes.max(1));
        while let Some((&place, &Begun { time_ns, kind })) = self.by_place.range((end.device, from)..(end.device, to)).next() {
            self.by_place.remove(&place);
            self.measured.record(kind, end.time_ns.saturating_sub(time_ns));
        }
    }

    /// Returns the response times of all requests that have ended.
    pub(crate) fn measured(&self) -> &MeasuredHistograms {
        &self.measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time_ns: u64, offset_bytes: u64, length_bytes: u64) -> TraceRecord {
        TraceRecord::new(time_ns, 0, offset_bytes, length_bytes, OpKind::Write)
    }

    /// Two writes were merged, and end together; a third lies behind them, and a flush runs beside all.
    #[test]
    fn merged_requests_end_together() {
        let mut in_flight = InFlight::default();
        in_flight.begin(&at(0, 0, 4096));
        in_flight.begin(&at(1_000, 4096, 4096));
        in_flight.begin(&at(2_000, 8192, 4096));
        in_flight.begin(&TraceRecord::flush(3_000, 0));
        in_flight.end(&at(10_000, 0, 8192));
        let write = in_flight.measured().summary().unwrap().write.unwrap();
        assert_eq!((write.count, write.mean, write.max), (2, 9.5, 10.0));
        in_flight.end(&TraceRecord::flush(7_000, 0));
        in_flight.end(&TraceRecord::flush(8_000, 0));
        let flush = in_flight.measured().summary().unwrap().flush.unwrap();
        assert_eq!((flush.count, flush.max), (1, 4.0));
        assert_eq!(in_flight.measured().summary().unwrap().read, None);
    }
}
