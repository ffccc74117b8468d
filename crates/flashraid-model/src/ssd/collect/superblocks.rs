//! Collection of superblocks in small steps (rules 209, 210, 213, 216 and 223). It chooses a victim, divides it into parts, and follows the
//! moves of these parts.

use super::idle::Idle;
use super::paced::Paced;
use super::upkeep::Upkeep;
use crate::events::{TimeNs, VictimBlockCollection};
use crate::ids::MemberId;
use crate::space::superblocks::{SuperblockMapping, SuperblockShape, Upkeep as Reason};
use crate::ssd::job::Table;
use crate::ssd::params::SuperblockDriveParams;

/// The valid units of the mapping (one page or several, `ssd.superblock.unit`) in one superpage of a victim superblock. They are moved
/// together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Part {
    /// Number of the first place of the superpage.
    pub(crate) first: u64,
    /// Set of units that must be read, one bit for each place.
    pub(crate) units: u128,
    /// Type of the pages that are being read, which decides how long a read takes.
    pub(crate) page_type: u32,
}

/// The superblock that collection currently reads.
#[derive(Debug, Clone, Copy)]
struct Victim {
    block: u32,
    /// Number of valid units when the victim was chosen.
    valid: u32,
    /// Index of the next superpage of the victim to examine.
    next: u32,
    /// True if the superblock is moved for upkeep (to preserve its data or to level wear), and not to gain room.
    for_upkeep: bool,
}

/// Progress of moving a victim, until it has been erased.
#[derive(Debug, Clone, Copy)]
struct Moving {
    block: u32,
    /// Number of parts whose reads have been started but have not ended.
    parts: u32,
    /// Number of units that have been read but not programmed.
    units: u32,
    all_begun: bool,
    /// Number of dies that must still erase their share. It counts from the start of the erase on.
    erases: u32,
}

/// State of an SSD that decides whether it must collect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need {
    /// Number of free superblocks.
    pub(crate) free: u32,
    /// True if the array's controller has forced the SSD to collect, and the work is not finished.
    pub(crate) is_forced: bool,
    /// True if the array's controller decides when the SSD collects, except at its floor.
    pub(crate) is_controlled: bool,
    /// True if the forced SSD must still free a superblock, regardless of the number of free ones (rule 123).
    pub(crate) owes: bool,
    /// True if the SSD is forced to free exactly one superblock.
    pub(crate) only_owed: bool,
}

/// Result of the search for the next step of collection. The caller performs it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Next {
    /// No step of garbage collection can begin now.
    Nothing,
    /// A superblock has just been chosen as the victim. The value is the reason if it is moved to preserve its data or to level wear. It
    /// is `None` if it is moved to gain room.
    Victim(Option<Reason>),
    /// Reads of all valid data of a victim superblock have been started. The value is the number of this superblock.
    AllMovesBegun(u32),
    /// A part of the victim superblock must be read now, so that it can be moved. A part is all valid data of one superpage. The
    /// value is the number of the part in [`Collection::parts`].
    ReadVictimSuperpage(u32),
}

/// State of the collection of superblocks in one SSD.
#[derive(Debug, Clone)]
pub(crate) struct Collection {
    /// The balance between host writes and moves.
    pub(crate) paced: Paced,
    /// State of the idle time in which the SSD may collect.
    pub(crate) idle: Idle,
    /// Rules that choose superblocks for upkeep: moves that preserve data or level wear.
    pub(crate) upkeep: Upkeep,
    /// Parts whose reads have been started but have not ended.
    pub(crate) parts: Table<Part>,
    shape: SuperblockShape,
    /// True if collection takes no time.
    instantaneous: bool,
    victim: Option<Victim>,
    moving: Vec<Moving>,
    /// Number of further units that may be read before earlier ones have been programmed.
    room: u64,
    /// Period for which the SSD counts as collecting, if it currently does.
    interval: Option<VictimBlockCollection>,
}

