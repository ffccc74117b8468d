//! Wires that carry one transfer at a time, in the order of requests: channels of dies, and lanes of a host link.

use crate::events::TimeNs;

/// A channel, or a lane of a link, that carries one transfer at a time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wire {
    /// End of the last transfer that was requested.
    free_at: TimeNs,
}

impl Wire {
    /// Starts a transfer of `ns` nanoseconds as soon as the wire is free. Returns its end.
    #[inline]
    pub(super) fn ask(&mut self, now: TimeNs, ns: u64) -> TimeNs {
        self.free_at = self.free_at.max(now) + ns;
        self.free_at
    }
}
