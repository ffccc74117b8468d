//! Members that take turns to collect (rules 264 to 266), and NVMe's windows (rules 284 to 289).

use flashraid_model::coordination::{CollectionTimeWindows, CoordinationPolicy, PredictableLatencyCounters, TurnEndMargin, WindowProtocol};
use flashraid_model::request::OpKind;

use super::coordination::{CHECK_RANK, TURN_BEGINS, TURN_CLOSES, TURN_ENDS, WINDOW_LOOK};
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
        let window_ns = self.windows().expect("somebody takes turns").window.ns;
        let controller = self.controller.as_ref().expect("somebody takes turns");
        let mut member = number as usize % self.case.params.members as usize;
        while let Some(&(_, spare)) = controller.leave.spares.iter().find(|&&(failed, _)| failed == member) {
            member = spare;
        }
        let is_lost = controller.lost.contains(&member);
        self.schedule_with_rank(window_ns, CHECK_RANK + TURN_BEGINS, Event::NextTurn { number: number + 1 });
        if is_lost || !self.takes_turns(member) {
            return;
        }
        self.dtwin_ends(member, None);
        self.ndwin_or_turn_begins(member, window_ns);
    }

    /// A turn begins, or a window that is like one (rule 286).
    fn ndwin_or_turn_begins(&mut self, member: usize, length_ns: u64) {
        let TurnEndMargin::Time(buffer) = self.windows().expect("somebody takes turns").buffer else { panic!("cases say how long it is") };
        let (now, until) = (self.now, length_ns - buffer.ns);
        self.schedule_with_rank(until, CHECK_RANK + TURN_CLOSES, Event::TurnClosesToCollection { member });
        self.schedule_with_rank(length_ns, CHECK_RANK + TURN_ENDS, Event::TurnEnds { member });
        let protocol = self.protocol(member);
        (protocol.turn_until_ns, protocol.turn_ends_ns) = (now + until, Some(now + length_ns));
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
        self.members[member].protocol.turn_ends_ns.filter(|&end| self.now < end)
    }

    pub(super) fn turn_closes(&mut self, member: usize) {
        if self.now < self.protocol(member).turn_until_ns {
            return;
        }
        self.protocol(member).turn_until_ns = 0;
        if self.is_drive() {
            self.drive_does(member, Drive::turn_closes);
        }
    }

    pub(super) fn turn_is_over(&mut self, member: usize) {
        let now = self.now;
        if self.protocol(member).turn_ends_ns.take_if(|end| *end <= now).is_none() {
            return;
        }
        let of_member = &self.members[member];
        let overruns = match &of_member.drive {
            Some(drive) => drive.works_for_collection(),
            None => of_member.dies.iter().flat_map(|die| die.cleans.values()).any(|clean| clean.in_turn),
        };
        self.protocol(member).turns.1 += u64::from(overruns);
        self.dtwin_begins(member, false);
    }
}

/// Windows of a member (rules 284 to 289). Reads are 0, writes are 1, and time is 2.
#[derive(Default)]
pub(super) struct Windows {
    /// Estimates for the present DTWIN, or those at its end.
    left: [u64; 3],
    /// More was given than was left.
    is_exceeded: [bool; 2],
    is_excursion: bool,
    /// Beginnings of windows, and true for a DTWIN.
    history: Vec<(u64, bool)>,
    pub counters: PredictableLatencyCounters,
}

/// Reason for which a member leaves its DTWIN by itself.
enum Reason {
    Exceeds(usize),
    Excursion,
}

