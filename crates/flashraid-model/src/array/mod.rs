//! The array: requests to page operations of its members and back.
//!
//! Four verbs drive it: [`Array::submit`] and, for many at once, [`Array::submit_many`]; [`Array::next_time`]; [`Array::advance`], out of
//! which everything comes that an array tells. Time comes from the caller.
//!
//! Besides, a driver that wants them has calls for the beginning and the end ([`Array::record_destages`], [`Array::record_usage`],
//! [`Array::measure_usage_from`], [`Array::measure_usage_until`], [`Array::restart_cache_counters`], [`Array::end_idle_collection`], [`Array::catch_up`], [`Array::stop`]), hints that change nothing ([`Array::prefetch`]) and counters.

mod ahead;
#[cfg(test)]
mod cache_tests;
mod caching;
mod coordination;
mod counters;
mod events;
mod failure;
mod host_port;
mod locks;
mod members;
mod offered_load;
mod params;
mod ranked;
mod read_plan;
mod requests;
mod stripe_pages;
mod stripes;
#[cfg(test)]
mod tests;
mod volume;

use crate::TimeNs;
use crate::cache::{Cache, CacheCounters};
use crate::coordination::{CoordinationParams, KINDS, UncoordinatedCleans};
use crate::ids::MemberId;
pub use crate::placement::{Extent, Layout, Level, PageRequest};
use crate::request::OpKind;
use crate::ssd::{Busy, Hint, Shortcuts, Ssd};
use ahead::Ahead;
use caching::{Caching, Record};
use coordination::Coordination;
pub use counters::{HostCounters, StripeCounters};
use events::Outbox;
pub use events::{Done, Event};
pub use failure::{FailureProgress, Health};
use host_port::HostPort;
pub use host_port::HostPortCounters;
use members::{Access, Continuation, Issued, Members, PagesGiven, Wake};
pub use offered_load::OfferedLoad;
pub use params::*;
pub use read_plan::{Copies, ReadPlan};
pub use requests::{SubmitError, pages_of};
use stripes::Stripes;
use volume::Volume;

/// Members that an array may have, spares included: the members that a request met in collection are kept as bits.
pub const MEMBERS_MAX: u32 = 128;

/// An array of SSDs.
#[derive(Debug, Clone)]
pub struct Array {
    /// Limits of the controller towards the host, if it has any.
    port: Option<Box<HostPort>>,
    /// The write cache, if there is one.
    caching: Option<Box<Caching>>,
    /// The members, and what parity and failures make of operations on them.
    volume: Volume,
    /// Who collects when, if anybody asks.
    coordination: Option<Coordination>,
    ahead: Ahead,
    /// All events before this moment have happened.
    advanced_before: TimeNs,
    /// What has been asked for last, came then.
    last_arrival_ns: TimeNs,
    outbox: Outbox,
    host: HostCounters,
}

impl Array {
    /// An array of filled members, spares behind them if some are to be rebuilt; `seed` names the random streams of victim policies
    /// that draw.
    pub fn new(params: &ArrayParams, seed: u64) -> Self {
        Self::with_shortcuts(params, seed, Shortcuts::default())
    }

    /// The same with or without the shortcuts, which change nothing but the time it takes.
    pub fn with_shortcuts(params: &ArrayParams, seed: u64, shortcuts: Shortcuts) -> Self {
        Self::make(params, seed, shortcuts, &mut || true).expect("nobody says no")
    }

