//! Plan `home`: each stripe has one fixed copy to read from, and stripes take turns among the copies (rule 2).

use super::{Plan, StripCopies};

/// The plan `home`, which has no state.
pub(super) struct Home;

impl Plan for Home {
    #[inline]
    fn copy(&self, strip: &StripCopies) -> u32 {
        (strip.stripe % u64::from(strip.copies)) as u32
    }
}
