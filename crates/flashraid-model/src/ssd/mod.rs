//! One member SSD, which takes page operations and reports their ends.
//!
//! ```text
//! submit ─▶ front ─────────────▶ dies ─▶ end            wake ─▶ work at the front or in the dies continues
//!           queues, cores,        │  ▲
//!           link, write buffer    ▼  │
//!           space: place of data;  collect: collection that is due;  agent: protocol with the array's controller
//! ```
//!
//! | part | knows |
//! |---|---|
//! | `job` | nothing; it has plain types that the parts pass to each other |
//! | `params`, `counters`, `work_times`, `usage`, `mechanism`, `wire`, `outbox` | these types |
//! | `agent`, `front`, `collect` | the above, but not each other |
//! | `parts` | everything that an SSD has once, for both kinds of dies |
//! | `die` | all of the above; it has the work of the dies and its effects |
//!
//! [`Ssd`] is the only place that holds the parts. It lends them to the dies for each call, as a `DieContext`.
//!
//! Two shortcuts compute the same results sooner. With *immediate*, the end of an operation follows from its arrival. With *collapsed*,
//! nothing can interrupt the work of a die, so that waits need no events.

mod agent;
mod collect;
mod counters;
mod die;
mod front;
mod job;
mod mechanism;
mod outbox;
mod params;
mod parts;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod tiny;
mod usage;
mod warm_up;
mod wire;
mod work_times;

use crate::coordination::{Duty, PredictableLatencyCounters, SchemeCounters, ToMember};
use crate::events::{OperationTimeParts, TimeNs, VictimBlockCollection};
use crate::ids::{DieId, Lpn, MemberId};
use crate::request::OpKind;
use crate::space::Mapping;
use crate::space::pools::PageMapping;
use crate::space::superblocks::SuperblockMapping;
use agent::Agent;
pub use counters::{FrontEndCounters, MemberCounters, PlacementHandleCounters, SuperblockCounters};
pub(crate) use die::Served;
use die::{DieContext, Dies, ImmediateContext};
use front::Front;
pub use job::{CollectionOutlook, DieExecutionUnitId, LogicalPageOp, PageOpEnd, PendingFlashWork};
pub(crate) use job::{ReadForecast, SsdWake};
pub use mechanism::{DieDelayMechanismCounters, DieDelayMechanisms};
pub use outbox::{MappingUnitsProgrammed, SsdOutbox};
pub use params::*;
use parts::SsdParts;
pub use usage::MemberUtilisationInInterval;
use usage::Usage;

/// Table of the simulator that [`Ssd::prefetch`] loads into the cache of the computer's processor, before a simulated operation needs
/// it. Results stay the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulatorPrefetchTarget {
    /// Loads the map entry of the page that is accessed next into the cache of the computer's processor. A map entry says which
    /// physical page on flash holds a logical page.
    MappingTableEntry,
    /// Loads records about the flash block in which the page lies, such as its valid pages, into the cache of the computer's processor.
    /// The page's map entry tells the block, and should have been loaded before ([`SimulatorPrefetchTarget::MappingTableEntry`]).
    BlockRecord,
}

/// One SSD of an array.
#[derive(Debug, Clone)]
pub struct Ssd {
    /// Settings, protocol state, counters and records.
    parts: SsdParts,
    /// Mapping: the place of every page or unit.
    space: Mapping,
    /// Queues, processor cores, link and buffer before the dies.
    front: Front,
    /// The dies, and the work that has not reached them yet.
    dies: Dies,
}

impl Ssd {
    /// Returns an SSD with this mapping, or a filled one if there is none. `forced_by_controller` is true if the array's controller may
    /// force it to collect.
    pub(crate) fn new(
        params: &SsdParams,
        mapping: Option<Mapping>,
        seed: u64,
        member: MemberId,
        forced_by_controller: bool,
        shortcuts: ExactFastPaths,
    ) -> Self {
        let mut params = params.clone();
        params.timing = params.timing.with_summary_page_spread_over_programs(&params.geometry);
        if params.gc.collection_takes_no_time {
            // There is nothing to preempt, nothing to do in idle time (rule 109), and nothing to overlap.
            (params.gc.preemption, params.gc.idle_collection_after_ns, params.gc.rules.parallel_planes) = (None, None, false);
        }
        let space = mapping.unwrap_or_else(|| Mapping::new_filled(&params.mapping_params(), seed, member.0));
        let front = Front::new(params.front(), params.link, member, params.pages_per_mapping_unit());
        let dies = Dies::new(&params, &space, seed, member, forced_by_controller, shortcuts);
        Self { parts: SsdParts::new(member, params), space, front, dies }
    }

