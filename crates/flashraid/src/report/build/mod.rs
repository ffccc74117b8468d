//! Builds a report from the measurements and counts of a run.

use serde_json::Value;

use super::array::{OfController, OfFailure, OfFailures};
use super::cycles::{CREDIT_SHARE_MAX, credit_share};
use super::drives::{DrivesSource, FrontsSource};
use super::flash::{FlashSource, programmed_pages};
use super::gc::CollectionSource;
use super::members::MemberSource;
use super::verdict::Facts;
use super::*;
use flashraid_driver::ArrayCounters;
use flashraid_model::array::MemberFailureAndRebuildState;
use flashraid_model::counts::CounterTable;
use flashraid_model::events::{VictimBlockCollection, WriteCacheDestageToMember};
use flashraid_model::metrics::{
    ArrayStateSample, CompletedRequest, DirectionBatchResults, EventTimeline, IntervalResults, LatencyHistogram, MeasuredResults,
    RequestBatchResults, RequestCounts, ResponseHistogramWithCauses, ResponseTimes,
};
use flashraid_model::placement::{ArrayLayout, RequestInPages};
use flashraid_model::space::EraseCountSummary;
use flashraid_model::ssd::{
    CollectionOutlook, DieDelayMechanismCounters, DieDelayMechanisms, MemberUtilisationInInterval, PendingFlashWork as MemberOwed,
    PlacementHandles,
};
use flashraid_workload::OpKind;

/// Greatest share of the written pages that a write cache may still hold at the end of a run that is called steady.
const CACHED_SHARE_MAX: f64 = 0.1;
/// The data from which a report is built.
#[derive(Debug, Clone)]
pub struct ReportInputs<'a> {
    /// The resolved configuration, with all defaults.
    pub config: Value,
    /// Hash of the resolved configuration.
    pub config_hash: String,
    /// Seed of the run.
    pub seed: u64,
    /// Measurements of the run.
    pub measured: &'a MeasuredResults,
    /// End of the run, in nanoseconds, which is at or after the end of the measured time.
    pub simulated_ns: u64,
    /// Counters of the array and its members, such as pages written and blocks collected, for the measured time.
    pub counts: &'a ArrayCounters,
    /// Work that the host's writes left to each member at the end of the measured time: data in buffers, and collection. In order of
    /// members.
    pub unfinished_work_by_member: &'a [MemberOwed],
    /// Estimates of how much the host would have to write until each member collects. In order of members.
    pub collection_outlook_by_member: &'a [CollectionOutlook],
    /// Number of pages that the members could take, at the start of the measured time, before the host met collection.
    pub pages_taken_before_collection: u64,
    /// Number of pages that the members had to move for earlier writes, at the start of the measured time.
    pub pages_to_move_at_start: u64,
    /// Number of members without spares.
    pub members_without_spares: u32,
    /// Number of dies in a member.
    pub dies_per_member: u32,
    /// Number of mapping units in a superpage; 0 for members without superblocks.
    pub units_per_superpage: u32,
    /// Number of pages that were in the write cache at the end of the measured time.
    pub pages_in_cache_at_end: u64,
    /// Erase counts of the blocks of each member, in order of members.
    pub wear: &'a [EraseCountSummary],
    /// Use of the members in each interval of the series over time, in order of members.
    pub usage: &'a [Vec<MemberUtilisationInInterval>],
    /// Number of bytes that a simulated member exports to the array. It is less than for the real drive if the simulated one is smaller
    /// (`ssd.scale`).
    pub member_capacity_bytes: u64,
    /// Number of bytes that the simulated array exports to the host. It is less than for real drives if the simulated drives are smaller
    /// (`ssd.scale`).
    pub array_capacity_bytes: u64,
    /// Number of blocks in a member.
    pub blocks_per_member: u64,
    /// Number of free blocks at or below which garbage collection starts in a pool of blocks (of a plane or of a die).
    pub gc_start_free_blocks: u32,
    /// Number of pages in a block.
    pub pages_per_block: u32,
    /// True if the members level wear.
    pub levels_wear: bool,
    /// Number of erases that a block endures, if known.
    pub endurance_cycles: Option<u32>,
    /// Policy and counts of the write cache; empty without one.
    pub cache_report: serde_json::Map<String, Value>,
    /// Number of pages that fit into the write cache; 0 without one.
    pub cache_capacity_pages: u64,
    /// True if the array has parity.
    pub has_parity: bool,
    /// Progress of the failures of members and of their rebuilding, in order of time.
    pub failures: Vec<MemberFailureAndRebuildState>,
    /// Requests lost in the measured time because too many members failed.
    pub requests_with_lost_pages: u64,
    /// Number of pages that hosts wrote to the write cache in the measured time.
    pub host_pages_written_to_cache: u64,
    /// True if more members failed in the measured time than the RAID level of the array survives.
    pub failures_exceed_redundancy: bool,
    /// Number of bytes in a page.
    pub page_bytes: u32,
    /// Layout of addresses on the members.
    pub array_layout: ArrayLayout,
    /// Configured properties of drives with superblocks, such as the number of dies; `None` for members without superblocks. Counters
    /// are in `counts`.
    pub superblock_drive: Option<SuperblockDriveInputs>,
    /// Settings of the optional mechanisms that take time of the members' dies: background work and read retries. The report shows
    /// counters of those mechanisms that are configured.
    pub die_delay_mechanisms: DieDelayMechanisms,
    /// True if the members have no superblocks and have submission queues. The queues of drives with superblocks are described in
    /// `drive`.
    pub drives_without_superblocks_have_submission_queues: bool,
    /// Number of places of the queue depth that have had a request; `None` for an open loop. In a closed loop, the host sends a new
    /// request only after an earlier one is answered.
    pub closed_loop_places: Option<u32>,
    /// Reason why the run was stopped before its end, if it was.
    pub partial_reason: Option<String>,
    /// Note about the origin of the requests: a workload of the catalogue, or a source of the caller's own. `None` for a workload that
    /// the configuration describes.
    pub workload_note: Option<String>,
    /// Assumptions made, and parts left out, in reading traces.
    pub trace_notes: Vec<String>,
    pub measured_response_us: Option<MeasuredResponseTimes>,
    /// Warnings that the user should know before trusting the results.
    pub warnings: Vec<String>,
    /// Time that the run took, including its warm-up, in seconds of the wall clock.
    pub wall_s: f64,
    /// Speed of the simulator.
    pub simulator_speed: SimulatorSpeed,
}

