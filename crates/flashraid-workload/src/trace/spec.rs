//! Settings for reading a trace.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::columns::TraceColumns;
use super::formats::Format;
use super::time_unit::TimeUnit;
use crate::OpKind;
use crate::quantity_impls;
use crate::units::{AllowedUnitlessRange, Quantity, UnitError};

/// A trace and the settings for reading it. The defaults of [`TraceSpec::new`] leave it to the program to find everything out from
/// the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceSpec {
    /// Path of the file, plain or compressed.
    pub path: PathBuf,
    /// Format of the trace, in place of the detected one.
    pub format: Option<Format>,
    /// Unit of the time stamps, in place of the detected one. It is an error for formats without a choice (SRT).
    pub time_unit: Option<TimeUnit>,
    /// Number of bytes in a sector, from 1 to 2^30, in place of the format's own. It is an error for formats that count bytes.
    pub sector_bytes: Option<u32>,
    /// Places that the devices of the trace get in the address space of the array, if the trace has several.
    pub devices: DevicePlacement,
    /// Method by which requests are put in order of time.
    pub reorder: TraceSortMethod,
    /// True to leave bad lines out and count them, false to stop at the first one.
    pub skip_bad_lines: bool,
    /// Longest time between two equal requests, in nanoseconds, at which the second one is taken for a repeat and dropped. Equal
    /// requests have the same device, address, length and direction. Some recorders record each request at two layers.
    pub drop_repeats_within_ns: Option<u64>,
    /// Columns of the trace, if it has no header that tells them.
    pub columns: Option<TraceColumns>,
    /// Treatment of the discards of the trace.
    pub discards: DiscardPolicy,
    /// Treatment of the flushes of the trace.
    pub flushes: FlushPolicy,
    /// Kind of requests if the trace does not tell it (libCacheSim CSV without an op column, whose requests are reads by default). It is an
    /// error for other formats.
    pub assumed_direction: Option<OpKind>,
    /// Number of times that the trace is sent, one after another; 0 counts as 1.
    pub passes: u64,
}

impl TraceSpec {
    /// Returns the settings for `path` with all defaults.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            format: None,
            time_unit: None,
            sector_bytes: None,
            devices: DevicePlacement::default(),
            reorder: TraceSortMethod::default(),
            skip_bad_lines: false,
            drop_repeats_within_ns: None,
            columns: None,
            discards: DiscardPolicy::default(),
            flushes: FlushPolicy::default(),
            assumed_direction: None,
            passes: 1,
        }
    }
}

/// Treatment of the discards of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiscardPolicy {
    /// Discards of the trace become trims.
    #[default]
    Trim,
    /// Discards are left out and counted.
    Ignore,
}

/// Treatment of the flushes of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlushPolicy {
    /// Flushes of the trace are sent to the array.
    #[default]
    Send,
    /// Flushes are left out and counted.
    Ignore,
}

/// Placement of the devices of a trace in the address space of the array. In the trace, each device has its own addresses from 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DevicePlacement {
    /// Places the devices of the trace one after another, in order of their numbers. The length of each device is rounded up to a
    /// multiple of 1 MiB. This needs a pass over the whole file before the first request.
    #[default]
    Concat,
    /// Lets the devices of the trace overlap: every device begins at address 0 of the array.
    Fold,
    /// Uses only the devices of the trace with these numbers, and places them one after another in this order.
    #[serde(untagged)]
    List(Vec<u32>),
}

/// Method by which requests of the file are put in order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceSortMethod {
    /// Holds this number of requests back, and returns them in order of time. With 0, a time that goes backwards is refused.
    Window(u32),
    /// Reads the whole trace into memory (some 50 bytes per request) and sorts it.
    Sort,
}

impl Default for TraceSortMethod {
    fn default() -> Self {
        Self::Window(0)
    }
}

quantity_impls!(TraceSortMethod);

impl Quantity for TraceSortMethod {
    const JSON_SCHEMA_FORMAT: &'static str = "reorder";
    const ALLOWED_VALUES: &'static str = "\"sort\", or the number of requests to hold back, such as 1000";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*sort\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> =
        Some(AllowedUnitlessRange { min: 0.0, max: 4_294_967_295.0, only_whole_numbers: true });

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "sort" { Ok(Self::Sort) } else { Err(UnitError::new("the only word is \"sort\"")) }
    }

    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        Ok(Self::Window(number as u32))
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Window(requests) => (*requests).into(),
            Self::Sort => "sort".into(),
        }
    }
}
