//! Section 13 of the rules: write caches before the array.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use flashraid_model::cache::{CacheCounters, CapacityUnit, RecencyBit, WriteCacheParams};
use flashraid_model::counts::Maximum;
use flashraid_model::placement::RaidLevel;
use flashraid_model::request::{OpKind, Request};

use super::parity::Part as ArrayPart;
use super::parity::{data_columns, member_of, parities};
use super::{Purpose, Simulation, layout};

/// All caches, their memory, and who waits for what.
pub(super) struct Caches {
    params: WriteCacheParams,
    /// The cache of stripes, if there is one, then those of the members.
    list: Vec<Cache>,
    has_group: bool,
    memory_free_ns: u64,
    /// Ends of streams, the one that was set longest ago first (rule 73).
    stream_ends: Vec<u64>,
    writers: Vec<Writer>,
    parts: Vec<Part>,
    /// Parts of a stripe that have, or wait for, their turn (rule 78).
    turns: BTreeMap<u64, VecDeque<usize>>,
    flights: BTreeMap<usize, Flight>,
    flights_begun: usize,
    /// Until when the memory reads what hits of a read.
    memory_of_reads: BTreeMap<usize, u64>,
    timer_ns: Option<u64>,
    counters: CacheCounters,
    pages: u64,
    pages_since: u64,
}

struct Cache {
    room_pages: u64,
    /// Circles of entries. For `stow`, the sequential one comes first.
    circles: Vec<Circle>,
    slots: Vec<Slot>,
    /// Waiting writers of a cache of stripes, or waiting writers and their pages of a member cache.
    waiting: VecDeque<(usize, u64)>,
    /// Writer and entry of the page that was given room last (rule 89).
    given_last: Option<(usize, u64)>,
    ready: Option<Candidate>,
    /// Pages that the sequential circle of `stow` should have.
    sequential_pages: u64,
}

#[derive(Default)]
struct Circle {
    entries: BTreeMap<u64, Entry>,
    pointer: u64,
}

struct Entry {
    pages: BTreeSet<u64>,
    maker: usize,
    bit: bool,
    marked: bool,
}

#[derive(Clone, Default)]
struct Slot {
    flight: Option<usize>,
    /// Begin and end of its last destage.
    last: Option<(u64, u64)>,
}

#[derive(Clone, Copy)]
struct Candidate {
    slot: usize,
    circle: usize,
    number: u64,
}

struct Flight {
    cache: usize,
    slot: usize,
    number: u64,
    pages: BTreeSet<u64>,
    began_ns: u64,
    marked: bool,
    /// True if its member has failed.
    void: bool,
}

/// A host write, or a destage of the front.
struct Writer {
    request: Option<usize>,
    flight: Option<usize>,
    sequential: bool,
    /// Pages of the array, in order.
    pages: Vec<u64>,
    /// Pages of a host write that are not admitted because they wait for a cache of stripes.
    not_admitted: VecDeque<u64>,
    /// Pages that wait for member caches, each with the page of the array of which it is a copy.
    waiting: Vec<(usize, u64, Option<u64>)>,
    parts_not_joined: usize,
    memory_end_ns: u64,
    waited_since: Option<u64>,
}

struct Part {
    writer: usize,
    stripe: u64,
    pages: Vec<u64>,
}

/// Something that a cache waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Awaited {
    /// The memory has read the pages of a destage.
    Taken { flight: usize },
    /// An operation of a destage has ended.
    Destaged { flight: usize },
    /// The memory has written the last page of a writer.
    Written { writer: usize },
    /// The missing pages of a part are read.
    Missing { part: usize },
    /// The pages of a host trim are trimmed.
    Trimmed { request: usize },
    /// The pages of a host read that are in no cache are read.
    ReadFromArray { request: usize },
    /// A host read is done.
    Read { request: usize },
}

enum Admission {
    PageHit,
    GroupHit,
    Miss,
}

impl Caches {
    pub(super) fn new(params: &WriteCacheParams, members: usize) -> Caches {
        let cache = |pages: u32, circles: usize| Cache {
            room_pages: u64::from(pages),
            circles: (0..circles).map(|_| Circle::default()).collect(),
            slots: vec![Slot::default(); params.destages_in_flight_max as usize],
            waiting: VecDeque::new(),
            given_last: None,
            ready: None,
            sequential_pages: u64::from(pages / 2),
        };
        let mut list = Vec::new();
        if params.dirty_stripe_cache_capacity_pages > 0 {
            list.push(cache(
                params.dirty_stripe_cache_capacity_pages,
                if params.stripe_and_member_caches.dirty_stripe_cache.is_some_and(|part| part.has_separate_ring_for_sequential_writes) {
                    2
                } else {
                    1
                },
            ));
        }
        if params.member_cache_pages > 0 {
            list.extend((0..members).map(|_| cache(params.member_cache_pages, 1)));
        }
        Caches {
            params: *params,
            list,
            has_group: params.dirty_stripe_cache_capacity_pages > 0,
            memory_free_ns: 0,
            stream_ends: Vec::new(),
            writers: Vec::new(),
            parts: Vec::new(),
            turns: BTreeMap::new(),
            flights: BTreeMap::new(),
            flights_begun: 0,
            memory_of_reads: BTreeMap::new(),
            timer_ns: None,
            counters: CacheCounters::default(),
            pages: 0,
            pages_since: 0,
        }
    }

