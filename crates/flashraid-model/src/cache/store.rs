//! One cache: its capacity, its entries in a ring with a destage pointer, and its destages in progress (rules 71, 72, 80 and 81).

use super::common::Writer;
use super::sequential_share::SequentialShare;
use super::{CapacityUnit, WriteCacheParams};
use crate::TimeNs;
use std::collections::BTreeMap;

const NONE: u32 = u32::MAX;
/// Value that stands for an entry that was dropped while its destage was still in progress.
const DROPPED: u32 = u32::MAX - 1;

/// State of the cache that a page finds when it is admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// The page was in the cache already. Its data are overwritten in place, so that it takes no more room.
    PageHit,
    /// The page is new in the cache. Its entry (the dirty pages of a stripe or of a strip) was there already, made by an earlier write.
    GroupHit,
    /// The page is new in the cache, and so is its entry (the dirty pages of a stripe or of a strip). An entry that an earlier page of
    /// the same write has made also counts as new.
    NewEntry,
}

/// Dirty pages of one stripe, or of one strip.
#[derive(Debug, Clone, Default)]
struct Entry {
    number: u64,
    /// Offsets of the pages in ascending order.
    pages: Vec<u32>,
    /// Number of the writer that made the entry.
    writer: u64,
    recent: bool,
    /// True if the entry must be destaged before rebuilding may begin.
    marked: bool,
    ring: u8,
}

/// Entries in order of their numbers, and the position that destaging has reached.
#[derive(Debug, Clone, Default)]
struct Ring {
    entries: BTreeMap<u64, u32>,
    pages: u32,
    pointer: u64,
}

/// A slot for one destage in progress.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The entry that is being destaged, [`NONE`] or [`DROPPED`].
    entry: u32,
    used: bool,
    begun_at: TimeNs,
    ended_at: TimeNs,
}

/// One cache with its entries and slots.
#[derive(Debug, Clone)]
pub(super) struct Store {
    room_pages: u32,
    low_pages: u32,
    high_pages: u32,
    used_pages: u32,
    /// Unit in which the capacity is counted.
    room: CapacityUnit,
    /// True if every page that is stored sets the recency bit of its entry.
    bit_at_store: bool,
    /// Writer and entry of the last page that took room in the cache (rule 89). No writer has the number 0.
    given_last: (u64, u64),
    /// Maximum number of pages of an entry.
    entry_pages: u32,
    /// Rings of entries. Under `stow`, the second one is for sequential writers.
    rings: [Ring; 2],
    share: Option<SequentialShare>,
    entries: Vec<Entry>,
    unused: Vec<u32>,
    slots: Vec<Slot>,
    /// Number of marked entries, whether in a ring or being destaged.
    marked: u32,
}

impl Store {
    pub(super) fn new(room_pages: u32, entry_pages: u32, params: &WriteCacheParams) -> Self {
        let portion = |fraction: f64| libm::floor(fraction * f64::from(room_pages)) as u32;
        Self {
            room_pages,
            low_pages: portion(params.destage_start_fill),
            high_pages: portion(params.full_speed_destage_fill_fraction),
            used_pages: 0,
            room: params.capacity_unit,
            bit_at_store: false,
            given_last: (0, 0),
            entry_pages,
            rings: Default::default(),
            share: None,
            entries: Vec::new(),
            unused: Vec::new(),
            slots: vec![Slot { entry: NONE, used: false, begun_at: 0, ended_at: 0 }; params.destages_in_flight_max as usize],
            marked: 0,
        }
    }

    /// Gives sequential writes a separate ring.
    pub(crate) fn with_sequential_ring(mut self) -> Self {
        self.share = Some(SequentialShare::new(self.room_pages));
        self
    }

    /// Lets every page that is stored set the recency bit of its entry (rule 72).
    pub(super) fn with_bit_at_store(mut self, at_store: bool) -> Self {
        self.bit_at_store = at_store;
        self
    }

    pub(crate) fn used_pages(&self) -> u32 {
        self.used_pages
    }

    /// Returns the unit in which the capacity is counted.
    pub(super) fn room(&self) -> CapacityUnit {
        self.room
    }

    /// Returns the capacity in use, in pages or entries.
    fn used(&self) -> u32 {
        if self.room == CapacityUnit::DirtyStripesOrStrips { (self.entries.len() - self.unused.len()) as u32 } else { self.used_pages }
    }

