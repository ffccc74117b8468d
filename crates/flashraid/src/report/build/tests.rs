use serde_json::json;

use super::*;
use flashraid_model::events::OperationTimeParts;
use flashraid_model::metrics::{MetricsParams, MetricsRecorder};
use flashraid_model::placement::RaidLevel;
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
        contiguous_on_one_member: false,
    };
    // Each part gets a little, and the parts add up to the response time.
    let time = OperationTimeParts {
        flash_ns: (done_ns - arrival_ns) / 2,
        queue_ns: (done_ns - arrival_ns).div_ceil(2),
        ..OperationTimeParts::default()
    };
    CompletedRequest { arrival_index: index, request, arrival_ns, done_ns, gc_members_met, time }
}

fn inputs<'a>(measured: &'a MeasuredResults, counts: &'a ArrayCounters, wear: &'a [EraseCountSummary]) -> ReportInputs<'a> {
    ReportInputs {
        config: json!({"seed": 7, "array": {"level": "raid0"}}),
        config_hash: "abc".to_owned(),
        seed: 7,
        measured,
        simulated_ns: measured.end_ns,
        counts,
        unfinished_work_by_member: &[],
        collection_outlook_by_member: &[],
        pages_taken_before_collection: 0,
        pages_to_move_at_start: 0,
        members_without_spares: 2,
        dies_per_member: 4,
        units_per_superpage: 0,
        pages_in_cache_at_end: 0,
        wear,
        usage: &[],
        member_capacity_bytes: 4_000_000,
        array_capacity_bytes: 8_000_000,
        blocks_per_member: 1000,
        gc_start_free_blocks: 12,
        pages_per_block: 64,
        levels_wear: false,
        endurance_cycles: Some(3000),
        cache_report: serde_json::Map::new(),
        cache_capacity_pages: 0,
        has_parity: false,
        host_pages_written_to_cache: 0,
        failures_exceed_redundancy: false,
        failures: Vec::new(),
        requests_with_lost_pages: 0,
        page_bytes: 4096,
        array_layout: ArrayLayout::new(RaidLevel::Raid0, 2, 1, 1 << 20),
        superblock_drive: None,
        die_delay_mechanisms: DieDelayMechanisms::default(),
        drives_without_superblocks_have_submission_queues: false,
        closed_loop_places: None,
        partial_reason: None,
        workload_note: Some("a stand-in".to_owned()),
        trace_notes: Vec::new(),
        measured_response_us: None,
        warnings: Vec::new(),
        wall_s: 1.5,
        simulator_speed: SimulatorSpeed::new(100, 200, 10, 0.5, 1.0, Some(4096)),
    }
}

/// Returns a report on two members over 4 s: two reads, a write, one collection.
pub(crate) fn example() -> Report {
    example_of(None)
}

fn example_of(drive: Option<SuperblockDriveInputs>) -> Report {
    example_with(|inputs| inputs.superblock_drive = drive)
}

