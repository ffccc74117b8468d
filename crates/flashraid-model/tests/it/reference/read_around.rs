//! Section 27 of the rules: reads that go round strips that collect.

use std::collections::BTreeSet;

use flashraid_model::array::{ArrayParams, Avoid, HostKnowledgeOfCollection, HostKnowledgeOfRemainingCollection, PlannedReads, ReadPlan};
use flashraid_model::placement::RaidLevel;
use flashraid_model::request::OpKind;
use flashraid_model::rng;
use flashraid_model::ssd::{DieChoiceForWrites, HostRequestKindsThatMayStartGc};

use super::Simulation;
use super::clean::{Cause, Phase};
use super::die::Use;
use super::hedge;
use super::parity::{Places, What, data_columns, in_order, member_of, parities};
use super::predict;
use super::shortest_queue;
use super::superblocks::Drive;
use super::work::Worker;

/// Draws and counts of the plan.
pub(super) struct Planned {
    draws: rng::RandomStream,
    pub counters: PlannedReads,
}

impl Planned {
    pub(super) fn new(seed: u64) -> Planned {
        Planned { draws: rng::stream(seed, "read-plan", 0), counters: PlannedReads::default() }
    }
}

/// Prospects of reads that the host would send now (rule 241).
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub collects: bool,
    pub start: u64,
    pub ns: u64,
}

impl Seen {
    fn ends_if_sent(self, at: u64) -> u64 {
        self.start.max(at) + self.ns
    }
}

/// A way to read a part.
struct Way {
    replaced: Vec<usize>,
    read: Places,
    delay_ns: u64,
}

fn plan_of(params: &ArrayParams) -> Option<&Avoid> {
    if let ReadPlan::Avoid(avoid) = &params.read_plan { Some(avoid) } else { None }
}

/// Returns true if reads are planned and there is a choice.
pub(super) fn looks(params: &ArrayParams) -> bool {
    plan_of(params).is_some() && !matches!(params.level, RaidLevel::Single | RaidLevel::Raid0)
}

/// Returns true if reads are planned in any way.
pub fn plans(params: &ArrayParams) -> bool {
    looks(params) || hedge::hedges(params) || shortest_queue::balances(params)
}

