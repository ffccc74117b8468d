//! Collection of superblocks, little by little: the victim, its parts, and what is on its way (rules 209, 210, 213, 216 and 223).

use super::idle::Idle;
use super::paced::Paced;
use super::upkeep::Upkeep;
use crate::events::{GcInterval, TimeNs};
use crate::ids::MemberId;
use crate::space::superblocks::{Shape, Superblocks, Upkeep as Reason};
use crate::ssd::job::Table;
use crate::ssd::params::SuperblockParams;

/// The valid units of a superpage of a victim, on their way.
#[derive(Debug, Clone, Copy, Default)]
pub struct Part {
    /// First place of the superpage.
    pub first: u32,
    /// Places that are to be read, as bits.
    pub units: u128,
    /// The type of page that is read now.
    pub page_type: u32,
}

/// The superblock whose parts are begun.
#[derive(Debug, Clone, Copy)]
struct Victim {
    block: u32,
    /// Valid units when it was chosen.
    valid: u32,
    /// The next superpage that is looked at.
    next: u32,
    /// The superblock is moved for its own sake.
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

/// The state of an SSD that decides about its collection.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    /// Number of free superblocks.
    pub free: u32,
    /// The array's controller has forced the SSD to collect, and it is not done.
    pub is_forced: bool,
    /// The array's controller decides when the SSD collects above its floor.
    pub is_controlled: bool,
}

/// A step of collection.
#[derive(Debug, Clone, Copy)]
pub enum Next {
    /// No step may begin.
    Nothing,
    /// A victim has been chosen, perhaps for its own sake.
    Victim(Option<Reason>),
    /// All parts of this superblock have begun.
    AllBegun(u32),
    /// The part with this number begins.
    Part(u32),
}

/// Collection of the superblocks of an SSD.
#[derive(Debug, Clone)]
pub struct Collection {
    /// The balance between host writes and moves.
    pub paced: Paced,
    /// Idle time of the SSD.
    pub idle: Idle,
    /// Superblocks that are moved for their own sake.
    pub upkeep: Upkeep,
    /// Parts that have begun and are not read.
    pub parts: Table<Part>,
    shape: Shape,
    /// Collection takes no time.
    instantaneous: bool,
    victim: Option<Victim>,
    moving: Vec<Moving>,
    /// Units for which there is room between read and program.
    room: u64,
    /// The collection that the SSD counts as being in.
    interval: Option<GcInterval>,
}

impl Collection {
    /// Collection that has not begun; `instantaneous` collection is made by [`Collection::victim_at_once`].
    pub fn new(shape: &Shape, params: &SuperblockParams, idle_ns: Option<u64>, instantaneous: bool) -> Self {
        Self {
            paced: Paced::new(params.collection),
            idle: Idle::new(idle_ns),
            upkeep: Upkeep::new(params.upkeep),
            parts: Table::default(),
            shape: *shape,
            instantaneous,
            victim: None,
            moving: Vec::new(),
            room: Self::room(shape),
            interval: None,
        }
    }

    fn room(shape: &Shape) -> u64 {
        2 * u64::from(shape.dies) * u64::from(shape.superpage_units())
    }

    /// Returns true if collection takes no time.
    pub fn is_instantaneous(&self) -> bool {
        self.instantaneous
    }

    /// The pace × `span`: how far free superblocks are below target + span (rules 209 and 216).
    pub fn pace(&self, need: Need) -> u32 {
        if self.instantaneous {
            return 0;
        }
        let erased_soon = || self.moving.iter().filter(|moving| moving.erases > 0).count() as u32;
        self.paced.pace(need.free, need.is_forced, need.is_controlled, erased_soon)
    }

    /// Returns true if moves need no credit.
    pub fn is_urgent(&self, need: Need) -> bool {
        need.is_forced || self.idle.is_used() || self.paced.is_at_floor(need.free)
    }

    /// Returns the cost of moving a unit; nothing, if the victim is moved for its own sake.
    fn cost(&self, victim: &Victim) -> i128 {
        if victim.for_upkeep { 0 } else { self.paced.cost(self.shape.data_units() - victim.valid) }
    }

    /// Units that are to be moved for what the host has written.
    pub fn owed_units(&self) -> u64 {
        let victim = self.victim.filter(|victim| !victim.for_upkeep);
        victim.map_or(0, |victim| self.paced.owed_units(self.cost(&victim)))
    }

