//! Section 28 of the rules: members that ask for leave before they collect, and the controller that gives it.

use std::collections::{BTreeMap, BTreeSet};

use flashraid_model::coordination::{
    CollectingMembersLimit, CollectionPermissionScope, CoordinationPolicy, ForcedCollectionAmount, StaggeredCollection,
};
use flashraid_model::placement::RaidLevel;
use flashraid_model::rng;

use super::coordination::{ASK_RANK, CHECK_RANK, Controller, Message};
use super::superblocks::Drive;
use super::{Event, Simulation};

/// Leave, as the controller knows it.
#[derive(Default)]
pub(super) struct OfController {
    /// Failed members, each with its spare.
    pub spares: Vec<(usize, usize)>,
    granted: BTreeSet<usize>,
    /// Announced collections without leave that have not ended, by member.
    unasked: BTreeMap<usize, i64>,
    last_grant: BTreeMap<usize, u64>,
    /// Last end of collection, by scope.
    last_end: BTreeMap<usize, u64>,
    /// Members that ask now, with their free blocks.
    asking: BTreeMap<usize, u32>,
    draws: Option<rng::RandomStream>,
}

/// Leave, as a member knows it.
#[derive(Default)]
pub(super) struct OfMember {
    /// True if it has asked, and is neither granted nor past the time after which a denied member asks again.
    waits: bool,
    retry_ns: Option<u64>,
    /// Cleans in progress that pools needed, by die and pool.
    pub needed: BTreeSet<(usize, usize)>,
    /// Pools that its forced work concerns.
    pub pools: BTreeSet<(usize, usize)>,
    works_idly: bool,
    /// True if it has told that it collects unasked.
    has_told: bool,
    low_write_ns: Option<u64>,
    last_operation_ns: Option<u64>,
    mean_gap_ns: u64,
    few_operations_ns: Option<u64>,
}

impl OfController {
    pub(super) fn loses(&mut self, member: usize) {
        self.granted.remove(&member);
        self.unasked.remove(&member);
        self.asking.remove(&member);
    }

    fn collects(&self, member: usize) -> bool {
        self.granted.contains(&member) || self.unasked.get(&member).is_some_and(|&number| number > 0)
    }
}

impl Controller {
    pub(super) fn stagger(&self) -> Option<StaggeredCollection> {
        match &self.params.scheme {
            CoordinationPolicy::StaggeredCollection(stagger) => Some(stagger.clone()),
            _ => None,
        }
    }
}

