//! Operations of an array whose reads are planned (rules 240 to 246).
//!
//! They begin after all else of the nanosecond at which they arrive. If the plan looks at the members, each part of a read then chooses
//! its way by what the members tell. A way that goes round a strip by parity needs a share of the lock of its stripe.

use super::super::read_plan::{Predictor, ReadPlanner, ReadTimes, ReadWay, StripeRead};
use super::super::stripe_pages::{ParityMethod, StripePages, fill_write, plan_read, read_around};
use super::super::{ArrayParams, GcAvoidingReadCounters, HedgeCounters, HostKnowledgeOfCollection, ReadPlanParams};
use super::hedged::Hedging;
use super::{Access, Continuation, Members, Stripes, Work};
use crate::TimeNs;
use crate::events::OperationTimeParts;
use crate::placement::StripRoles;
use crate::request::OpKind;
use crate::rng::{self, RandomStream};
use crate::ssd::ReadForecast;

/// State of a read plan that looks at the members, hedges or predicts.
#[derive(Debug, Clone)]
pub(super) struct ReadPlanning {
    pub(super) params: ReadPlanParams,
    draws: RandomStream,
    pub(crate) counters: GcAvoidingReadCounters,
    /// State of a plan that hedges or predicts.
    pub(crate) hedging: Option<Hedging>,
    /// State of a plan that predicts.
    pub(crate) predictor: Option<Predictor>,
}

/// A read of which a member refuses a part. What was not refused is read at once, and the rest after the refusal.
#[derive(Debug, Clone, Copy)]
pub(super) struct RefusedReads {
    /// Time at which the read was planned.
    pub(crate) planned_at: TimeNs,
    /// Time from then to the reads after the refusal, in nanoseconds.
    delay_ns: u64,
    /// Number of sets of reads that have not ended: those at once and those after the refusal.
    sets_left: u8,
    /// The last end so far, with the parts of its time.
    last: (TimeNs, OperationTimeParts),
}

impl RefusedReads {
    /// Ends a set of reads. Returns the parts of the time since the read was planned if it was the last set.
    pub(crate) fn set_ended(&mut self, now: TimeNs, after_refusal: bool, time: OperationTimeParts) -> Option<OperationTimeParts> {
        let parity_ns = time.parity_ns + if after_refusal { self.delay_ns } else { 0 };
        self.last = self.last.max((now, OperationTimeParts { parity_ns, ..time }));
        self.sets_left -= 1;
        (self.sets_left == 0).then_some(self.last.1)
    }
}

/// The way that a part takes.
#[derive(Debug, Clone, Copy, Default)]
struct Chosen {
    way: ReadWay,
    /// Number of wanted columns that collect.
    busy: usize,
    /// Number of pages that it reads beyond those that it would read without a plan.
    pages_added: u32,
}

impl ReadPlanning {
    /// Counts the way of a part.
    fn count_way(&mut self, chosen: &Chosen) {
        let replaced = chosen.way.replaced.iter().count();
        self.counters.stripe_reads_that_avoided_collection += u64::from(replaced > 0);
        self.counters.pages_added_to_read_around += u64::from(chosen.pages_added);
        self.counters.stripe_reads_that_waited += u64::from(chosen.busy > replaced);
    }

    /// Returns the state of the plan of an array that plans reads.
    pub(super) fn from_params(params: &ArrayParams, seed: u64) -> Option<Box<Self>> {
        params.chooses_source_of_each_read().then(|| {
            let draws = rng::stream(seed, "read-plan", 0);
            let members = (params.members + params.spares_and_state().0) as usize;
            let times = params.hedges_reads().then(|| ReadTimes::new(params.read_plan_params.hedge_delay, members));
            let predictor = params.read_plan.predicts_slow_reads().then(|| Predictor::new(params.read_plan_params.prediction, seed));
            let needs_hedging = times.is_some() || predictor.is_some();
            let hedging = needs_hedging.then(|| Hedging { times, counters: HedgeCounters::default() });
            Box::new(Self { params: params.read_plan_params, draws, counters: GcAvoidingReadCounters::default(), hedging, predictor })
        })
    }