    /// Returns true if so much is owed that the host has to wait.
    pub fn owes_too_much(&self) -> bool {
        self.paced.is_too_much(self.owed_units())
    }

    /// Units that have been chosen to be moved, or read, and are not programmed.
    pub fn units_on_their_way(&self) -> u64 {
        Self::room(&self.shape) - self.room
    }

    /// Returns the moment from which on the SSD has counted as collecting.
    pub fn since(&self) -> Option<TimeNs> {
        self.interval.map(|interval| interval.start_ns)
    }

    /// Returns true if a superpage of the host earns credits, for which there has to be a victim.
    pub fn earns(&self, need: Need) -> bool {
        self.pace(need) > 0 && !self.is_urgent(need)
    }

    /// Returns true if there is a victim whose parts are begun.
    pub fn has_victim(&self) -> bool {
        self.victim.is_some()
    }

    /// Adds the credits of so many units of the host.
    pub fn earn(&mut self, units: u32, need: Need) {
        if let Some(victim) = self.victim.filter(|victim| !victim.for_upkeep) {
            let pace = self.pace(need);
            self.paced.earn(units, victim.valid, pace);
        }
    }

    /// Chooses the victim that the policy picks. Returns true if there is one.
    pub fn choose_victim(&mut self, media: &mut Superblocks) -> bool {
        let Some(block) = media.pick_victim() else { return false };
        self.begin_victim(media, block, None);
        true
    }

    fn begin_victim(&mut self, media: &mut Superblocks, block: u32, upkeep: Option<Reason>) {
        let valid = media.superblocks[block as usize].valid;
        media.begin_victim(block);
        self.upkeep.victim_begins(upkeep);
        self.victim = Some(Victim { block, valid, next: 0, for_upkeep: upkeep.is_some() });
        self.moving.push(Moving { block, parts: 0, units: 0, all_begun: false, erases: 0 });
    }

    /// Begins what comes next, as far as credits, or need, and room allow.
    pub fn next(&mut self, media: &mut Superblocks, need: Need) -> Next {
        let Some(mut victim) = self.victim else { return self.next_victim(media, need) };
        let (per_superpage, superpages) = (self.shape.superpage_units(), self.shape.superpages());
        let first_of = |superpage: u32| (victim.block * superpages + superpage) * per_superpage;
        let next = (victim.next..superpages).find(|&superpage| media.valid_units(first_of(superpage)) != 0);
        let Some(superpage) = next else {
            self.victim = None;
            self.moving(victim.block).all_begun = true;
            return Next::AllBegun(victim.block);
        };
        let part = Part { first: first_of(superpage), units: media.valid_units(first_of(superpage)), page_type: 0 };
        victim.next = superpage;
        self.victim = Some(victim);
        let units = part.units.count_ones();
        let cost = self.cost(&victim);
        let needs_no_credit = self.is_urgent(need) || victim.for_upkeep;
        if !(needs_no_credit || self.paced.allows(cost)) || u64::from(units) > self.room {
            return Next::Nothing;
        }
        self.paced.spend(units, cost, needs_no_credit);
        victim.next += 1;
        self.victim = Some(victim);
        self.room -= u64::from(units);
        self.moving(victim.block).parts += 1;
        let id = self.parts.take();
        self.parts[id] = part;
        Next::Part(id)
    }

    fn next_victim(&mut self, media: &mut Superblocks, need: Need) -> Next {
        // A superblock is moved for its own sake, if that is due and there is room. After one for wear another victim has its turn (rule
        // 223).
        if !self.paced.is_at_floor(need.free)
            && let Some((block, reason)) = self.upkeep.overdue(media)
        {
            self.begin_victim(media, block, Some(reason));
            return Next::Victim(Some(reason));
        }
        let on_their_way = need.free as usize + self.moving.len();
        let set_aside = if self.idle.is_used() { media.set_aside() } else { 0 };
        if self.is_urgent(need) && on_their_way < (self.paced.goal() + set_aside) as usize && self.choose_victim(media) {
            return Next::Victim(None);
        }
        if self.idle.is_used()
            && let Some(block) = media.folding_victim()
        {
            self.begin_victim(media, block, None);
            return Next::Victim(None);
        }
        Next::Nothing
    }

