//! The synthetic workload of PGC, Table III; its real ones are in `ggc`, which repeats them.

use super::{Found, KIB, NamedWorkload, Published, synthetic};
use crate::Grain;
use crate::synthetic::{AddressSpec, ArrivalSpec, ExponentialMean, SizeSpec};

pub(super) fn find(stem: &str, numbers: &[u64]) -> Found {
    if (stem, numbers) != ("pgc-synthetic", &[]) {
        return None;
    }
    let size = SizeSpec::Exponential { mean_bytes: 32.0 * KIB as f64, grain: Grain::Page, mean_is: ExponentialMean::BeforeRounding };
    let address = AddressSpec { sequential_fraction: 0.4, ..AddressSpec::default() };
    Some(Ok(NamedWorkload {
        name: String::new(),
        source: "PGC Table III",
        published: Published { mean_kib: Some(32.0), read_fraction: Some(0.4), requests_per_s: Some(1000.0 / 3.0), ..Published::default() },
        is_stand_in: false,
        note: "sizes are exponential and then rounded up to pages, so that requests touch 34.04 KiB on average; the footprint is open in the paper: here \
               all of the array"
            .into(),
        spec: synthetic(ArrivalSpec::Poisson { mean_gap_ns: 3e6 }, 0.4, size, address).into(),
    }))
}
