//! One member SSD: page operations in, their ends out.
//!
//! ```text
//!  submit ─▶ front ─────────────▶ dies ─▶ end            wake ─▶ what waits at the front or in the dies goes on
//!            queues, cores,        │  ▲
//!            link, write buffer    ▼  │
//!                                 space: what lies where;  collect: what is due;  agent: the array's controller
//! ```
//!
//! | part | knows |
//! |---|---|
//! | `job` | nothing: plain types that the parts pass to each other |
//! | `params`, `counters`, `worked`, `usage`, `mechanism`, `wire`, `outbox` | these types |
//! | `agent`, `front`, `collect` | the above, not each other |
//! | `parts` | what every SSD has once, whatever its dies take |
//! | `die` | all of the above: what the dies do, and what follows from it |
//!
//! [`Ssd`] is the only place that holds the parts. For a call it lends them to the dies, as a `Turn`.
//!
//! Two shortcuts compute the same sooner. With *immediate* the end of an operation follows from its arrival, with *collapsed* nothing can
//! interrupt what a die does.

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
mod worked;

use crate::coordination::{MemberRole, ToMember};
use crate::events::{GcInterval, TimeNs, TimeParts};
use crate::ids::{DieId, Lpn, MemberId};
use crate::request::OpKind;
use crate::space::Space;
use crate::space::pools::Pools;
use crate::space::superblocks::Superblocks;
use agent::Agent;
pub use counters::{ByHandle, DriveCounters, FrontCounters, MemberCounters};
pub(crate) use die::Served;
use die::{Dies, ImmediateTurn, Turn};
use front::Front;
pub use job::{FrontWake, OpEnd, Owed, PageOp, SsdWake, SuperpageWake, Worker};
pub use mechanism::{Figure, Figures, MechanismCounters, Mechanisms};
pub use outbox::{Outbox, Programmed};
pub use params::*;
use parts::Parts;
use usage::Usage;
pub use usage::UsagePoint;

/// Memory that can be brought near before an operation comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// The map entry of its page.
    Map,
    /// The block that the map entry leads to, given that the first hint has had time.
    Block,
}

/// One member SSD, made of parts.
#[derive(Debug, Clone)]
pub struct Ssd {
    /// Settings, agent, counters and records.
    parts: Parts,
    /// The mapping: what lies where.
    space: Space,
    /// The front before the dies.
    front: Front,
    /// The dies, and what is on its way to them.
    dies: Dies,
}

impl Ssd {
    /// A filled SSD; a `controlled` one may be forced to collect by the array's controller.
    pub fn new(params: &SsdParams, seed: u64, member: MemberId, controlled: bool, shortcuts: Shortcuts) -> Self {
        let mut params = params.clone();
        params.timing = params.timing.with_shares(&params.geometry);
        if params.gc.instantaneous {
            // There is nothing to preempt, and nothing to do in idle time (rule 109).
            (params.gc.preemption, params.gc.idle_ns) = (None, None);
        }
        let space = Space::filled(&params.space(), seed, member.0);
        let front = Front::new(params.front(), params.link, member, params.unit_pages(), params.handles());
        let dies = Dies::new(&params, &space, seed, member, controlled, shortcuts);
        Self { parts: Parts::new(member, params), space, front, dies }
    }

    /// Lends the parts to the dies.
    fn turn<'a>(&'a mut self, out: &'a mut Outbox) -> Turn<'a> {
        Turn::new(&mut self.dies, &mut self.space, &mut self.front, &mut self.parts, out)
    }

    /// Lends the parts to the dies, and records the operations that have ended at the front. Dies record those of others.
    fn act(&mut self, out: &mut Outbox, act: impl FnOnce(&mut Turn)) {
        let told = out.ends.len();
        act(&mut self.turn(out));
        if self.front.is_on() {
            self.parts.record_operations(told, out);
        }
    }

    /// Number of the member in the array.
    pub fn member(&self) -> MemberId {
        self.parts.member
    }

    /// Dies of the member.
    pub fn dies(&self) -> u32 {
        self.parts.params.geometry.dies
    }

    /// The counts at `now`; of what dies do with superpages the time until then counts.
    pub fn counters_at(&self, now: TimeNs) -> (MemberCounters, Option<DriveCounters>) {
        self.dies.counters_at(now, &self.parts)
    }

    /// Returns the work that is still to be done at `now` for what it has been given.
    pub fn owed(&self, now: TimeNs) -> Owed {
        let buffered_pages = u64::from(self.front.buffer.used()) * u64::from(self.parts.params.unit_pages());
        let preemptive = self.parts.params.gc.preemption.is_some();
        Owed { buffered_pages, ..self.dies.owed(&self.space, preemptive, now) }
    }

