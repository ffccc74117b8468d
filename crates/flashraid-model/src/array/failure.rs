//! A member that fails, and its rebuilding on a spare (rules 58 and 62 to 64).

use super::FailureParams;
use crate::TimeNs;

/// The health of an array: what it does about a failed member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// No member has failed yet.
    Normal,
    /// One has, and is not being rebuilt.
    Degraded,
    /// Its strips are being rebuilt on the spare.
    Rebuilding,
    /// The spare has replaced it.
    Rebuilt,
}

impl Health {
    /// All of them, in order of time.
    pub const ALL: [Self; 4] = [Self::Normal, Self::Degraded, Self::Rebuilding, Self::Rebuilt];
}

/// How far failure and rebuilding have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureProgress {
    /// The member.
    pub member: u32,
    /// The spare that replaces it, if there is one.
    pub spare: Option<u32>,
    /// When it failed, if it has.
    pub failed_ns: Option<TimeNs>,
    /// When rebuilding began.
    pub rebuild_began_ns: Option<TimeNs>,
    /// When the last strip was rebuilt.
    pub rebuild_ended_ns: Option<TimeNs>,
    /// Strips that have been rebuilt.
    pub strips_rebuilt: u64,
    /// Strips of a member.
    pub strips: u64,
    /// Pages of a strip.
    pub strip_pages: u32,
}

/// What is to happen now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// This member fails.
    Fails(u32),
    /// Rebuilding begins on the spare.
    Replaced {
        /// The failed member.
        failed: u32,
        /// The spare that replaces it.
        spare: u32,
    },
    /// The strip of this stripe is to be rebuilt.
    Rebuild(u64),
}

/// The member that fails and the state of its rebuilding.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    params: FailureParams,
    progress: FailureProgress,
    health: Health,
    /// The first stripe that has not begun to be rebuilt.
    next_stripe: u64,
    /// Stripes that are being rebuilt.
    in_progress: Vec<u64>,
    /// What comes next comes then, unless something must be waited for.
    next_ns: TimeNs,
    /// The last request is done: nothing begins any more.
    over: bool,
    /// What the cache had when the member failed has not all been destaged: rebuilding does not begin (rule 86).
    flushing: bool,
}

impl Failure {
    /// `members` members with `strips` strips of `strip_pages` pages each, and the spare behind them.
    pub fn new(params: &FailureParams, members: u32, strips: u64, strip_pages: u32) -> Self {
        let progress = FailureProgress {
            member: params.member,
            spare: params.rebuild.map(|_| members),
            failed_ns: None,
            rebuild_began_ns: None,
            rebuild_ended_ns: None,
            strips_rebuilt: 0,
            strips,
            strip_pages,
        };
        Self {
            params: *params,
            progress,
            health: Health::Normal,
            next_stripe: 0,
            in_progress: Vec::new(),
            next_ns: params.at_ns,
            over: false,
            flushing: false,
        }
    }

    pub fn health(&self) -> Health {
        self.health
    }

    pub fn progress(&self) -> FailureProgress {
        self.progress
    }

    /// The member whose strip of `stripe` is lost.
    #[inline]
    pub fn lost(&self, stripe: u64) -> Option<u32> {
        (self.health != Health::Normal && !self.is_rebuilt(stripe)).then_some(self.params.member)
    }

    /// The member that stands in for `member` in `stripe`: itself, the spare, or none.
    #[inline]
    pub fn replacement(&self, member: u32, stripe: u64) -> Option<u32> {
        if member != self.params.member || self.health == Health::Normal {
            return Some(member);
        }
        self.progress.spare.filter(|_| self.is_rebuilt(stripe))
    }

    #[inline]
    fn is_rebuilt(&self, stripe: u64) -> bool {
        match self.health {
            Health::Normal | Health::Degraded => false,
            Health::Rebuilding => stripe < self.next_stripe && !self.in_progress.contains(&stripe),
            Health::Rebuilt => true,
        }
    }

    /// When [`Failure::step`] is due, as far as is known.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        let waits = match self.health {
            _ if self.over => true,
            Health::Normal => false,
            Health::Degraded => self.params.rebuild.is_none() || self.flushing,
            Health::Rebuilding => {
                self.next_stripe == self.progress.strips
                    || self.params.rebuild.is_none_or(|rebuild| self.in_progress.len() >= rebuild.in_flight as usize)
            }
            Health::Rebuilt => true,
        };
        (!waits).then_some(self.next_ns)
    }

    /// Does what is due.
    pub fn step(&mut self, now: TimeNs) -> Step {
        match (self.health, self.params.rebuild, self.progress.spare) {
            (Health::Degraded, Some(_), Some(spare)) => {
                self.health = Health::Rebuilding;
                self.progress.rebuild_began_ns = Some(now);
                Step::Replaced { failed: self.params.member, spare }
            }
            (Health::Rebuilding, Some(rebuild), _) => {
                let stripe = self.next_stripe;
                self.next_stripe += 1;
                self.in_progress.push(stripe);
                self.next_ns = now + rebuild.strip_ns;
                Step::Rebuild(stripe)
            }
            _ => {
                self.health = Health::Degraded;
                self.progress.failed_ns = Some(now);
                self.next_ns = now + self.params.rebuild.map_or(0, |rebuild| rebuild.delay_ns);
                Step::Fails(self.params.member)
            }
        }
    }

    /// The strip of `stripe` is on the spare.
    pub fn rebuilt(&mut self, now: TimeNs, stripe: u64) {
        self.in_progress.retain(|&other| other != stripe);
        self.progress.strips_rebuilt += 1;
        self.next_ns = self.next_ns.max(now);
        if self.progress.strips_rebuilt == self.progress.strips {
            self.health = Health::Rebuilt;
            self.progress.rebuild_ended_ns = Some(now);
        }
    }

    /// Whether what the cache had when the member failed has still to be destaged.
    pub fn set_flushing(&mut self, now: TimeNs, flushing: bool) {
        self.flushing = flushing;
        self.next_ns = self.next_ns.max(now);
    }

    /// The last request is done (rule 64).
    pub fn requests_are_over(&mut self) {
        let goes_on = self.health != Health::Normal && self.params.rebuild.is_some_and(|rebuild| rebuild.finish);
        self.over = !goes_on;
    }
}
