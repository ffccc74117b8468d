//! Submission queues, and the choice of the command that the drive fetches next (rule 219).

use crate::events::TimeNs;
use crate::ssd::job::Table;
use crate::ssd::params::SubmissionQueues;
use std::collections::VecDeque;

/// Submission queues, and the commands that were fetched from them.
#[derive(Debug, Clone)]
pub(super) struct Queues {
    params: SubmissionQueues,
    /// Commands of each queue that have not been fetched.
    waiting: Vec<VecDeque<u32>>,
    /// The queue whose turn it is, and the number of commands fetched from it in this turn.
    turn: usize,
    given: u32,
    in_flight: u32,
    fetched: Table<FetchedCommand>,
}

/// A command that was fetched and has not ended.
#[derive(Debug, Clone, Copy, Default)]
struct FetchedCommand {
    /// Number of its pages whose end is not known.
    pages_left: u32,
    /// Latest known end of a page.
    last_end: TimeNs,
}

impl Queues {
    pub(super) fn new(params: SubmissionQueues) -> Self {
        let waiting = vec![VecDeque::new(); params.queues as usize];
        Self { params, waiting, turn: 0, given: 0, in_flight: 0, fetched: Table::default() }
    }

    pub(super) fn join(&mut self, source: u8, command: u32) {
        let queue = u32::from(source) % self.params.queues;
        self.waiting[queue as usize].push_back(command);
    }

    /// Fetches the next command; queues take turns.
    pub(super) fn fetch(&mut self) -> Option<u32> {
        if self.in_flight == self.params.commands {
            return None;
        }
        let all = self.waiting.len();
        let queue = (self.turn..all).chain(0..self.turn).find(|&queue| !self.waiting[queue].is_empty())?;
        let command = self.waiting[queue].pop_front()?;
        let given = if queue == self.turn { self.given + 1 } else { 1 };
        let turn_is_over = given == self.params.burst || self.waiting[queue].is_empty();
        (self.turn, self.given) = if turn_is_over { ((queue + 1) % all, 0) } else { (queue, given) };
        self.in_flight += 1;
        Some(command)
    }

    /// Registers a fetched command with `pages` pages, and returns its number among the fetched ones.
    pub(crate) fn register_fetched(&mut self, pages: u32) -> u32 {
        let fetched_id = self.fetched.take();
        self.fetched[fetched_id] = FetchedCommand { pages_left: pages, last_end: 0 };
        fetched_id
    }

    /// Ends pages of a fetched command at `at`. Returns the end of the command when the ends of all its pages are known.
    pub(crate) fn pages_end(&mut self, fetched_id: u32, pages: u32, at: TimeNs) -> Option<TimeNs> {
        let state = &mut self.fetched[fetched_id];
        (state.pages_left, state.last_end) = (state.pages_left - pages, state.last_end.max(at));
        let FetchedCommand { pages_left, last_end } = *state;
        if pages_left > 0 {
            return None;
        }
        self.fetched.recycle(fetched_id);
        Some(last_end)
    }

    /// Ends a fetched command.
    pub(crate) fn end_fetched(&mut self) {
        debug_assert!(self.in_flight > 0, "it was in flight");
        self.in_flight -= 1;
    }
}
