//! Collection of superblocks, little by little, as the host writes (rules 209, 210 and 213).

use super::{Agent, Drive, DriveWake, SuperblockParams, Table};
use crate::events::{GcInterval, TimeNs};
use crate::space::superblocks::{Shape, Upkeep as Reason};
use crate::ssd::collect::idle::Idle;
use crate::ssd::collect::paced::Paced;
use crate::ssd::collect::upkeep::Upkeep;
use crate::ssd::{Outbox, Programmed};

/// The valid units of a superpage of a victim, on their way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    first: u32,
    units: u128,
    /// The type of page that is read now.
    page_type: u32,
}

impl Part {
    pub fn units(&self) -> u32 {
        self.units.count_ones()
    }
}

/// The superblock whose parts are begun.
#[derive(Debug, Clone, Copy)]
struct Victim {
    block: u32,
    /// Valid units when it was chosen.
    valid: u32,
    /// The next superpage.
    next: u32,
    /// It is moved for its own sake.
    for_upkeep: bool,
}

/// A victim that is not erased.
#[derive(Debug, Clone, Copy)]
struct Moving {
    block: u32,
    /// Parts that have begun and are not read.
    parts: u32,
    /// Units that have been read and are not programmed.
    units: u32,
    all_begun: bool,
    /// Dies that have not erased their share, once they are to.
    erases: u32,
}

/// How far collection is.
#[derive(Debug, Clone)]
pub(super) struct Collection {
    pub paced: Paced,
    pub idle: Idle,
    pub upkeep: Upkeep,
    victim: Option<Victim>,
    moving: Vec<Moving>,
    pub parts: Table<Part>,
    /// Units for which there is room between read and program.
    room: u64,
    /// Since when the drive counts as collecting.
    interval: Option<GcInterval>,
}

impl Collection {
    pub fn new(shape: &Shape, params: &SuperblockParams, idle_ns: Option<u64>) -> Self {
        Self {
            paced: Paced::new(params.collection),
            idle: Idle::new(idle_ns),
            upkeep: Upkeep::new(params.upkeep),
            victim: None,
            moving: Vec::new(),
            parts: Table::default(),
            room: Self::room(shape),
            interval: None,
        }
    }

    fn room(shape: &Shape) -> u64 {
        2 * u64::from(shape.dies) * u64::from(shape.superpage_units())
    }

    /// Returns the cost of moving a unit; nothing, if the victim is moved for its own sake.
    fn cost(&self, shape: &Shape, victim: &Victim) -> i128 {
        if victim.for_upkeep { 0 } else { self.paced.cost(shape.data_units() - victim.valid) }
    }

    /// Units that are to be moved for what the host has written.
    pub fn owed_units(&self, shape: &Shape) -> u64 {
        let victim = self.victim.filter(|victim| !victim.for_upkeep);
        victim.map_or(0, |victim| self.paced.owed_units(self.cost(shape, &victim)))
    }

    /// Units that have been chosen to be moved, or read, and are not programmed.
    pub fn units_on_their_way(&self, shape: &Shape) -> u64 {
        Self::room(shape) - self.room
    }

    /// Since when it has counted as collecting.
    pub fn since(&self) -> Option<TimeNs> {
        self.interval.map(|interval| interval.start_ns)
    }
}

impl Drive {
    /// The pace of collection × `span`: how far free superblocks are below target + span (rules 209 and 216).
    pub(super) fn pace(&self) -> u32 {
        if self.instantaneous {
            return 0;
        }
        let erased_soon = || self.collection.moving.iter().filter(|moving| moving.erases > 0).count() as u32;
        self.collection.paced.pace(self.media.free(), self.is_forced(), self.agent.is_some(), erased_soon)
    }

    /// Moves need no credit.
    fn is_urgent(&self) -> bool {
        self.is_forced() || self.collection.idle.is_used() || self.collection.paced.is_at_floor(self.media.free())
    }

