//! What a write cache is made of.

/// The caches that there are, and how they work together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// A cache of write groups: before the caches of the members, if there are any, otherwise before the array.
    pub groups: Option<GroupPart>,
    /// A cache for each member.
    pub members: Option<MemberPart>,
}

/// A cache of write groups (Gill and Modha, FAST 2005).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupPart {
    /// Groups of sequential writes have a ring of their own (after Gill et al., USENIX ATC 2009).
    pub sequential_ring: bool,
}

/// Caches of the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberPart {
    /// They destage together.
    pub together: bool,
}

impl Parts {
    /// Whether there is none at all.
    pub fn is_empty(&self) -> bool {
        self.groups.is_none() && self.members.is_none()
    }

    /// Whether a cache of write groups stands before caches of the members.
    pub fn has_first_level(&self) -> bool {
        self.groups.is_some() && self.members.is_some()
    }

    /// Whether caches wait for one another.
    pub fn destage_together(&self) -> bool {
        self.members.is_some_and(|members| members.together)
    }

    /// Of the pages of all caches: those of the cache of write groups, given what is its share where members have caches, too, and those
    /// of each of so many members.
    pub fn share_out(&self, pages: u64, first_level_fraction: f64, members: u32) -> (u64, u64) {
        let groups = match (self.groups, self.members) {
            (Some(_), None) => pages,
            (Some(_), Some(_)) => libm::floor(first_level_fraction * pages as f64) as u64,
            (None, _) => 0,
        };
        (groups, if self.members.is_some() { (pages - groups) / u64::from(members) } else { 0 })
    }
}