    /// Returns the knowledge and means for one choice.
    fn sight(&mut self, now: TimeNs) -> ReadPlanner<'_> {
        let draws = (!self.params.knows_remaining_collection_time).then_some(&mut self.draws);
        ReadPlanner { now, fast_fail_ns: self.params.refusal_answer_ns, draws }
    }

    /// Returns the prospect of reads of these pages of a member.
    fn look(&self, now: TimeNs, member: u32, pages: impl Iterator<Item = u64>, members: &mut Members) -> ReadForecast {
        let mut busy = ReadForecast::not_on_flash(now);
        for page in pages {
            let _taken_later = members.act_on_member(member, |ssd, out| busy = busy.combine(ssd.busy(now, page, out)));
        }
        let ssd = &members.ssds[member as usize];
        let until = match self.params.collection_knowledge {
            HostKnowledgeOfCollection::PerDieOrPlane => return busy,
            HostKnowledgeOfCollection::PerMember => ssd.collects_until(now),
            HostKnowledgeOfCollection::Turns => ssd.turn_lasts_until(now),
        };
        ReadForecast { meets_collection: until.is_some(), read_begins: busy.read_begins.max(until.unwrap_or(0)), ..busy }
    }
}

impl Stripes {
    /// Takes a part of a read that is to be planned. Returns the number of ends that its completion waits for.
    pub(super) fn submit_planned(&mut self, now: TimeNs, id: u32, members: &mut Members) -> u32 {
        self.leave_out_lost(id, members);
        let operation = &mut self.operations[id as usize];
        if operation.pages.page_count() == 0 {
            self.unused.push(id);
            return 0;
        }
        operation.work = Work::PlannedRead;
        let sequence = operation.sequence;
        members.schedule_continuation(now + self.prediction_ns(), sequence, id);
        1
    }

    /// Continues an operation that has waited for the end of a nanosecond, for a refusal, or until it was late.
    pub(crate) fn continue_operation(&mut self, now: TimeNs, id: u32, members: &mut Members) {
        let operation = &self.operations[id as usize];
        if !operation.to_read_later.is_empty() {
            return self.read_after_refusal(now, id, members);
        }
        if operation.hedged.is_some() {
            return self.hedge(now, id, members);
        }
        match operation.work {
            Work::PlannedRead if !self.has_parity() && self.hedges() => self.read_hedged(now, id, members),
            Work::PlannedRead if self.has_parity() => self.plan_read_with_parity(now, id, members),
            Work::PlannedRead => self.plan_read_of_copies(now, id, members),
            work => self.ask(now, id, work, members, true),
        }
    }

    /// Returns true if the read plan hedges or predicts.
    pub(super) fn hedges(&self) -> bool {
        self.planning.as_ref().is_some_and(|planning| planning.hedging.is_some())
    }

    pub(super) fn planning(&mut self) -> &mut ReadPlanning {
        self.planning.as_mut().expect("reads are planned")
    }

    /// Plans a part of a read in a stripe with parity. If it asks for lost pages, it first needs the lock (rule 59).
    fn plan_read_with_parity(&mut self, now: TimeNs, id: u32, members: &mut Members) {
        let operation = &self.operations[id as usize];
        let stripe = operation.stripe;
        let lost = self.route.lost(stripe);
        if lost.iter().any(|role| operation.pages.page_count_of_strip(role) > 0) {
            return self.ask(now, id, Work::Read, members, true);
        }
        if self.hedges() {
            return self.read_hedged(now, id, members);
        }
        let mut chosen = self.look_for_way(now, id, lost, members);
        if !chosen.way.replaced.is_empty() && !self.locks.try_share(stripe) {
            self.planning().counters.stripe_reads_locked_out += 1;
            chosen = Chosen { busy: chosen.busy, ..Chosen::default() };
        }
        self.planning().count_way(&chosen);
        let way = chosen.way;
        if way.replaced.is_empty() {
            let places = self.places(stripe, self.operations[id as usize].pages.roles_and_offsets());
            return self.read_directly(now, id, &places, members);
        }
        self.operations[id as usize].work = Work::Read;
        self.read_by(now, id, lost, &way, members);
    }

