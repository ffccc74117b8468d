//! Read plans: the ways in which the array chooses the members from which a read is served. Each plan is one file. The layout only says
//! where copies lie.
//!
//! To add a plan, write its file and a line of `policies!` below. The keys of `[read]`, their schema, reference and checks come from there.
//! A plan that counts also has a line of `optional_counts!`, from which the counters, the JSON and the tables of reports come.
//!
//! A plan decides what is done with each part of a read ([`Plan::part_begins`]). `array/stripes/read.rs` does it.

mod part;

use super::members::Members;
use super::stripe_pages::StripePages;
use crate::TimeNs;
use crate::placement::Redundancy;
use crate::policy::{ParameterProblem, policies};
use crate::rng::RandomStream;
pub use avoid::{HostKnowledgeOfCollection, HostKnowledgeOfRemainingCollection, PlannedReads};
pub use hedge::{HedgeDelay, HedgedReads, UnneededReadCancellation};
pub(super) use part::{LateRead, Part, ReadAction};
pub use predict::PredictedReads;
pub use shortest_queue::BalancedReads;

policies! {
    /// Read plan: the way in which the array chooses where a read gets its data, from which copy or by parity.
    #[derive(Clone, PartialEq)]
    pub enum ReadPlan: Plan, tag "plan" {
        home::Home = "home",
        avoid::Avoid = "avoid",
        hedge::Hedge = "hedge",
        predict::Predict = "predict",
        shortest_queue::ShortestQueue = "shortest-queue",
    }

    /// Returns the problems of the plan's parameters: values that their types admit, but that are not allowed.
    pub fn problems(&self) -> Vec<ParameterProblem>;
    /// Returns the parameters that have no effect because of others, each with the setting that it needs.
    pub fn parameters_without_effect(&self) -> Vec<(&'static str, &'static str)>;
    /// Returns the parameter with which the plan needs members that take turns to collect; `None` if it does not need them.
    pub fn parameter_that_needs_turns(&self) -> Option<&'static str>;
    /// Returns true if the plan only matters while members collect.
    pub fn is_about_collection(&self) -> bool;
    /// Returns true if the plan chooses for each read where to get its data, in an array that has parity or copies.
    pub fn has_choice(&self, redundancy: Redundancy) -> bool;
    pub(super) fn begin(&mut self, seed: u64, members: &mut Members);
    pub(super) fn begins_after_ns(&self) -> u64;
    pub(super) fn reads_each_strip_by_itself(&self) -> bool;
    pub(super) fn part_begins(&mut self, part: &mut Part<'_>) -> ReadAction;
    pub(super) fn late_after_ns(&mut self, now: TimeNs, members: &[u32]) -> Option<u64>;
    pub(super) fn abandons_unneeded_reads(&self) -> bool;
    pub(super) fn note(&mut self, event: LateRead);
    pub(super) fn reads_before_write(&mut self, part: &mut Part<'_>, other: &dyn Fn() -> StripePages) -> Option<(StripePages, u64)>;
    pub(super) fn add_counters(&self, counters: &mut ReadPlanCounters);
}

/// A read plan. The public fields of its type are the parameters that users write, each with a default. State that is not a parameter is
/// skipped by serde.
pub(super) trait Plan: Default {
    /// Returns the problems of the plan's parameters: values that their types admit, but that are not allowed.
    fn problems(&self) -> Vec<ParameterProblem> {
        Vec::new()
    }

    /// Returns the parameters that have no effect because of others, each with the setting that it needs.
    fn parameters_without_effect(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// Returns the parameter with which the plan needs members that take turns to collect; `None` if it does not need them.
    fn parameter_that_needs_turns(&self) -> Option<&'static str> {
        None
    }

    /// Returns true if the plan only matters while members collect.
    fn is_about_collection(&self) -> bool {
        false
    }

    /// Returns true if the plan chooses for each read where to get its data, in an array with this redundancy. Without a choice,
    /// none of the methods below is called.
    fn has_choice(&self, redundancy: Redundancy) -> bool {
        redundancy != Redundancy::None
    }

    /// Prepares the plan for a run with these members.
    fn begin(&mut self, _seed: u64, _members: &mut Members) {}

    /// Returns the time from the arrival of a read until its parts begin, in nanoseconds.
    fn begins_after_ns(&self) -> u64 {
        0
    }

    /// Returns true if all that a part reads of one strip is a command of its own. Only then may a part be late (rule 247).
    fn reads_each_strip_by_itself(&self) -> bool {
        false
    }

    /// Decides what is done with a part of a read. All else of this nanosecond has happened.
    fn part_begins(&mut self, _part: &mut Part<'_>) -> ReadAction {
        ReadAction::Read
    }

    /// Returns the time after which a part that begins now is late; `None` if it cannot be late. The part reads from these members.
    fn late_after_ns(&mut self, _now: TimeNs, _members: &[u32]) -> Option<u64> {
        None
    }

    /// Returns true if reads that nobody needs any more are dropped while they wait for their dies.
    fn abandons_unneeded_reads(&self) -> bool {
        false
    }

    /// Learns of an event of a part whose strips are read by themselves.
    fn note(&mut self, _event: LateRead) {}

    /// Chooses the reads before a write with parity. Those of `part` are the fewest, and `other` returns those of the other method.
    /// Returns these if they are to be made instead, with the time after which they are made.
    fn reads_before_write(&mut self, _part: &mut Part<'_>, _other: &dyn Fn() -> StripePages) -> Option<(StripePages, u64)> {
        None
    }

    /// Sets the counters that the plan keeps.
    fn add_counters(&self, _counters: &mut ReadPlanCounters) {}

    /// Returns a plan with random parameters, for random cases in tests.
    fn random_for_tests(_stream: &mut RandomStream) -> Self {
        Self::default()
    }
}

optional_counts! {
    /// Counters of the read plan. Each set is `None` unless the plan keeps it.
    pub struct ReadPlanCounters {
        /// Counters of the plan `avoid`.
        planned_reads: PlannedReads;
        /// Counters of reads that were also made elsewhere because they took long, of the plans `hedge` and `predict`.
        hedged_reads: HedgedReads;
        /// Counters of the plan `predict`.
        predicted_reads: PredictedReads;
        /// Counters of the plan `shortest-queue`.
        balanced_reads: BalancedReads;
    }
}
