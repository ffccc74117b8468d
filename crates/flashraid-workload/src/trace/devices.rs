//! Layout of a trace's devices in the address space of the array.

use std::collections::BTreeMap;

use super::compression::Origin;
use super::filter::Filter;
use super::formats::Format;
use super::spec::{DevicePlacement, TraceSpec};
use crate::SourceError;

/// Alignment of the devices, so that pages and stripes keep their alignment, too.
const ALIGNMENT_BYTES: u64 = 1 << 20;

/// Maximum size of the address space for devices laid end to end: 4 EiB, so that no address overflows.
const MAX_END_BYTES: u64 = 1 << 62;

/// Layout of the devices of a trace in the address space of the array.
pub(crate) enum Layout {
    /// All devices of the trace share the same addresses of the array.
    SharedAddresses,
    /// The devices of the trace lie one after another in the address space of the array.
    EndToEnd {
        /// Address in the array's address space at which each device of the trace begins, in bytes, by the number of the device.
        base_bytes: BTreeMap<u32, u64>,
        /// Address in the array's address space after the end of the last device of the trace, in bytes.
        last_device_end_bytes: u64,
    },
}

impl Layout {
    /// Returns the layout. It reads the whole trace if it needs the lengths of several devices.
    pub(super) fn new(spec: &TraceSpec, origin: &Origin, format: Format) -> Result<Self, SourceError> {
        let one_address_space = match &spec.devices {
            DevicePlacement::Fold => true,
            DevicePlacement::Concat => !format.has_devices(),
            DevicePlacement::List(list) => list.len() == 1,
        };
        if one_address_space {
            return Ok(Self::SharedAddresses);
        }
        if origin.is_stream() {
            return Err(SourceError::InvalidInput(format!(
                "{}: it is no regular file, and laying devices end to end takes two passes; copy it to a file, or set devices = \"fold\"",
                spec.path.display()
            )));
        }
        let mut records = Filter::open(spec, origin)?;
        let mut extents = BTreeMap::new();
        records.for_each(|record| {
            let end = record.offset_bytes + record.length_bytes;
            let extent: &mut u64 = extents.entry(record.device).or_default();
            *extent = end.max(*extent);
        })?;
        Self::end_to_end(&spec.devices, &extents, &spec.path.display().to_string())
    }

    /// Returns the layout in which devices of these lengths lie end to end.
    pub(crate) fn end_to_end(devices: &DevicePlacement, extents: &BTreeMap<u32, u64>, name: &str) -> Result<Self, SourceError> {
        let order: Vec<u32> = match devices {
            DevicePlacement::List(list) => list.clone(),
            DevicePlacement::Concat | DevicePlacement::Fold => extents.keys().copied().collect(),
        };
        let mut base_bytes = BTreeMap::new();
        let mut end_bytes = 0_u64;
        for device in order {
            base_bytes.insert(device, end_bytes);
            let length = extents.get(&device).copied().unwrap_or(0).next_multiple_of(ALIGNMENT_BYTES);
            end_bytes += length;
            if end_bytes > MAX_END_BYTES {
                return Err(SourceError::InvalidInput(format!(
                    "{name}: its devices laid end to end exceed 4 EiB; set devices = \"fold\", or list fewer"
                )));
            }
        }
        Ok(Self::EndToEnd { base_bytes, last_device_end_bytes: end_bytes })
    }

    /// Converts an address on `device` to an address in the common address space.
    pub(super) fn offset_bytes(&self, device: u32, offset_bytes: u64) -> u64 {
        match self {
            Self::SharedAddresses => offset_bytes,
            Self::EndToEnd { base_bytes, .. } => base_bytes.get(&device).copied().unwrap_or(0) + offset_bytes,
        }
    }

    /// Returns a note for the user if the trace has several devices.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Self::EndToEnd { base_bytes, last_device_end_bytes: end_bytes } if base_bytes.len() > 1 => Some(format!(
                "devices: {} laid end to end, {} MiB in all; devices overrules it (\"fold\", or a list of numbers)",
                base_bytes.len(),
                end_bytes >> 20
            )),
            _ => None,
        }
    }

    /// Returns the end of the last device; `None` if devices share addresses.
    pub(crate) fn address_space_bytes(&self) -> Option<u64> {
        match self {
            Self::SharedAddresses => None,
            Self::EndToEnd { last_device_end_bytes: end_bytes, .. } => Some(*end_bytes),
        }
    }
}

/// Returns the size of the address space if all devices share it, rounded up as in a layout end to end.
pub(crate) fn folded_bytes(extents: &BTreeMap<u32, u64>) -> u64 {
    extents.values().copied().max().unwrap_or(0).next_multiple_of(ALIGNMENT_BYTES)
}
