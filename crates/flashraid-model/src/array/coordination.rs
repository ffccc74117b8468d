//! The controller and its messages, as the array drives them.

use crate::TimeNs;
use crate::coordination::{Controller, ControllerAction, CoordinationParams, Mail, Mailbox, News, Notice, Notify, Pools, ToMember};

/// An action that a member must perform.
#[derive(Debug, Clone, Copy)]
pub(super) enum MemberAction {
    /// Process a message of the controller.
    Receive(ToMember),
    /// Ask for collection if the member has to.
    Ask,
}

/// The controller and the messages on their way.
#[derive(Debug, Clone)]
pub(super) struct Coordination {
    pub controller: Controller,
    pub mailbox: Mailbox,
    actions: Vec<ControllerAction>,
    /// Members, with the number of page writes after which the controller must be told.
    pub to_count: Vec<(u32, u64)>,
    pub members_ask_softly: bool,
}

impl Coordination {
    pub fn new(params: &CoordinationParams, pools: &Pools) -> Self {
        Self {
            controller: Controller::new(params, pools),
            mailbox: Mailbox::new(params),
            actions: Vec::new(),
            to_count: Vec::new(),
            members_ask_softly: params.notify == Notify::Soft,
        }
    }

    /// Returns the time at which a message arrives or the scheme has to act.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        let at = self.mailbox.next_time().min(self.controller.next_tick());
        (at < TimeNs::MAX).then_some(at)
    }

    pub fn request_arrives(&mut self, now: TimeNs) {
        self.controller.request_arrives(now);
        self.perform_actions(now);
    }

    pub fn request_done(&mut self, now: TimeNs) {
        self.controller.request_done(now);
        self.perform_actions(now);
    }

    /// Tells the controller that a member has been given more page writes than it could take.
    pub fn pages_are_used_up(&mut self, now: TimeNs, member: u32) {
        self.controller.pages_are_used_up(now, member);
        self.perform_actions(now);
    }

    /// Processes an event that a member reports.
    pub fn receive_notice(&mut self, notice: &Notice) {
        let Notice { at, member, news } = *notice;
        match news {
            News::Sends(message) => self.mailbox.post(at, member, message),
            News::MayAsk => self.mailbox.may_ask(at, member),
            News::CollectsUnanswered => self.controller.collects_unanswered(member),
        }
    }

    /// Processes the next message that is due now, or else lets the scheme act. Returns a member and the action that it must perform.
    pub fn step(&mut self, now: TimeNs) -> Option<(u32, MemberAction)> {
        match self.mailbox.pop_due(now) {
            Some((_, Mail::ToMember(member, message))) => return Some((member, MemberAction::Receive(message))),
            Some((_, Mail::MayAsk(member))) => return Some((member, MemberAction::Ask)),
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
                ControllerAction::CountPages(member, pages) => self.to_count.push((member, pages)),
                _ => self.mailbox.schedule_action(now, action),
            }
        }
    }
}