impl Report {
    /// Builds the report of a run.
    #[must_use]
    pub fn build(inputs: ReportInputs) -> Self {
        let measured = inputs.measured;
        let members: Vec<Member> = (0..inputs.counts.members.len()).map(|index| Member::new(&MemberSource::new(&inputs, index))).collect();
        let (flash, lost) = (FlashCountersReport::new(&FlashSource::new(&inputs, &members)), LostPagesReport::new(&inputs));
        let cycles = Cycles::of(&inputs);
        let facts = Facts {
            trend: &measured.response_and_gc_trend_of_measured_time,
            whole_trend: &measured.response_and_gc_trend_of_whole_run,
            closed_loop_places: inputs.closed_loop_places,
            all: &measured.response_times.all,
            measured_from_ns: measured.from_ns,
            fills_cache: inputs.counts.pages_now_in_cache as f64 > CACHED_SHARE_MAX * inputs.host_pages_written_to_cache as f64,
            has_lost_data: lost.requests > 0 || inputs.failures_exceed_redundancy,
            absorbs_writes: absorbs_writes(&inputs),
            is_judged: cycles.shortfall(credit_share(&inputs)).is_none(),
            has_little_wear: flash.lifetime.is_none() && flash.implied_life.is_some(),
        };
        Self {
            schema: REPORT_SCHEMA_NAME.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: inputs.seed,
            simulated_ns: inputs.simulated_ns,
            wall_s: inputs.wall_s,
            requests: RequestCountsByKind {
                all: measured.response_times.all.moments().count(),
                read: measured.response_times.reads.moments().count(),
                write: measured.response_times.writes.moments().count(),
                trim: inputs.counts.trims_and_flushes.trims,
                flush: inputs.counts.trims_and_flushes.flushes,
            },
            response_us: TotalReadWrite {
                sync: measured.sync_times.as_deref().map(response_time),
                ..response_times(&measured.response_times)
            },
            streams: streams(measured),
            bandwidth_mb_s: bandwidth(measured),
            verdict: Verdict::of(&facts),
            flash,
            gc: Gc::new(&CollectionSource::new(&inputs)),
            cycles,
            members,
            controller: OfController::new(&inputs).as_ref().map(ControllerThrottlingReport::new),
            parity: inputs.counts.parity_and_rebuild.as_ref().filter(|_| inputs.has_parity).map(Parity::new),
            read_plan: OptionalTables::new(&inputs.counts.read_plan),
            failure: OfFailures::new(&inputs).as_ref().map(FailureReport::new),
            failures: inputs.failures.iter().map(|progress| FailedMember::new(&OfFailure::new(&inputs, progress))).collect(),
            lost,
            drive: inputs.superblock_drive.as_ref().map(|drive| SuperblockDriveReport::new(&DrivesSource::new(&inputs, drive))),
            front: (inputs.superblock_drive.is_none() && !inputs.counts.drive_front_end_counters.is_empty())
                .then(|| DriveQueuesAndBuffersReport::new(&FrontsSource::new(&inputs))),
            mechanisms: {
                let counters: DieDelayMechanismCounters = inputs.counts.die_delay_counters.iter().copied().sum();
                CounterTable::to_json(&inputs.die_delay_mechanisms.counter_tables(&counters))
            },
            perf: inputs.simulator_speed,
            iops: iops(measured, &measured.requests_done),
            capacity_bytes: inputs.array_capacity_bytes
                * inputs.superblock_drive.as_ref().map_or(1, |drive| u64::from(drive.scaled_down_by)),
            batches: batches(&measured.request_batch_results),
            time_us: time(&measured.response_time_sums_by_cause),
            because: None,
            over_time: over_time(&inputs),
            measured_from_ns: measured.from_ns,
            measured_to_ns: measured.end_ns,
            load_ns: measured.rate_divisor_ns,
            owed: owed(&inputs),
            partial: inputs.partial_reason.is_some(),
            free_blocks: free_blocks(measured),
            timeline: timeline(&inputs),
            config_hash: inputs.config_hash,
            config: inputs.config,
            cache: inputs.cache_report,
            partial_reason: inputs.partial_reason,
            workload_note: inputs.workload_note,
            trace_notes: inputs.trace_notes,
            measured_response_us: inputs.measured_response_us,
            warnings: inputs.warnings,
        }
    }
}

