//! Tests of what drives hold at the start: computed, written out, and after long overwriting.

use super::warm_up::UntimedWriter;
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

fn point(index: u32) -> PointOfCycle {
    PointOfCycle { index, course: CollectionCourse::WithHostWrites }
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
            assert_eq!(computed.superblocks, written.superblocks);
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
    for (parity, seed, index) in [(false, 1, 0), (false, 2, 3), (true, 1, 0), (true, 5, 2), (true, 6, 9), (false, 3, 5), (false, 4, 8)] {
        let shape = SuperblockShape { exported_mapping_units: if parity { 2401 } else { 3600 }, ..shape(parity) };
        let mut space = drive(shape, false);
        space.make_steady(seed, 3, point(index));
        assert!(space.begun.is_some());
        space.verify().unwrap();
        let places = 0..shape.physical_mapping_units_per_drive();
        let units: Vec<(u64, u64)> = places.filter_map(|place| Some((space.origin.unit_at(&shape, place)?, place))).collect();
        assert_eq!(units.len(), shape.exported_mapping_units as usize);
        assert!(units.iter().all(|&(unit, place)| space.entry(unit) == place));
        for block in 0..shape.superblocks {
            let mut lay = 0;
            space.origin.for_each_in(&shape, shape.first_place_of(block)..shape.first_place_of(block + 1), |unit, place| {
                assert_eq!((space.superblock_of(place), space.entry(unit)), (block, place));
                lay += 1;
            });
            assert_eq!(lay, space.superblocks[block as usize].valid);
        }
        // What is written, collected and trimmed is stored, and nothing is lost.
        let mut random = rng::stream(1, "writes", 0);
        for _ in 0..30 {
            let writes: Vec<(u64, u8)> = (0..200).map(|_| (rng::below(&mut random, shape.exported_mapping_units), 0)).collect();
            space.overwrite_untimed(writes.into_iter());
            space.verify().unwrap();
        }
    }
}

/// Victims of large drives are stored superpage by superpage.
#[test]
fn a_superblock_stored_in_parts_holds_what_it_holds_as_a_whole() {
    for parity in [false, true] {
        let shape = SuperblockShape { exported_mapping_units: if parity { 2401 } else { 3600 }, ..shape(parity) };
        let mut whole = drive(shape, false);
        whole.make_steady(1, 3, point(2));
        let changed = (0..300).map(|at| at * 7 % shape.exported_mapping_units);
        changed.for_each(|unit| whole.changes.set(unit, BUFFERED));
        let mut parts = whole.clone();
        let superpage = shape.mapping_units_per_superpage();
        for block in 0..shape.superblocks {
            whole.store_contents(block);
            let until = parts.computed[block as usize].end;
            (1..=until / superpage)
                .for_each(|superpages| parts.store_computed(block, (superpages - 1) * superpage..superpages * superpage));
        }
        assert!(parts == whole && whole.valid.count() > 0, "parity {parity}");
    }
}

/// Members differ in how far open superblocks are filled, and in how far a victim has been moved. With the same point of the cycle they do
/// not. The room in free superblocks, open ones and the victim together is the same for all.
#[test]
fn members_begin_at_points_of_their_own() {
    let shape = SuperblockShape { superpages_of_superblock_per_die: 32, exported_mapping_units: 22_500, ..shape(false) };
    let begun = |member, index, course| {
        let mut space = drive(shape, false);
        space.make_steady(1, member, PointOfCycle { index, course });
        space.verify().unwrap();
        space
    };
    let room = |space: &SuperblockMapping| {
        let victim = space.begun.map_or(0.0, |begun| {
            let left = f64::from(space.superblocks[begun.block as usize].valid) / f64::from(begun.valid);
            1.0 - left
        });
        let open: u32 = space.open.iter().flatten().map(|open| open.superpages_left).sum();
        f64::from(space.free()) + f64::from(open) / f64::from(shape.data_superpages()) + victim
    };
    let rows_of = |space: &SuperblockMapping| space.open.iter().flatten().map(|open| open.next_row[0]).collect::<Vec<_>>();
    let paced: Vec<_> = (0..200).map(|member| begun(member, member, CollectionCourse::WithHostWrites)).collect();
    assert!(paced[..16].iter().map(rows_of).collect::<std::collections::BTreeSet<_>>().len() > 14);
    for space in &paced {
        assert!((room(space) - 5.5).abs() < 0.01, "a superblock and a half more than the target of four, but {}", room(space));
    }
    // Three quarters of the points have the target, an eighth one more or less.
    let with_free = |free: u32| paced.iter().filter(|space| space.free() + space.open.iter().flatten().count() as u32 == free + 2).count();
    assert!((130..170).contains(&with_free(4)) && (12..40).contains(&with_free(3)) && (12..40).contains(&with_free(5)));
    assert!((0..16).all(|member| rows_of(&begun(member, 0, CollectionCourse::WithHostWrites)) == rows_of(&paced[0])));
    // Where the controller tells when to collect, all numbers up to the goal occur, and nothing is being moved.
    let told: Vec<_> = (0..60).map(|member| begun(member, member, CollectionCourse::WhenTold { span: 3 })).collect();
    assert!((5..=7).all(|free| told.iter().any(|space| space.free() == free)) && told.iter().all(|space| space.begun.is_none()));
    let at_once = begun(0, 0, CollectionCourse::InNoTime);
    assert!(at_once.begun.is_none() && at_once.free() == 5);
}

