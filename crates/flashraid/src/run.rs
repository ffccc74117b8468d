//! One simulation, from a checked configuration to a report.

use crate::check::{CheckReport, check_before_run, check_without_workload};
use crate::config::{ScaledDriveDimension, Scenario, changed_workload_keys, workload_address_space};
use crate::observer::{Observer, Progress, RunPhase};
use crate::report::{self, DoneInRun, Report, ReportInputs, SimulatorSpeed, SuperblockDriveInputs};
use crate::warm_up::{self, SharedWarmUps};
use flashraid_driver::{HostConduct, QueueDepthUse, RunOutcome, RunWatcher};
use flashraid_model::array::{ArrayLayout, MemberFailureAndRebuildState};
use flashraid_model::events::VictimBlockCollection;
use flashraid_model::metrics::{CompletedRequest, ResultsOverTime, UnmeasuredStart};
use flashraid_model::ssd::{MemberCounters, RefreshAndWearLevellingParams, Ssd};
use flashraid_workload::trace::{MeasuredResponseTimes, measured_response_times};
use flashraid_workload::units::count_with_noun;
use flashraid_workload::{self as workload, HostLoop, RequestSource, SourceSpec, WorkloadSpec, catalogue};
use std::time::Instant;

pub use crate::run_error::RunError;

/// Runs a scenario.
///
/// # Errors
/// Returns an error if a trace or a warm state cannot be used, or if the observer stops the run before its first request.
pub fn run_scenario(scenario: &Scenario, observer: &mut dyn Observer) -> Result<Report, RunError> {
    run_with_shared_warm_ups(scenario, &SharedWarmUps::default(), observer)
}

/// Runs a scenario like [`run_scenario`], with the same report, but shares its warm-up with other runs. If `warm_ups` holds the array's
/// state after the same warm-up, the state is copied instead of computed.
///
/// # Errors
/// Returns the same errors as [`run_scenario`].
pub fn run_with_shared_warm_ups(scenario: &Scenario, warm_ups: &SharedWarmUps, observer: &mut dyn Observer) -> Result<Report, RunError> {
    run_with(scenario, RunSettings::new(warm_ups), observer)
}

/// Settings of a run that are not part of the scenario.
pub(crate) struct RunSettings<'a> {
    /// States after warm-ups, which the run shares with others.
    pub(crate) warm_ups: &'a SharedWarmUps,
    /// Source of requests, in place of the scenario's workload.
    pub(crate) source: Option<Box<dyn RequestSource>>,
    /// Result of an earlier check of the scenario.
    pub(crate) checked: Option<CheckReport>,
    /// True to verify the whole state of every member at the end.
    pub(crate) verify: bool,
    /// Way in which the host sends the requests.
    pub(crate) conduct: HostConduct,
    /// False if writes leave parity as it is.
    pub(crate) keeps_parity: bool,
}

impl<'a> RunSettings<'a> {
    /// Returns the settings of a run of the scenario's own workload.
    pub(crate) fn new(warm_ups: &'a SharedWarmUps) -> Self {
        Self { warm_ups, source: None, checked: None, verify: false, conduct: HostConduct::AsGiven, keeps_parity: true }
    }
}

/// Runs a scenario with these settings.
pub(crate) fn run_with(scenario: &Scenario, settings: RunSettings<'_>, observer: &mut dyn Observer) -> Result<Report, RunError> {
    run_and_host(scenario, settings, observer).map(|(report, _)| report)
}

/// Runs a scenario with these settings. Also returns the way in which its host waits for answers.
pub(crate) fn run_and_host(
    scenario: &Scenario,
    settings: RunSettings<'_>,
    observer: &mut dyn Observer,
) -> Result<(Report, HostLoop), RunError> {
    let RunSettings { warm_ups, source, checked, verify, conduct, keeps_parity } = settings;
    let begin = Instant::now();
    let stop = observer.stop_signal();
    // Problems that would appear after the warm-up are found now.
    let mut warnings = match (&source, checked) {
        (Some(_), _) => check_without_workload(scenario),
        (None, Some(checked)) => checked,
        (None, None) => check_before_run(scenario, &stop)?,
    }
    .warnings;
    let mut array = warm_up::warmed_up_array(scenario, warm_ups, observer)?;
    if !keeps_parity {
        array.untimed_access().stop_keeping_parity();
    }
    let warm_up_s = begin.elapsed().as_secs_f64();

    let workload_note = if source.is_some() { Some(OWN_SOURCE.to_owned()) } else { workload_note(scenario) };
    let source = match source {
        Some(source) => source,
        None => {
            let open = if warm_ups.threads() > 1 { workload::open_workload_read_ahead } else { workload::open_stoppable_workload };
            open(&scenario.workload, scenario.seed, &workload_address_space(&scenario.array), &stop)?
        }
    };
    let host = source.host_loop();
    let run_begin = Instant::now();
    let mut watch = RunWatch { observer };
    let outcome = flashraid_driver::simulate_host(array, source, conduct, scenario.run_limit, &scenario.metrics, &mut watch)?;
    let run_s = run_begin.elapsed().as_secs_f64();

    warnings.extend(nothing_measured(scenario, outcome.requests_sent, outcome.ended_before_measuring));
    let partial_reason = outcome.was_stopped.then(|| format!("interrupted after {}", count_with_noun(outcome.requests_sent, "request")));
    let facts = RunFacts { begin, warm_up_s, run_s, warnings, workload_note, partial_reason, verify };
    Ok((report_of(scenario, outcome, facts)?, host))
}

