//! Parts of reads that are made elsewhere at once if a predictor calls them slow (rules 253 to 255).
//!
//! What a part reads by its prediction is read as in `hedged.rs`, and may be read elsewhere once more if it takes long.

use super::super::members::Members;
use super::super::read_plan::Predictor;
use super::super::stripe_pages::{plan_read, read_around};
use super::Stripes;
use crate::TimeNs;
use crate::placement::StripRoles;
use crate::ssd::ReadForecast;

impl Stripes {
    fn predictor(&mut self) -> &mut Predictor {
        self.planning().predictor.as_mut().expect("reads are predicted")
    }

    /// Returns true if the read plan predicts.
    pub(super) fn predicts(&self) -> bool {
        self.planning.as_ref().is_some_and(|planning| planning.predictor.is_some())
    }

    /// Returns the time that a prediction takes before a read, in nanoseconds.
    pub(super) fn prediction_ns(&self) -> u64 {
        self.planning.as_ref().and_then(|planning| planning.predictor.as_ref()).map_or(0, Predictor::cost_ns)
    }

    /// Predicts a read of these pages of a member. Returns true if it is called slow.
    fn calls_slow(&mut self, now: TimeNs, member: u32, pages: &[u64], members: &mut Members) -> bool {
        let mut forecast = ReadForecast::not_on_flash(now);
        for &page in pages {
            let _taken_later = members.act_on_member(member, |ssd, out| forecast = forecast.combine(ssd.busy(now, page, out)));
        }
        self.predictor().calls_slow(now, forecast.read_begins)
    }

    /// Reads a part in a stripe with parity. If pages of it are lost, it has the lock of its stripe.
    pub(super) fn read_predicted(&mut self, now: TimeNs, id: u32, lost: StripRoles, mut has_lock: bool, members: &mut Members) {
        let shape = self.route.layout.stripe_shape();
        let mut around = self.predicted_way(now, id, lost, members);
        if around.is_some() && !has_lock {
            has_lock = self.locks.try_share(self.operations[id as usize].stripe);
            if !has_lock {
                self.predictor().counters.stripe_reads_locked_out += 1;
                around = None;
            }
        }
        let operation = &mut self.operations[id as usize];
        let wanted = operation.pages.clone();
        if !lost.exceeds_parity(shape) {
            let (replaced, more) = plan_read(shape, lost, &mut operation.pages);
            self.counters.pages_reconstructed += u64::from(replaced);
            self.counters.pages_read_to_reconstruct += u64::from(more);
        }
        if let Some((replaced, parity)) = around {
            let pages_without = operation.pages.page_count();
            operation.pages.copy_from(&wanted);
            read_around(shape, StripRoles(lost.0 | replaced.0), parity, &mut operation.pages);
            let pages_added = u64::from(operation.pages.page_count()) - u64::from(pages_without);
            let counters = &mut self.predictor().counters;
            counters.stripe_reads_made_elsewhere += 1;
            counters.pages_added += pages_added;
        }
        if self.operations[id as usize].pages.page_count() == 0 {
            return self.issue_phase(now, id, members, true);
        }
        self.begin_hedged(now, id, wanted, None, has_lock, members);
    }

    /// Returns the columns that a part replaces because they are called slow, and the parity strips for them. It returns `None` if the part
    /// reads as without a plan.
    fn predicted_way(&mut self, now: TimeNs, id: u32, lost: StripRoles, members: &mut Members) -> Option<(StripRoles, StripRoles)> {
        let shape = self.route.layout.stripe_shape();
        let operation = &self.operations[id as usize];
        let (stripe, wanted) = (operation.stripe, operation.pages.clone());
        let first_page = self.route.layout.stripe_first_page_on_member(stripe);
        let mut slow = 0_u128;
        for role in wanted.roles().iter().filter(|&role| !lost.has(role)) {
            let pages: Vec<u64> = wanted.offsets_in_strip(role).map(|offset| first_page + u64::from(offset)).collect();
            slow |= u128::from(self.calls_slow(now, self.member_of(stripe, role), &pages, members)) << role;
        }
        self.predictor().counters.stripe_reads += 1;
        let replaced = StripRoles(slow);
        if replaced.is_empty() {
            return None;
        }
        self.predictor().counters.stripe_reads_called_slow += 1;
        let pages: Vec<u64> = wanted.offsets().map(|offset| first_page + u64::from(offset)).collect();
        for role in (0..shape.strips_per_stripe()).filter(|&role| !lost.has(role) && !wanted.roles().has(role)) {
            slow |= u128::from(self.calls_slow(now, self.member_of(stripe, role), &pages, members)) << role;
        }
        let slow = StripRoles(slow);
        let others_are_fast = (0..shape.data_strips).all(|column| lost.has(column) || replaced.has(column) || !slow.has(column));
        let needed = lost.count_data_strips(shape) as usize + replaced.iter().count();
        let parity: Vec<u32> = lost.parity_left(shape).filter(|&role| !slow.has(role)).take(needed).collect();
        let is_found = others_are_fast && parity.len() == needed;
        is_found.then(|| (replaced, StripRoles(parity.iter().fold(0, |roles, role| roles | 1 << role))))
    }

    /// Reads a part from the first copy that is called fast, or from the first copy.
    pub(super) fn read_predicted_copy(&mut self, now: TimeNs, id: u32, members: &mut Members) {
        self.leave_out_lost(id, members);
        let operation = &self.operations[id as usize];
        let (stripe, wanted) = (operation.stripe, operation.pages.clone());
        let Some(role) = wanted.roles().iter().next() else { return self.issue_phase(now, id, members, true) };
        let first_page = self.route.layout.stripe_first_page_on_member(stripe);
        let pages: Vec<u64> = wanted.offsets_in_strip(role).map(|offset| first_page + u64::from(offset)).collect();
        let copies: Vec<u32> = self.copies_left(stripe, role).collect();
        let chosen = copies.iter().position(|&member| !self.calls_slow(now, member, &pages, members));
        let counters = &mut self.predictor().counters;
        counters.stripe_reads += 1;
        counters.stripe_reads_called_slow += u64::from(chosen != Some(0));
        counters.stripe_reads_made_elsewhere += u64::from(chosen.is_some_and(|copy| copy > 0));
        let member = copies[chosen.unwrap_or(0)];
        self.begin_hedged(now, id, wanted, Some(member), false, members);
    }
}
