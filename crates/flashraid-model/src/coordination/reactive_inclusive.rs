//! Reactive-inclusive (GGC 4.3.1): when one member asks, all are forced, whatever their state.

use super::Controller;

impl Controller {
    /// Every member that knows the protocol and has not failed.
    pub(super) fn everyone(&self) -> u128 {
        self.params.ggc_aware & !self.lost
    }
}