    /// Plans a part of a read that has the lock of its stripe.
    pub(super) fn plan_locked_read(&mut self, now: TimeNs, id: u32, lost: StripRoles, members: &mut Members) {
        let shape = self.route.layout.stripe_shape();
        let chosen = self.look_for_way(now, id, lost, members);
        self.planning().count_way(&chosen);
        if !lost.exceeds_parity(shape) {
            self.reads.copy_from(&self.operations[id as usize].pages);
            let (replaced, more) = plan_read(shape, lost, &mut self.reads);
            self.counters.pages_reconstructed += u64::from(replaced);
            self.counters.pages_read_to_reconstruct += u64::from(more);
        }
        self.read_by(now, id, lost, &chosen.way, members);
    }

    /// Looks at the strips of a part, and chooses its way.
    fn look_for_way(&mut self, now: TimeNs, id: u32, lost: StripRoles, members: &mut Members) -> Chosen {
        let layout = self.route.layout;
        let shape = layout.stripe_shape();
        let planning = self.planning.as_mut().expect("reads are planned");
        let operation = &self.operations[id as usize];
        let (stripe, pages) = (operation.stripe, &operation.pages);
        let (first_page, wanted) = (layout.stripe_first_page_on_member(stripe), pages.roles());
        let member = |role| self.route.replacement(layout.member_of_strip(stripe, role), stripe).expect("it is not lost");
        let mut strips = vec![ReadForecast::default(); shape.strips_per_stripe() as usize];
        for role in wanted.iter().filter(|&role| !lost.has(role)) {
            let pages = pages.offsets_in_strip(role).map(|offset| first_page + u64::from(offset));
            strips[role as usize] = planning.look(now, member(role), pages, members);
        }
        let busy = strips.iter().filter(|strip| strip.meets_collection).count();
        if busy == 0 {
            planning.counters.count_part(0);
            if wanted.0 & lost.0 == 0 {
                return Chosen::default();
            }
        }
        for role in (0..shape.strips_per_stripe()).filter(|&role| !lost.has(role) && !wanted.has(role)) {
            strips[role as usize] = planning.look(now, member(role), pages.offsets().map(|offset| first_page + u64::from(offset)), members);
        }
        if busy > 0 {
            planning.counters.count_part(strips.iter().filter(|strip| strip.meets_collection).count());
        }
        let part = StripeRead { shape, lost, wanted, strips: &strips };
        let way = planning.sight(now).choose_way(&part, |way| pages_of(&part, way, pages));
        Chosen { way, busy, pages_added: pages_of(&part, &way, pages) - pages_of(&part, &without_plan(&part), pages) }
    }

    /// Reads a part that has the lock of its stripe by its way.
    fn read_by(&mut self, now: TimeNs, id: u32, lost: StripRoles, way: &ReadWay, members: &mut Members) {
        let shape = self.route.layout.stripe_shape();
        let operation = &mut self.operations[id as usize];
        let (stripe, sequence) = (operation.stripe, operation.sequence);
        self.reads.copy_from(&operation.pages);
        if !lost.exceeds_parity(shape) {
            read_around(shape, StripRoles(lost.0 | way.replaced.0), way.parity, &mut operation.pages);
        }
        if way.delay_ns == 0 {
            return self.issue_phase(now, id, members, true);
        }
        let later = operation.pages.remove_all_but(&self.reads);
        let sets_left = if operation.pages.page_count() > 0 { 2 } else { 1 };
        operation.refused =
            Some(RefusedReads { planned_at: now, delay_ns: way.delay_ns, sets_left, last: (now, OperationTimeParts::default()) });
        let places = self.places(stripe, later.into_iter());
        self.operations[id as usize].to_read_later = places;
        members.schedule_continuation(now + way.delay_ns, sequence, id);
        if sets_left == 2 {
            self.issue_phase(now, id, members, true);
        }
    }