/// Configured properties of drives with superblocks, such as the number of dies. A report is built from these and from the counters of
/// the drives.
#[derive(Debug, Clone, Copy)]
pub struct SuperblockDriveInputs {
    /// Number of pages in a unit of the mapping (`ssd.superblock.unit`).
    pub pages_per_mapping_unit: u32,
    /// Number of dies in a drive.
    pub dies: u32,
    /// True if the drives write parity across dies (RAIN).
    pub rain: bool,
    /// Number of placement handles of a drive, and the way in which collection treats their data; `None` without handles. A placement
    /// handle is a label of a host write. Writes with different handles go to different superblocks.
    pub placement: Option<PlacementHandles>,
    /// True if some superblocks of the drives hold one bit per cell.
    pub has_slc: bool,
    /// True if the drives move superblocks to preserve data or to level wear.
    pub has_refresh_or_wear_levelling: bool,
    /// Number of bytes in a page.
    pub page_bytes: u32,
    /// True if the drives have submission queues.
    pub has_submission_queues: bool,
    /// Factor by which the simulated drives are smaller than the full-size ones.
    pub scaled_down_by: u32,
    /// Dimension in which the simulated drives are smaller than the full-size ones (`ssd.scale_by`). With `space`, each superblock has
    /// fewer superpages on each die. With `width`, all that sets the throughput is smaller: dies, channels, cores, buffer and link rate.
    pub scaled_down_dimension: ScaledDriveDimension,
}

fn iops(measured: &MeasuredResults, done: &RequestCounts) -> Iops {
    let seconds = measured.rate_divisor_ns as f64 / 1e9;
    let rate = |count: u64| (seconds > 0.0).then(|| count as f64 / seconds);
    Iops { all: rate(done.reads + done.writes), read: rate(done.reads), write: rate(done.writes) }
}

fn streams(measured: &MeasuredResults) -> Vec<MixStreamReport> {
    let streams = measured.response_times_by_stream.iter().zip(&measured.requests_done_by_stream);
    streams.map(|(times, done)| MixStreamReport { iops: iops(measured, done), response_us: response_times(times) }).collect()
}

