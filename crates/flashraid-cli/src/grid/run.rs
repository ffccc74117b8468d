//! Runs the simulations of a grid on worker threads.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use flashraid::config::Scenario;
use flashraid::warm_up::{SharedWarmUps, warm_up_key};
use flashraid_workload::{SourceSpec, WorkloadSpec};
use serde_json::Value;

use super::{Store, short_hash};
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::machine::Machine;
use crate::output::json;
use crate::progress::Board;
use crate::simulate;

/// One simulation of a grid.
pub struct Task {
    /// What to simulate.
    pub scenario: Scenario,
    /// Name of its saved point: the same for the same inputs.
    pub id: String,
}

impl Task {
    /// Names a simulation by what it computes.
    pub fn new(scenario: Scenario) -> Task {
        let mut inputs = format!("{} {}", scenario.hash, scenario.seed);
        add_traces(&scenario.workload, &mut inputs);
        Task { id: short_hash(&inputs), scenario }
    }
}

/// Tells one state of a trace's file from another. A file that is not there is the simulation's to complain about.
fn add_traces(workload: &WorkloadSpec, inputs: &mut String) {
    match &workload.source {
        SourceSpec::Synthetic(_) => {}
        SourceSpec::Mix(streams) => streams.iter().for_each(|stream| add_traces(stream, inputs)),
        SourceSpec::Trace(trace) => {
            if let Ok(metadata) = fs::metadata(&trace.path) {
                *inputs += &format!(" {} {:?}", metadata.len(), metadata.modified().ok());
            }
        }
    }
}

/// Runs what the store does not hold yet, as many at a time as the machine is to run, and saves each report as it ends.
///
/// The reports come in the order of the tasks, whatever the number of workers; `None` where an interruption came first.
/// After a failure no further task is begun.
pub fn run_all(tasks: &[Task], machine: &Machine, store: Option<&Store>) -> Outcome<Vec<Option<Value>>> {
    let board = Board::new(tasks.len());
    let mut reports: Vec<Option<Value>> = tasks.iter().map(|task| store?.load(&task.id)).collect();
    let (done, open): (Vec<usize>, Vec<usize>) = (0..tasks.len()).partition(|index| reports[*index].is_some());
    done.into_iter().for_each(|index| board.done(index));

    let warm_ups = machine.equip(SharedWarmUps::of(open.iter().map(|index| &tasks[*index].scenario)));
    let queue = Mutex::new(by_warm_up(tasks, &open));
    let failed = AtomicBool::new(false);
    let results = Mutex::new(Vec::new());
    let work = || {
        while !interrupt::requested() && !failed.load(Ordering::Relaxed) {
            let Some(index) = take(&queue, &warm_ups) else { break };
            let result = run_one(&tasks[index], &warm_ups, &board, index, store);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        let workers = machine.workers.min(open.len());
        // Where the system gives fewer threads, fewer do all the work.
        let spawned = (0..workers).take_while(|_| thread::Builder::new().spawn_scoped(scope, work).is_ok()).count();
        if spawned == 0 {
            work();
        }
    });
    board.clear();

    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Of several failures the first in the order of the grid is reported, so that the message depends less on timing.
    results.sort_by_key(|(index, _)| *index);
    for (index, result) in results {
        reports[index] = result?;
    }
    Ok(reports)
}

/// A task that is still to be begun: its index and what its warm-up depends on.
type Waiting = (usize, String);

/// Tasks that share a warm-up come one after the other, so that few states are kept at a time.
fn by_warm_up(tasks: &[Task], open: &[usize]) -> VecDeque<Waiting> {
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

/// The next task, if possible one that need not wait for another's warm-up.
fn take(queue: &Mutex<VecDeque<Waiting>>, warm_ups: &SharedWarmUps) -> Option<usize> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let free = queue.iter().position(|(_, key)| warm_ups.claim(key)).unwrap_or(0);
    queue.remove(free).map(|(index, _)| index)
}

/// The report, or `None` if an interruption cut it short.
fn run_one(task: &Task, warm_ups: &SharedWarmUps, board: &Board, index: usize, store: Option<&Store>) -> Outcome<Option<Value>> {
    let report = match simulate::run_sharing(&task.scenario, warm_ups, board, index) {
        Ok(report) if report.partial => return Ok(None),
        Err(Failure::Interrupted(_)) => return Ok(None),
        result => result?,
    };
    let report = json::document(&report)?;
    if let Some(store) = store {
        store.save(&task.id, &report)?;
    }
    board.done(index);
    Ok(Some(report))
}