    /// Returns the free capacity, in pages or entries.
    pub(super) fn free(&self) -> u32 {
        self.room_pages.saturating_sub(self.used())
    }

    /// Returns true if an entry with this number is in a ring.
    pub(super) fn has_entry(&self, number: u64) -> bool {
        self.find(number).is_some()
    }

    pub(crate) fn is_flushed(&self) -> bool {
        self.marked == 0
    }

    /// Returns the index of the entry with this number if it is in a ring.
    #[inline]
    fn find(&self, number: u64) -> Option<u32> {
        let random = &self.rings[0].entries;
        let found = if random.is_empty() { None } else { random.get(&number) };
        if self.share.is_none() || found.is_some() { found.copied() } else { self.rings[1].entries.get(&number).copied() }
    }

    #[inline]
    fn has_page(&self, entry: u32, offset: u32) -> bool {
        self.entries[entry as usize].pages.binary_search(&offset).is_ok()
    }

    fn in_flight(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.iter().map(|slot| slot.entry).filter(|&entry| entry < DROPPED)
    }

    /// Returns true if the page is in a ring, so that a new version needs no room.
    #[inline]
    pub(crate) fn would_replace(&self, number: u64, offset: u32) -> bool {
        self.find(number).is_some_and(|entry| self.has_page(entry, offset))
    }

    /// Returns true if the page is in a ring or is being destaged.
    #[inline]
    pub(super) fn holds(&self, number: u64, offset: u32) -> bool {
        self.used_pages > 0
            && (self.would_replace(number, offset)
                || self.in_flight().any(|entry| self.entries[entry as usize].number == number && self.has_page(entry, offset)))
    }

    /// Admits a page, or returns `None` if there is no room.
    #[inline]
    pub(super) fn admit(&mut self, number: u64, offset: u32, writer: &Writer) -> Option<Admission> {
        let follows = self.room == CapacityUnit::PagesAdmittingWholeWrites && self.given_last == (writer.id, number);
        let finds_room = self.free() > 0 || follows;
        let Some(found) = self.find(number) else {
            if !finds_room {
                return None;
            }
            self.given_last = (writer.id, number);
            self.make_entry(number, offset, writer);
            return Some(Admission::NewEntry);
        };
        let finds_room = finds_room || self.room == CapacityUnit::DirtyStripesOrStrips;
        let entry = &mut self.entries[found as usize];
        let is_other = entry.writer != writer.id;
        let admission = match entry.pages.binary_search(&offset) {
            Ok(_) => Admission::PageHit,
            Err(_) if !finds_room => return None,
            Err(index) => {
                self.given_last = (writer.id, number);
                entry.pages.insert(index, offset);
                self.used_pages += 1;
                self.rings[usize::from(entry.ring)].pages += 1;
                if is_other { Admission::GroupHit } else { Admission::NewEntry }
            }
        };
        entry.recent |= self.bit_at_store || (is_other && !writer.sequential);
        if writer.marked && !entry.marked {
            entry.marked = true;
            self.marked += 1;
        }
        if admission != Admission::NewEntry
            && entry.ring == 0
            && let Some(share) = &mut self.share
        {
            share.random_hit();
        }
        Some(admission)
    }

    fn make_entry(&mut self, number: u64, offset: u32, writer: &Writer) {
        let id = self.unused.pop().unwrap_or_else(|| {
            self.entries.push(Entry::default());
            self.entries.len() as u32 - 1
        });
        let ring = u8::from(self.share.is_some() && writer.sequential);
        let entry = &mut self.entries[id as usize];
        entry.pages.push(offset);
        (entry.number, entry.writer, entry.recent, entry.marked, entry.ring) = (number, writer.id, self.bit_at_store, writer.marked, ring);
        let ring = &mut self.rings[usize::from(ring)];
        ring.entries.insert(number, id);
        ring.pages += 1;
        self.used_pages += 1;
        self.marked += u32::from(writer.marked);
    }

    /// Returns the rate of destaging as numerator and denominator; they are equal at full speed.
    fn rate(&self, full: bool) -> (u32, u32) {
        let used = self.used();
        let above = used.saturating_sub(self.low_pages);
        if full || (above > 0 && used >= self.high_pages) {
            (1, 1)
        } else if above == 0 {
            (0, 1)
        } else {
            (above, self.high_pages - self.low_pages)
        }
    }

