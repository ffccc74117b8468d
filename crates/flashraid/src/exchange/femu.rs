//! Export for FEMU's black-box mode: options of its device for QEMU's command line.

use super::medium::{Medium, note_unsupported};
use super::{FileForOtherProgram, FilesForOtherProgram};
use crate::config::{Scenario, VictimPolicy};

/// Number of bytes in FEMU's sectors.
const SECTOR_BYTES: u64 = 512;

/// Returns the drive of a scenario as options for QEMU.
pub fn export_femu(scenario: &Scenario) -> FilesForOtherProgram {
    let mut notes = Vec::new();
    let ssd = &scenario.config.ssd;
    let medium = Medium::of(scenario, "FEMU", &mut notes);
    if medium.planes > 1 {
        notes.push(format!(
            "FEMU's LUNs have one plane: the blocks of {} planes became those of one, which programs one page at a time.",
            medium.planes
        ));
    }
    let program_ns = medium.program_ns / u64::from(medium.pages_per_program) / u64::from(medium.planes);
    if program_ns < medium.program_ns {
        notes.push(format!(
            "One program brings {} flash pages to each plane; FEMU programs them one by one, each in {program_ns} ns.",
            medium.pages_per_program
        ));
    }
    if medium.read_range_ns.0 != medium.read_range_ns.1 {
        notes.push(format!("All pages take the mean of the array reads, {} ns.", medium.read_ns));
    }
    if medium.byte_ps > 0 {
        notes.push("FEMU ignores the time of channels (ch_xfer_lat).".to_owned());
    }
    if ssd.link != crate::config::HostLinkBandwidth::default() {
        notes.push("The host link is left out: data travel as fast as the machine copies them.".to_owned());
    }
    if ssd.placement_handles.is_some() {
        notes.push("Placement handles are another mode of FEMU, with options of their own.".to_owned());
    }
    if ssd.buffer.is_some() || ssd.firmware.is_some() {
        notes.push("FEMU has neither a write buffer nor cores.".to_owned());
    }
    if !matches!(ssd.gc.victim, VictimPolicy::Greedy(_)) {
        notes.push("FEMU collects the line with fewest valid pages.".to_owned());
    }
    for (name, number) in [
        ("channels", medium.channels),
        ("LUNs of a channel", medium.luns_per_channel),
        ("blocks", medium.blocks),
        ("pages of a block", medium.pages),
    ] {
        if !number.is_power_of_two() {
            notes.push(format!("FEMU asks for powers of two: there are {number} {name}."));
        }
    }
    note_unsupported(ssd, "FEMU", &mut notes);
    let exported_mib = (medium.raw_bytes() as f64 * (1.0 - ssd.geometry.reserved.0)) as u64 >> 20;
    // FEMU collects while at most the rest of its lines are free.
    let threshold = (100.0 * (1.0 - medium.free_share)).round().clamp(1.0, 100.0);
    let options = [
        ("devsz_mb", exported_mib.to_string()),
        ("namespaces", "1".to_owned()),
        ("femu_mode", "1".to_owned()),
        ("secsz", SECTOR_BYTES.to_string()),
        ("secs_per_pg", (medium.page_bytes / SECTOR_BYTES).to_string()),
        ("pgs_per_blk", medium.pages.to_string()),
        ("blks_per_pl", (medium.blocks * medium.planes).to_string()),
        ("pls_per_lun", "1".to_owned()),
        ("luns_per_ch", medium.luns_per_channel.to_string()),
        ("nchs", medium.channels.to_string()),
        ("pg_rd_lat", medium.read_ns.to_string()),
        ("pg_wr_lat", program_ns.to_string()),
        ("blk_er_lat", medium.erase_ns.to_string()),
        ("ch_xfer_lat", "0".to_owned()),
        ("gc_thres_pcent", format!("{threshold}")),
        ("gc_thres_pcent_high", format!("{}", threshold.max(95.0))),
    ];
    let options: String = options.iter().map(|(name, value)| format!(",{name}={value}")).collect();
    FilesForOtherProgram {
        files: vec![FileForOtherProgram { file_name: "femu-options.txt", text: format!("-device femu{options}\n") }],
        notes,
    }
}
