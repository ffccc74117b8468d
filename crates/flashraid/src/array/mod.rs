//! The array: requests to page operations of its members and back.
//!
//! Three verbs drive it: [`Array::submit`], [`Array::next_time`], [`Array::advance`]. Time comes from the caller.

mod ahead;
#[cfg(test)]
mod cache_tests;
mod caching;
mod coordination;
mod counters;
mod demand;
mod failure;
mod locks;
mod members;
mod params;
mod stripe_pages;
mod stripes;
#[cfg(test)]
mod tests;

use crate::TimeNs;
use crate::cache::{Cache, CacheCounters, HostDone, MemberRun, Order};
use crate::coordination::KINDS;
pub use crate::layout::{Layout, Level, PageRequest, Run};
use crate::metrics::{DestageInterval, GcInterval};
use crate::ssd::{Effects, Hint, Ssd};
use crate::workload::{Direction, Request};
use ahead::Ahead;
use caching::{Caching, Record};
use coordination::Coordination;
pub use counters::StripeCounters;
pub use demand::Demand;
use failure::Step;
pub use failure::{FailureProgress, Service};
use members::{Access, Followed, Members, Then, Wake};
pub use params::*;
use stripes::Stripes;

/// Members that an array may have, the spare included: the members that a request met in collection are kept as bits.
pub const MEMBERS_MAX: u32 = 128;

/// The pages that `request` touches, or `None` if it is empty or reaches beyond `exported_pages`.
#[inline]
pub fn pages_of(request: &Request, page_bytes: u64, exported_pages: u64) -> Option<PageRequest> {
    let first_page = request.offset_bytes / page_bytes;
    let end_page = request.offset_bytes.checked_add(request.length_bytes)?.div_ceil(page_bytes);
    if request.length_bytes == 0 || end_page > exported_pages {
        return None;
    }
    Some(PageRequest {
        tag: 0,
        first_page,
        pages: u32::try_from(end_page - first_page).ok()?,
        write: request.direction == Direction::Write,
        high_priority: request.high_priority,
        one_member: request.one_member,
    })
}

/// A request that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The request's tag.
    pub tag: u64,
    /// When its last page was done.
    pub at: TimeNs,
    /// Members on which a page of it waited for garbage collection.
    pub gc_members_met: u32,
}

/// An array of SSDs.
#[derive(Debug, Clone)]
pub struct Array {
    layout: Layout,
    members: Members,
    ahead: Ahead,
    coordination: Option<Coordination>,
    /// What parity, or a member that fails, needs; without them it does not exist.
    stripes: Option<Box<Stripes>>,
    caching: Option<Box<Caching>>,
    /// The spare that stays as filled.
    fresh_spare: bool,
    /// All events before this moment have happened.
    advanced_before: TimeNs,
}