    /// Plans a part of a read of mirrors, and reads one copy (rule 244).
    fn plan_read_of_copies(&mut self, now: TimeNs, id: u32, members: &mut Members) {
        let layout = self.route.layout;
        let (copies, operation) = (layout.copies_of_each_page(), &self.operations[id as usize]);
        let (stripe, sequence) = (operation.stripe, operation.sequence);
        let role = operation.pages.roles().iter().next().expect("it asks for pages of a strip");
        let pages: Vec<u64> =
            operation.pages.offsets_in_strip(role).map(|offset| layout.stripe_first_page_on_member(stripe) + u64::from(offset)).collect();
        let first_member = layout.member_of_strip(stripe, role);
        let first = self.route.read_plan.choose_copy_index(stripe, first_member, copies);
        let turns = (0..copies).map(|copy| first_member + (first + copy) % copies);
        let left: Vec<u32> = turns.filter_map(|member| self.route.replacement(member, stripe)).collect();
        let planning = self.planning();
        let mut busy = Vec::new();
        let mut free = None;
        for (at, &member) in left.iter().enumerate() {
            let prospect = planning.look(now, member, pages.iter().copied(), members);
            if !prospect.meets_collection {
                free = Some(at);
                break;
            }
            busy.push(prospect);
        }
        let delay_ns = planning.params.refusal_answer_ns * if busy.len() > 1 { 2 } else { 1 };
        let chosen = free.unwrap_or_else(|| planning.sight(now).choose_collecting_copy(&busy, delay_ns));
        planning.counters.count_part(busy.len());
        planning.counters.stripe_reads_that_avoided_collection += u64::from(chosen > 0);
        planning.counters.stripe_reads_that_waited += u64::from(free.is_none());
        let places: Vec<(u32, u64)> = pages.into_iter().map(|page| (left[chosen], page)).collect();
        if chosen == 0 || delay_ns == 0 {
            return self.read_directly(now, id, &places, members);
        }
        let operation = &mut self.operations[id as usize];
        operation.refused = Some(RefusedReads { planned_at: now, delay_ns, sets_left: 1, last: (now, OperationTimeParts::default()) });
        operation.to_read_later = places;
        members.schedule_continuation(now + delay_ns, sequence, id);
    }

    /// Chooses the way of the reads before a write (rule 245). `kind` is the way with fewest reads, which are in `reads`. Returns the way
    /// chosen, and the time after which it reads.
    pub(super) fn plan_reads_of_write(
        &mut self,
        now: TimeNs,
        id: u32,
        lost: StripRoles,
        kind: ParityMethod,
        members: &mut Members,
    ) -> (ParityMethod, u64) {
        let other = match kind {
            ParityMethod::Reconstruct => ParityMethod::ReadModify,
            ParityMethod::ReadModify => ParityMethod::Reconstruct,
            ParityMethod::FullStripe | ParityMethod::NoParity => return (kind, 0),
        };
        if !self.planning().params.parity_update_reads_avoid_collection || self.hedges() {
            return (kind, 0);
        }
        let stripe = self.operations[id as usize].stripe;
        let first = self.look_at_strips(now, stripe, &self.reads, members);
        if !first.iter().any(|strip| strip.meets_collection) {
            return (kind, 0);
        }
        let shape = self.route.layout.stripe_shape();
        let mut reads = self.reads.clone();
        fill_write(shape, lost, &self.operations[id as usize].pages, other, &mut reads);
        let second = self.look_at_strips(now, stripe, &reads, members);
        let refuses_again = second.iter().any(|strip| strip.meets_collection);
        let planning = self.planning();
        let delay_ns = planning.params.refusal_answer_ns * if refuses_again { 2 } else { 1 };
        let sight = planning.sight(now);
        if sight.rank_reads_before_write(&second, delay_ns) >= sight.rank_reads_before_write(&first, 0) {
            return (kind, 0);
        }
        planning.counters.writes_with_switched_parity_method += 1;
        self.reads = reads;
        if delay_ns > 0 {
            self.operations[id as usize].to_read_later = self.places(stripe, self.reads.roles_and_offsets());
        }
        (other, delay_ns)
    }