    /// Nothing waits or is under way.
    pub(super) fn rest(&self) -> bool {
        self.list.iter().all(|cache| cache.waiting.is_empty()) && self.flights.is_empty() && self.turns.values().all(VecDeque::is_empty)
    }

    fn is_group(&self, cache: usize) -> bool {
        self.has_group && cache == 0
    }

    fn member_cache(&self, member: usize) -> usize {
        usize::from(self.has_group) + member
    }

    fn member_caches(&self) -> std::ops::Range<usize> {
        usize::from(self.has_group)..self.list.len()
    }

    /// Returns the time at which the memory is done with so many pages (rule 74).
    fn ask_memory(&mut self, now: u64, pages: usize, latency_ns: u64) -> u64 {
        self.memory_free_ns = self.memory_free_ns.max(now) + pages as u64 * latency_ns;
        self.memory_free_ns
    }

    fn pages_change(&mut self, now: u64, change: i64) {
        if now > self.pages_since {
            self.counters.occupancy_max_pages = self.counters.occupancy_max_pages.max(Maximum(self.pages));
        }
        self.counters.occupancy_integral_page_ns += u128::from(self.pages) * u128::from(now - self.pages_since);
        self.pages_since = now;
        self.pages = self.pages.checked_add_signed(change).expect("there are so many pages");
    }

    /// Pages in the circle of a cache and in flight.
    fn pages_in(&self, cache: usize) -> u64 {
        let entries = self.list[cache].circles.iter().flat_map(|circle| circle.entries.values());
        let in_circle: usize = entries.map(|entry| entry.pages.len()).sum();
        let flights = self.flights.values().filter(|flight| flight.cache == cache && !flight.void);
        in_circle as u64 + flights.map(|flight| flight.pages.len() as u64).sum::<u64>()
    }

    /// Returns the room that is taken in a cache, in pages or entries (rule 89).
    fn room_taken(&self, cache: usize) -> u64 {
        if self.params.capacity_unit != CapacityUnit::DirtyStripesOrStrips {
            return self.pages_in(cache);
        }
        let in_circles: usize = self.list[cache].circles.iter().map(|circle| circle.entries.len()).sum();
        (in_circles + self.flights.values().filter(|flight| flight.cache == cache && !flight.void).count()) as u64
    }

    fn has_room(&self, cache: usize) -> bool {
        self.room_taken(cache) < self.list[cache].room_pages
    }

    fn has_entry(&self, cache: usize, number: u64) -> bool {
        self.list[cache].circles.iter().any(|circle| circle.entries.contains_key(&number))
    }

    fn in_circle(&self, cache: usize, page: u64) -> bool {
        self.list[cache].circles.iter().flat_map(|circle| circle.entries.values()).any(|entry| entry.pages.contains(&page))
    }

    fn holds(&self, cache: usize, page: u64) -> bool {
        let in_flight = |flight: &Flight| flight.cache == cache && !flight.void && flight.pages.contains(&page);
        self.in_circle(cache, page) || self.flights.values().any(in_flight)
    }

    /// Returns true unless pages that were cached when a member failed are still to be destaged (rule 86).
    pub(super) fn are_flushed(&self) -> bool {
        let mut entries = self.list.iter().flat_map(|cache| &cache.circles).flat_map(|circle| circle.entries.values());
        entries.any(|entry| entry.marked) || self.flights.values().any(|flight| flight.marked)
    }

    /// The rate of a cache (rule 80) as a fraction.
    fn rate(&self, cache: usize) -> (u64, u64) {
        let size = self.list[cache].room_pages as f64;
        let low = (self.params.destage_start_fill * size).floor() as u64;
        let high = (self.params.full_speed_destage_fill_fraction * size).floor() as u64;
        let dirty = self.room_taken(cache);
        if !self.list[cache].waiting.is_empty() || self.are_flushed() || (dirty > low && dirty >= high) {
            (1, 1)
        } else if dirty <= low {
            (0, 1)
        } else {
            (dirty - low, high - low)
        }
    }

    /// Returns the time from which a slot has paused long enough, if its cache stays as it is.
    fn rested_from(&self, cache: usize, slot: usize) -> Option<u64> {
        let (rate, of) = self.rate(cache);
        match self.list[cache].slots[slot].last {
            _ if rate == 0 => None,
            None => Some(0),
            Some((_, end)) if rate == of => Some(end),
            Some((begin, end)) => Some(end + ((end - begin) * (of - rate)).div_ceil(rate)),
        }
    }

    fn slot_for_destage(&self, cache: usize, now: u64) -> Option<usize> {
        let slots = &self.list[cache].slots;
        (0..slots.len()).find(|&slot| slots[slot].flight.is_none() && self.rested_from(cache, slot).is_some_and(|from| from <= now))
    }

    /// The candidate of a scan (rules 81, 86 and 87).
    fn candidate(&mut self, cache: usize, slot: usize) -> Option<Candidate> {
        let flushed = self.are_flushed();
        // What a failure has emptied is in flight no more, although the destage goes on (rule 86).
        let is_in_flight = |flight: &&Flight| flight.cache == cache && !flight.void;
        let in_flight: BTreeSet<u64> = self.flights.values().filter(is_in_flight).map(|flight| flight.number).collect();
        let state = &mut self.list[cache];
        let mut order: Vec<usize> = (0..state.circles.len()).collect();
        if order.len() == 2 {
            let pages: usize = state.circles[0].entries.values().map(|entry| entry.pages.len()).sum();
            if pages as u64 <= state.sequential_pages {
                order.reverse();
            }
        }
        let turn = |circle: &Circle| -> Vec<u64> {
            let from = circle.pointer;
            let numbers = circle.entries.range(from..).chain(circle.entries.range(..from)).map(|(&number, _)| number);
            numbers.filter(|number| !in_flight.contains(number)).collect()
        };
        if flushed {
            for &circle in &order {
                let numbers = turn(&state.circles[circle]);
                if let Some(&number) = numbers.iter().find(|number| state.circles[circle].entries[number].marked) {
                    return Some(Candidate { slot, circle, number });
                }
            }
        }
        for &circle in &order {
            for _round in 0..2 {
                for number in turn(&state.circles[circle]) {
                    let entry = state.circles[circle].entries.get_mut(&number).expect("it is in the circle");
                    if !std::mem::take(&mut entry.bit) {
                        return Some(Candidate { slot, circle, number });
                    }
                }
            }
        }
        None
    }
}

