//! Runs the simulations of a grid on worker threads.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use flashraid::config::Scenario;
use flashraid::workload::{SourceSpec, WorkloadSpec};
use serde_json::Value;

use super::{Store, short_hash};
use crate::failure::{Failure, Outcome};
use crate::interrupt;
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

/// Runs what the store does not hold yet, on up to `threads` threads, and saves each report as it ends.
///
/// The reports come in the order of the tasks, whatever the number of threads; `None` where an interruption came first.
/// After a failure no further task is begun.
pub fn run_all(tasks: &[Task], threads: usize, store: Option<&Store>) -> Outcome<Vec<Option<Value>>> {
    let board = Board::new(tasks.len());
    let mut reports: Vec<Option<Value>> = tasks.iter().map(|task| store?.load(&task.id)).collect();
    let (done, open): (Vec<usize>, Vec<usize>) = (0..tasks.len()).partition(|index| reports[*index].is_some());
    done.into_iter().for_each(|index| board.done(index));

    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results = Mutex::new(Vec::new());
    let work = || {
        while !interrupt::requested() && !failed.load(Ordering::Relaxed) {
            let Some(&index) = open.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let result = run_one(&tasks[index], &board, index, store);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(open.len()) {
            scope.spawn(work);
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

/// The report, or `None` if an interruption cut it short.
fn run_one(task: &Task, board: &Board, index: usize, store: Option<&Store>) -> Outcome<Option<Value>> {
    let report = match simulate::run(&task.scenario, false, board, index, None) {
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

/// How many threads to use when the user says nothing: one for each processor.
pub fn default_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
