//! What a user says about a trace.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::Format;
use super::time_unit::TimeUnit;
use crate::OpKind;

/// A trace and how to read it. [`TraceSpec::new`] gives the defaults: everything is found out from the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceSpec {
    /// The file, plain or compressed.
    pub path: PathBuf,
    /// Overrules the detection of the format.
    pub format: Option<Format>,
    /// Overrules the unit of the time stamps. An error for formats without a choice (SRT).
    pub time_unit: Option<TimeUnit>,
    /// Overrules the bytes of a sector, from 1 to 2^30. An error for formats that count bytes.
    pub sector_bytes: Option<u32>,
    /// What becomes of several devices.
    pub devices: Devices,
    /// How far requests may be out of order.
    pub reorder: Reorder,
    /// Leaves bad lines out and counts them, rather than stopping.
    pub skip_bad_lines: bool,
    /// Drops a request that repeats another (same device, address, length and direction) at most this many nanoseconds after
    /// the last one like it: some recorders note a request at two layers.
    pub drop_repeats_within_ns: Option<u64>,
    /// What becomes of discards (blkparse, fio iologs, libCacheSim CSV).
    pub discards: Discards,
    /// OpKind of requests where the trace does not tell (libCacheSim CSV without an op column, which is read as reads). An error
    /// for formats that do.
    pub direction: Option<OpKind>,
}

impl TraceSpec {
    /// `path` with the defaults.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            format: None,
            time_unit: None,
            sector_bytes: None,
            devices: Devices::default(),
            reorder: Reorder::default(),
            skip_bad_lines: false,
            drop_repeats_within_ns: None,
            discards: Discards::default(),
            direction: None,
        }
    }
}

/// What becomes of the discards of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Discards {
    /// They are trims.
    #[default]
    Trim,
    /// They are left out, and counted.
    Ignore,
}

/// What becomes of the devices of a trace, each of which has addresses of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Devices {
    /// Laid end to end in order of their numbers, each rounded up to 1 MiB. Needs a pass over the whole file before the first request.
    #[default]
    Concat,
    /// All share the same addresses.
    Fold,
    /// Only these, laid end to end in this order.
    List(Vec<u32>),
}

/// How far requests of the file may be out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reorder {
    /// This many requests are held back and leave in order of time; 0 refuses a time that goes backwards.
    Window(u32),
    /// The whole trace is read into memory (about 48 bytes per request) and sorted.
    Sort,
}

impl Default for Reorder {
    fn default() -> Self {
        Self::Window(0)
    }
}
