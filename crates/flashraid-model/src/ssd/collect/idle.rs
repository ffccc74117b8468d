//! Collection of a drive in idle time, when no command has arrived for long enough (rule 216).

/// State of a drive's idle time, in which it may collect.
#[derive(Debug, Clone)]
pub(crate) struct Idle {
    /// Time without commands after which the drive collects, in nanoseconds; `None` if it never does.
    after_ns: Option<u64>,
    /// Number of commands so far, modulo 2^32. It shows whether a command has arrived during a wait.
    commands: u32,
    is_used: bool,
}

impl Idle {
    /// Returns the state of a drive that collects after `after_ns` without commands, or never with `None`.
    pub(crate) fn new(after_ns: Option<u64>) -> Self {
        Self { after_ns, commands: 0, is_used: false }
    }

    /// Returns true while the drive collects because it is idle.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used
    }

    /// Counts a command. Returns true if it ends idle collection.
    pub(crate) fn command_arrives(&mut self) -> bool {
        self.commands = self.commands.wrapping_add(1);
        std::mem::take(&mut self.is_used)
    }

    /// Returns the length of the next wait, and the number to pass to [`Idle::wait_is_over`] at its end.
    pub(crate) fn next_wait(&self) -> Option<(u64, u32)> {
        self.after_ns.map(|after_ns| (after_ns, self.commands))
    }

    /// Returns true if no command has arrived since the wait with this number began.
    pub(crate) fn wait_is_over(&self, commands: u32) -> bool {
        self.after_ns.is_some() && commands == self.commands
    }

    /// Starts collection in idle time.
    pub(crate) fn begin(&mut self) {
        assert!(self.after_ns.is_some(), "idle time is used only if that is wanted");
        self.is_used = true;
    }

    /// Stops idle collection, for example because nothing is left to collect. Returns true if it was running.
    pub(crate) fn stop(&mut self) -> bool {
        std::mem::take(&mut self.is_used)
    }

    /// Disables idle collection for the rest of the run. Returns true if it was running.
    pub(crate) fn disable(&mut self) -> bool {
        self.after_ns = None;
        self.stop()
    }
}

#[cfg(test)]
mod tests {
    use super::Idle;

    #[test]
    fn a_command_begins_the_wait_anew() {
        let mut idle = Idle::new(Some(100));
        assert_eq!(idle.next_wait(), Some((100, 0)));
        assert!(!idle.command_arrives() && !idle.wait_is_over(0) && idle.wait_is_over(1));
        idle.begin();
        assert!(idle.is_used() && idle.command_arrives() && !idle.is_used());
        assert!(!idle.disable() && !idle.wait_is_over(2) && idle.next_wait().is_none());
    }
}