// Addresses of pages in caches.
impl Simulation<'_> {
    fn caches(&mut self) -> &mut Caches {
        self.caches.as_mut().expect("there is a cache")
    }

    fn caches_now(&self) -> &Caches {
        self.caches.as_ref().expect("there is a cache")
    }

    fn unit(&self) -> u64 {
        u64::from(self.case.params.stripe_unit_pages)
    }

    fn stripe_of(&self, page: u64) -> u64 {
        page / self.unit() / data_columns(&self.case.params) as u64
    }

    fn column_of(&self, page: u64) -> usize {
        (page / self.unit() % data_columns(&self.case.params) as u64) as usize
    }

    /// The logical page of a member at a place of a stripe.
    fn member_page(&self, page: u64) -> u64 {
        self.stripe_of(page) * self.unit() + page % self.unit()
    }

    /// Member caches that a page of the array goes to, but for lost ones; by member as if none had failed.
    fn members_of(&self, page: u64) -> Vec<usize> {
        let params = &self.case.params;
        let stripe = self.stripe_of(page);
        let column = self.column_of(page);
        let members = match params.level {
            RaidLevel::Single => vec![0],
            RaidLevel::Raid0 => vec![column],
            RaidLevel::Raid1 => (0..params.members as usize).collect(),
            RaidLevel::Raid10 => vec![2 * column, 2 * column + 1],
            RaidLevel::Raid4 | RaidLevel::Raid5 | RaidLevel::Raid6 => vec![member_of(params, stripe, column)],
        };
        members.into_iter().filter(|&member| self.server(stripe, member).is_some()).collect()
    }

    /// The number of the entry that a page of a cache belongs to.
    fn entry_number(&self, cache: usize, page: u64) -> u64 {
        if self.caches_now().is_group(cache) { self.stripe_of(page) } else { page / self.unit() }
    }

    /// Pages that an entry of a cache of stripes can have.
    fn stripe_pages(&self) -> u64 {
        self.unit() * data_columns(&self.case.params) as u64
    }
}