// What is seen of members (rules 240 to 242).
impl Simulation<'_> {
    fn avoid(&self) -> &Avoid {
        plan_of(&self.case.params).expect("the plan looks at the members")
    }

    fn fast_fail_ns(&self) -> u64 {
        self.avoid().fast_fail.ns
    }

    fn knows_remaining(&self) -> bool {
        self.avoid().remaining == HostKnowledgeOfRemainingCollection::Known
    }

    /// Returns true if all that happens in stripes begins when all else of the nanosecond has happened.
    pub(super) fn plans_stripes(&self) -> bool {
        plans(&self.case.params) && parities(&self.case.params) > 0
    }

    pub(super) fn see_pages(&mut self, member: usize, pages: &[u64]) -> Seen {
        let mut all = Seen { collects: false, start: self.now, ns: 0 };
        for &page in pages {
            let seen = if self.is_drive() { self.see_in_drive(member, page) } else { self.see_in_pools(member, page) };
            all = Seen { collects: all.collects || seen.collects, start: all.start.max(seen.start), ns: all.ns.max(seen.ns) };
        }
        all
    }

    fn see(&mut self, member: usize, pages: &[u64]) -> Seen {
        let mut all = self.see_pages(member, pages);
        let until = match self.avoid().knowledge {
            HostKnowledgeOfCollection::Element => return all,
            HostKnowledgeOfCollection::Member => self.collects_until(member),
            HostKnowledgeOfCollection::Turn => self.turn_until(member),
        };
        all.collects = until.is_some();
        all.start = all.start.max(until.unwrap_or(0));
        all
    }

    fn see_in_pools(&mut self, member: usize, logical_page: u64) -> Seen {
        let page = self.name_of(logical_page);
        if self.holder(member, page).is_some() {
            return Seen { collects: false, start: self.now, ns: 0 };
        }
        let die = match self.ssd.writes.allocation {
            DieChoiceForWrites::Static => self.members[member].flash.home_die(page),
            DieChoiceForWrites::Dynamic => self.die_of_page(member, page),
        };
        let state = &self.members[member].dies[die];
        let is_idle = state.slot.is_none() && state.queue.is_empty() && !self.is_blocked(member, die);
        if is_idle && self.ssd.gc.rules.trigger == HostRequestKindsThatMayStartGc::EveryRequest && !self.ssd.gc.collection_takes_no_time {
            self.needed_cleans(member, die, Cause::Need);
        }
        let in_pool = self.members[member].flash.place(page).filter(|place| place.die == die).map(|place| place.pool);
        let cleans = &self.members[member].dies[die].cleans;
        let clean = cleans.keys().copied().find(|&pool| self.blocks_die() || in_pool == Some(pool));
        let begins = match clean {
            Some(pool) => self.lets_in(member, die, pool),
            None => self.end_of_current_work(member, die).max(self.now),
        };
        Seen { collects: clean.is_some(), start: begins + self.waiting_ns(member, die), ns: self.plain_ns(OpKind::Read) }
    }

    /// Returns the time at which a clean lets a read in, as it seems now.
    fn lets_in(&self, member: usize, die: usize, pool: usize) -> u64 {
        let state = &self.members[member].dies[die];
        let together = state.slot.as_ref().is_some_and(|slot| matches!(slot.what, Use::Together) && slot.let_in_by == Some(pool));
        let phase_ends = if together { 0 } else { self.expected_end(member, Worker::Clean { die, pool }) };
        let ends = self.end_of_current_work(member, die).max(phase_ends).max(self.now);
        let Some(preemption) = self.preemption() else { return ends };
        let clean = &state.cleans[&pool];
        if clean.state == 3 {
            let pages = self.members[member].flash.valid_pages_of_block(die, pool, clean.victim) as u64;
            let transfers: u64 = self.move_transfers().len() as u64 * self.ssd.timing.page_transfer_ns;
            let move_ns = self.ssd.timing.page_read.ns + self.program_ns() + transfers;
            let is_left = clean.phase != Phase::Erase;
            return ends + if is_left { pages * move_ns + self.ssd.timing.block_erase.ns } else { 0 };
        }
        let polls = state.slot.is_none() && clean.phase == Phase::Point;
        ends + if polls { 0 } else { preemption.poll.ns }
    }

    fn collects_until(&self, member: usize) -> Option<u64> {
        if let Some(drive) = &self.members[member].drive {
            return drive.collects_until();
        }
        let dies = 0..self.members[member].dies.len();
        let cleans = dies.flat_map(|die| self.members[member].dies[die].cleans.keys().map(move |&pool| (die, pool)));
        cleans.map(|(die, pool)| self.lets_in(member, die, pool)).max()
    }

    fn see_in_drive(&self, member: usize, page: u64) -> Seen {
        let drive: &Drive = self.members[member].drive.as_ref().expect("it is a drive");
        drive.sees(page)
    }

    /// Returns what is seen of a strip that is not lost.
    fn see_strip(&mut self, stripe: u64, strip: usize, places: &BTreeSet<u64>) -> Seen {
        let member = self.server(stripe, member_of(&self.case.params, stripe, strip)).expect("it is not lost");
        let pages: Vec<u64> = places.iter().map(|place| self.page_at(stripe, *place)).collect();
        self.see(member, &pages)
    }

    pub fn page_at(&self, stripe: u64, place: u64) -> u64 {
        stripe * u64::from(self.case.params.stripe_unit_pages) + place
    }
}