    /// A superpage of the host has its die. What collection does by itself the host owes nothing for.
    pub(super) fn earn(&mut self, id: u32) {
        let pace = self.pace();
        if pace == 0 || self.is_urgent() {
            return;
        }
        if self.collection.victim.is_none() {
            self.choose_victim();
        }
        if let Some(victim) = self.collection.victim.filter(|victim| !victim.for_upkeep) {
            let superpage = &self.buffer.superpages[id];
            // What counts is the room that it takes, which with one bit per cell is that of so many more units.
            let times = self.shape.superpage_units() / self.media.superpage_units(superpage.stream);
            let units = superpage.units.len() as u32 * times;
            self.collection.paced.earn(units, victim.valid, pace);
        }
    }

    fn choose_victim(&mut self) -> bool {
        let Some(block) = self.media.pick_victim() else { return false };
        self.begin_victim(block, None);
        true
    }

    /// Something is moved for its own sake, if that is due and there is room; after one for wear another victim has its turn (rule 223).
    fn choose_overdue(&mut self) -> bool {
        if self.collection.paced.is_at_floor(self.media.free()) {
            return false;
        }
        let Some((block, reason)) = self.collection.upkeep.overdue(&self.media) else { return false };
        self.begin_victim(block, Some(reason));
        true
    }

    fn count_victim(&mut self, upkeep: Option<Reason>) {
        self.drive_counters.victims += 1;
        self.counters.collections += 1;
        self.counters.forced_collections += u64::from(self.is_forced());
        self.drive_counters.refreshed += u64::from(upkeep == Some(Reason::Refresh));
        self.drive_counters.levelled += u64::from(upkeep == Some(Reason::Wear));
        self.collection.upkeep.victim_begins(upkeep);
    }

    fn begin_victim(&mut self, block: u32, upkeep: Option<Reason>) {
        let valid = self.media.superblocks[block as usize].valid;
        self.media.begin_victim(block);
        self.count_victim(upkeep);
        self.collection.victim = Some(Victim { block, valid, next: 0, for_upkeep: upkeep.is_some() });
        self.collection.moving.push(Moving { block, parts: 0, units: 0, all_begun: false, erases: 0 });
    }

    /// Begins parts of victims as far as credits, or need, and room allow. The last units of a victim wait for the next one's, unless their
    /// superblock is needed and nothing else will come.
    pub(super) fn begin_parts(&mut self, now: TimeNs, out: &mut Outbox) {
        if self.instantaneous {
            return;
        }
        self.begin_allowed_parts(now, out);
        for handle in 0..self.shape.placement.collections() as u8 {
            if self.comes_no_more(handle) {
                self.close_moved(now, handle, out);
            }
        }
    }

    /// The open superpage of collection of a handle, or of all, is not worth waiting for: the need is great and there is nothing else to
    /// move, or what is moved now is another handle's.
    fn comes_no_more(&self, handle: u8) -> bool {
        let handle_of = |block: u32| self.media.superblocks[block as usize].handle;
        let Collection { victim, moving, .. } = &self.collection;
        match victim {
            None => self.is_urgent() && moving.iter().all(|moving| moving.parts == 0),
            Some(victim) => {
                handle_of(victim.block) != handle && moving.iter().all(|moving| moving.parts == 0 || handle_of(moving.block) != handle)
            }
        }
    }

