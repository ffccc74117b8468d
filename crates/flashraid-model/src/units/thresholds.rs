//! Thresholds of free blocks at which collection starts and stops: a share of the blocks, a number of blocks, or a number above the start.

use super::{AllowedUnitlessRange, Fraction, Quantity, UnitError};
use crate::quantity_impls;

quantity_impls!(GcStartThreshold, GcStopThreshold);

/// Start threshold of garbage collection, in free blocks of a pool. A pool is the blocks of a plane, or of a die, that share free
/// blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GcStartThreshold {
    /// Share of the blocks of a pool (of a plane or of a die). Collection starts there when at most this share of the blocks is free.
    /// The number of blocks is rounded down.
    FreeShareOfBlockPool(Fraction),
    /// Number of free blocks of a pool (of a plane or of a die) at or below which collection starts there.
    FreeBlocks(u32),
}

/// Stop threshold of garbage collection, in free blocks of a pool. A pool is the blocks of a plane, or of a die, that share free
/// blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GcStopThreshold {
    /// Number of free blocks of a pool (of a plane or of a die) by which the stop threshold exceeds the start threshold.
    AboveStart(u32),
    /// Share of the blocks of a pool (of a plane or of a die). Collection stops there when this share of the blocks is free. The number
    /// of blocks is rounded down.
    FreeShareOfBlockPool(Fraction),
    /// Number of free blocks of a pool (of a plane or of a die) at which collection stops there.
    FreeBlocks(u32),
}

fn parse_blocks(text: &str) -> Option<Result<u32, UnitError>> {
    let number = text.trim().strip_suffix("blocks").or_else(|| text.trim().strip_suffix("block"))?;
    Some(number.trim().parse().map_err(|_| UnitError::new("it does not begin with a whole number of blocks")))
}

fn write_blocks(blocks: u32) -> serde_json::Value {
    // Configurations write numbers without commas between groups of digits.
    format!("{blocks} block{}", if blocks == 1 { "" } else { "s" }).into()
}

impl Quantity for GcStartThreshold {
    const JSON_SCHEMA_FORMAT: &'static str = "start-threshold";
    const ALLOWED_VALUES: &'static str = "a share of the blocks, such as 0.05 or \"5%\", or a number of blocks, such as \"30 blocks\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*([0-9]+(\.[0-9]+)?\s*%?|[0-9]+\s*blocks?)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = Fraction::UNITLESS_RANGE;

    fn parse(text: &str) -> Result<Self, UnitError> {
        match parse_blocks(text) {
            Some(blocks) => blocks.map(Self::FreeBlocks),
            None => Fraction::parse(text).map(Self::FreeShareOfBlockPool),
        }
    }

    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        Fraction::from_unitless_number(number).map(Self::FreeShareOfBlockPool)
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::FreeShareOfBlockPool(share) => share.to_json(),
            Self::FreeBlocks(blocks) => write_blocks(*blocks),
        }
    }
}

impl GcStartThreshold {
    /// Returns the number of free blocks at or below which garbage collection starts in a pool of `pool_blocks` blocks. A pool is the
    /// blocks of a plane, or of a die, that share free blocks.
    pub fn threshold_free_blocks_for_pool(self, pool_blocks: u32) -> u32 {
        match self {
            Self::FreeShareOfBlockPool(share) => share.floor_of(pool_blocks),
            Self::FreeBlocks(blocks) => blocks,
        }
    }
}

impl Quantity for GcStopThreshold {
    const JSON_SCHEMA_FORMAT: &'static str = "stop-threshold";
    const ALLOWED_VALUES: &'static str = "\"start+1\" (or more above the start), a share of the blocks, such as 0.08 or \"8%\", or a number of blocks, such as \"30 blocks\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(start\s*\+\s*[0-9]+|[0-9]+(\.[0-9]+)?\s*%?|[0-9]+\s*blocks?)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = Fraction::UNITLESS_RANGE;

    fn parse(text: &str) -> Result<Self, UnitError> {
        if let Some(rest) = text.trim().strip_prefix("start") {
            let above = rest.trim_start().strip_prefix('+').and_then(|number| number.trim().parse().ok());
            return match above {
                Some(above) if above > 0 => Ok(Self::AboveStart(above)),
                _ => Err(UnitError::new("after \"start\" comes + and a whole number of blocks above 0")),
            };
        }
        match parse_blocks(text) {
            Some(blocks) => blocks.map(Self::FreeBlocks),
            None => Fraction::parse(text).map(Self::FreeShareOfBlockPool),
        }
    }

    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        Fraction::from_unitless_number(number).map(Self::FreeShareOfBlockPool)
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::AboveStart(blocks) => format!("start+{blocks}").into(),
            Self::FreeShareOfBlockPool(share) => share.to_json(),
            Self::FreeBlocks(blocks) => write_blocks(*blocks),
        }
    }
}

impl GcStopThreshold {
    /// Returns the number of free blocks at which garbage collection stops in a pool of `pool_blocks` blocks. Collection starts there
    /// at `start` free blocks. A pool is the blocks of a plane, or of a die, that share free blocks.
    pub fn threshold_free_blocks_for_pool(self, pool_blocks: u32, start: u32) -> u32 {
        match self {
            Self::AboveStart(above) => start.saturating_add(above),
            Self::FreeShareOfBlockPool(share) => share.floor_of(pool_blocks),
            Self::FreeBlocks(blocks) => blocks,
        }
    }
}
