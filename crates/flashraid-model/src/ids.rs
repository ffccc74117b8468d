//! Numbers that name things, one type for each kind of thing, so that none is taken for another.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index of a table.
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
    /// A member of the array, from 0; a spare comes behind all members.
    MemberId;
    /// A die of a member, from 0.
    DieId;
    /// A block of a member: die by die, in a die pool by pool.
    BlockId;
    /// A logical page of a member as its translation layer numbers them: die by die (rule 7).
    Lpn;
    /// A physical page of a member.
    Ppn;
}

/// A set of members, spares included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct MemberSet(pub u128);

impl MemberSet {
    /// No member.
    pub const NONE: Self = Self(0);

    /// One member.
    #[inline]
    #[must_use]
    pub const fn of(member: u32) -> Self {
        Self(1 << member)
    }

    /// The first `count` members, 1 to 128.
    #[must_use]
    pub const fn first(count: u32) -> Self {
        Self(u128::MAX >> (u128::BITS - count))
    }

    /// Adds a member.
    #[inline]
    pub const fn insert(&mut self, member: u32) {
        self.0 |= 1 << member;
    }

    /// Takes a member out.
    #[inline]
    pub const fn remove(&mut self, member: u32) {
        self.0 &= !(1 << member);
    }

    /// Returns true if a member is in it.
    #[inline]
    #[must_use]
    pub const fn contains(self, member: u32) -> bool {
        self.0 >> member & 1 == 1
    }

    /// Returns true if it has no members.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of its members.
    #[inline]
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The members of either set.
    #[inline]
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Its members but those of another set.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Its members in order.
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
        members.into_iter().fold(Self::NONE, |set, member| set.and(Self::of(member)))
    }
}
