//! Tests of what drives hold at the start: computed, written out, and after long overwriting.

use super::warm_up::{UntimedWriter, valid_by_age};
use super::*;
use crate::space::victim::{CostBenefit, DChoices, Fifo, Greedy};

fn shape(has_parity_superpages: bool) -> SuperblockShape {
    SuperblockShape {
        dies: 4,
        planes: 2,
        mapping_units_per_flash_page: 2,
        bits_per_cell: 3,
        superpages_of_superblock_per_die: 5,
        superblocks: 40,
        exported_mapping_units: 5001,
        has_parity_superpages,
        placement_handles: PlacementHandles::SINGLE_HANDLE,
        slc_superblock_limit: None,
    }
}

fn params(shape: SuperblockShape, victim: VictimPolicy, starts_empty: bool) -> SuperblockMappingParams {
    let die_to_channel_assignment = DieToChannelAssignment::consecutive(2);
    SuperblockMappingParams { shape, die_to_channel_assignment, target_free_superblocks: 4, victim, starts_empty }
}

fn drive(shape: SuperblockShape, starts_empty: bool) -> SuperblockMapping {
    SuperblockMapping::filled(&params(shape, Greedy {}.into(), starts_empty), 7, 1)
}

#[test]
fn a_computed_fill_is_the_fill_that_is_written() {
    for parity in [false, true] {
        for (rows, units) in [(5, 1), (5, 23), (5, 24), (5, 25), (5, 4999), (5, 5760), (2, 1500), (2, 2001), (1, 900), (3, 2000)] {
            let shape = SuperblockShape { exported_mapping_units: units, superpages_of_superblock_per_die: rows, ..shape(parity) };
            let mut computed = drive(shape, false);
            computed.verify().unwrap();
            let mut written = drive(shape, true);
            let mut writer = UntimedWriter::new(Stream::Host(0));
            (0..units).for_each(|unit| writer.put(&mut written, unit));
            writer.close(&mut written);
            assert_eq!(computed.save(), written.save(), "parity {parity}, {rows} rows, {units} units");
            assert_eq!((&computed.open, &computed.rows_begun), (&written.open, &written.rows_begun));
            for (a, b) in computed.superblocks.iter().zip(&written.superblocks) {
                assert_eq!(Superblock { is_computed: false, ..*a }, *b);
            }
            // They go on alike.
            for drive in [&mut computed, &mut written] {
                drive.overwrite_untimed((0..700).map(|at| (at * 5 % units, 0)));
                drive.verify().unwrap();
            }
            assert_eq!(computed.save(), written.save(), "parity {parity}, {rows} rows, {units} units, overwritten");
        }
    }
}

#[test]
fn every_unit_of_a_steady_drive_has_one_place() {
    for (parity, seed, cycle) in [(false, 1, 0), (false, 2, 3), (true, 1, 0), (true, 5, 2), (true, 6, 9)] {
        let shape = SuperblockShape { exported_mapping_units: if parity { 2401 } else { 3600 }, ..shape(parity) };
        let mut space = drive(shape, false);
        space.make_steady(seed, 3, cycle);
        space.verify().unwrap();
        let places = 0..shape.physical_mapping_units_per_drive() as u32;
        let units: Vec<(u32, u32)> = places.filter_map(|place| Some((space.origin.unit_at(&shape, place)?, place))).collect();
        assert_eq!(units.len(), shape.exported_mapping_units as usize);
        assert!(units.iter().all(|&(unit, place)| space.entry(unit) == place));
        for block in 0..shape.superblocks {
            let mut lay = 0;
            space.origin.for_each_in(&shape, block, |unit, place| {
                assert_eq!((space.superblock_of(place), space.entry(unit)), (block, place));
                lay += 1;
            });
            assert_eq!(lay, space.superblocks[block as usize].valid);
        }
        // What is written, collected and trimmed is stored, and nothing is lost.
        let mut random = rng::stream(1, "writes", 0);
        for _ in 0..30 {
            let writes: Vec<(u32, u8)> =
                (0..200).map(|_| (rng::below(&mut random, u64::from(shape.exported_mapping_units)) as u32, 0)).collect();
            space.overwrite_untimed(writes.into_iter());
            space.verify().unwrap();
        }
    }
}

