//! Sections 12 and 18 of the rules: parity, locks of stripes, members that fail, and the rebuilding of their strips.

use std::collections::{BTreeMap, BTreeSet};

use flashraid_model::array::{ArrayParams, InitialSpareState, MemberFailure, ParityAndRebuildCounters};
use flashraid_model::events::OperationTimeParts;
use flashraid_model::placement::RaidLevel;
use flashraid_model::request::OpKind;

use super::cache::Caches;
use super::front::Origin;
use super::hedge::{self, Hedged, Hedging};
use super::predict::{self, Predicting};
use super::read_around::{self, Planned};
use super::{Event, LastEnd, Operation, Simulation, layout};

/// Locks, operations on stripes and what has failed.
pub(super) struct Stripes {
    pub locks: BTreeMap<u64, Lock>,
    /// Operations in the order in which they were created (rule 55).
    pub operations: Vec<StripeOperation>,
    failures: Vec<Failure>,
    counters: ParityAndRebuildCounters,
    pub planned: Planned,
    pub hedging: Hedging,
    pub predicting: Predicting,
}

/// A member that fails, and how far its rebuilding is.
struct Failure {
    params: MemberFailure,
    spare: Option<usize>,
    failed: bool,
    rebuilt: BTreeSet<u64>,
    rebuilding: u32,
    next_to_rebuild: u64,
    last_began_ns: Option<u64>,
}

#[derive(Default)]
pub(super) struct Lock {
    /// Operations that hold it.
    pub held_by: Vec<usize>,
    pub waiting: Vec<usize>,
    /// All that have held it, in the order in which they gave it back.
    held_before: Vec<usize>,
}

/// A part of an operation on the array that needs the lock of its stripe, or the rebuilding of a stripe.
pub(super) struct StripeOperation {
    pub job: Option<usize>,
    kind: OpKind,
    high_priority: bool,
    pub stripe: u64,
    pub what: What,
    asked_ns: u64,
    /// Time at which it asked for the lock.
    asked_for_lock_ns: u64,
    pub got_lock_ns: u64,
    phases: Vec<Phase>,
    pub operations_left: usize,
    /// Begin of the present phase.
    pub phase_began_ns: u64,
    pub last: LastEnd,
    /// Members and pages to read after a refusal.
    pub later: Vec<(usize, u64)>,
    pub hedged: Option<Hedged>,
    /// The waits of other operations with the lock for collection while this one waited for the lock (rule 115).
    collected_before: Vec<Span>,
    /// Waits for collection, one for each phase that has ended. A wait counts as the first part of its phase.
    pub collected: Vec<Span>,
    /// True if the strip that it would have rebuilt is lost for good.
    gave_up: bool,
}

/// Span of time, from the first nanosecond to before the second.
type Span = (u64, u64);

fn length(spans: &[Span]) -> u64 {
    spans.iter().map(|(from, to)| to - from).sum()
}

/// Places by the strip that they lie in: data columns, then P, then Q.
pub(super) type Places = BTreeMap<usize, BTreeSet<u64>>;

#[derive(Clone)]
pub(super) enum What {
    Read(Places),
    /// Reads one copy of a strip, without a lock.
    ReadCopy {
        strip: u64,
        places: BTreeSet<u64>,
    },
    Write(Places),
    /// Writes a strip with several copies.
    MirrorWrite {
        copies: Vec<usize>,
        places: Vec<u64>,
    },
    /// All strips, parity included.
    Trim(Places),
    Rebuild {
        failure: usize,
    },
}

pub struct Phase {
    write: bool,
    /// Member and place; pages of failed members are left out, unless they go `to_spare`.
    pub pages: Vec<(usize, u64)>,
    to_spare: Option<usize>,
}

/// A part of an operation on the array: page operations, or what needs a lock.
pub(super) enum Part {
    Free(Vec<(usize, u64)>),
    Locked {
        stripe: u64,
        what: What,
    },
    /// A read that is planned when all else of the nanosecond has happened (rule 240).
    Planned {
        stripe: u64,
        what: What,
    },
}

/// Returns true if the rules for parity and failures apply (section 12).
fn applies(params: &ArrayParams) -> bool {
    parities(params) > 0 || !params.failures.is_empty() || read_around::plans(params)
}

/// Strips with parity in a stripe.
pub(super) fn parities(params: &ArrayParams) -> usize {
    match params.level {
        RaidLevel::Raid4 | RaidLevel::Raid5 => 1,
        RaidLevel::Raid6 => 2,
        RaidLevel::Single | RaidLevel::Raid0 | RaidLevel::Raid1 | RaidLevel::Raid10 => 0,
    }
}

/// Data columns of a stripe.
pub(super) fn data_columns(params: &ArrayParams) -> usize {
    let members = params.members as usize;
    match params.level {
        RaidLevel::Single | RaidLevel::Raid1 => 1,
        RaidLevel::Raid10 => members / 2,
        RaidLevel::Raid0 | RaidLevel::Raid4 | RaidLevel::Raid5 | RaidLevel::Raid6 => members - parities(params),
    }
}