    fn begin_allowed_parts(&mut self, now: TimeNs, out: &mut Outbox) {
        let goal = self.collection.paced.goal();
        let (per_superpage, superpages) = (self.shape.superpage_units(), self.shape.superpages());
        loop {
            let is_urgent = self.is_urgent();
            let Some(mut victim) = self.collection.victim else {
                if self.choose_overdue() {
                    continue;
                }
                let on_their_way = self.media.free() as usize + self.collection.moving.len();
                let set_aside = if self.collection.idle.is_used() { self.media.set_aside() } else { 0 };
                if is_urgent && on_their_way < (goal + set_aside) as usize && self.choose_victim() {
                    continue;
                }
                if self.collection.idle.is_used()
                    && let Some(block) = self.media.folding_victim()
                {
                    self.begin_victim(block, None);
                    continue;
                }
                return;
            };
            let first_of = |superpage: u32| (victim.block * superpages + superpage) * per_superpage;
            let next = (victim.next..superpages).find(|&superpage| self.media.valid_units(first_of(superpage)) != 0);
            let Some(superpage) = next else {
                self.collection.victim = None;
                self.moving(victim.block).all_begun = true;
                self.victim_goes_on(now, victim.block, out);
                continue;
            };
            let part = Part { first: first_of(superpage), units: self.media.valid_units(first_of(superpage)), page_type: 0 };
            victim.next = superpage;
            self.collection.victim = Some(victim);
            let units = part.units();
            let cost = self.collection.cost(&self.shape, &victim);
            let needs_no_credit = is_urgent || victim.for_upkeep;
            if !(needs_no_credit || self.collection.paced.allows(cost)) || u64::from(units) > self.collection.room {
                return;
            }
            self.collection.paced.spend(units, cost, needs_no_credit);
            victim.next += 1;
            self.collection.victim = Some(victim);
            self.collection.room -= u64::from(units);
            self.moving(victim.block).parts += 1;
            let id = self.collection.parts.take();
            self.collection.parts[id] = part;
            self.front.part_wants_core(now, id, units, out);
        }
    }

    fn moving(&mut self, block: u32) -> &mut Moving {
        self.collection.moving.iter_mut().find(|moving| moving.block == block).expect("its units are on their way")
    }

    /// A part goes to its die.
    pub(super) fn part_has_core(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let first = self.collection.parts[id].first;
        let die = self.shape.place(first).die;
        let page_type = self.next_type(id, 0);
        self.collection.parts[id].page_type = page_type.expect("a part has units");
        let plain_ns = self.part_plain_ns(id);
        let state = &mut self.dies[die as usize];
        state.waiting_ns += plain_ns;
        state.moves.push_back(id);
        self.dispatch(now, die, out);
    }

    /// Units of a part on pages of one type.
    fn units_of_type(&self, part: &Part, page_type: u32) -> u32 {
        let units = self.shape.planes * self.shape.flash_page_units;
        (part.units >> (page_type * units) & (u128::MAX >> (128 - units))).count_ones()
    }

    fn next_type(&self, id: u32, from: u32) -> Option<u32> {
        let part = &self.collection.parts[id];
        (from..self.shape.pages_per_cell).find(|&page_type| self.units_of_type(part, page_type) > 0)
    }

    /// Array time of the step of a part, and the units that are transferred after it.
    pub(super) fn part_step(&self, id: u32) -> (u64, u32) {
        let part = &self.collection.parts[id];
        self.step_of(part, part.page_type)
    }

    fn step_of(&self, part: &Part, page_type: u32) -> (u64, u32) {
        let page = self.shape.place(part.first).page_of_block + page_type;
        (self.array_read_ns(part.first, page), self.units_of_type(part, page_type))
    }

    /// What is left of a part if it waits for no channel.
    pub(super) fn part_plain_ns(&self, id: u32) -> u64 {
        let part = &self.collection.parts[id];
        let steps = (part.page_type..self.shape.pages_per_cell).map(|page_type| self.step_of(part, page_type));
        steps.filter(|&(_, units)| units > 0).map(|(ns, units)| ns + u64::from(units) * self.params.unit_transfer_ns).sum()
    }

    /// The first place of a part's superpage, and the units of its present step as bits.
    pub(super) fn part_step_units(&self, id: u32) -> (u32, u128) {
        let Part { first, units, page_type } = self.collection.parts[id];
        let of_type = self.shape.planes * self.shape.flash_page_units;
        (first, units & (u128::MAX >> (128 - of_type)) << (page_type * of_type))
    }

    /// A step of a part is over; says whether another follows.
    pub(super) fn part_step_over(&mut self, id: u32) -> bool {
        let next = self.next_type(id, self.collection.parts[id].page_type + 1);
        if let Some(next) = next {
            self.collection.parts[id].page_type = next;
        }
        next.is_some()
    }

