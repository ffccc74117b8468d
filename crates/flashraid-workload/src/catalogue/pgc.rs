//! The synthetic workload of PGC, Table III. Its real workloads are in `ggc`, because GGC repeats them.

use super::{Found, GENERATOR_FOOTPRINT, KIB, NamedWorkload, PublishedFigures, synthetic};
use crate::SizeOrAddressGranularity;
use crate::quantities::{MeanRequestInterval, MeanRequestSize};
use crate::synthetic::AddressSpec;
use crate::synthetic::arrivals::Poisson;
use crate::synthetic::sizes::{Exponential, MeanBeforeOrAfterRounding};

pub(super) fn find(stem: &str, numbers: &[u64]) -> Found {
    if (stem, numbers) != ("pgc-synthetic", &[]) {
        return None;
    }
    let size = Exponential {
        mean: MeanRequestSize { bytes: 32.0 * KIB as f64 },
        grain: SizeOrAddressGranularity::LogicalPage,
        mean_is: MeanBeforeOrAfterRounding::BeforeRounding,
    };
    let address = AddressSpec {
        sequential_fraction: 0.4,
        sequential_repeats_size_and_kind: true,
        footprint: Some(GENERATOR_FOOTPRINT),
        ..AddressSpec::default()
    };
    Some(Ok(NamedWorkload {
        name: String::new(),
        statistics_source: "PGC Table III",
        published: PublishedFigures { mean_request_kib: Some(32.0), read_fraction: Some(0.4), requests_per_s: Some(1000.0 / 3.0), ..PublishedFigures::default() },
        is_stand_in: false,
        added_assumptions: "sizes are exponential and then rounded up to pages, so that requests touch 34.04 KiB on average; a sequential request repeats the size and \
               direction of the one before, as in the generator of the paper's simulator (`sequential_repeats = false`: its own are drawn); the footprint, open in the paper, is that of the \
               generator as its simulator ships it, 3427 MiB (`address.footprint = 1.0`: all of the array)"
            .into(),
        spec: synthetic(Poisson { mean_gap: MeanRequestInterval { ns: 3e6 } }.into(), 0.4, size.into(), address).into(),
    }))
}
