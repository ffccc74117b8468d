//! Collection in idle time of a drive (rule 216): when no command has come for long enough.

/// The idle time of a drive.
#[derive(Debug, Clone)]
pub struct Idle {
    /// Time without commands after which the drive collects, in nanoseconds; `None`: never.
    after_ns: Option<u64>,
    /// Commands so far; wraps around.
    commands: u32,
    is_used: bool,
}

impl Idle {
    /// Waits for that much time without commands; `None` for ever.
    pub fn new(after_ns: Option<u64>) -> Self {
        Self { after_ns, commands: 0, is_used: false }
    }

    /// Returns true while the drive collects because it is idle.
    pub fn is_used(&self) -> bool {
        self.is_used
    }

    /// Takes notice of a command. Returns true if it ends idle collection.
    pub fn command_comes(&mut self) -> bool {
        self.commands = self.commands.wrapping_add(1);
        std::mem::take(&mut self.is_used)
    }

    /// Returns how long to wait from now on, and the number to come back with.
    pub fn wait(&self) -> Option<(u64, u32)> {
        self.after_ns.map(|after_ns| (after_ns, self.commands))
    }

    /// Returns true if no command has come since the wait with that number began.
    pub fn is_over(&self, commands: u32) -> bool {
        self.after_ns.is_some() && commands == self.commands
    }

    /// Starts collection in idle time.
    pub fn begin(&mut self) {
        assert!(self.after_ns.is_some(), "idle time is used only if that is wanted");
        self.is_used = true;
    }

    /// Stops idle collection, for instance because nothing is left to do. Returns true if there was any.
    pub fn stop(&mut self) -> bool {
        std::mem::take(&mut self.is_used)
    }

    /// Stops idle collection for the rest of the run. Returns true if there was any.
    pub fn ends(&mut self) -> bool {
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
        assert_eq!(idle.wait(), Some((100, 0)));
        assert!(!idle.command_comes() && !idle.is_over(0) && idle.is_over(1));
        idle.begin();
        assert!(idle.is_used() && idle.command_comes() && !idle.is_used());
        assert!(!idle.ends() && !idle.is_over(2) && idle.wait().is_none());
    }
}