// Requests of the host.
impl Simulation<'_> {
    pub(super) fn cache_sees_arrival(&mut self, index: usize, request: &Request) {
        let pages = layout::pages_of(&self.case.params, request);
        let flushed = self.caches().are_flushed();
        match request.kind {
            OpKind::Read => self.host_read(index, pages),
            OpKind::Trim => self.host_trim(index, pages),
            _ => self.host_write(index, pages),
        }
        self.scans();
        if flushed && !self.caches().are_flushed() && self.case.params.rebuild.is_some() {
            self.schedule_rebuild(0);
        }
    }

    /// Serves a host read from caches and array (rule 75).
    fn host_read(&mut self, index: usize, pages: Vec<u64>) {
        let (hits, others): (Vec<u64>, Vec<u64>) = pages.into_iter().partition(|&page| self.hits(page));
        let now = self.now;
        let caches = self.caches();
        let counters = &mut caches.counters;
        *match (hits.is_empty(), others.is_empty()) {
            (_, true) => &mut counters.reads_fully_hit,
            (true, false) => &mut counters.reads_missed,
            (false, false) => &mut counters.reads_partly_hit,
        } += 1;
        counters.read_pages_hit += hits.len() as u64;
        let nvm_read_ns = caches.params.nvm_page_read_ns;
        let memory_end = if hits.is_empty() { now } else { caches.ask_memory(now, hits.len(), nvm_read_ns) };
        if others.is_empty() {
            self.schedule_cache_event(memory_end, Awaited::Read { request: index });
        } else {
            self.caches().memory_of_reads.insert(index, memory_end);
            let (others, lost) = self.left_to_read(others);
            if lost > 0 {
                self.loses(Some(index), lost);
            }
            let parts = self.parts(others, false);
            self.cache_job(Awaited::ReadFromArray { request: index }, parts, false);
        }
    }

    /// Trims pages in caches and array (rule 112).
    fn host_trim(&mut self, index: usize, pages: Vec<u64>) {
        let unit = self.unit();
        let params = &self.case.params;
        let mut drops: Vec<(usize, u64)> = Vec::new();
        if self.caches_now().has_group {
            drops.extend(pages.iter().map(|&page| (0, page)));
        }
        if !self.caches_now().member_caches().is_empty() {
            let mut by_stripe: Vec<(u64, Vec<u64>)> = Vec::new();
            for &page in &pages {
                match by_stripe.last_mut() {
                    Some((stripe, pages)) if *stripe == self.stripe_of(page) => pages.push(page),
                    _ => by_stripe.push((self.stripe_of(page), vec![page])),
                }
            }
            for (stripe, pages) in by_stripe {
                if parities(params) == 0 {
                    let on_members = pages.iter().flat_map(|&page| self.members_of(page).into_iter().map(move |member| (member, page)));
                    drops.extend(on_members.map(|(member, page)| (self.caches_now().member_cache(member), self.member_page(page))));
                } else if pages.len() as u64 == self.stripe_pages() {
                    for member in 0..params.members as usize {
                        drops.extend((0..unit).map(|row| (self.caches_now().member_cache(member), stripe * unit + row)));
                    }
                }
            }
        }
        let dropped: BTreeSet<usize> = drops.into_iter().filter(|&(cache, page)| self.drops(cache, page)).map(|(cache, _)| cache).collect();
        for cache in dropped {
            self.admit_waiting(cache);
        }
        let parts = self.parts(pages, true);
        let parts = self.parts_of_trim(parts);
        let order = self.next_cache_order();
        let job = self.begin_job(Purpose::Cache { order, awaited: Awaited::Trimmed { request: index } });
        self.take_parts(job, parts, OpKind::Trim, false);
    }

    /// Drops a page that is in a circle; says whether it was.
    fn drops(&mut self, cache: usize, page: u64) -> bool {
        let now = self.now;
        let number = self.entry_number(cache, page);
        let caches = self.caches();
        for circle in &mut caches.list[cache].circles {
            let Some(entry) = circle.entries.get_mut(&number) else { continue };
            if !entry.pages.remove(&page) {
                continue;
            }
            if entry.pages.is_empty() {
                circle.entries.remove(&number);
                let state = &mut caches.list[cache];
                if state.ready.is_some_and(|candidate| candidate.number == number) {
                    state.ready = None;
                }
                if caches.list.iter().all(|cache| cache.ready.is_none()) {
                    caches.timer_ns = None;
                }
            }
            caches.counters.pages_trimmed += 1;
            caches.pages_change(now, -1);
            return true;
        }
        false
    }

    fn hits(&self, page: u64) -> bool {
        let caches = self.caches_now();
        let in_group = caches.has_group && caches.holds(0, page);
        let on_members = !caches.member_caches().is_empty()
            && self.members_of(page).into_iter().any(|member| caches.holds(caches.member_cache(member), self.member_page(page)));
        in_group || on_members || self.is_under_way(page)
    }

    /// Returns true if a page belongs to a host write that has arrived but not admitted it yet.
    fn is_under_way(&self, page: u64) -> bool {
        let caches = self.caches_now();
        let in_turn = caches.turns.values().flatten().map(|&part| &caches.parts[part]);
        let mut in_turn = in_turn.filter(|part| caches.writers[part.writer].request.is_some());
        in_turn.any(|part| part.pages.contains(&page))
            || caches.writers.iter().any(|writer| {
                let waits = |&(_, _, copy_of): &(usize, u64, Option<u64>)| copy_of == Some(page);
                writer.request.is_some() && (writer.not_admitted.contains(&page) || writer.waiting.iter().any(waits))
            })
    }

    /// Returns true if a write continues an earlier one (rule 73).
    fn is_sequential(&mut self, first: u64, end: u64) -> bool {
        let ends = &mut self.caches().stream_ends;
        let follows = ends.iter().rposition(|&before| before == first);
        if let Some(position) = follows {
            ends.remove(position);
        } else if ends.len() == 16 {
            ends.remove(0);
        }
        ends.push(end);
        follows.is_some()
    }

    fn host_write(&mut self, index: usize, pages: Vec<u64>) {
        let sequential = self.is_sequential(pages[0], pages[pages.len() - 1] + 1);
        let parts = self.caches_now().params.stripe_and_member_caches;
        let to_group = parts.dirty_stripe_cache.is_some() && (parts.member_caches.is_none() || self.enters_front(&pages));
        let writer = self.new_writer(Some(index), None, sequential, pages);
        if to_group {
            let caches = self.caches();
            caches.writers[writer].not_admitted = caches.writers[writer].pages.clone().into();
            caches.list[0].waiting.push_back((writer, 0));
            self.admit_waiting(0);
        } else {
            self.write_to_member_caches(writer);
        }
    }

    /// Returns true if a write enters the first level (rule 79).
    fn enters_front(&mut self, pages: &[u64]) -> bool {
        let caches = self.caches_now();
        let new_pages = pages.iter().filter(|&&page| !caches.in_circle(0, page)).count() as u64;
        let needs = match caches.params.capacity_unit {
            CapacityUnit::Pages => new_pages,
            CapacityUnit::PagesAdmittingWholeWrites => new_pages.min(1),
            CapacityUnit::DirtyStripesOrStrips => {
                let stripes: BTreeSet<u64> = pages.iter().map(|&page| self.stripe_of(page)).collect();
                stripes.into_iter().filter(|&stripe| !caches.has_entry(0, stripe)).count() as u64
            }
        };
        let room = caches.list[0].room_pages.saturating_sub(caches.room_taken(0));
        if caches.list[0].waiting.is_empty() && needs <= room {
            return true;
        }
        let waits = |page: &u64| caches.list[0].waiting.iter().any(|&(writer, _)| caches.writers[writer].not_admitted.contains(page));
        let depends = pages.iter().any(|page| caches.holds(0, *page) || waits(page));
        let counters = &mut self.caches().counters;
        *if depends { &mut counters.writes_waiting_for_first_level } else { &mut counters.writes_bypassing_first_level } += 1;
        depends
    }

    fn new_writer(&mut self, request: Option<usize>, flight: Option<usize>, sequential: bool, pages: Vec<u64>) -> usize {
        let memory_end_ns = self.now;
        let caches = self.caches();
        caches.writers.push(Writer {
            request,
            flight,
            sequential,
            pages,
            not_admitted: VecDeque::new(),
            waiting: Vec::new(),
            parts_not_joined: 0,
            memory_end_ns,
            waited_since: None,
        });
        caches.writers.len() - 1
    }

    fn host_request_done(&mut self, request: usize) {
        self.array_is_done_with(request);
    }
}