    /// Counts since the end of the warm-up.
    pub fn counters(&self) -> &MemberCounters {
        &self.parts.counters
    }

    /// Counts of superpages and superblocks, if it has any.
    pub fn drive_counters(&self) -> Option<&DriveCounters> {
        self.dies.takes_superpages().then_some(&self.parts.drive_counters)
    }

    /// Counts of what stands before the dies, if anything does.
    pub fn front_counters(&self) -> Option<&FrontCounters> {
        self.front.is_on().then_some(&self.front.counters)
    }

    /// Returns the counters of its mechanisms.
    pub fn mechanism_counters(&self) -> MechanismCounters {
        self.dies.mechanism_counters()
    }

    /// Returns the mapping by reference.
    pub fn space(&self) -> Space<&Pools, &Superblocks> {
        self.space.as_ref()
    }

    /// Returns the mapping, for loading or copying a warm state.
    pub fn space_mut(&mut self) -> Space<&mut Pools, &mut Superblocks> {
        self.space.as_mut()
    }

    /// Starts to record how the member is used. This comes before anything has happened.
    pub fn record_usage(&mut self) {
        self.parts.usage = Some(Box::new(Usage::new()));
    }

    /// Starts to count what is recorded at `now`, which is no earlier than any operation that has come.
    pub fn measure_usage_from(&mut self, now: TimeNs) {
        if let Some(usage) = &mut self.parts.usage {
            usage.begin(now);
        }
    }

    /// Stops to count what is recorded at `now`.
    pub fn measure_usage_until(&mut self, now: TimeNs) {
        if let Some(usage) = &mut self.parts.usage {
            usage.end(now);
        }
    }

    /// Returns the length of the intervals in which use is recorded, in nanoseconds. It is a microsecond, doubled until there are at most
    /// 400; 0 if nothing is recorded.
    pub fn usage_interval_ns(&self) -> u64 {
        self.parts.usage.as_ref().map_or(0, |usage| usage.interval_ns())
    }

    /// Returns how the member was used from the begin of the measured time on, in a run that ended at `end_ns`. There are `count`
    /// intervals of `interval_ns`, which is [`Ssd::usage_interval_ns`] or that several times doubled. The list is empty if nothing is
    /// recorded.
    pub fn usage(&self, interval_ns: u64, count: usize, end_ns: TimeNs) -> Vec<UsagePoint> {
        let Some(usage) = &self.parts.usage else { return Vec::new() };
        usage.points(interval_ns, count, end_ns, self.dies(), self.dies.works(end_ns).into_iter())
    }

    /// Verifies its whole state.
    ///
    /// # Errors
    /// A sentence that names the first invariant that does not hold.
    pub fn verify(&self) -> Result<(), String> {
        self.front.verify()?;
        self.dies.verify_buffer(&self.front)?;
        self.space().verify()
    }

    /// Returns true if a flush is something to do.
    pub(crate) fn takes_flushes(&self) -> bool {
        self.front.is_on()
    }

    /// Start of the oldest collection whose end is not known yet, or of one that is not known at all.
    pub fn oldest_open_clean(&self) -> Option<TimeNs> {
        self.dies.oldest_open_collection()
    }

    /// The latest end that is known of what it has taken; 0 where ends become known one after the other.
    pub(crate) fn busy_until(&self) -> TimeNs {
        self.dies.busy_until()
    }

    /// Die and logical page number of logical page `page` (rule 7); of a member with pools.
    #[inline]
    pub(crate) fn home(&self, page: u32) -> (DieId, Lpn) {
        let (own, pools) = self.dies.of_pages(&self.space);
        own.home(pools, page)
    }

    /// Every operation is served when it comes.
    #[inline]
    pub fn is_immediate(&self) -> bool {
        self.dies.is_immediate()
    }

    /// Serves an operation of an immediate member, behind everything that the die has taken before.
    #[inline]
    pub(crate) fn serve_now(&mut self, now: TimeNs, die: DieId, lpn: Lpn, kind: OpKind, cleans: &mut Vec<GcInterval>) -> Served {
        ImmediateTurn::new(&mut self.dies, &mut self.space, &mut self.parts).serve_now(now, die, lpn, kind, cleans)
    }

