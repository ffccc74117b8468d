//! What a front counts.

macro_rules! counters {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Counts of what stands before the dies of a member, since the end of its warm-up.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct FrontCounters {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl FrontCounters {
            fn with(&self, other: &Self, each: fn(u64, u64) -> u64) -> Self {
                Self { $($field: each(self.$field, other.$field),)* }
            }
        }
    };
}

counters! {
    /// Commands: what one operation of the array brings to the drive at a time.
    commands,
    /// Commands that waited in a queue until they were fetched.
    fetch_waits,
    /// Sum of these waits, in nanoseconds.
    fetch_wait_ns,
    /// Units of write commands that replaced one in the buffer.
    overwritten,
    /// Pages read from the buffer.
    buffer_hits,
    /// Units that a trim took out of the buffer before they were programmed.
    dropped,
    /// Commands that waited for room in the buffer.
    room_waits,
    /// Sum of these waits, in nanoseconds.
    room_wait_ns,
    /// Writes with "force unit access" that waited for their programs.
    forced_waits,
}

impl FrontCounters {
    /// The counts since the moment at which `earlier` was copied from this member.
    #[must_use]
    pub fn since(self, earlier: &Self) -> Self {
        self.with(earlier, |now, earlier| now - earlier)
    }
}

impl std::iter::Sum for FrontCounters {
    fn sum<I: Iterator<Item = Self>>(members: I) -> Self {
        members.fold(Self::default(), |sum, member| sum.with(&member, |sum, member| sum + member))
    }
}
