//! Numbers of members, dies, blocks and pages. Each kind has its own type, so that the compiler finds a mix-up.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the number as an index into a table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// Number of a member of the array, from 0. The numbers of spares follow those of all members.
    MemberId;
    /// Number of a die in its member, from 0.
    DieId;
    /// Number of a block in its member. Blocks are numbered die by die, and pool by pool within a die.
    BlockId;
    /// Number of a logical page in its member. The translation layer counts the pages of the first die first, then those of the second, and
    /// so on (rule 7).
    Lpn;
    /// Number of a physical page in its member.
    Ppn;
}

/// A set of members, which may include spares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct MemberSet(pub u128);

impl MemberSet {
    /// The set without any member.
    pub const NONE: Self = Self(0);

    /// Returns the set with one member.
    #[inline]
    #[must_use]
    pub const fn single(member: u32) -> Self {
        Self(1 << member)
    }

    /// Returns the set of the first `count` members, where `count` is 1 to 128.
    #[must_use]
    pub const fn first_members(count: u32) -> Self {
        Self(u128::MAX >> (u128::BITS - count))
    }

    /// Adds a member to the set.
    #[inline]
    pub const fn insert(&mut self, member: u32) {
        self.0 |= 1 << member;
    }

    /// Removes a member from the set.
    #[inline]
    pub const fn remove(&mut self, member: u32) {
        self.0 &= !(1 << member);
    }

    /// Returns true if the set contains the member.
    #[inline]
    #[must_use]
    pub const fn contains(self, member: u32) -> bool {
        self.0 >> member & 1 == 1
    }

    /// Returns true if the set has no members.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of members in the set.
    #[inline]
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the union of the two sets: the members that are in at least one of them.
    #[inline]
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the members of this set that are not in `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns an iterator over the members in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..u128::BITS).filter(move |&member| self.contains(member))
    }
}

impl std::ops::BitOrAssign for MemberSet {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl FromIterator<u32> for MemberSet {
    fn from_iter<I: IntoIterator<Item = u32>>(members: I) -> Self {
        members.into_iter().fold(Self::NONE, |set, member| set.union(Self::single(member)))
    }
}
