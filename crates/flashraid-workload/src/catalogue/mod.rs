//! Workloads by name: those of the papers GGC, PGC and LAWC (the README lists these papers), and two common ones. Each has its
//! statistics, the source that gives them, and the additions that make a workload of them.
//!
//! The tables of the papers give only means. The missing properties (burstiness, popularity of addresses, the mix of sizes) come from
//! excerpts of real traces; see [`trace_excerpts`]. Such a workload is a *stand-in* and says so. Users can override every part. Users
//! who have the trace itself can replay it instead.

mod ggc;
mod lawc;
mod pgc;
pub mod trace_excerpts;

use super::synthetic::{AddressSpec, ArrivalSpec, Footprint, SizeSpec, SyntheticSpec};
use super::{RequestTransformSpec, SourceSpec, WorkloadSpec};
use crate::units::Size;

/// A workload of the catalogue, with the source of its statistics: one of the papers GGC, PGC and LAWC, or common practice.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedWorkload {
    /// Name of the workload, such as `hpc-w` or `spider(1024,20,60)`.
    pub name: String,
    /// Source of its statistics: paper and number of the table, or a short phrase if they are from no paper.
    pub statistics_source: &'static str,
    /// Statistics of the workload that its source (`statistics_source`) gives.
    pub published: PublishedFigures,
    /// True if it imitates a trace that is not available. Results obtained with it must say so.
    pub is_stand_in: bool,
    /// Additions to the published statistics, with the reasons for them.
    pub added_assumptions: String,
    /// Settings of the workload itself.
    pub spec: WorkloadSpec,
}

/// Statistics of a workload that its source gives, mostly in a paper's table; `None` where the source has no value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PublishedFigures {
    /// Mean size of all requests in KiB.
    pub(crate) mean_request_kib: Option<f64>,
    /// Mean size of reads in KiB.
    pub(crate) mean_read_kib: Option<f64>,
    /// Mean size of writes in KiB.
    pub(crate) mean_write_kib: Option<f64>,
    /// Share of reads among the requests.
    pub read_fraction: Option<f64>,
    /// Mean number of requests per second.
    pub requests_per_s: Option<f64>,
}

impl PublishedFigures {
    /// Returns the statistics for separate rates per second and mean sizes in KiB of writes and reads (LAWC Table 3).
    fn of_rates(write_per_s: f64, write_kib: f64, read_per_s: f64, read_kib: f64) -> Self {
        let requests_per_s = write_per_s + read_per_s;
        Self {
            mean_request_kib: Some((write_per_s * write_kib + read_per_s * read_kib) / requests_per_s),
            mean_read_kib: Some(read_kib),
            mean_write_kib: Some(write_kib),
            read_fraction: Some(read_per_s / requests_per_s),
            requests_per_s: Some(requests_per_s),
        }
    }

    /// Returns the statistics of several streams combined.
    fn together(streams: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> Option<f64>| streams.iter().map(of).sum::<Option<f64>>();
        let requests_per_s = sum(|s| s.requests_per_s);
        let mean = |of: fn(&Self) -> Option<f64>| Some(sum(of)? / requests_per_s?);
        Self {
            mean_request_kib: mean(|s| Some(s.mean_request_kib? * s.requests_per_s?)),
            read_fraction: mean(|s| Some(s.read_fraction? * s.requests_per_s?)),
            requests_per_s,
            mean_read_kib: None,
            mean_write_kib: None,
        }
    }
}

/// Names of all workloads, grouped by source: the papers GGC, PGC and LAWC, and common practice. Letters in brackets stand for numbers,
/// so that `spider(R,I,W)` may be `spider(1024,20,60)`.
pub const WORKLOAD_NAMES: [&str; 28] = [
    "hpc-w",
    "hpc-r",
    "hpc-w-skew",
    "hpc-w-burst-m",
    "hpc-w-burst-h",
    "financial",
    "tpc-c",
    "cello",
    "tpc-h",
    "openmail",
    "w1(W)",
    "w2(W)",
    "w3(W)",
    "pgc-synthetic",
    "exchange",
    "lawc-cello",
    "lawc-financial",
    "lawc-tpc-h",
    "fiu-vm",
    "fiu-mail",
    "lawc-skewed",
    "ms-ec",
    "ms-ft",
    "ms-ecft",
    "spider",
    "spider(R,I,W)",
    "random-write",
    "random-read",
];