/// A run that changes little takes little memory, and the start takes no time. One drive has 25.6 TB in units of 16 KiB. The other has
/// 18.4 TB in units of 4 KiB, whose numbers need more than 32 bits.
#[test]
fn a_drive_of_real_size_takes_no_memory() {
    let narrow = SuperblockShape {
        dies: 512,
        planes: 4,
        mapping_units_per_flash_page: 1,
        bits_per_cell: 3,
        superpages_of_superblock_per_die: 100,
        superblocks: 2800,
        exported_mapping_units: 1_562_500_000,
        ..shape(false)
    };
    let wide = SuperblockShape { dies: 1024, mapping_units_per_flash_page: 4, superblocks: 6800, ..narrow };
    let wide = SuperblockShape { superpages_of_superblock_per_die: 15, exported_mapping_units: 4_500_000_000, ..wide };
    for (shape, width, moved) in [(narrow, Width::Narrow, 32 << 20), (wide, Width::Wide, 128 << 20)] {
        assert_eq!(shape.width(), width);
        let mut space = drive(shape, true);
        space.make_steady(1, 0, point(0));
        assert!(space.memory_bytes() < 256 << 10, "{}", space.memory_bytes());
        let mut random = rng::stream(1, "writes", 0);
        let writes: Vec<(u64, u8)> = (0..20_000).map(|_| (rng::below(&mut random, shape.exported_mapping_units), 0)).collect();
        for &(unit, _) in &writes {
            assert_eq!(space.origin.unit_at(&shape, space.entry(unit)), Some(unit));
        }
        space.overwrite_untimed(writes.into_iter());
        // Whole tables would have 13 and 90 GB. One victim was moved, with half a million units or more.
        assert!(space.memory_bytes() < moved, "{}", space.memory_bytes());
    }
}

/// The width of the tables changes no result.
#[test]
fn a_wide_drive_does_what_a_narrow_one_does() {
    for (parity, steady) in [(false, false), (false, true), (true, true)] {
        let shape = SuperblockShape { exported_mapping_units: if parity { 2401 } else { 3600 }, ..shape(parity) };
        let mut drives = [Width::Narrow, Width::Wide].map(|width| {
            let mut drive = drive(shape, false);
            (drive.width, drive.changes) = (width, Changes::none(width, shape.exported_mapping_units));
            if steady {
                drive.make_steady(1, 3, point(2));
            }
            drive
        });
        let mut random = rng::stream(1, "writes", 0);
        for _ in 0..30 {
            let writes: Vec<(u64, u8)> = (0..200).map(|_| (rng::below(&mut random, shape.exported_mapping_units), 0)).collect();
            for drive in &mut drives {
                drive.overwrite_untimed(writes.iter().copied());
                // A trimmed unit has no place.
                let (unit, _) = writes[0];
                if let Some(place) = drive.physical_slot_of_mapping_unit(unit) {
                    drive.invalidate(unit, place);
                }
                drive.set_entry(unit, NONE);
                drive.verify().unwrap();
            }
            let [narrow, wide] = &drives;
            assert_eq!(narrow.save(), wide.save(), "parity {parity}, steady {steady}");
        }
        assert!(drives[1].memory_bytes() > drives[0].memory_bytes(), "they differ");
        let mut loaded = drive(shape, true);
        loaded.width = Width::Wide;
        loaded.load(&drives[0].save()).unwrap();
        loaded.verify().unwrap();
        assert_eq!(loaded.save(), drives[1].save());
    }
}

/// Overwrites of a drive, by addresses.
#[derive(Debug, Clone, Copy)]
enum Writes {
    Uniform,
    /// Writes of which so many of a hundred go to so many hundredths of the units.
    HotCold {
        writes: u64,
        units: u64,
    },
}