/// Returns the response times that a trace tells of the requests that were sent. What cannot be read a second time has none.
fn measured_when_recorded(workload: &WorkloadSpec, requests_sent: u64) -> Option<MeasuredResponseTimes> {
    match &workload.source {
        SourceSpec::Trace(trace) if trace.path.is_file() => {
            let requests = requests_sent.saturating_add(workload.transform.start_requests);
            measured_response_times(trace, requests).ok().flatten()
        }
        _ => None,
    }
}

/// Facts about a run that its [`RunOutcome`] does not contain.
pub(crate) struct RunFacts {
    /// Time at which the warm-up began, on the wall clock.
    pub(crate) begin: Instant,
    /// Time that the warm-up took, in seconds.
    pub(crate) warm_up_s: f64,
    /// Time that the requests took, in seconds.
    pub(crate) run_s: f64,
    /// Warnings from the check and from the run.
    pub(crate) warnings: Vec<String>,
    /// Note about the origin of the requests.
    pub(crate) workload_note: Option<String>,
    /// Reason why the run ended early, if it did.
    pub(crate) partial_reason: Option<String>,
    /// True to verify the whole state of every member.
    pub(crate) verify: bool,
}

/// Returns the report of a run.
pub(crate) fn report_of(scenario: &Scenario, outcome: RunOutcome, facts: RunFacts) -> Result<Report, RunError> {
    let RunFacts { begin, warm_up_s, run_s, warnings, workload_note, partial_reason, verify } = facts;
    let RunOutcome {
        array,
        mut metrics,
        measured_counters: counts,
        wear,
        pending_flash_work_by_member: owed,
        collection_outlook_by_member: outlook,
        pages_taken_before_collection,
        pages_to_move_at_start,
        pages_in_cache_at_end: cached_pages,
        measured_until_ns: measured_to_ns,
        depth_use: slots,
        requests_with_lost_pages: requests_lost,
        run_end_ns: end_ns,
        requests_sent: requests,
        was_stopped: stopped,
        ended_before_measuring: skipped_all,
        workload_notes: mut notes,
    } = outcome;
    // Places of the depth of a closed loop end one after the other. A rate refers to the time that each was in use. In a short loop, this
    // end is most of the run, and the array may still do all that it can. The rate of a short loop is that of the whole measured time.
    let measured_ns = measured_to_ns - metrics.measured_from_ns();
    let measured_requests = metrics.measured_requests();
    let is_long = |slots: &QueueDepthUse| !report::is_short_loop(slots.used_slots, measured_requests);
    let load_ns = match slots.filter(|slots| !stopped && !skipped_all && is_long(slots)) {
        Some(slots) => (i128::from(measured_ns) - slots.slot_idle_ns_after_last_request / i128::from(slots.used_slots.max(1))) as u64,
        None => measured_ns,
    };
    let totals: MemberCounters = counts.members.iter().copied().sum();
    metrics.lengthen_intervals(array.members().iter().map(Ssd::utilisation_interval_ns).max().unwrap_or(0));
    let measured = metrics.into_results(measured_to_ns, load_ns);
    let ResultsOverTime { interval_ns, points } = &measured.over_time;
    let usage: Vec<_> = array.members().iter().map(|ssd| ssd.utilisation_by_interval(*interval_ns, points.len(), measured_to_ns)).collect();
    let failures = array.counters(end_ns).failures;
    let cache = counts.cache;
    let (g, superblock) = (&scenario.array.ssd.geometry, &scenario.array.ssd.superblock);
    let measured_response_us = measured_when_recorded(&scenario.workload, requests);
    notes.extend(measured_response_us.map(|times| times.sentence()));
    let report = Report::build(ReportInputs {
        config: serde_json::to_value(&scenario.config).expect("a configuration is plain data"),
        config_hash: scenario.config_hash.clone(),
        seed: scenario.seed,
        measured: &measured,
        simulated_ns: end_ns,
        counts: &counts,
        unfinished_work_by_member: &owed,
        collection_outlook_by_member: &outlook,
        pages_taken_before_collection,
        pages_to_move_at_start,
        members_without_spares: scenario.array.members,
        dies_per_member: g.dies,
        units_per_superpage: superblock.as_ref().map_or(0, |superblock| superblock.shape(g).mapping_units_per_superpage()),
        pages_in_cache_at_end: cached_pages,
        wear: &wear,
        usage: &usage,
        member_capacity_bytes: scenario.array.ssd.exported_pages() * u64::from(g.page_bytes),
        array_capacity_bytes: workload_address_space(&scenario.array).capacity_bytes,
        blocks_per_member: u64::from(g.dies) * u64::from(g.blocks_per_die()),
        gc_start_free_blocks: scenario.array.ssd.gc.start_threshold_free_blocks,
        pages_per_block: g.pages_per_block,
        levels_wear: scenario.array.ssd.levels_wear(),
        endurance_cycles: Some(scenario.endurance_erases),
        has_parity: scenario.array.level.parity_strips() > 0,
        host_pages_written_to_cache: cache.map_or(0, |counters| {
            counters.host_admissions.replaced_pages
                + counters.host_admissions.pages_admitted_to_existing_entries
                + counters.host_admissions.pages_admitted_with_their_entry
        }),
        failures_exceed_redundancy: too_many_failed(&array.shape().layout, &failures, measured_to_ns),
        failures,
        requests_with_lost_pages: requests_lost,
        page_bytes: g.page_bytes,
        array_layout: array.shape().layout,
        superblock_drive: (!counts.superblock_counters_by_member.is_empty()).then(|| drive_inputs(scenario)),
        die_delay_mechanisms: scenario.array.ssd.die_delay_mechanisms.clone(),
        drives_without_superblocks_have_submission_queues: scenario.array.ssd.front_end.is_some_and(|front| front.queues.is_some()),
        cache_report: cache.map_or_else(Default::default, |counters| {
            let (page_bytes, room_pages) = (u64::from(g.page_bytes), array.shape().cache_capacity_pages.unwrap_or(0));
            report::cache(scenario.config.cache.policy.name(), &counters, room_pages, page_bytes, measured.end_ns - measured.from_ns)
        }),
        cache_capacity_pages: array.shape().cache_capacity_pages.unwrap_or(0),
        closed_loop_places: slots.map(|slots| slots.used_slots),
        partial_reason,
        workload_note,
        trace_notes: notes,
        measured_response_us,
        warnings,
        wall_s: begin.elapsed().as_secs_f64(),
        simulator_speed: SimulatorSpeed::new(totals.host_page_ops(), totals.flash_page_ops(), requests, run_s, warm_up_s, peak_rss_bytes()),
    });
    let is_whole = scenario.metrics.skip == UnmeasuredStart::Nothing;
    if verify {
        array.verify().map_err(RunError::FailedVerification)?;
    }
    let slots = slots.filter(is_long);
    if let Some(slots) = slots.filter(|_| (verify || cfg!(debug_assertions)) && !stopped && !skipped_all) {
        report::check_closed_loop(&report, &slots, requests, is_whole).map_err(RunError::FailedVerification)?;
    }
    if verify || cfg!(debug_assertions) {
        let done = DoneInRun {
            counts: &counts,
            longest_request_bytes: measured.bandwidth.longest_request_bytes,
            is_whole,
            places: slots.map(|slots| u64::from(slots.depth).min(requests)),
        };
        report::check_upper_bounds(&report, &scenario.array, &done).map_err(RunError::FailedVerification)?;
    }
    Ok(report)
}

