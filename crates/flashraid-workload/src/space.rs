//! The address space of a workload, and the units of its sizes and addresses.

use flashraid_model::placement::StripeShape;

/// Properties of the array that a workload needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayProperties {
    /// Number of bytes that the array exports.
    pub capacity_bytes: u64,
    /// Number of bytes in a logical page.
    pub page_bytes: u64,
    /// Number of consecutive bytes that lie on one member before the next member follows.
    pub stripe_unit_bytes: u64,
    /// Number of data and parity strips in a stripe, and their rotation over the members. Members that mirror each other count as one.
    pub stripe_shape: StripeShape,
}

impl ArrayProperties {
    /// Returns the number of bytes of data in a stripe.
    pub fn stripe_data_bytes(&self) -> u64 {
        self.stripe_unit_bytes * u64::from(self.stripe_shape.data_strips)
    }
}

/// Number of bytes in a sector, the smallest unit that disks and traces address.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// Unit of which sizes or addresses of a workload are multiples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeOrAddressGranularity {
    /// Makes sizes or addresses multiples of a sector of 512 bytes.
    Sector,
    /// Makes sizes or addresses multiples of a logical page of the array.
    LogicalPage,
    /// Makes sizes or addresses multiples of this number of bytes, at least 1.
    Bytes(u64),
}

impl SizeOrAddressGranularity {
    /// Returns the number of bytes in this unit. Sizes or addresses are multiples of this number. `space` says how many bytes a page
    /// has.
    pub fn bytes_in(self, space: &ArrayProperties) -> u64 {
        match self {
            Self::Sector => SECTOR_BYTES,
            Self::LogicalPage => space.page_bytes,
            Self::Bytes(bytes) => bytes,
        }
    }
}
