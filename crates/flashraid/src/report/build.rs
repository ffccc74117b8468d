//! Builds a report from the measurements and counts of a run.

use serde_json::Value;

use super::array::{OfController, OfFailure, OfFailures};
use super::drives::{OfDrives, OfFronts};
use super::flash::OfFlash;
use super::gc::OfCollection;
use super::members::OfMember;
use super::verdict::Facts;
use super::*;
use flashraid_driver::Counts;
use flashraid_model::array::FailureProgress;
use flashraid_model::events::{DestageInterval, GcInterval};
use flashraid_model::metrics::{
    Batch, CompletedRequest, DoneCounts, IntervalPoint, Latency, Measured, ResponseTimes, Sample, TimeSums, Timeline,
};
use flashraid_model::placement::{Layout, PageRequest};
use flashraid_model::space::Wear;
use flashraid_model::ssd::{Figures, MechanismCounters, Mechanisms, Owed as MemberOwed, PlacementHandles, UsagePoint};
use flashraid_workload::OpKind;

/// Greatest share of the written pages that a write cache may hold at the end of a run that is called steady.
const CACHED_SHARE_MAX: f64 = 0.1;
/// Inputs from which a report is built.
#[derive(Debug, Clone)]
pub struct ReportInputs<'a> {
    /// The resolved configuration, with all defaults.
    pub config: Value,
    /// Hash of the resolved configuration.
    pub config_hash: String,
    /// Seed of the run.
    pub seed: u64,
    /// Measurements of the run.
    pub measured: &'a Measured,
    /// End of the run, in nanoseconds, which is at or after the end of the measured time.
    pub simulated_ns: u64,
    /// Counts over the measured time.
    pub counts: &'a Counts,
    /// Work that each member still had to do at its end, in order.
    pub owed: &'a [MemberOwed],
    /// Number of pages that were in the write cache then.
    pub cached_pages: u64,
    /// Wear of the members, in order.
    pub wear: &'a [Wear],
    /// Use of the members in each interval of the figures over time, in order.
    pub usage: &'a [Vec<UsagePoint>],
    /// Number of bytes that a member offers.
    pub member_capacity_bytes: u64,
    /// Number of bytes that the array offers, as it is simulated.
    pub array_capacity_bytes: u64,
    /// Number of blocks in a member.
    pub blocks_per_member: u64,
    /// Number of free blocks of a pool at or below which it is collected.
    pub start_free_blocks: u32,
    /// Number of pages in a block.
    pub pages_per_block: u32,
    /// True if the members level wear.
    pub levels_wear: bool,
    /// Number of erases that a block endures, if known.
    pub endurance_cycles: Option<u32>,
    /// Policy and counts of the write cache; empty without one.
    pub cache: serde_json::Map<String, Value>,
    /// Number of pages that fit into the write cache; 0 without one.
    pub cache_room_pages: u64,
    /// True if the array has parity.
    pub has_parity: bool,
    /// Progress of the failures of members and of their rebuilding, in order of time.
    pub failures: Vec<FailureProgress>,
    /// Requests lost in the measured time because too many members failed.
    pub requests_lost: u64,
    /// Number of pages that hosts wrote to the write cache in the measured time.
    pub pages_to_cache: u64,
    /// True if more members failed in the measured time than the level survives.
    pub too_many_failed: bool,
    /// Number of bytes in a page.
    pub page_bytes: u32,
    /// Spread of addresses over the members.
    pub layout: Layout,
    /// Facts about drives with superblocks, if the members are such.
    pub drive: Option<DriveInputs>,
    /// Mechanisms of the members.
    pub mechanisms: Mechanisms,
    /// True if commands of other members wait in queues until they are fetched.
    pub has_queues: bool,
    /// True if the host waits for one request before it sends another.
    pub is_closed: bool,
    /// Reason why the run was stopped before its end, if it was.
    pub partial_reason: Option<String>,
    /// Note about the workload.
    pub workload_note: Option<String>,
    /// Assumptions made, and parts left out, in reading traces.
    pub trace_notes: Vec<String>,
    /// Warnings that the user should know before trusting the figures.
    pub warnings: Vec<String>,
    /// Time that the run took, with its warm-up, in seconds of the wall clock.
    pub wall_s: f64,
    /// Speed of the simulator.
    pub perf: Perf,
}

