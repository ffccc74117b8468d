//! Collection of superblocks: pace, victims and their parts, idle time, and the controller's word (rules 209, 210, 216 and 223).

use std::collections::BTreeSet;

use flashraid_model::coordination::ForcedCollectionAmount;
use flashraid_model::ssd::SlcSuperblockCountLimit;

use super::super::coordination::Message;
use super::super::front::Told;
use super::{Block, Drive, Part, Role, Victim, Way};

impl Drive {
    /// Returns the goal of idle collection. Superblocks reserved for one bit per cell should be free, unless they take units.
    pub(super) fn idle_goal(&self) -> u32 {
        let set_aside = match self.own.slc.map(|slc| slc.superblock_limit) {
            Some(SlcSuperblockCountLimit::Superblocks(superblocks)) => {
                superblocks.saturating_sub(self.open[self.slc_stream()].len() as u32)
            }
            _ => 0,
        };
        self.own.collection.target + self.own.collection.span + set_aside
    }

    /// Enough is free, and nothing but what takes units holds one bit per cell.
    pub(super) fn idle_has_nothing_to_do(&self) -> bool {
        let goal = self.idle_goal();
        let takes_units = |block: u32| self.open[self.slc_stream()].iter().any(|&(open, _)| open == block);
        self.free.len() as u32 >= goal && (0..self.blocks.len() as u32).all(|block| !self.slc[block as usize] || takes_units(block))
    }

    pub(super) fn idle_ns(&self) -> Option<u64> {
        self.ssd.gc.idle_collection_after_ns.filter(|_| !self.ssd.gc.collection_takes_no_time)
    }

    /// Superpages of collection that nothing is worth waiting for are closed.
    pub(super) fn close_those_without_more(&mut self) {
        for stream in self.handle_count()..self.filling.len() {
            let parts_of = |drive: &Self, block: u32, way: &Way| drive.moves_to(block) == stream && way.parts > 0;
            let closes = match &self.victim {
                // The last units wait for others, unless none will come and they are needed.
                None => self.is_urgent() && self.ways.values().all(|way| way.parts == 0),
                Some(victim) => self.moves_to(victim.block) != stream && !self.ways.iter().any(|(&block, way)| parts_of(self, block, way)),
            };
            if closes {
                self.close(stream);
            }
        }
    }

    pub(super) fn owed(&self) -> i128 {
        match &self.victim {
            Some(victim) if self.credits > 0 && !victim.for_upkeep => self.credits / self.cost(victim.valid),
            _ => 0,
        }
    }

    pub(super) fn cost(&self, valid: u32) -> i128 {
        i128::from(self.data_per_block() - valid) * i128::from(self.own.collection.span)
    }

    pub(super) fn pace(&self) -> u32 {
        let collection = self.own.collection;
        if self.ssd.gc.collection_takes_no_time {
            return 0;
        }
        if self.is_forced() {
            return 4 * collection.span;
        }
        if self.role.is_some() && self.free.len() as u32 > collection.floor {
            return 0;
        }
        let erased_soon = self.ways.values().filter(|way| way.erases.is_some()).count();
        (collection.target + collection.span).saturating_sub((self.free.len() + erased_soon) as u32).min(4 * collection.span)
    }

    pub(super) fn choose(&mut self) -> bool {
        let Some(block) = self.pick() else { return false };
        self.begin_victim(block, None);
        true
    }

    /// Returns the superblock that must be moved for upkeep, and the name under which it counts.
    pub(super) fn overdue(&self) -> Option<(u32, &'static str)> {
        let upkeep = self.own.upkeep;
        let sealed: Vec<u32> = (0..self.blocks.len() as u32).filter(|&block| self.blocks[block as usize] == Block::Sealed).collect();
        let reads = |block: u32| self.reads[block as usize];
        let most_read = sealed.iter().copied().max_by_key(|&block| (reads(block), block));
        if let Some(block) = most_read.filter(|&block| upkeep.reads_before_refresh.is_some_and(|most| reads(block) >= most)) {
            return Some((block, "refreshed"));
        }
        let erases = |block: u32| self.erases[block as usize];
        let least = sealed.into_iter().min_by_key(|&block| (erases(block), u32::MAX - block))?;
        let most = *self.erases.iter().max().unwrap();
        let is_due = upkeep.erase_difference_to_level.is_some_and(|difference| !self.has_levelled && most - erases(least) >= difference);
        is_due.then_some((least, "levelled"))
    }

    pub(super) fn begin_victim(&mut self, block: u32, upkeep: Option<&'static str>) {
        let for_upkeep = upkeep.is_some();
        // A victim that was begun before the run counts as it was when it was chosen.
        let valid = match self.begun_victim {
            Some((begun, valid)) if begun == block => {
                self.begun_victim = None;
                valid
            }
            _ => self.valid(block),
        };
        self.victim = Some(Victim { block, valid, next: 0, for_upkeep });
        self.blocks[block as usize] = Block::Victim;
        self.ways.insert(block, Way::default());
        self.is_chosen(upkeep);
    }