// Members that need leave.
impl Simulation<'_> {
    fn stagger(&self) -> Option<StaggeredCollection> {
        self.controller.as_ref()?.stagger()
    }

    pub(super) fn needs_leave(&self, member: usize) -> bool {
        self.knows_protocol(member) && self.stagger().is_some()
    }

    /// A multiple of the start of collection, in free blocks.
    pub(super) fn blocks(&self, multiple: f64) -> u32 {
        let (start, most) = match &self.ssd.superblock {
            Some(own) => {
                let collection = own.collection;
                let goal = collection.target + collection.span;
                (collection.target, goal - 1)
            }
            None => (self.ssd.gc.start_threshold_free_blocks, self.members[0].flash.free_blocks_after_fill() + 1),
        };
        // Multiples have one digit after the point, so that tenths are exact.
        let tenths = (multiple * 10.0).round() as u32 * start;
        tenths.div_ceil(10).min(most)
    }

    /// Free blocks up to which a pool takes part in the member's work.
    pub(super) fn limit_of_leave(&self, member: usize) -> u32 {
        let stagger = self.stagger().expect("it needs leave");
        self.blocks(if self.members[member].protocol.leave.works_idly { stagger.idle_at } else { stagger.ask_at })
    }

    pub(super) fn looks_at_leave(&mut self, member: usize) {
        self.schedule_with_rank(0, ASK_RANK, Event::LooksAtLeave { member });
    }

    pub(super) fn leave_sees_operation(&mut self, member: usize) {
        if !self.needs_leave(member) {
            return;
        }
        let (now, stagger) = (self.now, self.stagger().expect("it needs leave"));
        let leave = &mut self.protocol(member).leave;
        let Some(last) = leave.last_operation_ns.replace(now).filter(|&last| last < now) else { return };
        leave.mean_gap_ns = (leave.mean_gap_ns + (now - last)) / 2;
        if leave.mean_gap_ns > stagger.idle_gap.ns {
            leave.few_operations_ns = Some(now);
            self.looks_at_leave(member);
        }
    }

    /// A host write leaves its pool with so many free blocks.
    pub(super) fn write_leaves(&mut self, member: usize, free: u32) {
        if free <= self.blocks(self.stagger().expect("it needs leave").ask_at) {
            self.protocol(member).leave.low_write_ns = Some(self.now);
            self.looks_at_leave(member);
        }
    }

    pub(super) fn drive_free_changed(&mut self, member: usize, opened: bool) {
        if self.takes_turns(member) {
            return self.schedule_with_rank(0, ASK_RANK, Event::LooksAtLeave { member });
        }
        let free = self.members[member].drive.as_ref().map(Drive::free_superblocks).expect("it is a drive");
        if self.rotates(member) {
            return if opened {
                self.rotation_sees_free(member, free)
            };
        }
        if opened {
            self.write_leaves(member, free);
        }
        self.looks_at_leave(member);
    }

    pub(super) fn is_granted(&mut self, member: usize, work: ForcedCollectionAmount) {
        let leave = &mut self.protocol(member).leave;
        leave.waits = false;
        leave.low_write_ns = None;
        self.is_forced(member, work);
    }

    pub(super) fn is_denied(&mut self, member: usize) {
        let retry = self.stagger().expect("somebody denies").retry.ns;
        self.protocol(member).leave.retry_ns = Some(self.now + retry);
        self.schedule_with_rank(retry, ASK_RANK, Event::LooksAtLeave { member });
    }

    /// A member has done all that it was told to do, or that it did while it got few operations.
    pub(super) fn work_is_done(&mut self, member: usize) {
        self.turn_of_rotation_ends(member);
        if !std::mem::take(&mut self.protocol(member).leave.works_idly) && !self.takes_turns(member) {
            self.send(member, Message::GcDone);
        }
        if self.needs_leave(member) {
            self.looks_at_leave(member);
        }
    }

    /// Tells the controller what it must know at the end of the nanosecond (rule 261).
    pub(super) fn leave_is_looked_at(&mut self, member: usize) {
        if self.takes_turns(member) {
            return self.drive_collects_in_turn(member);
        }
        let (now, stagger) = (self.now, self.stagger().expect("it needs leave"));
        let work = self.controller.as_ref().expect("it needs leave").params.force_until;
        let of_member = &self.members[member];
        let (free, at_floor, has_work) = match &of_member.drive {
            Some(drive) => {
                let floor = self.ssd.superblock.as_ref().expect("it is a drive").collection.floor;
                (drive.free_superblocks(), drive.free_superblocks() <= floor, drive.is_forced())
            }
            None => {
                let flash = &of_member.flash;
                let pools = (0..flash.dies.len()).flat_map(|die| (0..flash.dies[die].pools.len()).map(move |pool| (die, pool)));
                (
                    pools.map(|(die, pool)| flash.free_blocks(die, pool)).min().expect("there are pools"),
                    false,
                    of_member.protocol.forced.is_some(),
                )
            }
        };
        let needs = !of_member.protocol.leave.needed.is_empty() || at_floor;
        let (ask_at, idle_at) = (self.blocks(stagger.ask_at), self.blocks(stagger.idle_at));
        let leave = &mut self.protocol(member).leave;
        let asks_again = leave.retry_ns == Some(now);
        if asks_again {
            leave.retry_ns = None;
            leave.waits = false;
        }
        if !leave.has_told && needs && !has_work {
            leave.has_told = true;
            return self.send(member, Message::GcRequest);
        }
        let ends = leave.has_told && !needs && !leave.works_idly;
        if ends {
            leave.has_told = false;
        }
        let is_bound = has_work || leave.waits || leave.has_told;
        let works_idly = !is_bound && leave.few_operations_ns == Some(now) && free <= idle_at;
        let asks = !is_bound && !works_idly && (asks_again || leave.low_write_ns == Some(now)) && free <= ask_at;
        if works_idly {
            leave.few_operations_ns = None;
            leave.low_write_ns = None;
            leave.works_idly = true;
            leave.has_told = true;
        }
        leave.waits |= asks;
        if ends {
            self.send(member, Message::CollectionWithoutPermissionEnds);
        }
        if asks {
            self.send(member, Message::AskGc { free_blocks_least: free });
        }
        if works_idly {
            self.send(member, Message::GcRequest);
            self.is_forced(member, work);
        }
    }
}

