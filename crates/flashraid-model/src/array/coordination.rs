//! The controller and its mail, as the array drives them.

use crate::TimeNs;
use crate::coordination::{Controller, CoordinationParams, Mail, Mailbox, Outgoing, Pools, ToMember};

/// The controller and the messages on their way.
#[derive(Debug, Clone)]
pub(super) struct Coordination {
    pub controller: Controller,
    pub mailbox: Mailbox,
    outgoing: Vec<Outgoing>,
}

impl Coordination {
    pub fn new(params: &CoordinationParams, pools: &Pools) -> Self {
        Self { controller: Controller::new(params, pools), mailbox: Mailbox::new(params), outgoing: Vec::new() }
    }

    /// When a message arrives or the scheme has something to do.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        let at = self.mailbox.next_time().min(self.controller.next_tick());
        (at < TimeNs::MAX).then_some(at)
    }

    pub fn request_arrives(&mut self, now: TimeNs) {
        self.controller.request_arrives(now);
        self.carry_out(now);
    }

    /// Lets arrive what is due now, messages before what the scheme does by the clock; returns a message for a member.
    pub fn step(&mut self, now: TimeNs) -> Option<(u32, ToMember)> {
        match self.mailbox.pop_due(now) {
            Some((_, Mail::ToMember(member, message))) => return Some((member, message)),
            Some((_, Mail::ToController(member, message))) => self.controller.receive(now, member, message),
            Some((_, Mail::BeginCycle)) => self.controller.begin_cycle(),
            None => self.controller.tick(now),
        }
        self.carry_out(now);
        None
    }

    fn carry_out(&mut self, now: TimeNs) {
        self.controller.take_outgoing(&mut self.outgoing);
        for outgoing in self.outgoing.drain(..) {
            self.mailbox.carry_out(now, outgoing);
        }
    }
}