/// The member of a strip of a stripe (rule 50): data columns, then P, then Q.
pub(super) fn member_of(params: &ArrayParams, stripe: u64, strip: usize) -> usize {
    let members = params.members as usize;
    if params.level == RaidLevel::Raid4 {
        return strip;
    }
    let p = members - 1 - (stripe % params.members as u64) as usize;
    let columns = data_columns(params);
    let after_p = match (params.level, strip) {
        (_, strip) if strip == columns => 0,
        (RaidLevel::Raid6, strip) if strip == columns + 1 => 1,
        (RaidLevel::Raid6, column) => column + 2,
        (_, column) => column + 1,
    };
    (p + after_p) % members
}

/// Returns the failures, of which the first in time have spares (rule 154).
fn failures_in_order(params: &ArrayParams) -> Vec<Failure> {
    let mut order: Vec<MemberFailure> = Vec::new();
    for &failure in &params.failures {
        let at = order.iter().take_while(|earlier| earlier.at.ns <= failure.at.ns).count();
        order.insert(at, failure);
    }
    let spares = params.rebuild.map_or(0, |rebuild| rebuild.settings.spares as usize);
    let failure = |(nth, params_of): (usize, MemberFailure)| Failure {
        params: params_of,
        spare: (nth < spares).then_some(params.members as usize + nth),
        failed: false,
        rebuilt: BTreeSet::new(),
        rebuilding: 0,
        next_to_rebuild: 0,
        last_began_ns: None,
    };
    order.into_iter().enumerate().map(failure).collect()
}

/// The member that a spare replaces; a member replaces itself.
pub(super) fn replaced_by(params: &ArrayParams, member: usize) -> usize {
    let failures = failures_in_order(params);
    failures.iter().find(|failure| failure.spare == Some(member)).map_or(member, |failure| failure.params.member as usize)
}

impl Stripes {
    pub(super) fn new(params: &ArrayParams, seed: u64) -> Option<Stripes> {
        applies(params).then(|| Stripes {
            locks: BTreeMap::new(),
            operations: Vec::new(),
            failures: failures_in_order(params),
            counters: ParityAndRebuildCounters::default(),
            planned: Planned::new(seed),
            hedging: Hedging::new(params),
            predicting: Predicting::new(seed),
        })
    }

    pub(super) fn counters(&self) -> ParityAndRebuildCounters {
        self.counters
    }

    pub(super) fn are_free(&self) -> bool {
        self.locks.values().all(|lock| lock.held_by.is_empty() && lock.waiting.is_empty())
    }
}