impl Array {
    /// An array of filled members, a spare behind them if one is to be rebuilt; `seed` names the random streams of victim policies
    /// that draw.
    pub fn new(params: &ArrayParams, seed: u64) -> Self {
        let member = |number| {
            let mut member = Ssd::new(&params.ssd, seed, number, params.coordination.is_some());
            // The spare knows the protocol if the member does whose place it takes.
            let place = params.failure.filter(|_| number == params.members).map_or(number, |failure| failure.member);
            if let Some(coordination) = &params.coordination
                && coordination.capable >> place & 1 == 1
            {
                member.join_protocol(coordination.t_soft_free_blocks);
            }
            member
        };
        let spare = params.failure.and_then(|failure| failure.rebuild).map(|rebuild| rebuild.spare);
        Self {
            layout: params.layout(),
            members: Members::new((0..params.members + u32::from(spare.is_some())).map(member).collect()),
            ahead: Ahead::default(),
            coordination: params.coordination.as_ref().map(Coordination::new),
            stripes: Stripes::of(params).map(Box::new),
            caching: params.cache.map(|cache| Box::new(Caching::new(Cache::new(&cache, params.layout(), params.members)))),
            fresh_spare: spare == Some(Spare::Fresh),
            advanced_before: 0,
        }
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u32 {
        self.members.ssds[0].ftl().geometry.page_bytes
    }

    /// Free blocks of a pool at which it is collected.
    pub fn start_free_blocks(&self) -> u32 {
        self.members.ssds[0].ftl().start_free_blocks
    }

    /// How addresses spread over the members.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether there is a write cache.
    pub fn has_cache(&self) -> bool {
        self.caching.is_some()
    }

    /// The members, the spare behind them.
    pub fn members(&self) -> &[Ssd] {
        &self.members.ssds
    }

    /// The members, for loading warm states before the first request.
    pub fn members_mut(&mut self) -> &mut [Ssd] {
        &mut self.members.ssds
    }

    /// The members that are to be warmed up before the first request: all but a fresh spare.
    pub fn members_to_warm_up(&mut self) -> &mut [Ssd] {
        let count = self.members.ssds.len() - usize::from(self.fresh_spare);
        &mut self.members.ssds[..count]
    }

    /// What the array does about a failed member.
    #[inline]
    pub fn service(&self) -> Service {
        self.stripes.as_ref().map_or(Service::Normal, |stripes| stripes.service())
    }

    /// How far the failure of a member and its rebuilding have come, if one is to fail.
    pub fn failure_progress(&self) -> Option<FailureProgress> {
        self.stripes.as_ref().and_then(|stripes| stripes.progress())
    }

    /// Counts of parity, locks and rebuilding; `None` for an array that has none of them.
    pub fn stripe_counters(&self) -> Option<StripeCounters> {
        self.stripes.as_ref().map(|stripes| stripes.counters)
    }

    /// Takes a request; may start flash operations.
    #[inline]
    pub fn submit(&mut self, now: TimeNs, request: &PageRequest) {
        let moment_is_over = now < self.advanced_before;
        if let Some(caching) = &mut self.caching {
            caching.cache.submit(now, request);
            self.carry_out(now, moment_is_over);
            return;
        }
        if let Some(coordination) = &mut self.coordination {
            coordination.request_arrives(now);
        }
        let access = Access { now, write: request.write, high_priority: request.high_priority, moment_is_over };
        self.issue(&access, self.layout.runs(request), request.one_member, Then::Host(request.tag));
        self.settle();
    }

    /// Reads or writes pages of the array, with all that parity and a lost member make of it; [`Array::settle`] must follow.
    /// Runs that follow one another in the same stripe are written together, with `by_strip` each strip for itself.
    #[inline]
    fn issue(&mut self, access: &Access, runs: impl Iterator<Item = Run>, by_strip: bool, then: Then) {
        if self.stripes.is_none() && self.members.are_eager() {
            self.serve(access.now, access.write, runs, then);
            return;
        }
        let join = self.members.open_join(then);
        let ends = match &mut self.stripes {
            Some(stripes) if stripes.concern(access) => stripes.submit(access, runs, by_strip, join, &mut self.members),
            _ => self.issue_directly(access, runs, join),
        };
        self.members.close_join(join, ends);
    }

    /// The same on eager members without stripes, whose ends are known at once.
    #[inline(always)]
    fn serve(&mut self, now: TimeNs, write: bool, runs: impl Iterator<Item = Run>, then: Then) {
        let join = self.members.open_join(then);
        let Members { ssds, joins, cleans, .. } = &mut self.members;
        let (mut last_end, mut gc_members) = (0, 0);
        for run in runs {
            let members = run.members(write);
            for page in run.first_page..run.first_page + run.pages {
                for member in members.clone() {
                    let ssd = &mut ssds[member as usize];
                    let (die, slot) = ssd.home(page);
                    let (end, met_gc) = ssd.serve_now(now, die, slot, write, cleans);
                    last_end = last_end.max(end);
                    gc_members |= u128::from(met_gc) << member;
                }
            }
        }
        joins[join].gc_members = gc_members;
        self.members.joined(join, then, last_end);
    }

    /// Carries out what the cache has ordered.
    fn carry_out(&mut self, now: TimeNs, moment_is_over: bool) {
        let Some(mut caching) = self.caching.take_if(|caching| caching.cache.has_orders()) else { return };
        let Caching { cache, turns, record } = &mut *caching;
        let orders = cache.orders();
        for order in &orders.list {
            match *order {
                Order::Wake { at, wake } => self.members.wake_cache(at, turns.give(), wake),
                Order::Array { runs: (from, to), write, token } => {
                    self.operation_begins(now);
                    let layout = self.layout;
                    let runs = || {
                        orders.array_runs[from as usize..to as usize].iter().flat_map(|run| {
                            let (first_page, pages) = (run.first_page, run.pages);
                            layout.runs(&PageRequest { tag: 0, first_page, pages, write, high_priority: false, one_member: false })
                        })
                    };
                    let access = Access { now, write, high_priority: false, moment_is_over };
                    if let Some(record) = record {
                        record.begin(
                            now,
                            token,
                            runs().map(|run| (run.first_member, run.first_page, run.pages, run.copies)),
                            &layout,
                            self.serving(),
                        );
                    }
                    self.issue(&access, runs(), false, Then::Cache { token, order: turns.give() });
                }
                Order::Members { runs: (from, to), write, token } => {
                    self.operation_begins(now);
                    let access = Access { now, write, high_priority: false, moment_is_over };
                    let runs = &orders.member_runs[from as usize..to as usize];
                    if let Some(record) = record {
                        record.begin(
                            now,
                            token,
                            runs.iter().map(|run| (run.member, run.first_page, run.pages, 1)),
                            &self.layout,
                            self.serving(),
                        );
                    }
                    self.issue_on_members(&access, runs, Then::Cache { token, order: turns.give() });
                }
            }
        }
        cache.clear_orders();
        self.caching = Some(caching);
        self.settle();
    }

    /// Names the member that has the strip of a member in a stripe, if one does.
    fn serving(&self) -> impl Fn(u32, u64) -> Option<u32> {
        let stripes = self.stripes.as_deref();
        move |member, stripe| stripes.map_or(Some(member), |stripes| stripes.serving(member, stripe))
    }

    /// The controller counts what goes to the members: with a cache, its operations.
    fn operation_begins(&mut self, now: TimeNs) {
        if let Some(coordination) = &mut self.coordination {
            coordination.request_arrives(now);
        }
    }

    /// Reads or writes pages of members, without parity.
    fn issue_on_members(&mut self, access: &Access, runs: &[MemberRun], then: Then) {
        if self.stripes.is_none() && self.members.are_eager() {
            let as_one =
                |run: &MemberRun| Run { first_member: run.member, copies: 1, read_copy: 0, first_page: run.first_page, pages: run.pages };
            self.serve(access.now, access.write, runs.iter().map(as_one), then);
            return;
        }
        let join = self.members.open_join(then);
        let mut operations = 0;
        for run in runs {
            operations += match &self.stripes {
                Some(stripes) => stripes.issue_on_members(access, run, join, &mut self.members),
                None => {
                    for page in run.first_page..run.first_page + run.pages {
                        self.members.submit(access, run.member, page, join);
                    }
                    run.pages
                }
            };
        }
        self.members.close_join(join, operations);
    }

    /// Page operations on the members that the layout names; returns their number.
    #[inline]
    fn issue_directly(&mut self, access: &Access, runs: impl Iterator<Item = Run>, join: u32) -> u32 {
        let mut operations = 0;
        for run in runs {
            let members = run.members(access.write);
            operations += run.pages * members.len() as u32;
            for page in run.first_page..run.first_page + run.pages {
                for member in members.clone() {
                    self.members.submit(access, member, page, join);
                }
            }
        }
        operations
    }

    /// Overwrites the pages of a request without time, for a warm-up by the workload's own addresses; returns their number.
    /// A request that does not fit the array writes nothing.
    pub fn overwrite_untimed(&mut self, request: &Request) -> u64 {
        let Some(pages) = pages_of(request, u64::from(self.page_bytes()), self.layout.exported_pages()) else { return 0 };
        if let Some(stripes) = &mut self.stripes {
            let spare = stripes.progress().and_then(|failure| Some((failure.member, failure.spare?)));
            stripes.overwrite_untimed(&pages, &mut self.members.ssds, spare.filter(|_| !self.fresh_spare));
            return u64::from(pages.pages);
        }
        for run in self.layout.runs(&pages) {
            for member in run.first_member..run.first_member + run.copies {
                for page in run.first_page..run.first_page + run.pages {
                    self.members.ssds[member as usize].overwrite_page_untimed(page);
                }
            }
        }
        u64::from(pages.pages)
    }

    /// Hints that `request` comes soon.
    #[inline]
    pub fn prefetch(&self, hint: Hint, request: &PageRequest) {
        for run in self.layout.runs(request) {
            for page in run.first_page..run.first_page + run.pages {
                self.members.ssds[run.first_member as usize].prefetch(hint, page);
            }
        }
    }

    /// The earliest pending moment.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        earlier(self.members.agenda.next_time(), self.next_own_time())
    }

