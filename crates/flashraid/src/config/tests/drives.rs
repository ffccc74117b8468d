//! Tests of drives with superblocks.

use super::*;
use flashraid_model::array::{ParityHandle, WarmUpPattern};
use flashraid_model::ssd::{
    BufferParams, ControllerCores, FrontEndParams, HandleIsolation, PlacementHandles, RefreshAndWearLevellingParams,
    SlcSuperblockCountLimit, SlcSuperblockParams, SlcTimes, SubmissionQueues, Suspension, WriteBuffer,
};
use flashraid_workload::units::Duration;

const GEN5: &str = "ssd.preset = \"nvme-gen5\"\narray.level = \"single\"\n";

#[test]
fn a_drive_is_scaled_by_its_rows() {
    for (scale, rows) in [(1, 512), (32, 16), (100, 5), (4096, 4)] {
        let scenario = good(&format!("{GEN5}ssd.scale = {scale}\n"));
        let ssd = &scenario.array.ssd;
        let superblock = ssd.superblock.as_ref().unwrap();
        let shape = superblock.shape(&ssd.geometry);
        assert_eq!(
            (shape.dies, shape.superblocks, shape.superpages_of_superblock_per_die, shape.mapping_units_per_superpage()),
            (32, 910, rows, 72)
        );
        // Values that do not grow with the superblocks stay, and an erase keeps its share of the time.
        assert_eq!(
            (superblock.buffer.capacity_mapping_units, superblock.collection.move_backlog_max_mapping_units),
            (2 * 32 * 72, 4 * 32 * 72)
        );
        assert_eq!(ssd.timing.block_erase.ns, 3_500_000 * u64::from(rows) / 512);
        assert_eq!(ssd.exported_pages(), 663 * u64::from(shape.mapping_units_per_superblock()));
    }
    // The drive exports 3.2 TB of 4 TiB.
    let whole = good(&format!("{GEN5}ssd.scale = 1\n")).array.ssd.exported_pages() * 4096;
    assert!(whole.abs_diff(3_200_000_000_000) < 10_000_000_000, "{whole}");
}

#[test]
fn a_drive_is_scaled_by_its_width() {
    let of = |scale: u32| {
        let text = format!("ssd.scale = {scale}\nssd.scale_by = \"width\"\nssd.geometry.pages = 48\nssd.buffer.size = \"32MiB\"\n");
        good(&format!("{GEN5}{text}"))
    };
    let whole = of(1);
    for scale in [2, 4, 8] {
        let scenario = of(scale);
        let (ssd, of_whole) = (&scenario.array.ssd, &whole.array.ssd);
        let (own, of_drive) = (ssd.superblock.as_ref().unwrap(), of_whole.superblock.as_ref().unwrap());
        // All parts that work at the same time become fewer.
        assert_eq!((ssd.geometry.dies, own.firmware.cores, own.dies_programming_max), (32 / scale, 8 / scale, 32 / scale));
        assert_eq!(
            (own.buffer.capacity_mapping_units, own.collection.move_backlog_max_mapping_units),
            (8192 / scale, of_drive.collection.move_backlog_max_mapping_units / u64::from(scale))
        );
        assert_eq!(ssd.exported_pages() * u64::from(scale), of_whole.exported_pages());
        // These are 4 KiB at 14 GB/s, and the parts of that.
        assert_eq!(ssd.link.unwrap().page_transfer_ns, (4096 * u64::from(scale)).div_ceil(14));
        // All times stay the same.
        assert_eq!((ssd.timing, ssd.channel, ssd.geometry.blocks_per_plane), (of_whole.timing, of_whole.channel, 910));
        assert_eq!(
            (&own.read_ns_by_page_type, own.mapping_unit_transfer_ns, own.collection.target),
            (&of_drive.read_ns_by_page_type, of_drive.mapping_unit_transfer_ns, 6)
        );
        let latency = |drive: &flashraid_model::ssd::SuperblockDriveParams| {
            (drive.firmware.latency.ns, drive.firmware.write.ns, drive.buffer.settings.ack.ns)
        };
        assert_eq!(latency(own), latency(of_drive));
        let (check, of_drive) = (crate::check::check_scenario(&scenario), crate::check::check_scenario(&whole));
        let (drive, of_drive) = (check.drive.clone().unwrap(), of_drive.drive.unwrap());
        assert_eq!((drive.scale, drive.burst_bytes_unscaled), (scale, of_drive.burst_bytes));
        assert!(check.to_string().contains(&format!("Divide the load (requests per second, outstanding requests) by {scale}")), "{check}");
    }
    assert!(!crate::check::check_scenario(&whole).to_string().contains("scaled by width"));
    let controlled =
        good(&format!("{GEN5}ssd.scale = 4\nssd.scale_by = \"width\"\nssd.geometry.pages = 48\narray.controller.bandwidth = \"1GB/s\"\n"));
    let warnings = crate::check::check_scenario(&controlled).warnings;
    assert!(warnings.iter().any(|warning| warning.contains("divide array.controller by 4, too")), "{warnings:?}");
}