/// Returns true if, at some time until `until_ns`, more members had failed than the level survives.
fn too_many_failed(layout: &ArrayLayout, failures: &[MemberFailureAndRebuildState], until_ns: u64) -> bool {
    let moments = failures.iter().filter_map(|failure| failure.failed_at_ns).filter(|&at| at <= until_ns);
    moments.into_iter().any(|at| {
        let is_gone = |failure: &&MemberFailureAndRebuildState| {
            failure.failed_at_ns.is_some_and(|failed| failed <= at) && failure.rebuild_ended_ns.is_none_or(|ended| ended > at)
        };
        let gone: Vec<u32> = failures.iter().filter(is_gone).map(|failure| failure.member).collect();
        !layout.survives_failures_of(&gone)
    })
}

/// Returns the facts about drives with superblocks that the report needs.
fn drive_inputs(scenario: &Scenario) -> SuperblockDriveInputs {
    let ssd = &scenario.array.ssd;
    let superblock = ssd.superblock.as_ref();
    let (pages_per_mapping_unit, rain) =
        superblock.map_or((1, false), |superblock| (superblock.pages_per_mapping_unit, superblock.has_parity_superpages));
    let has_queues = superblock.is_some_and(|superblock| superblock.submission_queues.is_some());
    let has_refresh_or_wear_levelling = superblock.is_some_and(|superblock| superblock.upkeep != RefreshAndWearLevellingParams::default());
    let has_slc = superblock.is_some_and(|superblock| superblock.slc.is_some());
    let written = &scenario.config.ssd;
    let placement = superblock.filter(|_| written.placement_handles.is_some()).map(|superblock| superblock.placement_handles);
    // Rows are whole numbers, and some are always left.
    let scale = match written.scale_by {
        ScaledDriveDimension::Space => written.geometry.shape.pages_per_block / ssd.geometry.pages_per_block,
        ScaledDriveDimension::Width => written.scale,
    };
    let (dies, page_bytes) = (ssd.geometry.dies, ssd.geometry.page_bytes);
    SuperblockDriveInputs {
        pages_per_mapping_unit,
        dies,
        rain,
        placement,
        has_slc,
        has_refresh_or_wear_levelling,
        page_bytes,
        has_submission_queues: has_queues,
        scaled_down_by: scale,
        scaled_down_dimension: written.scale_by,
    }
}