impl Report {
    /// Builds the report of a run.
    #[must_use]
    pub fn build(inputs: ReportInputs) -> Self {
        let measured = inputs.measured;
        let members: Vec<Member> = (0..inputs.counts.members.len()).map(|index| Member::new(&OfMember::new(&inputs, index))).collect();
        let (flash, lost) = (Flash::new(&OfFlash::new(&inputs, &members)), Lost::new(&inputs));
        let facts = Facts {
            trend: &measured.trend,
            whole_trend: &measured.whole_trend,
            is_closed: inputs.is_closed,
            all: &measured.response.all,
            measured_from_ns: measured.from_ns,
            fills_cache: inputs.counts.cached_pages as f64 > CACHED_SHARE_MAX * inputs.pages_to_cache as f64,
            has_lost_data: lost.requests > 0 || inputs.too_many_failed,
            has_little_wear: flash.lifetime.is_none() && flash.implied_life.is_some(),
        };
        Self {
            schema: REPORT_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: inputs.seed,
            simulated_ns: inputs.simulated_ns,
            wall_s: inputs.wall_s,
            requests: Requests {
                all: measured.response.all.moments().count(),
                read: measured.response.read.moments().count(),
                write: measured.response.write.moments().count(),
                trim: inputs.counts.host.trims,
                flush: inputs.counts.host.flushes,
            },
            response_us: response_times(&measured.response),
            streams: streams(measured),
            bandwidth_mb_s: bandwidth(measured),
            verdict: Verdict::of(&facts),
            flash,
            gc: Gc::new(&OfCollection::new(&inputs)),
            members,
            controller: OfController::new(&inputs).as_ref().map(Controller::new),
            parity: inputs.counts.stripes.as_ref().filter(|_| inputs.has_parity).map(Parity::new),
            failure: OfFailures::new(&inputs).as_ref().map(Failure::new),
            failures: inputs.failures.iter().map(|progress| FailedMember::new(&OfFailure::new(&inputs, progress))).collect(),
            lost,
            drive: inputs.drive.as_ref().map(|drive| DriveReport::new(&OfDrives::new(&inputs, drive))),
            front: (inputs.drive.is_none() && !inputs.counts.fronts.is_empty()).then(|| FrontReport::new(&OfFronts::new(&inputs))),
            mechanisms: {
                let counters: MechanismCounters = inputs.counts.mechanisms.iter().copied().sum();
                Figures::to_json(&inputs.mechanisms.figures(&counters))
            },
            perf: inputs.perf,
            iops: iops(measured, &measured.done),
            capacity_bytes: inputs.array_capacity_bytes * inputs.drive.as_ref().map_or(1, |drive| u64::from(drive.scale)),
            batches: batches(&measured.batches),
            time_us: time(&measured.time),
            over_time: over_time(&inputs),
            measured_from_ns: measured.from_ns,
            measured_to_ns: measured.end_ns,
            load_ns: measured.load_ns,
            owed: owed(&inputs),
            partial: inputs.partial_reason.is_some(),
            free_blocks: free_blocks(measured),
            timeline: timeline(&inputs),
            config_hash: inputs.config_hash,
            config: inputs.config,
            cache: inputs.cache,
            partial_reason: inputs.partial_reason,
            workload_note: inputs.workload_note,
            trace_notes: inputs.trace_notes,
            warnings: inputs.warnings,
        }
    }
}

/// Facts about drives with superblocks, apart from their counts.
#[derive(Debug, Clone, Copy)]
pub struct DriveInputs {
    /// Number of pages in a unit.
    pub unit_pages: u32,
    /// Number of dies in a drive.
    pub dies: u32,
    /// True if they write parity.
    pub rain: bool,
    /// Placement handles of the drives, if there are any.
    pub placement: Option<PlacementHandles>,
    /// True if some of their superblocks hold one bit per cell.
    pub has_slc: bool,
    /// True if they move superblocks for upkeep.
    pub has_upkeep: bool,
    /// Number of bytes in a page.
    pub page_bytes: u32,
    /// True if commands wait in queues until they are fetched.
    pub has_queues: bool,
    /// Factor by which they are smaller than the full-size drives.
    pub scale: u32,
    /// Dimension in which they are smaller.
    pub scale_by: ScaleBy,
}

fn iops(measured: &Measured, done: &DoneCounts) -> Iops {
    let seconds = measured.load_ns as f64 / 1e9;
    let rate = |count: u64| (seconds > 0.0).then(|| count as f64 / seconds);
    Iops { all: rate(done.reads + done.writes), read: rate(done.reads), write: rate(done.writes) }
}

fn streams(measured: &Measured) -> Vec<StreamReport> {
    let streams = measured.response_by_stream.iter().zip(&measured.done_by_stream);
    streams.map(|(times, done)| StreamReport { iops: iops(measured, done), response_us: response_times(times) }).collect()
}

fn owed(inputs: &ReportInputs) -> Owed {
    let sum: MemberOwed = inputs.owed.iter().copied().sum();
    Owed {
        buffered_bytes: (sum.buffered_pages + inputs.cached_pages) * u64::from(inputs.page_bytes),
        moves_pages: sum.moves_pages,
        collection_us: us(sum.collection_ns),
    }
}