    /// The next moment at which the array itself acts: the end of a phase, failure and rebuilding, messages.
    #[inline]
    fn next_own_time(&self) -> Option<TimeNs> {
        let mut next = self.coordination.as_ref().and_then(Coordination::next_time);
        if let Some(stripes) = &self.stripes {
            next = earlier(next, stripes.next_time());
        } else if self.caching.is_none() {
            return next;
        }
        if let Some(caching) = &self.caching {
            next = earlier(next, caching.cache.next_time());
        }
        earlier(next, self.members.next_followed())
    }

    /// Runs everything up to and including `until` and appends the requests that are done.
    #[inline]
    pub fn advance(&mut self, until: TimeNs, done: &mut Vec<Done>) {
        loop {
            // What the array does at a nanosecond comes after what happens in the members (rules 42 and 55).
            let own_at = self.next_own_time().filter(|&at| at <= until);
            if let Some((now, wake)) = self.members.agenda.pop_due(own_at.unwrap_or(until)) {
                match wake {
                    Wake::Joined(join) => {
                        let join = self.members.joins.remove(join);
                        if let Some(coordination) = &mut self.coordination {
                            coordination.controller.request_done(now);
                        }
                        let Then::Host(tag) = join.then else { unreachable!("what follows in the array is no event of the agenda") };
                        done.push(Done { tag, at: now, gc_members_met: join.gc_members.count_ones() });
                    }
                    Wake::Member(member, wake) => {
                        self.members.with(member, false, |ssd, fx| ssd.wake(now, wake, fx));
                        self.settle();
                    }
                }
            } else if let Some(now) = own_at {
                self.act(now, done);
            } else {
                break;
            }
        }
        self.advanced_before = until.saturating_add(1);
    }