    pub(super) fn is_chosen(&mut self, upkeep: Option<&'static str>) {
        self.count("victims", 1);
        if let Some(upkeep) = upkeep {
            self.count(upkeep, 1);
        }
        self.has_levelled = upkeep == Some("levelled");
    }

    pub(super) fn begin_parts(&mut self) {
        if self.ssd.gc.collection_takes_no_time {
            return;
        }
        self.begin_those_that_may();
        self.close_those_without_more();
    }

    pub(super) fn is_urgent(&self) -> bool {
        self.is_forced() || self.is_idle || self.free.len() as u32 <= self.own.collection.floor
    }

    pub(super) fn begin_those_that_may(&mut self) {
        let collection = self.own.collection;
        loop {
            let is_urgent = self.is_urgent();
            let Some(victim) = self.victim.clone() else {
                if let Some((block, upkeep)) = self.overdue().filter(|_| self.free.len() as u32 > collection.floor) {
                    self.begin_victim(block, Some(upkeep));
                    continue;
                }
                let coming = (self.free.len() + self.ways.len()) as u32;
                let goal = if self.is_idle { self.idle_goal() } else { collection.target + collection.span };
                let in_general = !self.is_only_owing() && coming < goal;
                let for_owed = self.owes_superblock() && self.ways.is_empty();
                if is_urgent && (in_general || for_owed) && self.choose() {
                    continue;
                }
                if let Some(block) = self.to_fold().filter(|_| self.is_idle) {
                    self.begin_victim(block, None);
                    continue;
                }
                return;
            };
            let valid = self.valid_places(victim.block);
            let per_superpage = self.per_superpage();
            let number = |place: u32| place % self.per_block() / per_superpage;
            let Some(next) = valid.iter().map(|&place| number(place)).find(|&superpage| superpage >= victim.next) else {
                self.victim = None;
                self.ways.get_mut(&victim.block).unwrap().all_begun = true;
                self.victim_goes_on(victim.block);
                continue;
            };
            let units: Vec<u32> = valid.into_iter().filter(|&place| number(place) == next).collect();
            let cost = if victim.for_upkeep { 0 } else { self.cost(victim.valid) };
            let is_urgent = is_urgent || victim.for_upkeep;
            if units.len() as u64 > self.room || (!is_urgent && self.credits < cost) {
                return;
            }
            let pays = units.len() as i128 * cost;
            self.credits -= if is_urgent { pays.min(self.credits.max(0)) } else { pays };
            self.room -= units.len() as u64;
            self.victim = Some(Victim { next: next + 1, ..victim.clone() });
            self.ways.get_mut(&victim.block).unwrap().parts += 1;
            let types: BTreeSet<u32> = units.iter().map(|&place| self.type_of(place)).collect();
            let first = victim.block * self.per_block() + next * per_superpage;
            self.parts.push(Part { block: victim.block, first, units, types: types.into_iter().collect() });
            let (part, units) = (self.parts.len() - 1, self.parts[self.parts.len() - 1].units.len());
            self.front.part_wants_core(part, units);
        }
    }

    pub(super) fn part_is_read(&mut self, part: usize) {
        let Part { block, units, .. } = self.parts[part].clone();
        self.ways.get_mut(&block).unwrap().parts -= 1;
        for place in units {
            if !self.is_valid(place) {
                self.count("units_dropped", 1);
                self.room += 1;
                continue;
            }
            self.ways.get_mut(&block).unwrap().units += 1;
            let stream = self.moves_to(block);
            let number = self.opened(stream);
            let (unit, all) = (self.written[place as usize].unwrap(), self.per_superpage() as usize);
            let superpage = self.superpages.get_mut(&number).unwrap();
            superpage.units.push(unit);
            superpage.sources.push(place);
            if superpage.units.len() == all {
                self.close(stream);
            }
        }
        self.victim_goes_on(block);
        self.begin_parts();
        self.place_host();
    }

    pub(super) fn victim_goes_on(&mut self, block: u32) {
        let way = self.ways.get_mut(&block).unwrap();
        if !way.all_begun || way.parts > 0 || way.units > 0 || way.erases.is_some() {
            return;
        }
        self.ways.get_mut(&block).unwrap().erases = Some(self.dies.len() as u32);
        self.dies.iter_mut().for_each(|die| die.erases.push_back(block));
        (0..self.dies.len()).for_each(|die| self.die_looks(die));
    }

    pub(crate) fn is_forced(&self) -> bool {
        self.forced.is_some()
    }

    /// Returns true if the drive is forced to free one superblock and no more (rule 123).
    fn frees_one(&self) -> bool {
        self.forced == Some(ForcedCollectionAmount::OneVictimPerPool)
    }