// Admission of pages to caches.
impl Simulation<'_> {
    /// Admits a page to a cache (rule 72).
    fn admit(&mut self, cache: usize, page: u64, writer: usize, for_host: bool) {
        let now = self.now;
        let number = self.entry_number(cache, page);
        let stow = self.caches_now().list[cache].circles.len() == 2;
        let at_store = !self.caches_now().is_group(cache) && self.caches_now().params.recency == RecencyBit::Stores;
        let caches = self.caches();
        let Writer { sequential, flight, .. } = caches.writers[writer];
        let marked = flight.is_some_and(|flight| caches.flights[&flight].marked);
        if !caches.in_circle(cache, page) {
            caches.list[cache].given_last = Some((writer, number));
        }
        let state = &mut caches.list[cache];
        let there = state.circles.iter().position(|circle| circle.entries.contains_key(&number));
        let admission = if let Some(circle) = there {
            let entry = state.circles[circle].entries.get_mut(&number).expect("it is there");
            let replaced = !entry.pages.insert(page);
            entry.marked |= marked;
            entry.bit |= at_store || (entry.maker != writer && !sequential);
            match (replaced, entry.maker != writer) {
                (true, _) => Admission::PageHit,
                (false, true) => Admission::GroupHit,
                (false, false) => Admission::Miss,
            }
        } else {
            let circle = usize::from(stow && !sequential);
            state.circles[circle].entries.insert(number, Entry { pages: BTreeSet::from([page]), maker: writer, bit: at_store, marked });
            Admission::Miss
        };
        if stow && there == Some(1) && !matches!(admission, Admission::Miss) {
            state.sequential_pages = state.sequential_pages.saturating_sub(1);
        }
        if !matches!(admission, Admission::PageHit) {
            caches.pages_change(now, 1);
        }
        let counts = if for_host { &mut caches.counters.host_admissions } else { &mut caches.counters.member_cache_admissions };
        *match admission {
            Admission::PageHit => &mut counts.replaced_pages,
            Admission::GroupHit => &mut counts.pages_admitted_to_existing_entries,
            Admission::Miss => &mut counts.pages_admitted_with_their_entry,
        } += 1;
        let nvm_write_ns = caches.params.nvm_page_write_ns;
        caches.writers[writer].memory_end_ns = caches.ask_memory(now, 1, nvm_write_ns);
    }

    fn may_enter(&self, cache: usize, page: u64, writer: usize) -> bool {
        let caches = self.caches_now();
        let number = self.entry_number(cache, page);
        let needs_none = match caches.params.capacity_unit {
            CapacityUnit::Pages => false,
            CapacityUnit::PagesAdmittingWholeWrites => caches.list[cache].given_last == Some((writer, number)),
            CapacityUnit::DirtyStripesOrStrips => caches.has_entry(cache, number),
        };
        needs_none || caches.in_circle(cache, page) || caches.has_room(cache)
    }

    /// Admits waiting pages as far as there is room (rules 76 and 77).
    fn admit_waiting(&mut self, cache: usize) {
        while let Some(&(writer, page)) = self.caches().list[cache].waiting.front() {
            let group = self.caches_now().is_group(cache);
            let page = if group { *self.caches().writers[writer].not_admitted.front().expect("a page waits") } else { page };
            if !self.may_enter(cache, page, writer) {
                break;
            }
            if group {
                self.caches().writers[writer].not_admitted.pop_front();
                self.admit(cache, page, writer, true);
                if self.caches().writers[writer].not_admitted.is_empty() {
                    self.caches().list[cache].waiting.pop_front();
                    self.last_page_admitted(writer);
                }
            } else {
                self.caches().list[cache].waiting.pop_front();
                let for_host = self.no_longer_waits(writer, cache, page);
                self.admit(cache, page, writer, for_host);
                self.may_be_last_page(writer);
            }
        }
        let now = self.now;
        let caches = self.caches();
        if caches.is_group(cache) {
            for &(writer, _) in &caches.list[cache].waiting {
                caches.writers[writer].waited_since.get_or_insert(now);
            }
        }
    }

    /// A page does not wait for its member cache any more; whether it is data of a host write.
    fn no_longer_waits(&mut self, writer: usize, cache: usize, page: u64) -> bool {
        let writer = &mut self.caches().writers[writer];
        let position = writer.waiting.iter().position(|&(of, waiting, _)| (of, waiting) == (cache, page)).expect("it waits");
        writer.waiting.remove(position).2.is_some() && writer.request.is_some()
    }

    fn may_be_last_page(&mut self, writer: usize) {
        let state = &self.caches().writers[writer];
        if state.parts_not_joined == 0 && state.waiting.is_empty() {
            self.last_page_admitted(writer);
        }
    }

    fn last_page_admitted(&mut self, writer: usize) {
        let now = self.now;
        let caches = self.caches();
        let Writer { request, waited_since, memory_end_ns, .. } = caches.writers[writer];
        if let (Some(_), Some(since)) = (request, waited_since) {
            caches.counters.writes_that_waited_for_room += 1;
            caches.counters.writes_waiting_for_room_ns += u128::from(now - since);
        }
        self.schedule_cache_event(memory_end_ns.max(now), Awaited::Written { writer });
    }

    /// Splits a write into parts for the member caches (rule 77).
    fn write_to_member_caches(&mut self, writer: usize) {
        let mut by_stripe: Vec<(u64, Vec<u64>)> = Vec::new();
        for page in self.caches().writers[writer].pages.clone() {
            let stripe = self.stripe_of(page);
            match by_stripe.last_mut() {
                Some((last, pages)) if *last == stripe => pages.push(page),
                _ => by_stripe.push((stripe, vec![page])),
            }
        }
        self.caches().writers[writer].parts_not_joined = by_stripe.len();
        for (stripe, pages) in by_stripe {
            let caches = self.caches();
            let part = caches.parts.len();
            caches.parts.push(Part { writer, stripe, pages });
            if parities(&self.case.params) == 0 {
                self.joins(part);
                continue;
            }
            let turns = self.caches().turns.entry(stripe).or_default();
            turns.push_back(part);
            if turns.len() == 1 {
                self.turn_begins(part);
            }
        }
    }

    /// Begins the turn of a part at its stripe (rule 78), or ends it after a failure (rule 86).
    fn turn_begins(&mut self, part: usize) {
        let missing = self.missing(part);
        if missing.is_empty() {
            return self.turn_ends(part);
        }
        self.caches().counters.pages_read_for_parity += missing.len() as u64;
        self.cache_job(Awaited::Missing { part }, vec![ArrayPart::Free(missing)], false);
    }

    /// Pages of members, column by column.
    fn missing(&self, part: usize) -> Vec<(usize, u64)> {
        let params = &self.case.params;
        let caches = self.caches_now();
        let Part { stripe, ref pages, .. } = caches.parts[part];
        let unit = self.unit();
        let strips = params.members as usize;
        let columns = data_columns(params);
        let own: BTreeSet<(usize, u64)> = pages.iter().map(|&page| (self.column_of(page), page % unit)).collect();
        let rows: BTreeSet<u64> = own.iter().map(|&(_, row)| row).collect();
        let lost = self.lost_strips(stripe);
        if self.parity_left(stripe).is_empty() || self.is_dead(stripe) {
            return Vec::new();
        }
        let known = |strip: usize, row: u64| {
            let cache = caches.member_cache(member_of(params, stripe, strip));
            let page = stripe * unit + row;
            caches.holds(cache, page) || caches.list[cache].waiting.iter().any(|&(_, waiting)| waiting == page)
        };
        // A lost page that the part does not bring is in the old parity only.
        let lost_columns = || lost.iter().copied().filter(|&strip| strip < columns);
        let from_parity = |row: u64| lost_columns().any(|strip| !own.contains(&(strip, row)));
        // And if what it brings is lost, too, all others are needed besides (rule 159).
        let from_all = |row: u64| lost_columns().any(|strip| own.contains(&(strip, row)));
        let mut read = Vec::new();
        for strip in (0..strips).filter(|strip| !lost.contains(strip)) {
            for &row in &rows {
                let takes_part = match (from_parity(row), strip < columns) {
                    (true, true) => own.contains(&(strip, row)) || from_all(row),
                    (true, false) => true,
                    (false, true) => !own.contains(&(strip, row)),
                    (false, false) => false,
                };
                if takes_part && !known(strip, row) {
                    let member = self.server(stripe, member_of(params, stripe, strip)).expect("it is not lost");
                    read.push((member, stripe * unit + row));
                }
            }
        }
        read
    }

    fn turn_ends(&mut self, part: usize) {
        let stripe = self.caches().parts[part].stripe;
        self.caches().turns.get_mut(&stripe).expect("it has its turn").pop_front();
        self.joins(part);
        let next = self.caches().turns[&stripe].front().copied();
        if let Some(next) = next {
            self.turn_begins(next);
        }
    }

    fn joins(&mut self, part: usize) {
        let now = self.now;
        let params = &self.case.params;
        let unit = self.unit();
        let Part { writer, stripe, ref pages } = self.caches_now().parts[part];
        let pages = pages.clone();
        let mut joining: Vec<(usize, u64, Option<u64>)> = Vec::new();
        for &page in &pages {
            if self.stripes.is_some() && self.is_page_lost(page) {
                self.caches().counters.pages_lost += 1;
                if let Some(request) = self.caches().writers[writer].request {
                    self.requests[request].pages_lost += 1;
                }
            }
            for member in self.members_of(page) {
                joining.push((member, self.member_page(page), Some(page)));
            }
        }
        let rows: BTreeSet<u64> = pages.iter().map(|page| page % unit).collect();
        let columns = data_columns(params);
        let parity_kept = if parities(params) == 0 || self.is_dead(stripe) { 0 } else { parities(params) };
        for strip in columns..columns + parity_kept {
            let member = member_of(params, stripe, strip);
            if self.server(stripe, member).is_some() {
                joining.extend(rows.iter().map(|row| (member, stripe * unit + row, None)));
            }
        }
        for (member, page, copy_of) in joining {
            let caches = self.caches();
            let cache = caches.member_cache(member);
            if caches.list[cache].waiting.is_empty() && self.may_enter(cache, page, writer) {
                let for_host = copy_of.is_some() && self.caches().writers[writer].request.is_some();
                self.admit(cache, page, writer, for_host);
            } else {
                let caches = self.caches();
                caches.list[cache].waiting.push_back((writer, page));
                caches.writers[writer].waiting.push((cache, page, copy_of));
                caches.writers[writer].waited_since.get_or_insert(now);
            }
        }
        self.caches().writers[writer].parts_not_joined -= 1;
        self.may_be_last_page(writer);
    }
}