impl Simulation<'_> {
    fn nvme(&self, member: usize) -> Option<CollectionTimeWindows> {
        self.windows().filter(|windows| windows.protocol == WindowProtocol::Nvme && self.takes_turns(member))
    }

    /// Returns the values of the attributes that have a limit.
    fn promised(&self, member: usize) -> [Option<u64>; 3] {
        let Some(windows) = self.nvme(member) else { return [None; 3] };
        [windows.dtwin_reads_typical.0, windows.dtwin_writes_typical.0, windows.dtwin_time_maximum.0.map(|time| time.ns)]
    }

    fn is_in_dtwin(&self, member: usize) -> bool {
        self.members[member].protocol.windows.history.last().is_some_and(|&(_, is_dtwin)| is_dtwin)
    }

    /// A DTWIN begins, which is the first of the member if it has just joined.
    pub(super) fn dtwin_begins(&mut self, member: usize, joins: bool) {
        let Some(windows) = self.nvme(member) else { return };
        let (now, promised) = (self.now, self.promised(member));
        let state = &mut self.protocol(member).windows;
        let lasted_ns = state.history.last().map_or(0, |&(began, _)| now - began);
        for (attribute, value) in promised.iter().enumerate().filter_map(|(attribute, value)| Some((attribute, (*value)?))) {
            let high_ns = u128::from(windows.ndwin_time_minimum_high.ns);
            let rises_by = (u128::from(value) * u128::from(lasted_ns)).checked_div(high_ns).unwrap_or(u128::from(value));
            let rises_to = if joins { u128::from(value) } else { u128::from(state.left[attribute]) + rises_by };
            state.left[attribute] = rises_to.min(u128::from(value)) as u64;
        }
        state.counters.ndwin_ns += lasted_ns;
        state.history.push((now, true));
        (state.is_exceeded, state.is_excursion) = ([false; 2], false);
        if promised[2].is_some() {
            let more_ns = state.left[2] + 1;
            self.looks_at_window(member, more_ns);
        }
    }

    /// The member may have to leave its window then.
    fn looks_at_window(&mut self, member: usize, in_ns: u64) {
        self.schedule_with_rank(in_ns, CHECK_RANK + WINDOW_LOOK, Event::LooksAtWindow { member });
    }

    /// An operation is given to a member.
    pub(super) fn window_sees_operation(&mut self, member: usize, kind: OpKind) {
        let attribute = match kind {
            OpKind::Read => 0,
            OpKind::Write => 1,
            _ => return,
        };
        if self.promised(member)[attribute].is_none() || !self.is_in_dtwin(member) {
            return;
        }
        let state = &mut self.protocol(member).windows;
        match state.left[attribute].checked_sub(1) {
            Some(less) => state.left[attribute] = less,
            None => {
                state.is_exceeded[attribute] = true;
                self.looks_at_window(member, 0);
            }
        }
    }

    /// A member has to collect because of its free blocks.
    pub(super) fn window_sees_excursion(&mut self, member: usize) {
        if self.is_in_dtwin(member) {
            self.protocol(member).windows.is_excursion = true;
            self.looks_at_window(member, 0);
        }
    }

    pub(super) fn window_is_looked_at(&mut self, member: usize) {
        let controller = self.controller.as_ref().expect("the member knows the protocol");
        if self.run_is_over() || controller.lost.contains(&member) || !self.is_in_dtwin(member) {
            return;
        }
        let (now, has_time) = (self.now, self.promised(member)[2].is_some());
        let state = &self.members[member].protocol.windows;
        let lasts_ns = now - state.history.last().expect("it is in one").0;
        let reason = if state.is_exceeded[0] {
            Reason::Exceeds(0)
        } else if state.is_exceeded[1] {
            Reason::Exceeds(1)
        } else if has_time && lasts_ns > state.left[2] {
            Reason::Exceeds(2)
        } else if state.is_excursion {
            Reason::Excursion
        } else {
            return;
        };
        self.dtwin_ends(member, Some(reason));
        let low_ns = self.nvme(member).expect("it has windows").ndwin_time_minimum_low().ns;
        self.ndwin_or_turn_begins(member, low_ns);
    }

    /// A DTWIN ends for a reason, or because a turn begins.
    fn dtwin_ends(&mut self, member: usize, reason: Option<Reason>) {
        let Some(windows) = self.nvme(member).filter(|_| self.is_in_dtwin(member)) else { return };
        let (now, promised) = (self.now, self.promised(member));
        let state = &mut self.protocol(member).windows;
        let lasted_ns = now - state.history.last().expect("it has a window").0;
        state.left[2] = state.left[2].saturating_sub(lasted_ns);
        state.history.push((now, false));
        if reason.is_none() && lasted_ns == 0 {
            return;
        }
        let thresholds = [windows.dtwin_reads_threshold, windows.dtwin_writes_threshold, windows.dtwin_time_threshold.ns];
        let PredictableLatencyCounters { dtwins, dtwin_ns, ended_by_attribute, ended_by_excursion, warnings, estimates_left, .. } =
            &mut state.counters;
        *dtwins += 1;
        *dtwin_ns += lasted_ns;
        for attribute in (0..3).filter(|&attribute| promised[attribute].is_some()) {
            warnings[attribute] += u64::from(state.left[attribute] < thresholds[attribute]);
            estimates_left[attribute] += if reason.is_none() { state.left[attribute] } else { 0 };
        }
        match reason {
            Some(Reason::Exceeds(attribute)) => ended_by_attribute[attribute] += 1,
            Some(Reason::Excursion) => *ended_by_excursion += 1,
            None => {}
        }
    }

    /// A page read of a member is answered.
    pub(super) fn window_sees_answer(&mut self, member: usize, given_ns: u64, answered_ns: u64) {
        if self.nvme(member).is_none() {
            return;
        }
        let Windows { history, counters, .. } = &mut self.protocol(member).windows;
        let is_dtwin = history.iter().rev().find(|&&(began_ns, _)| began_ns < given_ns).is_none_or(|&(_, is_dtwin)| is_dtwin);
        let of_window = if is_dtwin { &mut counters.reads_in_dtwin } else { &mut counters.reads_in_ndwin };
        of_window.reads += 1;
        of_window.total_ns += u128::from(answered_ns - given_ns);
        of_window.longest_ns.0 = of_window.longest_ns.0.max(answered_ns - given_ns);
    }

    /// Returns the counts of all members with windows.
    pub(super) fn window_counters(&self) -> Option<PredictableLatencyCounters> {
        let has_windows = self.windows().is_some_and(|windows| windows.protocol == WindowProtocol::Nvme);
        has_windows.then(|| self.members.iter().map(|member| member.protocol.windows.counters).sum())
    }
}
