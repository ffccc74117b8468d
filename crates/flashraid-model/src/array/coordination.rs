//! The controller that coordinates garbage collection, and the messages between it and the members.

use crate::TimeNs;
use crate::coordination::{
    Controller, ControllerAction, CoordinatedArray, CoordinationParams, JointCollectionRequestTiming, Mail, Mailbox, MemberEvent, Notice,
    ToMember,
};

/// The controller and the messages that have not arrived yet.
#[derive(Debug, Clone)]
pub(super) struct Coordination {
    pub(crate) controller: Controller,
    pub(crate) mailbox: Mailbox,
    actions: Vec<ControllerAction>,
    /// Members whose page writes must be counted, each with a limit. The controller must be told when a member has received more page
    /// writes than the limit, counted from the start of the run.
    pub(crate) page_allowances_to_count: Vec<(u32, u64)>,
    pub(crate) uses_soft_notification: bool,
}

impl Coordination {
    pub(super) fn new(params: &CoordinationParams, array: &CoordinatedArray) -> Self {
        Self {
            controller: Controller::new(params, array),
            mailbox: Mailbox::new(params),
            actions: Vec::new(),
            page_allowances_to_count: Vec::new(),
            uses_soft_notification: params.notify() == JointCollectionRequestTiming::AtSoftThreshold,
        }
    }

    /// Returns the time of the next message, or of the next action of the coordination scheme.
    #[inline]
    pub(super) fn next_time(&self) -> Option<TimeNs> {
        let at = self.mailbox.next_time().min(self.controller.next_tick());
        (at < TimeNs::MAX).then_some(at)
    }

    pub(crate) fn request_arrives(&mut self, now: TimeNs) {
        self.controller.request_arrives(now);
        self.perform_actions(now);
    }

    pub(crate) fn request_done(&mut self, now: TimeNs) {
        self.controller.request_done(now);
        self.perform_actions(now);
    }

    /// Tells the controller that a member has received more page writes than its allowance.
    pub(crate) fn page_allowance_is_used_up(&mut self, now: TimeNs, member: u32) {
        self.controller.page_allowance_is_used_up(now, member);
        self.perform_actions(now);
    }

    /// Passes an event that a member has reported to the controller.
    pub(crate) fn receive_notice(&mut self, notice: &Notice) {
        let Notice { at, member, event } = *notice;
        match event {
            MemberEvent::Sends(message) => self.mailbox.post(at, member, message),
            MemberEvent::AskTimerEnds => self.mailbox.may_ask(at, member),
            MemberEvent::WindowMayEnd => self.mailbox.window_may_end(at, member),
            MemberEvent::BeginsNonDeterministicWindow { begin_cleans_until, end } => {
                ControllerAction::turn(at, member, begin_cleans_until, end)
                    .into_iter()
                    .for_each(|action| self.mailbox.schedule_action(at, action));
            }
            MemberEvent::BeginsCollectionWithoutAnswer => self.controller.collects_unanswered(member),
        }
    }

    /// Delivers the next message that is due now; if there is none, lets the coordination scheme act. Returns a message that has
    /// arrived at a member.
    pub(super) fn step(&mut self, now: TimeNs) -> Option<(u32, ToMember)> {
        match self.mailbox.pop_due(now) {
            Some((_, Mail::ToMember(member, ToMember::CheckWindow))) if self.controller.has_failed(member) => {}
            Some((_, Mail::ToMember(member, message))) => return Some((member, message)),
            Some((_, Mail::ToController(member, message))) => self.controller.receive(now, member, message),
            Some((_, Mail::BeginCycle)) => self.controller.begin_cycle(now),
            None => self.controller.tick(now),
        }
        self.perform_actions(now);
        None
    }

    fn perform_actions(&mut self, now: TimeNs) {
        self.controller.take_actions(&mut self.actions);
        for action in self.actions.drain(..) {
            match action {
                ControllerAction::WatchPageWrites(member, pages) => self.page_allowances_to_count.push((member, pages)),
                _ => self.mailbox.schedule_action(now, action),
            }
        }
    }
}
