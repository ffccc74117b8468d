//! Load that a workload puts on the members, estimated from its first requests.

use serde::Serialize;

use crate::config::{Scenario, workload_address_space};
use flashraid_model::array::{ArrayParams, MemberLoadCalculator, SlowMemberPeriod, page_request_of};
use flashraid_workload::{self as workload, HostLoop, OpKind, Request, RequestSource, SourceError, SourceSpec, Stop, WorkloadSpec};

/// Number of requests that are examined, if the run sends as many.
pub(crate) const REQUESTS: u64 = 20_000;

/// Statistics of the first requests of a workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstRequestsStatistics {
    /// Number of requests examined.
    pub requests: u64,
    /// Mean number of arrivals per second; `None` for a closed loop and for traces without times.
    pub requests_per_s: Option<f64>,
    /// Number of outstanding requests of a closed loop.
    pub closed_depth: Option<u32>,
    /// Mean number of bytes in a request.
    pub mean_request_bytes: f64,
    /// Share of reads among the requests.
    pub read_fraction: f64,
    /// Mean number of pages of the array that a request reads or writes.
    pub host_pages_per_request: f64,
    /// Mean number of pages that a request reads on all members together, including reads for parity.
    pub pages_read_per_request: f64,
    /// Mean number of pages that a request writes on all members together, including mirrors and parity.
    pub pages_written_per_request: f64,
    /// Mean number of pages of the array that a request writes.
    pub host_pages_written_per_request: f64,
    /// Mean number of pages of the array that a request trims.
    pub pages_trimmed_per_request: f64,
    /// Share of the array's pages that the sampled requests write, each counted once.
    pub written_share: f64,
    /// Share of the written pages that a request covers only in part. Each of them costs as much as a whole page.
    pub partial_page_writes: f64,
    /// Greatest share of the page operations that any member gets. It is 1 / members if they are spread evenly.
    pub busiest_member_share: f64,
    /// Estimated share of the requests that a slow member delays, at its slowest time; `None` if no member is slow. The member delays a
    /// request if it serves one of its operations slowly, or answers late because of a stall (a time without answers).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meets_slow_member: Option<f64>,
    /// Number of bytes from the start of the array to the end of the highest request.
    pub extent_bytes: u64,
}

/// Draws at most `most` first requests of a scenario. None is drawn that the run does not reach.
pub(super) fn draw(scenario: &Scenario, most: u64, stop: &Stop) -> Result<FirstRequestsStatistics, SourceError> {
    let space = workload_address_space(&scenario.array);
    let mut source = workload::open_stoppable_workload(&scenario.workload, scenario.seed, &space, stop)?;
    statistics(scenario, most, &mut *source)
}

