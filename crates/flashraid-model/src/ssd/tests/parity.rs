//! Parity of rows of superpages (rule 218).

use super::*;

#[test]
fn parity_follows_the_last_superpage_of_its_row() {
    // The first superpage goes to row 1 of die 0, whose parity die 1 programs from the same moment on.
    let mut bench = Bench::new(&with_parity(|_| {}));
    bench.command(0, 0, OpKind::Write, 0..2);
    let begins = 7 + 20 + 2 * 4;
    bench.run_before(begins + 20 + 1000);
    assert_eq!((bench.drive.parts.drive_counters.host_units_programmed, bench.drive.parts.drive_counters.parity_units_programmed), (0, 0));
    bench.run_before(begins + 20 + 1000 + 1);
    let counters = bench.drive.parts.drive_counters;
    assert_eq!((counters.host_units_programmed, counters.parity_units_programmed, counters.padding_units_programmed), (2, 2, 0));
    assert_eq!((counters.host_program_ns, counters.parity_program_ns), (1020, 1020));
    assert_eq!(counters.write_amplification(1), Some(2.0));
    assert_eq!(counters.write_amplification_of_parity(1), Some(1.0));
    let (place, shape) = (bench.drive.media().physical_slot_of_mapping_unit(0).unwrap(), bench.drive.media().shape);
    assert_eq!((shape.row_of(place), shape.place(place).die, shape.parity_die(1)), (1, 0, Some(1)));

    // With power for one program it comes after it, and takes no room in the buffer.
    let mut bench = Bench::new(&with_parity(|superblock| superblock.dies_programming_max = 1));
    bench.command(0, 0, OpKind::Write, 0..2);
    bench.run_before(begins + 2 * 1020);
    assert_eq!(
        (
            bench.drive.parts.drive_counters.host_units_programmed,
            bench.drive.parts.drive_counters.parity_units_programmed,
            bench.drive.front.buffer.used()
        ),
        (2, 0, 0)
    );
    bench.run_before(begins + 2 * 1020 + 1);
    assert_eq!(bench.drive.parts.drive_counters.parity_units_programmed, 2);
}

#[test]
fn parity_is_made_of_what_can_be_replaced_no_more() {
    // Three dies: rows of two superpages with data. That of the first row is begun once both are in their programs.
    let mut params = with_parity(|superblock| superblock.dies_programming_max = 1);
    params.geometry.dies = 3;
    let mut bench = Bench::new(&params);
    // Die 0 takes row 1, die 1 row 0, die 2 row 0. The third superpage completes row 0, and waits for the power of two others.
    bench.command(0, 0, OpKind::Write, 0..4);
    bench.command(100, 1, OpKind::Write, 4..6);
    let begins = 7 + 20 + 4 * 4;
    bench.run_before(begins + 3 * 1020);
    assert_eq!((bench.drive.parts.drive_counters.host_units_programmed, bench.drive.parts.drive_counters.parity_units_programmed), (4, 0));
    bench.run_before(begins + 4 * 1020);
    assert_eq!((bench.drive.parts.drive_counters.host_units_programmed, bench.drive.parts.drive_counters.parity_units_programmed), (6, 0));
    bench.run_before(begins + 4 * 1020 + 1);
    assert_eq!((bench.drive.parts.drive_counters.host_units_programmed, bench.drive.parts.drive_counters.parity_units_programmed), (6, 2));
    assert_eq!(bench.drive.media().shape.parity_die(0), Some(0));
}

#[test]
fn a_flush_waits_for_data_and_not_for_parity() {
    let mut bench =
        Bench::new(&with_parity(|superblock| (superblock.buffer.settings.protected, superblock.dies_programming_max) = (false, 1)));
    bench.command(0, 0, OpKind::Write, 0..1);
    bench.command(100, 1, OpKind::Flush, 0..1);
    let (done, drive) = bench.run();
    assert_eq!(done[&1], 100 + 27 + 1020);
    assert_eq!((drive.parts.drive_counters.padding_units_programmed, drive.parts.drive_counters.parity_units_programmed), (1, 2));
}

/// Every die has its share of parity, also with fewer rows in a superblock than dies.
#[test]
fn parity_goes_round_over_all_superblocks() {
    for (dies, rows) in [(2, 1), (3, 2), (4, 4), (5, 3), (4, 9)] {
        let shape = SuperblockShape {
            dies,
            planes: 1,
            mapping_units_per_flash_page: 2,
            bits_per_cell: 1,
            superpages_of_superblock_per_die: rows,
            superblocks: 2 * dies,
            exported_mapping_units: 1,
            has_parity_superpages: true,
            placement_handles: PlacementHandles::SINGLE_HANDLE,
            slc_superblock_limit: None,
        };
        for die in 0..dies {
            let by_row = |block: u32, from: u32| (from..rows).filter(|row| shape.parity_die(block * rows + row) != Some(die)).collect();
            let mut all = 0;
            for block in 0..2 * dies {
                for from in 0..=rows {
                    let expected: Vec<u32> = by_row(block, from);
                    assert_eq!(shape.data_rows(block, die, from), expected.len() as u32, "{dies} dies, {rows} rows");
                    assert_eq!(shape.data_row(block, die, from), expected.first().copied().unwrap_or(rows));
                }
                all += shape.data_rows(block, die, 0);
            }
            assert_eq!(all, 2 * rows * (dies - 1), "{dies} dies, {rows} rows: die {die} takes as much as the others");
        }
        assert_eq!(shape.data_superpages(), rows * (dies - 1));
    }
}

#[test]
fn collection_pays_for_what_superblocks_take_beside_parity() {
    for instantaneous in [false, true] {
        let mut params = with_parity(|superblock| superblock.starts_empty = false);
        params.gc.collection_takes_no_time = instantaneous;
        let mut bench = Bench::new(&params);
        let mut stream = rng::stream(7, "parity", 0);
        for write in 0..4000 {
            let page = rng::below(&mut stream, 128) as u32;
            bench.command(u64::from(write) * 4000, write, OpKind::Write, page..page + 1);
        }
        let (done, drive) = bench.run();
        assert_eq!(done.len(), 4000);
        assert!(drive.media().free() > 2 && drive.media().free() <= 8, "{} free", drive.media().free());
        let counters = drive.parts.drive_counters;
        let of_data = counters.host_units_programmed + counters.units_moved_by_collection + counters.padding_units_programmed;
        // A row of each two superpages; some may lack theirs at the end. What moves without time pads nothing before the end.
        assert!(counters.parity_units_programmed.abs_diff(of_data) <= 4, "{counters:?}");
        assert!(counters.victims_begun > 300, "{counters:?}");
    }
}