// Requests to stripes of the array.
impl Simulation<'_> {
    pub(super) fn stripes(&mut self) -> &mut Stripes {
        self.stripes.as_mut().expect("section 12 applies")
    }

    /// Returns the member that serves the strip of a member in a stripe; `None` if it is lost.
    pub(super) fn server(&self, stripe: u64, member: usize) -> Option<usize> {
        let failures = self.stripes.iter().flat_map(|stripes| &stripes.failures);
        for failure in failures.filter(|failure| failure.failed) {
            if failure.params.member as usize == member {
                return failure.spare.filter(|_| failure.rebuilt.contains(&stripe));
            }
        }
        Some(member)
    }

    /// The strips of a stripe with parity that are lost.
    pub(super) fn lost_strips(&self, stripe: u64) -> Vec<usize> {
        let params = &self.case.params;
        (0..params.members as usize).filter(|&strip| self.server(stripe, member_of(params, stripe, strip)).is_none()).collect()
    }

    /// Parity strips that are left, in order.
    pub(super) fn parity_left(&self, stripe: u64) -> Vec<usize> {
        let lost = self.lost_strips(stripe);
        (data_columns(&self.case.params)..self.case.params.members as usize).filter(|strip| !lost.contains(strip)).collect()
    }

    /// Returns true if a stripe with parity has lost data (rule 155).
    pub(super) fn is_dead(&self, stripe: u64) -> bool {
        self.lost_strips(stripe).len() > parities(&self.case.params)
    }

    /// Counts pages that are lost, for a request if one wants them (rule 157).
    pub(super) fn loses(&mut self, request: Option<usize>, pages: usize) {
        self.stripes().counters.pages_lost += pages as u64;
        if let Some(request) = request {
            self.requests[request].pages_lost += pages as u32;
        }
    }

    /// Returns true if a strip of the member is lost.
    pub(super) fn is_not_all_rebuilt(&self, member: usize) -> bool {
        (0..layout::stripes(&self.case.params)).any(|stripe| self.server(stripe, member).is_none())
    }

    /// Starts the parts of an operation on the array, one after another (rule 51).
    pub(super) fn take_parts(&mut self, job: usize, parts: Vec<Part>, kind: OpKind, high_priority: bool) {
        if parts.iter().all(|part| matches!(part, Part::Free(pages) if pages.is_empty())) {
            return self.schedule_nothing(job);
        }
        let each = |part: &Part| match part {
            Part::Free(pages) => pages.len(),
            Part::Locked { .. } | Part::Planned { .. } => 1,
        };
        self.jobs[job].left = parts.iter().map(each).sum();
        for part in parts {
            match part {
                Part::Free(pages) => {
                    for (member, logical_page) in pages {
                        self.issue_page(member, logical_page, Some(job), None, kind, kind == OpKind::Write && high_priority);
                    }
                }
                Part::Locked { stripe, what } => {
                    let number = self.new_operation(stripe, what, Some(job), kind, high_priority);
                    if self.plans_stripes() {
                        self.goes_on_at(self.now, number);
                    } else {
                        self.asks_for_lock(number);
                    }
                }
                Part::Planned { stripe, what } => {
                    let number = self.new_operation(stripe, what, Some(job), kind, high_priority);
                    self.goes_on_at(self.now + predict::cost_ns(&self.case.params), number);
                }
            }
        }
    }

    /// Returns the pages that are left for a read at its arrival, and the number of lost ones (rule 157).
    pub(super) fn left_to_read(&self, pages: Vec<u64>) -> (Vec<u64>, usize) {
        let all = pages.len();
        let left: Vec<u64> = pages.into_iter().filter(|&page| !self.is_page_lost(page)).collect();
        let lost = all - left.len();
        (left, lost)
    }

    pub(super) fn is_page_lost(&self, page: u64) -> bool {
        let params = &self.case.params;
        let strip = page / u64::from(params.stripe_unit_pages);
        match params.level {
            RaidLevel::Single | RaidLevel::Raid0 => false,
            RaidLevel::Raid1 | RaidLevel::Raid10 => self.copy_to_read(strip).is_none(),
            RaidLevel::Raid4 | RaidLevel::Raid5 | RaidLevel::Raid6 => {
                let columns = data_columns(params) as u64;
                let (stripe, column) = (strip / columns, (strip % columns) as usize);
                self.is_dead(stripe) && self.lost_strips(stripe).contains(&column)
            }
        }
    }

    /// Pages of the array as parts.
    pub(super) fn parts(&self, pages: Vec<u64>, write: bool) -> Vec<Part> {
        match self.case.params.level {
            RaidLevel::Single | RaidLevel::Raid0 => {
                let unit = u64::from(self.case.params.stripe_unit_pages);
                let members = u64::from(self.case.params.members);
                let place = |page: u64| ((page / unit % members) as usize, page / unit / members * unit + page % unit);
                vec![Part::Free(pages.into_iter().map(place).collect())]
            }
            RaidLevel::Raid1 | RaidLevel::Raid10 => self.parts_on_mirrors(pages, write),
            RaidLevel::Raid4 | RaidLevel::Raid5 | RaidLevel::Raid6 => self.parts_with_parity(pages, write),
        }
    }

    /// Returns the parts of a trim that are performed. With parity, these are whole stripes with their parity (rule 111).
    pub(super) fn parts_of_trim(&mut self, parts: Vec<Part>) -> Vec<Part> {
        let unit = u64::from(self.case.params.stripe_unit_pages);
        let (columns, parities) = (data_columns(&self.case.params), parities(&self.case.params));
        let mut left = Vec::new();
        for part in parts {
            match part {
                Part::Locked { stripe, what: What::Write(mut places) } => {
                    let pages: usize = places.values().map(BTreeSet::len).sum();
                    if pages < columns * unit as usize {
                        self.stripes().counters.trim_pages_ignored += pages as u64;
                        continue;
                    }
                    places.extend((columns..columns + parities).map(|strip| (strip, (0..unit).collect())));
                    left.push(Part::Locked { stripe, what: What::Trim(places) });
                }
                other => left.push(other),
            }
        }
        left
    }

    fn parts_with_parity(&self, pages: Vec<u64>, write: bool) -> Vec<Part> {
        let params = &self.case.params;
        let unit = u64::from(params.stripe_unit_pages);
        let columns = data_columns(params) as u64;
        let mut by_stripe: Vec<(u64, Places)> = Vec::new();
        for page in pages {
            let strip = page / unit;
            if by_stripe.last().is_none_or(|&(stripe, _)| stripe != strip / columns) {
                by_stripe.push((strip / columns, Places::new()));
            }
            let (_, places) = by_stripe.last_mut().expect("it has just begun");
            places.entry((strip % columns) as usize).or_default().insert(page % unit);
        }
        let part = |(stripe, places): (u64, Places)| {
            if write {
                return Part::Locked { stripe, what: What::Write(places) };
            }
            if read_around::plans(params) {
                return Part::Planned { stripe, what: What::Read(places) };
            }
            if self.lost_strips(stripe).iter().any(|lost| places.contains_key(lost)) {
                return Part::Locked { stripe, what: What::Read(places) };
            }
            let on_members = in_order(&places).into_iter().map(|(strip, place)| {
                (self.server(stripe, member_of(params, stripe, strip)).expect("it is not lost"), stripe * unit + place)
            });
            Part::Free(on_members.collect())
        };
        by_stripe.into_iter().map(part).collect()
    }

    fn parts_on_mirrors(&self, pages: Vec<u64>, write: bool) -> Vec<Part> {
        let unit = u64::from(self.case.params.stripe_unit_pages);
        let mut by_strip: Vec<(u64, Vec<u64>)> = Vec::new();
        for page in pages {
            match by_strip.last_mut() {
                Some((strip, places)) if *strip == page / unit => places.push(page % unit),
                _ => by_strip.push((page / unit, vec![page % unit])),
            }
        }
        let part = |(strip, places): (u64, Vec<u64>)| {
            let (stripe, copies) = self.copies(strip);
            let servers: Vec<usize> = copies.iter().filter_map(|&member| self.server(stripe, member)).collect();
            if write && servers.len() < copies.len() {
                return Part::Locked { stripe, what: What::MirrorWrite { copies, places } };
            }
            if !write && read_around::plans(&self.case.params) {
                return Part::Planned { stripe, what: What::ReadCopy { strip, places: places.into_iter().collect() } };
            }
            let servers = if write { servers } else { self.copy_to_read(strip).into_iter().collect() };
            Part::Free(places.iter().flat_map(|place| servers.iter().map(move |&member| (member, stripe * unit + place))).collect())
        };
        by_strip.into_iter().map(part).collect()
    }

    /// The stripe of a strip of mirrors, and the members that hold it.
    fn copies(&self, strip: u64) -> (u64, Vec<usize>) {
        let members = u64::from(self.case.params.members);
        if self.case.params.level == RaidLevel::Raid1 {
            return (strip, (0..members as usize).collect());
        }
        let pairs = members / 2;
        let first = 2 * (strip % pairs) as usize;
        (strip / pairs, vec![first, first + 1])
    }

    /// Returns the copy to read (rules 2 and 61).
    fn copy_to_read(&self, strip: u64) -> Option<usize> {
        self.copies_in_turn(strip).first().copied()
    }

    /// Copies that are left, from the one whose turn it is.
    pub(super) fn copies_in_turn(&self, strip: u64) -> Vec<usize> {
        let (stripe, copies) = self.copies(strip);
        let first = (stripe % copies.len() as u64) as usize;
        let turns = (0..copies.len()).map(|step| copies[(first + step) % copies.len()]);
        turns.filter_map(|member| self.server(stripe, member)).collect()
    }
}