/// Mean and standard deviation of the valid shares of sealed superblocks, and the shares in order of size.
struct Shares {
    mean: f64,
    deviation: f64,
    sorted: Vec<f64>,
}

impl Shares {
    fn of(valid: impl IntoIterator<Item = u32>, per_block: u32) -> Self {
        let mut sorted: Vec<f64> = valid.into_iter().map(|valid| f64::from(valid) / f64::from(per_block)).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        let deviation = (sorted.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / count).sqrt();
        Self { mean, deviation, sorted }
    }

    /// Kolmogorov's distance of the two distributions.
    fn distance(&self, other: &Self) -> f64 {
        let below = |shares: &[f64], share: f64| shares.partition_point(|&other| other <= share) as f64 / shares.len() as f64;
        let all = self.sorted.iter().chain(&other.sorted);
        all.map(|&share| (below(&self.sorted, share) - below(&other.sorted, share)).abs()).fold(0.0, f64::max)
    }
}

/// Returns the valid shares of a drive in the steady state, and after overwriting it ten times.
fn steady_and_overwritten(victim: VictimPolicy, slc: Option<SlcSuperblockCountLimit>, writes: Writes) -> [Shares; 2] {
    let shape = SuperblockShape { superblocks: 200, exported_mapping_units: 20_000, slc_superblock_limit: slc, ..shape(false) };
    let per_block = shape.data_mapping_units_per_superblock();
    let sealed = |space: &SuperblockMapping| {
        let begun = space.begun.map(|begun| begun.block);
        let is_sealed = |&(number, block): &(u32, &Superblock)| block.state == State::Sealed && begun != Some(number);
        Shares::of((0..).zip(&space.superblocks).filter(is_sealed).map(|(_, block)| block.valid), per_block)
    };
    let mut space = SuperblockMapping::filled(&params(shape, victim, false), 1, 0);
    space.make_steady(1, 0, point(0));
    let steady = sealed(&space);
    let mut space = SuperblockMapping::filled(&params(shape, victim, false), 1, 0);
    let mut random = rng::stream(1, "overwrites", 0);
    let units = shape.exported_mapping_units;
    let drawn = (0..10 * units).map(|_| match writes {
        Writes::Uniform => rng::below(&mut random, units),
        Writes::HotCold { writes, units: hot } => match rng::below(&mut random, 100) < writes {
            true => rng::below(&mut random, units * hot / 100),
            false => units * hot / 100 + rng::below(&mut random, units - units * hot / 100),
        },
    });
    space.overwrite_untimed(drawn.map(|unit| (unit, 0)));
    space.end_warm_up_and_close_superpages();
    [steady, sealed(&space)]
}

/// Compares the valid counts of sealed superblocks with those after overwriting the drive ten times, in mean, deviation and distribution.
#[test]
fn valid_counts_are_those_after_long_overwriting() {
    let dynamic = SlcSuperblockCountLimit::ShareOfSlcAndFreeSuperblocks { millionths_of_available: 300_000 };
    let cases: [(VictimPolicy, Option<SlcSuperblockCountLimit>); 6] = [
        (Fifo {}.into(), None),
        (Greedy {}.into(), None),
        (DChoices { d: 20 }.into(), None),
        (CostBenefit {}.into(), None),
        (Greedy {}.into(), Some(dynamic)),
        (Greedy {}.into(), Some(SlcSuperblockCountLimit::Superblocks(4))),
    ];
    for (victim, slc) in cases {
        let [steady, overwritten] = steady_and_overwritten(victim, slc, Writes::Uniform);
        let (mean, deviation) = (steady.mean / overwritten.mean, steady.deviation / overwritten.deviation);
        assert!((mean - 1.0).abs() < 0.01 && (deviation - 1.0).abs() < 0.02, "{victim:?} {slc:?}: mean {mean}, deviation {deviation}");
        let distance = steady.distance(&overwritten);
        assert!(distance < 0.05, "{victim:?} {slc:?}: {distance}");
    }
}

/// Skewed writes come to another state, with the same mean.
#[test]
fn valid_counts_are_not_those_of_skewed_writes() {
    for (writes, units, least) in [(80, 20, 0.1), (95, 5, 0.3)] {
        let [steady, overwritten] = steady_and_overwritten(Greedy {}.into(), None, Writes::HotCold { writes, units });
        let (mean, distance) = (steady.mean / overwritten.mean, steady.distance(&overwritten));
        assert!((mean - 1.0).abs() < 0.01 && distance > least, "{writes} to {units}: mean {mean}, distance {distance}");
    }
}