#[test]
fn times_and_sizes_of_a_drive_are_those_of_its_keys() {
    let text = "[ssd.superblock]\nunit = \"16KiB\"\npage_reads = [\"40us\", \"60us\", \"80us\"]\nplane_reads = \"die\"\ncache_read = true\nprograms_at_once = 7\n\
                [ssd.buffer]\nsize = \"16MiB\"\nack = \"3us\"\nprotected = false\nlinger = \"1ms\"\n[ssd.timing]\ntransfer_per_byte = \"1GB/s\"\nspare_bytes_per_sector = 0\n\
                [ssd.firmware]\ncores = 2\nread = \"1us\"\nwrite = \"2us\"\nmove = \"3us\"\nlatency = \"4us\"\n[ssd.warm_up]\nstart = \"fresh\"\n";
    let scenario = good(&format!("{GEN5}{text}"));
    let superblock = scenario.array.ssd.superblock.unwrap();
    assert_eq!((superblock.pages_per_mapping_unit, superblock.mapping_units_per_flash_page, superblock.bits_per_cell), (4, 1, 3));
    assert_eq!(superblock.read_ns_by_page_type, [40_000, 60_000, 80_000]);
    assert_eq!((superblock.mapping_unit_transfer_ns, superblock.dies_programming_max), (16_384, 7));
    assert_eq!(
        (superblock.buffer.capacity_mapping_units, superblock.buffer.settings.ack.ns, superblock.buffer.settings.protected),
        (1024, 3000, false)
    );
    assert_eq!(superblock.buffer.settings.linger, Some(Duration { ns: 1_000_000 }));
    let firmware = superblock.firmware;
    assert_eq!((firmware.cores, firmware.read.ns, firmware.write.ns, firmware.move_.ns, firmware.latency.ns), (2, 1000, 2000, 3000, 4000));
    assert!(superblock.reads.cache_read && superblock.starts_empty);
}

#[test]
fn suspension_is_that_of_its_keys() {
    let of = |text: &str| {
        good(&format!("{GEN5}ssd.scale = 64\nssd.gc.preemption = \"suspend\"\n{text}")).array.ssd.superblock.unwrap().suspension
    };
    let by_default = of("").unwrap();
    assert_eq!(
        (by_default.program.suspend_ns(), by_default.program.progress_ns(), by_default.program.suspensions_max),
        (100_000, 100_000, 10)
    );
    // Erases, and the times of their interruption, keep their share of the time.
    assert_eq!((by_default.erase.suspend_ns(), by_default.erase.progress_ns(), by_default.erase.resume.ns), (10_937, 10_937, 0));
    let text = "[ssd.suspension]\nprogram = { suspend = \"5us\", resume = \"6us\", suspensions_max = 3, progress = \"0us\" }\nerase = { suspensions_max = 0 }\n";
    let suspension = of(text).unwrap();
    let Suspension { program, erase } = suspension;
    assert_eq!((program.suspend_ns(), program.resume.ns, program.suspensions_max, program.progress_ns()), (5_000, 6_000, 3, 0));
    assert_eq!((erase.suspend_ns(), erase.suspensions_max), (10_937, 0));

    let without = good(&format!("{GEN5}[ssd.gc]\npreemption = \"none\"\n[ssd.suspension]\n"));
    assert!(without.array.ssd.superblock.unwrap().suspension.is_none());
    assert!(without.warnings.iter().any(|warning| warning.contains("ssd.suspension has no effect")), "{:?}", without.warnings);
    let ideal = good(&format!("{GEN5}[ssd.gc]\npreemption = \"suspend\"\n[coordination]\nscheme = \"ideal\"\n"));
    assert!(!ideal.warnings.iter().any(|warning| warning.contains("preemption")), "{:?}", ideal.warnings);
}