    /// What the array itself does next, now: ends of phases first, then the cache's events, messages last.
    fn act(&mut self, now: TimeNs, done: &mut Vec<Done>) {
        if let Some(followed) = self.members.pop_followed(now) {
            match followed {
                Followed::Wake(wake) => self.cache_event(now, done, |caching, _| caching.cache.wake(now, wake)),
                Followed::Join(join) => match join.then {
                    Then::Stripe { operation, .. } => {
                        let stripes = self.stripes.as_mut();
                        let rebuilt = stripes.and_then(|stripes| stripes.phase_ended(now, operation, &join, &mut self.members));
                        if let (Some(stripe), Some(caching)) = (rebuilt, &mut self.caching) {
                            caching.cache.strip_rebuilt(stripe);
                        }
                    }
                    Then::Cache { token, .. } => {
                        if let Some(coordination) = &mut self.coordination {
                            coordination.controller.request_done(now);
                        }
                        self.cache_event(now, done, |caching, members| caching.ended(now, token, join.gc_members, members));
                    }
                    Then::Host(_) => unreachable!("the end of a host request is an event of the agenda"),
                },
            }
        } else if let Some(stripes) = self.stripes.as_mut().filter(|stripes| stripes.next_time() == Some(now)) {
            let step = stripes.step(now, &mut self.members);
            if let (Some(Step::Fails(member)), Some(caching)) = (step, &mut self.caching) {
                caching.cache.member_failed(now, member);
                stripes.set_flushing(now, !caching.cache.is_flushed());
            }
            if let Some(coordination) = &mut self.coordination {
                match step {
                    Some(Step::Fails(member)) => coordination.controller.lose(member),
                    Some(Step::Replaced { failed, spare }) => coordination.controller.replace(failed, spare),
                    _ => {}
                }
            }
            self.carry_out(now, true);
        } else if let Some(caching) = self.caching.as_mut().filter(|caching| caching.cache.next_time() == Some(now)) {
            caching.cache.step(now);
            self.carry_out(now, true);
        } else if let Some(coordination) = &mut self.coordination
            && let Some((member, message)) = coordination.step(now)
        {
            self.members.with(member, true, |ssd, fx| ssd.receive(now, message, fx));
        }
        self.settle();
    }

    /// Tells the cache of something that it waited for.
    #[inline]
    fn cache_event(&mut self, now: TimeNs, done: &mut Vec<Done>, tell: impl FnOnce(&mut Caching, &mut Members) -> Option<HostDone>) {
        let Some(caching) = &mut self.caching else { return };
        let was_flushing = caching.cache.is_flushing();
        let host = tell(caching, &mut self.members);
        if was_flushing
            && caching.cache.is_flushed()
            && let Some(stripes) = &mut self.stripes
        {
            stripes.set_flushing(now, false);
        }
        done.extend(host.map(|host| Done { tag: host.tag, at: now, gc_members_met: host.gc_members.count_ones() }));
        self.carry_out(now, true);
    }

