//! A quick pass over a trace, which finds the number of requests, the devices, and the size of the address space.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compression::Origin;
use super::devices::{Layout, folded_bytes};
use super::filter::Filter;
use super::spec::{DevicePlacement, TraceSpec};
use crate::{SourceError, Stop};

/// Size of one device of a trace, and its place in the address space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceDeviceSizeAndOffset {
    /// Number of the device.
    pub device: u32,
    /// Name of the device in the trace.
    pub label: String,
    /// Number of requests of the device in the trace.
    pub requests: u64,
    /// Address at which the device begins in the address space of the requests.
    pub base_bytes: u64,
    /// End of the request that reaches farthest, counted from the beginning of the device.
    pub extent_bytes: u64,
}

/// Number of requests, duration, devices and size of the address space of a trace, found by reading it once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceSurvey {
    /// Number of all requests.
    pub requests: u64,
    /// Time between the first and the last time stamp, in nanoseconds; 0 without times.
    pub duration_ns: u64,
    /// End of the address space: a multiple of 1 MiB beyond which no request reaches.
    pub address_space_bytes: u64,
    /// Devices in order of their numbers.
    pub devices: Vec<TraceDeviceSizeAndOffset>,
}

/// Reads a whole trace and returns its extent. Requests may be in any order.
///
/// # Errors
/// Returns an error if the trace cannot be read to its end.
pub(crate) fn survey_trace(spec: &TraceSpec) -> Result<TraceSurvey, SourceError> {
    let mut records = Filter::open(spec, &Origin::file(&spec.path, &Stop::default()))?;
    let mut extents: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let (mut first_ns, mut last_ns) = (u64::MAX, 0);
    records.for_each(|record| {
        first_ns = first_ns.min(record.time_ns);
        last_ns = last_ns.max(record.time_ns);
        let (requests, extent) = extents.entry(record.device).or_default();
        *requests += 1;
        *extent = (record.offset_bytes + record.length_bytes).max(*extent);
    })?;
    let lengths: BTreeMap<u32, u64> = extents.iter().map(|(device, (_, extent))| (*device, *extent)).collect();
    let layout = match spec.devices {
        DevicePlacement::Fold => Layout::SharedAddresses,
        _ => Layout::end_to_end(&spec.devices, &lengths, &records.facts().name)?,
    };
    Ok(TraceSurvey {
        requests: extents.values().map(|(requests, _)| requests).sum(),
        duration_ns: last_ns.saturating_sub(first_ns),
        address_space_bytes: layout.address_space_bytes().unwrap_or_else(|| folded_bytes(&lengths)),
        devices: extents
            .iter()
            .map(|(device, (requests, extent))| TraceDeviceSizeAndOffset {
                device: *device,
                label: records.device_label(*device),
                requests: *requests,
                base_bytes: layout.offset_bytes(*device, 0),
                extent_bytes: *extent,
            })
            .collect(),
    })
}