    /// Returns the prospects of reads of these pages, strip by strip.
    fn look_at_strips(&self, now: TimeNs, stripe: u64, pages: &StripePages, members: &mut Members) -> Vec<ReadForecast> {
        let planning = self.planning.as_ref().expect("reads are planned");
        let first_page = self.route.layout.stripe_first_page_on_member(stripe);
        let strip = |role| {
            let member = self.member_of(stripe, role);
            planning.look(now, member, pages.offsets_in_strip(role).map(|offset| first_page + u64::from(offset)), members)
        };
        pages.roles().iter().map(strip).collect()
    }

    /// Returns the member with a strip that is not lost.
    pub(super) fn member_of(&self, stripe: u64, role: u32) -> u32 {
        self.route.replacement(self.route.layout.member_of_strip(stripe, role), stripe).expect("it is not lost")
    }

    /// Returns the members and pages of pages of a stripe with parity.
    fn places(&self, stripe: u64, pages: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u64)> {
        let first_page = self.route.layout.stripe_first_page_on_member(stripe);
        pages.map(|(role, offset)| (self.member_of(stripe, role), first_page + u64::from(offset))).collect()
    }

    /// Reads pages of members for the operation that asks for them. Nothing else follows from their ends.
    fn read_directly(&mut self, now: TimeNs, id: u32, places: &[(u32, u64)], members: &mut Members) {
        let completion = self.operations[id as usize].completion.expect("somebody asks for them");
        members.expect_more_ends(completion, places.len() as u32);
        let access = self.access_of_read(now, id);
        places.iter().for_each(|&(member, page)| members.submit(&access, member, page, completion));
        self.unused.push(id);
    }

    /// Reads what an operation reads after a refusal. It was decided when the operation was planned, also if a member has failed since.
    fn read_after_refusal(&mut self, now: TimeNs, id: u32, members: &mut Members) {
        let access = self.access_of_read(now, id);
        let operation = &mut self.operations[id as usize];
        operation.phase_began_ns = now;
        let open = members.open_completion(Continuation::StripeOperationPhaseEnded {
            operation: id,
            replaces_refused_read: true,
            tie_break: operation.sequence,
        });
        let places = std::mem::take(&mut operation.to_read_later);
        places.iter().for_each(|&(member, page)| members.submit(&access, member, page, open.completion_number()));
        members.close_completion(open, places.len() as u32, now);
    }

    pub(super) fn access_of_read(&self, now: TimeNs, id: u32) -> Access {
        let source = self.operations[id as usize].source;
        Access { now, kind: OpKind::Read, fua: false, high_priority: false, source, after_events_of_now: true }
    }
}

/// Returns the way that goes round lost strips only.
fn without_plan(part: &StripeRead) -> ReadWay {
    let StripeRead { shape, lost, wanted, .. } = *part;
    let needed = if wanted.0 & lost.0 == 0 { 0 } else { lost.count_data_strips(shape) as usize };
    let parity = lost.parity_left(shape).take(needed).fold(0, |roles, role| roles | 1 << role);
    ReadWay { parity: StripRoles(parity), ..ReadWay::default() }
}

/// Returns the number of pages that a way reads for a part that asks for `pages`.
fn pages_of(part: &StripeRead, way: &ReadWay, pages: &StripePages) -> u32 {
    let mut reads = pages.clone();
    read_around(part.shape, StripRoles(part.lost.0 | way.replaced.0), way.parity, &mut reads);
    reads.page_count()
}