    /// What the cache has counted until `now`, and the pages that fit into it; `None` without a cache.
    pub fn cache_counters(&mut self, now: TimeNs) -> Option<(CacheCounters, u64)> {
        self.caching.as_mut().map(|caching| (caching.cache.counters(now), caching.cache.room_pages()))
    }

    /// Keeps what every member gets of every destage, for [`Array::take_destages`].
    pub fn record_destages(&mut self) {
        if let Some(caching) = &mut self.caching {
            caching.record = Some(Record::default());
            self.members.record_ends();
        }
    }

    /// Takes the destages that are done since the last call.
    pub fn take_destages(&mut self, act: impl FnMut(&DestageInterval)) {
        if let Some(record) = self.caching.as_mut().and_then(|caching| caching.record.as_mut()) {
            record.done.iter().for_each(act);
            record.done.clear();
        }
    }

    /// The cache counts from here on.
    pub fn restart_cache_counters(&mut self, now: TimeNs) {
        if let Some(caching) = &mut self.caching {
            caching.cache.restart_counters(now);
        }
    }

    /// Brings everything that has happened before `now` into the counters and the cleans: what nothing waits for is computed late.
    pub fn catch_up(&mut self, now: TimeNs) {
        self.for_each_member(|member, fx| member.catch_up_all(now, fx));
    }

    /// What members and controller have sent, and when.
    #[cfg(test)]
    pub(crate) fn message_log(&self) -> Vec<(TimeNs, crate::coordination::Mail)> {
        self.coordination.as_ref().map_or_else(Vec::new, |coordination| coordination.mailbox.log.clone())
    }

    /// Messages between members and controller so far, by kind.
    pub fn messages(&self) -> Option<[u64; KINDS]> {
        self.coordination.as_ref().map(|coordination| coordination.mailbox.sent())
    }

    /// The last request is done: after `now` no collection begins because a die or the array is idle (rules 38 and 46), no
    /// member fails, and as a rule no stripe begins to be rebuilt (rule 64).
    pub fn end_idle_collection(&mut self, now: TimeNs) {
        if let Some(stripes) = &mut self.stripes {
            stripes.requests_are_over();
        }
        if let Some(coordination) = &mut self.coordination {
            coordination.controller.end_checks();
        }
        self.for_each_member(|member, fx| member.end_idle_collection(now, fx));
    }

    fn for_each_member(&mut self, mut act: impl FnMut(&mut Ssd, &mut Effects<Wake>)) {
        for member in 0..self.members.ssds.len() as u32 {
            self.members.with(member, false, &mut act);
        }
        self.settle();
    }

    /// Books what the members have reported.
    #[inline]
    fn settle(&mut self) {
        if !self.members.notices.is_empty()
            && let Some(coordination) = &mut self.coordination
        {
            self.members.notices.drain(..).for_each(|notice| coordination.mailbox.post(&notice));
        }
        self.members.settle();
    }

    /// Moves the cleans recorded since the last call to `out`. Those of eager members are reported before they start.
    #[inline]
    pub fn take_cleans(&mut self, out: &mut Vec<GcInterval>) {
        out.append(&mut self.members.cleans);
    }

    /// Every clean that starts before this moment, or before `now` if nothing is open, has been reported.
    pub fn cleans_known_until(&self, now: TimeNs) -> TimeNs {
        self.members.ssds.iter().filter_map(Ssd::oldest_open_clean).fold(now, TimeNs::min)
    }

    /// Verifies the whole state; used by tests and `--check`.
    ///
    /// # Errors
    /// A sentence that names the member and the first invariant that does not hold.
    pub fn verify(&self) -> Result<(), String> {
        if let Some(caching) = &self.caching {
            caching.cache.verify().map_err(|error| format!("the cache: {error}"))?;
        }
        self.members.ssds.iter().enumerate().try_for_each(|(m, ssd)| ssd.ftl().verify().map_err(|e| format!("member {m}: {e}")))
    }
}

#[inline]
fn earlier(one: Option<TimeNs>, other: Option<TimeNs>) -> Option<TimeNs> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
