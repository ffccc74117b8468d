//! The processor cores of an SSD's controller, and the work that waits for a core (rule 201).

use std::collections::VecDeque;

/// Work that occupies a processor core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CoreWork {
    /// Handling of the host command with this number.
    Command(u32),
    /// Preparation of the move of data out of a victim superblock. A die then reads these data: the valid ones of one superpage,
    /// called a part. The value is the number of the part.
    PartOfCommand(u32),
}

/// The processor cores, and the work that waits for one, each with the time it needs.
#[derive(Debug, Clone)]
pub(super) struct Cores {
    held: Vec<Option<CoreWork>>,
    commands: VecDeque<(u32, u64)>,
    parts: VecDeque<(u32, u64)>,
}

impl Cores {
    pub(super) fn new(cores: u32) -> Self {
        Self { held: vec![None; cores as usize], commands: VecDeque::new(), parts: VecDeque::new() }
    }

    /// Adds work that needs a core for `ns` nanoseconds to the queue.
    pub(super) fn ask(&mut self, holder: CoreWork, ns: u64) {
        match holder {
            CoreWork::Command(id) => self.commands.push_back((id, ns)),
            CoreWork::PartOfCommand(part) => self.parts.push_back((part, ns)),
        }
    }

    /// Assigns waiting work to the first free core. Host commands come before parts of victims, each in the order of arrival. Returns the
    /// core, the work, and the time it needs.
    pub(super) fn begin(&mut self) -> Option<(u32, CoreWork, u64)> {
        let core = self.held.iter().position(Option::is_none)?;
        let (holder, ns) = match self.commands.pop_front() {
            Some((id, ns)) => (CoreWork::Command(id), ns),
            None => self.parts.pop_front().map(|(part, ns)| (CoreWork::PartOfCommand(part), ns))?,
        };
        self.held[core] = Some(holder);
        Some((core as u32, holder, ns))
    }

    /// Frees a core and returns the work that it has finished.
    pub(super) fn end(&mut self, core: u32) -> CoreWork {
        self.held[core as usize].take().expect("a core that is done was held")
    }
}
