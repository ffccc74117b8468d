//! Pages whose reads need further array reads (rule 232).

use flashraid_model::rng;
use flashraid_model::ssd::DieDelayMechanisms;

/// Draws that decide which pages of a member need further reads.
pub(super) struct Retries {
    share: f64,
    times: u64,
    seed_of_member: u64,
}

impl Retries {
    pub(super) fn of(mechanisms: &DieDelayMechanisms, seed: u64, member: usize) -> Retries {
        let (share, times) = mechanisms.read_retry.map_or((0.0, 0), |retry| (retry.share.0, u64::from(retry.times)));
        Retries { share, times, seed_of_member: rng::derive_seed(seed, "read_retry", member as u64) }
    }

    /// Returns the number of array reads that a page needs after the first one.
    pub(super) fn further_reads(&self, page: u64, erases: u32) -> u64 {
        let drawn = rng::uniform(&mut rng::stream(self.seed_of_member, "page", (u64::from(erases) << 32) + page));
        if drawn < self.share { self.times } else { 0 }
    }
}
