//! Makes a report of what a run measured and counted.

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;
use flashraid_model::array::{FailureProgress, Health, HostCounters, HostPortCounters, StripeCounters};
use flashraid_model::events::{DestageInterval, GcInterval};
use flashraid_model::ftl::Wear;
use flashraid_model::metrics::{Batch, CompletedRequest, IntervalPoint, Latency, Measured, ResponseTimes, Sample, TimeSums};
use flashraid_model::ssd::{DriveCounters, MemberCounters, PlacementHandles, UsagePoint};
use flashraid_workload::OpKind;

const NS_PER_DAY: f64 = 86_400e9;
/// Of the Julian calendar, as data sheets count.
const DAYS_PER_YEAR: f64 = 365.25;

/// What a report is made of.
#[derive(Debug, Clone)]
pub struct ReportInputs<'a> {
    /// The resolved configuration.
    pub config: Value,
    /// Its hash.
    pub config_hash: String,
    /// The seed.
    pub seed: u64,
    /// What was measured.
    pub measured: &'a Measured,
    /// Counts of the members over the measured time, in order.
    pub counters: &'a [MemberCounters],
    /// Wear of the members, in order.
    pub wear: &'a [Wear],
    /// How the members were used in each interval of the figures over time, in order.
    pub usage: &'a [Vec<UsagePoint>],
    /// Bytes that a member offers.
    pub member_capacity_bytes: u64,
    /// Blocks of a member.
    pub blocks_per_member: u64,
    /// Free blocks of a pool at or below which it is collected.
    pub start_free_blocks: u32,
    /// Erases that a block endures, if known.
    pub endurance_cycles: Option<u32>,
    /// Messages between controller and members, by kind.
    pub messages: BTreeMap<String, u64>,
    /// Uncoordinated cleans, with soft notification.
    pub uncoordinated_cleans: Option<flashraid_model::coordination::UncoordinatedCleans>,
    /// Policy and counts of the write cache; empty without one.
    pub cache: serde_json::Map<String, Value>,
    /// Pages that fit into the write cache; 0 without one.
    pub cache_room_pages: u64,
    /// Counts of parity, locks and rebuilding over the measured time.
    pub stripes: Option<StripeCounters>,
    /// The array has parity.
    pub has_parity: bool,
    /// Trims and flushes.
    pub host: HostCounters,
    /// What the limits of the controller have cost over the measured time.
    pub host_port: Option<HostPortCounters>,
    /// How far the failures of members and their rebuilding have come, in order of time.
    pub failures: Vec<FailureProgress>,
    /// What too many failures have taken over the measured time.
    pub lost: Lost,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// What drives with superblocks have counted, if the members are such.
    pub drive: Option<DriveInputs>,
    /// The host waits for one request before it sends another.
    pub is_closed: bool,
    /// Why the run was stopped before its end, if it was.
    pub partial_reason: Option<String>,
    /// What the workload stands for.
    pub workload_note: Option<String>,
    /// What was assumed or left out in reading traces.
    pub trace_notes: Vec<String>,
    /// What the user should know before trusting the figures.
    pub warnings: Vec<String>,
    /// Time that the run took, warm-up included, in seconds of the wall clock.
    pub wall_s: f64,
    /// Speed of the simulator.
    pub perf: Perf,
}

