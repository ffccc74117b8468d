//! Keys of drives that write superpages out of a buffer, and of the buffers, queues and cores of any device.
//!
//! These are `[ssd.superblock]`, `[ssd.buffer]`, `[ssd.queues]`, `[ssd.firmware]`, `[ssd.suspension]`, `[ssd.placement_handles]` and
//! `[ssd.slc]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_model::ssd::{PlaneReads, SlcTimes, SuperblockCollectionParams, WriteBuffer};
use flashraid_workload::units::{Duration, Fraction, Size};

/// A drive that collects garbage in superblocks. A superblock is the same block of all planes and dies. Its collection is divided into
/// small steps (reads, programs and erases of dies), so that host requests can be served in between. One program of a die writes a
/// superpage: in each plane, as many pages as a cell has bits. The map of the drive stores the place of each unit of data, a page or
/// several. Without the table `[ssd.superblock]`, each plane or die has a pool of blocks, and collects single blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SuperblockConfig {
    /// Size of a unit, the smallest piece of data whose place the map of the drive stores; a multiple of `geometry.page_size`. A smaller
    /// write first reads the rest of its unit.
    pub unit: Size,
    /// Number of bytes that a plane reads at a time, a multiple of `unit`.
    pub flash_page: Size,
    /// Number of flash pages that one program writes to each plane, one for each bit of a cell: 3 for TLC, 4 for QLC.
    #[schemars(range(min = 1, max = 8))]
    pub pages_per_cell: u32,
    /// Times that the flash array takes to read a page, one for each type of page. The types repeat through the pages of a block: with
    /// three entries, pages 0, 3, 6 and so on take the first. By default, all pages take `timing.page_read`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub page_reads: Vec<Duration>,
    /// Settings of the reads of planes.
    #[serde(flatten)]
    pub reads: PlaneReads,
    /// Number of dies that may program at the same time. By default, all may.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub programs_at_once: Option<u32>,
    /// True to program parity (RAIN). The superpages at the same place of all dies form a row. One superpage of a row is the parity of
    /// the others and is programmed after them. `geometry.reserved` must leave room for the parity.
    #[serde(skip_serializing_if = "is_off")]
    pub rain: bool,
    /// Numbers of free superblocks by which collection goes.
    #[serde(flatten)]
    pub collection: SuperblockCollectionParams,
    /// Maximum backlog of collection, which is the data that it should have moved by now to keep up with host writes. The whole
    /// drive's maximum is this number of superpages (each the data of one program of a die), multiplied by the number of dies. While
    /// the backlog exceeds it, the drive sends no superpage of host data from its write buffer to a die.
    #[schemars(range(min = 0, max = 65_536))]
    pub debt: u32,
    /// Number of host reads after which data are moved (read disturb). It is an average over the blocks of a superblock, and counts since
    /// the last erase. By default, data are never moved for this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub refresh_reads: Option<u32>,
    /// Wear difference at which the least erased superblock is moved (static wear levelling). It is the difference of its erases from those
    /// of the most erased one. By default, none is moved for this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1_000_000))]
    pub wear_difference: Option<u32>,
}

impl Default for SuperblockConfig {
    fn default() -> Self {
        Self {
            unit: Size { bytes: 4096 },
            flash_page: Size { bytes: 16_384 },
            pages_per_cell: 3,
            page_reads: Vec::new(),
            reads: PlaneReads::default(),
            programs_at_once: None,
            rain: false,
            collection: SuperblockCollectionParams::default(),
            debt: 4,
            refresh_reads: None,
            wear_difference: None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_off(is_on: &bool) -> bool {
    !is_on
}

/// The write buffer of a drive. A write is done when all its data are in the buffer and the time `ack` has passed. With
/// `ssd.superblock`, data leave the buffer in superpages, each written by one program of a die. Without `ssd.superblock`, single pages
/// go to their dies one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WriteBufferConfig {
    /// Size of the buffer. With `ssd.superblock`, it must be at least one superpage for each placement handle and one more. The default
    /// is two superpages per die, or this minimum if it is larger. Without `ssd.superblock`, it must be at least one page, and the
    /// default is two pages per die.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Settings that hold as they are written.
    #[serde(flatten)]
    pub settings: WriteBuffer,
}

/// Superblocks with one bit per cell (SLC). Host writes go there while there is room. Collection later moves the data to superblocks with
/// all bits per cell (folding). Needs `ssd.superblock`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SlcSuperblocksConfig {
    /// Number of which `share`, the maximum share of superblocks with one bit per cell (SLC), is a share. With `"static"`, it is the
    /// number of all superblocks. With `"dynamic"`, it is the number of superblocks with one bit per cell now, plus free ones. Of the
    /// free superblocks, only those beyond the number that collection keeps free (`superblock.target`) count.
    pub mode: SlcShareBase,
    /// Maximum share of superblocks that hold one bit per cell at the same time. With `mode = "static"`, it is a share of all
    /// superblocks. With `mode = "dynamic"`, it is a share of those with one bit per cell now, plus the free ones beyond
    /// `superblock.target`. A superblock with one bit per cell holds less data than others, by the factor `superblock.pages_per_cell`.
    pub share: Fraction,
    /// Times of programs and reads.
    #[serde(flatten)]
    pub times: SlcTimes,
}

/// Number of which `slc.share`, the maximum share of superblocks with one bit per cell, is a share. It is the number of all
/// superblocks, or of those with one bit per cell now plus the free ones that collection does not need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlcShareBase {
    /// Lets the share `slc.share` of all superblocks of the drive hold one bit per cell at the same time. The spare area
    /// (`geometry.reserved`) must have this number of superblocks in addition to those that it needs otherwise.
    Static,
    /// Limits the superblocks with one bit per cell to the share `slc.share` of n + f superblocks. Here n is the number of superblocks
    /// that have one bit per cell now. The number f counts free superblocks beyond those that collection keeps free
    /// (`superblock.target`). In a full drive, f is small.
    Dynamic,
}