pub(super) fn in_order(places: &Places) -> Vec<(usize, u64)> {
    places.iter().flat_map(|(&strip, places)| places.iter().map(move |&place| (strip, place))).collect()
}

// Warm-ups of members (rules 24 and 66).
impl Simulation<'_> {
    pub(super) fn warm_up_by_workload(&mut self) {
        let params = &self.case.params;
        let unit = u64::from(params.stripe_unit_pages);
        for request in self.case.requests.iter().filter(|request| request.kind == OpKind::Write) {
            for part in self.parts(layout::pages_of(params, request), true) {
                match part {
                    Part::Free(pages) => pages.into_iter().for_each(|(member, page)| self.overwrite(member, page, request.stream)),
                    Part::Locked { stripe, what: What::Write(mut places) } => {
                        let rows: BTreeSet<u64> = places.values().flatten().copied().collect();
                        let columns = data_columns(params);
                        places.extend((columns..columns + parities(params)).map(|strip| (strip, rows.clone())));
                        for (member, place) in self.on_members(stripe, &in_order(&places)) {
                            self.overwrite(member, stripe * unit + place, request.stream);
                        }
                    }
                    Part::Locked { .. } | Part::Planned { .. } => unreachable!("nothing is lost yet, and nothing is read"),
                }
            }
        }
        for member in &mut self.members {
            let overwritten = std::mem::take(&mut member.overwritten);
            if let Some(drive) = &mut member.drive {
                drive.overwrite(&overwritten);
            }
        }
    }

    /// The page of a member as its mapping names it (rule 7; drives with superblocks have one for all dies).
    pub(super) fn name_of(&self, logical_page: u64) -> u64 {
        if self.is_drive() { logical_page } else { layout::home(self.ssd, logical_page) }
    }

    fn overwrite(&mut self, member: usize, logical_page: u64, source: u8) {
        let page = self.name_of(logical_page);
        let failures = failures_in_order(&self.case.params);
        let spare = failures.iter().find(|failure| failure.params.member as usize == member).and_then(|failure| failure.spare);
        let is_warm = self.case.params.rebuild.is_some_and(|rebuild| rebuild.settings.spare == InitialSpareState::WarmedUpByOverwrites);
        for member in std::iter::once(member).chain(spare.filter(|_| is_warm)) {
            let of_member = &mut self.members[member];
            match of_member.drive {
                // Drives are written when all is known, each by itself.
                Some(_) => of_member.overwritten.push((page, source)),
                None => of_member.flash.overwrite(page),
            }
        }
    }
}