/// The open superblocks of host and collection differ from member to member, unless all have the same point of their cycle.
#[test]
fn members_begin_at_points_of_their_own() {
    let rows_of = |member, cycle| {
        let shape = SuperblockShape { superpages_of_superblock_per_die: 64, exported_mapping_units: 45_000, ..shape(false) };
        let mut space = drive(shape, false);
        space.make_steady(1, member, cycle);
        assert_eq!(space.free() + space.open.iter().map(|open| open.len() as u32).sum::<u32>(), 6);
        space.open.iter().flatten().map(|open| open.next_row[0]).collect::<Vec<_>>()
    };
    let own: std::collections::BTreeSet<_> = (0..16).map(|member| rows_of(member, member)).collect();
    assert!(own.len() > 14, "{own:?}");
    assert!((0..16).all(|member| rows_of(member, 0) == rows_of(0, 0)));
}

/// A run that changes little takes little memory, and the start takes no time: a drive of 25.6 TB in units of 16 KiB.
#[test]
fn a_drive_of_real_size_takes_no_memory() {
    let shape = SuperblockShape {
        dies: 512,
        planes: 4,
        mapping_units_per_flash_page: 1,
        bits_per_cell: 3,
        superpages_of_superblock_per_die: 400,
        superblocks: 700,
        exported_mapping_units: 1_562_500_000,
        ..shape(false)
    };
    let mut space = drive(shape, true);
    space.make_steady(1, 0, 0);
    assert!(space.memory_bytes() < 64 << 10, "{}", space.memory_bytes());
    let mut random = rng::stream(1, "writes", 0);
    let writes: Vec<(u32, u8)> =
        (0..20_000).map(|_| (rng::below(&mut random, u64::from(shape.exported_mapping_units)) as u32, 0)).collect();
    space.overwrite_untimed(writes.into_iter());
    // Whole tables would have 13 GB. One victim was moved, with a million units.
    assert!(space.memory_bytes() < 128 << 20, "{}", space.memory_bytes());
}

/// Returns the mean of the squares of the valid shares, and all valid shares in order of size.
fn distribution(mut valid: Vec<u32>, units: u32) -> (f64, Vec<f64>) {
    valid.sort_unstable();
    let shares: Vec<f64> = valid.into_iter().map(|valid| f64::from(valid) / f64::from(units)).collect();
    (shares.iter().map(|share| share * share).sum::<f64>() / shares.len() as f64, shares)
}

/// Compares the valid counts of sealed superblocks with those after overwriting the drive eight times. Means, means of squares and
/// distributions are alike.
#[test]
fn valid_counts_are_those_after_long_overwriting() {
    let shape = SuperblockShape { superblocks: 200, exported_mapping_units: 20_000, ..shape(false) };
    let per_block = shape.data_mapping_units_per_superblock();
    let policies: [(VictimPolicy, f64); 4] =
        [(Fifo {}.into(), 0.06), (Greedy {}.into(), 0.09), (DChoices { d: 20 }.into(), 0.09), (CostBenefit {}.into(), 0.09)];
    for (victim, distance_max) in policies {
        let mut space = SuperblockMapping::filled(&params(shape, victim, false), 1, 0);
        assert!(space.warm_up(8.0, 1, 0, &mut |_| true));
        let sealed = space.superblocks.iter().filter(|block| block.state == State::Sealed);
        let overwritten: Vec<u32> = sealed.map(|block| block.valid).collect();
        let computed = valid_by_age(200 - 4 - 2, per_block, shape.exported_mapping_units);
        let mean = |valid: &[u32]| f64::from(valid.iter().sum::<u32>()) / valid.len() as f64 / f64::from(per_block);
        assert!((mean(&computed) / mean(&overwritten) - 1.0).abs() < 0.02, "{victim:?}");
        let ((square, computed), (other, overwritten)) = (distribution(computed, per_block), distribution(overwritten, per_block));
        assert!((square / other - 1.0).abs() < 0.04, "{victim:?}: {square} {other}");
        // Kolmogorov's distance of the two distributions.
        let below = |shares: &[f64], share: f64| shares.partition_point(|&other| other <= share) as f64 / shares.len() as f64;
        let distance = computed.iter().chain(&overwritten).map(|&share| (below(&computed, share) - below(&overwritten, share)).abs());
        let distance = distance.fold(0.0, f64::max);
        assert!(distance < distance_max, "{victim:?}: {distance}");
    }
}