/// Returns the reason why the statistics are empty, or `None` if they are not.
fn nothing_measured(scenario: &Scenario, requests: u64, skipped_all: bool) -> Option<String> {
    let key = if scenario.config.report.skip_time.is_some() { "skip_time" } else { "skip_requests" };
    match (requests, skipped_all) {
        (0, _) => Some(
            "nothing was measured: the workload has no request in this run (workload.start, workload.limit, workload.duration)".to_owned(),
        ),
        (_, true) => Some(format!(
            "nothing was measured: the run ended after {} and before report.{key} was over",
            count_with_noun(requests, "request")
        )),
        (_, false) => None,
    }
}

/// Note in the report for a workload that the configuration does not describe.
pub(crate) const OWN_SOURCE: &str = "the requests came from a source of the caller's own instead of the configuration's workload";

/// Returns the note in the report for a workload from the catalogue.
fn workload_note(scenario: &Scenario) -> Option<String> {
    let named = catalogue::find_workload(scenario.config.workload.preset.as_deref()?).ok()?;
    if scenario.workload != named.spec {
        let changed = changed_workload_keys(&scenario.config.workload, &named.spec);
        return Some(format!("the workload is {} ({}) with other values of {}", named.name, named.statistics_source, changed.join(", ")));
    }
    Some(if named.is_stand_in {
        format!(
            "{} is a stand-in with the published statistics ({}), not the trace itself: {}",
            named.name, named.statistics_source, named.added_assumptions
        )
    } else {
        format!("{} ({}): {}", named.name, named.statistics_source, named.added_assumptions)
    })
}

struct RunWatch<'a> {
    observer: &'a mut dyn Observer,
}

impl RunWatcher for RunWatch<'_> {
    fn report_progress(&mut self, progress: &flashraid_driver::Progress) -> bool {
        let flashraid_driver::Progress { fraction_done: fraction, requests_sent: requests, simulated_time_ns: simulated_ns } = *progress;
        self.observer.progress(&Progress {
            phase: RunPhase::Run,
            phase_fraction_done: fraction,
            requests_sent: requests,
            simulated_time_ns: simulated_ns,
        })
    }

    #[inline]
    fn request_completed(&mut self, request: &CompletedRequest) {
        self.observer.request_completed(request);
    }

    fn victim_cleaned(&mut self, clean: &VictimBlockCollection) {
        self.observer.victim_cleaned(clean);
    }

    fn mapping_units_programmed(&mut self, units: u64) {
        self.observer.mapping_units_programmed(units);
    }
}

/// Returns the greatest amount of memory that was resident so far, if the operating system tells.
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(kib * 1024)
}
