//! Reads that are also made elsewhere when they take long (rules 247 to 249).

use std::collections::{BTreeMap, BTreeSet};

use flashraid_model::array::{ArrayParams, Hedge, HedgeDelay, HedgedReads, ReadPlan, UnneededReadCancellation};
use flashraid_model::events::OperationTimeParts;
use flashraid_model::placement::RaidLevel;
use flashraid_model::request::OpKind;

use super::front::Origin;
use super::parity::{Phase, Places, data_columns, member_of, parities};
use super::predict;
use super::{Event, LastEnd, Operation, Simulation};

/// Ends and durations of the reads of each member, and counts.
pub struct Hedging {
    ended: Vec<Vec<(u64, u64)>>,
    pub counters: HedgedReads,
}

impl Hedging {
    pub fn new(params: &ArrayParams) -> Hedging {
        let spares = params.rebuild.map_or(0, |rebuild| rebuild.settings.spares) as usize;
        Hedging { ended: vec![Vec::new(); params.members as usize + spares], counters: HedgedReads::default() }
    }
}

/// The reads of a part that may be made elsewhere, too.
pub struct Hedged {
    began_ns: u64,
    elsewhere_ns: Option<u64>,
    wanted: Places,
    reads: Vec<SubRead>,
    is_over: bool,
}

/// All that is read of one strip.
struct SubRead {
    strip: usize,
    member: usize,
    places: BTreeSet<u64>,
    is_elsewhere: bool,
    left: usize,
    last: LastEnd,
    met: bool,
    /// Some of it was not read, since nobody needed it.
    is_abandoned: bool,
}

fn plan_of(params: &ArrayParams) -> Option<&Hedge> {
    match &params.read_plan {
        ReadPlan::Hedge(hedge) => Some(hedge),
        ReadPlan::Predict(predict) => Some(&predict.hedge),
        _ => None,
    }
}

/// Returns true if strips are read one by one, and there is another way to the data.
pub fn hedges(params: &ArrayParams) -> bool {
    plan_of(params).is_some() && !matches!(params.level, RaidLevel::Single | RaidLevel::Raid0)
}

/// Returns true if a read that takes long is also made elsewhere.
pub fn makes_twice(params: &ArrayParams) -> bool {
    hedges(params) && predict::plan_of(params).is_none_or(|predict| predict.then_hedge)
}

