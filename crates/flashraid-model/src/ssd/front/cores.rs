//! The cores of the controller of an SSD, and what waits for one (rule 201).

use std::collections::VecDeque;

/// The holder of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// A command of the host.
    Command(u32),
    /// A part of a victim.
    Part(u32),
}

/// The cores, and what waits for one, each with its time at the core.
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

    /// Something wants a core for `ns`.
    pub fn ask(&mut self, holder: Holder, ns: u64) {
        match holder {
            Holder::Command(id) => self.commands.push_back((id, ns)),
            Holder::Part(part) => self.parts.push_back((part, ns)),
        }
    }

    /// The first free core takes what waits: commands before parts, each in order of asking. Returns the core, who holds it, for how long.
    pub fn begin(&mut self) -> Option<(u32, Holder, u64)> {
        let core = self.held.iter().position(Option::is_none)?;
        let (holder, ns) = match self.commands.pop_front() {
            Some((id, ns)) => (Holder::Command(id), ns),
            None => self.parts.pop_front().map(|(part, ns)| (Holder::Part(part), ns))?,
        };
        self.held[core] = Some(holder);
        Some((core as u32, holder, ns))
    }

    /// A core is free again; returns who held it.
    pub fn end(&mut self, core: u32) -> Holder {
        self.held[core as usize].take().expect("a core that is done was held")
    }
}