// Locks of stripes (rule 52).
impl Simulation<'_> {
    fn new_operation(&mut self, stripe: u64, what: What, job: Option<usize>, kind: OpKind, high_priority: bool) -> usize {
        let asked_ns = self.now;
        let stripes = self.stripes();
        let number = stripes.operations.len();
        let operation = StripeOperation {
            job,
            kind,
            high_priority,
            stripe,
            what,
            asked_ns,
            asked_for_lock_ns: asked_ns,
            got_lock_ns: asked_ns,
            phases: Vec::new(),
            operations_left: 0,
            phase_began_ns: asked_ns,
            last: (asked_ns, OperationTimeParts::default()),
            later: Vec::new(),
            hedged: None,
            collected_before: Vec::new(),
            collected: Vec::new(),
            gave_up: false,
        };
        stripes.operations.push(operation);
        number
    }

    pub(super) fn asks_for_lock(&mut self, number: usize) {
        let now = self.now;
        let stripes = self.stripes();
        stripes.operations[number].asked_for_lock_ns = now;
        let stripe = stripes.operations[number].stripe;
        stripes.locks.entry(stripe).or_default().waiting.push(number);
        self.give_lock(stripe);
    }

    pub(super) fn shares(&self, number: usize) -> bool {
        let stripes = self.stripes.as_ref().expect("section 12 applies");
        matches!(stripes.operations[number].what, What::Read(_) | What::MirrorWrite { .. })
    }

    fn give_lock(&mut self, stripe: u64) {
        loop {
            let lock = &self.stripes().locks[&stripe];
            let (Some(&first), holder) = (lock.waiting.first(), lock.held_by.first().copied()) else { return };
            if holder.is_some_and(|holder| !self.shares(holder) || !self.shares(first)) {
                return;
            }
            let lock = self.stripes().locks.get_mut(&stripe).expect("there is a lock");
            lock.waiting.remove(0);
            lock.held_by.push(first);
            self.begin(first);
        }
    }

    fn begin(&mut self, number: usize) {
        let now = self.now;
        let collected_before = self.collected_before(number);
        let stripes = self.stripes();
        let operation = &mut stripes.operations[number];
        (operation.got_lock_ns, operation.collected_before) = (now, collected_before);
        let StripeOperation { job, stripe, asked_for_lock_ns: asked_ns, ref what, .. } = *operation;
        let what = what.clone();
        if job.is_some() && now > asked_ns {
            stripes.counters.lock_waits += 1;
            stripes.counters.lock_wait_ns += u128::from(now - asked_ns);
        }
        let kind = stripes.operations[number].kind;
        let phases = match what {
            What::Read(places) => {
                let places = self.without_lost(stripe, places, job);
                let phases = self.phases_of_read(stripe, &places);
                if predict::predicts(&self.case.params) {
                    return self.predict_locked_read(number, &places, phases);
                }
                if hedge::hedges(&self.case.params) {
                    return self.hedge_locked_read(number, &places, phases);
                }
                if self.plans_stripes() {
                    return self.plan_locked_read(number, &places);
                }
                phases
            }
            What::ReadCopy { .. } => unreachable!("it needs no lock"),
            What::Write(places) => {
                let places = self.without_lost(stripe, places, job);
                self.phases_of_write(number, &places)
            }
            What::MirrorWrite { copies, places } => {
                let gone = copies.iter().all(|&copy| self.server(stripe, copy).is_none());
                if gone && kind == OpKind::Write {
                    self.loses(job.and_then(|job| self.request_of(job)), places.len());
                }
                vec![Phase {
                    write: true,
                    pages: places.iter().flat_map(|&place| copies.iter().map(move |&copy| (copy, place))).collect(),
                    to_spare: None,
                }]
            }
            What::Trim(places) => {
                let pages = self.on_members(stripe, &in_order(&places));
                vec![Phase { write: true, pages, to_spare: None }]
            }
            What::Rebuild { failure } => self.phases_of_rebuild(stripe, failure),
        };
        self.stripes().operations[number].phases = phases;
        if self.stripes().operations[number].later.is_empty() {
            self.next_phase(number);
        }
    }

    /// Returns the collection for which an operation waited that gets its lock now (rule 115). It is that of the last holder, since the
    /// operation asked.
    fn collected_before(&self, number: usize) -> Vec<Span> {
        let stripes = self.stripes.as_ref().expect("section 12 applies");
        let StripeOperation { stripe, asked_for_lock_ns: asked_ns, .. } = stripes.operations[number];
        let mut spans = Vec::new();
        let mut until = self.now;
        for &holder in stripes.locks[&stripe].held_before.iter().rev() {
            let holder = &stripes.operations[holder];
            let within = holder.collected.iter().map(|&(from, to)| (from.max(asked_ns), to.min(until)));
            spans.extend(within.filter(|(from, to)| from < to));
            until = until.min(holder.got_lock_ns);
        }
        spans
    }

    pub(super) fn phase_over(&mut self, number: usize) {
        if self.stripes().operations[number].hedged.is_some() {
            return self.hedged_read_may_be_over(number);
        }
        let operation = &mut self.stripes().operations[number];
        let began_ns = operation.phase_began_ns;
        operation.collected.push((began_ns, began_ns + operation.last.1.collection_ns));
        self.next_phase(number);
    }

    /// Begins the next phase of an operation (rule 54).
    fn next_phase(&mut self, number: usize) {
        let unit = u64::from(self.case.params.stripe_unit_pages);
        let stripes = self.stripes();
        let StripeOperation { job, kind, high_priority, stripe, ref mut phases, .. } = stripes.operations[number];
        if phases.is_empty() {
            return self.stripe_operation_done(number);
        }
        let Phase { write, pages, to_spare } = phases.remove(0);
        let server = |member| if to_spare.is_some() { to_spare } else { self.server(stripe, member) };
        let served: Vec<(usize, usize, u64)> =
            pages.into_iter().filter_map(|(member, place)| Some((server(member)?, member, place))).collect();
        let now = self.now;
        let operation = &mut self.stripes().operations[number];
        operation.operations_left = served.len();
        (operation.phase_began_ns, operation.last) = (now, (now, OperationTimeParts::default()));
        for &(server, member, place) in &served {
            self.count_page(number, member, write);
            let kind = if write { kind } else { OpKind::Read };
            self.issue_page(server, stripe * unit + place, job, Some(number), kind, kind == OpKind::Write && high_priority);
        }
        if served.is_empty() {
            // Nothing of it is left (rule 157).
            self.schedule_ordered(self.now, super::PHASE_RANK, number as u64, Event::PhaseOver { number });
        }
    }

    /// Counts a page operation (rule 57).
    pub(super) fn count_page(&mut self, number: usize, member: usize, write: bool) {
        let params = &self.case.params;
        let StripeOperation { stripe, ref what, .. } = self.stripes.as_ref().expect("section 12 applies").operations[number];
        let is_rebuild = matches!(what, What::Rebuild { .. });
        let is_write = matches!(what, What::Write(_));
        let is_parity = is_write && (data_columns(params)..params.members as usize).any(|strip| member_of(params, stripe, strip) == member);
        let counters = &mut self.stripes().counters;
        match (write, is_rebuild, is_parity) {
            (true, true, _) => counters.rebuild_pages_written += 1,
            (false, true, _) => counters.rebuild_pages_read += 1,
            (true, false, true) => counters.parity_pages_written += 1,
            (false, false, true) => counters.parity_pages_read += 1,
            (false, false, false) if is_write => counters.data_pages_read += 1,
            _ => {}
        }
    }

    /// An operation of the present phase is done.
    pub(super) fn stripe_page_done(&mut self, number: usize, issued_ns: u64, mut parts: OperationTimeParts) {
        let now = self.now;
        let operation = &mut self.stripes().operations[number];
        // What a refusal has taken.
        parts.parity_ns += issued_ns - operation.phase_began_ns;
        operation.last = operation.last.max((now, parts));
        operation.operations_left -= 1;
        if operation.operations_left == 0 {
            // Ends of phases come in the order of their operations (rule 55).
            self.schedule_ordered(self.now, super::PHASE_RANK, number as u64, Event::PhaseOver { number });
        }
    }

    pub fn stripe_operation_done(&mut self, number: usize) {
        let stripes = self.stripes();
        let StripeOperation { job, stripe, ref what, gave_up, asked_ns, phase_began_ns, last, .. } = stripes.operations[number];
        let StripeOperation { collected_before, collected, .. } = &stripes.operations[number];
        let collection_ns = length(collected_before) + length(collected);
        if let What::Rebuild { failure } = *what {
            stripes.failures[failure].rebuilding -= 1;
            if !gave_up {
                stripes.failures[failure].rebuilt.insert(stripe);
            }
        }
        let has_lock = stripes.locks.get(&stripe).is_some_and(|lock| lock.held_by.contains(&number));
        if has_lock {
            let lock = stripes.locks.get_mut(&stripe).expect("it is held");
            lock.held_by.retain(|&holder| holder != number);
            lock.held_before.push(number);
        }
        match job {
            // Waits for collection count as such (rule 115).
            Some(job) => {
                let before_ns = phase_began_ns - asked_ns;
                let parity_ns = before_ns - (collection_ns - last.1.collection_ns) + last.1.parity_ns;
                self.part_of_job_done(job, OperationTimeParts { parity_ns, collection_ns, ..last.1 });
            }
            None => self.schedule_rebuild(0),
        }
        if has_lock {
            self.give_lock(stripe);
        }
    }

    pub(super) fn issue_page(
        &mut self,
        member: usize,
        logical_page: u64,
        job: Option<usize>,
        stripe_operation: Option<usize>,
        kind: OpKind,
        high_priority: bool,
    ) {
        let operation = self.page_operation(logical_page, job, stripe_operation, kind, high_priority);
        self.issue(member, operation);
    }

    pub fn page_operation(
        &self,
        logical_page: u64,
        job: Option<usize>,
        stripe_operation: Option<usize>,
        kind: OpKind,
        high_priority: bool,
    ) -> Operation {
        let (source, fua) = self.source_and_fua(job);
        Operation {
            job,
            stripe_operation,
            sub_read: None,
            page: self.name_of(logical_page),
            kind,
            high_priority,
            source,
            fua: kind == OpKind::Write && fua,
            origin: Origin::Array,
            reached_member_ns: 0,
            number: 0,
            waited_for_scope: false,
            refused_ns: None,
            issued_ns: self.now,
            parts: OperationTimeParts::default(),
        }
    }
}

