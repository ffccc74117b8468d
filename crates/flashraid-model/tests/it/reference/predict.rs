//! Reads that are made elsewhere at once if they are called slow (rules 253 to 255).

use std::collections::BTreeSet;

use flashraid_model::array::{ArrayParams, Predict, PredictedReads, ReadPlan};
use flashraid_model::rng;

use super::Simulation;
use super::parity::{Phase, Places, data_columns, in_order, member_of};

/// Draws and counts of the predictor.
pub struct Predicting {
    draws: rng::RandomStream,
    pub counters: PredictedReads,
}

impl Predicting {
    pub fn new(seed: u64) -> Predicting {
        Predicting { draws: rng::stream(seed, "predict", 0), counters: PredictedReads::default() }
    }
}

/// Returns true if the plan predicts, whether or not there is a choice.
pub fn predicts(params: &ArrayParams) -> bool {
    plan_of(params).is_some()
}

pub(super) fn plan_of(params: &ArrayParams) -> Option<&Predict> {
    if let ReadPlan::Predict(predict) = &params.read_plan { Some(predict) } else { None }
}

/// Returns the time that a prediction takes before each read.
pub fn cost_ns(params: &ArrayParams) -> u64 {
    plan_of(params).map_or(0, |predict| predict.cost.ns)
}

impl Simulation<'_> {
    fn predicting(&mut self) -> &mut Predicting {
        &mut self.stripes().predicting
    }

    fn is_called_slow(&mut self, member: usize, pages: &[u64]) -> bool {
        let begins = self.see_pages(member, pages).start;
        let (slow, false_accept, false_reject) = {
            let predict = plan_of(&self.case.params).expect("reads are predicted");
            (predict.slow.ns, predict.false_accept.0, predict.false_reject.0)
        };
        let is_slow = begins > self.now + slow;
        let predicting = self.predicting();
        let drawn = rng::uniform(&mut predicting.draws);
        let counters = &mut predicting.counters;
        if is_slow {
            let called_fast = drawn < false_accept;
            counters.slow_reads_called_fast += u64::from(called_fast);
            counters.slow_reads_called_slow += u64::from(!called_fast);
            !called_fast
        } else {
            let called_slow = drawn < false_reject;
            counters.fast_reads_called_slow += u64::from(called_slow);
            counters.fast_reads_called_fast += u64::from(!called_slow);
            called_slow
        }
    }

    fn is_strip_called_slow(&mut self, stripe: u64, strip: usize, places: &BTreeSet<u64>) -> bool {
        let member = self.server(stripe, member_of(&self.case.params, stripe, strip)).expect("it is not lost");
        let pages: Vec<u64> = places.iter().map(|&place| self.page_at(stripe, place)).collect();
        self.is_called_slow(member, &pages)
    }

    /// A read that asks for no lost page.
    pub fn predict_free_read(&mut self, number: usize, places: &Places) {
        let stripe = self.stripes().operations[number].stripe;
        let mut first = places.clone();
        if let Some(way) = self.way_round_slow(stripe, places) {
            let lock = self.stripes().locks.entry(stripe).or_default();
            let (is_awaited, held_by) = (!lock.waiting.is_empty(), lock.held_by.clone());
            if is_awaited || held_by.iter().any(|&holder| !self.shares(holder)) {
                self.predicting().counters.stripe_reads_locked_out += 1;
            } else {
                let now = self.now;
                let stripes = self.stripes();
                stripes.locks.get_mut(&stripe).expect("it has been looked at").held_by.push(number);
                stripes.operations[number].got_lock_ns = now;
                self.goes_round(places, &way);
                first = way;
            }
        }
        self.begins_to_read(number, places.clone(), first, None);
    }

    /// A read that has the lock of its stripe, since it asked for lost pages.
    pub fn predict_locked_read(&mut self, number: usize, wanted: &Places, phases: Vec<Phase>) {
        let stripe = self.stripes().operations[number].stripe;
        let Some(way) = self.way_round_slow(stripe, wanted) else {
            return self.hedge_locked_read(number, wanted, phases);
        };
        let plain = phases.iter().map(|phase| phase.pages.len()).sum();
        self.made_elsewhere(plain, &way);
        self.begins_to_read(number, wanted.clone(), way, None);
    }

    fn goes_round(&mut self, plain: &Places, way: &Places) {
        self.made_elsewhere(in_order(plain).len(), way);
    }

    fn made_elsewhere(&mut self, plain: usize, way: &Places) {
        let pages = in_order(way).len();
        let counters = &mut self.predicting().counters;
        counters.stripe_reads_made_elsewhere += 1;
        counters.pages_added += (pages - plain) as u64;
    }

    /// Returns all that is read instead of what is called slow. It returns `None` if nothing is, or if some of each way is called slow.
    fn way_round_slow(&mut self, stripe: u64, wanted: &Places) -> Option<Places> {
        let params = &self.case.params;
        let (columns, strips) = (data_columns(params), params.members as usize);
        let lost = self.lost_strips(stripe);
        let mut slow = BTreeSet::new();
        for (&strip, places) in wanted.iter().filter(|(strip, _)| !lost.contains(strip)) {
            if self.is_strip_called_slow(stripe, strip, places) {
                slow.insert(strip);
            }
        }
        self.predicting().counters.stripe_reads += 1;
        if slow.is_empty() {
            return None;
        }
        self.predicting().counters.stripe_reads_called_slow += 1;
        let all: BTreeSet<u64> = wanted.values().flatten().copied().collect();
        let mut slow_others = Vec::new();
        for strip in (0..strips).filter(|strip| !lost.contains(strip) && !wanted.contains_key(strip)) {
            if self.is_strip_called_slow(stripe, strip, &all) {
                slow_others.push(strip);
            }
        }
        if slow_others.iter().any(|&strip| strip < columns) {
            return None;
        }
        let unread: Vec<usize> = lost.into_iter().chain(slow).collect();
        let needed = unread.iter().filter(|&&strip| strip < columns).count();
        let parity: Vec<usize> = self.parity_left(stripe).into_iter().filter(|strip| !slow_others.contains(strip)).take(needed).collect();
        (parity.len() == needed).then(|| self.read_without(wanted, unread, &parity))
    }

    /// Reads the first copy that is called fast.
    pub fn predict_read_of_copy(&mut self, number: usize, strip: u64, places: &BTreeSet<u64>) {
        let (stripe, job) = (self.stripes().operations[number].stripe, self.stripes().operations[number].job);
        let copies = self.copies_in_turn(strip);
        if copies.is_empty() {
            self.loses(job.and_then(|job| self.request_of(job)), places.len());
            self.phase_of_reads(number, 0);
            return self.schedule_ordered(self.now, super::PHASE_RANK, number as u64, super::Event::PhaseOver { number });
        }
        let pages: Vec<u64> = places.iter().map(|&place| self.page_at(stripe, place)).collect();
        let chosen = (0..copies.len()).find(|&copy| !self.is_called_slow(copies[copy], &pages));
        let counters = &mut self.predicting().counters;
        counters.stripe_reads += 1;
        match chosen {
            Some(0) => {}
            None => counters.stripe_reads_called_slow += 1,
            Some(_) => {
                counters.stripe_reads_called_slow += 1;
                counters.stripe_reads_made_elsewhere += 1;
            }
        }
        let places = Places::from([(0, places.clone())]);
        self.begins_to_read(number, places.clone(), places, Some(copies[chosen.unwrap_or(0)]));
    }
}
