//! Connects simulations with the progress bar and with Ctrl-C, and writes files of requests if wanted.

use flashraid::study::StudyObserver;
use flashraid::{CompletedRequest, Observer, Progress, Stop};
use flashraid_report::fio;
use flashraid_report::fio_logs::Logs;
use flashraid_report::hdr;
use flashraid_report::requests::RequestFiles;

use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Board;

/// Observer of one simulation.
pub struct Watcher<'a> {
    board: &'a Board,
    requests: Option<&'a mut RequestFiles>,
    /// Recorder of the figures in fio's output, if that is wanted.
    pub fio: Option<&'a mut fio::Recorder>,
    /// Log of response times, if it is wanted.
    pub hdr: Option<&'a mut hdr::Log>,
    /// Writer of fio's logs, if they are wanted.
    pub fio_logs: Option<&'a mut Logs>,
    /// Error in writing requests. An observer can't return errors, so the run is stopped, and the error reported afterwards.
    pub failure: Option<Failure>,
}

impl<'a> Watcher<'a> {
    /// Creates an observer that shows progress on `board`, which has one simulation.
    pub fn new(board: &'a Board, requests: Option<&'a mut RequestFiles>) -> Watcher<'a> {
        Watcher { board, requests, fio: None, hdr: None, fio_logs: None, failure: None }
    }
}

impl Observer for Watcher<'_> {
    fn note(&mut self, text: &str) {
        self.board.note(text);
    }

    fn stop_signal(&self) -> Stop {
        Stop::stop_when(interrupt::requested)
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        self.board.update(0, progress);
        self.failure.is_none() && !interrupt::requested()
    }

    fn request_completed(&mut self, request: &CompletedRequest) {
        if let Some(fio) = &mut self.fio {
            fio.record(request);
        }
        if let (Some(file), None) = (&mut self.requests, &self.failure) {
            self.failure = file.add(request).err().map(Failure::from);
        }
        if let (Some(log), None) = (&mut self.hdr, &self.failure) {
            self.failure = log.add(request).err().map(Failure::from);
        }
        if let (Some(logs), None) = (&mut self.fio_logs, &self.failure) {
            self.failure = logs.add(request).err().map(Failure::from);
        }
    }
}

/// A study shows its simulations on the board.
impl StudyObserver for Board {
    fn progress(&self, simulation: usize, progress: &Progress) -> bool {
        self.update(simulation, progress);
        self.may_continue()
    }

    fn stop_signal(&self) -> Stop {
        Stop::stop_when(interrupt::requested)
    }

    fn note(&self, text: &str) {
        Board::note(self, text);
    }

    fn simulation_done(&self, simulation: usize) {
        self.end(simulation);
    }

    fn may_continue(&self) -> bool {
        !interrupt::requested()
    }
}