    /// Lends the parts to the dies for one call.
    fn context<'a>(&'a mut self, out: &'a mut SsdOutbox) -> DieContext<'a> {
        DieContext::new(&mut self.dies, &mut self.space, &mut self.front, &mut self.parts, out)
    }

    /// Calls `act` with the dies and their parts. Then records the operations that ended in the front; the dies record all others.
    fn act(&mut self, out: &mut SsdOutbox, act: impl FnOnce(&mut DieContext)) {
        let told = out.page_op_end_times.len();
        act(&mut self.context(out));
        if self.front.is_on() {
            self.parts.record_operations(told, out);
        }
    }

    /// Returns the number of the member in the array.
    pub fn member(&self) -> MemberId {
        self.parts.member
    }

    /// Returns the number of dies.
    pub fn dies(&self) -> u32 {
        self.parts.params.geometry.dies
    }

    /// Returns the counters at `now`. For superpages, they include the work that dies have done so far.
    pub(crate) fn counters_at(&self, now: TimeNs) -> (MemberCounters, Option<SuperblockCounters>) {
        self.dies.counters_at(now, &self.parts)
    }

    /// Returns the work that the host's writes so far leave to the member at `now`: data in buffers to program, and collection.
    /// `free_units_before` has the free space at the begin of the measured time, as [`Mapping::free_units_by_pool`] returned it.
    pub fn unfinished_work(&self, now: TimeNs, free_units_before: &[u64]) -> PendingFlashWork {
        let pages_per_unit = u64::from(self.parts.params.pages_per_mapping_unit());
        let buffered_pages = u64::from(self.front.buffer.used()) * pages_per_unit;
        let preemptive = self.parts.params.gc.preemption.is_some();
        let owed = self.dies.owed(&self.space, preemptive, now);
        // Moves that are owed already are the first of those that win space back.
        let credit_pages = (self.space.units_to_program_to_regain(free_units_before) * pages_per_unit).saturating_sub(owed.pages_to_move);
        PendingFlashWork { buffered_pages, credit_pages, ..owed }
    }

    /// Returns an estimate of how much the host must still write until the member collects, and between two collections.
    pub fn collection_outlook(&self) -> CollectionOutlook {
        let (media, superblock) = match (self.space.as_ref(), &self.parts.params.superblock) {
            (Mapping::Superblocks(media), Some(superblock)) => (media, superblock),
            (Mapping::Superblocks(_), None) => unreachable!("superblocks have parameters"),
            (Mapping::PageMapping(pools), _) => {
                let until = (0..self.dies()).map(|die| pools.pages_above_start(DieId(die))).max().unwrap_or(0);
                return CollectionOutlook {
                    pages_until_collection: until.max(0) as u64 * u64::from(self.dies()),
                    pages_between_collections: pools.pages_gained_by_clean_of_each_die().max(1),
                };
            }
        };
        let (limits, takes_no_time) = (&superblock.collection, self.parts.params.gc.collection_takes_no_time);
        let is_controlled = self.parts.agent.is_some();
        let threshold = match () {
            () if takes_no_time => limits.target,
            () if is_controlled => limits.floor,
            () => limits.goal_free_superblocks(),
        };
        let units_per_superblock = u64::from(media.shape.data_mapping_units_per_superblock());
        let free_units: u64 = media.free_units_by_pool().iter().sum();
        let until = free_units.saturating_sub(u64::from(threshold) * units_per_superblock);
        let (gained, moved) = media.units_gained_and_moved_by_next_victim();
        let between = match () {
            () if is_controlled => u64::from(limits.goal_free_superblocks().saturating_sub(threshold).max(1)) * units_per_superblock,
            () if takes_no_time => gained,
            () => gained * u64::from(media.shape.mapping_units_per_superpage()) / moved.max(1),
        };
        let pages_per_unit = u64::from(superblock.pages_per_mapping_unit);
        CollectionOutlook { pages_until_collection: until * pages_per_unit, pages_between_collections: between.max(1) * pages_per_unit }
    }

    /// Returns the number of pages that the member can take before the host meets collection.
    ///
    /// Its write buffer has room for some of them. It can program the others until it must collect.
    pub fn pages_taken_before_collection(&self) -> u64 {
        let buffered = u64::from(self.front.buffer.room()) * u64::from(self.parts.params.pages_per_mapping_unit());
        buffered + self.collection_outlook().pages_until_collection
    }

    /// Returns the number of forced cycles, permissions or turns in which the member has collected something. `None` if it takes no part
    /// in the protocol.
    pub(crate) fn collecting_cycles(&self) -> Option<u64> {
        self.parts.agent.as_ref().map(Agent::collecting_cycles)
    }

