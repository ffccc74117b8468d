//! The kinds of caches of which a policy composes a write cache.

/// Caches that a write cache consists of, with their settings: a cache of write groups, a cache for each member, both, or none. A write
/// group is all dirty pages of one stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StripeAndMemberCaches {
    /// Settings of the cache of write groups; `None` without such a cache. A write group is all dirty pages of one stripe, which are
    /// destaged together. The cache stands before the caches of the members if there are any, otherwise before the array.
    pub dirty_stripe_cache: Option<DirtyStripeCacheSettings>,
    /// Settings of the caches of the members, one cache for each; `None` without such caches.
    pub member_caches: Option<MemberCacheSettings>,
}

/// Settings of a cache of write groups (Gill and Modha, FAST 2005). A write group is all dirty pages of one stripe, which are destaged
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirtyStripeCacheSettings {
    /// True if write groups of sequential writes are kept in a ring of their own (after Gill et al., USENIX ATC 2009). A write group is the
    /// dirty pages of one stripe. A ring is the circle of write groups that the CLOCK algorithm goes round to find the next one to
    /// destage.
    pub has_separate_ring_for_sequential_writes: bool,
}

/// Settings of the caches of the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberCacheSettings {
    /// True if all member caches destage at the same time.
    pub member_caches_destage_together: bool,
}

impl StripeAndMemberCaches {
    /// Returns true if there is no cache at all.
    pub fn has_no_cache(&self) -> bool {
        self.dirty_stripe_cache.is_none() && self.member_caches.is_none()
    }

    /// Returns true if there is a first level: a cache of write groups in front of the caches of the members. A write group is all
    /// dirty pages of one stripe.
    pub fn has_dirty_stripe_cache(&self) -> bool {
        self.dirty_stripe_cache.is_some() && self.member_caches.is_some()
    }

    /// Divides a capacity of `pages` among the caches. Returns the pages of the cache of write groups, and those of each member's
    /// cache. A write group is all dirty pages of one stripe.
    ///
    /// If both kinds exist, the cache of write groups is the first level, in front of the member caches. It gets the share
    /// `first_level_fraction`, and the member caches share the rest equally. A kind that does not exist gets 0.
    pub fn split_capacity_pages(&self, pages: u64, first_level_fraction: f64, members: u32) -> (u64, u64) {
        let groups = match (self.dirty_stripe_cache, self.member_caches) {
            (Some(_), None) => pages,
            (Some(_), Some(_)) => libm::floor(first_level_fraction * pages as f64) as u64,
            (None, _) => 0,
        };
        (groups, if self.member_caches.is_some() { (pages - groups) / u64::from(members) } else { 0 })
    }
}
