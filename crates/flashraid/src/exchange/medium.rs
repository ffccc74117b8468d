//! Flash of a drive in the terms of emulators: channels, LUNs, and pages. A page is the amount that a plane reads at a time.

use crate::config::{ControllerDiePath, Scenario, SsdConfig};

/// Flash of a drive as emulators describe it, with the durations of its operations.
pub(super) struct Medium {
    pub(crate) channels: u32,
    pub(crate) luns_per_channel: u32,
    pub(crate) planes: u32,
    pub(crate) blocks: u32,
    /// Number of flash pages in a block.
    pub(crate) pages: u32,
    pub(crate) page_bytes: u64,
    /// Mean time of the flash array to read a flash page, over the types of pages.
    pub(crate) read_ns: u64,
    /// Shortest and longest time of the flash array to read a page, over the types of pages.
    pub(crate) read_range_ns: (u64, u64),
    /// Time of a program, which writes several flash pages to a plane.
    pub(crate) program_ns: u64,
    /// Number of flash pages that one program writes to a plane.
    pub(crate) pages_per_program: u32,
    pub(crate) erase_ns: u64,
    /// Time to transfer a byte on a channel, in picoseconds; 0 if transfers take no time.
    pub(crate) byte_ps: u64,
    /// Share of a plane's blocks that are free when collection starts.
    pub(crate) free_share: f64,
}

impl Medium {
    /// Returns the flash of a scenario's drive. Adds a note for each property that emulators cannot express.
    pub(super) fn of(scenario: &Scenario, program: &str, notes: &mut Vec<String>) -> Self {
        let ssd: &SsdConfig = &scenario.config.ssd;
        let geometry = &ssd.geometry.shape;
        let page_size = ssd.geometry.page_size.bytes;
        if scenario.array.members > 1 {
            notes.push(format!(
                "{program} emulates one SSD: this is one of the {} members, without the array around it.",
                scenario.array.members
            ));
        }
        notes.push("The workload is left out, because the programs on the emulated machine are the workload.".to_owned());
        let luns_per_channel = match (ssd.transfer, &ssd.channel) {
            (ControllerDiePath::Channel, Some(channel)) => channel.dies_per_channel,
            _ => 1,
        };
        if !geometry.dies.is_multiple_of(luns_per_channel) {
            notes.push(format!("All channels of {program} have the same number of LUNs: there are a few more."));
        }
        let (page_bytes, pages_per_program) = match &ssd.superblock {
            Some(superblock) => (superblock.flash_page.bytes, superblock.pages_per_cell),
            None => (page_size, 1),
        };
        let reads: Vec<u64> = match ssd.superblock.as_ref().map(|superblock| superblock.page_reads.as_slice()) {
            None | Some([]) => vec![ssd.timing.page_read.ns],
            Some(reads) => reads.iter().map(|read| read.ns).collect(),
        };
        let free = match &ssd.superblock {
            Some(superblock) => f64::from(superblock.collection.target),
            None => f64::from(scenario.array.ssd.gc.start_threshold_free_blocks),
        };
        let byte_ps = match ssd.transfer {
            ControllerDiePath::None => 0,
            _ => ssd.timing.transfer_per_byte.picoseconds * (512 + u64::from(ssd.timing.spare_bytes_per_sector)) / 512,
        };
        Self {
            channels: geometry.dies.div_ceil(luns_per_channel),
            luns_per_channel,
            planes: geometry.planes,
            blocks: geometry.blocks_per_plane,
            pages: (u64::from(geometry.pages_per_block) * page_size / page_bytes) as u32,
            page_bytes,
            read_ns: reads.iter().sum::<u64>() / reads.len() as u64,
            read_range_ns: (reads.iter().copied().min().unwrap_or(0), reads.iter().copied().max().unwrap_or(0)),
            program_ns: ssd.timing.page_program.ns,
            pages_per_program,
            erase_ns: ssd.timing.block_erase.ns,
            byte_ps,
            free_share: free / f64::from(geometry.blocks_per_plane),
        }
    }

    /// Returns the number of bytes of the whole flash.
    pub(super) fn raw_bytes(&self) -> u64 {
        u64::from(self.channels * self.luns_per_channel * self.planes) * u64::from(self.blocks) * u64::from(self.pages) * self.page_bytes
    }
}

/// Adds a note for each part of the drive that neither emulator models.
pub(super) fn note_unsupported(ssd: &SsdConfig, program: &str, notes: &mut Vec<String>) {
    let there = [
        ("suspension and preemption", ssd.suspension.is_some() || ssd.gc.preemption != crate::config::Preemption::None),
        ("blocks with one bit per cell for a while", ssd.slc.is_some()),
        ("submission queues with a limit", ssd.queues.is_some()),
        ("mechanisms in tables of their own", ssd.mechanisms != flashraid_model::ssd::DieDelayMechanisms::default()),
    ];
    for (name, _) in there.into_iter().filter(|(_, there)| *there) {
        notes.push(format!("{program} has no {name}."));
    }
    notes.push(format!("{program} collects lines, a block of every LUN, in the foreground; when and how fast is its own."));
    notes.push("The state in which the drive begins is left out: it begins empty there.".to_owned());
}
