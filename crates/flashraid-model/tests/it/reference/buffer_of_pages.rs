//! Section 25 of the rules: what stands before dies with pools brings pages to them, one by one, and its buffer holds pages.

use std::collections::BTreeSet;

use flashraid_model::ssd::DieChoiceForWrites;

use super::front::{Front, FrontEvent, Origin, Told};
use super::{Awaited, Event, OpKind, Operation, Purpose, Simulation};

/// A page of the buffer.
pub(super) struct BufferedPage {
    operation: Operation,
    state: State,
    /// True until the start of the page has been seen, so that it keeps other pages from its die.
    holds_place: bool,
    /// Reads and writes don't find it.
    is_hidden: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waits,
    Given,
    Begun,
    Gone,
}

impl BufferedPage {
    pub(super) fn is_there(&self) -> bool {
        self.state != State::Gone
    }

    /// The write that no die has got yet, if none has.
    pub(super) fn waits(&self) -> Option<Operation> {
        (self.state == State::Waits).then_some(self.operation)
    }
}

impl Simulation<'_> {
    pub(super) fn front(&mut self, member: usize) -> &mut Front {
        let of_member = &mut self.members[member];
        of_member.drive.as_mut().map(|drive| &mut drive.front).or(of_member.front.as_mut()).expect("there is a front")
    }

    /// Lets a front act, and takes what it tells.
    pub(super) fn front_does<T>(&mut self, member: usize, act: impl FnOnce(&mut Front) -> T) -> T {
        let front = self.front(member);
        let result = act(front);
        let told = std::mem::take(&mut front.told);
        self.hears(member, told);
        result
    }

    pub(super) fn hears(&mut self, member: usize, told: Vec<Told>) {
        for told in told {
            match told {
                Told::At(at, event) => self.schedule(at - self.now, event),
                Told::Sends(message) => self.send(member, message),
                Told::Asks(pages_left, is_at_limit) => self.drive_asks(member, pages_left, is_at_limit),
                Told::CollectsByNeed => self.drive_collects_by_need(member),
                Told::FreeChanged { opened } => self.drive_free_changed(member, opened),
                Told::HasDone => self.work_is_done(member),
            }
        }
    }

    /// The part of a mix that an operation belongs to (rule 219), and whether what it writes is to survive a loss of power.
    pub(super) fn source_and_fua(&self, job: Option<usize>) -> (u8, bool) {
        let Some(job) = job else { return (0, false) };
        match self.jobs[job].purpose {
            Purpose::Host { request } => (self.case.requests[request].stream, self.case.requests[request].fua),
            Purpose::Cache { awaited: Awaited::ReadFromArray { request } | Awaited::Trimmed { request }, .. } => {
                (self.case.requests[request].stream, false)
            }
            Purpose::Cache { .. } => (0, false),
        }
    }

    pub(super) fn front_event(&mut self, member: usize, what: FrontEvent) {
        if let FrontEvent::Ends(operation) = what {
            if self.is_drive() && operation.kind == OpKind::Read && operation.parts.collection_ns > 0 {
                // A read that waited for collection met it (rule 214).
                self.mark_met(member, &operation);
            }
            return self.operation_done(member, operation);
        }
        if self.members[member].drive.is_some() {
            return self.drive_does(member, |drive| drive.front_event(what));
        }
        let now = self.now;
        match what {
            FrontEvent::Complete(number) => self.front_does(member, |front| {
                front.is_complete(number);
                front.joins(number);
            }),
            FrontEvent::CoreDone(core) => self.front_does(member, |front| {
                assert!(front.core_is_done(core).is_none(), "cleans need no core");
                front.use_cores();
            }),
            FrontEvent::LatencyOver(number) => {
                self.front(member).command(number).begun_ns = now;
                self.goes_to_work(member, number);
            }
            FrontEvent::Crossed(number) => {
                let front = self.front(member);
                front.command(number).crossed_ns = now;
                if front.params.write_buffer.is_some() {
                    front.entering.push(number);
                    self.bring_in(member);
                } else {
                    let operations = front.command(number).operations.clone();
                    front.command(number).passed = operations.len();
                    self.bring_to_dies(member, number, operations);
                }
            }
            FrontEvent::Begun(page) => {
                self.members[member].buffered[page].holds_place = false;
                let lane = self.lane_of(member, page);
                self.feed(member, lane);
            }
            FrontEvent::Programmed(page) => {
                self.leaves_buffer(member, page);
                self.bring_in(member);
            }
            FrontEvent::Done => self.front_does(member, Front::command_is_done),
            FrontEvent::Ends(_) => unreachable!("it has ended"),
        }
    }

    /// The page of the buffer that holds a page.
    pub(super) fn holder(&self, member: usize, page: u64) -> Option<usize> {
        let holds = |of_buffer: &BufferedPage| of_buffer.operation.page == page && !of_buffer.is_hidden && of_buffer.is_there();
        self.members[member].buffered.iter().position(holds)
    }

    /// Begins the work of a command (rule 224).
    fn goes_to_work(&mut self, member: usize, number: usize) {
        let operations = self.front(member).command(number).operations.clone();
        match operations[0].kind {
            OpKind::Read => {
                let (hits, others): (Vec<_>, Vec<_>) =
                    operations.into_iter().partition(|operation| self.holder(member, operation.page).is_some());
                for mut operation in hits {
                    self.front_does(member, |front| {
                        front.counters.pages_read_from_buffer += 1;
                        front.books(number, &mut operation);
                        front.goes_to_host(number, operation);
                    });
                }
                self.bring_to_dies(member, number, others);
            }
            OpKind::Write => self.front_does(member, |front| front.sends_data(number)),
            OpKind::Trim => {
                for operation in &operations {
                    self.is_trimmed(member, operation.page);
                }
                self.bring_to_dies(member, number, operations);
                self.bring_in(member);
            }
            OpKind::Flush => {
                let buffered = &self.members[member].buffered;
                let all = (0..buffered.len()).filter(|&page| buffered[page].is_there()).collect();
                self.front_does(member, |front| front.flush_begins(number, all));
            }
        }
    }

    fn bring_to_dies(&mut self, member: usize, number: usize, operations: Vec<Operation>) {
        for mut operation in operations {
            operation.origin = Origin::Command(number);
            self.front(member).books(number, &mut operation);
            self.reach_member(member, operation);
        }
    }

    /// A die is done with what has come through the front.
    pub(super) fn leaves_to_front(&mut self, member: usize, operation: Operation) {
        let now = self.now;
        match operation.origin {
            Origin::Array => unreachable!("it has not come through the front"),
            Origin::Buffer(page) => self.schedule(0, Event::Front { member, what: FrontEvent::Programmed(page) }),
            Origin::Command(number) => self.front_does(member, |front| match operation.kind {
                OpKind::Read => front.goes_to_host(number, operation),
                _ => front.page_ends(number, operation, now),
            }),
        }
    }

    /// Admits pages to the buffer (rule 225).
    fn bring_in(&mut self, member: usize) {
        let Some(buffer) = self.front(member).params.write_buffer else { return };
        while let Some(&number) = self.front(member).entering.first() {
            while let Some(&operation) = {
                let command = self.front(member).command(number);
                command.operations.get(command.passed)
            } {
                if !self.enters(member, operation, buffer.capacity_mapping_units as usize) {
                    return self.front_does(member, Front::finds_no_room);
                }
                self.front(member).command(number).passed += 1;
            }
            let operations = self.front(member).command(number).operations.clone();
            let holders: BTreeSet<usize> = operations.iter().filter_map(|operation| self.holder(member, operation.page)).collect();
            self.front_does(member, |front| front.is_in(holders));
        }
    }

    fn enters(&mut self, member: usize, operation: Operation, units: usize) -> bool {
        let holder = self.holder(member, operation.page);
        if holder.is_some_and(|page| self.members[member].buffered[page].state != State::Begun) {
            self.front(member).counters.units_overwritten_in_buffer += 1;
            return true;
        }
        let buffered = &mut self.members[member].buffered;
        if buffered.iter().filter(|page| page.is_there()).count() == units {
            return false;
        }
        for page in buffered.iter_mut().filter(|page| page.operation.page == operation.page) {
            page.is_hidden = true;
        }
        buffered.push(BufferedPage { operation, state: State::Waits, holds_place: false, is_hidden: false });
        let lane = self.lane_of(member, self.members[member].buffered.len() - 1);
        self.feed(member, lane);
        true
    }

    /// The die of a page or, if dies are chosen late, none.
    fn lane_of(&self, member: usize, page: usize) -> Option<usize> {
        let page = self.members[member].buffered[page].operation.page;
        (self.ssd.writes.allocation == DieChoiceForWrites::Static).then(|| self.members[member].flash.home_die(page))
    }

    /// Sends buffered pages to their dies (rule 226).
    fn feed(&mut self, member: usize, lane: Option<usize>) {
        let places = if lane.is_some() { 1 } else { self.members[member].dies.len() };
        loop {
            let buffered = &self.members[member].buffered;
            let of_lane: Vec<usize> = (0..buffered.len()).filter(|&page| self.lane_of(member, page) == lane).collect();
            if of_lane.iter().filter(|&&page| buffered[page].holds_place).count() == places {
                return;
            }
            let Some(page) = of_lane.into_iter().find(|&page| buffered[page].state == State::Waits) else { return };
            let now = self.now;
            let of_buffer = &mut self.members[member].buffered[page];
            (of_buffer.state, of_buffer.holds_place) = (State::Given, true);
            let operation =
                Operation { job: None, stripe_operation: None, origin: Origin::Buffer(page), issued_ns: now, ..of_buffer.operation };
            self.reach_member(member, operation);
        }
    }

    /// An operation leaves the queue of its die.
    pub(super) fn front_sees_begin(&mut self, member: usize, operation: &Operation) {
        if let Origin::Buffer(page) = operation.origin {
            self.members[member].buffered[page].state = State::Begun;
            self.schedule(0, Event::Front { member, what: FrontEvent::Begun(page) });
        }
    }

    /// Removes a trimmed page from the buffer (rule 227).
    fn is_trimmed(&mut self, member: usize, page: u64) {
        let holder = self.holder(member, page);
        let buffered = &mut self.members[member].buffered;
        for of_buffer in buffered.iter_mut().filter(|of_buffer| of_buffer.operation.page == page) {
            of_buffer.is_hidden = true;
        }
        if let Some(holder) = holder.filter(|&holder| self.members[member].buffered[holder].state == State::Waits) {
            self.front(member).counters.units_trimmed_in_buffer += 1;
            self.leaves_buffer(member, holder);
        }
    }

    fn leaves_buffer(&mut self, member: usize, page: usize) {
        self.members[member].buffered[page].state = State::Gone;
        self.front_does(member, |front| front.batch_has_left(page));
    }
}