    /// Returns the prospect of a read of logical page `page` that would be sent now. A die with pools that is idle checks its pools for
    /// it first, as it would if the read were sent (rule 240).
    ///
    /// All else that happens at this nanosecond has happened, and no shortcut is taken.
    pub(crate) fn busy(&mut self, now: TimeNs, page: u64, out: &mut SsdOutbox) -> ReadForecast {
        let mut busy = ReadForecast::default();
        self.act(out, |context| busy = context.forecast_read(now, page));
        busy
    }

    /// Returns the latest time at which collection lets a read into one of its dies, as estimated; `None` if none collects (rule 242).
    pub(crate) fn collects_until(&self, now: TimeNs) -> Option<TimeNs> {
        self.dies.collects_until(&self.space, &self.parts, now)
    }

    /// Ends all reads of this completion that wait for their die, unread. Returns their number.
    ///
    /// All else that happens at this nanosecond has happened, and no shortcut is taken.
    pub(crate) fn abandon_reads(&mut self, now: TimeNs, completion: u32, out: &mut SsdOutbox) -> u32 {
        let mut pages = 0;
        self.act(out, |context| pages = context.abandon_reads(now, completion));
        pages
    }

    /// Returns the counters of the member since the end of the warm-up, such as pages read, pages programmed and blocks erased.
    pub fn counters(&self) -> &MemberCounters {
        &self.parts.counters
    }

    /// Returns the counters that only drives with superblocks keep; `None` if the member has pools of blocks instead.
    pub fn superblock_counters(&self) -> Option<&SuperblockCounters> {
        self.dies.takes_superpages().then_some(&self.parts.drive_counters)
    }

    /// Returns the counters of submission queues, controller cores and write buffer, if the SSD models any of them.
    pub fn front_end_counters(&self) -> Option<&FrontEndCounters> {
        self.front.is_on().then_some(&self.front.counters)
    }

    /// Returns the counters of the mechanisms. Mechanisms are optional effects that take time of the dies: read retries and background
    /// work.
    pub fn die_delay_counters(&self) -> DieDelayMechanismCounters {
        self.dies.mechanism_counters()
    }

    /// Returns the mapping by reference.
    pub fn mapping(&self) -> Mapping<&PageMapping, &SuperblockMapping> {
        self.space.as_ref()
    }

    /// Replaces the mapping by one that was made with the same parameters.
    pub(crate) fn replace_mapping(&mut self, mapping: Mapping) {
        self.space = mapping;
    }

    /// Returns the mapping, for loading a warm state.
    pub fn mapping_mut(&mut self) -> Mapping<&mut PageMapping, &mut SuperblockMapping> {
        self.space.as_mut()
    }

    /// Starts to record the utilisation of the member over time: its page operations, their response times, and the working time of
    /// its dies. It must be called before the first operation.
    pub fn start_recording_utilisation(&mut self) {
        self.parts.usage = Some(Box::new(Usage::new()));
    }

    /// Starts the measured time in the record of the member's utilisation at `now`. No operation so far has arrived later.
    pub(crate) fn measure_usage_from(&mut self, now: TimeNs) {
        if let Some(agent) = &mut self.parts.agent {
            agent.duty_mut().measuring_begins();
        }
        if let Some(usage) = &mut self.parts.usage {
            usage.begin(now);
        }
    }

    /// Ends the measured time in the record of the member's utilisation at `now`.
    pub(crate) fn measure_usage_until(&mut self, now: TimeNs) {
        if let Some(usage) = &mut self.parts.usage {
            usage.end(now);
        }
    }

    /// Returns the length of the intervals in the record of the member's utilisation (its page operations and the working time of its
    /// dies), in nanoseconds. It starts at one microsecond, and doubles until at most 400 intervals cover the measured time. The
    /// result is 0 if nothing is recorded.
    pub fn utilisation_interval_ns(&self) -> u64 {
        self.parts.usage.as_ref().map_or(0, |usage| usage.interval_ns())
    }

    /// Returns the utilisation of the member (its page operations and the working time of its dies) over time. There is one entry for
    /// each of the first `count` intervals of the measured time. The run ended at `end_ns`. The list is empty if nothing is recorded.
    ///
    /// The intervals of the result are `interval_ns` long: [`Ssd::utilisation_interval_ns`] times a power of two (1, 2, 4 and so on).
    /// To this end, neighbouring recorded intervals are merged. Members may have recorded with different lengths, but their results
    /// can thus have the same intervals.
    pub fn utilisation_by_interval(&self, interval_ns: u64, count: usize, end_ns: TimeNs) -> Vec<MemberUtilisationInInterval> {
        let Some(usage) = &self.parts.usage else { return Vec::new() };
        usage.points(interval_ns, count, end_ns, self.dies(), self.dies.busy_periods(end_ns).into_iter())
    }