// Destages of all caches.
impl Simulation<'_> {
    /// Lets all caches scan, the cache of stripes first (rule 85).
    fn scans(&mut self) {
        let caches = self.caches();
        let members = caches.member_caches();
        if caches.has_group {
            self.destages_all_it_can(0);
        }
        loop {
            for cache in members.clone() {
                if self.synchronised(cache) {
                    self.may_get_ready(cache);
                } else {
                    self.destages_all_it_can(cache);
                }
            }
            if !self.all_are_ready() {
                break;
            }
            self.common_destage(false);
        }
        self.schedule_steps();
    }

    /// Returns true if the cache is synchronised (rule 84) instead of independent (rule 83).
    fn synchronised(&self, cache: usize) -> bool {
        let caches = self.caches_now();
        let by_policy = caches.params.stripe_and_member_caches.member_caches.is_some_and(|part| part.member_caches_destage_together);
        by_policy && !caches.is_group(cache) && !caches.are_flushed()
    }

    fn destages_all_it_can(&mut self, cache: usize) {
        let now = self.now;
        while let Some(slot) = self.caches().slot_for_destage(cache, now) {
            let Some(candidate) = self.caches().candidate(cache, slot) else { return };
            self.begin_destage(cache, candidate);
        }
    }

    fn may_get_ready(&mut self, cache: usize) {
        let now = self.now;
        let caches = self.caches();
        if caches.list[cache].ready.is_some() {
            return;
        }
        let Some(slot) = caches.slot_for_destage(cache, now) else { return };
        let Some(candidate) = caches.candidate(cache, slot) else { return };
        if caches.list.iter().all(|cache| cache.ready.is_none()) {
            let due = now + caches.params.destage_wait_for_other_members_max_ns;
            caches.timer_ns = Some(due);
            self.schedule_cache_step(due);
        }
        self.caches().list[cache].ready = Some(candidate);
    }

    fn all_are_ready(&self) -> bool {
        let caches = self.caches_now();
        let waited_for = |&cache: &usize| !self.is_not_all_rebuilt(cache - usize::from(caches.has_group));
        let mut waited_for = caches.member_caches().filter(waited_for);
        caches.list.iter().any(|cache| cache.ready.is_some()) && waited_for.all(|cache| caches.list[cache].ready.is_some())
    }

    fn common_destage(&mut self, by_timer: bool) {
        let caches = self.caches();
        caches.timer_ns = None;
        let ready: Vec<(usize, Candidate)> = caches.member_caches().filter_map(|cache| Some((cache, caches.list[cache].ready?))).collect();
        for &(cache, _) in &ready {
            caches.list[cache].ready = None;
        }
        caches.counters.member_caches_in_synchronised_destages += ready.len() as u64;
        *if by_timer {
            &mut caches.counters.synchronised_destages_by_timeout
        } else {
            &mut caches.counters.synchronised_destages_with_all_ready
        } += 1;
        for (cache, candidate) in ready {
            self.begin_destage(cache, candidate);
        }
    }

    /// Begins a destage (rule 82).
    fn begin_destage(&mut self, cache: usize, Candidate { slot, circle, number }: Candidate) {
        let now = self.now;
        let stripe_pages = self.stripe_pages();
        let params = &self.case.params;
        let mut parity_strips = data_columns(params)..params.members as usize;
        let holds_parity = params.level.parity_strips() > 0
            && !self.caches_now().is_group(cache)
            && parity_strips.any(|strip| self.caches_now().member_cache(member_of(params, number, strip)) == cache);
        let caches = self.caches();
        let flight = caches.flights_begun;
        caches.flights_begun += 1;
        let state = &mut caches.list[cache];
        let entry = state.circles[circle].entries.remove(&number).expect("the candidate is in the circle");
        state.circles[circle].pointer = number + 1;
        state.slots[slot].flight = Some(flight);
        let pages = entry.pages.len();
        if state.circles.len() == 2 && circle == 0 && (pages as u64) < stripe_pages {
            state.sequential_pages = (state.sequential_pages + 1).min(state.room_pages);
        }
        caches.flights.insert(flight, Flight { cache, slot, number, pages: entry.pages, began_ns: now, marked: entry.marked, void: false });
        let is_front = caches.params.stripe_and_member_caches.member_caches.is_some() && caches.is_group(cache);
        let counts = if is_front { &mut caches.counters.first_level_destages } else { &mut caches.counters.destages };
        counts.entries += 1;
        counts.pages += pages as u64;
        if holds_parity {
            caches.counters.parity_pages_destaged += pages as u64;
        }
        let nvm_read_ns = caches.params.nvm_page_read_ns;
        let memory_end = caches.ask_memory(now, pages, nvm_read_ns);
        if memory_end == now {
            self.taken(flight);
        } else {
            self.schedule_cache_event(memory_end, Awaited::Taken { flight });
        }
    }

    /// The memory has read the pages of a destage.
    fn taken(&mut self, flight: usize) {
        let unit = self.unit();
        let caches = self.caches();
        let Flight { cache, void, ref pages, .. } = caches.flights[&flight];
        let pages: Vec<u64> = pages.iter().copied().collect();
        if void {
            return self.destage_ends(flight);
        }
        let group = caches.is_group(cache);
        if group && caches.params.stripe_and_member_caches.member_caches.is_some() {
            let writer = self.new_writer(None, Some(flight), false, pages);
            return self.write_to_member_caches(writer);
        }
        let parts = if group {
            self.parts(pages, true)
        } else {
            let member = cache - usize::from(self.caches().has_group);
            let server = |page: u64| self.server(page / unit, member).expect("only what is not lost is cached");
            vec![ArrayPart::Free(pages.into_iter().map(|page| (server(page), page)).collect())]
        };
        self.cache_job(Awaited::Destaged { flight }, parts, true);
    }

    fn destage_ends(&mut self, flight: usize) {
        let now = self.now;
        let caches = self.caches();
        let Flight { cache, slot, pages, began_ns, void, .. } = caches.flights.remove(&flight).expect("it is under way");
        if !void {
            caches.pages_change(now, -(pages.len() as i64));
        }
        caches.list[cache].slots[slot] = Slot { flight: None, last: Some((began_ns, now)) };
        self.admit_waiting(cache);
    }

    /// The next moments at which slots become rested.
    fn schedule_steps(&mut self) {
        let now = self.now;
        let caches = self.caches();
        let mut steps = Vec::new();
        for cache in 0..caches.list.len() {
            for slot in 0..caches.list[cache].slots.len() {
                let free = caches.list[cache].slots[slot].flight.is_none();
                steps.extend(caches.rested_from(cache, slot).filter(|&from| free && from > now));
            }
        }
        for step in steps {
            self.schedule_cache_step(step);
        }
    }

    pub(super) fn cache_step(&mut self) {
        let now = self.now;
        self.scans();
        if self.caches().timer_ns == Some(now) {
            self.common_destage(true);
            self.scans();
        }
    }

    /// Something that a cache waits for has come.
    pub(super) fn cache_event(&mut self, awaited: Awaited) {
        let flushed = self.caches().are_flushed();
        match awaited {
            Awaited::Taken { flight } => self.taken(flight),
            Awaited::Destaged { flight } => self.destage_ends(flight),
            Awaited::Written { writer } => {
                let Writer { request, flight, .. } = self.caches().writers[writer];
                match (request, flight) {
                    (Some(request), _) => self.host_request_done(request),
                    (_, Some(flight)) => self.destage_ends(flight),
                    _ => unreachable!("somebody writes"),
                }
            }
            Awaited::Missing { part } => self.turn_ends(part),
            Awaited::ReadFromArray { request } => {
                let memory_end = self.caches().memory_of_reads[&request];
                if memory_end <= self.now {
                    self.host_request_done(request);
                } else {
                    self.schedule_cache_event(memory_end, Awaited::Read { request });
                }
            }
            Awaited::Read { request } | Awaited::Trimmed { request } => self.host_request_done(request),
        }
        self.scans();
        if flushed && !self.caches().are_flushed() && self.case.params.rebuild.is_some() {
            self.schedule_rebuild(0);
        }
    }

    /// An operation that a cache has ordered begins.
    fn cache_job(&mut self, awaited: Awaited, parts: Vec<ArrayPart>, write: bool) {
        let order = self.next_cache_order();
        let job = self.begin_job(Purpose::Cache { order, awaited });
        self.take_parts(job, parts, OpKind::from_is_write(write), false);
    }

    /// Returns the request that met collection because an operation of a cache did (rule 88).
    pub(super) fn request_that_waits(&self, awaited: Awaited) -> Option<usize> {
        let caches = self.caches_now();
        match awaited {
            Awaited::ReadFromArray { request } | Awaited::Trimmed { request } => Some(request),
            Awaited::Missing { part } => caches.writers[caches.parts[part].writer].request,
            _ => None,
        }
    }

    pub(super) fn cache_counters(&mut self) -> CacheCounters {
        // Pages that entered at the end are held for some time, too.
        let after = self.now + 1;
        let caches = self.caches();
        caches.pages_change(after, 0);
        let mut counters = caches.counters;
        if caches.pages > 0 {
            // The integral of the occupancy continues.
            counters.occupancy_integral_page_ns = 0;
        }
        counters
    }
}