    /// All of a part has been read: what is still valid goes on.
    pub(super) fn part_read(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let Part { first, mut units, .. } = self.collection.parts[id];
        self.collection.parts.give_back(id);
        let block = self.media.superblock_of(first);
        self.moving(block).parts -= 1;
        while units != 0 {
            let source = first + units.trailing_zeros();
            units &= units - 1;
            if self.media.is_valid(source) {
                self.moving(block).units += 1;
                self.put_moved(now, source, out);
            } else {
                self.merging.leaves(source);
                self.collection.room += 1;
                self.drive_counters.units_dropped += 1;
                self.counters.gc_pages_dropped += u64::from(self.params.unit_pages);
            }
        }
        self.victim_goes_on(now, block, out);
        self.begin_parts(now, out);
        // Fewer moves may be owed.
        self.place_superpages(now, out);
    }

    /// Units of collection have been programmed; `sources` is where they came from.
    pub(super) fn moves_programmed(&mut self, now: TimeNs, sources: &[u32], out: &mut Outbox) {
        self.collection.room += sources.len() as u64;
        sources.iter().for_each(|&source| self.merging.leaves(source));
        let mut at = 0;
        while at < sources.len() {
            let block = self.media.superblock_of(sources[at]);
            let of_block = sources[at..].iter().take_while(|&&source| self.media.superblock_of(source) == block).count();
            self.moving(block).units -= of_block as u32;
            at += of_block;
            self.victim_goes_on(now, block, out);
        }
        self.begin_parts(now, out);
        self.place_superpages(now, out);
    }

    /// When all of a victim has been read and programmed, its dies erase it.
    fn victim_goes_on(&mut self, now: TimeNs, block: u32, out: &mut Outbox) {
        let moving = self.moving(block);
        if !moving.all_begun || moving.parts > 0 || moving.units > 0 || moving.erases > 0 {
            return;
        }
        let dies = self.shape.dies;
        self.moving(block).erases = dies;
        for die in 0..dies {
            let state = &mut self.dies[die as usize];
            state.erases.push_back(block);
            state.waiting_ns += self.erase_ns;
        }
        (0..dies).for_each(|die| self.dispatch(now, die, out));
    }

    /// A die has erased its share of a superblock.
    pub(super) fn erase_over(&mut self, now: TimeNs, block: u32, out: &mut Outbox) {
        self.counters.erases += u64::from(self.shape.planes);
        let moving = self.moving(block);
        moving.erases -= 1;
        if moving.erases > 0 {
            return;
        }
        self.collection.moving.retain(|moving| moving.block != block);
        self.media.erased(block);
        self.agent_sees_free(now, out);
        self.note_pace(now, out);
        self.place_moved(now, out);
        self.begin_parts(now, out);
        self.place_superpages(now, out);
    }

    /// A stream has taken a free superblock.
    pub(super) fn superblock_opened(&mut self, now: TimeNs, out: &mut Outbox) {
        self.note_pace(now, out);
        self.agent_sees_opened(now, out);
    }

    /// Collection in no time, before a superpage of the host (rule 216).
    pub(super) fn collect_at_once(&mut self, now: TimeNs, out: &mut Outbox) {
        let planes = u64::from(self.shape.dies) * u64::from(self.shape.planes);
        let per_superpage = u64::from(self.shape.superpage_units());
        let target = self.params.collection.target;
        loop {
            let overdue = self.collection.upkeep.overdue(&self.media).filter(|_| self.media.free() > target);
            let folded = || self.media.folding_victim();
            let victim = match overdue.map(|(block, _)| block).or_else(folded) {
                None if self.media.free() <= target => self.media.pick_victim(),
                other => other,
            };
            let Some(victim) = victim else { return };
            self.count_victim(overdue.map(|(_, upkeep)| upkeep));
            let of_slc = self.media.superblocks[victim as usize].is_slc;
            let moved = self.media.collect_untimed(victim);
            let parity = moved.parity_superpages * per_superpage;
            let units = u64::from(moved.units);
            self.drive_counters.units_parity += parity;
            self.drive_counters.by_handle.programmed(moved.stream, units + parity);
            self.drive_counters.units_moved += units;
            self.drive_counters.units_folded += if of_slc { units } else { 0 };
            let pages_moved = units * u64::from(self.params.unit_pages);
            self.counters.gc_pages_moved += pages_moved;
            out.programmed.push(Programmed { at: now, member: self.member, units: units + parity, pages_moved });
            self.counters.erases += planes;
        }
    }