fn example_with(change: impl FnOnce(&mut ReportInputs)) -> Report {
    const SECOND: u64 = 1_000_000_000;
    let params = MetricsParams { timeline_window: Some((0, 2 * SECOND)), ..MetricsParams::default() };
    let mut metrics = MetricsRecorder::new(&params, 2, 4);
    metrics.record_request(&completed(0, OpKind::Read, 0, 2_000, 0));
    metrics.record_request(&completed(1, OpKind::Write, 0, 4_000, 1));
    metrics.record_request(&completed(2, OpKind::Read, 3 * SECOND, 3 * SECOND + 6_000, 2));
    metrics.record_gc_interval(&VictimBlockCollection {
        pool: 2,
        free_blocks_before: 12,
        pool_free_blocks_min: 11,
        writes_blocked_from_ns: SECOND + 1_000_000,
        all_requests_blocked_from_ns: SECOND + 2_000_000,
        member: 1,
        die: 3,
        start_ns: SECOND,
        end_ns: SECOND + 8_000_000,
        pages_moved: 90,
        is_caused_by_coordination: true,
    });
    metrics.record_pool_free_blocks(1, SECOND + 8_000_000, 24, 12);
    let measured = metrics.into_results(4 * SECOND, 4 * SECOND);
    let collected = MemberCounters {
        host_pages_read: 488,
        host_pages_written: 244,
        gc_pages_moved: 90,
        erases: 20_000,
        block_summary_pages_programmed: 6,
        collections: 1,
        forced_collections: 1,
        gc_time_ns: 8_000_000,
        ..MemberCounters::default()
    };
    let wear = EraseCountSummary { min: 1, mean: 2.0, max: 4, stddev: 0.5 };
    let wear = [wear, wear];
    let counts = |drives| ArrayCounters::with_members_only([MemberCounters::default(), collected], drives);
    let (of_dies, of_drives) = (counts(0), counts(2));
    let mut inputs = inputs(&measured, &of_dies, &wear);
    change(&mut inputs);
    let counts = if inputs.superblock_drive.is_some() { &of_drives } else { &of_dies };
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
    assert_eq!(report.requests, RequestCountsByKind { all: 3, read: 2, write: 1, trim: 0, flush: 0 });
    assert_eq!(
        (report.response_us.all.mean, report.response_us.read.mean, report.response_us.write.p50),
        (Some(4.0), Some(4.0), Some(4.0))
    );
    assert_eq!((report.iops.all, report.iops.write), (Some(0.75), Some(0.25)));
    let marks = vec![WarningMark::NotSteady, WarningMark::NotJudged, WarningMark::FewSamples];
    assert_eq!(report.verdict, Verdict { marks, ..Verdict::default() }, "three requests say nothing");
    let (all, slowest) = (report.time_us.all.unwrap(), report.time_us.slowest_1_percent.unwrap());
    assert_eq!((all.queue, all.flash, all.total(), slowest.total()), (2.0, 2.0, 4.0, 6.0));
    let over_time = &report.over_time;
    assert_eq!(
        (over_time.from_ms.first(), over_time.p99_us.first(), over_time.max_us.last()),
        (Some(&0.0), Some(&Some(4.0)), Some(&Some(6.0)))
    );
    let done: f64 =
        over_time.iops.iter().zip(&over_time.from_ms).map(|(iops, from_ms)| iops * over_time.interval_ms.min(4000.0 - from_ms) / 1e3).sum();
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
    assert_eq!([gc.start_ns, gc.writes_wait_from_ns, gc.all_wait_from_ns, gc.end_ns].map(|ns| ns / 1_000_000), [1000, 1001, 1002, 1008]);
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
    assert!(!report.verdict.has_mark(WarningMark::LittleWear));
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
    assert!(report.verdict.has_mark(WarningMark::LittleWear));
}

/// Data in the buffers of drives, and owed moves, will be programmed later. Data in a write cache have not been sent to a member.
/// A run is not steady if buffers and free space had room for all that was written. Nor is it if moves have not paid for what it wrote.
/// Moves that were owed before do not count.
#[test]
fn what_room_takes_is_not_steady() {
    let absorbs = |change: &dyn Fn(&mut ReportInputs)| {
        let mut absorbs = None;
        let _report = example_with(|inputs| {
            change(inputs);
            absorbs = Some(absorbs_writes(inputs));
        });
        absorbs.unwrap()
    };
    let written = |inputs: &ReportInputs| inputs.counts.members.iter().map(|counters| counters.host_pages_written).sum::<u64>();
    assert!(!absorbs(&|_| {}));
    assert!(!absorbs(&|inputs| inputs.pages_taken_before_collection = written(inputs)));
    assert!(absorbs(&|inputs| inputs.pages_taken_before_collection = written(inputs) + 1));
    const OWED: [MemberOwed; 1] = [MemberOwed { buffered_pages: 0, pages_to_move: 1_000, credit_pages: 0, remaining_collection_die_ns: 0 }];
    assert!(absorbs(&|inputs| inputs.unfinished_work_by_member = &OWED));
    assert!(!absorbs(&|inputs| (inputs.unfinished_work_by_member, inputs.pages_to_move_at_start) = (&OWED, 1_000)));
}

