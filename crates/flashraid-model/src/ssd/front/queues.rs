//! Submission queues, and the choice of the command that is fetched next (rule 219).

use crate::events::TimeNs;
use crate::ssd::job::Table;
use crate::ssd::params::QueueParams;
use std::collections::VecDeque;

/// Submission queues, and the commands that were fetched from them.
#[derive(Debug, Clone)]
pub(super) struct Queues {
    params: QueueParams,
    /// Commands that have not been fetched, by queue.
    waiting: Vec<VecDeque<u32>>,
    /// The queue that has its turn, and the number of commands it has given in this turn.
    turn: usize,
    given: u32,
    in_flight: u32,
    flights: Table<Flight>,
}

/// A command that was fetched and is not done.
#[derive(Debug, Clone, Copy, Default)]
struct Flight {
    /// Number of pages whose ends are not known.
    pages_left: u32,
    /// Latest end that is known.
    last_end: TimeNs,
}

impl Queues {
    pub fn new(params: QueueParams) -> Self {
        let waiting = vec![VecDeque::new(); params.queues as usize];
        Self { params, waiting, turn: 0, given: 0, in_flight: 0, flights: Table::default() }
    }

    pub fn join(&mut self, source: u8, command: u32) {
        let queue = u32::from(source) % self.params.queues;
        self.waiting[queue as usize].push_back(command);
    }

    /// Fetches the next command, round robin.
    pub fn fetch(&mut self) -> Option<u32> {
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

    /// Registers a fetched command of so many pages, and returns its number.
    pub fn begin_flight(&mut self, pages: u32) -> u32 {
        let flight = self.flights.take();
        self.flights[flight] = Flight { pages_left: pages, last_end: 0 };
        flight
    }

    /// Ends pages of a command at `at`. Returns the end of the command if all ends are known.
    pub fn pages_end(&mut self, flight: u32, pages: u32, at: TimeNs) -> Option<TimeNs> {
        let state = &mut self.flights[flight];
        (state.pages_left, state.last_end) = (state.pages_left - pages, state.last_end.max(at));
        let Flight { pages_left, last_end } = *state;
        if pages_left > 0 {
            return None;
        }
        self.flights.give_back(flight);
        Some(last_end)
    }

    /// Ends a command that was fetched.
    pub fn end_flight(&mut self) {
        debug_assert!(self.in_flight > 0, "it was in flight");
        self.in_flight -= 1;
    }
}
