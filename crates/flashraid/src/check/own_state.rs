//! Write amplification that a workload reaches in the long run, for runs that begin in the steady state of uniform random writes.
//!
//! A drive in use has the state that its past writes left. The warm-up assumes uniform random writes over the whole drive. A workload that
//! writes in order, to few addresses, or to some of them more often leads to another state. The run drifts there from its beginning.
//!
//! For a generator, the state is found by writing to a smaller drive without simulated time. That drive has smaller superblocks, but the
//! same number of them and the same spare area.
//!
//! For a trace, only two shares are used, as if it wrote uniformly: that of the space that it writes to, and that of trims. Its addresses
//! are those of the real drive, and a smaller one does not have them.

use crate::config::{Scenario, workload_address_space};
use crate::file_hashes::traces;
use crate::warm_up::fill_by_owner;
use flashraid_driver::overwrite_untimed;
use flashraid_model::array::{Array, ArrayExecutionOptions, ArrayParams, ParityHandle, RaidLevel, WarmUpPattern};
use flashraid_model::flash::DieToChannelAssignment;
use flashraid_model::rng;
use flashraid_model::ssd::{SsdParams, SuperblockDriveParams};
use flashraid_workload::synthetic::{AddressDistribution, Footprint};
use flashraid_workload::{self as workload, SourceSpec, Stop, WorkloadSpec};

use super::{FirstRequestsStatistics, PoolGcThresholdsAndCost, drive, theory};

/// Number of units in a superblock of the smaller drives. It is large enough to have little influence on write amplification.
const SUPERBLOCK_UNITS: u32 = 192;
/// Number of times that the smaller drives are overwritten before counting begins, and during counting.
const OVERWRITES_BEFORE: f64 = 3.0;
const OVERWRITES_COUNTED: f64 = 1.0;
/// Relative difference from which on there is a warning.
const DIFFERENCE_MIN: f64 = 0.1;
/// Share of the space from which on a footprint counts as all of it.
const ALL: f64 = 0.99;

/// Returns the write amplification that the workload reaches in the long run.
///
/// It is `None` if the run does not begin in the steady state of uniform random writes. It is also `None` if the workload writes uniformly,
/// does not write, or cannot be read.
pub(super) fn write_amplification(scenario: &Scenario, gc: &PoolGcThresholdsAndCost, sample: &FirstRequestsStatistics) -> Option<f64> {
    let superblock = scenario.array.ssd.superblock.as_ref()?;
    let begins_steady = scenario.warm_up.pattern == WarmUpPattern::SteadyStateWithoutWrites && scenario.warm_state.load_from.is_none();
    if !begins_steady || sample.pages_written_per_request == 0.0 {
        return None;
    }
    let mut paths = Vec::new();
    traces(&scenario.workload, &mut paths);
    if !paths.is_empty() {
        return Some(of_shares(&scenario.array.ssd, superblock, gc, sample));
    }
    if is_uniform(&scenario.workload) { None } else { by_writing(scenario, superblock) }
}

/// Returns true if every page of the array is equally likely to be written next.
fn is_uniform(workload: &WorkloadSpec) -> bool {
    match &workload.source {
        SourceSpec::Synthetic(synthetic) => {
            let address = &synthetic.addresses;
            let is_everywhere = match address.footprint {
                None => true,
                Some(Footprint::ShareOfCapacity(share)) => share.0 >= ALL,
                Some(_) => false,
            };
            matches!(address.pattern, AddressDistribution::Uniform(_))
                && is_everywhere
                && address.sequential_fraction == 0.0
                && address.member_skew.is_none()
        }
        SourceSpec::Mix(streams) => streams.iter().all(is_uniform),
        SourceSpec::Trace(_) => false,
    }
}

/// Returns the write amplification of uniform writes and trims in a share of the space.
///
/// The model assumes that all other data fill their superblocks. The whole spare area, together with the trimmed pages, then serves that
/// share.
fn of_shares(ssd: &SsdParams, superblock: &SuperblockDriveParams, gc: &PoolGcThresholdsAndCost, sample: &FirstRequestsStatistics) -> f64 {
    let shape = superblock.shape(&ssd.geometry);
    let alpha = drive::alpha(ssd, superblock).max(1.000_001);
    let written_share = sample.written_share.clamp(f64::MIN_POSITIVE, 1.0);
    let written = sample.host_pages_written_per_request;
    let mapped_share = written / (written + sample.pages_trimmed_per_request);
    let own_alpha = (1.0 + (alpha - 1.0) / written_share) / mapped_share;
    let parity = gc.write_amplification / theory::greedy_write_amplification(shape.data_mapping_units_per_superblock(), alpha);
    theory::greedy_write_amplification(shape.data_mapping_units_per_superblock(), own_alpha) * parity
}

