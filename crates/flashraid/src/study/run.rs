//! Runs the simulations of a study on worker threads.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use flashraid_workload::{SourceError, Stop};

use super::StudyObserver;
use super::store::{ReportStore, short_hash};
use crate::Error;
use crate::config::Scenario;
use crate::file_hashes::InputFileHashes;
use crate::observer::{Observer, Progress};
use crate::report::Report;
use crate::resources::MachineResources;
use crate::run::{RunError, run_with_shared_warm_ups};
use crate::warm_up::{SharedWarmUps, warm_up_key};

/// One simulation of a study.
#[derive(Debug)]
pub struct StudySimulation {
    /// The scenario to simulate.
    pub scenario: Scenario,
    /// Name of the file with its result. It depends on all inputs, so that the same inputs give the same name.
    pub result_file_name: String,
}

impl StudySimulation {
    /// Returns a simulation whose name depends on everything that its result depends on: configuration, seed, version, and the contents of
    /// the files that it reads.
    ///
    /// # Errors
    /// Returns an error if one of these files cannot be read.
    pub fn new(scenario: Scenario, contents: &mut InputFileHashes) -> Result<Self, Error> {
        let contents = contents.hashes_of_inputs(&scenario)?.join(" ");
        let id = short_hash(&format!("{} {} {} {contents}", env!("CARGO_PKG_VERSION"), scenario.config_hash, scenario.seed));
        Ok(Self { result_file_name: id, scenario })
    }

    /// Returns the report from the store, if it is there. If the simulation also saves a state, that file must exist, too.
    pub(super) fn done_before(&self, store: &ReportStore) -> Option<Report> {
        if self.has_its_state() { store.load_report(&self.result_file_name) } else { None }
    }

    /// Returns true if the state that it saves exists, or if it saves none.
    pub(super) fn has_its_state(&self) -> bool {
        self.scenario.warm_state.save_to.as_deref().is_none_or(std::path::Path::exists)
    }
}

/// Runs the simulations that the store does not hold yet, and saves each report when it is done. `resources` decides how many run at a
/// time.
///
/// The reports are in the order of the tasks, whatever the number of threads. A report is `None` if the observer stopped its simulation.
///
/// # Errors
/// Returns the first error in the order of the tasks. After an error, no further task begins.
pub fn run_all(
    tasks: &[&StudySimulation],
    resources: &MachineResources,
    store: Option<&ReportStore>,
    observer: &dyn StudyObserver,
) -> Result<Vec<Option<Report>>, Error> {
    run_unfinished(tasks, tasks.iter().map(|task| task.done_before(store?)).collect(), resources, store, observer)
}

/// Runs tasks like [`run_all`], except for those whose `reports` are known already.
pub(super) fn run_unfinished(
    tasks: &[&StudySimulation],
    mut reports: Vec<Option<Report>>,
    resources: &MachineResources,
    store: Option<&ReportStore>,
    observer: &dyn StudyObserver,
) -> Result<Vec<Option<Report>>, Error> {
    let (done, open): (Vec<usize>, Vec<usize>) = (0..tasks.len()).partition(|index| reports[*index].is_some());
    if let Some(store) = store {
        open.iter().try_for_each(|&index| store.can_save(&tasks[index].result_file_name))?;
    }
    done.into_iter().for_each(|index| observer.simulation_done(index));

    let warm_ups = SharedWarmUps::for_runs(open.iter().map(|index| &tasks[*index].scenario))
        .with_cache(resources.warm_state_cache.clone())
        .with_threads_per_run(resources.threads_per_simulation);
    let queue = Mutex::new(by_warm_up(tasks, &open));
    let failed = AtomicBool::new(false);
    let results = Mutex::new(Vec::new());
    let work = || {
        while observer.may_continue() && !failed.load(Ordering::Relaxed) {
            let Some(index) = take(&queue, &warm_ups) else { break };
            let result = run_one(tasks[index], &warm_ups, observer, index, store);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        let workers = resources.simulations_at_once.max(1).min(open.len());
        // If the system refuses some threads, the others do all the work.
        let spawned = (0..workers).take_while(|_| thread::Builder::new().spawn_scoped(scope, work).is_ok()).count();
        if spawned == 0 {
            work();
        }
    });

    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    // If several tasks fail, the first in the order of the grid is reported, so that the message depends less on timing.
    results.sort_by_key(|(index, _)| *index);
    for (index, result) in results {
        reports[index] = result?;
    }
    Ok(reports)
}

/// A task that has not begun: its index, and the key of its warm-up.
type Waiting = (usize, String);

/// Orders tasks so that those with the same warm-up follow each other. Few states are then kept at a time.
fn by_warm_up(tasks: &[&StudySimulation], open: &[usize]) -> VecDeque<Waiting> {
    let mut first_with: HashMap<String, usize> = HashMap::new();
    let mut waiting: Vec<(usize, Waiting)> = Vec::new();
    for &index in open {
        let key = warm_up_key(&tasks[index].scenario);
        let group = *first_with.entry(key.clone()).or_insert(index);
        waiting.push((group, (index, key)));
    }
    waiting.sort_by_key(|(group, (index, _))| (*group, *index));
    waiting.into_iter().map(|(_, waiting)| waiting).collect()
}

/// Removes and returns the next task. It prefers a task that need not wait for another one's warm-up.
fn take(queue: &Mutex<VecDeque<Waiting>>, warm_ups: &SharedWarmUps) -> Option<usize> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let free = queue.iter().position(|(_, key)| warm_ups.try_claim_warm_up(key)).unwrap_or(0);
    queue.remove(free).map(|(index, _)| index)
}

/// Runs one task. Returns `None` if the observer stopped it.
fn run_one(
    task: &StudySimulation,
    warm_ups: &SharedWarmUps,
    observer: &dyn StudyObserver,
    index: usize,
    store: Option<&ReportStore>,
) -> Result<Option<Report>, Error> {
    let report = match run_with_shared_warm_ups(&task.scenario, warm_ups, &mut OneSimulation { observer, index }) {
        Ok(report) if report.partial => return Ok(None),
        Err(RunError::StoppedBeforeFirstRequest | RunError::RequestSource(SourceError::Stopped)) => return Ok(None),
        result => result?,
    };
    if let Some(store) = store {
        store.save_report(&task.result_file_name, &report)?;
    }
    observer.simulation_done(index);
    Ok(Some(report))
}

/// Passes the events of one simulation to the observer of a study.
struct OneSimulation<'a> {
    observer: &'a dyn StudyObserver,
    index: usize,
}

impl Observer for OneSimulation<'_> {
    fn note(&mut self, text: &str) {
        self.observer.note(text);
    }

    fn stop_signal(&self) -> Stop {
        self.observer.stop_signal()
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        self.observer.progress(self.index, progress)
    }
}