    /// The same, ended before its time when `go_on`, which is asked before each member, says no: large members take a while to fill.
    pub fn new_while(params: &ArrayParams, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Option<Self> {
        Self::make(params, seed, Shortcuts::default(), go_on)
    }

    fn make(params: &ArrayParams, seed: u64, shortcuts: Shortcuts, go_on: &mut dyn FnMut() -> bool) -> Option<Self> {
        let member = |number| Ssd::new(&params.ssd, seed, MemberId(number), params.coordination.is_some(), shortcuts);
        let (spares, _) = params.spares();
        let filled = (0..params.members + spares).map(|number| go_on().then(|| member(number)));
        let mut members = Members::new(filled.collect::<Option<_>>()?);
        if params.coordination.as_ref().is_some_and(CoordinationParams::counts_pages) {
            members.pages_given = Some(Box::new(PagesGiven::new(members.ssds.len())));
        }
        for member in 0..members.ssds.len() as u32 {
            // What they leave is taken at the first step.
            let _issued = members.with(member, |ssd, out| {
                // A spare becomes aware when it replaces a member that is.
                if let Some(coordination) = params.coordination.as_ref().filter(|c| member < params.members && c.is_ggc_aware(member)) {
                    ssd.become_ggc_aware(0, coordination.role(), out);
                }
                ssd.begin(out);
            });
        }
        Some(Self {
            port: params.host_port.map(|port| Box::new(HostPort::new(port, params.ssd.geometry.page_bytes))),
            caching: params.cache.map(|cache| Box::new(Caching::new(Cache::new(&cache, params.layout(), params.members)))),
            volume: Volume {
                layout: params.layout(),
                read_plan: params.read_plan,
                members,
                stripes: Stripes::of(params).map(Box::new),
                fresh_spares: spares - params.warm_spares(),
            },
            coordination: params.coordination.as_ref().map(|coordination| Coordination::new(coordination, &params.ssd.pools())),
            ahead: Ahead::default(),
            advanced_before: 0,
            last_arrival_ns: 0,
            outbox: Outbox::default(),
            host: HostCounters::default(),
        })
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u32 {
        self.volume.members.ssds[0].ftl().geometry.page_bytes
    }

    /// Free blocks of a pool at which it is collected.
    #[inline]
    pub fn start_free_blocks(&self) -> u32 {
        self.volume.members.ssds[0].ftl().start_free_blocks
    }

    /// How addresses spread over the members.
    pub fn layout(&self) -> &Layout {
        &self.volume.layout
    }

    /// Whether and until when collection keeps a read of logical page `page` of `member` waiting, as far as can be told at `now`.
    pub fn busy(&self, now: TimeNs, member: MemberId, page: u32) -> Busy {
        self.volume.members.ssds[member.index()].busy(now, page)
    }

    /// Whether there is a write cache.
    pub fn has_cache(&self) -> bool {
        self.caching.is_some()
    }

    /// The members, spares behind them.
    pub fn members(&self) -> &[Ssd] {
        &self.volume.members.ssds
    }

    /// The members, for loading warm states before the first request.
    pub fn members_mut(&mut self) -> &mut [Ssd] {
        &mut self.volume.members.ssds
    }

    /// The members that are to be warmed up before the first request: all but fresh spares.
    pub fn members_to_warm_up(&mut self) -> &mut [Ssd] {
        let count = self.volume.members.ssds.len() - self.volume.fresh_spares as usize;
        &mut self.volume.members.ssds[..count]
    }

    /// The health of the array.
    #[inline]
    pub fn health(&self) -> Health {
        self.volume.stripes.as_ref().map_or(Health::Normal, |stripes| stripes.health())
    }

    /// How far the failures of members and their rebuilding have come, in order of time, those that are to come included.
    pub fn failure_progress(&self) -> Vec<FailureProgress> {
        self.volume.stripes.as_ref().map_or_else(Vec::new, |stripes| stripes.progress())
    }

    /// Counts of parity, locks and rebuilding; `None` for an array that has none of them.
    pub fn stripe_counters(&self) -> Option<StripeCounters> {
        self.volume.stripes.as_ref().map(|stripes| stripes.counters)
    }

    /// Takes an operation that comes now; may start flash operations. Its end is an [`Event::Done`].
    ///
    /// # Errors
    /// It has no pages, or reaches beyond the array; nothing has happened then.
    #[inline]
    pub fn submit(&mut self, now: TimeNs, request: &PageRequest) -> Result<(), SubmitError> {
        self.check(request)?;
        debug_assert!(now.saturating_add(1) >= self.advanced_before && now >= self.last_arrival_ns, "time does not go back");
        self.last_arrival_ns = now;
        self.host.count(request.kind);
        let moment_is_over = now < self.advanced_before;
        let Some(port) = &mut self.port else {
            let issued = self.begin(now, request, moment_is_over);
            self.drain(issued);
            return Ok(());
        };
        let begins = port.arrives(now, request);
        if self.caching.is_none() {
            self.operation_begins(now);
        }
        if let Some(request) = begins {
            let issued = self.begin(now, &request, moment_is_over);
            self.drain(issued);
        }
        Ok(())
    }

    /// Takes operations that come now and later, in order of time. The same happens as if each were submitted at its time and everything
    /// before it had happened; where nothing that happens can change what arrives, many are served together, which is faster.
    ///
    /// # Errors
    /// As [`Array::submit`]; the operations before the one in question have been taken.
    pub fn submit_many(&mut self, operations: &[(TimeNs, PageRequest)]) -> Result<(), SubmitError> {
        if self.takes_ahead() {
            let checked = operations.iter().try_for_each(|(at, request)| {
                self.check(request)?;
                debug_assert!(at.saturating_add(1) >= self.advanced_before && *at >= self.last_arrival_ns, "time does not go back");
                self.last_arrival_ns = *at;
                self.host.count(request.kind);
                self.ahead.take(&mut self.volume, *at, request);
                Ok(())
            });
            self.ahead.serve(&mut self.volume.members);
            return checked;
        }
        let mut held = std::mem::take(&mut self.outbox.held);
        let taken = operations.iter().try_for_each(|(at, request)| {
            self.check(request)?;
            if let Some(before) = at.checked_sub(1) {
                let begin = held.len();
                self.run(before, begin, &mut held);
            }
            self.submit(*at, request)
        });
        // Some collections become known late.
        held.sort_by_key(Event::key);
        self.outbox.held = held;
        taken
    }

    /// Whether requests may be taken before their turn: nothing that happens can change what arrives.
    #[inline]
    pub fn takes_ahead(&self) -> bool {
        let Self { port, caching, volume, coordination, .. } = self;
        let is_plain = port.is_none() && caching.is_none() && volume.stripes.is_none() && coordination.is_none();
        is_plain && volume.members.ssds[0].is_immediate()
    }

    /// Lets up to `threads` threads serve what is taken ahead, each of them at least `operations` operations or, if none are named, as
    /// many as are worth a thread. This changes no result: members know nothing of each other, and what they tell is put together in
    /// their order.
    pub fn serve_ahead_by(&mut self, threads: usize, operations: Option<usize>) {
        self.ahead.serve_by(threads, operations);
    }

    #[inline]
    fn check(&self, request: &PageRequest) -> Result<(), SubmitError> {
        let exported_pages = self.volume.layout.exported_pages();
        if request.pages == 0 && matches!(request.kind, OpKind::Read | OpKind::Write) {
            return Err(SubmitError::Empty);
        }
        match request.first_page.checked_add(u64::from(request.pages)) {
            Some(end) if end <= exported_pages => Ok(()),
            _ => Err(SubmitError::BeyondTheArray { first_page: request.first_page, pages: request.pages, exported_pages }),
        }
    }

    /// A request that nothing holds back.
    #[inline]
    fn begin(&mut self, now: TimeNs, request: &PageRequest, moment_is_over: bool) -> Issued {
        if request.pages > 0
            && let Some(caching) = &mut self.caching
        {
            caching.tell(now, &mut self.volume, |caching, _| caching.cache.submit(now, request));
            return self.cache_begins_operations(now, moment_is_over);
        }
        if self.counts_operations() {
            self.operation_begins(now);
        }
        let PageRequest { kind, fua, high_priority, stream: source, .. } = *request;
        let access = Access { now, kind, fua, high_priority, source, moment_is_over };
        let continuation = Continuation::Host(request.tag);
        if request.pages > 0 {
            let layout = self.volume.layout;
            self.volume.issue(&access, layout.extents(request), request.one_member, continuation)
        } else if kind == OpKind::Flush && self.volume.members.ssds[0].takes_flushes() {
            // The members' write buffers may forget (rule 208).
            self.volume.issue_everywhere(&access, continuation)
        } else {
            self.volume.issue_nothing(now, continuation)
        }
    }

    /// Whether the controller counts operations on the array; else requests on their way through the host port.
    #[inline]
    fn counts_operations(&self) -> bool {
        self.port.is_none() || self.caching.is_some()
    }

    /// The controller counts what goes to the members: with a cache, its operations.
    #[inline]
    fn operation_begins(&mut self, now: TimeNs) {
        if let Some(coordination) = &mut self.coordination {
            coordination.request_arrives(now);
        }
    }

    #[inline]
    fn operation_ends(&mut self, now: TimeNs) {
        if let Some(coordination) = &mut self.coordination {
            coordination.request_done(now);
        }
    }

    /// Overwrites the pages of writes without time, for a warm-up by the workload's own addresses. Many at a time are faster: the members are written one after
    /// the other, and die by die.
    pub fn overwrite_untimed(&mut self, requests: &[PageRequest]) {
        self.volume.overwrite_untimed(requests);
    }

    /// Hints that `request` comes soon.
    #[inline]
    pub fn prefetch(&self, hint: Hint, request: &PageRequest) {
        if self.volume.members.ssds[0].is_drive() {
            return;
        }
        for extent in self.volume.layout.extents(request) {
            for page in extent.first_page..extent.first_page + extent.pages {
                self.volume.members.ssds[extent.first_member as usize].prefetch(hint, page);
            }
        }
    }

    /// The earliest pending moment. The end of a collection is none by itself: nothing happens then.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        let next = self.next_part_time();
        let Some(held) = self.outbox.held.first() else { return next };
        Some(next.map_or(held.at(), |at| at.min(held.at())))
    }

    /// The latest end that is known of what the members have taken.
    pub fn busy_until(&self) -> TimeNs {
        self.volume.members.ssds.iter().map(crate::ssd::Ssd::busy_until).max().unwrap_or(0)
    }

    /// Runs everything up to and including `until` and appends what has happened, in order of [`Event::key`]. Collections are reported
    /// at their end; those of which nothing that happens depends may come with a later call, as [`Array::catch_up`] says.
    #[inline]
    pub fn advance(&mut self, until: TimeNs, events: &mut Vec<Event>) {
        let begin = events.len();
        if !self.outbox.held.is_empty() {
            let due = self.outbox.held.partition_point(|event| event.at() <= until);
            events.extend(self.outbox.held.drain(..due));
        }
        self.run(until, begin, events);
    }

    /// Runs everything up to and including `until`; `events` are in order from `begin` on, before and after.
    #[inline]
    fn run(&mut self, until: TimeNs, begin: usize, events: &mut Vec<Event>) {
        self.run_parts(until, events);
        let Self { outbox, volume, caching, .. } = self;
        outbox.report(until, &mut volume.members.told.collections, caching.as_deref_mut(), begin, events);
    }

    /// What the limits towards the host have cost until `now`; `None` without limits.
    pub fn host_port_counters(&self, now: TimeNs) -> Option<HostPortCounters> {
        self.port.as_ref().map(|port| port.counters_at(now))
    }

    /// What the cache has counted until `now`, and the pages that fit into it; `None` without a cache.
    pub fn cache_counters(&mut self, now: TimeNs) -> Option<(CacheCounters, u64)> {
        self.caching.as_mut().map(|caching| (caching.cache.counters(now), caching.cache.room_pages()))
    }

    /// Pages in the write cache; 0 without one.
    pub fn cached_pages(&self) -> u64 {
        self.caching.as_ref().map_or(0, |caching| caching.cache.cached_pages())
    }

    /// From now on every destage is an [`Event::Destage`] for each member that gets pages of it.
    pub fn record_destages(&mut self) {
        if let Some(caching) = &mut self.caching {
            caching.record = Some(Record::default());
            self.volume.members.record_ends();
        }
    }

    /// From now on it is recorded how each member is used over time ([`Ssd::usage`]); before the first operation.
    pub fn record_usage(&mut self) {
        self.volume.members.ssds.iter_mut().for_each(Ssd::record_usage);
    }

    /// What is recorded of how members are used counts until `now`.
    pub fn measure_usage_until(&mut self, now: TimeNs) {
        self.volume.members.ssds.iter_mut().for_each(|ssd| ssd.measure_usage_until(now));
    }

    /// What is recorded of how members are used counts from `now` on.
    pub fn measure_usage_from(&mut self, now: TimeNs) {
        self.volume.members.ssds.iter_mut().for_each(|ssd| ssd.measure_usage_from(now));
    }

    /// The cache counts from here on.
    pub fn restart_cache_counters(&mut self, now: TimeNs) {
        if let Some(caching) = &mut self.caching {
            caching.cache.restart_counters(now);
        }
    }

    /// Brings everything that has happened before `now` into the counters, and the collections that have ended into the next
    /// [`Array::advance`]: what nothing waits for is computed late.
    pub fn catch_up(&mut self, now: TimeNs) {
        let issued = self.volume.members.with_each(|member, out| member.catch_up_all(now, out));
        self.drain(issued);
    }

    /// The same with what has happened at `now`, at which no more requests come.
    pub fn catch_up_with(&mut self, now: TimeNs) {
        let issued = self.volume.members.with_each(|member, out| member.catch_up_with(now, out));
        self.drain(issued);
    }

    /// Lets a message arrive at a member as if the controller had sent it.
    #[cfg(test)]
    pub(crate) fn deliver(&mut self, at: TimeNs, member: u32, message: crate::coordination::ToMember) {
        self.coordination.as_mut().expect("there is a controller").mailbox.deliver(at, member, message);
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

    /// Collections of members that had asked and were not answered so far, if members ask before they must.
    pub fn uncoordinated_cleans(&self) -> Option<UncoordinatedCleans> {
        let coordination = self.coordination.as_ref()?;
        coordination.members_ask_softly.then(|| coordination.controller.uncoordinated_cleans())
    }

    /// The last request is done: after `now` no collection begins because a die or the array is idle (rules 38 and 46), no
    /// member fails, and as a rule no stripe begins to be rebuilt (rule 64).
    pub fn end_idle_collection(&mut self, now: TimeNs) {
        if let Some(stripes) = &mut self.volume.stripes {
            stripes.requests_are_over();
        }
        if let Some(coordination) = &mut self.coordination {
            coordination.controller.end_checks();
        }
        let issued = self.volume.members.with_each(|member, out| member.end_idle_collection(now, out));
        self.drain(issued);
        let Members { ssds, agenda, .. } = &mut self.volume.members;
        agenda.retain(|wake| match *wake {
            Wake::Completed(_) => true,
            Wake::Member(member, wake) => ssds[member as usize].expects_wake(wake),
        });
    }

    /// Nothing more is asked of the array: appends what is known of collections that have begun and end later, too, and what else has
    /// not been told.
    pub fn stop(&mut self, events: &mut Vec<Event>) {
        events.append(&mut self.outbox.held);
        let begin = events.len();
        self.outbox.report(TimeNs::MAX, &mut self.volume.members.told.collections, self.caching.as_deref_mut(), begin, events);
    }

    /// Every clean that starts before this moment, or before `now` if nothing is open, has been reported.
    pub fn cleans_known_until(&self, now: TimeNs) -> TimeNs {
        let open = self.volume.members.ssds.iter().filter_map(Ssd::oldest_open_clean).fold(now, TimeNs::min);
        let started = self.volume.members.told.collections.iter().map(|clean| clean.start_ns).chain(self.outbox.first_start());
        started.fold(open, TimeNs::min)
    }

    /// Trims and flushes so far.
    pub fn host_counters(&self) -> HostCounters {
        self.host
    }

    /// Verifies the whole state; used by tests and `--check`.
    ///
    /// # Errors
    /// A sentence that names the member and the first invariant that does not hold.
    pub fn verify(&self) -> Result<(), String> {
        if let Some(caching) = &self.caching {
            caching.cache.verify().map_err(|error| format!("the cache: {error}"))?;
        }
        self.volume.members.ssds.iter().enumerate().try_for_each(|(m, ssd)| ssd.verify().map_err(|e| format!("member {m}: {e}")))
    }
}
