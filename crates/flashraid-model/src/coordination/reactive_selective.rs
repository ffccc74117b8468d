//! Reactive-selective (GGC 4.3.1): members register when a pool comes down to T_soft; when the first of them is at its start
//! threshold and asks, those that have registered are forced.

use super::Controller;

impl Controller {
    /// The members that have registered, the one that asked among them.
    pub(super) fn registered_members(&self) -> u128 {
        self.registered
    }
}