#[test]
fn placement_handles_need_superblocks_and_room() {
    let of = |text: &str| good(&format!("{GEN5}ssd.scale = 64\n{text}"));
    let placement = |scenario: &Scenario| scenario.array.ssd.superblock.as_ref().unwrap().placement_handles;
    let persistent = "[ssd.superblock]\nfloor = 5\ntarget = 9\n[ssd.placement_handles]\nhandles = 4\nisolation = \"persistently\"\n";
    assert_eq!(placement(&of("")), PlacementHandles::SINGLE_HANDLE);
    assert_eq!(placement(&of("[ssd.placement_handles]\n")), PlacementHandles { count: 2, isolation: HandleIsolation::Initially });
    assert_eq!(placement(&of(persistent)), PlacementHandles { count: 4, isolation: HandleIsolation::Persistently });
    // One handle always stays with itself.
    assert_eq!(placement(&of("[ssd.placement_handles]\nhandles = 1\nisolation = \"persistently\"\n")), PlacementHandles::SINGLE_HANDLE);
    // A buffer of the default size holds what the handles need.
    let small = of(
        "[ssd.geometry]\ndies = 1\n[ssd.channel]\ndies_per_channel = 1\n[ssd.superblock]\nprograms_at_once = 1\n[ssd.placement_handles]\nhandles = 7\n",
    );
    assert_eq!(small.array.ssd.superblock.unwrap().buffer.capacity_mapping_units, 8 * 72);

    let check = |text: &str| crate::check::check_scenario(&of(text));
    let drive = check(persistent).drive.unwrap();
    let found = drive.placement.unwrap();
    assert_eq!((found.handles, found.handles_used, found.open_superblocks_max), (4, 1, 16));
    assert!(check("").drive.unwrap().placement.is_none());
    let text = check(persistent).to_string();
    assert!(text.contains("4, of which the workload uses 1; what collection moves stays with its handle; up to 16 superblocks"), "{text}");
    let mix = "[workload]\nkind = \"mix\"\nrequests = 1000\n[[workload.streams]]\nsize = \"4KiB\"\nread_fraction = 0\narrivals = { process = \"fixed\", gap = \"1ms\" }\n";
    let mix = format!("{persistent}{mix}{}", &mix[mix.find("[[").unwrap()..]);
    let mixed = check(&mix);
    assert_eq!(mixed.drive.as_ref().unwrap().placement.as_ref().unwrap().handles_used, 2);
    let no_effect =
        |report: &crate::check::CheckReport| report.warnings.iter().any(|warning| warning.contains("ssd.placement_handles has no effect"));
    assert!(!no_effect(&mixed) && no_effect(&check(persistent)), "{:?}", mixed.warnings);
    let raid5 = "ssd.preset = \"nvme-gen5\"\nssd.scale = 64\narray.level = \"raid5\"\narray.members = 4\n";
    let cached = crate::check::check_scenario(&good(&format!("{raid5}{mix}[cache]\npolicy = \"wow\"\nsize = \"64MiB\"\n")));
    assert!(no_effect(&cached), "{:?}", cached.warnings);
}

