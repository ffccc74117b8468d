//! What of the machine a command uses: processors, and kept warm states. Nothing of it changes a result.

use std::thread;

use flashraid::config::Scenario;
use flashraid::memory;
use flashraid::study::Means;
use flashraid::warm_cache::WarmCache;

use crate::args::MachineArgs;
use crate::failure::{Failure, Outcome};
use flashraid_report::number::bytes;

/// What a command uses.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Simulations at a time, at least 1.
    pub workers: usize,
    /// Threads of each, at least 1.
    pub threads: usize,
    /// Where warm states are kept.
    pub cache: Option<WarmCache>,
}

impl Machine {
    /// For these simulations; `jobs` at a time, unless the machine is to say.
    ///
    /// # Errors
    /// They need more memory than there is.
    pub fn new(arguments: MachineArgs, simulations: &[&Scenario], jobs: Option<u16>) -> Outcome<Machine> {
        let mut machine = Self::of(arguments, simulations.len(), jobs, thread::available_parallelism().map_or(1, usize::from));
        let Some((available, bound)) = memory::available_bytes() else { return Ok(machine) };
        let needed = |workers| memory::needed_by_all(simulations.iter().copied(), workers);
        // Fewer at a time change no result; but as many as the user wants, or none.
        while jobs.is_none() && machine.workers > 1 && needed(machine.workers) > available {
            machine.workers -= 1;
        }
        let needed = needed(machine.workers);
        if needed <= available {
            return Ok(machine);
        }
        let fewer = if machine.workers > 1 { "--jobs, " } else { "" };
        Err(Failure::Input(format!(
            "this needs about {} of memory, and there is {} ({bound}); reduce {fewer}array.members or ssd.geometry (dies, planes, blocks, pages)",
            bytes(needed as f64),
            bytes(available as f64),
        )))
    }

    fn of(arguments: MachineArgs, simulations: usize, jobs: Option<u16>, processors: usize) -> Machine {
        let workers = jobs.map_or(processors, usize::from).min(simulations).max(1);
        let left = (processors / workers).max(1);
        let threads = arguments.threads.map_or(left, |threads| usize::from(threads).min(left));
        Machine { workers, threads, cache: if arguments.no_cache { None } else { WarmCache::of_user() } }
    }

    /// The same for the simulations of a study.
    pub fn means(self) -> Means {
        let Machine { workers, threads, cache } = self;
        Means { workers, threads, cache }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_and_threads_share_the_processors() {
        let of = |threads, simulations, jobs, processors| {
            let machine = Machine::of(MachineArgs { threads, no_cache: true, quiet: false }, simulations, jobs, processors);
            (machine.workers, machine.threads)
        };
        assert_eq!(of(None, 1, None, 8), (1, 8));
        assert_eq!(of(Some(3), 1, None, 8), (1, 3));
        assert_eq!(of(Some(16), 1, None, 8), (1, 8), "no more than there are");
        assert_eq!(of(None, 100, None, 8), (8, 1));
        assert_eq!(of(None, 3, None, 8), (3, 2));
        assert_eq!(of(Some(4), 100, Some(2), 8), (2, 4));
        assert_eq!(of(Some(4), 100, Some(4), 8), (4, 2));
        assert_eq!(of(Some(4), 100, Some(100), 2), (100, 1), "as many jobs as the user wants");
        assert_eq!(of(None, 0, None, 2), (1, 2));
    }
}