/// Error for a name that the catalogue does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no workload \"{name}\"; {similar_names_hint}")]
pub struct UnknownWorkload {
    /// Name that the user asked for.
    pub name: String,
    /// Likely names, and the names that exist.
    pub similar_names_hint: String,
}

/// Returns the workload with that name, such as `hpc-w`. Some names have numbers in brackets, such as `spider(1024,20,60)`.
///
/// # Errors
/// Returns an error if there is no such workload. Its text names the nearest one or, if only the numbers in brackets are wrong, says
/// which numbers are allowed.
pub fn find_workload(name: &str) -> Result<NamedWorkload, UnknownWorkload> {
    let unknown = |hint: String| UnknownWorkload { name: name.to_owned(), similar_names_hint: hint };
    let (stem, numbers) = split_name(name).ok_or_else(|| unknown("numbers in brackets are whole, such as spider(1024,20,60)".into()))?;
    let found =
        ggc::find(stem, &numbers).or_else(|| pgc::find(stem, &numbers)).or_else(|| lawc::find(stem, &numbers)).or_else(|| basic(name));
    match found {
        Some(Ok(workload)) => Ok(NamedWorkload { name: name.to_owned(), ..workload }),
        Some(Err(hint)) => Err(unknown(hint)),
        None => {
            let nearest = WORKLOAD_NAMES.iter().max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
            Err(unknown(format!("did you mean \"{}\"? There are {}", nearest.unwrap_or(&""), WORKLOAD_NAMES.join(", "))))
        }
    }
}

/// Result of looking up a name in a part of the catalogue. It is `None` if this part does not have the name, and `Err` with the allowed
/// values if only the numbers are wrong.
type Found = Option<Result<NamedWorkload, String>>;

/// Splits a name such as `spider(1024,20,60)` into `spider` and its numbers.
fn split_name(name: &str) -> Option<(&str, Vec<u64>)> {
    let Some((stem, rest)) = name.split_once('(') else { return Some((name, Vec::new())) };
    let numbers = rest.strip_suffix(')')?.split(',').map(|number| number.trim().parse());
    Some((stem, numbers.collect::<Result<_, _>>().ok()?))
}

/// Returns one of the two workloads that users usually measure first. They come from none of the papers.
fn basic(name: &str) -> Found {
    let read_fraction = match name {
        "random-write" => 0.0,
        "random-read" => 1.0,
        _ => return None,
    };
    Some(Ok(NamedWorkload {
        name: name.to_owned(),
        statistics_source: "common practice",
        published: PublishedFigures { mean_request_kib: Some(4.0), read_fraction: Some(read_fraction), ..PublishedFigures::default() },
        is_stand_in: false,
        added_assumptions: "uniformly random 4 KiB requests, 32 at a time".into(),
        spec: SyntheticSpec { read_fraction, ..SyntheticSpec::random_writes() }.into(),
    }))
}

/// Number of bytes in a KiB.
const KIB: u64 = 1024;

/// Returns a generated workload whose reads and writes have the same distribution of sizes.
fn synthetic(arrivals: ArrivalSpec, read_fraction: f64, size: SizeSpec, address: AddressSpec) -> SyntheticSpec {
    SyntheticSpec {
        arrivals,
        read_fraction,
        read_size: size.clone(),
        write_size: size,
        addresses: address,
        high_priority_fraction: 0.0,
        writes_per_flush: None,
        fua: false,
        sequential_gap: None,
    }
}

/// Part of the array that the generator of the papers' simulator addresses: 7 018 904 sectors, as DiskSim's SSD extension ships it.
///
/// Its validation file `ssd-rw5m.parv`, whose device is that of PGC Table II, has `Storage capacity per device = 7018904` for the logical
/// device. The paper does not say that the authors kept this value.
///
/// One of their numbers supports it. With this footprint a page waits 4.6 ms for a collection, and with all of the device 12.6 ms (PGC
/// IV.B.1b: \"3-4ms\").
///
/// For hpc-w, any footprint from 0.2 to 3 % of the array gives the same result. GGC therefore says no more than that victims are nearly
/// empty.
const GENERATOR_FOOTPRINT: Footprint = Footprint::AtMostBytes(Size { bytes: 3427 << 20 });

/// Returns streams merged by time.
fn mix(streams: Vec<WorkloadSpec>) -> WorkloadSpec {
    WorkloadSpec { source: SourceSpec::Mix(streams), transform: RequestTransformSpec::default() }
}

#[cfg(test)]
mod tests;
