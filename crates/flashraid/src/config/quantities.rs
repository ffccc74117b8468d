//! The quantities that configuration keys can hold, and the list by which their texts are checked.

use super::device::HalfDuplexLinkBandwidthLimit;
use super::gc::IdleTimeBeforeCollection;
use super::workload::RequestsOrTime;
use flashraid_model::array::{HedgeDelay, ParityHandle};
use flashraid_model::coordination::{CollectingMembersLimit, StatedCount, StatedTime, TurnEndMargin};
use flashraid_workload::SizeOrAddressGranularity;
use flashraid_workload::quantities::{MeanRequestInterval, MeanRequestSize};
use flashraid_workload::quantity_impls;
use flashraid_workload::synthetic::Footprint;
use flashraid_workload::trace::TraceSortMethod;
use flashraid_workload::units::{ByteRate, Duration, Fraction, GcStartThreshold, GcStopThreshold, Quantity, Size, TimePerByte, UnitError};

quantity_impls!(HalfDuplexLinkBandwidthLimit, IdleTimeBeforeCollection, RequestsOrTime);

/// Information about a kind of [`Quantity`]: its name in the schema, the allowed texts, and a function that checks a text.
pub(super) struct Checker {
    pub(crate) name: &'static str,
    pub(crate) allowed: &'static str,
    pub(crate) check: fn(&str) -> Result<(), UnitError>,
}

const fn checker<Q: Quantity>() -> Checker {
    Checker { name: Q::JSON_SCHEMA_FORMAT, allowed: Q::ALLOWED_VALUES, check: |text| Q::parse(text).map(drop) }
}

/// Every quantity that a configuration can hold.
pub(super) const CHECKERS: &[Checker] = &[
    checker::<Duration>(),
    checker::<Size>(),
    checker::<ByteRate>(),
    checker::<TimePerByte>(),
    checker::<Fraction>(),
    checker::<HalfDuplexLinkBandwidthLimit>(),
    checker::<GcStartThreshold>(),
    checker::<GcStopThreshold>(),
    checker::<IdleTimeBeforeCollection>(),
    checker::<HedgeDelay>(),
    checker::<ParityHandle>(),
    checker::<CollectingMembersLimit>(),
    checker::<TurnEndMargin>(),
    checker::<StatedCount>(),
    checker::<StatedTime>(),
    checker::<Footprint>(),
    checker::<MeanRequestInterval>(),
    checker::<SizeOrAddressGranularity>(),
    checker::<MeanRequestSize>(),
    checker::<RequestsOrTime>(),
    checker::<TraceSortMethod>(),
];
