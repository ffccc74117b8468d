//! One simulation from a checked configuration to a report.

use crate::check::check;
use crate::config::{Scenario, address_space, changed_workload_keys};
use crate::report::{self, Perf, Report, ReportInputs};
use crate::simulation::{self, Outcome, Watch};
use crate::warm_up::{self, SharedWarmUps};
use flashraid_model::array::Array;
use flashraid_model::metrics::CompletedRequest;
use flashraid_model::ssd::MemberCounters;
use flashraid_workload::units::counted;
use flashraid_workload::{self as workload, HostLoop, SourceError, catalogue};
use std::time::Instant;

/// Watches a run, and may stop it.
pub trait Observer {
    /// Something that the user should know and no result says, such as where a warm state comes from.
    fn note(&mut self, _text: &str) {}

    /// Called every few thousand requests, and every few milliseconds of a warm-up; returning false stops the run, whose report then says that it
    /// is partial.
    fn progress(&mut self, _progress: &Progress) -> bool {
        true
    }

    /// Called for every completed request if [`Observer::wants_requests`].
    fn request(&mut self, _request: &CompletedRequest) {}

    /// Whether [`Observer::request`] is to be called.
    fn wants_requests(&self) -> bool {
        false
    }
}

/// An observer that looks on.
impl Observer for () {}

/// What a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Bringing the members to a working state.
    WarmUp,
    /// Serving requests.
    Run,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What it is doing.
    pub phase: Phase,
    /// Share of the phase that is done, from 0 to 1, if its end is known.
    pub fraction: Option<f64>,
    /// Requests sent.
    pub requests: u64,
    /// Simulated time, in nanoseconds.
    pub simulated_ns: u64,
}

/// Why a run gave no report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The input is not what it should be: exit status 2.
    #[error("{0}")]
    Input(String),
    /// Reading or writing failed: exit status 1.
    #[error("{0}")]
    Io(String),
    /// It was stopped before its first request, so that there is nothing to report.
    #[error("stopped before the first request")]
    Interrupted,
}

impl From<SourceError> for RunError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Input(text) => Self::Input(text),
            // A path that leads nowhere is a mistake in the configuration; a disk that fails is not.
            SourceError::Io { ref source, .. } if source.kind() == std::io::ErrorKind::NotFound => Self::Input(error.to_string()),
            SourceError::Io { .. } => Self::Io(error.to_string()),
        }
    }
}

/// Runs a scenario.
///
/// # Errors
/// A trace or a warm state can't be read or used, or the observer stops the run before its first request.
pub fn run(scenario: &Scenario, observer: &mut dyn Observer) -> Result<Report, RunError> {
    run_sharing(scenario, &SharedWarmUps::default(), observer)
}

/// Runs a scenario, one of several that share the states after their warm-ups. The result is that of [`run`].
///
/// # Errors
/// As [`run`].
pub fn run_sharing(scenario: &Scenario, warm_ups: &SharedWarmUps, observer: &mut dyn Observer) -> Result<Report, RunError> {
    run_to_the_end(scenario, warm_ups, observer).map(|(report, _)| report)
}

/// Runs a scenario and verifies the whole state of every member at its end (`--check`).
///
/// # Errors
/// As [`run`]; [`RunError::Io`] with the first invariant that does not hold.
pub fn run_verified(scenario: &Scenario, warm_ups: &SharedWarmUps, observer: &mut dyn Observer) -> Result<Report, RunError> {
    let (report, array) = run_to_the_end(scenario, warm_ups, observer)?;
    array.verify().map_err(|text| RunError::Io(format!("the state at the end is inconsistent: {text}")))?;
    Ok(report)
}

fn run_to_the_end(scenario: &Scenario, warm_ups: &SharedWarmUps, observer: &mut dyn Observer) -> Result<(Report, Array), RunError> {
    let begin = Instant::now();
    let mut array = warm_up::warm_array(scenario, warm_ups, observer)?;
    array.serve_ahead_by(warm_ups.threads(), None);
    let warm_up_s = begin.elapsed().as_secs_f64();

    let source = workload::open(&scenario.workload, scenario.seed, &address_space(&scenario.array))?;
    let is_closed = source.host_loop() != HostLoop::Open;
    let run_begin = Instant::now();
    let mut watch = RunWatch { wants_requests: observer.wants_requests(), observer };
    let outcome = simulation::simulate(array, source, scenario.limit, &scenario.metrics, &mut watch)?;
    let run_s = run_begin.elapsed().as_secs_f64();

    let Outcome { array, metrics, counters, messages, host, stripe_counters, cache, end_ns, requests, stopped, notes } = outcome;
    let totals: MemberCounters = counters.iter().copied().sum();
    let measured = metrics.finish(end_ns);
    let wear: Vec<_> = array.members().iter().map(|m| m.ftl().wear()).collect();
    let g = &scenario.array.ssd.geometry;
    let report = Report::build(ReportInputs {
        config: serde_json::to_value(&scenario.config).expect("a configuration is plain data"),
        config_hash: scenario.hash.clone(),
        seed: scenario.seed,
        measured: &measured,
        counters: &counters,
        wear: &wear,
        blocks_per_member: u64::from(g.dies) * u64::from(g.blocks_per_die()),
        start_free_blocks: scenario.array.ssd.gc.start_free_blocks,
        endurance_cycles: Some(scenario.endurance_erases),
        messages,
        stripes: stripe_counters,
        has_parity: scenario.array.level.parity_strips() > 0,
        host,
        failure: array.failure_progress(),
        page_bytes: g.page_bytes,
        cache: cache.map_or_else(Default::default, |(counters, room_pages)| {
            let page_bytes = u64::from(array.page_bytes());
            report::cache(scenario.config.cache.policy.name(), &counters, room_pages, page_bytes, end_ns - measured.from_ns)
        }),
        is_closed,
        partial_reason: stopped.then(|| format!("interrupted after {}", counted(requests, "request"))),
        workload_note: workload_note(scenario),
        trace_notes: notes,
        warnings: check(scenario).warnings,
        wall_s: begin.elapsed().as_secs_f64(),
        perf: Perf::new(totals.host_page_ops(), totals.flash_page_ops(), requests, run_s, warm_up_s, peak_rss_bytes()),
    });
    Ok((report, array))
}

/// What the report says of a workload from the catalogue.
fn workload_note(scenario: &Scenario) -> Option<String> {
    let named = catalogue::find(scenario.config.workload.preset.as_deref()?).ok()?;
    if scenario.workload != named.spec {
        let changed = changed_workload_keys(&scenario.config.workload, &named.spec);
        return Some(format!("the workload is {} ({}) with other values of {}", named.name, named.source, changed.join(", ")));
    }
    Some(if named.is_stand_in {
        format!("{} is a stand-in with the published statistics ({}), not the trace itself: {}", named.name, named.source, named.note)
    } else {
        format!("{} ({}): {}", named.name, named.source, named.note)
    })
}

struct RunWatch<'a> {
    observer: &'a mut dyn Observer,
    wants_requests: bool,
}

impl Watch for RunWatch<'_> {
    fn tick(&mut self, progress: &simulation::Progress) -> bool {
        let simulation::Progress { fraction, requests, simulated_ns } = *progress;
        self.observer.progress(&Progress { phase: Phase::Run, fraction, requests, simulated_ns })
    }

    #[inline]
    fn completed(&mut self, request: &CompletedRequest) {
        if self.wants_requests {
            self.observer.request(request);
        }
    }
}

/// The most memory that the process has had resident so far, where the system tells.
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(kib * 1024)
}
