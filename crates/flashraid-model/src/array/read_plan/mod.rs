//! Read plans: which copy of a strip a read goes to. A policy, one file each; the layout says only where copies lie.
//!
//! To add one: its file, and a line of `plans!` below: configuration and reference take its name and summary from there. A plan may keep state; it is asked once for every extent that is read, in order.

mod home;

use crate::placement::{Extent, Layout};
use crate::request::OpKind;
use home::Home;
use std::ops::Range;

/// A strip with its copies, all of which can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copies {
    /// The stripe.
    pub stripe: u64,
    /// The member of the first copy; the others follow it.
    pub first_member: u32,
    /// Copies, at least 2.
    pub copies: u32,
}

/// A way to choose among copies.
trait Plan {
    /// The copy to read, counted from 0. Of copies that are lost the next is taken, counting round (rule 61).
    fn copy(&self, strip: &Copies) -> u32;
}

/// Makes the enumeration of the plans, from which their names and their dispatch follow.
macro_rules! plans {
    ($($name:ident = $text:literal, $summary:literal;)+) => {
        /// A read plan.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ReadPlan {
            $(#[doc = $summary] $name,)+
        }

        impl ReadPlan {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// How users write it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// What it does, in a sentence.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$name => $summary,)+
                }
            }

            #[inline]
            fn choose(self, strip: &Copies) -> u32 {
                match self {
                    $(Self::$name => $name.copy(strip),)+
                }
            }
        }
    };
}

plans! {
    Home = "home", "Copies take turns by stripe, whatever happens.";
}

impl ReadPlan {
    /// The copy that a read of a strip of `copies` copies, the first on `first_member`, goes to.
    #[inline]
    pub fn copy(self, stripe: u64, first_member: u32, copies: u32) -> u32 {
        if copies == 1 { 0 } else { self.choose(&Copies { stripe, first_member, copies }) }
    }

    /// The members that an operation on an extent goes to: all that hold it, of a read one.
    #[inline]
    pub fn members(self, layout: &Layout, extent: &Extent, kind: OpKind) -> Range<u32> {
        if kind != OpKind::Read || extent.copies == 1 {
            return extent.members();
        }
        let stripe = u64::from(extent.first_page / layout.strip_pages());
        let member = extent.first_member + self.copy(stripe, extent.first_member, extent.copies);
        member..member + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_with_one_copy_leave_no_choice_and_others_take_turns() {
        assert_eq!((0..4).map(|stripe| ReadPlan::Home.copy(stripe, 2, 3)).collect::<Vec<_>>(), [0, 1, 2, 0]);
        assert!(ReadPlan::ALL.iter().all(|plan| plan.copy(7, 0, 1) == 0));
    }
}
