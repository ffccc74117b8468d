//! The array: requests become page operations of its members, and their ends become events.
//!
//! Four methods drive it: [`Array::submit`] and, for many requests at once, [`Array::submit_many`]; [`Array::next_time`]; and
//! [`Array::advance`], which returns all events. The caller passes the time.
//!
//! A [`ArrayExecutionOptions`] and a [`ArrayShape`] describe it. Before the first request, [`Array::untimed_access`] warms its members up.
//! [`Array::announce_milestone`] announces the few moments of a run that it must know.
//!
//! [`Array::counters`] returns all counts, [`Array::members`] the members, and [`Array::prefetch_into_cpu_cache`] hints at coming requests.
//! No other methods are called from outside the model.

mod ahead;
#[cfg(test)]
mod cache_tests;
mod caching;
mod coordination;
mod counters;
mod counts;
mod events;
mod failure;
mod handles;
mod host_port;
mod locks;
mod members;
mod milestones;
mod offered_load;
mod params;
mod processor;
mod ranked;
mod read_plan;
mod requests;
mod route;
mod setup;
mod slow;
mod stripe_pages;
mod stripes;
#[cfg(test)]
mod tests;
mod untimed;
mod volume;

use crate::TimeNs;
use crate::cache::Cache;
use crate::coordination::{CoordinatedArray, CoordinationParams};
use crate::ids::MemberId;
pub use crate::placement::{ArrayLayout, Extent, RaidLevel, Redundancy, RequestInPages};
use crate::request::OpKind;
use crate::space::Mapping;
use crate::ssd::{ExactFastPaths, SimulatorPrefetchTarget, Ssd};
use ahead::Ahead;
use caching::{Caching, DestageRecord};
use coordination::Coordination;
pub use counters::{ParityAndRebuildCounters, TrimAndFlushCounters};
pub use counts::ArrayCounters;
use events::Outbox;
pub use events::{ArrayEvent, MappingUnitsProgrammed, RequestDone};
pub use failure::{ArrayHealth, MemberFailureAndRebuildState};
use handles::Handles;
pub use handles::ParityHandle;
pub use host_port::ControllerThrottlingCounters;
use host_port::HostPort;
use members::{Access, Continuation, Issued, Members, PageAllowances};
pub use milestones::{GcReportedUntilAndMembersBusyUntil, RunMilestone};
pub use offered_load::MemberLoadCalculator;
pub use params::*;
pub use processor::{ArrayProcessor, StripeLock};
pub use read_plan::*;
pub use requests::{SubmitError, page_request_of};
pub use setup::{ArrayExecutionOptions, ArrayShape};
use slow::SlowMembers;
pub use slow::{InjectedSlownessCounters, SlowMemberPeriod};
use stripes::Stripes;
pub use untimed::{OwnedPages, UntimedAccess};
use volume::Volume;

/// Maximum number of members of an array, spares included. A set of members is kept as the bits of a 128-bit number.
pub const MEMBERS_MAX: u32 = 128;

/// An array of SSDs with its controller. It places requests on members and spares, keeps parity, caches writes, coordinates collection,
/// and serves requests in simulated time.
#[derive(Debug, Clone)]
pub struct Array {
    shape: ArrayShape,
    /// True if the array consists of members only, without host port, cache, parity or controller.
    has_members_only: bool,
    /// Limits of the array's controller on host requests in progress and on bandwidth, if it has any.
    port: Option<Box<HostPort>>,
    /// The write cache, if there is one.
    caching: Option<Box<Caching>>,
    /// The members, with parity and failures.
    volume: Volume,
    /// The controller that coordinates the members' garbage collection, if there is one.
    coordination: Option<Coordination>,
    ahead: Ahead,
    /// Time before which all events have happened.
    advanced_before: TimeNs,
    /// Arrival time of the latest request.
    last_arrival_ns: TimeNs,
    outbox: Outbox,
    /// The health of the array that was last reported as an event.
    health: ArrayHealth,
    host: TrimAndFlushCounters,
}

impl Array {
    /// Returns an array of filled members. If failed members are to be rebuilt, the array also has spares, numbered after the last
    /// member. `seed` selects all random streams, such as those of policies that choose victim blocks at random. Use
    /// [`ArrayExecutionOptions::new_array_unless_stopped`] if filling must be interruptible.
    pub fn new(params: &ArrayParams, seed: u64, setup: ArrayExecutionOptions) -> Self {
        Self::make(params, seed, setup, None, &mut || true).expect("nobody says no")
    }