// Ways of reads (rules 243 and 244).
impl Simulation<'_> {
    pub(super) fn goes_on_at(&mut self, at: u64, number: usize) {
        self.schedule_ordered(at, super::PHASE_RANK, number as u64, super::Event::GoesOn { number });
    }

    pub(super) fn planned_goes_on(&mut self, number: usize) {
        if self.stripes().operations[number].hedged.is_some() {
            return self.is_late(number);
        }
        if !self.stripes().operations[number].later.is_empty() {
            return self.reads_after_refusal(number);
        }
        let stripe = self.stripes().operations[number].stripe;
        let hedges = hedge::hedges(&self.case.params);
        let predicts = predict::predicts(&self.case.params);
        match self.stripes().operations[number].what.clone() {
            What::ReadCopy { strip, places } if predicts => self.predict_read_of_copy(number, strip, &places),
            What::Read(places) if predicts && !self.lost_strips(stripe).iter().any(|strip| places.contains_key(strip)) => {
                self.predict_free_read(number, &places);
            }
            What::ReadCopy { strip, places } if hedges => self.hedge_read_of_copy(number, strip, &places),
            What::Read(places) if hedges && !self.lost_strips(stripe).iter().any(|strip| places.contains_key(strip)) => {
                self.hedge_free_read(number, &places);
            }
            What::Read(places) if !self.lost_strips(stripe).iter().any(|strip| places.contains_key(strip)) => {
                self.plan_free_read(number, &places);
            }
            What::ReadCopy { strip, places } if shortest_queue::balances(&self.case.params) => {
                self.read_shortest_queue(number, strip, &places);
            }
            What::ReadCopy { strip, places } => self.plan_read_of_copy(number, strip, &places),
            _ => self.asks_for_lock(number),
        }
    }

    /// A read that asks for no lost page.
    fn plan_free_read(&mut self, number: usize, places: &Places) {
        let stripe = self.stripes().operations[number].stripe;
        let (mut ways, chosen, busy) = self.ways(stripe, places);
        let plain = in_order(&ways[0].read).len();
        let mut way = ways.swap_remove(chosen);
        if !way.replaced.is_empty() {
            let lock = self.stripes().locks.entry(stripe).or_default();
            let (is_awaited, held_by) = (!lock.waiting.is_empty(), lock.held_by.clone());
            if is_awaited || held_by.iter().any(|&holder| !self.shares(holder)) {
                self.counts().stripe_reads_locked_out += 1;
                way = Way { replaced: Vec::new(), read: places.clone(), delay_ns: 0 };
            }
        }
        self.count_way(&way, plain, busy);
        if way.replaced.is_empty() {
            return self.reads_without_lock(number, places);
        }
        let now = self.now;
        let stripes = self.stripes();
        stripes.locks.get_mut(&stripe).expect("it has been looked at").held_by.push(number);
        stripes.operations[number].got_lock_ns = now;
        self.reads_by(number, places, &way);
    }

    /// A read that has the lock of its stripe.
    pub(super) fn plan_locked_read(&mut self, number: usize, places: &Places) {
        let stripe = self.stripes().operations[number].stripe;
        let (mut ways, chosen, busy) = self.ways(stripe, places);
        let plain = in_order(&ways[0].read).len();
        let way = ways.swap_remove(chosen);
        self.count_way(&way, plain, busy);
        self.reads_by(number, places, &way);
    }

    fn counts(&mut self) -> &mut PlannedReads {
        &mut self.stripes().planned.counters
    }

    /// Counts a way. Without a plan, `plain` pages would be read.
    fn count_way(&mut self, way: &Way, plain: usize, busy: usize) {
        let replaced = way.replaced.len();
        self.counts().pages_added_to_read_around += (in_order(&way.read).len() - plain) as u64;
        self.counts().stripe_reads_that_avoided_collection += u64::from(replaced > 0);
        self.counts().stripe_reads_that_waited += u64::from(busy > replaced);
    }

    fn count_part(&mut self, busy: usize) {
        let counts = self.counts();
        match busy {
            0 => counts.stripe_reads_without_collection += 1,
            1 => counts.stripe_reads_with_one_strip_collecting += 1,
            2 => counts.stripe_reads_with_two_busy_strips += 1,
            _ => counts.stripe_reads_with_three_or_more_busy_strips += 1,
        }
    }

    /// Returns all ways to read places of a stripe, the number of the one to take, and the number of wanted strips that collect.
    fn ways(&mut self, stripe: u64, places: &Places) -> (Vec<Way>, usize, usize) {
        let params = &self.case.params;
        let (columns, strips) = (data_columns(params), params.members as usize);
        let (fast_fail_ns, lost) = (self.fast_fail_ns(), self.lost_strips(stripe));
        let mut seen: Vec<Option<Seen>> = vec![None; strips];
        for (&strip, of_strip) in places {
            if !lost.contains(&strip) {
                seen[strip] = Some(self.see_strip(stripe, strip, of_strip));
            }
        }
        let collects = |seen: &[Option<Seen>], strip: usize| seen[strip].is_some_and(|seen| seen.collects);
        let mut busy: Vec<usize> = (0..columns).filter(|&strip| collects(&seen, strip)).collect();
        let number_of_busy = busy.len();
        let is_lost = lost.iter().any(|strip| places.contains_key(strip));
        let plain = Way { replaced: Vec::new(), read: places.clone(), delay_ns: 0 };
        if busy.is_empty() {
            self.count_part(0);
            if !is_lost {
                return (vec![plain], 0, 0);
            }
        }
        let all: BTreeSet<u64> = places.values().flatten().copied().collect();
        for strip in (0..strips).filter(|strip| !lost.contains(strip) && !places.contains_key(strip)) {
            seen[strip] = Some(self.see_strip(stripe, strip, &all));
        }
        if !busy.is_empty() {
            self.count_part((0..strips).filter(|&strip| collects(&seen, strip)).count());
        }
        let start = |strip: usize| seen[strip].expect("it is not lost").start;
        let mut parity = self.parity_left(stripe);
        let knows = self.knows_remaining();
        if knows {
            busy.sort_by_key(|&strip| std::cmp::Reverse(start(strip)));
            parity.sort_by_key(|&strip| start(strip));
        } else {
            for last in (1..busy.len()).rev() {
                let other = rng::below(&mut self.stripes().planned.draws, last as u64 + 1) as usize;
                busy.swap(last, other);
            }
            parity.sort_by_key(|&strip| collects(&seen, strip));
        }
        let lost_columns = lost.iter().filter(|&&strip| strip < columns).count();
        let mut ways = vec![];
        let mut ranks: Vec<(u64, usize)> = vec![];
        for many in 0..=busy.len() {
            if many > 0 && lost_columns + many > parity.len() {
                break;
            }
            let replaced = busy[..many].to_vec();
            let computes = is_lost || many > 0;
            let unread: Vec<usize> = lost.iter().chain(&replaced).copied().collect();
            let read = if computes { self.read_without(places, unread, &parity[..lost_columns + many]) } else { places.clone() };
            let substitutes: Vec<usize> = read.keys().copied().filter(|strip| !places.contains_key(strip)).collect();
            let refusals = if substitutes.iter().any(|&strip| collects(&seen, strip)) { 2 } else { 1 };
            let delay_ns = if many > 0 { refusals * fast_fail_ns } else { 0 };
            let sent = |strip: usize| self.now + if places.contains_key(&strip) { 0 } else { delay_ns };
            let ends = read.keys().map(|&strip| seen[strip].expect("it is not lost").ends_if_sent(sent(strip)));
            let busy_strips = read.keys().filter(|&&strip| collects(&seen, strip)).count();
            let pages = in_order(&read).len();
            ranks.push(if knows { (ends.max().unwrap_or(self.now), pages) } else { (busy_strips as u64, 0) });
            ways.push(Way { replaced, read, delay_ns });
        }
        let least = *ranks.iter().min().expect("one can always wait");
        let best: Vec<usize> = (0..ways.len()).filter(|&way| ranks[way] == least).collect();
        let mut chosen = best[0];
        if !knows && best.len() > 1 {
            chosen = best[rng::below(&mut self.stripes().planned.draws, best.len() as u64) as usize];
        }
        (ways, chosen, number_of_busy)
    }

    /// Reads places of strips that are not lost, for the job that asks for them.
    fn reads_without_lock(&mut self, number: usize, places: &Places) {
        let stripe = self.stripes().operations[number].stripe;
        let pages = self.pages_of(stripe, &in_order(places));
        self.reads_for_job(number, pages);
    }

    fn pages_of(&self, stripe: u64, places: &[(usize, u64)]) -> Vec<(usize, u64)> {
        let member = |strip| self.server(stripe, member_of(&self.case.params, stripe, strip)).expect("it is not lost");
        places.iter().map(|&(strip, place)| (member(strip), self.page_at(stripe, place))).collect()
    }

    pub(super) fn reads_for_job(&mut self, number: usize, pages: Vec<(usize, u64)>) {
        let job = self.stripes().operations[number].job.expect("a request reads");
        self.jobs[job].left += pages.len() - 1;
        for (member, page) in pages {
            self.issue_page(member, page, Some(job), None, OpKind::Read, false);
        }
    }

    /// Reads by a way, and what is not wanted after the refusal.
    fn reads_by(&mut self, number: usize, places: &Places, way: &Way) {
        let stripe = self.stripes().operations[number].stripe;
        let is_asked_for = |&(strip, place): &(usize, u64)| places.get(&strip).is_some_and(|places| places.contains(&place));
        let (first, later): (Vec<_>, Vec<_>) = in_order(&way.read).into_iter().partition(|page| way.delay_ns == 0 || is_asked_for(page));
        let (first, later) = (self.pages_of(stripe, &first), self.pages_of(stripe, &later));
        self.phase_of_reads(number, first.len() + later.len());
        let job = self.stripes().operations[number].job;
        for (member, page) in first {
            self.issue_page(member, page, job, Some(number), OpKind::Read, false);
        }
        if !later.is_empty() {
            self.stripes().operations[number].later = later;
            self.goes_on_at(self.now + way.delay_ns, number);
        }
        if way.read.is_empty() {
            self.schedule_ordered(self.now, super::PHASE_RANK, number as u64, super::Event::PhaseOver { number });
        }
    }

    pub fn phase_of_reads(&mut self, number: usize, pages: usize) {
        let now = self.now;
        let operation = &mut self.stripes().operations[number];
        operation.operations_left = pages;
        (operation.phase_began_ns, operation.last) = (now, (now, Default::default()));
    }

    fn reads_after_refusal(&mut self, number: usize) {
        let pages = std::mem::take(&mut self.stripes().operations[number].later);
        let is_write = matches!(self.stripes().operations[number].what, What::Write(_));
        if is_write {
            self.phase_of_reads(number, pages.len());
        }
        let (job, stripe) = (self.stripes().operations[number].job, self.stripes().operations[number].stripe);
        for (member, page) in pages {
            if is_write {
                let members = 0..self.case.params.members as usize;
                let of_strip = members.into_iter().find(|&of| self.server(stripe, of) == Some(member)).unwrap_or(member);
                self.count_page(number, of_strip, false);
            }
            self.issue_page(member, page, job, Some(number), OpKind::Read, false);
        }
    }

    /// Reads one copy of a strip.
    fn plan_read_of_copy(&mut self, number: usize, strip: u64, places: &BTreeSet<u64>) {
        let stripe = self.stripes().operations[number].stripe;
        let pages: Vec<u64> = places.iter().map(|&place| self.page_at(stripe, place)).collect();
        let copies = self.copies_in_turn(strip);
        let mut busy: Vec<Seen> = Vec::new();
        let mut free = None;
        for &copy in &copies {
            let seen = self.see(copy, &pages);
            if !seen.collects {
                free = Some(copy);
                break;
            }
            busy.push(seen);
        }
        self.count_part(busy.len());
        let delay_ns = self.fast_fail_ns() * if busy.len() > 1 { 2 } else { 1 };
        let copy = match free {
            Some(copy) => copy,
            None if !self.knows_remaining() => {
                let many = copies.len() as u64;
                copies[if many > 1 { rng::below(&mut self.stripes().planned.draws, many) as usize } else { 0 }]
            }
            None => {
                let end = |at: usize| busy[at].ends_if_sent(self.now + if at > 0 { delay_ns } else { 0 });
                copies[(0..copies.len()).min_by_key(|&at| end(at)).expect("a copy is left")]
            }
        };
        self.counts().stripe_reads_that_avoided_collection += u64::from(copy != copies[0]);
        self.counts().stripe_reads_that_waited += u64::from(free.is_none());
        let pages: Vec<(usize, u64)> = pages.into_iter().map(|page| (copy, page)).collect();
        if copy == copies[0] || delay_ns == 0 {
            return self.reads_for_job(number, pages);
        }
        self.phase_of_reads(number, pages.len());
        self.stripes().operations[number].later = pages;
        self.goes_on_at(self.now + delay_ns, number);
    }
}

