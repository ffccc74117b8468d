//! Members that take turns to collect (rules 264 to 266).

use flashraid_model::coordination::{CollectionTimeWindows, CoordinationPolicy, TurnEndMargin};

use super::coordination::{CHECK_RANK, TURN_BEGINS, TURN_CLOSES, TURN_ENDS};
use super::superblocks::Drive;
use super::{Event, Simulation};

impl Simulation<'_> {
    pub(super) fn windows(&self) -> Option<CollectionTimeWindows> {
        match &self.controller.as_ref()?.params.scheme {
            CoordinationPolicy::CollectionTimeWindows(windows) => Some(windows.clone()),
            _ => None,
        }
    }

    pub(super) fn takes_turns(&self, member: usize) -> bool {
        self.knows_protocol(member) && self.windows().is_some()
    }

    /// Free blocks up to which pools of the member are cleaned now, if it is its turn.
    pub(super) fn cleans_in_turn_up_to(&self, member: usize) -> Option<u32> {
        let windows = self.windows().filter(|_| self.takes_turns(member))?;
        (self.now < self.members[member].protocol.turn_until_ns).then(|| self.blocks(windows.clean_at))
    }

    pub(super) fn next_turn(&mut self, number: u64) {
        if self.run_is_over() {
            return;
        }
        let windows = self.windows().expect("somebody takes turns");
        let TurnEndMargin::Time(buffer) = windows.buffer else { panic!("cases say how long it is") };
        let controller = self.controller.as_ref().expect("somebody takes turns");
        let mut member = number as usize % self.case.params.members as usize;
        while let Some(&(_, spare)) = controller.leave.spares.iter().find(|&&(failed, _)| failed == member) {
            member = spare;
        }
        let is_lost = controller.lost.contains(&member);
        self.schedule_with_rank(windows.window.ns, CHECK_RANK + TURN_BEGINS, Event::NextTurn { number: number + 1 });
        if is_lost || !self.takes_turns(member) {
            return;
        }
        let until = windows.window.ns - buffer.ns;
        self.schedule_with_rank(until, CHECK_RANK + TURN_CLOSES, Event::TurnClosesToCollection { member });
        self.schedule_with_rank(windows.window.ns, CHECK_RANK + TURN_ENDS, Event::TurnEnds { member });
        let now = self.now;
        self.protocol(member).turn_began_ns = Some(now);
        self.protocol(member).turn_until_ns = now + until;
        if self.is_drive() {
            return self.drive_collects_in_turn(member);
        }
        for die in 0..self.members[member].dies.len() {
            if self.members[member].dies[die].is_at_rest() {
                self.goes_on(member, die);
            }
        }
    }

    pub(super) fn drive_collects_in_turn(&mut self, member: usize) {
        let Some(up_to) = self.cleans_in_turn_up_to(member) else { return };
        let drive = self.members[member].drive.as_ref().expect("it is a drive");
        if drive.free_superblocks() <= up_to && !drive.is_forced() {
            self.drive_does(member, Drive::turn_begins);
        }
    }

    /// Returns the end of the member's turn, if it is in it (rule 242).
    pub(super) fn turn_until(&self, member: usize) -> Option<u64> {
        let begin_ns = self.members[member].protocol.turn_began_ns?;
        let end = begin_ns + self.windows().expect("somebody takes turns").window.ns;
        (self.now < end).then_some(end)
    }

    pub(super) fn turn_closes(&mut self, member: usize) {
        self.protocol(member).turn_until_ns = 0;
        if self.is_drive() {
            self.drive_does(member, Drive::turn_closes);
        }
    }

    pub(super) fn turn_is_over(&mut self, member: usize) {
        let of_member = &self.members[member];
        let overruns = match &of_member.drive {
            Some(drive) => drive.works_for_collection(),
            None => of_member.dies.iter().flat_map(|die| die.cleans.values()).any(|clean| clean.in_turn),
        };
        self.protocol(member).turns.1 += u64::from(overruns);
    }
}