impl Report {
    /// Makes the report.
    #[must_use]
    pub fn build(inputs: ReportInputs) -> Self {
        let measured = inputs.measured;
        Self {
            schema: REPORT_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: inputs.seed,
            simulated_ns: measured.end_ns,
            wall_s: inputs.wall_s,
            requests: Requests {
                all: measured.response.all.moments().count(),
                read: measured.response.read.moments().count(),
                write: measured.response.write.moments().count(),
                trim: inputs.host.trims,
                flush: inputs.host.flushes,
            },
            response_us: response_times(&measured.response),
            streams: measured.response_by_stream.iter().map(|times| stream(measured, times)).collect(),
            bandwidth_mb_s: bandwidth(measured),
            flash: flash(&inputs),
            gc: gc(&inputs),
            members: (0..inputs.counters.len()).map(|index| member(&inputs, index)).collect(),
            controller: controller(&inputs),
            parity: parity(&inputs),
            failure: failure(&inputs),
            failures: inputs.failures.iter().map(|progress| failed_member(&inputs, progress)).collect(),
            lost: inputs.lost,
            drive: inputs.drive.as_ref().map(|drive| drive_report(&inputs, drive)),
            perf: inputs.perf,
            verdict: Verdict::of(&measured.course, inputs.is_closed, &measured.response.all),
            iops: iops(measured, &measured.response),
            batches: batches(&measured.batches),
            time_us: time(&measured.time),
            over_time: over_time(&inputs),
            measured_from_ns: measured.from_ns,
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

/// What drives with superblocks have counted over the measured time.
#[derive(Debug, Clone, Copy)]
pub struct DriveInputs {
    /// All of them together.
    pub counters: DriveCounters,
    /// Pages of a unit.
    pub unit_pages: u32,
    /// Dies of a drive.
    pub dies: u32,
    /// They write parity.
    pub rain: bool,
    /// Their placement handles, if there are any.
    pub placement: Option<PlacementHandles>,
    /// Superblocks of theirs hold one bit per cell.
    pub has_slc: bool,
    /// They move superblocks for their own sake.
    pub has_upkeep: bool,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Commands wait in queues until they are fetched.
    pub has_queues: bool,
    /// So many times smaller than the drives they stand for.
    pub scale: u32,
    /// In what.
    pub scale_by: ScaleBy,
}

fn drive_report(inputs: &ReportInputs, drive: &DriveInputs) -> DriveReport {
    let DriveInputs { counters: c, unit_pages, dies, rain, has_queues, scale, scale_by, .. } = *drive;
    let measured = inputs.measured;
    let dies_ns = (measured.end_ns - measured.from_ns) as f64 * f64::from(dies) * inputs.counters.len() as f64;
    let share = |ns: u64| (dies_ns > 0.0).then(|| ns as f64 / dies_ns);
    let mean_us = |sum_ns: u64, count: u64| (count > 0).then(|| us(sum_ns) / count as f64);
    DriveReport {
        scale,
        scale_by: (scale_by == ScaleBy::Width && scale > 1).then_some(scale_by),
        write_amplification: c.write_amplification(unit_pages),
        write_amplification_of_parity: c.write_amplification_of_parity(unit_pages).filter(|_| rain),
        commands: c.commands,
        fetch_waits: has_queues.then_some(c.fetch_waits),
        fetch_wait_mean_us: mean_us(c.fetch_wait_ns, c.fetch_waits),
        units_programmed: c.units_programmed,
        units_moved: c.units_moved,
        units_dropped: c.units_dropped,
        units_padded: c.units_padded,
        units_parity: c.units_parity,
        overwritten: c.overwritten,
        buffer_hits: c.buffer_hits,
        rmw_reads: c.rmw_reads,
        array_reads: c.array_reads,
        joined: c.joined,
        trimmed_in_part: c.trimmed_in_part,
        victims: c.victims,
        room_waits: c.room_waits,
        room_wait_mean_us: mean_us(c.room_wait_ns, c.room_waits),
        forced_waits: c.forced_waits,
        debt_waits: c.debt_waits,
        foreground: c.foreground,
        foreground_ms: c.foreground_ns as f64 / 1e6,
        reads_behind_collection: c.reads_behind_collection,
        reads_behind_collection_mean_us: mean_us(c.reads_behind_collection_ns, c.reads_behind_collection),
        die_time: DieTime {
            host_programs: share(c.program_ns),
            collection_programs: share(c.collection_program_ns),
            parity_programs: share(c.parity_program_ns).filter(|_| rain),
            collection_reads: share(c.collection_read_ns),
            erases: share(c.erase_ns),
        },
        placement: drive.placement.map(|placement| placement_report(drive, placement)),
        slc: drive.has_slc.then_some(SlcReport { units_programmed: c.units_slc, units_folded: c.units_folded }),
        upkeep: drive.has_upkeep.then_some(UpkeepReport { refreshed: c.refreshed, levelled: c.levelled }),
    }
}

fn placement_report(drive: &DriveInputs, placement: PlacementHandles) -> PlacementReport {
    let DriveInputs { counters, unit_pages, page_bytes, .. } = *drive;
    let pages = |pages: u64| pages * u64::from(page_bytes);
    let units = |units: u64| pages(units * u64::from(unit_pages));
    let of = counters.by_handle;
    let handle = |at: usize| HandleReport {
        host_bytes: pages(of.pages_received[at]),
        media_bytes: units(of.host_units[at] + if placement.is_persistent { of.collection_units[at] } else { 0 }),
    };
    PlacementReport {
        host_bytes: pages(counters.pages_received),
        media_bytes: units(counters.programmed_units()),
        shared_media_bytes: (!placement.is_persistent).then(|| units(of.collection_units[0])),
        handles: (0..placement.handles as usize).map(handle).collect(),
    }
}

fn iops(measured: &Measured, times: &ResponseTimes) -> Iops {
    let seconds = (measured.end_ns - measured.from_ns) as f64 / 1e9;
    let rate = |latency: &Latency| (seconds > 0.0).then(|| latency.moments().count() as f64 / seconds);
    Iops { all: rate(&times.all), read: rate(&times.read), write: rate(&times.write) }
}

fn stream(measured: &Measured, times: &ResponseTimes) -> StreamReport {
    StreamReport { iops: iops(measured, times), response_us: response_times(times) }
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

/// Cut to what a plot can show, so that series stay short to write: at most `1 / per_unit` off.
fn rounded(value: f64, per_unit: f64) -> f64 {
    (value * per_unit).round() / per_unit
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

fn response_times(times: &ResponseTimes) -> ByDirection<ResponseTime> {
    ByDirection { all: response_time(&times.all), read: response_time(&times.read), write: response_time(&times.write) }
}

fn controller(inputs: &ReportInputs) -> Option<Controller> {
    let counters = inputs.host_port?;
    let measured_ns = inputs.measured.end_ns - inputs.measured.from_ns;
    Some(Controller {
        waits: counters.waits,
        wait_mean_us: (counters.waits > 0).then(|| us(counters.wait_ns) / counters.waits as f64),
        busy_fraction: (measured_ns > 0).then(|| counters.busy_ns as f64 / measured_ns as f64),
    })
}

fn parity(inputs: &ReportInputs) -> Option<Parity> {
    let counters = inputs.stripes.filter(|_| inputs.has_parity)?;
    Some(Parity {
        full_stripe_writes: counters.full_stripe_writes,
        reconstruct_writes: counters.reconstruct_writes,
        read_modify_writes: counters.read_modify_writes,
        no_parity_writes: counters.no_parity_writes,
        data_pages_read: counters.data_pages_read,
        parity_pages_read: counters.parity_pages_read,
        parity_pages_written: counters.parity_pages_written,
        lock_waits: counters.lock_waits,
        lock_wait_mean_us: (counters.lock_waits > 0).then(|| us(counters.lock_wait_ns) / counters.lock_waits as f64),
    })
}

fn failed_member(inputs: &ReportInputs, progress: &FailureProgress) -> FailedMember {
    let ms = |ns: u64| ns as f64 / 1e6;
    // The spare's pages over the whole run, unlike those of the measured time.
    let rebuild_ns = progress.rebuild_began_ns.map(|began| progress.rebuild_ended_ns.unwrap_or(inputs.measured.end_ns) - began);
    let rebuilt_bytes = progress.strips_rebuilt as f64 * f64::from(progress.strip_pages) * f64::from(inputs.page_bytes);
    FailedMember {
        member: progress.member,
        spare: progress.spare,
        failed_ms: progress.failed_ns.map(ms),
        rebuild_began_ms: progress.rebuild_began_ns.map(ms),
        rebuild_ended_ms: progress.rebuild_ended_ns.map(ms),
        rebuilt_fraction: progress.strips_rebuilt as f64 / progress.strips as f64,
        strips_lost: progress.strips_lost,
        rebuild_mb_s: rebuild_ns.filter(|&ns| ns > 0).map(|ns| rebuilt_bytes * 1e3 / ns as f64),
    }
}

fn failure(inputs: &ReportInputs) -> Option<Failure> {
    let (first, counters) = (failed_member(inputs, inputs.failures.first()?), inputs.stripes?);
    let of = |health: Health| response_times(&inputs.measured.response_by_phase[health as usize]);
    Some(Failure {
        member: first.member,
        spare: first.spare,
        failed_ms: first.failed_ms,
        rebuild_began_ms: first.rebuild_began_ms,
        rebuild_ended_ms: first.rebuild_ended_ms,
        rebuilt_fraction: first.rebuilt_fraction,
        rebuild_pages_read: counters.rebuild_pages_read,
        rebuild_pages_written: counters.rebuild_pages_written,
        rebuild_mb_s: first.rebuild_mb_s,
        pages_reconstructed: counters.pages_reconstructed,
        pages_read_to_reconstruct: counters.pages_read_to_reconstruct,
        response_us: ByHealth {
            normal: of(Health::Normal),
            degraded: of(Health::Degraded),
            rebuilding: of(Health::Rebuilding),
            rebuilt: of(Health::Rebuilt),
        },
    })
}

/// What happened to members that failed, within the window of the timeline.
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

fn flash(inputs: &ReportInputs) -> Flash {
    let sum: MemberCounters = inputs.counters.iter().copied().sum();
    let lifetimes = (0..inputs.counters.len()).filter_map(|index| lifetime(inputs, index));
    Flash {
        host_pages_read: sum.host_pages_read,
        host_pages_written: sum.host_pages_written,
        host_pages_trimmed: sum.host_pages_trimmed,
        gc_pages_moved: sum.gc_pages_moved,
        erases: sum.erases,
        write_amplification: sum.write_amplification(),
        summary_programs: sum.summary_programs,
        wear: wear(Wear::of_all(inputs.wear)),
        lifetime: lifetimes.min_by(|a, b| a.days_worst_block.total_cmp(&b.days_worst_block)),
    }
}

fn wear(wear: Wear) -> WearReport {
    WearReport { min: wear.min, mean: wear.mean, max: wear.max, stddev: wear.stddev }
}

fn lifetime(inputs: &ReportInputs, member: usize) -> Option<Lifetime> {
    let endurance_cycles = inputs.endurance_cycles?;
    let (erases, wear) = (inputs.counters[member].erases, inputs.wear.get(member)?);
    let measured_ns = inputs.measured.end_ns - inputs.measured.from_ns;
    if erases == 0 || measured_ns == 0 || wear.max == 0 {
        return None;
    }
    // The life is that of the drive that is meant: it has so many times the capacity, and, where the load is divided like the drive, the load.
    let scale = inputs.drive.map_or(1.0, |drive| f64::from(drive.scale));
    let load = inputs.drive.map_or(1.0, |drive| if drive.scale_by == ScaleBy::Width { scale } else { 1.0 });
    let erases_endured = f64::from(endurance_cycles) * inputs.blocks_per_member as f64 * scale;
    let days_levelled = erases_endured / (erases as f64 * load) * (measured_ns as f64 / NS_PER_DAY);
    let days_worst_block = days_levelled * wear.mean / f64::from(wear.max);
    // What reaches the member, parity and copies included: that is what its data sheet counts.
    let bytes_per_day =
        inputs.counters[member].host_pages_written as f64 * f64::from(inputs.page_bytes) * load / (measured_ns as f64 / NS_PER_DAY);
    let tbw = bytes_per_day * days_worst_block / 1e12;
    let capacity = (inputs.member_capacity_bytes > 0).then_some(inputs.member_capacity_bytes as f64 * scale);
    Some(Lifetime {
        endurance_cycles,
        days_levelled,
        days_worst_block,
        years: Some(days_worst_block / DAYS_PER_YEAR),
        tbw: Some(tbw),
        dwpd: capacity.map(|capacity| bytes_per_day / capacity),
        dwpd_five_years: capacity.map(|capacity| tbw * 1e12 / capacity / (5.0 * DAYS_PER_YEAR)),
    })
}

fn gc(inputs: &ReportInputs) -> Gc {
    let sum: MemberCounters = inputs.counters.iter().copied().sum();
    let activity = &inputs.measured.gc;
    Gc {
        runs: sum.collections,
        forced_runs: sum.forced_collections,
        busy_fraction: activity.busy_fraction(),
        mean_length_us: (sum.collections > 0).then(|| us(sum.gc_time_ns) / sum.collections as f64),
        synchronised_mean: activity.synchronised_mean(),
        preemptions: sum.preemptions,
        merges: sum.merges,
        pipelined: sum.pipelined,
        messages: inputs.messages.clone(),
        uncoordinated_cleans: inputs
            .uncoordinated_cleans
            .map(|cleans| UncoordinatedCleans { during_cycles: cleans.during_cycles, unanswered: cleans.unanswered }),
        own_runs: sum.collections - sum.forced_collections,
        cleans: sum.erases,
        time_ms: sum.gc_time_ns as f64 / 1e6,
        slice_us: us(activity.slice_ns),
        slices_by_members: activity.slices_by_members.clone(),
        requests_by_members_met: inputs.measured.requests_by_members_met.clone(),
        suspensions: sum.suspensions,
        exhausted: sum.exhausted,
        exhausted_ms: sum.exhausted_ns as f64 / 1e6,
        idle_cleans: sum.idle_cleans,
        state_ms: [sum.gc_free_for_all_ns, sum.gc_writes_wait_ns, sum.gc_time_ns - sum.gc_free_for_all_ns - sum.gc_writes_wait_ns]
            .map(|ns| ns as f64 / 1e6),
    }
}

fn member(inputs: &ReportInputs, index: usize) -> Member {
    let counters = &inputs.counters[index];
    let activity = &inputs.measured.gc;
    Member {
        erases: counters.erases,
        host_pages_written: counters.host_pages_written,
        host_pages_read: counters.host_pages_read,
        gc_pages_moved: counters.gc_pages_moved,
        summary_programs: counters.summary_programs,
        write_amplification: counters.write_amplification(),
        gc_runs: counters.collections,
        gc_forced_runs: counters.forced_collections,
        gc_time_ms: counters.gc_time_ns as f64 / 1e6,
        gc_busy_fraction: activity.member_busy_fraction(index),
        gc_any_fraction: activity.member_any_fraction(index),
        wear: wear(inputs.wear.get(index).copied().unwrap_or_default()),
        lifetime: lifetime(inputs, index),
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
        // Everything a little: the parts add up to the response time.
        let time = TimeParts { flash_ns: (done_ns - arrival_ns) / 2, queue_ns: (done_ns - arrival_ns).div_ceil(2), ..TimeParts::default() };
        CompletedRequest { index, request, arrival_ns, done_ns, gc_members_met, time }
    }

    fn inputs<'a>(measured: &'a Measured, counters: &'a [MemberCounters], wear: &'a [Wear]) -> ReportInputs<'a> {
        ReportInputs {
            config: json!({"seed": 7, "array": {"level": "raid0"}}),
            config_hash: "abc".to_owned(),
            seed: 7,
            measured,
            counters,
            wear,
            usage: &[],
            member_capacity_bytes: 4_000_000,
            blocks_per_member: 1000,
            start_free_blocks: 12,
            endurance_cycles: Some(3000),
            messages: BTreeMap::from([("ForceGc".to_owned(), 2)]),
            uncoordinated_cleans: None,
            cache: serde_json::Map::new(),
            cache_room_pages: 0,
            stripes: None,
            has_parity: false,
            host: HostCounters::default(),
            host_port: None,
            failures: Vec::new(),
            lost: Lost::default(),
            page_bytes: 4096,
            drive: None,
            is_closed: false,
            partial_reason: None,
            workload_note: Some("a stand-in".to_owned()),
            trace_notes: Vec::new(),
            warnings: Vec::new(),
            wall_s: 1.5,
            perf: Perf::new(100, 200, 10, 0.5, 1.0, Some(4096)),
        }
    }

    /// Two members over 4 s: two reads, a write, one collection.
    pub(crate) fn example() -> Report {
        example_of(None)
    }

    fn example_of(drive: Option<DriveInputs>) -> Report {
        const SECOND: u64 = 1_000_000_000;
        let params = MetricsParams { timeline: Some((0, 2 * SECOND)), ..MetricsParams::default() };
        let mut metrics = Metrics::new(&params, 2, 4);
        metrics.request(&completed(0, OpKind::Read, 0, 2_000, 0));
        metrics.request(&completed(1, OpKind::Write, 0, 4_000, 1));
        metrics.request(&completed(2, OpKind::Read, 3 * SECOND, 3 * SECOND + 6_000, 2));
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
        let measured = metrics.finish(4 * SECOND);
        let collected = MemberCounters {
            host_pages_read: 488,
            host_pages_written: 244,
            gc_pages_moved: 90,
            erases: 2,
            summary_programs: 6,
            collections: 1,
            forced_collections: 1,
            gc_time_ns: 8_000_000,
            ..MemberCounters::default()
        };
        let wear = Wear { min: 1, mean: 2.0, max: 4, stddev: 0.5 };
        Report::build(ReportInputs { drive, ..inputs(&measured, &[MemberCounters::default(), collected], &[wear, wear]) })
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
        starts_with(&json["verdict"], "load steady steady_from_ns deepest_percentile");
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
        assert_eq!(report.verdict, Verdict::default(), "three requests say nothing");
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
        let gc = timeline.gc[0];
        assert_eq!((gc.member, gc.die, gc.pool), (1, 3, 2));
        assert_eq!((timeline.t_soft_free_blocks, gc.free_blocks_before, gc.free_blocks_min), (12, 12, 11));
        assert_eq!(
            [gc.start_ns, gc.writes_wait_from_ns, gc.all_wait_from_ns, gc.end_ns].map(|ns| ns / 1_000_000),
            [1000, 1001, 1002, 1008]
        );
        // 3000 cycles × 1000 blocks at 2 erases in 4 s: 6 000 000 s, and half of that for a block worn twice as much as the mean.
        let lifetime = report.flash.lifetime.unwrap();
        assert!((lifetime.days_levelled - 6e6 / 86_400.0).abs() < 1e-9 && (lifetime.days_worst_block - 3e6 / 86_400.0).abs() < 1e-9);
        // 244 pages of 4 KiB in 4 s, for 3 000 000 s; a quarter of the capacity in 4 s.
        let written = 244.0 * 4096.0;
        let near = |figure: Option<f64>, expected: f64| assert!((figure.unwrap() / expected - 1.0).abs() < 1e-9, "{figure:?} {expected}");
        near(lifetime.tbw, written / 4.0 * 3e6 / 1e12);
        near(lifetime.years, 3e6 / 86_400.0 / 365.25);
        near(lifetime.dwpd, written / 4.0 * 86_400.0 / 4e6);
        // The same capacity is written over the whole life, be it in days of this load or in five years.
        near(lifetime.dwpd_five_years, lifetime.dwpd.unwrap() * lifetime.years.unwrap() / 5.0);
    }

    /// A drive that was divided by four lives as long as the whole one: four times the capacity bears the same load for four times as long, and four times
    /// the load for as long.
    #[test]
    fn a_scaled_drive_has_the_life_of_the_drive_that_is_meant() {
        let drive = DriveInputs {
            counters: DriveCounters::default(),
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
        /// A report that was saved and read again must be written as it was, to the last digit.
        #[test]
        fn numbers_survive_being_saved(number in proptest::num::f64::NORMAL | proptest::num::f64::ZERO) {
            let report = Report { wall_s: number, ..example() };
            let read: Report = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
            proptest::prop_assert_eq!(read.wall_s.to_bits(), number.to_bits());
        }
    }

    #[test]
    fn an_empty_run_has_no_figures_but_a_report() {
        let measured = Metrics::new(&MetricsParams::default(), 1, 1).finish(0);
        let report = Report::build(inputs(&measured, &[MemberCounters::default()], &[Wear::default()]));
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