#[test]
fn parity_has_the_handle_that_is_written() {
    const RAID5: &str = "ssd.preset = \"nvme-gen5\"\nssd.scale = 64\narray.members = 4\n";
    let handles = "ssd.placement_handles.handles = 3\n";
    let parity =
        |handle: &str| good(&format!("{RAID5}array.level = \"raid5\"\narray.parity_handle = {handle}\n{handles}")).array.parity_handle;
    assert_eq!([parity("\"data\""), parity("\"own\""), parity("2")], [ParityHandle::OfData, ParityHandle::Own, ParityHandle::Number(2)]);
    let refused = |text: &str| read(&format!("{RAID5}{text}")).unwrap_err().to_string();
    for (text, expected) in [
        (format!("array.level = \"raid5\"\narray.parity_handle = 3\n{handles}"), "the drives have the placement handles 0 to 2"),
        (format!("array.level = \"raid0\"\narray.parity_handle = \"own\"\n{handles}"), "arrays of level \"raid0\" have no parity"),
        ("array.level = \"raid5\"\narray.parity_handle = \"own\"\n".to_owned(), "the drives have one placement handle"),
        (format!("array.level = \"raid5\"\narray.parity_handle = \"mine\"\n{handles}"), "\"data\", \"own\", or the number"),
    ] {
        let message = refused(&text);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn one_bit_per_cell_takes_its_share_of_superblocks() {
    const SLC: &str = "[ssd.slc]\nshare = 0.05\nprogram = \"160us\"\nread = \"20us\"\nmode = ";
    let of = |mode: &str| good(&format!("{GEN5}ssd.scale = 64\n{SLC}\"{mode}\"\n"));
    let slc = |scenario: &Scenario| scenario.array.ssd.superblock.as_ref().unwrap().slc;
    // The share is of 910 superblocks, with fractions rounded up.
    let times = |room: SlcSuperblockCountLimit| {
        Some(SlcSuperblockParams {
            superblock_limit: room,
            times: SlcTimes { program: Duration { ns: 160_000 }, read: Duration { ns: 20_000 } },
        })
    };
    assert_eq!(slc(&of("static")), times(SlcSuperblockCountLimit::Superblocks(46)));
    assert_eq!(slc(&of("dynamic")), times(SlcSuperblockCountLimit::ShareOfSlcAndFreeSuperblocks { millionths_of_available: 50_000 }));
    assert_eq!(slc(&good(GEN5)), None);

    let check = |scenario: &Scenario| crate::check::check_scenario(scenario);
    let report = check(&of("static"));
    let (drive, without) = (report.drive.as_ref().unwrap(), check(&good(&format!("{GEN5}ssd.scale = 64\n"))));
    let found = drive.slc.as_ref().unwrap();
    assert_eq!((found.superblocks, found.bytes), (46, 46 * drive.superblock_bytes / 3));
    assert_eq!(found.bytes_unscaled, 64 * found.bytes);
    // Reserved superblocks are no spare area any more, and take three times as much room.
    assert!(report.gc.write_amplification > without.gc.write_amplification);
    assert!(drive.burst_bytes < without.drive.unwrap().burst_bytes);
    assert!(report.to_string().contains("up to 46 superblocks with one bit per cell, which hold"), "{report}");
    let says = |scenario: &Scenario, what: &str| check(scenario).warnings.iter().any(|warning| warning.contains(what));
    let idle = good(&format!("{GEN5}ssd.scale = 64\nssd.gc.idle = \"1ms\"\n{SLC}\"static\"\n"));
    assert!(says(&of("static"), "ssd.slc without ssd.gc.idle") && !says(&idle, "ssd.slc without ssd.gc.idle"));
    assert!(says(&of("dynamic"), "less than one superblock") && !says(&idle, "less than one superblock"));
}

#[test]
fn upkeep_is_that_of_its_keys() {
    let of = |text: &str| good(&format!("{GEN5}ssd.scale = 64\n{text}")).array.ssd.superblock.unwrap().upkeep;
    assert_eq!(of(""), RefreshAndWearLevellingParams::default());
    // A superblock has 32 dies of six planes. One row in 64 is read that much less.
    let text = "[ssd.superblock]\nrefresh_reads = 100000\nwear_difference = 20\n";
    assert_eq!(
        of(text),
        RefreshAndWearLevellingParams { reads_before_refresh: Some(100_000 * 32 * 6 / 64), erase_difference_to_level: Some(20) }
    );
}

#[test]
fn few_rows_are_warned_of() {
    let warns = |scale: u32| {
        let check = crate::check::check_scenario(&good(&format!("{GEN5}ssd.scale = {scale}\n")));
        check.warnings.iter().any(|warning| warning.contains("superpages of each die in a superblock"))
    };
    assert_eq!([1, 64, 65, 128].map(warns), [false, false, true, true]);
    // Four rows are left of 512 at any scale beyond 128.
    let check = crate::check::check_scenario(&good(&format!("{GEN5}ssd.scale = 1024\n")));
    assert_eq!(check.drive.as_ref().unwrap().scale, 128);
    let of_scale: Vec<&String> = check.warnings.iter().filter(|warning| warning.starts_with("ssd.scale is 1024")).collect();
    assert!(of_scale.len() == 1 && of_scale[0].ends_with("simulated at 1 : 128, for which its capacity and life are told"), "{of_scale:?}");
}

#[test]
fn queues_are_those_of_their_keys() {
    let of = |text: &str| good(&format!("{GEN5}{text}")).array.ssd.superblock.unwrap().submission_queues;
    assert_eq!(of(""), None);
    assert_eq!(of("[ssd.queues]\n"), Some(SubmissionQueues { queues: 64, burst: 1, commands: 256 }));
    let text = "[ssd.queues]\nqueues = 3\nburst = 4\ncommands = 32\n";
    assert_eq!(of(text), Some(SubmissionQueues { queues: 3, burst: 4, commands: 32 }));
    // A check shows that streams of a mix have their own queues, as far as there are enough.
    let stream = "[[workload.streams]]\narrivals = { process = \"poisson\", mean_gap = \"1ms\" }\n";
    for (streams, used) in [(0, 1), (1, 1), (2, 2), (5, 3)] {
        let check = crate::check::check_scenario(&good(&format!("{GEN5}workload.duration = \"1s\"\n{text}{}", stream.repeat(streams))));
        let queues = check.drive.as_ref().unwrap().queues.as_ref().unwrap();
        assert_eq!((queues.queues, queues.used, queues.burst, queues.commands), (3, used, 4, 32), "{streams} streams");
        let said = format!("3, of which this workload uses {used}; 4 of each in turn while fewer than 32 commands are in flight");
        assert!(check.to_string().contains(&said), "{check}");
    }
    assert!(crate::check::check_scenario(&good(GEN5)).drive.unwrap().queues.is_none());
    // A drive of half the width works on half as many commands. The senders stay.
    let half = of(&format!("ssd.scale_by = \"width\"\nssd.scale = 2\n{text}"));
    assert_eq!(half, Some(SubmissionQueues { queues: 3, burst: 4, commands: 16 }));
}

/// Without `[ssd.firmware]`, commands take no time of a core, so that any scale divides the cores.
#[test]
fn a_drive_without_cores_is_scaled_by_its_width() {
    let text = "array.level = \"single\"\nssd.scale = 2\nssd.scale_by = \"width\"\n\
                [ssd.geometry]\ndies = 4\nplanes = 2\nblocks = 64\npages = 96\npage_size = \"4KiB\"\nreserved = 0.25\n\
                [ssd.superblock]\nunit = \"4KiB\"\nflash_page = \"16KiB\"\npages_per_cell = 3\n";
    let firmware = |text: &str| {
        let scenario = good(text);
        (scenario.array.ssd.geometry.dies, scenario.array.ssd.superblock.unwrap().firmware)
    };
    let (dies, cores) = firmware(text);
    let (whole_dies, whole_cores) = firmware(&text.replace("ssd.scale = 2", "ssd.scale = 1"));
    assert_eq!((dies, whole_dies, cores), (2, 4, whole_cores));
}

/// Zeroes deallocate units of the map, and with parity whole stripes.
#[test]
fn what_zeroes_deallocate_is_whole() {
    let of = |text: &str| good(text).workload.transform.zero_write_trim_granularity_bytes;
    let array = |level: &str, strip: &str, unit: &str| {
        of(&format!(
            "[array]\nlevel = \"{level}\"\nmembers = 4\nstripe_unit = \"{strip}\"\n\
             [ssd]\npreset = \"nvme-gen5\"\nwrite_zeroes = \"deallocate\"\n[ssd.superblock]\nunit = \"{unit}\"\n"
        ))
    };
    assert_eq!(array("raid0", "64KiB", "4KiB"), Some(4096));
    assert_eq!(array("raid0", "64KiB", "16KiB"), Some(16_384));
    assert_eq!(array("raid10", "64KiB", "16KiB"), Some(16_384));
    assert_eq!(array("raid5", "64KiB", "16KiB"), Some(3 * 65_536));
    // A unit of four strips of a member takes four stripes, which an array with parity trims one by one.
    assert_eq!(array("raid0", "4KiB", "16KiB"), Some(4 * 4 * 4096));
    assert_eq!(array("raid5", "4KiB", "16KiB"), None);
    // Devices with pools map pages.
    assert_eq!(of("ssd.write_zeroes = \"deallocate\"\n"), Some(4096));
    assert_eq!(good(GEN5).workload.transform.zero_write_trim_granularity_bytes, None);
}

#[test]
fn parity_takes_its_share_of_the_spare_area() {
    let of = |text: &str| good(&format!("{GEN5}ssd.scale = 64\n{text}"));
    let (without, with) = (of(""), of("ssd.superblock.rain = true\n"));
    assert_eq!(without.array.ssd.exported_pages(), with.array.ssd.exported_pages(), "what is exported stays");
    let shape = |scenario: &Scenario| scenario.array.ssd.superblock.as_ref().unwrap().shape(&scenario.array.ssd.geometry);
    assert_eq!((shape(&without).superblocks_beyond_capacity(), shape(&with).superblocks_beyond_capacity()), (247, 225));
    let (without, with) = (crate::check::check_scenario(&without), crate::check::check_scenario(&with));
    let (a, b) = (without.drive.unwrap(), with.drive.unwrap());
    assert_eq!((a.parity_bytes, b.parity_bytes), (None, Some(without.member.raw_bytes / 32)));
    assert_eq!((a.superblock_bytes, a.burst_bytes * 31), (b.superblock_bytes, b.burst_bytes * 32));
    let alpha = |report: &crate::check::MemberCapacity| (1.0 + report.over_provisioning, 1.0 + report.effective_over_provisioning);
    let (before, after) = (alpha(&without.member), alpha(&with.member));
    assert!((after.0 / before.0 - 31.0 / 32.0).abs() < 1e-9 && (after.1 / before.1 - 31.0 / 32.0).abs() < 1e-9, "{before:?} {after:?}");
    // More units are moved, because there is less room for invalid ones. For 31 superpages, 32 are programmed.
    let factor = with.gc.write_amplification / without.gc.write_amplification;
    assert!(factor > 32.0 / 31.0 * 1.03 && factor < 32.0 / 31.0 * 1.15, "{factor}");
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let bad = [
        ("[ssd.gc]\nstart = \"10%\"\n", "`ssd.gc.start` says how a device with pools of blocks works"),
        ("[ssd.gc]\nvictim = { policy = \"greedy-wear-aware\", threshold = 1.0 }\n", "but must lie between 0 and 1"),
        ("[ssd.gc]\npreemption = \"suspend\"\nsuspend_ns = 7\n", "this one has [ssd.suspension.program]"),
        ("[ssd.gc]\npreemption = \"suspend\"\n[ssd.suspension.erase]\nprogress = \"2h\"\n", "`ssd.suspension.erase.progress` is 7200s"),
        ("[ssd.timing]\ncommand_overhead = \"1us\"\n", "`ssd.firmware` has the cost of commands"),
        ("[ssd.warm_up]\nstart = \"fresh\"\npattern = \"steady\"\n", "a drive in its steady state is full"),
        ("[ssd.superblock]\ntarget = 4\nfloor = 4\n", "must be above `ssd.superblock.floor` (4)"),
        ("[ssd.superblock]\nunit = \"6KiB\"\n", "must be a multiple of `ssd.geometry.page_size`"),
        ("[ssd.superblock]\nunit = \"8KiB\"\nflash_page = \"12KiB\"\n", "must be a multiple of `ssd.superblock.unit`"),
        ("[ssd.superblock]\nunit = \"4KiB\"\nflash_page = \"64KiB\"\n", "288 units in a superpage"),
        ("[ssd.superblock]\npage_reads = [\"2h\"]\n", "`ssd.superblock.page_reads[0]` is 7200s, but 1ns to 1h"),
        ("[ssd.geometry]\npages = 6001\n", "nearest: 6000 or 6012"),
        ("[ssd.geometry]\nreserved = \"1%\"\n", "leaves 9 superblocks in reserve, but 10 are needed"),
        ("[ssd.geometry]\nreserved = 1.0\n", "leaves nothing to export"),
        ("[ssd.superblock]\nrain = true\n[ssd.geometry]\ndies = 1\n", "but `ssd.geometry.dies` is 1"),
        ("[ssd.placement_handles]\nisolation = \"persistently\"\n", "`ssd.superblock.floor` is 2, but must be at least 3"),
        (
            "[ssd.placement_handles]\nhandles = 4\n[ssd.buffer]\nsize = \"1MiB\"\n",
            "must hold 5 superpages, one for each of `ssd.placement_handles` and one more (1440KiB)",
        ),
        (
            "[ssd.placement_handles]\nhandles = 8\n[ssd.geometry]\nreserved = \"2%\"\n",
            "24 are needed: `ssd.superblock.target` (6) and 18 that are open for `ssd.placement_handles`",
        ),
        ("[ssd.superblock]\nrain = true\n[ssd.geometry]\ndies = 4\n", "so few are in reserve (26)"),
        ("[ssd.superblock]\nrain = true\n[ssd.geometry]\ndies = 3\n", "of which parity leaves 0, but 10 are needed"),
        (
            "ssd.scale_by = \"width\"\nssd.scale = 3\n",
            "`ssd.geometry.dies` is 32, but `ssd.scale_by = \"width\"` divides it by `ssd.scale` (3)",
        ),
        ("[ssd.slc]\nmode = \"static\"\nshare = 0.1\nprogram = \"1us\"\n", "`ssd.slc` needs `read`"),
        ("[ssd.slc]\nmode = \"static\"\nshare = 0\nprogram = \"1us\"\nread = \"1us\"\n", "`ssd.slc.share` is 0%, but must be above 0"),
        ("[ssd.slc]\nmode = \"static\"\nshare = 0.1\nprogram = \"0us\"\nread = \"1us\"\n", "`ssd.slc.program` is 0"),
        (
            "[ssd.slc]\nmode = \"static\"\nshare = 0.4\nprogram = \"1us\"\nread = \"1us\"\n",
            "376 are needed: `ssd.superblock.target` (6) and 6 that are open, and 364 of `ssd.slc`",
        ),
        (
            "[ssd.slc]\nmode = \"static\"\nshare = 0.1\nprogram = \"1us\"\nread = \"1us\"\n[ssd.superblock]\npages_per_cell = 1\n",
            "all superblocks hold one bit per cell",
        ),
        (
            "[ssd.slc]\nmode = \"static\"\nshare = 0.1\nprogram = \"1us\"\nread = \"1us\"\n[ssd.placement_handles]\n",
            "would mix the data that `ssd.placement_handles` keep apart",
        ),
        ("[ssd.superblock]\nrefresh_reads = 0\n", "`ssd.superblock.refresh_reads` is 0"),
        ("[ssd.superblock]\nwear_difference = 1\n", "`ssd.superblock.wear_difference` is 1"),
        ("[ssd.queues]\nqueues = 0\n", "`ssd.queues.queues` is 0"),
        ("[ssd.queues]\nburst = 0\n", "`ssd.queues.burst` is 0"),
        ("[ssd.queues]\ncommands = 0\n", "`ssd.queues.commands` is 0"),
        ("ssd.scale_by = \"width\"\nssd.scale = 2\n[ssd.queues]\ncommands = 33\n", "`ssd.queues.commands` is 33, but"),
        ("ssd.scale_by = \"width\"\nssd.scale = 16\n", "`ssd.firmware.cores` is 8, but"),
        (
            "ssd.scale_by = \"width\"\nssd.scale = 4\n[ssd.superblock]\nprograms_at_once = 30\n",
            "`ssd.superblock.programs_at_once` is 30, but",
        ),
        (
            "ssd.scale_by = \"width\"\nssd.scale = 4\n[ssd.channel]\ndies_per_channel = 16\n",
            "leaves 8 dies, but `ssd.channel.dies_per_channel` is 16",
        ),
        ("ssd.scale_by = \"width\"\nssd.scale = 4\n[ssd.superblock]\nrain = true\n", "fewer dies would have a larger share of parity"),
        ("ssd.scale_by = \"width\"\nssd.scale = 4\nssd.geometry.blocks = 2000000\n", "simulate a smaller part of it"),
        ("[ssd.buffer]\nsize = \"64KiB\"\n", "must hold two superpages (576KiB)"),
        ("[ssd.geometry]\ndies = 4096\nblocks = 200000\n", "the drive has 6553600000 superpages, but the model numbers 4294967295"),
        ("[ssd.geometry]\ndies = 4096\nblocks = 200000\n", "simulate a part of it: ssd.scale = 128"),
        ("ssd.scale = 1\n[ssd.geometry]\ndies = 65536\nblocks = 100\n", "a superblock has 2415919104 units of 4KiB, but"),
    ];
    for (text, expected) in bad {
        let problems = read(&format!("{GEN5}{text}")).expect_err(text).to_string();
        assert!(problems.contains(expected), "{text}: {problems}");
    }
    for text in [
        "ssd.warm_up.pattern = \"steady\"\n",
        "[ssd.suspension]\n",
        "[ssd.placement_handles]\n",
        "[ssd.slc]\nmode = \"static\"\nshare = 0.1\nprogram = \"1us\"\nread = \"1us\"\n",
        "ssd.scale = 2\n",
        "ssd.scale_by = \"width\"\n",
    ] {
        let problems = read(text).expect_err(text).to_string();
        assert!(problems.contains("means something only for a drive with superblocks"), "{text}: {problems}");
    }
    // These stand before the dies of any device.
    let front = |text: &str| good(text).array.ssd.front_end;
    assert_eq!(front(""), None);
    let buffer = BufferParams {
        capacity_mapping_units: 16_384,
        settings: WriteBuffer { ack: Duration { ns: 2000 }, protected: false, linger: None },
    };
    let with_buffer = front("[ssd.buffer]\nsize = \"64MiB\"\nack = \"2us\"\nprotected = false\n");
    assert_eq!(with_buffer, Some(FrontEndParams { write_buffer: Some(buffer), queues: None, firmware: ControllerCores::WITHOUT_OVERHEAD }));
    let queues = SubmissionQueues { queues: 64, burst: 1, commands: 256 };
    let others = front("[ssd.queues]\n[ssd.firmware]\ncores = 2\nread = \"1us\"\nlatency = \"4us\"\n").unwrap();
    assert_eq!((others.write_buffer, others.queues), (None, Some(queues)));
    assert_eq!(
        others.firmware,
        ControllerCores { cores: 2, read: Duration { ns: 1000 }, latency: Duration { ns: 4000 }, ..ControllerCores::WITHOUT_OVERHEAD }
    );
    for (text, expected) in [
        ("[ssd.buffer]\nsize = \"1KiB\"\n", "must hold a page (4KiB)"),
        ("[ssd.buffer]\nlinger = \"1ms\"\n", "closes superpages, but this device has pools of blocks"),
        ("[ssd.firmware]\nmove = \"1us\"\n", "cost no core in devices with pools"),
        ("[ssd.firmware]\nread = \"2h\"\n", "`ssd.firmware.read` is 7200s, but 0ns to 1h is allowed"),
    ] {
        let problems = read(text).expect_err(text).to_string();
        assert!(problems.contains(expected), "{text}: {problems}");
    }
    // This option has an effect.
    good(&format!("{GEN5}[ssd.gc]\npreemption = \"semi\"\nidle = \"5ms\"\n"));
}

#[test]
fn drives_with_superblocks_begin_in_the_steady_state_unless_something_else_is_said() {
    let of = |text: &str| {
        let warm_up = good(text).config.ssd.warm_up.clone();
        (warm_up.overwriting.pattern, warm_up.overwriting.overwrites_per_page)
    };
    assert_eq!(of(GEN5), (WarmUpPattern::SteadyStateWithoutWrites, 0.0));
    assert_eq!(of(&format!("{GEN5}[ssd.warm_up]\nsave = \"state\"\n")), (WarmUpPattern::SteadyStateWithoutWrites, 0.0));
    assert_eq!(of(&format!("{GEN5}[ssd.warm_up]\npattern = \"steady\"\n")), (WarmUpPattern::SteadyStateWithoutWrites, 0.0));
    assert_eq!(of(&format!("{GEN5}[ssd.warm_up]\noverwrites = 3\n")), (WarmUpPattern::Random, 3.0));
    assert_eq!(of(&format!("{GEN5}[ssd.warm_up]\npattern = \"workload\"\n")), (WarmUpPattern::Workload, 2.0));
    for other in ["start = \"fresh\"", "load = \"state\""] {
        assert_eq!(of(&format!("{GEN5}[ssd.warm_up]\n{other}\n")), (WarmUpPattern::Random, 2.0), "{other}");
    }
    assert_eq!(of("[ssd]\npreset = \"ggc2014\"\n"), (WarmUpPattern::Random, 2.0));
    let no_effect = |text: &str| good(&format!("{GEN5}{text}")).warnings.iter().any(|warning| warning.contains("which overwrites nothing"));
    assert!(!no_effect("") && no_effect("[ssd.warm_up]\npattern = \"steady\"\noverwrites = 3\n"));
    // A resolved configuration can be run again.
    let resolved = good(GEN5);
    let again = crate::config::scenario_from_toml("again.toml", &toml::to_string(&resolved.config).unwrap(), &[], None).unwrap();
    assert_eq!((again.config_hash, again.warnings), (resolved.config_hash, resolved.warnings));
}