    /// Returns the parts of the time of an operation of an immediate member that arrived at `now`.
    pub(crate) fn time_of(&self, now: TimeNs, kind: OpKind, served: &Served) -> TimeParts {
        self.dies.of_pages(&self.space).0.time_of(now, kind, served)
    }

    /// Brings near what serving logical page `page` will read.
    #[inline]
    pub fn prefetch(&self, hint: Hint, page: u32) {
        if let Space::Superblocks(media) = &self.space {
            let unit = page / self.parts.params.unit_pages();
            return match hint {
                Hint::Map => media.prefetch_map(unit),
                Hint::Block => media.prefetch_place(unit),
            };
        }
        let (own, pools) = self.dies.of_pages(&self.space);
        let (die, lpn) = own.home(pools, page);
        prefetch_in(pools, hint, lpn);
        if hint == Hint::Block && own.is_immediate() && pools.needs_clean(die) {
            pools.prefetch_clean(die);
        }
    }

    /// Does the same as [`Ssd::prefetch`], but for the clean before the operation.
    #[inline]
    pub(crate) fn prefetch_lpn(&self, hint: Hint, lpn: Lpn) {
        prefetch_in(self.dies.of_pages(&self.space).1, hint, lpn);
    }

    /// Starts the first rests, which begin with the run.
    pub fn begin(&mut self, out: &mut Outbox) {
        self.act(out, |turn| turn.begin());
    }

    /// Takes a page operation. With `moment_is_over` all else that is scheduled for this nanosecond has happened, as when a closed loop
    /// answers.
    #[inline]
    pub fn submit(&mut self, now: TimeNs, op: PageOp, moment_is_over: bool, out: &mut Outbox) {
        if self.is_immediate() {
            let (die, lpn) = self.home(op.page);
            let served = self.serve_now(now, die, lpn, op.kind, &mut out.collections);
            let time = self.time_of(now, op.kind, &served);
            out.ends.push(OpEnd { completion: op.completion, member: self.parts.member, at: served.end, met_gc: served.met_gc, time });
            return;
        }
        if let Some(agent) = &mut self.parts.agent {
            agent.given(op.kind);
        }
        if self.front.is_on() {
            self.front.submit(now, op, out);
        } else {
            self.turn(out).submit(now, op, moment_is_over);
        }
    }

    /// Goes on at a wake-up.
    pub fn wake(&mut self, now: TimeNs, wake: SsdWake, out: &mut Outbox) {
        self.act(out, |turn| turn.wake(now, wake));
    }

    /// Returns true if a wake-up still means something; those of waits that have been given up do not.
    pub fn expects_wake(&self, wake: SsdWake) -> bool {
        self.dies.expects(wake)
    }

    /// Brings every die up to date: all that ended before `now` is counted and reported.
    pub fn catch_up_all(&mut self, now: TimeNs, out: &mut Outbox) {
        self.act(out, |turn| turn.catch_up(now, 0));
    }

    /// The same with all that ends now.
    pub fn catch_up_with(&mut self, now: TimeNs, out: &mut Outbox) {
        self.act(out, |turn| turn.catch_up(now, job::NEVER));
    }

    /// After `now` no idle collection begins (rule 38). Wake-ups for it are void from now on.
    pub fn end_idle_collection(&mut self, now: TimeNs, out: &mut Outbox) {
        self.act(out, |turn| turn.end_idle_collection(now));
    }

    /// Gives the member an agent, which speaks the protocol with the array's controller. The member must not be immediate.
    pub fn become_ggc_aware(&mut self, now: TimeNs, role: MemberRole, out: &mut Outbox) {
        self.act(out, |turn| turn.catch_up(now, job::NEVER));
        self.parts.agent = Some(Agent::new(self.parts.member, role));
        self.act(out, |turn| turn.agent_begins(now));
    }

    /// A message of the controller has arrived; all else that happens at this nanosecond has happened.
    pub fn receive(&mut self, now: TimeNs, message: ToMember, out: &mut Outbox) {
        self.act(out, |turn| {
            turn.catch_up(now, job::NEVER);
            turn.receive(now, message);
        });
    }

    /// All else of this nanosecond has happened: asks the controller softly if there is reason to (rule 119).
    pub fn may_ask(&mut self, now: TimeNs, out: &mut Outbox) {
        self.act(out, |turn| {
            turn.catch_up(now, job::NEVER);
            turn.may_ask(now);
        });
    }
}

#[inline]
fn prefetch_in(pools: &Pools, hint: Hint, lpn: Lpn) {
    match hint {
        Hint::Map => pools.prefetch_map(lpn),
        Hint::Block => pools.prefetch_block(lpn),
    }
}