    /// Whether the drive counts as collecting may have changed: forced, idle, at its floor, or at twice its usual pace.
    pub(super) fn note_pace(&mut self, now: TimeNs, out: &mut Outbox) {
        let collects = !self.instantaneous && (self.is_urgent() || self.collection.paced.counts_as_collecting(self.pace()));
        let free = self.media.free();
        let is_at_floor = self.collection.paced.is_at_floor(free) && !self.collection.idle.is_used();
        match &mut self.collection.interval {
            None if collects => {
                self.collection.interval = Some(GcInterval {
                    member: self.member.0,
                    die: 0,
                    pool: 0,
                    start_ns: now,
                    end_ns: now,
                    pages_moved: 0,
                    free_blocks_before: free,
                    free_blocks_min: free,
                    writes_wait_from_ns: now,
                    all_wait_from_ns: now,
                    forced: self.is_forced(),
                });
                if is_at_floor && let Some(agent) = &mut self.agent {
                    agent.collects_by_need(now, out);
                }
            }
            Some(interval) if collects => interval.free_blocks_min = interval.free_blocks_min.min(free),
            Some(interval) => {
                let mut interval = *interval;
                (interval.end_ns, interval.writes_wait_from_ns, interval.all_wait_from_ns) = (now, now, now);
                self.collection.interval = None;
                out.collections.push(interval);
            }
            None => {}
        }
    }

    /// A command has come.
    pub(super) fn command_came(&mut self, now: TimeNs, out: &mut Outbox) {
        if self.collection.idle.command_comes() {
            self.note_pace(now, out);
        }
        self.await_idle(now, out);
    }

    /// From now on time without commands counts.
    pub fn await_idle(&mut self, now: TimeNs, out: &mut Outbox) {
        if let Some((idle_ns, commands)) = self.collection.idle.wait() {
            out.wake(now + idle_ns, DriveWake::Idle(commands));
        }
    }

    pub(super) fn idle_since(&mut self, now: TimeNs, commands: u32, out: &mut Outbox) {
        let denied = self.agent.as_ref().is_some_and(Agent::is_denied);
        if self.collection.idle.is_over(commands) && !denied && !self.is_idle_goal_reached() {
            self.collection.idle.begin();
            self.note_pace(now, out);
            self.begin_parts(now, out);
            self.place_superpages(now, out);
        }
    }

    /// The run is over: idle time is not used any more.
    pub fn end_idle(&mut self, now: TimeNs, out: &mut Outbox) {
        if self.collection.idle.ends() {
            self.note_pace(now, out);
        }
        if let Some(agent) = &mut self.agent {
            agent.run_ends();
        }
        self.agent_stops(now, out);
    }

    /// Idle collection has reached its goal.
    pub(super) fn idle_sees_free(&mut self, now: TimeNs, out: &mut Outbox) {
        if self.collection.idle.is_used() && self.is_idle_goal_reached() {
            self.collection.idle.stop();
            self.note_pace(now, out);
        }
    }

    fn is_idle_goal_reached(&self) -> bool {
        self.media.free() >= self.collection.paced.goal() + self.media.set_aside() && !self.media.holds_slc()
    }

    /// Nothing of collection is on its way, and nothing can begin.
    pub(super) fn has_nothing_to_collect(&self) -> bool {
        self.collection.moving.is_empty() && !self.media.has_victim()
    }

    /// Since when the drive has counted as collecting.
    pub fn collects_since(&self) -> Option<TimeNs> {
        self.collection.since()
    }

    /// Returns true if the controller has forced the drive to collect, and it is not done.
    pub(super) fn is_forced(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| agent.forced().is_some())
    }
}
