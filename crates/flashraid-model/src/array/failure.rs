//! Members that fail, and their rebuilding on spares (rules 58, 62 to 64, 153 and 154).

use super::{ArrayParams, MemberFailure, RebuildParams};
use crate::TimeNs;
use crate::placement::LostStrips;

/// Health of an array with respect to failed members (rule 160).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayHealth {
    /// No member has failed yet.
    Normal,
    /// A member has failed and has not been rebuilt. No strip is being rebuilt.
    Degraded,
    /// Strips are being rebuilt on a spare.
    Rebuilding,
    /// Spares have replaced all members that have failed.
    Rebuilt,
}

impl ArrayHealth {
    /// All values in order of time.
    pub const ALL: [Self; 4] = [Self::Normal, Self::Degraded, Self::Rebuilding, Self::Rebuilt];
}

/// Progress of one member's failure and of its rebuilding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberFailureAndRebuildState {
    /// Number of the failed member.
    pub member: u32,
    /// Number of the spare that replaces the failed member, if there is one.
    pub spare_member: Option<u32>,
    /// Time at which the member failed, in nanoseconds; `None` before it fails.
    pub failed_at_ns: Option<TimeNs>,
    /// Time at which the rebuilding of the member began, in nanoseconds; `None` before it begins.
    pub rebuild_began_ns: Option<TimeNs>,
    /// Time at which the last strip of the member was rebuilt or given up, in nanoseconds; `None` before that.
    pub rebuild_ended_ns: Option<TimeNs>,
    /// Number of strips that have been rebuilt.
    pub strips_rebuilt: u64,
    /// Number of strips that were given up, because too many strips of their stripe were lost.
    pub strips_lost: u64,
    /// Number of strips of a member.
    pub strips_of_member: u64,
    /// Number of pages in a strip.
    pub pages_per_strip: u32,
}

/// A step of a failure or of rebuilding that is due now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The member with this number fails.
    Fails(u32),
    /// Rebuilding on the spare begins.
    Replaced {
        /// Number of the failed member.
        failed_member: u32,
        /// Number of the spare that replaces the failed member.
        spare: u32,
    },
    /// The strip of a failed member in this stripe must be rebuilt.
    Rebuild {
        /// Index of the failure in the list of all failures, which is in order of time. The first has index 0.
        failure_index: u32,
        /// Number of the stripe.
        stripe: u64,
    },
}

/// A member that fails, and the state of its rebuilding.
#[derive(Debug, Clone)]
struct Failure {
    progress: MemberFailureAndRebuildState,
    /// The first stripe whose rebuilding has not begun.
    next_stripe: u64,
    /// Number of stripes that are being rebuilt.
    in_progress: u32,
    /// Earliest time of the next step. The step may come later, because some steps must also wait for other events.
    next_ns: TimeNs,
}

/// All members that fail during the run, in order of time.
#[derive(Debug, Clone)]
pub(super) struct Failures {
    rebuild: Option<RebuildParams>,
    list: Vec<Failure>,
    pub(crate) lost_strips: LostStrips,
    /// True after the last request has ended. From then on no member fails, and no further stripe is rebuilt unless the configuration asks
    /// for it.
    over: bool,
    /// True until everything that was in the write cache at a failure has been destaged. Rebuilding does not begin before (rule 86).
    flushing: bool,
}

impl Failure {
    fn has_failed(&self) -> bool {
        self.progress.failed_at_ns.is_some()
    }

    fn is_being_rebuilt(&self) -> bool {
        self.progress.rebuild_began_ns.is_some() && self.progress.rebuild_ended_ns.is_none()
    }
}

impl Failures {
    /// Returns the failures of members that have `strips` strips each. The first failures get the spares.
    pub(super) fn new(params: &ArrayParams, strips: u64) -> Self {
        let (spares, _) = params.spares_and_state();
        let failure = |(nth, failure): (u32, MemberFailure)| Failure {
            progress: MemberFailureAndRebuildState {
                member: failure.member,
                spare_member: (nth < spares).then_some(params.members + nth),
                failed_at_ns: None,
                rebuild_began_ns: None,
                rebuild_ended_ns: None,
                strips_rebuilt: 0,
                strips_lost: 0,
                strips_of_member: strips,
                pages_per_strip: params.stripe_unit_pages,
            },
            next_stripe: 0,
            in_progress: 0,
            next_ns: failure.at.ns,
        };
        let list = (0..).zip(params.failures_in_time_order()).map(failure).collect();
        Self { rebuild: params.rebuild, list, lost_strips: LostStrips::none(strips), over: false, flushing: false }
    }

    pub(super) fn health(&self) -> ArrayHealth {
        let mut failed = self.list.iter().filter(|failure| failure.has_failed()).peekable();
        if failed.peek().is_none() {
            ArrayHealth::Normal
        } else if self.list.iter().any(Failure::is_being_rebuilt) {
            ArrayHealth::Rebuilding
        } else if failed.all(|failure| failure.progress.rebuild_ended_ns.is_some()) {
            ArrayHealth::Rebuilt
        } else {
            ArrayHealth::Degraded
        }
    }

