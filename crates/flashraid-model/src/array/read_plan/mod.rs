//! Read plans: the ways in which the array chooses the members from which a read is served. Each plan is one file. The layout only says
//! where copies lie.
//!
//! To add a plan, write its file and a line of `plans!` below. Configuration and reference take its name and summary from there. A plan
//! chooses the copy for every extent that is read. Some plans choose more. A plan that [considers the state of the
//! members](ReadPlan::considers_collecting_members) does so in `array/stripes/planned.rs`. One that [hedges](ReadPlan::hedges) does so in
//! `array/stripes/hedged.rs`, and one that [predicts](ReadPlan::predicts) in `array/stripes/predicted.rs`.

mod avoid;
mod hedge;
mod home;
mod predict;

use crate::placement::{ArrayLayout, Extent};
use crate::request::OpKind;
use avoid::Avoid;
pub(super) use avoid::{ReadPlanner, ReadWay, StripeRead};
use hedge::Hedge;
pub(super) use hedge::ReadTimes;
use home::Home;
use predict::Predict;
pub(super) use predict::Predictor;
use std::ops::Range;

/// A strip with its copies, all of which can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StripCopies {
    /// Number of the stripe.
    pub(crate) stripe: u64,
    /// Member that holds the first copy. The others follow it.
    pub(crate) first_member: u32,
    /// Number of copies, at least 2.
    pub(crate) copies: u32,
}

/// A rule that chooses among copies.
trait Plan {
    /// Returns the copy to read, counted from 0. If that copy is lost, the next one that is left is read instead (rule 61).
    fn copy(&self, strip: &StripCopies) -> u32;
}

/// Makes the enumeration of the plans, from which their names and their dispatch follow.
macro_rules! plans {
    ($($name:ident = $text:literal, $summary:literal;)+) => {
        /// Read plan: the way in which the array chooses where a read gets its data, from which copy or by parity.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ReadPlan {
            $(#[doc = $summary] $name,)+
        }

        impl ReadPlan {
            /// All read plans, in the order in which `plans!` lists them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the name that users write in a configuration.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// Returns a sentence that describes the read plan.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$name => $summary,)+
                }
            }

            #[inline]
            fn choose(self, strip: &StripCopies) -> u32 {
                match self {
                    $(Self::$name => $name.copy(strip),)+
                }
            }
        }
    };
}

plans! {
    Home = "home", "Copies take turns by stripe, whatever happens.";
    Avoid = "avoid", "Reads go round strips that collect, by parity or to another copy (IODA).";
    Hedge = "hedge", "Reads that take long are also read elsewhere, by parity or from another copy, and the first answer counts.";
    Predict = "predict", "Reads that a predictor calls slow are made elsewhere at once, by parity or from another copy.";
}

impl ReadPlan {
    /// Returns true if the choice that the plan makes depends on which members are collecting garbage at that moment.
    #[inline]
    pub fn considers_collecting_members(self) -> bool {
        self == Self::Avoid
    }

    /// Returns true if the plan also reads data elsewhere when a read takes long (hedging). Elsewhere is another copy or, with parity,
    /// the rest of the stripe.
    #[inline]
    pub fn hedges(self) -> bool {
        self == Self::Hedge
    }

    /// Returns true if the plan predicts whether a read is slow.
    #[inline]
    pub fn predicts_slow_reads(self) -> bool {
        self == Self::Predict
    }

    /// Returns the number of the copy from which a strip of `stripe` is read, counted from 0. The strip has `copies` copies on
    /// consecutive members, of which `first_member` holds the first.
    #[inline]
    pub fn choose_copy_index(self, stripe: u64, first_member: u32, copies: u32) -> u32 {
        if copies == 1 { 0 } else { self.choose(&StripCopies { stripe, first_member, copies }) }
    }

    /// Returns the members that an operation on an extent goes to: one for a read, otherwise all that hold it.
    #[inline]
    pub fn members_to_access(self, layout: &ArrayLayout, extent: &Extent, kind: OpKind) -> Range<u32> {
        if kind != OpKind::Read || extent.mirror_copies == 1 {
            return extent.members();
        }
        let stripe = layout.stripe_of_member_page(extent.first_page);
        let member = extent.first_member + self.choose_copy_index(stripe, extent.first_member, extent.mirror_copies);
        member..member + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_with_one_copy_leave_no_choice_and_others_take_turns() {
        assert_eq!((0..4).map(|stripe| ReadPlan::Home.choose_copy_index(stripe, 2, 3)).collect::<Vec<_>>(), [0, 1, 2, 0]);
        assert!(ReadPlan::ALL.iter().all(|plan| plan.choose_copy_index(7, 0, 1) == 0));
    }
}
