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
