//! Messages between controller and members that have not arrived yet, and counts of all messages.

use super::{
    ControllerAction, CoordinationParams, MESSAGE_KIND_NAMES, MESSAGE_KINDS, MessageKind, MessageLatency, NEVER, ToController, ToMember,
};
use crate::TimeNs;
use std::collections::BTreeMap;

/// A message that arrives, or a timer that ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mail {
    /// A message from the member with this number to the controller.
    ToController(u32, ToController),
    /// A message from the controller to the member with this number.
    ToMember(u32, ToMember),
    /// The timer of the controller: the cycle of forced collection that members have asked for may begin. A cycle lasts from the
    /// controller's order until all forced members have finished.
    BeginCycle,
}

impl Mail {
    /// Returns the order of messages that arrive at the same nanosecond (rule 42). It depends neither on who sent first nor on the numbers
    /// of the members.
    fn rank(&self) -> u8 {
        match self {
            Self::ToMember(_, ToMember::CheckDuty) => 0,
            Self::ToController(_, ToController::GcDone | ToController::CollectionWithoutPermissionEnds) => 1,
            Self::ToController(_, ToController::RegisterForCycle) => 2,
            Self::ToController(_, ToController::GcState(_)) => 3,
            Self::ToController(_, ToController::GcRequest(_)) => 4,
            Self::ToController(_, ToController::AskGc { .. }) => 5,
            Self::BeginCycle => 6,
            Self::ToMember(_, ToMember::ForceCollection(_)) => 7,
            Self::ToMember(_, ToMember::Grant(_)) => 8,
            Self::ToMember(_, ToMember::StopIdleCollection) => 9,
            Self::ToMember(_, ToMember::Deny) => 10,
            Self::ToMember(_, ToMember::ReportState) => 11,
            Self::ToMember(_, ToMember::CloseTurn) => 12,
            Self::ToMember(_, ToMember::EndTurn) => 13,
            Self::ToMember(_, ToMember::CheckWindow) => 14,
            Self::ToMember(_, ToMember::BeginTurn { .. }) => 15,
        }
    }
}

/// Messages that have not arrived yet, in the order of their arrival.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox {
    latency: MessageLatency,
    /// Messages by time of arrival, rank and order of sending.
    under_way: BTreeMap<(TimeNs, u8, u64), Mail>,
    scheduled: u64,
    sent: [u64; MESSAGE_KINDS],
    /// Messages that were sent, each with its time.
    #[cfg(test)]
    pub(crate) log: Vec<(TimeNs, Mail)>,
}

impl Mailbox {
    /// Returns a mailbox without messages.
    pub(crate) fn new(params: &CoordinationParams) -> Self {
        Self {
            latency: params.latency,
            under_way: BTreeMap::new(),
            scheduled: 0,
            sent: [0; MESSAGE_KINDS],
            #[cfg(test)]
            log: Vec::new(),
        }
    }

    /// Returns the time of the next arrival, or [`TimeNs::MAX`] if there is none.
    #[inline]
    pub(crate) fn next_time(&self) -> TimeNs {
        self.under_way.first_key_value().map_or(NEVER, |(&(at, ..), _)| at)
    }

    /// Removes and returns the next message if it arrives no later than `until`.
    pub(crate) fn pop_due(&mut self, until: TimeNs) -> Option<(TimeNs, Mail)> {
        let next = self.under_way.first_entry()?;
        let at = next.key().0;
        (at <= until).then(|| (at, next.remove()))
    }

    /// Sends a message from a member to the controller.
    pub(crate) fn post(&mut self, at: TimeNs, member: u32, message: ToController) {
        self.send(at, message.kind(), Mail::ToController(member, message));
    }

    /// Schedules a check at the end of that nanosecond: the member asks to collect if it must.
    pub(crate) fn may_ask(&mut self, at: TimeNs, member: u32) {
        self.schedule(at, Mail::ToMember(member, ToMember::CheckDuty));
    }

    /// Schedules a look of a member, at the end of that nanosecond, whether it must leave its deterministic window.
    pub(crate) fn window_may_end(&mut self, at: TimeNs, member: u32) {
        self.schedule(at, Mail::ToMember(member, ToMember::CheckWindow));
    }