    /// Returns the time at which a slot has paused long enough at the present rate. It is `None` if the rate is 0.
    fn ready_from(slot: &Slot, (above, whole): (u32, u32)) -> Option<TimeNs> {
        if above == 0 {
            return None;
        }
        if !slot.used || above == whole {
            return Some(0);
        }
        let busy = u128::from(slot.ended_at - slot.begun_at);
        let rest = (busy * u128::from(whole - above)).div_ceil(u128::from(above));
        Some(u64::try_from(u128::from(slot.ended_at) + rest).unwrap_or(TimeNs::MAX))
    }

    /// Returns the lowest free slot that has paused long enough. With `full`, the destage rate is not limited.
    #[inline]
    pub(crate) fn free_slot(&self, now: TimeNs, full: bool) -> Option<u16> {
        if self.rings.iter().all(|ring| ring.entries.is_empty()) {
            return None;
        }
        let rate = self.rate(full);
        let is_free = |slot: &Slot| slot.entry == NONE && Self::ready_from(slot, rate).is_some_and(|from| from <= now);
        self.slots.iter().position(is_free).map(|slot| slot as u16)
    }

    /// Returns the next time at which a free slot will have paused long enough, if there is something to destage.
    pub(crate) fn next_slot_ready(&self, now: TimeNs, full: bool) -> Option<TimeNs> {
        let rate = self.rate(full);
        let free = self.slots.iter().filter(|slot| slot.entry == NONE);
        let at = free.filter_map(|slot| Self::ready_from(slot, rate)).filter(|&from| from > now).min()?;
        let can_leave = |number: &u64| !self.is_in_flight(*number);
        self.rings.iter().any(|ring| ring.entries.keys().any(can_leave)).then_some(at)
    }

    #[inline]
    fn is_in_flight(&self, number: u64) -> bool {
        self.in_flight().any(|entry| self.entries[entry as usize].number == number)
    }

    /// Returns the entry to destage next, and clears the recency bits that it passes. While `flushing`, marked entries come first.
    #[inline]
    pub(super) fn candidate(&mut self, flushing: bool) -> Option<u32> {
        let Some(share) = &self.share else {
            let marked = if flushing { self.marked_candidate(0) } else { None };
            return marked.or_else(|| self.candidate_of(0));
        };
        let first = usize::from(share.is_exceeded_by(self.rings[1].pages));
        let marked = if flushing { self.marked_candidate(first).or_else(|| self.marked_candidate(1 - first)) } else { None };
        marked.or_else(|| self.candidate_of(first)).or_else(|| self.candidate_of(1 - first))
    }

    #[inline]
    fn candidate_of(&mut self, ring: usize) -> Option<u32> {
        let Ring { entries, pointer, .. } = &self.rings[ring];
        for _round in 0..2 {
            let from_start = std::iter::once_with(|| entries.range(..*pointer)).flatten();
            for (&number, &id) in entries.range(*pointer..).chain(from_start) {
                if self.slots.iter().any(|slot| slot.entry < DROPPED && self.entries[slot.entry as usize].number == number) {
                    continue;
                }
                let entry = &mut self.entries[id as usize];
                if !std::mem::replace(&mut entry.recent, false) {
                    return Some(id);
                }
            }
        }
        None
    }

    fn marked_candidate(&self, ring: usize) -> Option<u32> {
        let Ring { entries, pointer, .. } = &self.rings[ring];
        let round = entries.range(*pointer..).chain(entries.range(..*pointer));
        round.filter(|&(&number, &id)| self.entries[id as usize].marked && !self.is_in_flight(number)).map(|(_, &id)| id).next()
    }

    /// Begins the destage of an entry, and returns its number of pages.
    #[inline]
    pub(super) fn begin(&mut self, now: TimeNs, slot: u16, id: u32) -> u32 {
        let entry = &self.entries[id as usize];
        let pages = entry.pages.len() as u32;
        let ring = &mut self.rings[usize::from(entry.ring)];
        ring.entries.remove(&entry.number);
        ring.pages -= pages;
        ring.pointer = entry.number + 1;
        if let Some(share) = &mut self.share
            && entry.ring == 1
            && pages < self.entry_pages
        {
            share.left_incomplete();
        }
        let slot = &mut self.slots[usize::from(slot)];
        (slot.entry, slot.begun_at) = (id, now);
        pages
    }

