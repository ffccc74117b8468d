//! Sets of counters. One line of a list defines a counter. Its field, the differences between two moments, and sums over members are made
//! from the list.

/// A counter, or a set of counters.
pub trait CounterSet: Copy {
    /// Returns the sum of these counts of one member SSD and `other`, the same counts of another one. For a [`Maximum`], it is the
    /// greater value instead.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// Returns these counts less `earlier`, the same counts at an earlier moment. A [`Maximum`] stays as it is.
    #[must_use]
    fn minus(self, earlier: Self) -> Self;
}

impl CounterSet for u64 {
    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn minus(self, earlier: Self) -> Self {
        self - earlier
    }
}

impl CounterSet for u128 {
    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn minus(self, earlier: Self) -> Self {
        self - earlier
    }
}

impl<C: CounterSet, const N: usize> CounterSet for [C; N] {
    fn plus(self, other: Self) -> Self {
        std::array::from_fn(|at| self[at].plus(other[at]))
    }

    fn minus(self, earlier: Self) -> Self {
        std::array::from_fn(|at| self[at].minus(earlier[at]))
    }
}

/// The greatest value so far. If the counters of an earlier moment are subtracted, the value stays as it is, because a maximum cannot be
/// subtracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Maximum(pub u64);

impl CounterSet for Maximum {
    fn plus(self, other: Self) -> Self {
        self.max(other)
    }

    fn minus(self, _earlier: Self) -> Self {
        self
    }
}

/// Defines a set of counters. Each line has the documentation and the name of a counter. A counter is a `u64` unless a type follows its
/// name.
macro_rules! counts {
    (@type) => { u64 };
    (@type $Type:ty) => { $Type };
    ($(#[$doc:meta])* pub struct $Name:ident { $($(#[$about:meta])* $field:ident $(: $Type:ty)?,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $Name {
            $($(#[$about])* pub $field: counts!(@type $($Type)?),)*
        }

        impl $crate::counts::CounterSet for $Name {
            fn plus(self, other: Self) -> Self {
                Self { $($field: $crate::counts::CounterSet::plus(self.$field, other.$field),)* }
            }

            fn minus(self, earlier: Self) -> Self {
                Self { $($field: $crate::counts::CounterSet::minus(self.$field, earlier.$field),)* }
            }
        }

        impl $Name {
            /// Returns the counts since `earlier`, an earlier copy of these counters.
            #[must_use]
            pub fn since(self, earlier: &Self) -> Self {
                $crate::counts::CounterSet::minus(self, *earlier)
            }
        }

        impl std::iter::Sum for $Name {
            fn sum<I: Iterator<Item = Self>>(sets: I) -> Self {
                sets.fold(Self::default(), $crate::counts::CounterSet::plus)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Maximum;

    counts! {
        /// Counters of each type.
        pub struct All {
            /// A counter without a type.
            plain,
            /// An integral over time.
            integral: u128,
            /// A list of two counters.
            list: [u64; 2],
            /// A greatest value so far.
            most: Maximum,
        }
    }

    #[test]
    fn counts_add_up_and_can_be_taken_off_again() {
        let all = |base: u64| All { plain: base, integral: u128::from(base) << 64, list: [base + 1, base + 2], most: Maximum(base) };
        let (early, late) = (all(10), all(100));
        assert_eq!(late.since(&early), All { plain: 90, integral: 90 << 64, list: [90, 90], most: Maximum(100) });
        assert_eq!([late.since(&early), early].into_iter().sum::<All>(), late);
    }
}
