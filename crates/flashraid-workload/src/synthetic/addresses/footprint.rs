//! The part of the array that a workload uses.

use crate::units::{AllowedUnitlessRange, Fraction, Quantity, Size, UnitError};
use flashraid_model::quantity_impls;

quantity_impls!(Footprint);

/// The part of the array that a workload uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Footprint {
    /// Limits the workload to this share of the array's capacity.
    ShareOfCapacity(Fraction),
    /// Limits the workload to this number of bytes of the array.
    Bytes(Size),
    /// Limits the workload to this number of bytes of the array. A smaller array is used as a whole.
    AtMostBytes(Size),
}

impl Footprint {
    const AT_MOST: &'static str = "at most";
}

impl Quantity for Footprint {
    const JSON_SCHEMA_FORMAT: &'static str = "footprint";
    const ALLOWED_VALUES: &'static str = "a share of the capacity, such as 0.125 or \"12.5%\", or a size with a unit, such as \"4GiB\" or, for arrays of any size, \"at most 4GiB\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(at most\s)?\s*[0-9][0-9_]*(\.[0-9]+)?\s*(%|B|[kKMGT]B|[KMGT]iB)?\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = Fraction::UNITLESS_RANGE;

    fn parse(text: &str) -> Result<Self, UnitError> {
        match text.trim().strip_prefix(Self::AT_MOST) {
            Some(size) => Size::parse(size).map(Self::AtMostBytes),
            None if text.trim().ends_with('B') => Size::parse(text).map(Self::Bytes),
            None => Fraction::parse(text).map(Self::ShareOfCapacity),
        }
    }

    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        Fraction::from_unitless_number(number).map(Self::ShareOfCapacity)
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::ShareOfCapacity(share) => share.to_json(),
            Self::Bytes(size) => size.to_json(),
            Self::AtMostBytes(size) => format!("{} {}", Self::AT_MOST, size.to_json().as_str().unwrap_or_default()).into(),
        }
    }
}