    /// Returns an array whose members have these mappings, or are filled if there are none. It is `None` if `go_on` returns false.
    fn make(
        params: &ArrayParams,
        seed: u64,
        setup: ArrayExecutionOptions,
        mappings: Option<Vec<Mapping>>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Self> {
        let ArrayExecutionOptions {
            worker_threads_max: threads,
            operations_per_worker_thread_min: operations_per_thread,
            records_member_utilisation: record_usage,
            reports_destage_events: record_destages,
            mut shortcuts,
        } = setup;
        if params.chooses_source_of_each_read() || !params.slow.is_empty() {
            // The state of a member that takes shortcuts is not the state at this moment, and its answers are known before they are late.
            shortcuts = ExactFastPaths { computes_operation_ends_on_arrival: false, skips_operation_end_events: false };
        }
        let (spares, spare_state) = params.spares_and_state();
        let blank_spare = (spare_state == Some(InitialSpareState::Blank)).then(|| params.ssd.clone().unwritten());
        let mut mappings = mappings.map(Vec::into_iter);
        let mut member = |number| {
            let ssd = blank_spare.as_ref().filter(|_| number >= params.members).unwrap_or(&params.ssd);
            let mapping = mappings.as_mut().map(|left| left.next().expect("each member has a mapping"));
            Ssd::new(ssd, mapping, seed, MemberId(number), params.coordination.is_some(), shortcuts)
        };
        let made = (0..params.members + spares).map(|number| go_on().then(|| member(number)));
        let mut members = Members::new(made.collect::<Option<_>>()?, Handles::from_params(params));
        if params.coordination.as_ref().is_some_and(CoordinationParams::counts_pages) {
            members.page_allowances = Some(Box::new(PageAllowances::new(members.ssds.len())));
        }
        let pools = params.ssd.pool_sizes();
        members.slow = SlowMembers::from_params(params, seed);
        for member in 0..members.ssds.len() as u32 {
            // The first step takes the reports that they leave.
            let _issued = members.act_on_member(member, |ssd, out| {
                // A spare learns the protocol when it replaces a member that knows it.
                if let Some(coordination) = params.coordination.as_ref().filter(|c| member < params.members && c.is_ggc_aware(member)) {
                    ssd.become_ggc_aware(0, coordination.member_duty(&pools), out);
                }
                ssd.start_idle_timers(out);
            });
        }
        if record_usage {
            members.ssds.iter_mut().for_each(Ssd::start_recording_utilisation);
        }
        let mut caching = params.cache.map(|cache| Box::new(Caching::new(Cache::new(&cache, params.layout(), params.members))));
        if let Some(caching) = caching.as_mut().filter(|_| record_destages) {
            caching.destage_record = Some(DestageRecord::default());
            members.record_ends();
        }
        let stripes = Stripes::from_params(params, seed, &mut members).map(Box::new);
        let first = &members.ssds[0];
        let is_plain = params.host_port.is_none() && caching.is_none() && stripes.is_none() && params.coordination.is_none();
        let shape = ArrayShape {
            page_bytes: params.ssd.geometry.page_bytes,
            layout: params.layout(),
            members_including_spares: members.ssds.len() as u32,
            blank_spares: spares - params.warmed_up_spares(),
            dies_per_member: first.dies(),
            start_threshold_free_blocks: pools.start_threshold_free_blocks,
            cache_capacity_pages: caching.as_ref().map(|caching| caching.cache.room_pages()),
            member_failures_configured: !params.failures.is_empty(),
            completion_time_known_at_arrival: is_plain && first.is_immediate(),
        };
        let array = CoordinatedArray {
            pools,
            members: params.members,
            copies: shape.layout.copies_of_each_page(),
            parity_strips: params.level.parity_strips(),
            seed,
        };
        Some(Self {
            shape,
            has_members_only: is_plain,
            port: params.host_port.map(|port| Box::new(HostPort::new(port, params.ssd.geometry.page_bytes, params.layout()))),
            caching,
            volume: Volume { layout: params.layout(), members, stripes, blank_spares: shape.blank_spares },
            coordination: params.coordination.as_ref().map(|coordination| Coordination::new(coordination, &array)),
            ahead: Ahead::with_threads(threads, operations_per_thread),
            advanced_before: 0,
            last_arrival_ns: 0,
            outbox: Outbox::default(),
            health: ArrayHealth::Normal,
            host: TrimAndFlushCounters::default(),
        })
    }

    /// Returns the shape of the array, which never changes.
    #[inline]
    pub fn shape(&self) -> &ArrayShape {
        &self.shape
    }

    /// Returns the members in order of their numbers, with the spares last.
    pub fn members(&self) -> &[Ssd] {
        &self.volume.members.ssds
    }

    /// Starts an operation that arrives now. An [`ArrayEvent::RequestDone`] reports its end.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if the operation has no pages or reaches beyond the array.
    ///
    /// # Panics
    /// Panics if time has gone back.
    #[inline]
    pub fn submit(&mut self, now: TimeNs, request: &RequestInPages) -> Result<(), SubmitError> {
        self.check(request)?;
        assert!(now.saturating_add(1) >= self.advanced_before && now >= self.last_arrival_ns, "time does not go back");
        self.last_arrival_ns = now;
        self.host.count(request.kind);
        let after_events_of_now = now < self.advanced_before;
        let Some(port) = &mut self.port else {
            let issued = self.begin(now, request, after_events_of_now);
            self.drain(issued);
            return Ok(());
        };
        let begins = port.request_arrives(now, request);
        if self.caching.is_none() {
            self.operation_begins(now);
        }
        if let Some(request) = begins {
            let issued = self.begin(now, &request, after_events_of_now);
            self.drain(issued);
        }
        Ok(())
    }

    /// Starts operations that arrive now and later, in order of time. The result is the same as if each were submitted at its time.
    ///
    /// All operations are served together, which is faster, if the array knows the end of a request as soon as the request arrives
    /// ([`ArrayShape::completion_time_known_at_arrival`]).
    ///
    /// # Errors
    /// Returns an error like [`Array::submit`]. The operations before the refused one have been taken.
    pub fn submit_many(&mut self, operations: &[(TimeNs, RequestInPages)]) -> Result<(), SubmitError> {
        if self.shape.completion_time_known_at_arrival {
            let checked = operations.iter().try_for_each(|(at, request)| {
                self.check(request)?;
                assert!(at.saturating_add(1) >= self.advanced_before && *at >= self.last_arrival_ns, "time does not go back");
                self.last_arrival_ns = *at;
                self.host.count(request.kind);
                self.ahead.take_request(&mut self.volume, *at, request);
                Ok(())
            });
            self.ahead.serve_taken_requests(&mut self.volume.members);
            return checked;
        }
        let mut held = std::mem::take(&mut self.outbox.requests_held_back);
        let taken = operations.iter().try_for_each(|(at, request)| {
            self.check(request)?;
            if let Some(before) = at.checked_sub(1) {
                let begin = held.len();
                self.run(before, begin, &mut held);
            }
            self.submit(*at, request)
        });
        // Some collections become known late.
        held.sort_by_key(ArrayEvent::order_key);
        self.outbox.requests_held_back = held;
        taken
    }

    #[inline]
    fn check(&self, request: &RequestInPages) -> Result<(), SubmitError> {
        let exported_pages = self.volume.layout.exported_pages();
        if request.pages == 0 && matches!(request.kind, OpKind::Read | OpKind::Write) {
            return Err(SubmitError::EmptyRequest);
        }
        match request.first_page.checked_add(u64::from(request.pages)) {
            Some(end) if end <= exported_pages => Ok(()),
            _ => Err(SubmitError::BeyondTheArray { first_page: request.first_page, pages: request.pages, exported_pages }),
        }
    }

    /// Starts a request that has passed the host port.
    #[inline]
    fn begin(&mut self, now: TimeNs, request: &RequestInPages, after_events_of_now: bool) -> Issued {
        if request.pages > 0
            && let Some(caching) = &mut self.caching
        {
            caching.update_cache(now, &mut self.volume, |caching, _| caching.cache.submit(now, request));
            return self.cache_begins_operations(now, after_events_of_now);
        }
        if self.counts_operations() {
            self.operation_begins(now);
        }
        let RequestInPages { kind, fua, must_not_wait_for_gc: high_priority, stream: source, .. } = *request;
        let access = Access { now, kind, fua, high_priority, source, after_events_of_now };
        let continuation = Continuation::Host(request.tag);
        if request.pages > 0 {
            let layout = self.volume.layout;
            self.volume.issue(&access, layout.extents(request), request.contiguous_on_one_member, continuation)
        } else if kind == OpKind::Flush && self.volume.members.ssds[0].takes_flushes() {
            // The data in the members' write buffers may be lost until a flush (rule 208).
            self.volume.issue_everywhere(&access, continuation)
        } else {
            self.volume.issue_nothing(now, continuation)
        }
    }

    /// Returns true if the controller measures load by operations on the array, and false if by requests in the host port.
    #[inline]
    fn counts_operations(&self) -> bool {
        self.port.is_none() || self.caching.is_some()
    }

    /// Tells the controller that an operation on the members begins. With a write cache, these are the operations of the cache.
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

    /// Loads data of the simulator into the cache of the computer's processor, because `request` comes soon and will need them. `hint`
    /// says which data: map entries, or records about flash blocks. The results of the simulation stay the same.
    #[inline]
    pub fn prefetch_into_cpu_cache(&self, hint: SimulatorPrefetchTarget, request: &RequestInPages) {
        let Volume { layout, members, .. } = &self.volume;
        if request.pages == 1 {
            let location = layout.locate(request.first_page);
            members.ssds[location.member as usize].prefetch(hint, location.member_page);
        } else {
            for extent in layout.extents(request) {
                for page in extent.pages_on_member() {
                    members.ssds[extent.first_member as usize].prefetch(hint, page);
                }
            }
        }
        // A cache writes parity much later than the request arrives.
        if layout.stripe_shape().parity_strips > 0 && request.is_write() && self.caching.is_none() {
            self.prefetch_parity(hint, request);
        }
    }

    /// Prefetches like [`Self::prefetch_into_cpu_cache`] for the parity of a write. Without parity, its code would only be in the way.
    #[inline(never)]
    fn prefetch_parity(&self, hint: SimulatorPrefetchTarget, request: &RequestInPages) {
        let Volume { layout, members, .. } = &self.volume;
        let mut last_stripe = None;
        for extent in layout.extents(request) {
            let stripe = layout.stripe_of_member_page(extent.first_page);
            if last_stripe.replace(stripe) == Some(stripe) {
                continue;
            }
            for member in layout.parity_members(stripe) {
                for page in extent.pages_on_member() {
                    members.ssds[member as usize].prefetch(hint, page);
                }
            }
        }
    }

    /// Returns the earliest time at which something happens. The end of a collection does not count, because it changes nothing by itself.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        let next = self.next_part_time();
        let Some(held) = self.outbox.requests_held_back.first() else { return next };
        Some(next.map_or(held.time(), |at| at.min(held.time())))
    }