    /// Returns the number of the entry in a slot, the offsets of its pages and its mark; `None` if the entry has been dropped.
    #[inline]
    pub(crate) fn entry_in_slot(&self, slot: u16) -> Option<(u64, &[u32], bool)> {
        let entry = self.entries.get(self.slots[usize::from(slot)].entry as usize)?;
        Some((entry.number, &entry.pages, entry.marked))
    }

    /// Ends a destage, which frees its capacity. Returns the number of its pages.
    #[inline]
    pub(super) fn finish(&mut self, now: TimeNs, slot: u16) -> u32 {
        let slot = &mut self.slots[usize::from(slot)];
        let id = std::mem::replace(&mut slot.entry, NONE);
        (slot.used, slot.ended_at) = (true, now);
        if id == DROPPED { 0 } else { self.release(id) }
    }

    fn release(&mut self, id: u32) -> u32 {
        let entry = &mut self.entries[id as usize];
        let pages = entry.pages.len() as u32;
        entry.pages.clear();
        self.used_pages -= pages;
        self.marked -= u32::from(entry.marked);
        self.unused.push(id);
        pages
    }

    /// Removes a page from its ring. Returns true if it was there, and the entry if this was its last page.
    pub(super) fn forget(&mut self, number: u64, offset: u32) -> (bool, Option<u32>) {
        let Some(id) = self.find(number) else { return (false, None) };
        let entry = &mut self.entries[id as usize];
        let Ok(at) = entry.pages.binary_search(&offset) else { return (false, None) };
        entry.pages.remove(at);
        let ring = &mut self.rings[usize::from(entry.ring)];
        ring.pages -= 1;
        self.used_pages -= 1;
        if !entry.pages.is_empty() {
            return (true, None);
        }
        ring.entries.remove(&number);
        self.release(id);
        (true, Some(id))
    }

    /// Removes all entries and returns the number of their pages. Destages in progress end without effect.
    pub(crate) fn drop_all(&mut self) -> u32 {
        let mut dropped: Vec<u32> = self.in_flight().collect();
        self.slots.iter_mut().filter(|slot| slot.entry != NONE).for_each(|slot| slot.entry = DROPPED);
        for ring in &mut self.rings {
            dropped.extend(std::mem::take(&mut ring.entries).into_values());
            ring.pages = 0;
        }
        dropped.into_iter().map(|id| self.release(id)).sum()
    }

    /// Marks all entries and clears their recency bits.
    pub(crate) fn mark_all(&mut self) {
        let in_rings = self.rings.iter().flat_map(|ring| ring.entries.values().copied());
        let all: Vec<u32> = in_rings.chain(self.in_flight()).collect();
        self.marked = all.len() as u32;
        for id in all {
            let entry = &mut self.entries[id as usize];
            (entry.marked, entry.recent) = (true, false);
        }
    }

    /// Verifies the invariants of this cache.
    pub(super) fn verify(&self) -> Result<(), String> {
        let pages_of = |id: u32| self.entries[id as usize].pages.len() as u32;
        let in_rings: u32 = self.rings.iter().flat_map(|ring| ring.entries.values()).map(|&id| pages_of(id)).sum();
        let in_flight: u32 = self.in_flight().map(pages_of).sum();
        if in_rings + in_flight != self.used_pages {
            return Err(format!("{in_rings} pages in rings and {in_flight} in flight, but {} counted", self.used_pages));
        }
        if self.room == CapacityUnit::Pages && self.used_pages > self.room_pages {
            return Err(format!("{} pages in a cache of {}", self.used_pages, self.room_pages));
        }
        if in_rings != self.rings[0].pages + self.rings[1].pages {
            return Err("the pages of the rings are miscounted".into());
        }
        let marked = self.rings.iter().flat_map(|ring| ring.entries.values().copied()).chain(self.in_flight());
        let marked = marked.filter(|&id| self.entries[id as usize].marked).count();
        if marked != self.marked as usize { Err(format!("{marked} marked entries, but {} counted", self.marked)) } else { Ok(()) }
    }
}