impl Collection {
    /// Returns the state before any collection. Instantaneous collection is driven by [`Collection::next_instant_victim`].
    pub(crate) fn new(shape: &SuperblockShape, params: &SuperblockDriveParams, idle_ns: Option<u64>, instantaneous: bool) -> Self {
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

    /// Returns the number of units that may have been read but not programmed.
    fn room(shape: &SuperblockShape) -> u64 {
        2 * u64::from(shape.dies) * u64::from(shape.mapping_units_per_superpage())
    }

    /// Returns true if collection takes no time.
    pub(crate) fn is_instantaneous(&self) -> bool {
        self.instantaneous
    }

    /// Returns the pace × `span`, which grows as free superblocks fall below target + span (rules 209 and 216).
    pub(crate) fn pace(&self, need: Need) -> u32 {
        if self.instantaneous {
            return 0;
        }
        let erased_soon = || self.moving.iter().filter(|moving| moving.erases > 0).count() as u32;
        self.paced.pace(need.free, need.is_forced, need.is_controlled, erased_soon)
    }

    /// Returns true if moves need no credit, because space is urgent.
    pub(crate) fn is_urgent(&self, need: Need) -> bool {
        need.is_forced || self.idle.is_used() || self.paced.is_at_floor(need.free)
    }

    /// Returns the credits that moving one unit costs. A move for upkeep (to preserve data or to level wear) costs nothing.
    fn cost(&self, victim: &Victim) -> i128 {
        if victim.for_upkeep { 0 } else { self.paced.cost(self.shape.data_mapping_units_per_superblock() - victim.valid) }
    }

    /// Returns the number of units that must still be moved to pay for what the host has written.
    pub(crate) fn owed_units(&self) -> u64 {
        let victim = self.victim.filter(|victim| !victim.for_upkeep);
        victim.map_or(0, |victim| self.paced.owed_units(self.cost(&victim)))
    }

    /// Returns true if so many moves are owed that host writes must wait.
    pub(crate) fn owes_too_much(&self) -> bool {
        self.paced.exceeds_debt(self.owed_units())
    }

    /// Returns the number of units that have been chosen or read but not programmed.
    pub(crate) fn units_on_their_way(&self) -> u64 {
        Self::room(&self.shape) - self.room
    }

    /// Returns the time since which the SSD has counted as collecting, if it currently does.
    pub(crate) fn since(&self) -> Option<TimeNs> {
        self.interval.map(|interval| interval.start_ns)
    }

    /// Returns true if superpages of the host earn credits: there must be something to collect.
    pub(crate) fn can_earn_credits(&self, need: Need) -> bool {
        self.pace(need) > 0 && !self.is_urgent(need)
    }

    /// Returns true if there is a victim with parts that have not been read.
    pub(crate) fn has_victim(&self) -> bool {
        self.victim.is_some()
    }

    /// Adds the credits that collection earns because the host writes `units` units: with them it may move more.
    pub(crate) fn earn_credits(&mut self, units: u32, need: Need) {
        if let Some(victim) = self.victim.filter(|victim| !victim.for_upkeep) {
            let pace = self.pace(need);
            self.paced.earn_credits(units, victim.valid, pace);
        }
    }

    /// Chooses the next victim by the policy. Returns true if there is one.
    pub(crate) fn choose_victim(&mut self, media: &mut SuperblockMapping) -> bool {
        let Some(block) = media.pick_victim() else { return false };
        self.begin_victim(media, block, None);
        true
    }

    /// Makes a superblock the current victim.
    fn begin_victim(&mut self, media: &mut SuperblockMapping, block: u32, upkeep: Option<Reason>) {
        let valid = media.begin_victim(block);
        self.upkeep.victim_begins(upkeep);
        self.victim = Some(Victim { block, valid, next: 0, for_upkeep: upkeep.is_some() });
        self.moving.push(Moving { block, parts: 0, units: 0, all_begun: false, erases: 0 });
    }

    /// Starts the next step of collection, if there are enough credits or an urgent need, and room for units that are read.
    pub(crate) fn next(&mut self, media: &mut SuperblockMapping, need: Need) -> Next {
        let Some(mut victim) = self.victim else { return self.next_victim(media, need) };
        let (per_superpage, superpages) = (self.shape.mapping_units_per_superpage(), self.shape.superpages_per_superblock());
        let first_of = |superpage: u32| self.shape.first_place_of_superpage(victim.block * superpages + superpage);
        let mut with_valid = (victim.next..superpages).map(|superpage| {
            media.store_contents_to((superpage + 1) * per_superpage, victim.block);
            (superpage, media.valid_units(first_of(superpage)))
        });
        let Some((superpage, units)) = with_valid.find(|&(_, units)| units != 0) else {
            self.victim = None;
            self.moving(victim.block).all_begun = true;
            return Next::AllMovesBegun(victim.block);
        };
        let part = Part { first: first_of(superpage), units, page_type: 0 };
        victim.next = superpage;
        self.victim = Some(victim);
        let units = part.units.count_ones();
        let cost = self.cost(&victim);
        let needs_no_credit = self.is_urgent(need) || victim.for_upkeep;
        if !(needs_no_credit || self.paced.has_credit_for(cost)) || u64::from(units) > self.room {
            return Next::Nothing;
        }
        self.paced.spend(units, cost, needs_no_credit);
        victim.next += 1;
        self.victim = Some(victim);
        self.room -= u64::from(units);
        self.moving(victim.block).parts += 1;
        let id = self.parts.take();
        self.parts[id] = part;
        Next::ReadVictimSuperpage(id)
    }

    /// Returns the number of superblocks, free or soon free, at which no more victims are chosen.
    fn goal(&self, need: Need, reserved_for_slc: u32) -> usize {
        let goal = (self.paced.goal() + reserved_for_slc) as usize;
        let owed = if need.owes { need.free as usize + 1 } else { 0 };
        let for_itself = self.idle.is_used() || self.paced.is_at_floor(need.free);
        if need.only_owed && !for_itself { owed } else { goal.max(owed) }
    }

    /// Returns true if the SSD has freed what it was forced to free (rules 123 and 216).
    pub(crate) fn is_forced_goal_reached(&self, need: Need) -> bool {
        !need.owes && (need.only_owed || need.free >= self.paced.goal())
    }

    /// Chooses the next victim if one is needed; otherwise returns [`Next::Nothing`].
    fn next_victim(&mut self, media: &mut SuperblockMapping, need: Need) -> Next {
        // A superblock is moved for its own sake, if that is due and there is room. After one for wear another victim has its turn (rule
        // 223).
        if !self.paced.is_at_floor(need.free)
            && let Some((block, reason)) = self.upkeep.overdue(media)
        {
            self.begin_victim(media, block, Some(reason));
            return Next::Victim(Some(reason));
        }
        let on_their_way = need.free as usize + self.moving.len();
        let reserved_for_slc = if self.idle.is_used() { media.reserved_for_slc() } else { 0 };
        if self.is_urgent(need) && on_their_way < self.goal(need, reserved_for_slc) && self.choose_victim(media) {
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

    /// Returns true if no more units will soon fill the open superpage of this handle. This is so if space is needed and nothing else is
    /// moved, or if the current victim belongs to another handle.
    pub(crate) fn gets_no_more_units(&self, media: &SuperblockMapping, handle: u8, need: Need) -> bool {
        let handle_of = |block: u32| media.superblocks[block as usize].handle;
        let is_read = |moving: &Moving| moving.parts == 0;
        match &self.victim {
            None => self.is_urgent(need) && self.moving.iter().all(is_read),
            Some(victim) => {
                handle_of(victim.block) != handle && self.moving.iter().all(|moving| is_read(moving) || handle_of(moving.block) != handle)
            }
        }
    }

    /// Returns the progress of a victim.
    fn moving(&mut self, block: u32) -> &mut Moving {
        self.moving.iter_mut().find(|moving| moving.block == block).expect("its units are on their way")
    }

    /// Records that a part has been read. Of its units, `valid` are still valid, and `dropped` were overwritten in the meantime and need no
    /// program.
    pub(crate) fn part_read_ended(&mut self, block: u32, valid: u32, dropped: u32) {
        let moving = self.moving(block);
        moving.parts -= 1;
        moving.units += valid;
        self.room += u64::from(dropped);
    }

    /// Records that `units` units of a superblock have been programmed.
    pub(crate) fn moves_programmed(&mut self, block: u32, units: u32) {
        self.moving(block).units -= units;
        self.room += u64::from(units);
    }

    /// Begins the erase of a victim if all its units have been read and programmed. Returns true if it does.
    pub(crate) fn begin_erase_if_empty(&mut self, block: u32) -> bool {
        let dies = self.shape.dies;
        let moving = self.moving(block);
        let is_empty = moving.all_begun && moving.parts == 0 && moving.units == 0 && moving.erases == 0;
        if is_empty {
            moving.erases = dies;
        }
        is_empty
    }

    /// Records that a die has erased its share. Returns true if it was the last die.
    pub(crate) fn die_erased(&mut self, block: u32) -> bool {
        let moving = self.moving(block);
        moving.erases -= 1;
        let is_over = moving.erases == 0;
        if is_over {
            self.moving.retain(|moving| moving.block != block);
        }
        is_over
    }

    /// Returns true if no move is in progress and none can be started.
    pub(crate) fn has_nothing_to_do(&self, media: &SuperblockMapping) -> bool {
        self.moving.is_empty() && !media.has_victim()
    }

    /// Returns the next superblock for instantaneous collection, if one is due, and its reason if that is upkeep (rule 216).
    pub(crate) fn next_instant_victim(&mut self, media: &mut SuperblockMapping) -> Option<(u32, Option<Reason>)> {
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
    pub(crate) fn is_idle_goal_reached(&self, media: &SuperblockMapping) -> bool {
        media.free() >= self.paced.goal() + media.reserved_for_slc() && !media.holds_slc()
    }

    /// Updates the period for which the SSD counts as collecting. It does while it is forced, idle, at its floor, or at twice its usual
    /// pace.
    ///
    /// A period that has ended is added to `cleans`. Returns true if the SSD begins to collect because it has reached its floor.
    pub(crate) fn update_collecting(&mut self, now: TimeNs, member: MemberId, need: Need, cleans: &mut Vec<VictimBlockCollection>) -> bool {
        let collects = !self.instantaneous && (self.is_urgent(need) || self.paced.counts_as_collecting(self.pace(need)));
        match &mut self.interval {
            None if collects => {
                self.interval = Some(VictimBlockCollection {
                    member: member.0,
                    die: 0,
                    pool: 0,
                    start_ns: now,
                    end_ns: now,
                    pages_moved: 0,
                    free_blocks_before: need.free,
                    pool_free_blocks_min: need.free,
                    writes_blocked_from_ns: now,
                    all_requests_blocked_from_ns: now,
                    is_caused_by_coordination: need.is_forced,
                });
                return self.paced.is_at_floor(need.free) && !self.idle.is_used();
            }
            Some(interval) if collects => interval.pool_free_blocks_min = interval.pool_free_blocks_min.min(need.free),
            Some(interval) => {
                (interval.end_ns, interval.writes_blocked_from_ns, interval.all_requests_blocked_from_ns) = (now, now, now);
                cleans.extend(self.interval.take());
            }
            None => {}
        }
        false
    }
}