// Reads before a write (rule 245).
impl Simulation<'_> {
    /// Returns the time after which the second way reads, if it is the better one.
    pub(super) fn delay_of_other_way(&mut self, stripe: u64, first: &[(usize, u64)], second: &[(usize, u64)]) -> Option<u64> {
        if !plan_of(&self.case.params).is_some_and(|avoid| avoid.pre_reads) {
            return None;
        }
        let seen_first = self.see_strips(stripe, first);
        if !seen_first.iter().any(|seen| seen.collects) {
            return None;
        }
        let seen_second = self.see_strips(stripe, second);
        let busy = |seen: &[Seen]| seen.iter().filter(|seen| seen.collects).count() as u64;
        let delay_ns = self.fast_fail_ns() * if busy(&seen_second) > 0 { 2 } else { 1 };
        let end = |seen: &[Seen], at: u64| seen.iter().map(|seen| seen.ends_if_sent(at)).max().unwrap_or(at);
        let is_better = if self.knows_remaining() {
            end(&seen_second, self.now + delay_ns) < end(&seen_first, self.now)
        } else {
            busy(&seen_second) < busy(&seen_first)
        };
        self.counts().writes_with_switched_parity_method += u64::from(is_better);
        is_better.then_some(delay_ns)
    }

    fn see_strips(&mut self, stripe: u64, pages: &[(usize, u64)]) -> Vec<Seen> {
        let mut by_strip = Places::new();
        for &(strip, place) in pages {
            by_strip.entry(strip).or_default().insert(place);
        }
        by_strip.iter().map(|(&strip, places)| self.see_strip(stripe, strip, places)).collect()
    }

    /// The reads before a write come after a refusal.
    pub(super) fn reads_later(&mut self, number: usize, pages: &[(usize, u64)], delay_ns: u64) {
        let stripe = self.stripes().operations[number].stripe;
        let pages = self.pages_of(stripe, pages);
        self.stripes().operations[number].later = pages;
        self.goes_on_at(self.now + delay_ns, number);
    }
}