/// Returns the share that `ns` has in the measured time of the dies of `drives` drives.
pub(super) fn share_of_dies(inputs: &ReportInputs, drives: usize, ns: u64) -> Option<f64> {
    let dies = inputs.drive.map_or(0, |drive| drive.dies);
    let dies_ns = (inputs.measured.end_ns - inputs.measured.from_ns) as f64 * f64::from(dies) * drives as f64;
    (dies_ns > 0.0).then(|| ns as f64 / dies_ns)
}

fn batches(batches: &[Batch]) -> Batches {
    let all = |figure: fn(&Batch) -> Option<u64>| -> Vec<f64> {
        batches.iter().map(|batch| figure(batch).map(us)).collect::<Option<Vec<f64>>>().unwrap_or_default()
    };
    Batches {
        requests: batches.iter().map(|batch| batch.requests).collect(),
        mean_us: batches.iter().map(|batch| batch.mean_ns.map(|ns| ns / 1e3)).collect(),
        p99_us: all(|batch| batch.p99_ns),
        p99_9_us: all(|batch| batch.p99_9_ns),
    }
}

fn time(sums: &TimeSums) -> TimeByShare {
    let part = |means: Option<[f64; 7]>| {
        means.map(|means| {
            let [queue, collection, parity, cache, transfer, flash, other] = means.map(|ns| ns / 1e3);
            TimeSpent { queue, collection, parity, cache, transfer, flash, other }
        })
    };
    TimeByShare {
        all: part(sums.mean_ns()),
        slowest_10_percent: part(sums.slowest_mean_ns(1, 10)),
        slowest_1_percent: part(sums.slowest_mean_ns(1, 100)),
        slowest_0_1_percent: part(sums.slowest_mean_ns(1, 1000)),
    }
}

fn over_time(inputs: &ReportInputs) -> OverTime {
    let measured = inputs.measured;
    let points = &measured.over_time.points;
    let each = |figure: &dyn Fn(&IntervalPoint) -> f64| points.iter().map(|point| rounded(figure(point), 1e3)).collect();
    let maybe = |figure: &dyn Fn(&IntervalPoint) -> Option<f64>, per_unit| -> Vec<Option<f64>> {
        points.iter().map(|point| figure(point).map(|value| rounded(value, per_unit))).collect()
    };
    let strips: u64 = inputs.failures.iter().map(|failure| failure.strips).sum();
    let amplification = |point: &IntervalPoint| {
        let pages = point.written_bytes as f64 / f64::from(inputs.page_bytes);
        (pages > 0.0).then(|| (pages + point.pages_moved as f64) / pages)
    };
    let share = |whole: u64, part: fn(&Sample) -> u64| -> Vec<Option<f64>> {
        match whole {
            0 => Vec::new(),
            whole => maybe(&|point| Some(part(&point.sample?) as f64 / whole as f64), 1e6),
        }
    };
    OverTime {
        interval_ms: measured.over_time.interval_ns as f64 / 1e6,
        from_ms: points.iter().map(|point| point.from_ns as f64 / 1e6).collect(),
        iops: each(&|point| (point.reads + point.writes) as f64 * 1e9 / point.length_ns as f64),
        mean_us: maybe(&|point| Some(point.mean_ns? / 1e3), 1e3),
        p50_us: maybe(&|point| point.p50_ns.map(us), 1e3),
        p99_us: maybe(&|point| point.p99_ns.map(us), 1e3),
        max_us: maybe(&|point| point.max_ns.map(us), 1e3),
        outstanding: each(&|point| point.outstanding),
        write_amplification: maybe(&amplification, 1e4),
        cache_occupancy: share(inputs.cache_room_pages, |sample| sample.cached_pages),
        rebuilt_fraction: share(strips, |sample| sample.strips_rebuilt),
        members: inputs.usage.iter().map(|points| member_over_time(points)).collect(),
        marks: marks(inputs, measured.from_ns..measured.end_ns.saturating_add(1)),
    }
}

fn member_over_time(points: &[UsagePoint]) -> MemberOverTime {
    MemberOverTime {
        utilisation: points.iter().map(|point| rounded(point.utilisation, 1e4)).collect(),
        response_us: points.iter().map(|point| point.response_ns.map(|ns| rounded(ns / 1e3, 1e2))).collect(),
        queue: points.iter().map(|point| rounded(point.operations, 1e3)).collect(),
    }
}

/// Rounds a value to what a plot can show, so that series have short texts. It is at most `1 / per_unit` off.
fn rounded(value: f64, per_unit: f64) -> f64 {
    (value * per_unit).round() / per_unit
}

pub(super) fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

