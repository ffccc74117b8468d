//! Superblocks with one bit per cell (rule 222).

use super::*;

/// Two bits per cell, so that a superpage has four units on four rows. With one bit per cell a program takes 300 and a read 40.
fn with_slc(room: SlcSuperblockCountLimit, change: impl FnOnce(&mut SuperblockDriveParams)) -> SsdParams {
    let mut params = changed(|superblock| {
        (superblock.bits_per_cell, superblock.starts_empty) = (2, true);
        superblock.buffer = BufferParams {
            capacity_mapping_units: 16,
            settings: WriteBuffer { ack: Duration { ns: 3 }, protected: false, ..WriteBuffer::default() },
        };
        superblock.slc = Some(SlcSuperblockParams {
            superblock_limit: room,
            times: SlcTimes { program: Duration { ns: 300 }, read: Duration { ns: 40 } },
        });
        change(superblock);
    });
    params.geometry.pages_per_block = 16;
    params
}

#[test]
fn one_bit_per_cell_holds_less_and_takes_its_own_times() {
    let mut bench = Bench::new(&with_slc(SlcSuperblockCountLimit::Superblocks(1), |_| {}));
    // Four superpages of two units fill the superblock; each takes 7 + 20 + 8, then 20 on the channel and the program.
    for number in 0..4 {
        let page = 2 * number;
        bench.forced_write(u64::from(number) * 10_000, number, page..page + 2);
    }
    bench.command(50_000, 10, OpKind::Read, 3..4);
    // There is no room any more: four units in a superpage, of which this fills two.
    bench.forced_write(60_000, 4, 20..22);
    bench.command(70_000, 11, OpKind::Read, 21..22);
    let (done, drive) = bench.run();
    for number in 0..4 {
        assert_eq!(done[&number], u64::from(number) * 10_000 + 35 + 20 + 300);
    }
    assert_eq!(done[&10], 50_000 + 25 + 40 + 10 + 4);
    assert_eq!(done[&4], 60_000 + 35 + 40 + 1000);
    assert_eq!(done[&11], 70_000 + 25 + 100 + 10 + 4);
    let counters = &drive.parts.drive_counters;
    assert_eq!((counters.host_units_programmed, counters.host_units_programmed_slc, counters.padding_units_programmed), (10, 8, 2));
    assert_eq!((drive.media().slc_in_use, drive.media().superblocks[0].state), (1, State::Sealed));
    drive.media().verify().unwrap();
}

#[test]
fn idle_time_folds_what_one_bit_per_cell_holds() {
    let mut params = with_slc(SlcSuperblockCountLimit::Superblocks(1), |_| {});
    params.gc.idle_collection_after_ns = Some(50_000);
    let mut bench = Bench::new(&params);
    for number in 0..4 {
        let page = 2 * number;
        bench.command(u64::from(number) * 1000, number, OpKind::Write, page..page + 2);
    }
    // One of the eight is written again before it is folded, which takes a superpage that is not full.
    bench.forced_write(10_000, 4, 7..8);
    bench.run_before(10_000 + 50_000);
    assert_eq!((bench.drive.media().slc_in_use, bench.drive.parts.drive_counters.collected_units_from_slc), (1, 0));
    bench.run_before(1_000_000);
    let counters = &bench.drive.parts.drive_counters;
    assert_eq!((counters.collected_units_from_slc, counters.units_moved_by_collection, bench.drive.media().slc_in_use), (7, 7, 0));
    // There is room again; and what was folded takes an array read of the second kind.
    bench.command(1_000_000, 5, OpKind::Read, 0..1);
    bench.forced_write(1_010_000, 6, 30..32);
    let (done, drive) = bench.run();
    assert_eq!((done[&5], done[&6]), (1_000_000 + 139, 1_010_000 + 35 + 320));
    drive.media().verify().unwrap();
}

/// A share of what is free beyond the target: two bits per cell take over where that ends.
#[test]
fn a_full_drive_has_little_room_for_one_bit_per_cell() {
    let in_use = |millionths: u32, written: u32| {
        let mut bench =
            Bench::new(&with_slc(SlcSuperblockCountLimit::ShareOfSlcAndFreeSuperblocks { millionths_of_available: millionths }, |_| {}));
        for number in 0..written {
            let page = 2 * number;
            bench.forced_write(u64::from(number) * 10_000, number, page..page + 2);
        }
        bench.run().1.media().slc_in_use
    };
    // Twenty are free, four of these the target; four superpages fill one.
    assert_eq!([1, 4, 5, 32, 33, 40].map(|written| in_use(500_000, written)), [1, 1, 2, 8, 8, 8]);
    assert_eq!([40, 44].map(|written| in_use(125_000, written)), [2, 2]);
    assert_eq!(in_use(60_000, 40), 0);
}
