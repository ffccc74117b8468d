//! Transfers over the host link and over the channels (rules 6 and 22).

use flashraid_model::flash::DieNumbering;

use super::buffer_of_pages::BufferedPage;
use super::front::{Front, Origin};
use super::work::{Doing, Worker};
use super::{Event, OpKind, Operation, Simulation};

/// A wire that carries one transfer after another. The end of a transfer is known when it is asked for, because earlier ones come first.
#[derive(Default)]
pub(super) struct Wires {
    free_ns: u64,
}

impl Wires {
    /// The end of what asks now.
    pub(super) fn asks(&mut self, now: u64, ns: u64) -> u64 {
        self.free_ns = self.free_ns.max(now) + ns;
        self.free_ns
    }
}

#[derive(Default)]
pub(super) struct Channel {
    user: Option<Worker>,
    /// Workers that asked, and for how long, in order of asking.
    waiting: Vec<(Worker, u64)>,
    wires: Wires,
}

#[derive(Default)]
pub(super) struct Lane {
    travelling: Option<Operation>,
    waiting: Vec<Operation>,
}

impl Lane {
    pub(super) fn operations(&mut self) -> impl Iterator<Item = &mut Operation> {
        self.travelling.iter_mut().chain(&mut self.waiting)
    }
}

// Channels that dies share.
impl Simulation<'_> {
    fn channel_of(&self, worker: Worker) -> usize {
        let (Worker::Slot { die } | Worker::Clean { die, .. } | Worker::Mate { die, .. }) = worker;
        let channel = self.ssd.channel.expect("there are channels");
        match channel.die_numbering {
            DieNumbering::ConsecutiveWithinChannel => die / channel.dies_per_channel as usize,
            DieNumbering::InterleavedDies => die % self.members[0].channels.len(),
        }
    }

    pub(super) fn ask_for_channel(&mut self, member: usize, worker: Worker, ns: u64) {
        let number = self.channel_of(worker);
        let channel = &mut self.members[member].channels[number];
        channel.waiting.push((worker, ns));
        let until = channel.wires.asks(self.now, ns);
        self.doing(member, worker, Doing::Transfers { until });
        self.start_transfer(member, number);
    }

    fn start_transfer(&mut self, member: usize, number: usize) {
        let channel = &mut self.members[member].channels[number];
        if channel.user.is_none() && !channel.waiting.is_empty() {
            let (worker, ns) = channel.waiting.remove(0);
            channel.user = Some(worker);
            self.schedule(ns, Event::Transferred { member, worker });
        }
    }

    /// Whoever has transferred goes on first, then the next one transfers (rule 25).
    pub(super) fn transferred(&mut self, member: usize, worker: Worker) {
        self.goes_on_together(member, worker);
        let number = self.channel_of(worker);
        self.members[member].channels[number].user = None;
        self.start_transfer(member, number);
    }
}

// The host link (rule 6). Lane 0 goes to the member; lane 1, or lane 0 if there is only one, goes to the host.
impl Simulation<'_> {
    /// A page operation sets out for its member. Only writes carry data there (rule 106).
    pub(super) fn issue(&mut self, member: usize, operation: Operation) {
        if operation.kind == OpKind::Write {
            self.write_is_given(member);
        }
        self.leave_sees_operation(member);
        self.window_sees_operation(member, operation.kind);
        self.balancing.given.push((member, self.now));
        if self.has_front() {
            self.front_does(member, |front| front.comes(operation));
        } else if operation.kind == OpKind::Write && self.ssd.link.is_some() {
            self.join_lane(member, 0, operation);
        } else {
            self.reach_member(member, operation);
        }
    }

    /// Writes that have not reached the member yet.
    pub(super) fn writes_on_the_way(&self, member: usize) -> Vec<Operation> {
        if self.has_front() {
            let of_member = &self.members[member];
            let buffered = of_member.buffered.iter().filter_map(BufferedPage::waits);
            return of_member.front.iter().flat_map(Front::writes).chain(buffered).collect();
        }
        let Some(lane) = self.members[member].lanes.first() else { return Vec::new() };
        lane.travelling.iter().chain(&lane.waiting).filter(|operation| operation.kind == OpKind::Write).copied().collect()
    }

    /// A die is done with an operation. Only reads carry data back (rule 106).
    pub(super) fn leaves_die(&mut self, member: usize, operation: Operation) {
        if operation.origin != Origin::Array {
            self.leaves_to_front(member, operation);
        } else if operation.kind == OpKind::Read && self.ssd.link.is_some() {
            let lane = self.members[member].lanes.len() - 1;
            self.join_lane(member, lane, operation);
        } else {
            self.operation_done(member, operation);
        }
    }

    fn join_lane(&mut self, member: usize, lane: usize, operation: Operation) {
        self.members[member].lanes[lane].waiting.push(operation);
        self.start_travel(member, lane);
    }

    fn start_travel(&mut self, member: usize, lane: usize) {
        let state = &mut self.members[member].lanes[lane];
        if state.travelling.is_none() && !state.waiting.is_empty() {
            state.travelling = Some(state.waiting.remove(0));
            let page_ns = self.ssd.link.expect("there is a link").page_transfer_ns;
            self.schedule(page_ns, Event::Travelled { member, lane });
        }
    }

    pub(super) fn travelled(&mut self, member: usize, lane: usize) {
        let operation = self.members[member].lanes[lane].travelling.expect("a page travels");
        if operation.kind == OpKind::Write {
            self.reach_member(member, operation);
        } else {
            self.operation_done(member, operation);
        }
        self.members[member].lanes[lane].travelling = None;
        self.start_travel(member, lane);
    }
}
