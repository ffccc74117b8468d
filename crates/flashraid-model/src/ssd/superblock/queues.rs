//! Submission queues: which command the drive fetches next (rule 219).

use super::{Drive, DriveWake, QueueParams, Table};
use crate::events::TimeNs;
use crate::ssd::Outbox;
use std::collections::VecDeque;

/// The queues, and what has been fetched of them.
#[derive(Debug, Clone)]
pub(super) struct Queues {
    params: QueueParams,
    /// Commands that have not been fetched, by queue.
    waiting: Vec<VecDeque<u32>>,
    /// The queue whose turn it is, and how many commands it has given in its turn.
    turn: usize,
    given: u32,
    in_flight: u32,
    flights: Table<Flight>,
}

/// A command that has been fetched and is not done.
#[derive(Debug, Clone, Copy, Default)]
struct Flight {
    /// Pages whose ends are not known.
    pages_left: u32,
    /// The last end that is known.
    last_end: TimeNs,
}

impl Queues {
    pub fn new(params: QueueParams) -> Self {
        let waiting = vec![VecDeque::new(); params.queues as usize];
        Self { params, waiting, turn: 0, given: 0, in_flight: 0, flights: Table::default() }
    }

    fn join(&mut self, source: u8, command: u32) {
        let queue = u32::from(source) % self.params.queues;
        self.waiting[queue as usize].push_back(command);
    }

    /// The next command, round robin; it is in flight from now on.
    fn fetch(&mut self) -> Option<u32> {
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
}

impl Drive {
    /// A command has begun: with queues it waits until it is fetched.
    pub(super) fn command_joins(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let Some(queues) = &mut self.queues else { return self.wants_core(now, id, out) };
        queues.join(self.commands[id].source(), id);
        self.fetch_commands(now, out);
    }

    fn fetch_commands(&mut self, now: TimeNs, out: &mut Outbox) {
        while let Some(queues) = &mut self.queues
            && let Some(id) = queues.fetch()
        {
            let command = &mut self.commands[id];
            command.flight = queues.flights.take();
            queues.flights[command.flight] = Flight { pages_left: command.ops.len() as u32, last_end: 0 };
            if now > command.arrived {
                self.drive_counters.fetch_waits += 1;
                self.drive_counters.fetch_wait_ns += now - command.arrived;
            }
            self.wants_core(now, id, out);
        }
    }

    /// Pages of a command in flight end at `at`; the end of the last one is an event.
    pub(super) fn pages_end(&mut self, flight: u32, pages: u32, at: TimeNs, out: &mut Outbox) {
        let Some(queues) = &mut self.queues else { return };
        let state = &mut queues.flights[flight];
        (state.pages_left, state.last_end) = (state.pages_left - pages, state.last_end.max(at));
        if state.pages_left == 0 {
            let last_end = state.last_end;
            queues.flights.give_back(flight);
            out.wake(last_end, DriveWake::Done);
        }
    }

    /// A command in flight is done.
    pub(super) fn command_done(&mut self, now: TimeNs, out: &mut Outbox) {
        if let Some(queues) = &mut self.queues {
            queues.in_flight -= 1;
        }
        self.fetch_commands(now, out);
    }
}
