//! Checks whether there is enough memory for simulations, before any of it is allocated.

use crate::config::Scenario;
use flashraid_model::space::superblocks::SuperblockShape;
use flashraid_model::ssd::SsdParams;
use flashraid_workload::{SourceSpec, WorkloadSpec};
use std::fs;
use std::path::Path;

/// Memory of the program itself, with requests in progress and statistics.
const BASE_BYTES: u64 = 64 << 20;

/// Error for simulations that need more memory than there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLittleMemory {
    /// Estimated number of bytes that the simulations need.
    pub needed_bytes: u64,
    /// Number of bytes that are available.
    pub available_bytes: u64,
    /// Name of the limit that is exceeded, in words.
    pub limit_name: &'static str,
    /// Number of simulations that run at a time.
    pub parallel_simulations: usize,
}

/// Returns the estimated number of bytes that a run of `scenario` needs.
pub fn memory_needed_bytes(scenario: &Scenario) -> u64 {
    let (spares, _) = scenario.array.spares_and_state();
    let members = u64::from(scenario.array.members + spares);
    let all = bytes_of_ssd(&scenario.array.ssd);
    match scenario.array.ssd.superblock.as_ref().filter(|_| scenario.is_start_computed()) {
        Some(superblock) => all.min(touched_bytes(scenario, &superblock.shape(&scenario.array.ssd.geometry))),
        None => all,
    }
    .saturating_mul(members)
}

/// Returns the number of bytes for both maps, the valid bits with erase and sequence counts, and the scores of the blocks.
pub(crate) fn bytes_of_ssd(ssd: &SsdParams) -> u64 {
    if let Some(superblock) = &ssd.superblock {
        return bytes_of_superblocks(&superblock.shape(&ssd.geometry));
    }
    let g = &ssd.geometry;
    let blocks = u64::from(g.dies) * u64::from(g.blocks_per_die());
    let forward = 4 * u64::from(g.dies) * u64::from(g.exported_pages_per_die());
    let backward = 4 * blocks * u64::from(g.pages_per_block.next_power_of_two());
    let per_block = 8 * (u64::from(g.pages_per_block).div_ceil(64) + 1) + 2;
    forward + backward + blocks * per_block
}

/// Returns the number of bytes for the map, the units by place, and the valid bits.
pub(crate) fn bytes_of_superblocks(shape: &SuperblockShape) -> u64 {
    let (units, places) = (shape.exported_mapping_units, shape.physical_mapping_units_per_drive());
    shape.table_entry_bytes() * (units + places) + places.div_ceil(8)
}

/// Returns the most memory that the map of a member takes for what the run writes. Its contents at the start take none.
///
/// The result is the greatest number if the number of requests is not known.
fn touched_bytes(scenario: &Scenario, shape: &SuperblockShape) -> u64 {
    /// Units that a request writes on all members together, with parity and all that is moved for them.
    const UNITS_PER_REQUEST: u64 = 128;
    /// Numbers that the entry of a unit takes in the table of changes, where it is emptiest.
    const CHANGE_NUMBERS: u64 = 7;
    /// Places of a superblock that hold a unit which a run writes or moves, or lie between such places.
    const PLACES_PER_UNIT: u64 = 4;
    /// Memory that the system gives at a time, for units and for valid bits.
    const PIECE_BYTES: u64 = 2 * (2 << 20);
    let Some(requests) = [scenario.run_limit.max_requests, trace_requests_max(&scenario.workload)].into_iter().flatten().min() else {
        return u64::MAX;
    };
    let units = requests.saturating_mul(UNITS_PER_REQUEST) / u64::from(scenario.array.members);
    // Open superblocks, victims and those that the run fills have tables of their own.
    let superblocks = u64::from(shape.open_superblocks_max() + 2) + units / u64::from(shape.data_mapping_units_per_superblock());
    let place_bytes = shape.table_entry_bytes() + 1;
    let superblock_bytes = u64::from(shape.mapping_units_per_superblock()) * place_bytes;
    // Of a large superblock, memory is taken only for the places that are looked at.
    let tables = superblocks.saturating_mul(superblock_bytes);
    let pieces = units.saturating_mul(PLACES_PER_UNIT * place_bytes).saturating_add(superblocks.saturating_mul(PIECE_BYTES));
    units.saturating_mul(CHANGE_NUMBERS * shape.table_entry_bytes()).saturating_add(tables.min(pieces))
}

/// Returns the most requests that the traces of a workload can have, by the sizes of their files; `None` for generated requests.
fn trace_requests_max(workload: &WorkloadSpec) -> Option<u64> {
    /// Size of a request in a compressed trace. Most need more.
    const REQUEST_BYTES_MIN: u64 = 2;
    match &workload.source {
        SourceSpec::Synthetic(_) => None,
        SourceSpec::Mix(streams) => streams.iter().map(trace_requests_max).try_fold(0_u64, |sum, stream| Some(sum.saturating_add(stream?))),
        // A pipe does not tell how much will come.
        SourceSpec::Trace(trace) => {
            fs::metadata(&trace.path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len() / REQUEST_BYTES_MIN)
        }
    }
}

