//! Runs a simulation with a progress bar, Ctrl-C and, if wanted, files of requests.

use flashraid::config::Scenario;
use flashraid::report::Report;
use flashraid::run::{self, Observer, Progress, RunError};
use flashraid::warm_up::SharedWarmUps;
use flashraid_model::metrics::CompletedRequest;

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::progress::Board;
use flashraid_report::requests::RequestFiles;

/// Runs one of several simulations, number `simulation` of the board.
///
/// # Errors
/// As [`run`].
pub fn run_sharing(scenario: &Scenario, warm_ups: &SharedWarmUps, board: &Board, simulation: usize) -> Outcome<Report> {
    let mut watcher = Watcher { board, simulation, requests: None, failure: None };
    run::run_sharing(scenario, warm_ups, &mut watcher).map_err(failure)
}

/// Runs a simulation, number `simulation` of the board; with `verify` the state at its end is checked, too.
///
/// # Errors
/// [`Failure::Interrupted`] if it was stopped before its first request; a later interruption makes the report partial.
pub fn run(
    scenario: &Scenario,
    warm_ups: &SharedWarmUps,
    verify: bool,
    board: &Board,
    simulation: usize,
    requests: Option<&mut RequestFiles>,
) -> Outcome<Report> {
    let mut watcher = Watcher { board, simulation, requests, failure: None };
    let result = match verify {
        false => run::run_sharing(scenario, warm_ups, &mut watcher),
        true => run::run_verified(scenario, warm_ups, &mut watcher),
    };
    match watcher.failure {
        Some(failure) => Err(failure),
        None => result.map_err(failure),
    }
}

/// Why a run gave no report.
pub fn failure(error: RunError) -> Failure {
    match error {
        RunError::Input(text) => Failure::Input(text),
        RunError::Io(text) => Failure::Run(text),
        RunError::Interrupted => Failure::Interrupted("stopped before the first request: there is nothing to report".to_owned()),
    }
}

struct Watcher<'a> {
    board: &'a Board,
    simulation: usize,
    requests: Option<&'a mut RequestFiles>,
    /// Why requests can't be written; the model knows no I/O, so that it is told to stop and this is reported instead.
    failure: Option<Failure>,
}

impl Observer for Watcher<'_> {
    fn note(&mut self, text: &str) {
        self.board.note(text);
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        self.board.update(self.simulation, progress);
        self.failure.is_none() && !interrupt::requested()
    }

    fn request(&mut self, request: &CompletedRequest) {
        if let (Some(file), None) = (&mut self.requests, &self.failure) {
            self.failure = file.add(request).err().map(Failure::from);
        }
    }

    fn wants_requests(&self) -> bool {
        self.requests.is_some()
    }
}