/// Returns statistics of at most `most` requests of a source, which are the first of a scenario.
pub(super) fn statistics(scenario: &Scenario, most: u64, source: &mut dyn RequestSource) -> Result<FirstRequestsStatistics, SourceError> {
    let (array, limit) = (&scenario.array, &scenario.run_limit);
    let space = workload_address_space(array);
    let mut offered_load = MemberLoadCalculator::new(array);
    let mut by_member = vec![0_u64; array.members as usize];
    let misses_slowness = misses_slowness(array);
    let mut met_slow = 0.0;
    let (mut requests, mut reads, mut bytes, mut last_ns, mut extent_bytes) = (0_u64, 0_u64, 0_u128, 0_u64, 0_u64);
    let (mut pages_read, mut pages_written, mut host_pages, mut pages, mut partial) = (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
    let (capacity_pages, mut written, mut trimmed) = ((space.capacity_bytes / space.page_bytes).max(1), Vec::new(), 0_u64);
    let most = limit.max_requests.map_or(most, |all| all.min(most));
    while requests < most {
        let request = match source.next_request() {
            Ok(Some(request)) => request,
            Ok(None) => break,
            Err(error) => return Err(error),
        };
        // The run ends before an arrival at this time. A closed loop sends whenever there is room.
        if source.host_loop() == HostLoop::Open && limit.max_duration_ns.is_some_and(|end| request.arrival_ns >= end) {
            break;
        }
        let end = request.offset_bytes.saturating_add(request.length_bytes);
        let (first, past) = (request.offset_bytes / space.page_bytes, end.div_ceil(space.page_bytes));
        requests += 1;
        bytes += u128::from(request.length_bytes);
        last_ns = request.arrival_ns;
        extent_bytes = extent_bytes.max(end);
        if matches!(request.kind, OpKind::Read | OpKind::Write) {
            host_pages += past - first;
        }
        if request.kind == OpKind::Read {
            reads += 1;
        } else if request.kind == OpKind::Write {
            let ragged =
                u64::from(!request.offset_bytes.is_multiple_of(space.page_bytes)) + u64::from(!end.is_multiple_of(space.page_bytes));
            partial += ragged.min(past - first);
            pages += past - first;
            written.push((first % capacity_pages, past - first));
        } else if request.kind == OpKind::Trim {
            trimmed += past - first;
        }
        // An address beyond the array is folded back to some place, which is not known here.
        let within = Request { offset_bytes: request.offset_bytes % space.capacity_bytes, ..request };
        if let Some(request) = page_request_of(&within, space.page_bytes, u64::MAX) {
            let mut visited = 0_u128;
            offered_load.visit_strip_reads_and_writes(&request, |member, read, written| {
                visited |= u128::from(read + written > 0) << member;
                by_member[member as usize] += u64::from(read + written);
                pages_read += u64::from(read);
                pages_written += u64::from(written);
            });
            let of_members = misses_slowness.iter().enumerate().filter(|(member, _)| visited >> member & 1 > 0);
            met_slow += 1.0 - of_members.map(|(_, misses)| misses).product::<f64>();
        }
    }
    let count = requests.max(1) as f64;
    let timed = match source.host_loop() {
        HostLoop::Open => Some(match exact_rate(&scenario.workload) {
            Some(rate) => rate,
            None => requests.saturating_sub(1) as f64 * 1e9 / last_ns.max(1) as f64,
        }),
        HostLoop::Closed { .. } => None,
    };
    let total: u64 = by_member.iter().sum();
    Ok(FirstRequestsStatistics {
        requests,
        requests_per_s: timed,
        closed_depth: match source.host_loop() {
            HostLoop::Open => None,
            HostLoop::Closed { depth, .. } => Some(depth),
        },
        mean_request_bytes: bytes as f64 / count,
        read_fraction: reads as f64 / count,
        host_pages_per_request: host_pages as f64 / count,
        pages_read_per_request: pages_read as f64 / count,
        pages_written_per_request: pages_written as f64 / count,
        host_pages_written_per_request: pages as f64 / count,
        pages_trimmed_per_request: trimmed as f64 / count,
        written_share: (distinct(written) as f64 / capacity_pages as f64).min(1.0),
        partial_page_writes: partial as f64 / pages.max(1) as f64,
        busiest_member_share: by_member.iter().max().copied().unwrap_or(0) as f64 / total.max(1) as f64,
        meets_slow_member: (!array.slow.is_empty()).then_some(met_slow / count),
        extent_bytes,
    })
}

/// Returns for each member the share of its operations that are on time, at its slowest time.
fn misses_slowness(array: &ArrayParams) -> Vec<f64> {
    let of_time = |time: &SlowMemberPeriod| {
        let slow = if time.factor > 1.0 || time.add.ns > 0 { time.share.0 } else { 0.0 };
        let stalled = time.stall.zip(time.every).map_or(0.0, |(length, every)| length.ns as f64 / every.ns as f64);
        (1.0 - slow) * (1.0 - stalled)
    };
    let of_member = |member| array.slow.iter().filter(|time| time.member == member).map(of_time).fold(1.0, f64::min);
    (0..array.members).map(of_member).collect()
}

/// Returns the number of distinct pages in ranges that may overlap. A range is its first page and its length.
fn distinct(mut runs: Vec<(u64, u64)>) -> u64 {
    runs.sort_unstable();
    let (mut pages, mut past) = (0, 0);
    for (first, length) in runs {
        let end = first + length;
        pages += end.saturating_sub(first.max(past));
        past = past.max(end);
    }
    pages
}

/// Returns the mean rate that the specification states, if it does, so that bursts have no influence.
fn exact_rate(spec: &WorkloadSpec) -> Option<f64> {
    let rate = match &spec.source {
        SourceSpec::Synthetic(synthetic) => synthetic.arrivals.mean_per_second(),
        SourceSpec::Mix(streams) => streams.iter().map(exact_rate).sum(),
        SourceSpec::Trace(_) => None,
    };
    Some(rate? * spec.transform.rate_scale)
}