    /// Returns true if the drive still has to free a superblock, however many are free (rule 123).
    fn owes_superblock(&self) -> bool {
        matches!(self.forced, Some(ForcedCollectionAmount::OneVictimPerPool | ForcedCollectionAmount::OneVictimPerPoolThenWatermark))
            && !self.has_freed
    }

    /// Returns true if the drive collects only the superblock that it has to free (rule 123).
    fn is_only_owing(&self) -> bool {
        self.frees_one() && !self.is_idle && self.free.len() as u32 > self.own.collection.floor
    }

    /// A superblock has been taken, or forced collection has ended: the drive registers, or asks (rule 216).
    pub(super) fn may_ask(&mut self) {
        if self.needs_leave() || self.takes_turns() {
            return self.front.told.push(Told::FreeChanged { opened: true });
        }
        let Some(Role { registers, t_soft_free_blocks, .. }) = self.role.filter(|_| !self.is_forced()) else { return };
        let (free, collection) = (self.free.len() as u32, self.own.collection);
        if registers && free <= t_soft_free_blocks && !self.has_registered {
            self.has_registered = true;
            self.front.told.push(Told::Sends(Message::Participate));
        }
        if free <= collection.target {
            self.has_asked = true;
            let pages_left = u64::from(free.saturating_sub(collection.floor + 1)) * u64::from(self.data_per_block());
            self.front.told.push(Told::Asks(pages_left, free <= collection.floor));
        }
    }

    /// The controller forces it.
    pub(crate) fn forced_to(&mut self, work: ForcedCollectionAmount) {
        assert!(self.forced.is_none(), "cycles do not overlap");
        (self.forced, self.has_freed, self.has_asked, self.has_registered) = (Some(work), false, false, false);
        self.looks_if_it_collects();
        if self.idle_is_over && work == ForcedCollectionAmount::UntilFreeBlocksAfterFill {
            return self.is_done();
        }
        self.begin_parts();
        self.may_be_done();
        self.place_host();
    }

    /// Idle time that was to be used is over (`StopGc`).
    pub(crate) fn is_stopped(&mut self) {
        if self.forced == Some(ForcedCollectionAmount::UntilFreeBlocksAfterFill) {
            self.is_done();
        }
    }

    /// The last request is done: no idle time is used any more.
    pub(super) fn run_is_over(&mut self) {
        self.idle_is_over = true;
        if std::mem::take(&mut self.is_idle) {
            self.looks_if_it_collects();
        }
        self.is_stopped();
    }

    pub(super) fn is_done(&mut self) {
        self.forced = None;
        self.front.told.push(Told::HasDone);
        self.looks_if_it_collects();
        if !self.needs_leave() && !self.takes_turns() {
            self.may_ask();
        }
    }

    pub(super) fn takes_turns(&self) -> bool {
        self.role.is_some_and(|role| role.takes_turns)
    }

    /// Returns true if a die works for collection.
    pub(crate) fn works_for_collection(&self) -> bool {
        (0..self.dies.len()).any(|die| self.collects(die))
    }

    /// Begins to collect in the member's turn.
    pub(crate) fn turn_begins(&mut self) {
        if !self.is_forced() {
            self.forced_to(ForcedCollectionAmount::ToWatermark);
        }
    }

    /// Begins no more work of collection in the member's turn.
    pub(crate) fn turn_closes(&mut self) {
        if self.is_forced() {
            self.is_done();
        }
    }

    pub(super) fn needs_leave(&self) -> bool {
        self.role.is_some_and(|role| role.needs_leave)
    }

    /// Begins or ends a stretch of collection, if necessary (rule 214).
    pub(super) fn looks_if_it_collects(&mut self) {
        let span = self.own.collection.span;
        let collects = !self.ssd.gc.collection_takes_no_time && (self.is_urgent() || self.pace() >= 2 * span);
        match self.collects_since {
            None if collects => {
                self.collects_since = Some((self.now, self.is_forced()));
                let by_need = self.free.len() as u32 <= self.own.collection.floor && !self.is_idle;
                if by_need && (self.has_asked || self.takes_turns() || self.needs_leave()) {
                    self.front.told.push(Told::CollectsByNeed);
                }
            }
            Some((since, forced)) if !collects => {
                self.collections.push((since, self.now, forced));
                self.collects_since = None;
            }
            _ => {}
        }
    }

    /// A superblock has become free, or the drive has been forced.
    pub(super) fn may_be_done(&mut self) {
        if self.is_idle && self.idle_has_nothing_to_do() {
            self.is_idle = false;
            self.looks_if_it_collects();
        }
        let goal = self.own.collection.target + self.own.collection.span;
        let nothing_is_left = self.ways.is_empty() && self.useful().is_empty();
        let is_reached = !self.owes_superblock() && (self.frees_one() || self.free.len() as u32 >= goal);
        if self.is_forced() && (is_reached || nothing_is_left) {
            self.is_done();
        }
    }
}