// What is read and written.
impl Simulation<'_> {
    fn on_members(&self, stripe: u64, pages: &[(usize, u64)]) -> Vec<(usize, u64)> {
        pages.iter().map(|&(strip, place)| (member_of(&self.case.params, stripe, strip), place)).collect()
    }

    /// Leaves out pages of lost strips of a dead stripe (rule 157).
    fn without_lost(&mut self, stripe: u64, mut places: Places, job: Option<usize>) -> Places {
        if self.is_dead(stripe) {
            let lost = self.lost_strips(stripe);
            let pages = lost.iter().filter_map(|strip| places.remove(strip)).map(|places| places.len()).sum();
            self.loses(job.and_then(|job| self.request_of(job)), pages);
        }
        places
    }

    /// Returns the pages to read for wanted ones. Lost columns are computed from all other columns, and from as many parities as columns
    /// are lost (rule 156).
    fn readable(&self, stripe: u64, wanted: &Places) -> Places {
        let columns = data_columns(&self.case.params);
        let lost = self.lost_strips(stripe);
        let lost_columns = lost.iter().filter(|&&strip| strip < columns).count();
        let parity: Vec<usize> = self.parity_left(stripe).into_iter().take(lost_columns).collect();
        self.read_without(wanted, lost, &parity)
    }

    /// Returns the pages to read for wanted ones without reading some strips, with these parity strips.
    pub(super) fn read_without(&self, wanted: &Places, lost: Vec<usize>, parity: &[usize]) -> Places {
        let mut read = wanted.clone();
        let columns = data_columns(&self.case.params);
        let needed: Vec<usize> = (0..columns).filter(|strip| !lost.contains(strip)).collect();
        for strip in lost {
            let of_lost = read.remove(&strip).unwrap_or_default();
            if strip < columns && !of_lost.is_empty() {
                for &other in needed.iter().chain(parity) {
                    read.entry(other).or_default().extend(&of_lost);
                }
            }
        }
        read.retain(|_, places| !places.is_empty());
        read
    }

    fn phases_of_read(&mut self, stripe: u64, wanted: &Places) -> Vec<Phase> {
        let read = in_order(&self.readable(stripe, wanted));
        let lost = self.lost_strips(stripe);
        let reconstructed: usize = lost.iter().filter_map(|strip| wanted.get(strip)).map(BTreeSet::len).sum();
        if reconstructed > 0 {
            let counters = &mut self.stripes().counters;
            counters.pages_reconstructed += reconstructed as u64;
            counters.pages_read_to_reconstruct += (read.len() - (in_order(wanted).len() - reconstructed)) as u64;
        }
        vec![Phase { write: false, pages: self.on_members(stripe, &read), to_spare: None }]
    }

    /// Returns the phases of a write (rules 53 and 60).
    fn phases_of_write(&mut self, number: usize, written: &Places) -> Vec<Phase> {
        let stripe = self.stripes().operations[number].stripe;
        let params = &self.case.params;
        let strips = params.members as usize;
        let columns = data_columns(params);
        let all: BTreeSet<u64> = written.values().flatten().copied().collect();
        let parity = || (columns..strips).map(|strip| (strip, all.clone()));
        let of = |column: usize| written.get(&column).cloned().unwrap_or_default();
        let reconstruct = self.readable(stripe, &(0..columns).map(|column| (column, &all - &of(column))).collect());
        let read_modify = self.readable(stripe, &written.clone().into_iter().chain(parity()).collect());
        let keeps_parity = !self.parity_left(stripe).is_empty() && !self.is_dead(stripe);
        let is_dead = self.is_dead(stripe);
        let (reconstruct, read_modify) = (in_order(&reconstruct), in_order(&read_modify));
        let mut in_time = 0;
        let is_reconstruct = match reconstruct.len() <= read_modify.len() {
            way if self.plans_stripes() && keeps_parity && !reconstruct.is_empty() => {
                let (first, second) = if way { (&reconstruct, &read_modify) } else { (&read_modify, &reconstruct) };
                let delay = self.delay_of_other_way(stripe, first, second);
                in_time = delay.unwrap_or(0);
                way != delay.is_some()
            }
            way => way,
        };
        let counters = &mut self.stripes.as_mut().expect("section 12 applies").counters;
        let reads = if !keeps_parity {
            counters.no_parity_writes += 1;
            Vec::new()
        } else if reconstruct.is_empty() {
            counters.full_stripe_writes += 1;
            Vec::new()
        } else if is_reconstruct {
            counters.reconstruct_writes += 1;
            reconstruct
        } else {
            counters.read_modify_writes += 1;
            read_modify
        };
        let writes = if is_dead { in_order(written) } else { in_order(&written.clone().into_iter().chain(parity()).collect()) };
        if in_time > 0 {
            self.reads_later(number, &reads, in_time);
            return vec![Phase { write: true, pages: self.on_members(stripe, &writes), to_spare: None }];
        }
        let read_first = (!reads.is_empty()).then_some((false, reads));
        let phases = read_first.into_iter().chain([(true, writes)]);
        phases.map(|(write, pages)| Phase { write, pages: self.on_members(stripe, &pages), to_spare: None }).collect()
    }

    /// Returns the phases of the rebuilding of a strip (rules 62 and 158).
    fn phases_of_rebuild(&mut self, stripe: u64, failure: usize) -> Vec<Phase> {
        let params = &self.case.params;
        let Failure { params: MemberFailure { member, .. }, spare, .. } =
            self.stripes.as_ref().expect("section 12 applies").failures[failure];
        let failed = member as usize;
        let places = || 0..u64::from(params.stripe_unit_pages);
        let all_places = |members: Vec<usize>| members.into_iter().flat_map(|member| places().map(move |place| (member, place))).collect();
        let read: Option<Vec<usize>> = match params.level {
            RaidLevel::Raid1 => self.copy_to_read(stripe).map(|copy| vec![copy]),
            RaidLevel::Raid10 => self.copy_to_read(stripe * u64::from(params.members / 2) + failed as u64 / 2).map(|copy| vec![copy]),
            _ => (!self.is_dead(stripe)).then(|| {
                let columns = data_columns(params);
                let lost = self.lost_strips(stripe);
                let lost_columns = lost.iter().filter(|&&strip| strip < columns).count();
                let others = (0..columns).filter(|strip| !lost.contains(strip));
                let strips = others.chain(self.parity_left(stripe).into_iter().take(lost_columns));
                strips.map(|strip| member_of(params, stripe, strip)).collect()
            }),
        };
        let Some(read) = read else {
            let number = self.stripes().locks[&stripe].held_by[0];
            self.stripes().operations[number].gave_up = true;
            return vec![Phase { write: true, pages: Vec::new(), to_spare: spare }];
        };
        vec![
            Phase { write: false, pages: all_places(read), to_spare: None },
            Phase { write: true, pages: all_places(vec![failed]), to_spare: spare },
        ]
    }
}