/// Returns true if write buffers and free space took what was written, so that the run shows little of what collection costs.
///
/// Either less was written than they had room for, or more than [`CREDIT_SHARE_MAX`] of what was programmed is still to be moved. Moves
/// that were owed at the start do not count.
fn absorbs_writes(inputs: &ReportInputs) -> bool {
    let all = 0..inputs.counts.members.len();
    let written: u64 = inputs.counts.members.iter().map(|counters| counters.host_pages_written).sum();
    let due: u64 = inputs.unfinished_work_by_member.iter().map(|owed| owed.pages_to_move + owed.credit_pages).sum();
    let unpaid = due.saturating_sub(inputs.pages_to_move_at_start);
    let is_unpaid = unpaid as f64 > CREDIT_SHARE_MAX * programmed_pages(inputs, all) as f64;
    written > 0 && (written < inputs.pages_taken_before_collection || is_unpaid)
}

fn owed(inputs: &ReportInputs) -> Owed {
    let sum: MemberOwed = inputs.unfinished_work_by_member.iter().copied().sum();
    Owed {
        buffered_bytes: (sum.buffered_pages + inputs.pages_in_cache_at_end) * u64::from(inputs.page_bytes),
        moves_pages: sum.pages_to_move,
        credit_pages: sum.credit_pages,
        credit_share: credit_share(inputs),
        collection_us: us(sum.remaining_collection_die_ns),
    }
}

/// Returns the share that `ns` has in the measured time of all dies of `drives` drives.
pub(super) fn share_of_dies(inputs: &ReportInputs, drives: usize, ns: u64) -> Option<f64> {
    let dies = inputs.superblock_drive.map_or(0, |drive| drive.dies);
    let dies_ns = (inputs.measured.end_ns - inputs.measured.from_ns) as f64 * f64::from(dies) * drives as f64;
    (dies_ns > 0.0).then(|| ns as f64 / dies_ns)
}

fn batches(batches: &[RequestBatchResults]) -> RequestBatches {
    let of = |direction: fn(&RequestBatchResults) -> DirectionBatchResults| -> BatchFigures {
        let all = |figure: fn(&DirectionBatchResults) -> Option<u64>| -> Vec<f64> {
            batches.iter().map(|batch| figure(&direction(batch)).map(us)).collect::<Option<Vec<f64>>>().unwrap_or_default()
        };
        BatchFigures {
            requests: batches.iter().map(|batch| direction(batch).requests).collect(),
            mean_us: batches.iter().map(|batch| direction(batch).mean_response_ns.map(|ns| ns / 1e3)).collect(),
            p99_us: all(|batch| batch.p99_ns),
            p99_9_us: all(|batch| batch.p99_9_ns),
        }
    };
    RequestBatches { all: of(|batch| batch.all), read: of(|batch| batch.reads), write: of(|batch| batch.writes) }
}

fn time(sums: &ResponseHistogramWithCauses) -> ResponseTimeParts {
    let part = |means: Option<[f64; 7]>| {
        means.map(|means| {
            let [queue, collection, parity, cache, transfer, flash, other] = means.map(|ns| ns / 1e3);
            MeanResponseTimeByCause { queue, collection, parity, cache, transfer, flash, other }
        })
    };
    ResponseTimeParts {
        all: part(sums.mean_ns_by_cause()),
        slowest_10_percent: part(sums.mean_ns_by_cause_among_slowest(1, 10)),
        slowest_1_percent: part(sums.mean_ns_by_cause_among_slowest(1, 100)),
        slowest_0_1_percent: part(sums.mean_ns_by_cause_among_slowest(1, 1000)),
    }
}