    /// Verifies the whole state.
    ///
    /// # Errors
    ///
    /// Returns a sentence that names the first invariant that does not hold.
    pub fn verify_invariants(&self) -> Result<(), String> {
        self.front.verify()?;
        self.dies.verify_buffer(&self.front)?;
        self.dies.verify_space(&self.space)
    }

    /// Returns true if flushes matter to the member.
    pub(crate) fn takes_flushes(&self) -> bool {
        self.front.is_on()
    }

    /// Returns the earliest start of a collection that has not been reported, because its end is unknown.
    pub(crate) fn oldest_open_clean(&self) -> Option<TimeNs> {
        self.dies.oldest_open_collection()
    }

    /// Returns the latest known end of an operation. It is 0 if the end of an operation is known only when it happens.
    pub(crate) fn busy_until(&self) -> TimeNs {
        self.dies.busy_until()
    }

    /// Returns the die and logical page number of logical page `page` of a member with pools (rule 7).
    #[inline]
    pub(crate) fn die_and_lpn(&self, page: u64) -> (DieId, Lpn) {
        let (own, pools) = self.dies.of_pages(&self.space);
        own.die_and_lpn(pools, page)
    }

    /// Returns true if the end of every operation is computed when the operation arrives.
    #[inline]
    pub(crate) fn is_immediate(&self) -> bool {
        self.dies.is_immediate()
    }

    /// Serves an operation of an immediate member, after all operations that the die has already received.
    #[inline]
    pub(crate) fn serve_now(&mut self, now: TimeNs, die: DieId, lpn: Lpn, kind: OpKind, cleans: &mut Vec<VictimBlockCollection>) -> Served {
        ImmediateContext::new(&mut self.dies, &mut self.space, &mut self.parts).serve_now(now, die, lpn, kind, cleans)
    }

    /// Returns the time of an operation of an immediate member that arrived at `now`, divided into causes.
    #[inline]
    pub(crate) fn time_of(&self, now: TimeNs, kind: OpKind, served: Served) -> OperationTimeParts {
        self.dies.of_pages(&self.space).0.time_of(now, kind, served)
    }

    /// Compares two operations of a request that arrived at `now`, and keeps the one that ends later in `last`.
    ///
    /// If both end at the same time, their times by cause decide, as in [`OperationTimeParts`]. The order of the calls therefore never
    /// matters.
    #[inline]
    pub(crate) fn keep_later(&self, now: TimeNs, kind: OpKind, last: &mut Served, served: Served) {
        let time = |served| self.time_of(now, kind, served);
        if served.end > last.end || (served.end == last.end && time(served) > time(*last)) {
            *last = served;
        }
    }

    /// Prefetches memory that an operation on logical page `page` will need.
    #[inline(always)]
    pub fn prefetch(&self, hint: SimulatorPrefetchTarget, page: u64) {
        if let Mapping::Superblocks(media) = &self.space {
            let unit = page / u64::from(self.parts.params.pages_per_mapping_unit());
            return match hint {
                SimulatorPrefetchTarget::MappingTableEntry => media.prefetch_map(unit),
                SimulatorPrefetchTarget::BlockRecord => media.prefetch_place(unit),
            };
        }
        let (own, pools) = self.dies.of_pages(&self.space);
        let (_, lpn) = own.die_and_lpn(pools, page);
        prefetch_in(pools, hint, lpn);
    }

    /// Prefetches like [`Ssd::prefetch`], for a page whose logical page number is known already.
    #[inline]
    pub(crate) fn prefetch_lpn(&self, hint: SimulatorPrefetchTarget, lpn: Lpn) {
        prefetch_in(self.dies.of_pages(&self.space).1, hint, lpn);
    }

    /// Starts to measure idle time at the beginning of the run, at 0. A die that has had nothing to do for `idle_collection_after_ns`
    /// begins to collect (rule 38). A drive with superblocks begins when the whole drive has been idle for so long (rule 216). If
    /// `idle_collection_after_ns` is not set, this method has no effect.
    pub fn start_idle_timers(&mut self, out: &mut SsdOutbox) {
        self.act(out, |context| context.begin());
    }