pub(super) fn response_times(times: &ResponseTimes) -> ByDirection<ResponseTime> {
    ByDirection { all: response_time(&times.all), read: response_time(&times.read), write: response_time(&times.write) }
}

/// Returns the moments of members that failed, within the window of the timeline.
fn marks(inputs: &ReportInputs, window: std::ops::Range<u64>) -> Vec<TimelineMark> {
    let of = |progress: &FailureProgress| {
        let member = progress.member;
        let moments = [
            (progress.failed_ns, Happened::Failed),
            (progress.rebuild_began_ns, Happened::RebuildBegan),
            (progress.rebuild_ended_ns, Happened::RebuildEnded),
        ];
        moments.into_iter().filter_map(move |(at_ns, what)| Some(TimelineMark { at_ns: at_ns?, what, member }))
    };
    let mut marks: Vec<_> = inputs.failures.iter().flat_map(of).filter(|mark| window.contains(&mark.at_ns)).collect();
    marks.sort_by_key(|mark| mark.at_ns);
    marks
}

fn response_time(latency: &Latency) -> ResponseTime {
    let moments = latency.moments();
    let quantile = |quantile| latency.quantile_ns(quantile).map(us);
    ResponseTime {
        count: moments.count(),
        mean: moments.mean().map(|ns| ns / 1e3),
        stddev: moments.stddev().map(|ns| ns / 1e3),
        min: moments.min().map(us),
        max: moments.max().map(us),
        p50: quantile(0.5),
        p90: quantile(0.9),
        p95: quantile(0.95),
        p99: quantile(0.99),
        p99_9: quantile(0.999),
        p99_99: quantile(0.9999),
        variance: moments.variance().map(|ns2| ns2 / 1e6),
        cdf: latency.cdf().iter().map(|point| (us(point.response_ns), rounded(point.fraction, 1e7))).collect(),
    }
}

fn bandwidth(measured: &Measured) -> Bandwidth {
    let summary = &measured.bandwidth;
    Bandwidth {
        mean: summary.mean,
        stddev: summary.stddev,
        cv: summary.cv(),
        interval_ms: summary.interval_ns as f64 / 1e6,
        intervals: summary.whole_intervals,
        overall: summary.overall,
        series_interval_ms: summary.series.interval_ns as f64 / 1e6,
        series: summary.series.mb_s.iter().map(|&mb_s| rounded(mb_s, 1e3)).collect(),
        z_density: summary.z_density.iter().map(|point| (point.z, rounded(point.density, 1e6))).collect(),
    }
}

fn free_blocks(measured: &Measured) -> Vec<Vec<(f64, f64, f64, f64)>> {
    if measured.free_blocks.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let cut = |relative: f64| rounded(relative, 1e4);
    let points = measured
        .free_blocks
        .iter()
        .map(|points| points.iter().map(|point| (point.from_ns as f64 / 1e6, cut(point.min), cut(point.mean), cut(point.max))).collect());
    points.collect()
}

/// Returns the slowest request that is done in the window of a timeline, with the collection that it met.
fn slowest(inputs: &ReportInputs, timeline: &Timeline) -> Option<TimelineSlowest> {
    let is_within = |done: &CompletedRequest| (timeline.from_ns..timeline.to_ns).contains(&done.done_ns);
    let length_ns = |done: &CompletedRequest| done.done_ns - done.arrival_ns;
    let within = timeline.requests.iter().enumerate().filter(|(_, done)| is_within(done));
    // Of equals the first.
    let (request, done) = within.max_by_key(|(index, done)| (length_ns(done), std::cmp::Reverse(*index)))?;
    let page_bytes = u64::from(inputs.page_bytes);
    let (first, last) =
        (done.request.offset_bytes / page_bytes, (done.request.offset_bytes + done.request.length_bytes).div_ceil(page_bytes));
    let pages = PageRequest {
        tag: 0,
        first_page: first,
        pages: (last - first) as u32,
        kind: done.request.kind,
        fua: false,
        high_priority: false,
        stream: 0,
        one_member: done.request.one_member,
    };
    // With parity, a cache or a lost member it may have waited for any of them.
    let is_anywhere = inputs.has_parity || !inputs.cache.is_empty() || !inputs.failures.is_empty();
    let has_its_data = |member: u32| is_anywhere || inputs.layout.extents(&pages).any(|extent| extent.members().contains(&member));
    let overlap_ns = |gc: &GcInterval| gc.end_ns.min(done.done_ns).saturating_sub(gc.start_ns.max(done.arrival_ns));
    let met = timeline.gc.iter().enumerate().filter(|(_, gc)| done.time.collection_ns > 0 && overlap_ns(gc) > 0 && has_its_data(gc.member));
    let met = met.max_by_key(|(index, gc)| (overlap_ns(gc), std::cmp::Reverse(*index)));
    Some(TimelineSlowest { request, collection_ns: done.time.collection_ns, gc: met.map(|(index, _)| index) })
}