// Failure of a member.
impl Simulation<'_> {
    /// Drops the cache of a failed member, and begins to flush the others (rule 86).
    pub(super) fn caches_lose(&mut self, member: usize) {
        let now = self.now;
        let Some(caches) = &mut self.caches else { return };
        let mut writers = Vec::new();
        if !caches.member_caches().is_empty() {
            let lost = caches.member_cache(member);
            let pages = caches.pages_in(lost);
            caches.pages_change(now, -(pages as i64));
            caches.list[lost].circles[0].entries.clear();
            for flight in caches.flights.values_mut().filter(|flight| flight.cache == lost) {
                flight.void = true;
                flight.marked = false;
            }
            writers = std::mem::take(&mut caches.list[lost].waiting).into();
        }
        caches.timer_ns = None;
        for cache in &mut caches.list {
            cache.ready = None;
            for entry in cache.circles.iter_mut().flat_map(|circle| circle.entries.values_mut()) {
                entry.marked = true;
                entry.bit = false;
            }
        }
        for flight in caches.flights.values_mut().filter(|flight| !flight.void) {
            flight.marked = true;
        }
        for (writer, page) in writers {
            let lost = self.caches().member_cache(member);
            self.no_longer_waits(writer, lost, page);
            self.may_be_last_page(writer);
        }
        self.scans();
    }
}
