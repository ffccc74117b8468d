//! Wires that carry one transfer at a time, in order of asking: channels of dies, and the lanes of a host link.

use crate::events::TimeNs;

/// A channel, or a lane of a link, that carries one transfer at a time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wire {
    /// End of the last transfer that was asked for.
    free_at: TimeNs,
}

impl Wire {
    /// Occupies the wire for `ns` as soon as it is free. Returns the end of the transfer.
    #[inline]
    pub fn ask(&mut self, now: TimeNs, ns: u64) -> TimeNs {
        self.free_at = self.free_at.max(now) + ns;
        self.free_at
    }
}