fn timeline(inputs: &ReportInputs) -> Option<TimelineReport> {
    let timeline = inputs.measured.timeline.as_ref()?;
    let request = |done: &CompletedRequest| TimelineRequest {
        index: done.index,
        arrival_ns: done.arrival_ns,
        done_ns: done.done_ns,
        write: done.request.kind == OpKind::Write,
        offset_bytes: done.request.offset_bytes,
        length_bytes: done.request.length_bytes,
        gc_members_met: done.gc_members_met,
    };
    let gc = |gc: &GcInterval| TimelineGc {
        member: gc.member,
        die: gc.die,
        pool: gc.pool,
        start_ns: gc.start_ns,
        writes_wait_from_ns: gc.writes_wait_from_ns,
        all_wait_from_ns: gc.all_wait_from_ns,
        end_ns: gc.end_ns,
        free_blocks_before: gc.free_blocks_before,
        free_blocks_min: gc.free_blocks_min,
        pages_moved: gc.pages_moved,
        forced: gc.forced,
    };
    let destage = |destage: &DestageInterval| TimelineDestage {
        member: destage.member,
        own_cache: destage.own_cache,
        stripe: destage.stripe,
        pages: destage.pages,
        begun_ns: destage.begun_ns,
        ended_ns: destage.ended_ns,
        done_ns: destage.done_ns,
    };
    Some(TimelineReport {
        slowest: slowest(inputs, timeline),
        destages: timeline.destages.iter().map(destage).collect(),
        marks: marks(inputs, timeline.from_ns..timeline.to_ns),
        from_ns: timeline.from_ns,
        to_ns: timeline.to_ns,
        omitted: timeline.omitted,
        t_soft_free_blocks: inputs.start_free_blocks,
        requests: timeline.requests.iter().map(request).collect(),
        gc: timeline.gc.iter().map(gc).collect(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;
    use flashraid_model::events::TimeParts;
    use flashraid_model::metrics::{Metrics, MetricsParams};
    use flashraid_model::placement::Level;
    use flashraid_model::ssd::MemberCounters;
    use flashraid_workload::Request;

    fn completed(index: u64, direction: OpKind, arrival_ns: u64, done_ns: u64, gc_members_met: u32) -> CompletedRequest {
        let request = Request {
            arrival_ns,
            offset_bytes: 0,
            length_bytes: 1_000_000,
            kind: direction,
            fua: false,
            zeroes: false,
            high_priority: false,
            stream: 0,
            one_member: false,
        };
        // Each part gets a little, and the parts add up to the response time.
        let time = TimeParts { flash_ns: (done_ns - arrival_ns) / 2, queue_ns: (done_ns - arrival_ns).div_ceil(2), ..TimeParts::default() };
        CompletedRequest { index, request, arrival_ns, done_ns, gc_members_met, time }
    }

    fn inputs<'a>(measured: &'a Measured, counts: &'a Counts, wear: &'a [Wear]) -> ReportInputs<'a> {
        ReportInputs {
            config: json!({"seed": 7, "array": {"level": "raid0"}}),
            config_hash: "abc".to_owned(),
            seed: 7,
            measured,
            simulated_ns: measured.end_ns,
            counts,
            owed: &[],
            cached_pages: 0,
            wear,
            usage: &[],
            member_capacity_bytes: 4_000_000,
            array_capacity_bytes: 8_000_000,
            blocks_per_member: 1000,
            start_free_blocks: 12,
            pages_per_block: 64,
            levels_wear: false,
            endurance_cycles: Some(3000),
            cache: serde_json::Map::new(),
            cache_room_pages: 0,
            has_parity: false,
            pages_to_cache: 0,
            too_many_failed: false,
            failures: Vec::new(),
            requests_lost: 0,
            page_bytes: 4096,
            layout: Layout::new(Level::Raid0, 2, 1, 1 << 20),
            drive: None,
            mechanisms: Mechanisms::default(),
            has_queues: false,
            is_closed: false,
            partial_reason: None,
            workload_note: Some("a stand-in".to_owned()),
            trace_notes: Vec::new(),
            warnings: Vec::new(),
            wall_s: 1.5,
            perf: Perf::new(100, 200, 10, 0.5, 1.0, Some(4096)),
        }
    }

    /// Returns a report on two members over 4 s: two reads, a write, one collection.
    pub(crate) fn example() -> Report {
        example_of(None)
    }

    fn example_of(drive: Option<DriveInputs>) -> Report {
        example_with(|inputs| inputs.drive = drive)
    }

    fn example_with(change: impl FnOnce(&mut ReportInputs)) -> Report {
        const SECOND: u64 = 1_000_000_000;
        let params = MetricsParams { timeline: Some((0, 2 * SECOND)), ..MetricsParams::default() };
        let mut metrics = Metrics::new(&params, 2, 4);
        metrics.record_request(&completed(0, OpKind::Read, 0, 2_000, 0));
        metrics.record_request(&completed(1, OpKind::Write, 0, 4_000, 1));
        metrics.record_request(&completed(2, OpKind::Read, 3 * SECOND, 3 * SECOND + 6_000, 2));
        metrics.gc(&GcInterval {
            pool: 2,
            free_blocks_before: 12,
            free_blocks_min: 11,
            writes_wait_from_ns: SECOND + 1_000_000,
            all_wait_from_ns: SECOND + 2_000_000,
            member: 1,
            die: 3,
            start_ns: SECOND,
            end_ns: SECOND + 8_000_000,
            pages_moved: 90,
            forced: true,
        });
        metrics.free_blocks(1, SECOND + 8_000_000, 24, 12);
        let measured = metrics.finish(4 * SECOND, 4 * SECOND);
        let collected = MemberCounters {
            host_pages_read: 488,
            host_pages_written: 244,
            gc_pages_moved: 90,
            erases: 20_000,
            summary_programs: 6,
            collections: 1,
            forced_collections: 1,
            gc_time_ns: 8_000_000,
            ..MemberCounters::default()
        };
        let wear = Wear { min: 1, mean: 2.0, max: 4, stddev: 0.5 };
        let wear = [wear, wear];
        let counts = |drives| Counts::of_members([MemberCounters::default(), collected], drives);
        let (of_dies, of_drives) = (counts(0), counts(2));
        let mut inputs = inputs(&measured, &of_dies, &wear);
        change(&mut inputs);
        let counts = if inputs.drive.is_some() { &of_drives } else { &of_dies };
        Report::build(ReportInputs { counts, ..inputs })
    }

    #[test]
    fn keys_and_their_order_are_those_of_the_contract() {
        let json = serde_json::to_value(example()).unwrap();
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let starts_with = |value: &Value, expected: &str| {
            let keys = keys(value);
            let expected: Vec<_> = expected.split_whitespace().collect();
            assert_eq!(keys[..expected.len()], expected);
        };
        starts_with(
            &json,
            "schema version seed config_hash config simulated_ns wall_s requests response_us bandwidth_mb_s flash gc cache members perf",
        );
        starts_with(&json["verdict"], "load steady steady_from_ns deepest_percentile marks");
        starts_with(&json["iops"], "all read write");
        starts_with(&json["time_us"], "all slowest_10_percent slowest_1_percent slowest_0_1_percent");
        starts_with(&json["time_us"]["all"], "queue collection parity cache transfer flash other");
        starts_with(&json["lost"], "requests pages");
        assert!(json["warnings"].is_array());
        starts_with(&json["requests"], "all read write");
        starts_with(&json["response_us"], "all read write");
        starts_with(&json["response_us"]["all"], "count mean stddev min max p50 p90 p95 p99 p99_9 p99_99");
        starts_with(&json["bandwidth_mb_s"], "mean stddev cv interval_ms");
        starts_with(&json["flash"], "host_pages_read host_pages_written gc_pages_moved erases write_amplification");
        starts_with(&json["gc"], "runs forced_runs busy_fraction mean_length_us synchronised_mean preemptions merges pipelined messages");
        starts_with(&json["members"][0], "erases host_pages_written");
        starts_with(&json["perf"], "host_page_ops flash_page_ops host_page_ops_per_s warm_up_s peak_rss_bytes");
    }

    #[test]
    fn figures_are_those_measured() {
        let report = example();
        assert_eq!(report.requests, Requests { all: 3, read: 2, write: 1, trim: 0, flush: 0 });
        assert_eq!(
            (report.response_us.all.mean, report.response_us.read.mean, report.response_us.write.p50),
            (Some(4.0), Some(4.0), Some(4.0))
        );
        assert_eq!((report.iops.all, report.iops.write), (Some(0.75), Some(0.25)));
        let marks = vec![Mark::NotSteady, Mark::FewSamples];
        assert_eq!(report.verdict, Verdict { marks, ..Verdict::default() }, "three requests say nothing");
        let (all, slowest) = (report.time_us.all.unwrap(), report.time_us.slowest_1_percent.unwrap());
        assert_eq!((all.queue, all.flash, all.total(), slowest.total()), (2.0, 2.0, 4.0, 6.0));
        let over_time = &report.over_time;
        assert_eq!(
            (over_time.from_ms.first(), over_time.p99_us.first(), over_time.max_us.last()),
            (Some(&0.0), Some(&Some(4.0)), Some(&Some(6.0)))
        );
        let done: f64 = over_time
            .iops
            .iter()
            .zip(&over_time.from_ms)
            .map(|(iops, from_ms)| iops * over_time.interval_ms.min(4000.0 - from_ms) / 1e3)
            .sum();
        assert!((done - 3.0).abs() < 0.01, "{over_time:?}");
        assert_eq!(report.response_us.all.cdf.last(), Some(&(6.0, 1.0)));
        assert_eq!((report.bandwidth_mb_s.mean, report.bandwidth_mb_s.series.as_slice()), (Some(0.75), [2.0, 0.0, 0.0, 1.0].as_slice()));
        assert_eq!(report.flash.write_amplification, Some(334.0 / 244.0));
        assert_eq!((report.gc.mean_length_us, report.gc.busy_fraction), (Some(8_000.0), Some(0.00025)));
        assert_eq!((report.gc.own_runs, report.gc.synchronised_mean), (0, Some(1.0)));
        assert_eq!(report.gc.slices_by_members, [39_920, 80, 0]);
        assert_eq!(report.gc.requests_by_members_met, [1, 1, 1]);
        assert_eq!(report.members[0].write_amplification, None);
        assert_eq!((report.members[1].gc_busy_fraction, report.members[1].gc_any_fraction), (Some(0.0005), Some(0.002)));
        assert_eq!(report.free_blocks, [vec![], vec![(1008.0, 2.0, 2.0, 2.0)]]);
        let timeline = report.timeline.unwrap();
        assert_eq!((timeline.requests.len(), timeline.gc.len(), timeline.omitted), (2, 1, 0));
        let slowest = timeline.slowest.unwrap();
        assert_eq!((slowest.request, slowest.gc), (1, None), "it ended long before the collection");
        let gc = timeline.gc[0];
        assert_eq!((gc.member, gc.die, gc.pool), (1, 3, 2));
        assert_eq!((timeline.t_soft_free_blocks, gc.free_blocks_before, gc.free_blocks_min), (12, 12, 11));
        assert_eq!(
            [gc.start_ns, gc.writes_wait_from_ns, gc.all_wait_from_ns, gc.end_ns].map(|ns| ns / 1_000_000),
            [1000, 1001, 1002, 1008]
        );
        // A block lasts 3000 cycles × 1000 blocks at 20 000 erases in 4 s: 600 s. A block worn twice as much as the mean lasts half of
        // that.
        let lifetime = report.flash.lifetime.unwrap();
        assert!((lifetime.days_levelled - 600.0 / 86_400.0).abs() < 1e-9 && (lifetime.days_worst_block - 300.0 / 86_400.0).abs() < 1e-9);
        // In 4 s, 244 pages of 4 KiB are written, a quarter of the capacity, for 300 s.
        let written = 244.0 * 4096.0;
        let near = |figure: Option<f64>, expected: f64| assert!((figure.unwrap() / expected - 1.0).abs() < 1e-9, "{figure:?} {expected}");
        near(lifetime.tbw, written / 4.0 * 300.0 / 1e12);
        near(lifetime.years, 300.0 / 86_400.0 / 365.25);
        near(lifetime.dwpd, written / 4.0 * 86_400.0 / 4e6);
        // The same capacity is written over the whole life, in days of this load or in five years.
        near(lifetime.dwpd_five_years, lifetime.dwpd.unwrap() * lifetime.years.unwrap() / 5.0);
        // All pages are programmed 3000 times, and 334 are programmed for 244 that are sent.
        let implied = report.flash.implied_life.unwrap();
        let endured = 3000.0 * 1000.0 * 64.0 * 4096.0 * 244.0 / 334.0;
        near(Some(implied.tbw), endured / 1e12);
        near(implied.days, endured / (written / 4.0) / 86_400.0);
        near(Some(implied.dwpd_five_years), endured / 4e6 / 5.0 / 365.25);
        assert!(report.members[0].lifetime.is_none() && report.members[0].implied_life.is_none(), "nothing was written to it");
        assert!(!report.verdict.has(Mark::LittleWear));
    }

    #[test]
    fn a_life_of_levelled_wear_is_that_of_the_mean_block() {
        let life = |levels_wear| example_with(|inputs| inputs.levels_wear = levels_wear).flash.lifetime.unwrap();
        let (worst, levelled) = (life(false), life(true));
        assert_eq!((worst.days_levelled, worst.days_worst_block), (levelled.days_levelled, levelled.days_worst_block));
        assert_eq!((levelled.years.unwrap() / worst.years.unwrap(), levelled.tbw.unwrap() / worst.tbw.unwrap()), (2.0, 2.0));
    }

    #[test]
    fn little_wear_is_no_life() {
        let report = example_with(|inputs| inputs.blocks_per_member = 1001);
        assert!(report.flash.lifetime.is_none() && report.flash.implied_life.is_some(), "19.98 erases a block");
        assert!(report.verdict.has(Mark::LittleWear));
    }

    /// Data in the buffers of drives, and owed moves, will be programmed later. Data in a write cache have not been sent to a member.
    #[test]
    fn write_amplification_at_most_counts_what_is_owed() {
        const NOTHING: MemberOwed = MemberOwed { buffered_pages: 0, moves_pages: 0, collection_ns: 0 };
        const OWED: [MemberOwed; 2] = [MemberOwed { buffered_pages: 10, moves_pages: 100, collection_ns: 1_500_000 }, NOTHING];
        let report = example_with(|inputs| (inputs.owed, inputs.cached_pages) = (&OWED, 7));
        assert_eq!((report.flash.write_amplification, report.flash.write_amplification_max), (Some(334.0 / 244.0), Some(444.0 / 254.0)));
        assert_eq!(report.owed, Owed { buffered_bytes: 17 * 4096, moves_pages: 100, collection_us: 1500.0 });
    }

    #[test]
    fn lost_data_are_a_verdict_of_their_own() {
        let lost = example_with(|inputs| inputs.requests_lost = 1);
        let failed = example_with(|inputs| inputs.too_many_failed = true);
        for report in [lost, failed] {
            assert!(report.verdict.load == Load::DataLost && report.verdict.has(Mark::DataLost));
            assert_eq!(serde_json::to_value(&report.verdict).unwrap()["load"], "data lost");
        }
        assert!(!example().verdict.has(Mark::DataLost));
    }

    /// A drive that was divided by four lives as long as the whole one. Four times the capacity bears the same load for four times as long,
    /// and four times the load for the same time.
    #[test]
    fn a_scaled_drive_has_the_life_of_the_drive_that_is_meant() {
        let drive = DriveInputs {
            unit_pages: 1,
            dies: 4,
            rain: false,
            placement: None,
            has_slc: false,
            has_upkeep: false,
            page_bytes: 4096,
            has_queues: false,
            scale: 4,
            scale_by: ScaleBy::Space,
        };
        let life = |drive| example_of(drive).flash.lifetime.unwrap();
        let ratios = |drive| {
            let (own, whole) = (life(Some(drive)), life(None));
            let of = |figure: fn(&Lifetime) -> f64| figure(&own) / figure(&whole);
            [
                of(|life| life.days_levelled),
                of(|life| life.years.unwrap()),
                of(|life| life.tbw.unwrap()),
                of(|life| life.dwpd.unwrap()),
                of(|life| life.dwpd_five_years.unwrap()),
            ]
            .map(|ratio| (ratio * 1e6).round() / 1e6)
        };
        assert_eq!(ratios(drive), [4.0, 4.0, 4.0, 0.25, 1.0]);
        assert_eq!(ratios(DriveInputs { scale_by: ScaleBy::Width, ..drive }), [1.0, 1.0, 4.0, 1.0, 1.0]);
    }

    #[test]
    fn json_reads_back_as_the_same_report() {
        let report = example();
        let text = serde_json::to_string_pretty(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }

    proptest::proptest! {
        /// A report that was saved and read again must be written exactly as it was.
        #[test]
        fn numbers_survive_being_saved(number in proptest::num::f64::NORMAL | proptest::num::f64::ZERO) {
            let report = Report { wall_s: number, ..example() };
            let read: Report = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
            proptest::prop_assert_eq!(read.wall_s.to_bits(), number.to_bits());
        }
    }

    #[test]
    fn an_empty_run_has_no_figures_but_a_report() {
        let measured = Metrics::new(&MetricsParams::default(), 1, 1).finish(0, 0);
        let report = Report::build(inputs(&measured, &Counts::of_members([MemberCounters::default()], 0), &[Wear::default()]));
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
        assert_eq!((report.response_us.all.mean, report.bandwidth_mb_s.cv, report.flash.write_amplification), (None, None, None));
        assert_eq!((report.gc.busy_fraction, report.gc.synchronised_mean, report.flash.lifetime), (None, None, None));
        assert_eq!(report.time_us, TimeByShare::default());
        assert!(report.over_time.from_ms.is_empty());
    }

    #[test]
    fn without_the_wall_clock_only_counts_remain() {
        let report = example();
        let slower = Report { wall_s: 99.0, perf: Perf::new(100, 200, 10, 9.0, 8.0, None), ..report.clone() };
        assert_ne!(slower, report);
        assert_eq!(slower.without_wall_clock(), report.without_wall_clock());
        let other = Report { perf: Perf::new(101, 200, 10, 0.5, 1.0, None), ..report.clone() };
        assert_ne!(other.without_wall_clock(), report.without_wall_clock());
    }
}
