//! Placement handles (rule 221).

use super::*;

#[test]
fn what_is_written_with_different_handles_lies_apart() {
    let mut bench = Bench::new(&with_handles(false, |_| {}));
    // Part 2 of a mix has the handle of part 0.
    for (at, source, page) in [(0, 0, 0), (100, 1, 8), (200, 2, 1), (300, 1, 9)] {
        bench.write_of(source, at, page, page..page + 1);
    }
    // The superpage of handle 0 is full when its second unit comes, that of handle 1 has to wait for the die.
    let first_ends = 200 + 7 + 20 + 4 + 1020;
    let second_ends = first_ends + 1020;
    for (end, programmed) in [(first_ends, 0), (first_ends + 1, 2), (second_ends, 2), (second_ends + 1, 4)] {
        bench.run_before(end);
        assert_eq!(bench.drive.parts.drive_counters.host_units_programmed, programmed, "before {end}");
    }
    let (_, drive) = bench.run();
    // Superblocks of eight units: the second is handle 1's.
    assert_eq!([0, 1, 8, 9].map(|unit| drive.media().physical_slot_of_mapping_unit(unit)), [Some(0), Some(1), Some(8), Some(9)]);
    let of = drive.parts.drive_counters.by_placement_handle;
    assert_eq!((&of.pages_received[..3], &of.host_units_programmed[..3]), (&[2, 2, 0][..], &[2, 2, 0][..]));

    // With one handle they share superpages in the order in which they come.
    let mut bench = Bench::new(&with_handles(false, |superblock| superblock.placement_handles = PlacementHandles::SINGLE_HANDLE));
    for (at, source, page) in [(0, 0, 0), (100, 1, 8)] {
        bench.write_of(source, at, page, page..page + 1);
    }
    let (_, drive) = bench.run();
    assert_eq!([0, 8].map(|unit| drive.media().physical_slot_of_mapping_unit(unit)), [Some(0), Some(1)]);
}

#[test]
fn a_flush_closes_the_superpages_of_all_handles_and_a_forced_write_its_own() {
    let forgets = with_handles(false, |superblock| superblock.buffer.settings.protected = false);
    let mut bench = Bench::new(&forgets);
    bench.write_of(1, 0, 0, 8..9);
    bench.write_of(0, 100, 1, 0..1);
    bench.command(200, 2, OpKind::Flush, 0..1);
    let (done, drive) = bench.run();
    // One after the other, handle 0 first.
    assert_eq!(done[&2], 200 + 27 + 2 * 1020);
    assert_eq!(
        (
            drive.media().physical_slot_of_mapping_unit(0),
            drive.media().physical_slot_of_mapping_unit(8),
            drive.parts.drive_counters.padding_units_programmed
        ),
        (Some(0), Some(8), 2)
    );

    let mut bench = Bench::new(&forgets);
    bench.write_of(0, 0, 0, 0..1);
    bench.forced_write_of(1, 100, 1, 8..9);
    let (done, drive) = bench.run();
    assert_eq!(done[&1], 100 + 31 + 1020);
    assert_eq!(
        (
            drive.parts.drive_counters.host_units_programmed,
            drive.parts.drive_counters.padding_units_programmed,
            drive.media().physical_slot_of_mapping_unit(0)
        ),
        (1, 1, None)
    );

    // A unit that replaces one of another handle stays where that was, which is closed.
    let mut bench = Bench::new(&forgets);
    bench.write_of(0, 0, 0, 0..1);
    bench.forced_write_of(1, 100, 1, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&1], drive.front.counters.units_overwritten_in_buffer), (100 + 31 + 1020, 1));
    let of = drive.parts.drive_counters.by_placement_handle;
    assert_eq!((&of.pages_received[..2], &of.host_units_programmed[..2]), (&[1, 1][..], &[2, 0][..]));
}

#[test]
fn a_superpage_of_each_handle_lingers() {
    let mut bench = Bench::new(&with_handles(false, |superblock| superblock.buffer.settings.linger = Some(Duration { ns: 50 })));
    bench.write_of(0, 0, 0, 0..1);
    bench.write_of(1, 10, 1, 8..9);
    // Closed 50 after 31 and 41; the second waits for the die.
    let first_ends = 31 + 50 + 1020;
    for (end, programmed) in [(first_ends, 0), (first_ends + 1, 1), (first_ends + 1020, 1), (first_ends + 1020 + 1, 2)] {
        bench.run_before(end);
        assert_eq!(bench.drive.parts.drive_counters.host_units_programmed, programmed, "before {end}");
    }
}

/// Two tenants, each with its half of the addresses and its handle: whether superblocks hold units of both.
#[test]
fn what_is_moved_stays_apart_only_with_persistent_isolation() {
    let mut padded = Vec::new();
    for is_persistent in [false, true] {
        for (dies, instantaneous, rain) in [(1, false, false), (2, false, false), (2, false, true), (2, true, false), (2, true, true)] {
            let mut params = with_handles(is_persistent, |superblock| superblock.has_parity_superpages = rain);
            params.geometry.dies = dies;
            params.gc.collection_takes_no_time = instantaneous;
            // With parity half of each row of two takes units.
            params.geometry.blocks_per_plane = 60;
            params.geometry.overprovisioned_blocks_per_plane = if rain { 44 } else { 25 };
            assert!(params.superblock.as_ref().unwrap().shape(&params.geometry).always_has_victim_at_free_superblocks(3));
            let mut bench = Bench::new(&params);
            let half = bench.drive.media().shape.exported_mapping_units / 2;
            let mut stream = rng::stream(7, "tenants", u64::from(dies));
            for write in 0..6000 {
                let source = rng::below(&mut stream, 2) as u32;
                let page = (u64::from(source) * half + rng::below(&mut stream, half)) as u32;
                bench.write_of(source as u8, u64::from(write) * 4000, write, page..page + 1);
            }
            let (done, drive) = bench.run();
            assert_eq!(done.len(), 6000);
            let media = &drive.media();
            let mixed = (0..drive.media().shape.superblocks).filter(|block| {
                let valid =
                    (media.shape.first_place_of(*block)..media.shape.first_place_of(block + 1)).filter(|&place| media.is_valid(place));
                let of_second: Vec<bool> = valid.map(|place| media.unit_at(place) >= half).collect();
                of_second.contains(&true) && of_second.contains(&false)
            });
            let case = format!("persistent {is_persistent}, {dies} dies, ideal {instantaneous}, parity {rain}");
            assert_eq!(mixed.count() > 0, !is_persistent, "{case}");
            let counters = &drive.parts.drive_counters;
            let of = &counters.by_placement_handle;
            assert!(counters.victims_begun > 200 && counters.units_moved_by_collection > 200, "{case}: {counters:?}");
            assert_eq!(
                of.host_units_programmed.iter().chain(&of.collection_units_programmed).sum::<u64>(),
                counters.programmed_mapping_units(),
                "{case}"
            );
            assert_eq!(of.pages_received.iter().sum::<u64>(), 6000, "{case}");
            assert_eq!(of.collection_units_programmed[1] > 0, is_persistent, "{case}");
            if (dies, instantaneous, rain) == (2, false, false) {
                padded.push(counters.padding_units_programmed);
            }
        }
    }
    // The last units of a victim don't wait when the next one is another handle's.
    assert!(padded[0] == 0 && padded[1] > 50, "{padded:?}");
}