fn over_time(inputs: &ReportInputs) -> ResultsOverTime {
    let measured = inputs.measured;
    let points = &measured.over_time.points;
    let each = |figure: &dyn Fn(&IntervalResults) -> f64| points.iter().map(|point| rounded(figure(point), 1e3)).collect();
    let maybe = |figure: &dyn Fn(&IntervalResults) -> Option<f64>, per_unit| -> Vec<Option<f64>> {
        points.iter().map(|point| figure(point).map(|value| rounded(value, per_unit))).collect()
    };
    let strips: u64 = inputs.failures.iter().map(|failure| failure.strips_of_member).sum();
    let amplification = |point: &IntervalResults| {
        let pages = point.written_bytes as f64 / f64::from(inputs.page_bytes);
        (pages > 0.0).then(|| (pages + point.pages_moved as f64) / pages)
    };
    let share = |whole: u64, part: fn(&ArrayStateSample) -> u64| -> Vec<Option<f64>> {
        match whole {
            0 => Vec::new(),
            whole => maybe(&|point| Some(part(&point.state_sample?) as f64 / whole as f64), 1e6),
        }
    };
    ResultsOverTime {
        interval_ms: measured.over_time.interval_ns as f64 / 1e6,
        from_ms: points.iter().map(|point| point.from_ns as f64 / 1e6).collect(),
        iops: each(&|point| (point.reads + point.writes) as f64 * 1e9 / point.length_ns as f64),
        mean_us: maybe(&|point| Some(point.mean_response_ns? / 1e3), 1e3),
        p50_us: maybe(&|point| point.p50_response_ns.map(us), 1e3),
        p99_us: maybe(&|point| point.p99_response_ns.map(us), 1e3),
        max_us: maybe(&|point| point.max_response_ns.map(us), 1e3),
        outstanding: each(&|point| point.mean_outstanding_requests),
        write_amplification: maybe(&amplification, 1e4),
        cache_occupancy: share(inputs.cache_capacity_pages, |sample| sample.cached_pages),
        rebuilt_fraction: share(strips, |sample| sample.strips_rebuilt),
        members: inputs.usage.iter().map(|points| member_over_time(points)).collect(),
        marks: marks(inputs, measured.from_ns..measured.end_ns.saturating_add(1)),
    }
}

fn member_over_time(points: &[MemberUtilisationInInterval]) -> MemberUtilisationOverTime {
    MemberUtilisationOverTime {
        utilisation: points.iter().map(|point| rounded(point.busy_fraction, 1e4)).collect(),
        response_us: points.iter().map(|point| point.mean_page_op_response_ns.map(|ns| rounded(ns / 1e3, 1e2))).collect(),
        queue: points.iter().map(|point| rounded(point.mean_page_ops_outstanding, 1e3)).collect(),
    }
}

/// Rounds a value to the precision that a plot can show, so that series have short texts. The error is at most `1 / per_unit`.
fn rounded(value: f64, per_unit: f64) -> f64 {
    (value * per_unit).round() / per_unit
}

pub(super) fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

pub(super) fn response_times(times: &ResponseTimes) -> TotalReadWrite<ResponseTime> {
    TotalReadWrite { all: response_time(&times.all), read: response_time(&times.reads), write: response_time(&times.writes), sync: None }
}

/// Returns the failures of members, and the begins and ends of their rebuilding, within the time `window`.
fn marks(inputs: &ReportInputs, window: std::ops::Range<u64>) -> Vec<TimelineMark> {
    let of = |progress: &MemberFailureAndRebuildState| {
        let member = progress.member;
        let moments = [
            (progress.failed_at_ns, FailureEventKind::Failed),
            (progress.rebuild_began_ns, FailureEventKind::RebuildBegan),
            (progress.rebuild_ended_ns, FailureEventKind::RebuildEnded),
        ];
        moments.into_iter().filter_map(move |(at_ns, what)| Some(TimelineMark { at_ns: at_ns?, what, member }))
    };
    let mut marks: Vec<_> = inputs.failures.iter().flat_map(of).filter(|mark| window.contains(&mark.at_ns)).collect();
    marks.sort_by_key(|mark| mark.at_ns);
    marks
}

fn response_time(latency: &LatencyHistogram) -> ResponseTime {
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
        cdf: latency.cumulative_distribution().iter().map(|point| (us(point.response_ns), rounded(point.fraction_at_most, 1e7))).collect(),
    }
}

fn bandwidth(measured: &MeasuredResults) -> HostBandwidthPerInterval {
    let summary = &measured.bandwidth;
    HostBandwidthPerInterval {
        mean: summary.mean_mb_s,
        stddev: summary.stddev_mb_s,
        cv: summary.coefficient_of_variation(),
        interval_ms: summary.interval_ns as f64 / 1e6,
        intervals: summary.whole_intervals,
        overall: summary.overall_mb_s,
        series_interval_ms: summary.series.interval_ns as f64 / 1e6,
        series: summary.series.mb_s.iter().map(|&mb_s| rounded(mb_s, 1e3)).collect(),
        z_density: summary.z_score_density.iter().map(|point| (point.centre_z_score, rounded(point.density, 1e6))).collect(),
    }
}

fn free_blocks(measured: &MeasuredResults) -> Vec<Vec<(f64, f64, f64, f64)>> {
    if measured.free_blocks.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let cut = |relative: f64| rounded(relative, 1e4);
    let points = measured.free_blocks.iter().map(|points| {
        points
            .iter()
            .map(|point| {
                (
                    point.from_ns as f64 / 1e6,
                    cut(point.pool_min_relative_to_start_threshold),
                    cut(point.pool_mean_relative_to_start_threshold),
                    cut(point.pool_max_relative_to_start_threshold),
                )
            })
            .collect()
    });
    points.collect()
}

