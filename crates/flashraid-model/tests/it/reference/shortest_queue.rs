//! Reads of the copy with the shortest queue (rules 281 and 282).

use std::collections::BTreeSet;

use flashraid_model::array::{ArrayParams, BalancedReads, ReadPlan};
use flashraid_model::placement::RaidLevel;

use super::Simulation;

/// Moments at which operations were given to each member, and at which they were answered, and the counts of the plan.
#[derive(Default)]
pub(super) struct Balancing {
    pub given: Vec<(usize, u64)>,
    pub answered: Vec<(usize, u64)>,
    pub counters: BalancedReads,
}

/// Returns true if reads go to the copy with the shortest queue.
pub(super) fn balances(params: &ArrayParams) -> bool {
    matches!(params.read_plan, ReadPlan::ShortestQueue(_)) && matches!(params.level, RaidLevel::Raid1 | RaidLevel::Raid10)
}

impl Simulation<'_> {
    fn queue_of(&self, member: usize) -> usize {
        let given = self.balancing.given.iter().filter(|(of, _)| *of == member).count();
        let answered = self.balancing.answered.iter().filter(|&&(of, at)| of == member && at <= self.now).count();
        given - answered
    }

    pub(super) fn read_shortest_queue(&mut self, number: usize, strip: u64, places: &BTreeSet<u64>) {
        let copies = self.copies_in_turn(strip);
        let queues: Vec<usize> = copies.iter().map(|&copy| self.queue_of(copy)).collect();
        let shortest = *queues.iter().min().expect("a copy is left");
        let chosen = queues.iter().position(|&queue| queue == shortest).expect("one is the shortest");
        let counters = &mut self.balancing.counters;
        counters.strip_reads += 1;
        counters.strip_reads_made_elsewhere += u64::from(chosen > 0);
        counters.strip_reads_with_equal_queues += u64::from(*queues.iter().max().expect("a copy is left") == shortest);
        let stripe = self.stripes().operations[number].stripe;
        let pages = places.iter().map(|&place| (copies[chosen], self.page_at(stripe, place))).collect();
        self.reads_for_job(number, pages);
    }
}