    /// Processes a page operation that arrives at `now`.
    ///
    /// `after_events_of_now` is true if all scheduled events of this nanosecond have run already, as when the host sends a request in
    /// reply to a completion. The operation then comes after these events, and otherwise before them.
    #[inline]
    pub fn submit(&mut self, now: TimeNs, op: LogicalPageOp, after_events_of_now: bool, out: &mut SsdOutbox) {
        if self.is_immediate() {
            let (die, lpn) = self.die_and_lpn(op.logical_page);
            let served = self.serve_now(now, die, lpn, op.kind, &mut out.collections);
            let time = self.time_of(now, op.kind, served);
            out.page_op_end_times.push(PageOpEnd {
                completion_tag: op.completion_tag,
                member: self.parts.member,
                is_read: op.kind == OpKind::Read,
                at: served.end,
                met_gc: served.met_gc(),
                time_parts: time,
            });
            return;
        }
        if let Some(agent) = &mut self.parts.agent {
            agent.count_operation(now, op.kind, out);
        }
        if self.front.is_on() {
            self.front.submit(now, op, out);
        } else {
            self.context(out).submit(now, op, after_events_of_now);
        }
    }

    /// Continues at a wake-up.
    pub(crate) fn wake(&mut self, now: TimeNs, wake: SsdWake, out: &mut SsdOutbox) {
        self.act(out, |context| context.wake(now, wake));
    }

    /// Returns true if a wake-up still has an effect. If the wait behind it was given up, it has none.
    pub(crate) fn needs_wake_up(&self, wake: SsdWake) -> bool {
        self.dies.needs_wake_up(wake)
    }

    /// Brings every die up to date: everything that ended before `now` is counted and reported.
    pub(crate) fn catch_up_all(&mut self, now: TimeNs, out: &mut SsdOutbox) {
        self.act(out, |context| context.catch_up(now, 0));
    }

    /// Brings every die up to date, including everything that ends at `now`.
    pub(crate) fn catch_up_through(&mut self, now: TimeNs, out: &mut SsdOutbox) {
        self.act(out, |context| context.catch_up(now, job::NEVER));
    }

    /// Lets no collection begin in idle time after `now`, because the last request has been served (rule 38). A collection that runs
    /// already goes on to its end.
    pub fn forbid_new_idle_collection(&mut self, now: TimeNs, out: &mut SsdOutbox) {
        self.act(out, |context| context.forbid_new_idle_collection(now));
    }

    /// Gives the member an agent, which follows the protocol of the array's controller. The member must not be immediate.
    pub(crate) fn become_ggc_aware(&mut self, now: TimeNs, duty: Duty, out: &mut SsdOutbox) {
        self.act(out, |context| context.catch_up(now, job::NEVER));
        self.parts.agent = Some(Agent::new(now, self.parts.member, duty, out));
        self.act(out, |context| context.agent_begins(now));
    }

    /// Processes a message of the controller. The caller must first process all other events of this nanosecond.
    pub(crate) fn receive(&mut self, now: TimeNs, message: ToMember, out: &mut SsdOutbox) {
        self.act(out, |context| {
            context.catch_up(now, job::NEVER);
            context.receive(now, message);
        });
    }

    /// Returns the end of the member's turn to collect while this turn lasts, and otherwise `None`.
    pub(crate) fn turn_lasts_until(&self, now: TimeNs) -> Option<TimeNs> {
        self.parts.agent.as_ref().and_then(|agent| agent.duty().turn_lasts_until(now))
    }

    /// Counts the answer to a page read that the member got at `given`, if its duty does.
    #[inline]
    pub(crate) fn count_read_in_window(&mut self, given: TimeNs, answered: TimeNs) {
        if let Some(agent) = &mut self.parts.agent {
            agent.duty_mut().read_answered(given, answered);
        }
    }

    /// Returns the counts of the windows of NVMe's predictable latency mode; `None` if the member has none.
    pub(crate) fn predictable_latency_counters(&self) -> Option<PredictableLatencyCounters> {
        self.parts.agent.as_ref().and_then(|agent| agent.duty().predictable_latency())
    }

    /// Adds the counters that the member keeps for the coordination scheme.
    pub(crate) fn add_scheme_counters(&self, counters: &mut SchemeCounters) {
        if let Some(agent) = &self.parts.agent {
            agent.duty().add_counters(counters);
        }
    }
}

#[inline]
fn prefetch_in(pools: &PageMapping, hint: SimulatorPrefetchTarget, lpn: Lpn) {
    match hint {
        SimulatorPrefetchTarget::MappingTableEntry => pools.prefetch_map(lpn),
        SimulatorPrefetchTarget::BlockRecord => pools.prefetch_block(lpn),
    }
}
