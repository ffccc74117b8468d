//! Export for NVMeVirt's conventional SSD: constants for its `ssd_config.h`, and instructions to build with them.

use std::fmt::Write as _;

use super::medium::{Medium, note_unsupported};
use super::{FileForOtherProgram, FilesForOtherProgram};
use crate::config::{HalfDuplexLinkBandwidthLimit, HostLinkBandwidth, LinkTable, Scenario, VictimPolicy};

/// Returns the drive of a scenario as a C header file for NVMeVirt, which emulates NVMe drives. The header holds constants for
/// `ssd_config.h` of NVMeVirt. The notes returned with it say what NVMeVirt does differently.
pub fn export_nvmevirt(scenario: &Scenario) -> FilesForOtherProgram {
    let mut notes = Vec::new();
    let ssd = &scenario.config.ssd;
    let medium = Medium::of(scenario, "NVMeVirt", &mut notes);
    let link = match &ssd.link {
        HostLinkBandwidth::Rate(HalfDuplexLinkBandwidthLimit::Off) => {
            notes.push("NVMeVirt has no drive without a link: this one got 64 GB/s.".to_owned());
            64_000
        }
        HostLinkBandwidth::Rate(HalfDuplexLinkBandwidthLimit::HalfDuplex(rate)) | HostLinkBandwidth::Table(LinkTable { rate, .. }) => {
            rate.bytes_per_s / 1_000_000
        }
    };
    let channel = 1_000_000_u64.checked_div(medium.byte_ps).unwrap_or_else(|| {
        notes.push("NVMeVirt's channels take time: these got 64 GB/s.".to_owned());
        64_000
    });
    if medium.planes > 1 {
        notes.push(format!(
            "NVMeVirt has one plane in a LUN: a flash page there is one of all {} planes, and all of them read and program at the same time.",
            medium.planes
        ));
    }
    let page_bytes = medium.page_bytes * u64::from(medium.planes);
    let one_shot = page_bytes * u64::from(medium.pages_per_program);
    let (fastest, slowest) = medium.read_range_ns;
    let firmware = ssd.firmware.unwrap_or_default();
    let read_ns = firmware.latency.ns + firmware.read.ns;
    let ack_ns = ssd.buffer.as_ref().map_or(0, |buffer| buffer.settings.ack.ns) + firmware.write.ns;
    if ssd.firmware.is_some() {
        notes.push("Cores are left out: NVMeVirt adds the time of its firmware to every command.".to_owned());
    }
    if ssd.placement_handles.is_some() {
        notes.push("Placement handles are left out: some forks of NVMeVirt have them.".to_owned());
    }
    if !matches!(ssd.gc.victim, VictimPolicy::Greedy(_)) {
        notes.push("NVMeVirt collects the line with fewest valid pages.".to_owned());
    }
    notes.push("NVMeVirt's map has units of 4 KiB, and it collects when two lines are free.".to_owned());
    note_unsupported(ssd, "NVMeVirt", &mut notes);
    let cells = match medium.pages_per_program {
        1 => "CELL_MODE_SLC",
        2 => "CELL_MODE_MLC",
        3 => "CELL_MODE_TLC",
        _ => "CELL_MODE_QLC",
    };
    let buffer = ssd
        .buffer
        .as_ref()
        .and_then(|buffer| buffer.size)
        .map_or_else(|| "(NAND_CHANNELS * LUNS_PER_NAND_CH * ONESHOT_PAGE_SIZE * 2)".to_owned(), |size| format!("({}ull)", size.bytes));
    let constants = [
        ("NR_NAMESPACES", "1".to_owned()),
        ("NS_SSD_TYPE_0", "SSD_TYPE_CONV".to_owned()),
        ("NS_CAPACITY_0", "(0)".to_owned()),
        ("NS_SSD_TYPE_1", "NS_SSD_TYPE_0".to_owned()),
        ("NS_CAPACITY_1", "(0)".to_owned()),
        ("MDTS", "(6)".to_owned()),
        ("CELL_MODE", format!("({cells})")),
        ("SSD_PARTITIONS", "(1)".to_owned()),
        ("NAND_CHANNELS", format!("({})", medium.channels)),
        ("LUNS_PER_NAND_CH", format!("({})", medium.luns_per_channel)),
        ("PLNS_PER_LUN", "(1)".to_owned()),
        ("FLASH_PAGE_SIZE", format!("({page_bytes})")),
        ("ONESHOT_PAGE_SIZE", format!("({one_shot})")),
        ("BLKS_PER_PLN", format!("({})", medium.blocks)),
        ("BLK_SIZE", "(0)".to_owned()),
        ("MAX_CH_XFER_SIZE", "KB(16)".to_owned()),
        ("WRITE_UNIT_SIZE", "(512)".to_owned()),
        ("NAND_CHANNEL_BANDWIDTH", format!("({channel}ull)")),
        ("PCIE_BANDWIDTH", format!("({link}ull)")),
        ("NAND_4KB_READ_LATENCY_LSB", format!("({fastest})")),
        ("NAND_4KB_READ_LATENCY_MSB", format!("({slowest})")),
        ("NAND_4KB_READ_LATENCY_CSB", format!("({})", medium.read_ns)),
        ("NAND_READ_LATENCY_LSB", format!("({fastest})")),
        ("NAND_READ_LATENCY_MSB", format!("({slowest})")),
        ("NAND_READ_LATENCY_CSB", format!("({})", medium.read_ns)),
        ("NAND_PROG_LATENCY", format!("({})", medium.program_ns)),
        ("NAND_ERASE_LATENCY", format!("({})", medium.erase_ns)),
        ("FW_4KB_READ_LATENCY", format!("({read_ns})")),
        ("FW_READ_LATENCY", format!("({read_ns})")),
        ("FW_WBUF_LATENCY0", format!("({ack_ns})")),
        ("FW_WBUF_LATENCY1", "(0)".to_owned()),
        ("FW_CH_XFER_LATENCY", "(0)".to_owned()),
        ("OP_AREA_PERCENT", format!("({})", ssd.geometry.reserved.0)),
        ("GLOBAL_WB_SIZE", buffer),
        ("WRITE_EARLY_COMPLETION", u8::from(ssd.superblock.is_some() || ssd.buffer.is_some()).to_string()),
        ("LBA_BITS", "(9)".to_owned()),
        ("LBA_SIZE", "(1 << LBA_BITS)".to_owned()),
    ];
    let mut text = "/* Constants for NVMeVirt. In its ssd_config.h they take the place of those under\n\
         \x20* #elif (BASE_SSD == SAMSUNG_970PRO), for instance as #include \"flashraid.h\".\n\
         \x20* Build: make CONFIG_NVMEVIRT_NVM=n CONFIG_NVMEVIRT_SSD=y */\n"
        .to_owned();
    for (name, value) in constants {
        let _ = writeln!(text, "#define {name} {value}");
    }
    FilesForOtherProgram { files: vec![FileForOtherProgram { file_name: "flashraid.h", text }], notes }
}
