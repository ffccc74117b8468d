//! Resources of the machine that simulations may use.

use std::thread;

use crate::config::Scenario;
use crate::memory::{self, TooLittleMemory};
use crate::warm_state_cache::WarmStateCache;

/// Resources of the machine that a study may use. They do not change any result.
#[derive(Debug, Clone)]
pub struct MachineResources {
    /// Number of simulations at a time; 0 counts as 1.
    pub simulations_at_once: usize,
    /// Number of threads of each simulation; 0 counts as 1.
    pub threads_per_simulation: usize,
    /// Cache for the states after long warm-ups; `None` for no cache.
    pub warm_state_cache: Option<WarmStateCache>,
}

impl MachineResources {
    /// Returns how many simulations run at a time on this machine, and with how many threads each. `workers` is the number at a time
    /// that the user wants. If it is `None`, as many run as there are processors and as memory allows.
    ///
    /// Each simulation gets `threads` threads, but no more than its share of the processors, and at least one. If `threads` is `None`,
    /// it gets its whole share.
    ///
    /// # Errors
    /// Returns an error if the simulations need more memory than there is.
    pub fn fit_to_this_machine(
        simulations: &[&Scenario],
        workers: Option<usize>,
        threads: Option<usize>,
        cache: Option<WarmStateCache>,
    ) -> Result<MachineResources, TooLittleMemory> {
        let processors = default_workers();
        let mut at_a_time = workers.unwrap_or(processors).min(simulations.len()).max(1);
        if let Some((available_bytes, bound)) = memory::available_memory_bytes() {
            let needed = |workers| {
                let threads = memory::stack_bytes_counted_by_limit(workers, bound);
                memory::peak_memory_needed_bytes(simulations.iter().copied(), workers).saturating_add(threads)
            };
            // A smaller number changes no result. If the user wants a number, it is that or an error.
            while workers.is_none() && at_a_time > 1 && needed(at_a_time) > available_bytes {
                at_a_time -= 1;
            }
            let needed_bytes = needed(at_a_time);
            if needed_bytes > available_bytes {
                return Err(TooLittleMemory { needed_bytes, available_bytes, limit_name: bound, parallel_simulations: at_a_time });
            }
        }
        Ok(MachineResources {
            simulations_at_once: at_a_time,
            threads_per_simulation: threads_of_each(threads, at_a_time, processors),
            warm_state_cache: cache,
        })
    }
}

/// Returns the default number of workers: one for each processor.
pub fn default_workers() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the number of threads of each simulation, if `workers` run at a time.
fn threads_of_each(wanted: Option<usize>, workers: usize, processors: usize) -> usize {
    let left = (processors / workers).max(1);
    wanted.map_or(left, |wanted| wanted.clamp(1, left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;

    #[test]
    fn workers_and_threads_share_the_processors() {
        assert_eq!(threads_of_each(None, 1, 8), 8);
        assert_eq!(threads_of_each(Some(3), 1, 8), 3);
        assert_eq!(threads_of_each(Some(0), 1, 8), 1);
        assert_eq!(threads_of_each(Some(16), 1, 8), 8, "no more than there are");
        assert_eq!(threads_of_each(None, 8, 8), 1);
        assert_eq!(threads_of_each(None, 3, 8), 2);
        assert_eq!(threads_of_each(Some(4), 4, 8), 2);
        assert_eq!(threads_of_each(Some(4), 100, 2), 1, "more workers than processors");
    }

    #[test]
    fn there_are_no_more_workers_than_simulations_or_than_are_wanted() {
        let scenario = Simulation::from_toml("ssd.geometry = { dies = 1, blocks = 64 }").unwrap().scenario().unwrap();
        let workers = |simulations: usize, wanted| {
            MachineResources::fit_to_this_machine(&vec![&scenario; simulations], wanted, None, None).unwrap().simulations_at_once
        };
        assert_eq!((workers(0, None), workers(1, Some(5)), workers(9, Some(2))), (1, 1, 2));
        assert_eq!(workers(200, Some(100)), 100, "as many as the user wants");
        assert_eq!(workers(200, None), default_workers().min(200));
    }

    #[test]
    fn what_memory_has_no_room_for_is_refused() {
        let geometry = "array.members = 128\nssd.geometry = { dies = 64, planes = 8, blocks = 2048, pages = 1024 }";
        let scenario = Simulation::from_toml(geometry).unwrap().scenario().unwrap();
        // No simulation is refused if the system does not tell its memory.
        if let Some((available_bytes, _)) = memory::available_memory_bytes() {
            let lack = MachineResources::fit_to_this_machine(&[&scenario; 3], None, None, None).unwrap_err();
            assert!(lack.parallel_simulations == 1 && lack.needed_bytes > available_bytes / 2, "{lack:?}");
            assert_eq!(MachineResources::fit_to_this_machine(&[&scenario; 3], Some(2), None, None).unwrap_err().parallel_simulations, 2);
        }
    }
}