#[test]
fn write_amplification_at_most_counts_what_is_owed() {
    const NOTHING: MemberOwed = MemberOwed { buffered_pages: 0, pages_to_move: 0, credit_pages: 0, remaining_collection_die_ns: 0 };
    const OWED: [MemberOwed; 2] =
        [MemberOwed { buffered_pages: 10, pages_to_move: 100, credit_pages: 167, remaining_collection_die_ns: 1_500_000 }, NOTHING];
    let report = example_with(|inputs| (inputs.unfinished_work_by_member, inputs.pages_in_cache_at_end) = (&OWED, 7));
    assert_eq!((report.flash.write_amplification, report.flash.write_amplification_max), (Some(334.0 / 244.0), Some(611.0 / 254.0)));
    assert_eq!(
        report.owed,
        Owed { buffered_bytes: 17 * 4096, moves_pages: 100, credit_pages: 167, credit_share: Some(0.5), collection_us: 1500.0 }
    );
}

#[test]
fn lost_data_are_a_verdict_of_their_own() {
    let lost = example_with(|inputs| inputs.requests_with_lost_pages = 1);
    let failed = example_with(|inputs| inputs.failures_exceed_redundancy = true);
    for report in [lost, failed] {
        assert!(report.verdict.load == LoadVerdict::DataLost && report.verdict.has_mark(WarningMark::DataLost));
        assert_eq!(serde_json::to_value(&report.verdict).unwrap()["load"], "data lost");
    }
    assert!(!example().verdict.has_mark(WarningMark::DataLost));
}

/// A drive that was divided by four lives as long as the whole one. Four times the capacity bears the same load for four times as long,
/// and four times the load for the same time.
#[test]
fn a_scaled_drive_has_the_life_of_the_drive_that_is_meant() {
    let drive = SuperblockDriveInputs {
        pages_per_mapping_unit: 1,
        dies: 4,
        rain: false,
        placement: None,
        has_slc: false,
        has_refresh_or_wear_levelling: false,
        page_bytes: 4096,
        has_submission_queues: false,
        scaled_down_by: 4,
        scaled_down_dimension: ScaledDriveDimension::Space,
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
    assert_eq!(ratios(SuperblockDriveInputs { scaled_down_dimension: ScaledDriveDimension::Width, ..drive }), [1.0, 1.0, 4.0, 1.0, 1.0]);
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
    let measured = MetricsRecorder::new(&MetricsParams::default(), 1, 1).into_results(0, 0);
    let report = Report::build(inputs(
        &measured,
        &ArrayCounters::with_members_only([MemberCounters::default()], 0),
        &[EraseCountSummary::default()],
    ));
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    assert_eq!((report.response_us.all.mean, report.bandwidth_mb_s.cv, report.flash.write_amplification), (None, None, None));
    assert_eq!((report.gc.busy_fraction, report.gc.synchronised_mean, report.flash.lifetime), (None, None, None));
    assert_eq!(report.time_us, ResponseTimeParts::default());
    assert!(report.over_time.from_ms.is_empty());
}

#[test]
fn without_the_wall_clock_only_counts_remain() {
    let report = example();
    let slower = Report { wall_s: 99.0, perf: SimulatorSpeed::new(100, 200, 10, 9.0, 8.0, None), ..report.clone() };
    assert_ne!(slower, report);
    assert_eq!(slower.without_wall_clock(), report.without_wall_clock());
    let other = Report { perf: SimulatorSpeed::new(101, 200, 10, 0.5, 1.0, None), ..report.clone() };
    assert_ne!(other.without_wall_clock(), report.without_wall_clock());
}