/// Returns the write amplification measured on a smaller drive, which is overwritten with the addresses of the workload.
fn by_writing(scenario: &Scenario, superblock: &SuperblockDriveParams) -> Option<f64> {
    let params = smaller(&scenario.array, superblock);
    let space = workload_address_space(&params);
    let shape = params.ssd.superblock.as_ref()?.shape(&params.ssd.geometry);
    let mut array = Array::new(&params, scenario.seed, ArrayExecutionOptions::default());
    let smaller = Scenario { array: params, ..scenario.clone() };
    fill_by_owner(&smaller, &mut array, &Stop::default()).ok()?;
    let mut source = workload::open_stoppable_workload(
        &scenario.workload.without_times_and_priorities(),
        rng::mix_bits(scenario.seed),
        &space,
        &Stop::default(),
    )
    .ok()?;
    let pages = (space.capacity_bytes / space.page_bytes) as f64;
    let mut overwrite = |overwrites: f64| {
        let pages = overwrite_untimed(&mut array, &mut *source, (overwrites * pages) as u64, &mut |_| true).ok()?;
        Some((pages, array.members()[0].mapping().wear().mean * f64::from(shape.superblocks)))
    };
    let (_, erases_before) = overwrite(OVERWRITES_BEFORE)?;
    let (pages_written, erases) = overwrite(OVERWRITES_COUNTED)?;
    // Each page is a separate unit here, even if a unit of the real drive holds several.
    let units_written = pages_written as f64;
    // The smaller drives have no parity in each row.
    let own = superblock.shape(&scenario.array.ssd.geometry);
    let with_parity = f64::from(own.superpages_per_superblock()) / f64::from(own.data_superpages());
    let programmed_units = (erases - erases_before) * f64::from(shape.data_mapping_units_per_superblock());
    (units_written > 0.0).then(|| (programmed_units / units_written).max(1.0) * with_parity)
}

/// Returns one member with smaller superblocks: one die of one plane, with the same number of superblocks, spare area and thresholds.
///
/// Parity of the array, which is written more often than data, changes write amplification by at most 2 %.
fn smaller(array: &ArrayParams, superblock: &SuperblockDriveParams) -> ArrayParams {
    let spare = superblock.shape(&array.ssd.geometry).superblocks_beyond_capacity();
    let row_units = superblock.bits_per_cell * superblock.mapping_units_per_flash_page;
    let rows = SUPERBLOCK_UNITS.div_ceil(row_units);
    let mut smaller = array.clone();
    (smaller.level, smaller.members, smaller.parity_handle) = (RaidLevel::Single, 1, ParityHandle::OfData);
    smaller.slow.clear();
    (smaller.failures, smaller.rebuild, smaller.cache, smaller.host_port, smaller.coordination) = (Vec::new(), None, None, None, None);
    let ssd = &mut smaller.ssd;
    let geometry = &mut ssd.geometry;
    (geometry.dies, geometry.planes, geometry.overprovisioned_blocks_per_plane) = (1, 1, spare);
    geometry.pages_per_block = rows * row_units * superblock.pages_per_mapping_unit;
    ssd.channel = ssd.channel.map(|_| DieToChannelAssignment::consecutive(1));
    // Data with one bit per cell are moved out of there in any case.
    ssd.superblock = Some(SuperblockDriveParams { has_parity_superpages: false, slc: None, dies_programming_max: 1, ..superblock.clone() });
    smaller
}

/// Returns a warning if the run begins far from the state that the workload leads to.
pub(super) fn warning(begins_with: f64, own: f64) -> Option<String> {
    let difference = begins_with / own - 1.0;
    if difference.abs() < DIFFERENCE_MIN {
        return None;
    }
    let (percent, direction) = (difference.abs() * 100.0, if difference > 0.0 { "above" } else { "below" });
    Some(format!(
        "the run begins in the steady state of uniform random writes over the whole drives, with a write amplification of {begins_with:.2}. In the \
         long run, this workload would reach about {own:.2}, so the run begins {percent:.0} % {direction} that. With \
         ssd.warm_up.pattern = \"workload\" it begins in the workload's own state, which takes longer to make"
    ))
}
