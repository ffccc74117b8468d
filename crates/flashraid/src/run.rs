//! One simulation from a checked configuration to a report.

use crate::array::{Array, ArrayParams, WarmUp, WarmUpPattern};
use crate::config::{Scenario, address_space, changed_workload_keys};
use crate::metrics::CompletedRequest;
use crate::report::{self, Perf, Report, ReportInputs};
use crate::simulation::{self, Outcome, Watch};
use crate::ssd::MemberCounters;
use crate::units::counted;
use crate::warm_state;
use crate::workload::{self, AddressSpace, Direction, Source, SourceError, WorkloadSpec, catalogue};
use std::time::Instant;

/// Watches a run, and may stop it.
pub trait Observer {
    /// Called every few thousand requests and after each warmed member; returning false stops the run, whose report then says that it
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
    run_to_the_end(scenario, observer).map(|(report, _)| report)
}

/// Runs a scenario and verifies the whole state of every member at its end (`--check`).
///
/// # Errors
/// As [`run`]; [`RunError::Io`] with the first invariant that does not hold.
pub fn run_verified(scenario: &Scenario, observer: &mut dyn Observer) -> Result<Report, RunError> {
    let (report, array) = run_to_the_end(scenario, observer)?;
    array.verify().map_err(|text| RunError::Io(format!("the state at the end is inconsistent: {text}")))?;
    Ok(report)
}

fn run_to_the_end(scenario: &Scenario, observer: &mut dyn Observer) -> Result<(Report, Array), RunError> {
    let begin = Instant::now();
    let array = warm_array(scenario, observer)?;
    let warm_up_s = begin.elapsed().as_secs_f64();

    let source = workload::open(&scenario.workload, scenario.seed, &address_space(&scenario.array))?;
    let run_begin = Instant::now();
    let mut watch = RunWatch { wants_requests: observer.wants_requests(), observer };
    let outcome = simulation::simulate(array, source, scenario.limit, &scenario.metrics, &mut watch)?;
    let run_s = run_begin.elapsed().as_secs_f64();

    let Outcome { array, metrics, counters, messages, stripe_counters, cache, end_ns, requests, stopped, notes } = outcome;
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
        blocks_per_member: u64::from(g.elements) * u64::from(g.blocks_per_element()),
        start_free_blocks: scenario.array.ssd.gc.start_free_blocks,
        endurance_cycles: Some(scenario.endurance_erases),
        messages,
        stripes: stripe_counters,
        has_parity: scenario.array.level.parity_strips() > 0,
        failure: array.failure_progress(),
        page_bytes: g.page_bytes,
        cache: cache.map_or_else(Default::default, |(counters, room_pages)| {
            let page_bytes = u64::from(array.page_bytes());
            report::cache(scenario.config.cache.policy.name(), &counters, room_pages, page_bytes, end_ns - measured.from_ns)
        }),
        partial_reason: stopped.then(|| format!("interrupted after {}", counted(requests, "request"))),
        workload_note: workload_note(scenario),
        trace_notes: notes,
        warnings: scenario.warnings.clone(),
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
    fn look(&mut self, progress: &simulation::Progress) -> bool {
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

/// The array of a scenario in its working state.
fn warm_array(scenario: &Scenario, observer: &mut dyn Observer) -> Result<Array, RunError> {
    let mut array = Array::new(&scenario.array, scenario.seed);
    if let Some(path) = &scenario.warm_state.load {
        warm_state::load(path, &scenario.array, &mut array)?;
    } else {
        let mut go_on = |fraction| {
            let progress = Progress { phase: Phase::WarmUp, fraction: Some(fraction), requests: 0, simulated_ns: 0 };
            if observer.progress(&progress) { Ok(()) } else { Err(RunError::Interrupted) }
        };
        go_on(0.0)?;
        warm_up(&mut array, &scenario.array, &scenario.warm_up, &scenario.workload, scenario.seed, &mut go_on)?;
    }
    if let Some(path) = &scenario.warm_state.save {
        warm_state::save(path, &scenario.array, &array)?;
    }
    Ok(array)
}

/// Warms an array up; `go_on` is told the share that is done and may end it with an error.
///
/// # Errors
/// Those of `go_on`, and those of the workload if its addresses are used.
fn warm_up(
    array: &mut Array,
    params: &ArrayParams,
    warm_up: &WarmUp,
    workload: &WorkloadSpec,
    seed: u64,
    go_on: &mut dyn FnMut(f64) -> Result<(), RunError>,
) -> Result<(), RunError> {
    match warm_up.pattern {
        WarmUpPattern::Random => {
            let members = array.members_to_warm_up();
            let count = members.len() as f64;
            for (index, member) in members.iter_mut().enumerate() {
                member.warm_up(warm_up.overwrites, seed);
                go_on((index + 1) as f64 / count)?;
            }
            Ok(())
        }
        WarmUpPattern::Workload => {
            // Another seed than the run's, so that the run does not repeat the warm-up write for write.
            let open = |pass: u64| workload::open(workload, crate::rng::mix(seed ^ (pass + 1)), &address_space(params));
            overwrite_by_workload(array, &address_space(params), warm_up.overwrites, open, go_on)
        }
    }
}

/// Overwrites by the write addresses of the workload, from its start again and again, until enough pages are written.
fn overwrite_by_workload(
    array: &mut Array,
    space: &AddressSpace,
    overwrites: f64,
    open: impl Fn(u64) -> Result<Box<dyn Source>, SourceError>,
    go_on: &mut dyn FnMut(f64) -> Result<(), RunError>,
) -> Result<(), RunError> {
    /// Requests without a write after which a workload is taken for one that never writes.
    const READS_MAX: u32 = 1_000_000;
    let pages_to_write = (overwrites * (space.capacity_bytes / space.page_bytes) as f64) as u64;
    let nothing_to_write = || {
        RunError::Input("ssd.warm_up.pattern is \"workload\", but the workload writes nothing; use \"random\" or overwrites = 0".to_owned())
    };
    let (mut written, mut pass) = (0, 0);
    while written < pages_to_write {
        let written_before = written;
        let mut source = open(pass)?;
        pass += 1;
        let mut reads_in_a_row = 0;
        while written < pages_to_write
            && let Some(request) = source.next_request()?
        {
            if request.direction == Direction::Read {
                reads_in_a_row += 1;
                if reads_in_a_row == READS_MAX {
                    return Err(nothing_to_write());
                }
                continue;
            }
            reads_in_a_row = 0;
            let look_before = written >> 20;
            written += array.overwrite_untimed(&request);
            if written >> 20 != look_before {
                go_on((written as f64 / pages_to_write as f64).min(1.0))?;
            }
        }
        if written == written_before {
            return Err(nothing_to_write());
        }
    }
    Ok(())
}

/// The most memory that the process has had resident so far, where the system tells.
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(kib * 1024)
}
