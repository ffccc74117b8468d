//! The address space that a workload is aimed at, and the units that its sizes and addresses come in.

use flashraid_model::placement::StripeShape;

/// What a workload has to know of the array below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressSpace {
    /// Bytes that the array exports.
    pub capacity_bytes: u64,
    /// Bytes of a logical page.
    pub page_bytes: u64,
    /// Consecutive bytes that stay on one member.
    pub stripe_unit_bytes: u64,
    /// How a stripe lies on the members (or mirrored pairs).
    pub shape: StripeShape,
}

impl AddressSpace {
    /// Bytes of data in a stripe.
    pub fn stripe_bytes(&self) -> u64 {
        self.stripe_unit_bytes * u64::from(self.shape.columns)
    }
}

/// The bytes of a sector, the smallest unit that disks and traces address.
pub const SECTOR_BYTES: u64 = 512;

/// The unit that a size or an address is a multiple of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// 512 bytes.
    Sector,
    /// A logical page of the device.
    Page,
    /// That many bytes, at least 1.
    Bytes(u64),
}

impl Grain {
    /// The unit in bytes.
    pub fn bytes(self, space: &AddressSpace) -> u64 {
        match self {
            Self::Sector => SECTOR_BYTES,
            Self::Page => space.page_bytes,
            Self::Bytes(bytes) => bytes,
        }
    }
}