    /// Returns true if the open superpage of collection of a handle, or of all, is not worth waiting for. Then the need is great and
    /// there is nothing else to move, or another handle's superblock is moved now.
    pub fn comes_no_more(&self, media: &Superblocks, handle: u8, need: Need) -> bool {
        let handle_of = |block: u32| media.superblocks[block as usize].handle;
        let is_read = |moving: &Moving| moving.parts == 0;
        match &self.victim {
            None => self.is_urgent(need) && self.moving.iter().all(is_read),
            Some(victim) => {
                handle_of(victim.block) != handle && self.moving.iter().all(|moving| is_read(moving) || handle_of(moving.block) != handle)
            }
        }
    }

    fn moving(&mut self, block: u32) -> &mut Moving {
        self.moving.iter_mut().find(|moving| moving.block == block).expect("its units are on their way")
    }

    /// Takes notice that a part of a superblock has been read. So many of its units are still valid, and the others need no room any
    /// more.
    pub fn part_is_read(&mut self, block: u32, valid: u32, dropped: u32) {
        let moving = self.moving(block);
        moving.parts -= 1;
        moving.units += valid;
        self.room += u64::from(dropped);
    }

    /// Takes notice that so many units of a superblock have been programmed.
    pub fn are_programmed(&mut self, block: u32, units: u32) {
        self.moving(block).units -= units;
        self.room += u64::from(units);
    }

    /// Returns true if all of a victim has been read and programmed: then its dies erase it from now on.
    pub fn is_to_be_erased(&mut self, block: u32) -> bool {
        let dies = self.shape.dies;
        let moving = self.moving(block);
        let is_empty = moving.all_begun && moving.parts == 0 && moving.units == 0 && moving.erases == 0;
        if is_empty {
            moving.erases = dies;
        }
        is_empty
    }

    /// A die has erased its share of a superblock. Returns true if it was the last.
    pub fn die_has_erased(&mut self, block: u32) -> bool {
        let moving = self.moving(block);
        moving.erases -= 1;
        let is_over = moving.erases == 0;
        if is_over {
            self.moving.retain(|moving| moving.block != block);
        }
        is_over
    }

    /// Returns true if nothing is on its way, and nothing can begin.
    pub fn has_nothing_to_do(&self, media: &Superblocks) -> bool {
        self.moving.is_empty() && !media.has_victim()
    }

    /// Returns the superblock that is collected next in no time, and why, if one is due (rule 216).
    pub fn victim_at_once(&mut self, media: &mut Superblocks) -> Option<(u32, Option<Reason>)> {
        let target = self.paced.target();
        let overdue = self.upkeep.overdue(media).filter(|_| media.free() > target);
        let victim = match overdue.map(|(block, _)| block).or_else(|| media.folding_victim()) {
            None if media.free() <= target => media.pick_victim(),
            other => other,
        }?;
        let reason = overdue.map(|(_, reason)| reason);
        self.upkeep.victim_begins(reason);
        Some((victim, reason))
    }

    /// Returns true if idle collection has reached its goal.
    pub fn is_idle_goal_reached(&self, media: &Superblocks) -> bool {
        media.free() >= self.paced.goal() + media.set_aside() && !media.holds_slc()
    }

    /// Takes notice of a changed need. The SSD counts as collecting while it is forced, idle, at its floor, or at twice its usual pace.
    /// Returns true if it begins to because it is at its floor. An interval that is over goes to `cleans`.
    pub fn note(&mut self, now: TimeNs, member: MemberId, need: Need, cleans: &mut Vec<GcInterval>) -> bool {
        let collects = !self.instantaneous && (self.is_urgent(need) || self.paced.counts_as_collecting(self.pace(need)));
        match &mut self.interval {
            None if collects => {
                self.interval = Some(GcInterval {
                    member: member.0,
                    die: 0,
                    pool: 0,
                    start_ns: now,
                    end_ns: now,
                    pages_moved: 0,
                    free_blocks_before: need.free,
                    free_blocks_min: need.free,
                    writes_wait_from_ns: now,
                    all_wait_from_ns: now,
                    forced: need.is_forced,
                });
                return self.paced.is_at_floor(need.free) && !self.idle.is_used();
            }
            Some(interval) if collects => interval.free_blocks_min = interval.free_blocks_min.min(need.free),
            Some(interval) => {
                (interval.end_ns, interval.writes_wait_from_ns, interval.all_wait_from_ns) = (now, now, now);
                cleans.extend(self.interval.take());
            }
            None => {}
        }
        false
    }
}
