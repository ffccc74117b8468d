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
mod read_plan;
mod stripe_pages;
mod stripes;
#[cfg(test)]
mod tests;

use crate::TimeNs;
use crate::cache::{Cache, CacheCounters, Command, HostDone, MemberExtent};
use crate::coordination::{CoordinationParams, KINDS, UncoordinatedCleans};
use crate::events::TimeParts;
use crate::ids::MemberId;
pub use crate::placement::{Extent, Layout, Level, PageRequest};
use crate::request::{OpKind, Request};
use crate::ssd::{self, Busy, Hint, Shortcuts, Ssd};
use ahead::Ahead;
use caching::{Caching, Record};
use coordination::{Coordination, Order};
pub use counters::{HostCounters, StripeCounters};
use events::Outbox;
pub use events::{Done, Event};
use failure::Step;
pub use failure::{FailureProgress, Health};
pub use host_port::HostPortCounters;
use host_port::{HostPort, PortStep};
use members::{Access, Completion, Continuation, Deferred, Members, PagesGiven, Wake};
pub use offered_load::OfferedLoad;
pub use params::*;
pub use read_plan::{Copies, ReadPlan};
use stripes::Stripes;

/// Members that an array may have, spares included: the members that a request met in collection are kept as bits.
pub const MEMBERS_MAX: u32 = 128;

/// The pages that `request` touches, those of a trim that it covers wholly; `None` if it is empty or reaches beyond `exported_pages`.
#[inline]
pub fn pages_of(request: &Request, page_bytes: u64, exported_pages: u64) -> Option<PageRequest> {
    let end_bytes = request.offset_bytes.checked_add(request.length_bytes)?;
    let (first_page, end_page) = match request.kind {
        OpKind::Flush => (0, 0),
        OpKind::Trim => {
            let first_page = request.offset_bytes.div_ceil(page_bytes);
            (first_page, (end_bytes / page_bytes).max(first_page))
        }
        OpKind::Read | OpKind::Write => (request.offset_bytes / page_bytes, end_bytes.div_ceil(page_bytes)),
    };
    let is_empty = request.length_bytes == 0 && request.kind != OpKind::Flush;
    if is_empty || end_bytes.div_ceil(page_bytes) > exported_pages {
        return None;
    }
    Some(PageRequest {
        tag: 0,
        first_page,
        pages: u32::try_from(end_page - first_page).ok()?,
        kind: request.kind,
        fua: request.fua && request.kind == OpKind::Write,
        high_priority: request.high_priority,
        stream: request.stream,
        one_member: request.one_member,
    })
}

/// Why an operation is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubmitError {
    /// A read or write of no pages.
    Empty,
    /// It reaches beyond the pages that the array exports.
    BeyondTheArray {
        /// Its first page.
        first_page: u64,
        /// Its pages.
        pages: u32,
        /// Pages of the array.
        exported_pages: u64,
    },
}

impl std::fmt::Display for SubmitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => write!(f, "a read or write needs at least one page"),
            Self::BeyondTheArray { first_page, pages, exported_pages } => {
                write!(f, "{pages} pages from page {first_page} on do not fit the {exported_pages} pages of the array")
            }
        }
    }
}

impl std::error::Error for SubmitError {}

