//! Members that collect one at a time, in rotation (rules 290 to 292).

use std::collections::BTreeMap;

use flashraid_model::coordination::{CoordinationPolicy, RotatingCollection, RotationCounters};

use super::coordination::{CHECK_RANK, Controller, Message};
use super::{Event, Simulation};

/// The rotation, as the controller knows it.
#[derive(Default)]
pub(super) struct OfController {
    /// Time of the registration of each member that waits.
    waiting: BTreeMap<usize, u64>,
    last: Option<usize>,
    last_end_ns: Option<u64>,
    turns: u64,
    waited_ns: u64,
}

/// The rotation, as a member knows it.
#[derive(Default)]
pub(super) struct OfMember {
    is_registered: bool,
    turn_ended_ns: Option<u64>,
    out_of_turn: u64,
}

impl OfController {
    pub(super) fn loses(&mut self, member: usize) {
        self.waiting.remove(&member);
    }
}

impl Controller {
    pub(super) fn rotate(&self) -> Option<&RotatingCollection> {
        match &self.params.scheme {
            CoordinationPolicy::RotatingCollection(rotate) => Some(rotate),
            _ => None,
        }
    }
}

// Members that wait for their turns.
impl Simulation<'_> {
    fn rotate(&self) -> Option<&RotatingCollection> {
        self.controller.as_ref()?.rotate()
    }

    pub(super) fn rotates(&self, member: usize) -> bool {
        self.knows_protocol(member) && self.rotate().is_some()
    }

    /// Free blocks at which a member registers, and up to which a pool takes part in its turn.
    pub(super) fn limit_of_rotation(&self) -> u32 {
        self.blocks(self.rotate().expect("members rotate").ask_at)
    }

    /// A host write, or a superblock that was opened, leaves so many free blocks.
    pub(super) fn rotation_sees_free(&mut self, member: usize, free: u32) {
        if free <= self.limit_of_rotation() && !std::mem::replace(&mut self.protocol(member).rotation.is_registered, true) {
            self.send(member, Message::Participate);
        }
    }

    pub(super) fn rotation_sees_need(&mut self, member: usize) {
        let of_member = &self.members[member];
        let has_turn = of_member.protocol.forced.is_some() || of_member.drive.as_ref().is_some_and(|drive| drive.is_forced());
        let now = self.now;
        let rotation = &mut self.protocol(member).rotation;
        rotation.out_of_turn += u64::from(!has_turn && rotation.turn_ended_ns != Some(now));
    }

    pub(super) fn turn_of_rotation_begins(&mut self, member: usize) {
        self.protocol(member).rotation.is_registered = false;
    }

    pub(super) fn turn_of_rotation_ends(&mut self, member: usize) {
        let now = self.now;
        self.protocol(member).rotation.turn_ended_ns = Some(now);
    }

    pub(super) fn rotation_counters(&self) -> Option<RotationCounters> {
        self.rotate()?;
        let OfController { turns, waited_ns, .. } = self.controller.as_ref()?.rotation;
        let cleans_out_of_turn = self.members.iter().map(|member| member.protocol.rotation.out_of_turn).sum();
        Some(RotationCounters { turns, waited_ns, cleans_out_of_turn })
    }
}

// The controller that gives turns.
impl Simulation<'_> {
    pub(super) fn rotation_is_told(&mut self, member: usize, message: Message) {
        let now = self.now;
        let controller = self.controller.as_mut().expect("somebody tells it");
        match message {
            Message::Participate if controller.lost.contains(&member) => {}
            Message::Participate => {
                controller.rotation.waiting.entry(member).or_insert(now);
            }
            Message::GcDone => {
                controller.forced.remove(&member);
                controller.rotation.last_end_ns = Some(now);
            }
            _ => unreachable!("members that rotate say nothing else"),
        }
        let rests_until = self.rests_until();
        self.schedule_with_rank(rests_until.saturating_sub(now), CHECK_RANK, Event::NextInRotation);
    }

    /// Returns the end of the pause after the last turn.
    fn rests_until(&self) -> u64 {
        let end = self.controller.as_ref().expect("members rotate").rotation.last_end_ns;
        end.map_or(0, |end| end + self.rotate().expect("members rotate").pause.ns)
    }

    /// Gives the turn to the next that waits, if nobody has it (rule 291).
    pub(super) fn next_in_rotation(&mut self) {
        let (now, rests_until) = (self.now, self.rests_until());
        let controller = self.controller.as_mut().expect("members rotate");
        let rotation = &mut controller.rotation;
        if !controller.forced.is_empty() || now < rests_until {
            return;
        }
        let mut round = rotation.waiting.keys().copied().collect::<Vec<_>>();
        round.sort_by_key(|&member| (rotation.last.is_some_and(|last| member <= last), member));
        let Some(&member) = round.first() else { return };
        rotation.last = Some(member);
        rotation.turns += 1;
        rotation.waited_ns += now - rotation.waiting.remove(&member).expect("it waits");
        let work = controller.params.force_until;
        self.force([member].into(), work);
    }
}