impl Simulation<'_> {
    pub fn hedge_free_read(&mut self, number: usize, places: &Places) {
        self.begins_to_read(number, places.clone(), places.clone(), None);
    }

    /// A read that has the lock of its stripe, since it asked for lost pages.
    pub fn hedge_locked_read(&mut self, number: usize, wanted: &Places, phases: Vec<Phase>) {
        let stripe = self.stripes().operations[number].stripe;
        let mut first = Places::new();
        for (member, place) in phases.into_iter().flat_map(|phase| phase.pages) {
            let strips = 0..self.case.params.members as usize;
            let strip =
                strips.into_iter().find(|&strip| member_of(&self.case.params, stripe, strip) == member).expect("it is in the stripe");
            first.entry(strip).or_default().insert(place);
        }
        if first.is_empty() {
            self.phase_of_reads(number, 0);
            return self.schedule_ordered(self.now, super::PHASE_RANK, number as u64, Event::PhaseOver { number });
        }
        self.begins_to_read(number, wanted.clone(), first, None);
    }

    pub fn hedge_read_of_copy(&mut self, number: usize, strip: u64, places: &BTreeSet<u64>) {
        let copy = self.copies_in_turn(strip)[0];
        let places = Places::from([(0, places.clone())]);
        self.begins_to_read(number, places.clone(), places, Some(copy));
    }

    pub fn begins_to_read(&mut self, number: usize, wanted: Places, first: Places, copy: Option<usize>) {
        let (now, stripe) = (self.now, self.stripes().operations[number].stripe);
        self.stripes().operations[number].phase_began_ns = now;
        let member = |strip| self.server(stripe, member_of(&self.case.params, stripe, strip)).expect("it is not lost");
        let from: Vec<(usize, usize)> = first.keys().map(|&strip| (strip, copy.unwrap_or_else(|| member(strip)))).collect();
        let after: Option<Vec<u64>> = from.iter().map(|&(_, member)| self.late_after(member)).collect();
        self.stripes().hedging.counters.stripe_reads += 1;
        let hedged = Hedged { began_ns: now, elsewhere_ns: None, wanted, reads: Vec::new(), is_over: false };
        self.stripes().operations[number].hedged = Some(hedged);
        if let Some(after) = after {
            self.goes_on_at(now + after.into_iter().max().expect("it reads something"), number);
        }
        self.reads_strips(number, &from, &first, false);
    }

    /// Returns the time after which a read of a member is late, if the host knows.
    fn late_after(&self, member: usize) -> Option<u64> {
        if !makes_twice(&self.case.params) {
            return None;
        }
        let hedge = plan_of(&self.case.params)?;
        if let HedgeDelay::Time(time) = hedge.after {
            return Some(time.ns);
        }
        let of = hedge.learn as usize;
        let all = &self.stripes.as_ref().expect("section 12 applies").hedging.ended[member];
        let mut ended: Vec<(u64, u64)> = all.iter().copied().filter(|&(end, _)| end < self.now).collect();
        ended.sort_unstable();
        let mut last: Vec<u64> = ended.iter().rev().take(of).map(|&(_, took)| took).collect();
        last.sort_unstable();
        (last.len() == of).then(|| last[(of * 95).div_ceil(100) - 1].max(1))
    }

    fn reads_strips(&mut self, number: usize, from: &[(usize, usize)], pages: &Places, is_elsewhere: bool) {
        let now = self.now;
        let (job, stripe) = (self.stripes().operations[number].job, self.stripes().operations[number].stripe);
        for &(strip, member) in from {
            let places = pages[&strip].clone();
            let left = places.len();
            let reads = &mut self.hedged(number).reads;
            reads.push(SubRead {
                strip,
                member,
                places: places.clone(),
                is_elsewhere,
                left,
                last: (now, OperationTimeParts::default()),
                met: false,
                is_abandoned: false,
            });
            let sub_read = Some(reads.len() - 1);
            for place in places {
                let page = self.page_at(stripe, place);
                let operation = self.page_operation(page, job, Some(number), OpKind::Read, false);
                self.issue(member, Operation { sub_read, ..operation });
            }
        }
    }

    fn hedged(&mut self, number: usize) -> &mut Hedged {
        self.stripes().operations[number].hedged.as_mut().expect("it may be read elsewhere")
    }

    pub fn sub_read_met(&mut self, number: usize, read: usize) {
        self.hedged(number).reads[read].met = true;
    }

    pub fn page_of_sub_read_done(&mut self, number: usize, operation: &Operation) {
        let (now, began_ns) = (self.now, self.hedged(number).began_ns);
        let read = &mut self.hedged(number).reads[operation.sub_read.expect("it is one")];
        read.last = read.last.max((now, operation.parts));
        read.left -= 1;
        if read.left > 0 {
            return;
        }
        let (member, is_elsewhere) = (read.member, read.is_elsewhere || read.is_abandoned);
        if !is_elsewhere {
            self.stripes().hedging.ended[member].push((now, now - began_ns));
        }
        self.schedule_ordered(now, super::PHASE_RANK, number as u64, Event::PhaseOver { number });
    }

    /// Ends a part if all of the first reads have ended, or all of the others.
    pub fn hedged_read_may_be_over(&mut self, number: usize) {
        let Hedged { began_ns, elsewhere_ns, ref reads, is_over, .. } = *self.hedged(number);
        let all_ended = |elsewhere: bool| reads.iter().filter(|read| read.is_elsewhere == elsewhere).all(|read| read.left == 0);
        let by_first = all_ended(false);
        if is_over || !(by_first || (elsewhere_ns.is_some() && all_ended(true))) {
            return;
        }
        let last = reads.iter().filter(|read| read.is_elsewhere != by_first).map(|read| read.last).max().expect("it reads something");
        let wasted: usize = if by_first {
            reads.iter().filter(|read| read.is_elsewhere).map(|read| read.places.len()).sum()
        } else {
            reads.iter().filter(|read| read.left > 0).map(|read| read.places.len()).sum()
        };
        let met = reads.iter().filter(|read| read.met && read.left == 0 && !(by_first && read.is_elsewhere));
        let met: Vec<usize> = met.map(|read| read.member).collect();
        let counters = &mut self.stripes().hedging.counters;
        counters.pages_read_in_vain += wasted as u64;
        counters.stripe_reads_answered_by_hedge += u64::from(!by_first);
        let operation = &mut self.stripes().operations[number];
        let job = operation.job;
        let from = if by_first { began_ns } else { elsewhere_ns.expect("it has been read elsewhere") };
        operation.last = (last.0, OperationTimeParts { parity_ns: last.1.parity_ns + from - began_ns, ..last.1 });
        operation.collected.push((from, from + last.1.collection_ns));
        self.hedged(number).is_over = true;
        if plan_of(&self.case.params).is_some_and(|hedge| hedge.cancel == UnneededReadCancellation::Queued) {
            self.abandons(number);
        }
        met.into_iter().for_each(|member| self.job_met(member, job));
        self.stripe_operation_done(number);
    }

    /// Drops what waits for its die and is not needed any more (rule 256).
    fn abandons(&mut self, number: usize) {
        for read in 0..self.hedged(number).reads.len() {
            let SubRead { member, left, .. } = self.hedged(number).reads[read];
            if left == 0 {
                continue;
            }
            let is_of = |operation: &Operation| operation.stripe_operation == Some(number) && operation.sub_read == Some(read);
            let pages = if self.is_drive() { self.drive_abandons(member, &is_of) } else { self.pools_abandon(member, &is_of) };
            self.hedged(number).reads[read].is_abandoned = pages > 0;
            self.stripes().hedging.counters.pages_abandoned += pages as u64;
        }
    }

    fn pools_abandon(&mut self, member: usize, is_of: &dyn Fn(&Operation) -> bool) -> usize {
        let mut pages = 0;
        for die in 0..self.members[member].dies.len() {
            let state = self.die(member, die);
            let head = state.queue.first().map(|head| head.number);
            let (gone, left): (Vec<_>, Vec<_>) = std::mem::take(&mut state.queue).into_iter().partition(is_of);
            state.queue = left;
            if gone.iter().any(|operation| Some(operation.number) == head) {
                state.waits_for = None;
            }
            for &operation in &gone {
                if let Origin::Command(command) = operation.origin {
                    let now = self.now;
                    self.front_does(member, |front| front.page_ends(command, operation, now));
                } else {
                    self.schedule(0, Event::Abandoned { member, operation });
                }
            }
            if !gone.is_empty() {
                self.goes_on(member, die);
            }
            pages += gone.len();
        }
        pages
    }

    fn drive_abandons(&mut self, member: usize, is_of: &dyn Fn(&Operation) -> bool) -> usize {
        let mut pages = 0;
        self.drive_does(member, |drive| pages = drive.abandons(is_of));
        pages
    }

    /// A part has taken long (rule 248).
    pub fn is_late(&mut self, number: usize) {
        let stripe = self.stripes().operations[number].stripe;
        // What ends now may not have been told yet.
        if self.hedged(number).is_over || self.hedged(number).reads.iter().all(|read| read.left == 0) {
            return;
        }
        let params = &self.case.params;
        let has_parity = parities(params) > 0;
        let elsewhere = if has_parity { self.other_strips(number) } else { self.other_copy(number) };
        let Some((from, pages)) = elsewhere else {
            self.stripes().hedging.counters.stripe_reads_without_other_way += 1;
            return;
        };
        let lock = self.stripes().locks.entry(stripe).or_default();
        let (is_awaited, held_by) = (!lock.waiting.is_empty(), lock.held_by.clone());
        if has_parity && !held_by.contains(&number) {
            if is_awaited || held_by.iter().any(|&holder| !self.shares(holder)) {
                self.stripes().hedging.counters.stripe_reads_locked_out += 1;
                return;
            }
            let now = self.now;
            let stripes = self.stripes();
            stripes.locks.get_mut(&stripe).expect("it has been looked at").held_by.push(number);
            stripes.operations[number].got_lock_ns = now;
        }
        let now = self.now;
        let counters = &mut self.stripes().hedging.counters;
        counters.hedged_stripe_reads += 1;
        counters.pages_read_elsewhere += pages.values().map(BTreeSet::len).sum::<usize>() as u64;
        self.hedged(number).elsewhere_ns = Some(now);
        self.reads_strips(number, &from, &pages, true);
    }

    fn other_strips(&self, number: usize) -> Option<(Vec<(usize, usize)>, Places)> {
        let operation = &self.stripes.as_ref().expect("section 12 applies").operations[number];
        let (stripe, hedged) = (operation.stripe, operation.hedged.as_ref().expect("it may be read elsewhere"));
        let columns = data_columns(&self.case.params);
        let lost = self.lost_strips(stripe);
        let mut read: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
        let mut late: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
        for sub_read in &hedged.reads {
            for &place in &sub_read.places {
                read.entry(place).or_default().insert(sub_read.strip);
                if sub_read.left > 0 {
                    late.entry(place).or_default().insert(sub_read.strip);
                }
            }
        }
        let mut pages = Places::new();
        for (&place, late) in &late {
            let is_gone = |strip: &usize| lost.contains(strip) || late.contains(strip);
            let wanted: Vec<usize> =
                (0..columns).filter(|strip| hedged.wanted.get(strip).is_some_and(|places| places.contains(&place))).collect();
            let needed = if wanted.iter().any(is_gone) {
                let unknown = (0..columns).filter(is_gone).count();
                let parity: Vec<usize> =
                    (columns..self.case.params.members as usize).filter(|strip| !is_gone(strip)).take(unknown).collect();
                if parity.len() < unknown {
                    return None;
                }
                (0..columns).filter(|strip| !is_gone(strip)).chain(parity).collect()
            } else {
                wanted
            };
            for strip in needed.into_iter().filter(|strip| !read[&place].contains(strip)) {
                pages.entry(strip).or_default().insert(place);
            }
        }
        let member = |strip| self.server(stripe, member_of(&self.case.params, stripe, strip)).expect("it is not lost");
        let from: Vec<(usize, usize)> = pages.keys().map(|&strip| (strip, member(strip))).collect();
        (!from.is_empty()).then_some((from, pages))
    }

    fn other_copy(&self, number: usize) -> Option<(Vec<(usize, usize)>, Places)> {
        let operation = &self.stripes.as_ref().expect("section 12 applies").operations[number];
        let hedged = operation.hedged.as_ref().expect("it may be read elsewhere");
        let super::parity::What::ReadCopy { strip, .. } = operation.what else { unreachable!("mirrors have no parity") };
        let copy = self.copies_in_turn(strip).into_iter().find(|&copy| copy != hedged.reads[0].member)?;
        Some((vec![(0, copy)], hedged.wanted.clone()))
    }
}