/// An array of SSDs.
#[derive(Debug, Clone)]
pub struct Array {
    layout: Layout,
    read_plan: ReadPlan,
    members: Members,
    ahead: Ahead,
    coordination: Option<Coordination>,
    /// What parity, or a member that fails, needs; without them it does not exist.
    stripes: Option<Box<Stripes>>,
    caching: Option<Box<Caching>>,
    /// What limits the host, if anything does.
    port: Option<Box<HostPort>>,
    /// Spares that stay as filled.
    fresh_spares: u32,
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
            members.with(member, |ssd, out| {
                // A spare becomes aware when it replaces a member that is.
                if let Some(coordination) = params.coordination.as_ref().filter(|c| member < params.members && c.is_ggc_aware(member)) {
                    ssd.become_ggc_aware(0, coordination.role(), out);
                }
                ssd.begin(out);
            });
        }
        Some(Self {
            layout: params.layout(),
            read_plan: params.read_plan,
            members,
            ahead: Ahead::default(),
            coordination: params.coordination.as_ref().map(|coordination| Coordination::new(coordination, &params.ssd.pools())),
            stripes: Stripes::of(params).map(Box::new),
            caching: params.cache.map(|cache| Box::new(Caching::new(Cache::new(&cache, params.layout(), params.members)))),
            port: params.host_port.map(|port| Box::new(HostPort::new(port, params.ssd.geometry.page_bytes))),
            fresh_spares: spares - params.warm_spares(),
            advanced_before: 0,
            last_arrival_ns: 0,
            outbox: Outbox::default(),
            host: HostCounters::default(),
        })
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u32 {
        self.members.ssds[0].ftl().geometry.page_bytes
    }

    /// Free blocks of a pool at which it is collected.
    #[inline]
    pub fn start_free_blocks(&self) -> u32 {
        self.members.ssds[0].ftl().start_free_blocks
    }

    /// How addresses spread over the members.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether and until when collection keeps a read of logical page `page` of `member` waiting, as far as can be told at `now`.
    pub fn busy(&self, now: TimeNs, member: MemberId, page: u32) -> Busy {
        self.members.ssds[member.index()].busy(now, page)
    }

    /// Whether there is a write cache.
    pub fn has_cache(&self) -> bool {
        self.caching.is_some()
    }

    /// The members, spares behind them.
    pub fn members(&self) -> &[Ssd] {
        &self.members.ssds
    }

    /// The members, for loading warm states before the first request.
    pub fn members_mut(&mut self) -> &mut [Ssd] {
        &mut self.members.ssds
    }

    /// The members that are to be warmed up before the first request: all but fresh spares.
    pub fn members_to_warm_up(&mut self) -> &mut [Ssd] {
        let count = self.members.ssds.len() - self.fresh_spares as usize;
        &mut self.members.ssds[..count]
    }

    /// The health of the array.
    #[inline]
    pub fn health(&self) -> Health {
        self.stripes.as_ref().map_or(Health::Normal, |stripes| stripes.health())
    }

    /// How far the failures of members and their rebuilding have come, in order of time, those that are to come included.
    pub fn failure_progress(&self) -> Vec<FailureProgress> {
        self.stripes.as_ref().map_or_else(Vec::new, |stripes| stripes.progress())
    }

    /// Counts of parity, locks and rebuilding; `None` for an array that has none of them.
    pub fn stripe_counters(&self) -> Option<StripeCounters> {
        self.stripes.as_ref().map(|stripes| stripes.counters)
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
            self.begin(now, request, moment_is_over);
            return Ok(());
        };
        let begins = port.arrives(now, request);
        if self.caching.is_none() {
            self.operation_begins(now);
        }
        if let Some(request) = begins {
            self.begin(now, &request, moment_is_over);
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
                self.submit_ahead(*at, request);
                Ok(())
            });
            self.serve_ahead();
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

    #[inline]
    fn check(&self, request: &PageRequest) -> Result<(), SubmitError> {
        let exported_pages = self.layout.exported_pages();
        if request.pages == 0 && matches!(request.kind, OpKind::Read | OpKind::Write) {
            return Err(SubmitError::Empty);
        }
        match request.first_page.checked_add(u64::from(request.pages)) {
            Some(end) if end <= exported_pages => Ok(()),
            _ => Err(SubmitError::BeyondTheArray { first_page: request.first_page, pages: request.pages, exported_pages }),
        }
    }

    /// A flush, or a trim of which nothing is left: done when it comes.
    fn done_at_once(&mut self, now: TimeNs, request: &PageRequest) {
        if self.counts_operations() {
            self.operation_begins(now);
        }
        let continuation = Continuation::Host(request.tag);
        let completion = self.members.open_completion(continuation);
        self.members.completed(completion, continuation, now);
    }

    /// A flush goes to all members: their write buffers may forget (rule 208).
    fn flush_members(&mut self, now: TimeNs, request: &PageRequest, moment_is_over: bool) {
        if self.counts_operations() {
            self.operation_begins(now);
        }
        let completion = self.members.open_completion(Continuation::Host(request.tag));
        let access = Access { now, kind: OpKind::Flush, fua: false, high_priority: false, source: request.stream, moment_is_over };
        let members = self.members.ssds.len() as u32;
        (0..members).for_each(|member| self.members.submit(&access, member, 0, completion));
        self.members.close_completion(completion, members);
        self.drain();
    }

    /// A request that nothing holds back.
    #[inline]
    fn begin(&mut self, now: TimeNs, request: &PageRequest, moment_is_over: bool) {
        if request.pages == 0 {
            if request.kind == OpKind::Flush && self.members.ssds[0].takes_flushes() {
                self.flush_members(now, request, moment_is_over);
            } else {
                self.done_at_once(now, request);
            }
            return;
        }
        if let Some(caching) = &mut self.caching {
            let was_flushing = caching.cache.is_flushing();
            caching.cache.submit(now, request);
            if was_flushing
                && caching.cache.is_flushed()
                && let Some(stripes) = &mut self.stripes
            {
                stripes.set_flushing(now, false);
            }
            self.carry_out(now, moment_is_over);
            return;
        }
        if self.counts_operations() {
            self.operation_begins(now);
        }
        let PageRequest { kind, fua, high_priority, stream: source, .. } = *request;
        let access = Access { now, kind, fua, high_priority, source, moment_is_over };
        self.issue(&access, self.layout.extents(request), request.one_member, Continuation::Host(request.tag));
        self.drain();
    }

    /// Reads or writes pages of the array, with all that parity and a lost member make of it; [`Array::drain`] must follow.
    /// Extents that follow one another in the same stripe are written together, with `by_strip` each strip for itself.
    #[inline]
    fn issue(&mut self, access: &Access, extents: impl Iterator<Item = Extent>, by_strip: bool, continuation: Continuation) {
        if self.stripes.is_none() && self.members.are_immediate() {
            self.serve(access.now, access.kind, extents, continuation);
            return;
        }
        let completion = self.members.open_completion(continuation);
        let ends = match &mut self.stripes {
            Some(stripes) if stripes.concern(access) => stripes.submit(access, extents, by_strip, completion, &mut self.members),
            _ => self.issue_directly(access, extents, completion),
        };
        if ends > 0 {
            self.members.close_completion(completion, ends);
        } else {
            // A trim of parts of stripes only.
            self.members.completed(completion, continuation, access.now);
        }
    }

    /// The same on immediate members without stripes, whose ends are known at once.
    #[inline(always)]
    fn serve(&mut self, now: TimeNs, kind: OpKind, extents: impl Iterator<Item = Extent>, continuation: Continuation) {
        let completion = self.members.open_completion(continuation);
        let Members { ssds, completions, told, .. } = &mut self.members;
        let (mut last_end, mut gc_members, mut time) = (0, 0, TimeParts::default());
        for extent in extents {
            let members = self.read_plan.members(&self.layout, &extent, kind);
            for page in extent.first_page..extent.first_page + extent.pages {
                for member in members.clone() {
                    let ssd = &mut ssds[member as usize];
                    let (die, lpn) = ssd.home(page);
                    let served = ssd.serve_now(now, die, lpn, kind, &mut told.collections);
                    if served.end > last_end {
                        (last_end, time) = (served.end, ssd.time_of(now, kind, &served));
                    } else if served.end == last_end {
                        time = time.max(ssd.time_of(now, kind, &served));
                    }
                    gc_members |= u128::from(served.met_gc) << member;
                }
            }
        }
        (completions[completion].gc_members, completions[completion].time) = (gc_members, time);
        self.members.completed(completion, continuation, last_end);
    }

    /// Carries out the commands of the cache.
    fn carry_out(&mut self, now: TimeNs, moment_is_over: bool) {
        let Some(mut caching) = self.caching.take_if(|caching| caching.cache.has_commands()) else { return };
        let Caching { cache, tie_breaks, record } = &mut *caching;
        let commands = cache.commands();
        for command in &commands.list {
            match *command {
                Command::Wake { at, wake } => self.members.wake_cache(at, tie_breaks.next(), wake),
                Command::Array { extents: (from, to), kind, token } => {
                    self.operation_begins(now);
                    let layout = self.layout;
                    let extents = || {
                        commands.array_extents[from as usize..to as usize].iter().flat_map(|extent| {
                            let (first_page, pages) = (extent.first_page, extent.pages);
                            layout.extents(&PageRequest {
                                tag: 0,
                                first_page,
                                pages,
                                kind,
                                fua: false,
                                high_priority: false,
                                stream: 0,
                                one_member: false,
                            })
                        })
                    };
                    let access = Access { now, kind, fua: false, high_priority: false, source: cache.source(token), moment_is_over };
                    if let Some(record) = record {
                        record.begin(
                            now,
                            token,
                            extents().map(|extent| (extent.first_member, extent.first_page, extent.pages, extent.copies)),
                            &layout,
                            self.replacement(),
                        );
                    }
                    self.issue(&access, extents(), false, Continuation::Cache { token, tie_break: tie_breaks.next() });
                }
                Command::Members { extents: (from, to), write, token } => {
                    self.operation_begins(now);
                    let access = Access {
                        now,
                        kind: OpKind::of(write),
                        fua: false,
                        high_priority: false,
                        source: cache.source(token),
                        moment_is_over,
                    };
                    let extents = &commands.member_extents[from as usize..to as usize];
                    if let Some(record) = record {
                        record.begin(
                            now,
                            token,
                            extents.iter().map(|extent| (extent.member, extent.first_page, extent.pages, 1)),
                            &self.layout,
                            self.replacement(),
                        );
                    }
                    self.issue_on_members(&access, extents, Continuation::Cache { token, tie_break: tie_breaks.next() });
                }
            }
        }
        cache.clear_commands();
        self.caching = Some(caching);
        self.drain();
    }

    /// Names the member that stands in for a member in a stripe: itself, the spare, or none.
    fn replacement(&self) -> impl Fn(u32, u64) -> Option<u32> {
        let stripes = self.stripes.as_deref();
        move |member, stripe| stripes.map_or(Some(member), |stripes| stripes.replacement(member, stripe))
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

    /// Reads or writes pages of members, without parity.
    fn issue_on_members(&mut self, access: &Access, extents: &[MemberExtent], continuation: Continuation) {
        if self.stripes.is_none() && self.members.are_immediate() {
            let as_one = |extent: &MemberExtent| Extent {
                first_member: extent.member,
                copies: 1,
                first_page: extent.first_page,
                pages: extent.pages,
            };
            self.serve(access.now, access.kind, extents.iter().map(as_one), continuation);
            return;
        }
        let completion = self.members.open_completion(continuation);
        let mut operations = 0;
        for extent in extents {
            operations += match &self.stripes {
                Some(stripes) => stripes.issue_on_members(access, extent, completion, &mut self.members),
                None => {
                    for page in extent.first_page..extent.first_page + extent.pages {
                        self.members.submit(access, extent.member, page, completion);
                    }
                    extent.pages
                }
            };
        }
        self.members.close_or_complete(completion, operations, access.now);
    }

    /// Page operations on the members that the layout names; returns their number.
    #[inline]
    fn issue_directly(&mut self, access: &Access, extents: impl Iterator<Item = Extent>, completion: u32) -> u32 {
        let mut operations = 0;
        for extent in extents {
            let members = self.read_plan.members(&self.layout, &extent, access.kind);
            operations += extent.pages * members.len() as u32;
            for page in extent.first_page..extent.first_page + extent.pages {
                for member in members.clone() {
                    self.members.submit(access, member, page, completion);
                }
            }
        }
        operations
    }

    /// Overwrites the pages of writes without time, for a warm-up by the workload's own addresses. Many at a time are faster: the members are written one after
    /// the other, and die by die.
    pub fn overwrite_untimed(&mut self, requests: &[PageRequest]) {
        let mut pages_of_members = vec![Vec::new(); self.members.ssds.len()];
        let mut write = |member: u32, page: u32, source: u8| pages_of_members[member as usize].push((page, source));
        if let Some(stripes) = &mut self.stripes {
            // What fresh spares will hold is rebuilt.
            let spares: Vec<(u32, u32)> = match self.fresh_spares {
                0 => stripes.progress().iter().filter_map(|failure| Some((failure.member, failure.spare?))).collect(),
                _ => Vec::new(),
            };
            requests.iter().for_each(|request| stripes.overwrite_untimed(request, &spares, &mut write));
        } else {
            for (extent, source) in requests.iter().flat_map(|request| self.layout.extents(request).map(|extent| (extent, request.stream)))
            {
                for member in extent.first_member..extent.first_member + extent.copies {
                    (extent.first_page..extent.first_page + extent.pages).for_each(|page| write(member, page, source));
                }
            }
        }
        for (member, pages) in self.members.ssds.iter_mut().zip(&pages_of_members) {
            member.overwrite_untimed(pages);
        }
    }

    /// Hints that `request` comes soon.
    #[inline]
    pub fn prefetch(&self, hint: Hint, request: &PageRequest) {
        if self.members.ssds[0].is_drive() {
            return;
        }
        for extent in self.layout.extents(request) {
            for page in extent.first_page..extent.first_page + extent.pages {
                self.members.ssds[extent.first_member as usize].prefetch(hint, page);
            }
        }
    }

    /// The earliest pending moment. The end of a collection is none by itself: nothing happens then.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        let next = earlier(self.members.agenda.next_time(), self.next_own_time());
        if self.outbox.held.is_empty() { next } else { earlier(next, self.outbox.held.first().map(Event::at)) }
    }

    /// The latest end that is known of what the members have taken.
    pub fn busy_until(&self) -> TimeNs {
        self.members.ssds.iter().map(crate::ssd::Ssd::busy_until).max().unwrap_or(0)
    }

    /// The next moment at which the array itself acts: the end of a phase, failure and rebuilding, messages.
    #[inline]
    fn next_own_time(&self) -> Option<TimeNs> {
        let mut next = self.coordination.as_ref().and_then(Coordination::next_time);
        if let Some(port) = &self.port {
            next = earlier(next, port.next_time());
        }
        if let Some(stripes) = &self.stripes {
            next = earlier(next, stripes.next_time());
        } else if self.caching.is_none() {
            return next;
        }
        if let Some(caching) = &self.caching {
            next = earlier(next, caching.cache.next_time());
        }
        earlier(next, self.members.next_deferred())
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
        self.run_events(until, events);
        let Self { outbox, members, caching, .. } = self;
        outbox.report(until, &mut members.told.collections, caching.as_deref_mut(), begin, events);
    }

    #[inline]
    fn run_events(&mut self, until: TimeNs, events: &mut Vec<Event>) {
        loop {
            // What the array does at a nanosecond comes after what happens in the members (rules 42 and 55).
            let own_at = self.next_own_time().filter(|&at| at <= until);
            if let Some((now, wake)) = self.members.agenda.pop_due(own_at.unwrap_or(until)) {
                match wake {
                    Wake::Completed(completion) => {
                        if self.counts_operations() {
                            self.operation_ends(now);
                        }
                        let completions = &mut self.members.completions;
                        let Completion { continuation: Continuation::Host(tag), gc_members, pages_lost, time, .. } =
                            completions[completion]
                        else {
                            unreachable!("what is deferred is no event of the agenda")
                        };
                        completions.release(completion);
                        self.request_ends(Done { tag, at: now, gc_members_met: gc_members.count_ones(), pages_lost, parts: time }, events);
                    }
                    Wake::Member(member, wake) => {
                        self.members.with(member, |ssd, out| ssd.wake(now, wake, out));
                        self.drain();
                    }
                }
            } else if let Some(now) = own_at {
                self.act(now, events);
            } else {
                break;
            }
        }
        self.advanced_before = self.advanced_before.max(until.saturating_add(1));
    }

    /// What the array itself does next, now: ends of phases first, then the cache's events, messages last.
    fn act(&mut self, now: TimeNs, events: &mut Vec<Event>) {
        if let Some(deferred) = self.members.pop_deferred(now) {
            match deferred {
                Deferred::Wake(wake) => self.cache_event(now, events, |caching, _| caching.cache.wake(now, wake)),
                Deferred::Completion(completion) => match completion.continuation {
                    Continuation::Stripe { operation, .. } => {
                        let stripes = self.stripes.as_mut();
                        let rebuilt = stripes.and_then(|stripes| stripes.phase_ended(now, operation, &completion, &mut self.members));
                        if let (Some((member, stripe)), Some(caching)) = (rebuilt, &mut self.caching) {
                            caching.cache.strip_rebuilt(member, stripe);
                        }
                    }
                    Continuation::Cache { token, .. } => {
                        self.operation_ends(now);
                        self.cache_event(now, events, |caching, members| caching.ended(now, token, &completion, members));
                    }
                    Continuation::Host(_) => unreachable!("the end of a host request is an event of the agenda"),
                },
            }
        } else if let Some(port) = self.port.as_mut().filter(|port| port.next_time() == Some(now)) {
            match port.step(now) {
                PortStep::Begins(request) => self.begin(now, &request, true),
                PortStep::Done(done) => self.request_leaves(done, events),
                PortStep::Nothing => {}
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
                    Some(Step::Replaced { failed, spare }) => {
                        if let Some(role) = coordination.controller.replace(failed, spare) {
                            self.members.with(spare, |ssd, out| ssd.become_ggc_aware(now, role, out));
                        }
                    }
                    _ => {}
                }
            }
            self.carry_out(now, true);
        } else if let Some(caching) = self.caching.as_mut().filter(|caching| caching.cache.next_time() == Some(now)) {
            caching.cache.step(now);
            self.carry_out(now, true);
        } else if let Some(coordination) = &mut self.coordination {
            match coordination.step(now) {
                Some((member, Order::Receive(message))) => self.members.with(member, |ssd, out| ssd.receive(now, message, out)),
                Some((member, Order::Ask)) => self.members.with(member, |ssd, out| ssd.may_ask(now, out)),
                None => {}
            }
            if let Some(pages_given) = &mut self.members.pages_given {
                coordination.to_count.drain(..).for_each(|(member, pages)| pages_given.limit(now, member, pages));
            }
        }
        self.drain();
    }

    /// Tells the cache of something that it waited for.
    #[inline]
    fn cache_event(&mut self, now: TimeNs, events: &mut Vec<Event>, tell: impl FnOnce(&mut Caching, &mut Members) -> Option<HostDone>) {
        let Some(caching) = &mut self.caching else { return };
        let was_flushing = caching.cache.is_flushing();
        let host = tell(caching, &mut self.members);
        if was_flushing
            && caching.cache.is_flushed()
            && let Some(stripes) = &mut self.stripes
        {
            stripes.set_flushing(now, false);
        }
        if let Some(host) = host {
            let cache_ns = now - host.arrival_ns - host.read_time.total_ns() + host.read_time.cache_ns;
            let parts = TimeParts { cache_ns, ..host.read_time };
            let gc_members_met = host.gc_members.count_ones();
            self.request_ends(Done { tag: host.tag, at: now, gc_members_met, pages_lost: host.pages_lost, parts }, events);
        }
        self.carry_out(now, true);
    }

    /// The array is done with a request.
    #[inline]
    fn request_ends(&mut self, done: Done, events: &mut Vec<Event>) {
        match &mut self.port {
            None => events.push(Event::Done(done)),
            Some(port) => {
                if let Some(done) = port.ended(done) {
                    self.request_leaves(done, events);
                }
            }
        }
    }

    /// A request has left the host port.
    fn request_leaves(&mut self, done: Done, events: &mut Vec<Event>) {
        if self.caching.is_none() {
            self.operation_ends(done.at);
        }
        events.push(Event::Done(done));
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
            self.members.record_ends();
        }
    }

    /// From now on it is recorded how each member is used over time ([`Ssd::usage`]); before the first operation.
    pub fn record_usage(&mut self) {
        self.members.ssds.iter_mut().for_each(Ssd::record_usage);
    }

    /// What is recorded of how members are used counts until `now`.
    pub fn measure_usage_until(&mut self, now: TimeNs) {
        self.members.ssds.iter_mut().for_each(|ssd| ssd.measure_usage_until(now));
    }

    /// What is recorded of how members are used counts from `now` on.
    pub fn measure_usage_from(&mut self, now: TimeNs) {
        self.members.ssds.iter_mut().for_each(|ssd| ssd.measure_usage_from(now));
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
        self.for_each_member(|member, out| member.catch_up_all(now, out));
    }

    /// The same with what has happened at `now`, at which no more requests come.
    pub fn catch_up_with(&mut self, now: TimeNs) {
        self.for_each_member(|member, out| member.catch_up_with(now, out));
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
        if let Some(stripes) = &mut self.stripes {
            stripes.requests_are_over();
        }
        if let Some(coordination) = &mut self.coordination {
            coordination.controller.end_checks();
        }
        self.for_each_member(|member, out| member.end_idle_collection(now, out));
        let Members { ssds, agenda, .. } = &mut self.members;
        agenda.retain(|wake| match *wake {
            Wake::Completed(_) => true,
            Wake::Member(member, wake) => ssds[member as usize].expects_wake(wake),
        });
    }

    fn for_each_member(&mut self, mut act: impl FnMut(&mut Ssd, &mut ssd::Outbox)) {
        for member in 0..self.members.ssds.len() as u32 {
            self.members.with(member, &mut act);
        }
        self.drain();
    }

    /// Drains what the members have reported.
    #[inline]
    fn drain(&mut self) {
        if !self.members.told.notices.is_empty()
            && let Some(coordination) = &mut self.coordination
        {
            self.members.told.notices.drain(..).for_each(|notice| coordination.hear(&notice));
        }
        if let Some(pages_given) = &mut self.members.pages_given
            && let Some(coordination) = &mut self.coordination
        {
            pages_given.used_up.drain(..).for_each(|(at, member)| coordination.pages_are_used_up(at, member));
        }
        self.members.drain();
    }

    /// Nothing more is asked of the array: appends what is known of collections that have begun and end later, too, and what else has
    /// not been told.
    pub fn stop(&mut self, events: &mut Vec<Event>) {
        events.append(&mut self.outbox.held);
        let begin = events.len();
        self.outbox.report(TimeNs::MAX, &mut self.members.told.collections, self.caching.as_deref_mut(), begin, events);
    }

    /// Every clean that starts before this moment, or before `now` if nothing is open, has been reported.
    pub fn cleans_known_until(&self, now: TimeNs) -> TimeNs {
        let open = self.members.ssds.iter().filter_map(Ssd::oldest_open_clean).fold(now, TimeNs::min);
        let started = self.members.told.collections.iter().map(|clean| clean.start_ns).chain(self.outbox.first_start());
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
        self.members.ssds.iter().enumerate().try_for_each(|(m, ssd)| ssd.verify().map_err(|e| format!("member {m}: {e}")))
    }
}

#[inline]
fn earlier(one: Option<TimeNs>, other: Option<TimeNs>) -> Option<TimeNs> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