    /// Removes the looks that are still to come, because no member leaves its deterministic window by itself any more.
    pub(crate) fn forget_windows(&mut self) {
        self.under_way.retain(|_, mail| !matches!(mail, Mail::ToMember(_, ToMember::CheckWindow)));
    }

    /// Schedules an action that the controller asked for.
    pub(crate) fn schedule_action(&mut self, now: TimeNs, actions: ControllerAction) {
        match actions {
            ControllerAction::Message(member, message) => {
                let kind = message.kind().expect("nobody sends what the clock tells");
                self.send(now, kind, Mail::ToMember(member, message));
            }
            ControllerAction::TellAt(at, member, message) => self.schedule(at, Mail::ToMember(member, message)),
            ControllerAction::BeginCycleAt(at) => self.schedule(at, Mail::BeginCycle),
            ControllerAction::WatchPageWrites(..) => debug_assert!(false, "nothing is sent"),
        }
    }

    fn send(&mut self, now: TimeNs, kind: MessageKind, mail: Mail) {
        self.sent[kind as usize] += 1;
        #[cfg(test)]
        self.log.push((now, mail));
        self.schedule(now + self.latency.ns(kind), mail);
    }

    /// Delivers a message to a member at that time, as if the controller had sent it.
    #[cfg(test)]
    pub(crate) fn deliver(&mut self, at: TimeNs, member: u32, message: ToMember) {
        self.schedule(at, Mail::ToMember(member, message));
    }

    fn schedule(&mut self, at: TimeNs, mail: Mail) {
        self.under_way.insert((at, mail.rank(), self.scheduled), mail);
        self.scheduled += 1;
    }

    /// Returns the number of messages sent so far, by [`MessageKind`].
    pub(crate) fn sent(&self) -> [u64; MESSAGE_KINDS] {
        self.sent
    }
}

/// Returns the number of messages of each kind that were sent between the counts `earlier` and `later`, by name. Kinds that only some
/// schemes use are left out if they were not sent.
pub fn message_counts_by_name(later: [u64; MESSAGE_KINDS], earlier: [u64; MESSAGE_KINDS]) -> BTreeMap<String, u64> {
    let known_to_all = |kind: usize| kind < MessageKind::Grant as usize;
    let counts = MESSAGE_KIND_NAMES.iter().zip(later.iter().zip(earlier)).enumerate();
    counts.filter(|&(kind, (_, (&l, e)))| known_to_all(kind) || l > e).map(|(_, (name, (&l, e)))| ((*name).to_owned(), l - e)).collect()
}

#[cfg(test)]
mod tests {
    use super::Mail;
    use crate::coordination::{CollectionUrgency, ForcedCollectionAmount, MemberState, ToController, ToMember};

    /// Mail that arrives at one nanosecond is taken in the order of its kinds (rule 42).
    #[test]
    fn every_kind_of_mail_has_its_rank() {
        let state = MemberState { free_blocks_min: 1, blocks_above_start: 0 };
        let in_order = [
            Mail::ToMember(0, ToMember::CheckDuty),
            Mail::ToController(0, ToController::GcDone),
            Mail::ToController(0, ToController::RegisterForCycle),
            Mail::ToController(0, ToController::GcState(state)),
            Mail::ToController(0, ToController::GcRequest(CollectionUrgency::AT_LIMIT)),
            Mail::ToController(0, ToController::AskGc { least_free_blocks: 1 }),
            Mail::BeginCycle,
            Mail::ToMember(0, ToMember::ForceCollection(ForcedCollectionAmount::OneVictimPerDie)),
            Mail::ToMember(0, ToMember::Grant(ForcedCollectionAmount::OneVictimPerDie)),
            Mail::ToMember(0, ToMember::StopIdleCollection),
            Mail::ToMember(0, ToMember::Deny),
            Mail::ToMember(0, ToMember::ReportState),
            Mail::ToMember(0, ToMember::CloseTurn),
            Mail::ToMember(0, ToMember::EndTurn),
            Mail::ToMember(0, ToMember::CheckWindow),
            Mail::ToMember(0, ToMember::BeginTurn { begin_cleans_until: 1, end: 2 }),
        ];
        for (rank, mail) in in_order.iter().enumerate() {
            assert_eq!(usize::from(mail.rank()), rank, "{mail:?}");
        }
    }
}