// Answers of the controller.
impl Simulation<'_> {
    /// Members that hold the same pages, or all, have the same scope.
    fn scope_of(&self, member: usize) -> usize {
        let params = &self.case.params;
        let stagger = self.stagger().expect("members need leave");
        let mut place = member;
        while place >= params.members as usize {
            let of_spare = |&&(_, spare): &&(usize, usize)| spare == place;
            let spares = &self.controller.as_ref().expect("members need leave").leave.spares;
            place = spares.iter().find(of_spare).map(|&(failed, _)| failed).expect("it is a spare of somebody");
        }
        match params.level {
            RaidLevel::Raid10 if stagger.scope == CollectionPermissionScope::MirrorSet => place / 2,
            _ => 0,
        }
    }

    fn may_collect_together(&self, scope: usize) -> u32 {
        let parities = match self.case.params.level {
            RaidLevel::Raid6 => 2,
            _ => 1,
        };
        let all = match self.stagger().expect("members need leave").together {
            CollectingMembersLimit::ParityStripCount => parities,
            CollectingMembersLimit::Members(members) => members,
        };
        let lost = &self.controller.as_ref().expect("members need leave").lost;
        let lost = lost.iter().filter(|&&member| self.scope_of(member) == scope).count() as u32;
        all.saturating_sub(lost).max(1)
    }

    pub(super) fn leave_is_told(&mut self, member: usize, message: Message) {
        let (now, scope) = (self.now, self.scope_of(member));
        let leave = &mut self.controller.as_mut().expect("somebody tells it").leave;
        match message {
            Message::AskGc { free_blocks_least } => {
                if leave.asking.is_empty() {
                    self.schedule_with_rank(0, CHECK_RANK, Event::AnswersAll);
                }
                let leave = &mut self.controller.as_mut().expect("somebody tells it").leave;
                leave.asking.insert(member, free_blocks_least);
                return;
            }
            Message::GcRequest => return *leave.unasked.entry(member).or_default() += 1,
            Message::CollectionWithoutPermissionEnds => *leave.unasked.entry(member).or_default() -= 1,
            Message::GcDone => {
                leave.granted.remove(&member);
            }
            _ => return,
        }
        if !leave.collects(member) {
            leave.last_end.insert(scope, now);
        }
    }

    pub(super) fn answers_all(&mut self) {
        let (now, seed, members) = (self.now, self.case.seed, self.members.len());
        let stagger = self.stagger().expect("members need leave");
        let leave = &mut self.controller.as_mut().expect("members need leave").leave;
        let asking = std::mem::take(&mut leave.asking);
        let draws = leave.draws.get_or_insert_with(|| rng::stream(seed, "stagger", 0));
        let mut groups: BTreeMap<(u32, Option<u64>), Vec<usize>> = BTreeMap::new();
        for (member, free) in asking {
            groups.entry((free, leave.last_grant.get(&member).copied())).or_default().push(member);
        }
        for group in groups.values_mut() {
            for place in (2..=group.len()).rev() {
                let other = rng::below(draws, place as u64) as usize;
                group.swap(place - 1, other);
            }
        }
        for member in groups.into_values().flatten() {
            let scope = self.scope_of(member);
            let others = (0..members).filter(|&other| other != member && self.has_scope(other, scope)).collect::<Vec<_>>();
            let together = self.may_collect_together(scope);
            let Controller { params, leave, .. } = self.controller.as_mut().expect("members need leave");
            let collecting = others.into_iter().filter(|&other| leave.collects(other)).count() as u32;
            let rests = leave.last_end.get(&scope).is_some_and(|end| end + stagger.pause.ns > now);
            let message = if collecting < together && !rests {
                leave.granted.insert(member);
                leave.last_grant.insert(member, now);
                Message::Grant(params.force_until)
            } else {
                Message::Deny
            };
            self.send(member, message);
        }
    }

    /// Spares that replace nobody yet have no scope.
    fn has_scope(&self, member: usize, scope: usize) -> bool {
        let spares = &self.controller.as_ref().expect("members need leave").leave.spares;
        let is_known = member < self.case.params.members as usize || spares.iter().any(|&(_, spare)| spare == member);
        is_known && self.scope_of(member) == scope
    }
}
