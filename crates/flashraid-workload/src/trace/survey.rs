//! A quick pass over a trace: how many requests, which devices, how much address space.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compression::Origin;
use super::devices::{Layout, folded_bytes};
use super::filter::Filter;
use super::spec::{Devices, TraceSpec};
use crate::{SourceError, Stop};

/// One device of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceExtent {
    /// Its number.
    pub device: u32,
    /// How the trace calls it.
    pub label: String,
    /// Its requests.
    pub requests: u64,
    /// Its first byte in the address space of the requests.
    pub base_bytes: u64,
    /// Where its highest request ends, from its own first byte.
    pub extent_bytes: u64,
}

/// What [`survey`] finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// Requests.
    pub requests: u64,
    /// Between the first and the last time stamp; 0 without times.
    pub duration_ns: u64,
    /// Every request ends at or before this address, a multiple of 1 MiB.
    pub address_space_bytes: u64,
    /// In order of their numbers.
    pub devices: Vec<DeviceExtent>,
}

/// Reads a trace through, in whatever order its requests are.
///
/// # Errors
/// A trace that can't be read to its end.
pub fn survey(spec: &TraceSpec) -> Result<Survey, SourceError> {
    let mut records = Filter::open(spec, &Origin::file(&spec.path, &Stop::default()))?;
    let mut extents: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let (mut first_ns, mut last_ns) = (u64::MAX, 0);
    while let Some(record) = records.next()? {
        first_ns = first_ns.min(record.time_ns);
        last_ns = last_ns.max(record.time_ns);
        let (requests, extent) = extents.entry(record.device).or_default();
        *requests += 1;
        *extent = (record.offset_bytes + record.length_bytes).max(*extent);
    }
    let lengths: BTreeMap<u32, u64> = extents.iter().map(|(device, (_, extent))| (*device, *extent)).collect();
    let layout = match spec.devices {
        Devices::Fold => Layout::Same,
        _ => Layout::end_to_end(&spec.devices, &lengths, &records.facts().name)?,
    };
    Ok(Survey {
        requests: extents.values().map(|(requests, _)| requests).sum(),
        duration_ns: last_ns.saturating_sub(first_ns),
        address_space_bytes: layout.address_space_bytes().unwrap_or_else(|| folded_bytes(&lengths)),
        devices: extents
            .iter()
            .map(|(device, (requests, extent))| DeviceExtent {
                device: *device,
                label: records.device_label(*device),
                requests: *requests,
                base_bytes: layout.offset_bytes(*device, 0),
                extent_bytes: *extent,
            })
            .collect(),
    })
}
