//! Proactive-idle (GGC 4.3.2): as reactive-selective; besides, members that have registered collect while the array is idle.

use super::{Controller, ToMember, Work};
use crate::TimeNs;

impl Controller {
    /// Forces the registered members if the array has had nothing to do for long enough.
    pub(super) fn check_idle(&mut self, now: TimeNs) {
        let is_idle = self.outstanding == 0 && now - self.idle_since >= self.params.idle_threshold_ns;
        if is_idle && self.is_free() && self.registered != 0 {
            self.force(self.registered, Work::UntilReserved);
        }
    }

    /// A request has arrived: idle time is over.
    pub(super) fn stop_idle_cycle(&mut self) {
        if self.work == Work::UntilReserved && self.collecting != 0 {
            // Once is enough: what is left of the cycle ends by itself.
            self.work = self.params.work;
            self.tell(self.collecting, ToMember::StopGc);
        }
    }
}