// Failure and rebuild (rules 58 and 62 to 65, 153 and 154).
impl Simulation<'_> {
    pub(super) fn expect_failure(&mut self) {
        for at_ns in failures_in_order(&self.case.params).iter().map(|failure| failure.params.at.ns) {
            self.schedule_failure(at_ns);
        }
    }

    /// The next member fails.
    pub(super) fn fails(&mut self) {
        if self.run_is_over() {
            return;
        }
        let failure = self.stripes().failures.iter_mut().find(|failure| !failure.failed).expect("a member fails");
        failure.failed = true;
        let member = failure.params.member as usize;
        self.controller_loses(member);
        self.caches_lose(member);
        if let Some(rebuild) = self.case.params.rebuild {
            self.schedule_rebuild(rebuild.settings.delay.ns);
        }
    }

    /// Begins to rebuild the next stripe of the first member of which one is due.
    pub(super) fn rebuild_next(&mut self) {
        let params = &self.case.params;
        let Some(rebuild) = params.rebuild else { return };
        if self.run_is_over() && !rebuild.settings.finish {
            return;
        }
        let all = layout::stripes(params);
        let now = self.now;
        let flushed = self.caches.as_ref().is_some_and(Caches::are_flushed);
        let is_due = |failure: &Failure| match failure.last_began_ns {
            _ if !failure.failed || failure.spare.is_none() => false,
            None => now >= failure.params.at.ns + rebuild.settings.delay.ns && !flushed,
            Some(last) => {
                last + rebuild.strip_interval_min_ns <= now
                    && failure.rebuilding < rebuild.settings.in_flight
                    && failure.next_to_rebuild < all
            }
        };
        let Some(at) = self.stripes().failures.iter().position(is_due) else { return };
        let failure = &mut self.stripes().failures[at];
        let (member, spare) = (failure.params.member as usize, failure.spare.expect("it is due"));
        let begins = failure.last_began_ns.is_none();
        let stripe = failure.next_to_rebuild;
        failure.next_to_rebuild += 1;
        failure.rebuilding += 1;
        failure.last_began_ns = Some(now);
        if begins {
            self.controller_gets_spare(member, spare);
        }
        let number = self.new_operation(stripe, What::Rebuild { failure: at }, None, OpKind::Write, false);
        self.asks_for_lock(number);
        self.schedule_rebuild(rebuild.strip_interval_min_ns);
        // Another may be due.
        self.schedule_rebuild(0);
    }
}
