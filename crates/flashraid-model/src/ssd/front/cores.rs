//! The cores of an SSD's controller, and the work that waits for one (rule 201).

use std::collections::VecDeque;

/// Work that occupies a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// A command of the host.
    Command(u32),
    /// A part of a victim.
    Part(u32),
}

/// The cores, and the work that waits for one, with its time at the core.
#[derive(Debug, Clone)]
pub(super) struct Cores {
    held: Vec<Option<Holder>>,
    commands: VecDeque<(u32, u64)>,
    parts: VecDeque<(u32, u64)>,
}

impl Cores {
    pub fn new(cores: u32) -> Self {
        Self { held: vec![None; cores as usize], commands: VecDeque::new(), parts: VecDeque::new() }
    }

    /// Adds work that needs a core for `ns` nanoseconds.
    pub fn ask(&mut self, holder: Holder, ns: u64) {
        match holder {
            Holder::Command(id) => self.commands.push_back((id, ns)),
            Holder::Part(part) => self.parts.push_back((part, ns)),
        }
    }

    /// Assigns waiting work to the first free core: commands before parts, each in the order in which they asked. Returns the core, the
    /// work, and its time.
    pub fn begin(&mut self) -> Option<(u32, Holder, u64)> {
        let core = self.held.iter().position(Option::is_none)?;
        let (holder, ns) = match self.commands.pop_front() {
            Some((id, ns)) => (Holder::Command(id), ns),
            None => self.parts.pop_front().map(|(part, ns)| (Holder::Part(part), ns))?,
        };
        self.held[core] = Some(holder);
        Some((core as u32, holder, ns))
    }

    /// Frees a core and returns the work that had it.
    pub fn end(&mut self, core: u32) -> Holder {
        self.held[core as usize].take().expect("a core that is done was held")
    }
}