    /// Runs the simulation until `until`, and appends its events in the order of [`ArrayEvent::order_key`].
    ///
    /// A collection that delays a request is reported by the call that reaches the collection's end. Other collections may be reported by
    /// a later call, at the latest by the one for [`RunMilestone::BeforeReadingArrayCounters`].
    #[inline]
    pub fn advance(&mut self, until: TimeNs, events: &mut Vec<ArrayEvent>) {
        let begin = events.len();
        if !self.outbox.requests_held_back.is_empty() {
            let due = self.outbox.requests_held_back.partition_point(|event| event.time() <= until);
            events.extend(self.outbox.requests_held_back.drain(..due));
        }
        self.run(until, begin, events);
    }

    /// Runs the simulation until `until`. From index `begin` on, `events` are in order before and after.
    #[inline]
    fn run(&mut self, until: TimeNs, begin: usize, events: &mut Vec<ArrayEvent>) {
        self.run_parts(until, events);
        let Self { outbox, volume, caching, .. } = self;
        outbox.release_events(until, &mut volume.members.reports, caching.as_deref_mut(), begin, events);
    }

    /// Delivers a message to a member as if the controller had sent it, for tests.
    #[cfg(test)]
    pub(crate) fn deliver(&mut self, at: TimeNs, member: u32, message: crate::coordination::ToMember) {
        self.coordination.as_mut().expect("there is a controller").mailbox.deliver(at, member, message);
    }

    /// Returns all messages between members and controller, with their times.
    #[cfg(test)]
    pub(crate) fn message_log(&self) -> Vec<(TimeNs, crate::coordination::Mail)> {
        self.coordination.as_ref().map_or_else(Vec::new, |coordination| coordination.mailbox.log.clone())
    }

    /// Verifies the whole state, for tests and `--check`.
    ///
    /// # Errors
    /// Returns a sentence that names the member and the first invariant that does not hold.
    pub fn verify(&self) -> Result<(), String> {
        if let Some(caching) = &self.caching {
            caching.cache.verify().map_err(|error| format!("the cache: {error}"))?;
        }
        self.volume.members.ssds.iter().enumerate().try_for_each(|(m, ssd)| ssd.verify_invariants().map_err(|e| format!("member {m}: {e}")))
    }
}