    /// Returns true if a member has failed.
    #[inline]
    pub(crate) fn any_member_has_failed(&self) -> bool {
        self.list.first().is_some_and(Failure::has_failed)
    }

    /// Returns the progress of each failure, in order of time.
    pub(super) fn progress(&self) -> impl Iterator<Item = MemberFailureAndRebuildState> {
        self.list.iter().map(|failure| failure.progress)
    }

    /// Returns the number of the failed member and of its spare.
    pub(crate) fn failed_and_spare(&self, failure: u32) -> (u32, Option<u32>) {
        let progress = &self.list[failure as usize].progress;
        (progress.member, progress.spare_member)
    }

    /// Returns the member that stands in for `member` in `stripe`: itself, its spare, or none.
    #[inline]
    pub(crate) fn replacement(&self, member: u32, stripe: u64) -> Option<u32> {
        let failed = self.list.iter().find(|failure| failure.progress.member == member && failure.has_failed());
        match failed {
            None => Some(member),
            Some(failure) => failure.progress.spare_member.filter(|_| !self.lost_strips.has(member, stripe)),
        }
    }

    /// Returns the time of the next step of one failure; `None` while it waits for another event.
    #[inline]
    fn next_time_of(&self, failure: &Failure) -> Option<TimeNs> {
        let Failure { progress, next_stripe, in_progress, next_ns, .. } = failure;
        if !failure.has_failed() {
            return (!self.over).then_some(*next_ns);
        }
        let rebuild = self.rebuild.filter(|rebuild| progress.spare_member.is_some() && (!self.over || rebuild.settings.finish))?;
        let waits = match progress.rebuild_began_ns {
            None => self.flushing,
            Some(_) => *next_stripe == progress.strips_of_member || *in_progress >= rebuild.settings.in_flight,
        };
        (!waits).then_some(*next_ns)
    }

    /// Returns the time at which [`Failures::step`] must be called; `None` while all failures wait for other events.
    #[inline]
    pub(super) fn next_time(&self) -> Option<TimeNs> {
        self.list.iter().filter_map(|failure| self.next_time_of(failure)).min()
    }

    /// Returns the first step that is due. Failures come before rebuilding; within both, earlier failures come first.
    pub(super) fn step(&mut self, now: TimeNs) -> Option<Step> {
        let is_due = |&at: &usize| self.next_time_of(&self.list[at]) == Some(now);
        let due = (0..self.list.len()).filter(is_due).min_by_key(|&at| (self.list[at].has_failed(), at))?;
        let failure = &mut self.list[due];
        let progress = &mut failure.progress;
        let member = progress.member;
        if progress.failed_at_ns.is_none() {
            progress.failed_at_ns = Some(now);
            failure.next_ns = now + self.rebuild.map_or(0, |rebuild| rebuild.settings.delay.ns);
            self.lost_strips.add_failed_member(member);
            return Some(Step::Fails(member));
        }
        if progress.rebuild_began_ns.is_none() {
            progress.rebuild_began_ns = Some(now);
            return Some(Step::Replaced { failed_member: member, spare: progress.spare_member? });
        }
        let stripe = failure.next_stripe;
        failure.next_stripe += 1;
        failure.in_progress += 1;
        failure.next_ns = now + self.rebuild?.strip_interval_min_ns;
        Some(Step::Rebuild { failure_index: due as u32, stripe })
    }

    /// Records that the rebuilding of a strip has ended. The strip is on the spare now, or `given_up` is true.
    pub(crate) fn strip_rebuild_ended(&mut self, now: TimeNs, failure: u32, stripe: u64, given_up: bool) {
        let Failure { progress, in_progress, next_ns, .. } = &mut self.list[failure as usize];
        *in_progress -= 1;
        *next_ns = (*next_ns).max(now);
        if given_up {
            progress.strips_lost += 1;
        } else {
            progress.strips_rebuilt += 1;
            self.lost_strips.remove_rebuilt_strip(progress.member, stripe);
        }
        if progress.strips_rebuilt + progress.strips_lost == progress.strips_of_member {
            progress.rebuild_ended_ns = Some(now);
        }
    }

    /// Sets whether the write cache still holds pages from the time of a failure.
    pub(crate) fn set_cache_is_flushing(&mut self, now: TimeNs, flushing: bool) {
        self.flushing = flushing;
        for failure in self.list.iter_mut().filter(|failure| failure.has_failed() && failure.progress.rebuild_began_ns.is_none()) {
            failure.next_ns = failure.next_ns.max(now);
        }
    }

    /// Notes that the last request is done (rule 64).
    pub(crate) fn last_request_is_done(&mut self) {
        self.over = true;
    }
}