/// Returns the slowest request that ends in the window of a timeline, and the collection for which it waited.
fn slowest(inputs: &ReportInputs, timeline: &EventTimeline) -> Option<TimelineSlowestRequest> {
    let is_within = |done: &CompletedRequest| (timeline.from_ns..timeline.to_ns).contains(&done.done_ns);
    let length_ns = |done: &CompletedRequest| done.done_ns - done.arrival_ns;
    let within = timeline.requests.iter().enumerate().filter(|(_, done)| is_within(done));
    // Of equals the first.
    let (request, done) = within.max_by_key(|(index, done)| (length_ns(done), std::cmp::Reverse(*index)))?;
    let page_bytes = u64::from(inputs.page_bytes);
    let (first, last) =
        (done.request.offset_bytes / page_bytes, (done.request.offset_bytes + done.request.length_bytes).div_ceil(page_bytes));
    let pages = RequestInPages {
        tag: 0,
        first_page: first,
        pages: (last - first) as u32,
        kind: done.request.kind,
        fua: false,
        must_not_wait_for_gc: false,
        stream: 0,
        contiguous_on_one_member: done.request.contiguous_on_one_member,
    };
    // With parity, a cache or a lost member it may have waited for any of them.
    let is_anywhere = inputs.has_parity || !inputs.cache_report.is_empty() || !inputs.failures.is_empty();
    let has_its_data = |member: u32| is_anywhere || inputs.array_layout.extents(&pages).any(|extent| extent.members().contains(&member));
    let overlap_ns = |gc: &VictimBlockCollection| gc.end_ns.min(done.done_ns).saturating_sub(gc.start_ns.max(done.arrival_ns));
    let met =
        timeline.cleans.iter().enumerate().filter(|(_, gc)| done.time.collection_ns > 0 && overlap_ns(gc) > 0 && has_its_data(gc.member));
    let met = met.max_by_key(|(index, gc)| (overlap_ns(gc), std::cmp::Reverse(*index)));
    Some(TimelineSlowestRequest { request, collection_ns: done.time.collection_ns, gc: met.map(|(index, _)| index) })
}

fn timeline(inputs: &ReportInputs) -> Option<EventTimelineReport> {
    let timeline = inputs.measured.timeline.as_ref()?;
    let request = |done: &CompletedRequest| RequestOnTimeline {
        index: done.arrival_index,
        arrival_ns: done.arrival_ns,
        done_ns: done.done_ns,
        write: done.request.kind == OpKind::Write,
        offset_bytes: done.request.offset_bytes,
        length_bytes: done.request.length_bytes,
        gc_members_met: done.gc_members_met,
    };
    let gc = |gc: &VictimBlockCollection| TimelineBlockCollection {
        member: gc.member,
        die: gc.die,
        pool: gc.pool,
        start_ns: gc.start_ns,
        writes_wait_from_ns: gc.writes_blocked_from_ns,
        all_wait_from_ns: gc.all_requests_blocked_from_ns,
        end_ns: gc.end_ns,
        free_blocks_before: gc.free_blocks_before,
        free_blocks_min: gc.pool_free_blocks_min,
        pages_moved: gc.pages_moved,
        forced: gc.is_caused_by_coordination,
    };
    let destage = |destage: &WriteCacheDestageToMember| TimelineMemberDestage {
        member: destage.member,
        own_cache: destage.from_member_cache,
        stripe: destage.stripe,
        pages: destage.pages,
        begun_ns: destage.begun_ns,
        ended_ns: destage.ended_ns,
        done_ns: destage.last_member_done_ns,
    };
    Some(EventTimelineReport {
        slowest: slowest(inputs, timeline),
        destages: timeline.destages.iter().map(destage).collect(),
        marks: marks(inputs, timeline.from_ns..timeline.to_ns),
        from_ns: timeline.from_ns,
        to_ns: timeline.to_ns,
        omitted: timeline.omitted_entries,
        t_soft_free_blocks: inputs.gc_start_free_blocks,
        requests: timeline.requests.iter().map(request).collect(),
        gc: timeline.cleans.iter().map(gc).collect(),
    })
}

#[cfg(test)]
pub(super) mod tests;