/// Returns the estimated number of bytes that simulations of `scenarios` need if at most `workers` of them run at a time.
///
/// With several scenarios, those that overwrite their drives first count twice, because the state after the warm-up is copied. The
/// estimate ignores that scenarios with the same warm-up share one copy.
pub fn peak_memory_needed_bytes<'a>(scenarios: impl IntoIterator<Item = &'a Scenario>, workers: usize) -> u64 {
    let scenarios: Vec<&Scenario> = scenarios.into_iter().collect();
    let copies = |scenario: &Scenario| if scenarios.len() > 1 && !scenario.is_start_computed() { 2 } else { 1 };
    let mut bytes: Vec<u64> = scenarios.iter().map(|scenario| memory_needed_bytes(scenario).saturating_mul(copies(scenario))).collect();
    bytes.sort_unstable_by(|a, b| b.cmp(a));
    bytes.iter().take(workers).fold(BASE_BYTES, |all, bytes| all.saturating_add(*bytes))
}

/// Name of the limit on the address space of a process.
const ADDRESS_SPACE: &str = "ulimit -v";

/// Returns the number of bytes that the stacks of `threads` threads add to the memory needed. `limit_name` names the limit on memory, as
/// [`available_memory_bytes`] returns it. Stacks take addresses rather than memory, so the result is 0 unless addresses are limited
/// (`ulimit -v`).
pub fn stack_bytes_counted_by_limit(threads: usize, limit_name: &str) -> u64 {
    /// Size of a thread's stack, which is the default of the standard library.
    const STACK_BYTES: u64 = 2 << 20;
    if limit_name == ADDRESS_SPACE { STACK_BYTES.saturating_mul(threads as u64) } else { 0 }
}

/// Returns the number of bytes that are still available, and the name of the limit that leaves the fewest. A limit is the machine's
/// memory, for example. Returns `None` if the operating system does not tell.
pub fn available_memory_bytes() -> Option<(u64, &'static str)> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| kib_of(&text, "MemAvailable:")).map(|bytes| (bytes, "the machine"));
    let container = read("/proc/self/cgroup").and_then(|groups| left_in_groups(&groups, Path::new("/sys/fs/cgroup")));
    let container = container.map(|bytes| (bytes, "the limit of the container"));
    let limit = read("/proc/self/limits").and_then(|limits| address_space_limit(&limits));
    let own = read("/proc/self/status").and_then(|status| kib_of(&status, "VmSize:")).unwrap_or(0);
    let limit = limit.map(|bytes| (bytes.saturating_sub(own), ADDRESS_SPACE));
    [machine, container, limit].into_iter().flatten().min()
}

/// Returns the value of the line `name 123 kB` in a text, in bytes.
fn kib_of(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?.trim().strip_suffix("kB")?;
    value.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the soft limit of the address space from the text `limits`, if there is one.
fn address_space_limit(limits: &str) -> Option<u64> {
    limits.lines().find_map(|line| line.strip_prefix("Max address space"))?.split_whitespace().next()?.parse().ok()
}

/// Returns the memory left in the control groups of this process and in those above them. The smallest of these values counts.
fn left_in_groups(groups: &str, root: &Path) -> Option<u64> {
    let number = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let mut least = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        // Version 2 has one tree of groups, and version 1 has one for memory.
        let (root, limit, used) = match controllers {
            "" => (root.to_owned(), "memory.max", "memory.current"),
            _ if controllers.split(',').any(|controller| controller == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        let own = root.join(group.trim_start_matches('/'));
        for folder in own.ancestors().take_while(|folder| folder.starts_with(&root)) {
            if let Some(limit) = number(&folder.join(limit)) {
                let left = limit.saturating_sub(number(&folder.join(used)).unwrap_or(0));
                least = Some(least.map_or(left, |least: u64| least.min(left)));
            }
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_understood() {
        assert_eq!(kib_of("MemTotal: 9 kB\nMemAvailable:   1024 kB\n", "MemAvailable:"), Some(1 << 20));
        assert_eq!(
            address_space_limit("Limit  Soft  Hard\nMax address space         4096000000           unlimited            bytes\n"),
            Some(4_096_000_000)
        );
        assert_eq!(address_space_limit("Max address space         unlimited            unlimited            bytes\n"), None);
    }

    #[test]
    fn the_tightest_group_counts() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("job/step");
        fs::create_dir_all(&inner).unwrap();
        for (file, text) in [("job/memory.max", "1000\n"), ("job/memory.current", "400\n"), ("job/step/memory.max", "max\n")] {
            fs::write(root.path().join(file), text).unwrap();
        }
        assert_eq!(left_in_groups("0::/job/step\n", root.path()), Some(600));
        fs::write(inner.join("memory.max"), "500").unwrap();
        assert_eq!(left_in_groups("0::/job/step\n", root.path()), Some(500));
        assert_eq!(left_in_groups("0::/elsewhere\n", root.path()), None);
    }
}
