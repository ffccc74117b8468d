//! Properties that stand-ins take from real traces: burstiness, popularity of addresses, sequentiality and the mix of sizes.
//!
//! They were measured once on excerpts, whose names stand in the comments below, and are plain numbers since then:
//!
//! - **Burstiness** is that of a two-state Markov-modulated Poisson process. Its index of dispersion of counts (variance / mean of the
//!   number of arrivals) in windows of length t is `1 + A·(1 − (1 − e^(−σt)) / (σt))`. A and σ are solved from the excerpt's index at two
//!   lengths. The share of busy time follows from the requests in windows with more than twice the mean number. These give rate ratio,
//!   share of busy time and mean burst length. They are kept if the stand-in has another mean rate, so that bursts last as long and hold
//!   more.
//! - **Popularity** follows Zipf's law. The exponent is chosen so that the most popular tenth of the written 4 KiB pages gets its share of
//!   the excerpt's writes. Below 1, this share hardly depends on the number of pages (a tenth gets 0.1^(1−s)), so the exponent holds for
//!   other footprints. Popular pages are scattered over the array.
//! - **Footprint** is the distinct 4 KiB pages that the excerpt touches, or the whole array if that is smaller. It decides how full the
//!   victims of collection are, more than anything else here. If the excerpt is too short to show it, or comes from a much smaller system,
//!   it is the whole array.
//! - **Sequential** is PGC's definition: a request starts where the request before, on the same device, ended.
//! - **Sizes** are the most frequent sizes of the excerpt. Their weights are tilted exponentially (`w·e^(θ·size)`) until the mean is the
//!   published one. This is the distribution with this mean that is nearest to the excerpt's in relative entropy.

use super::KIB;
use crate::SizeOrAddressGranularity;
use crate::quantities::MeanRequestInterval;
use crate::synthetic::addresses::{Footprint, Zipf};
use crate::synthetic::arrivals::MarkovModulated;
use crate::synthetic::sizes::Weighted;
use crate::synthetic::{AddressSpec, ArrivalSpec, SizeSpec};
use crate::units::{Fraction, Size};

/// Busy and quiet states that describe the burstiness of an excerpt.
#[derive(Clone, Copy)]
pub(super) struct Bursts {
    rate_ratio: f64,
    busy_share: f64,
    mean_burst_s: f64,
}

impl Bursts {
    /// Returns an arrival process with these bursts at another mean rate.
    pub(super) fn at(self, requests_per_s: f64) -> ArrivalSpec {
        ArrivalSpec::from(MarkovModulated {
            mean_gap: MeanRequestInterval::from_rate(requests_per_s),
            rate_ratio: self.rate_ratio,
            busy_share: Fraction(self.busy_share),
            mean_burst: MeanRequestInterval { ns: self.mean_burst_s * 1e9 },
        })
    }
}

/// Bursts of Financial1, first 10 000 requests (260 s). The index of dispersion is 21.6 at 1 s and 57.4 at 10 s; 27 % of requests lie in
/// busy windows of 1 s.
pub(super) const FINANCIAL1_BURSTS: Bursts = Bursts { rate_ratio: 5.3, busy_share: 0.066, mean_burst_s: 1.29 };
/// Bursts of MSR Cambridge hm_0, a window of 10 000 requests (243 s). The index is 235 at 1 s and 263 at 10 s; 80 % lie in busy windows of
/// 0.1 s.
pub(super) const HM_0_BURSTS: Bursts = Bursts { rate_ratio: 169.0, busy_share: 0.023, mean_burst_s: 0.122 };
/// Bursts of Microsoft production servers, developer tools release (300 s, 127 043 requests). The index is 77.5 at 1 s and 450 at 10 s; 5.7
/// % lie in busy windows of 1 s.
pub(super) const DTRS_BURSTS: Bursts = Bursts { rate_ratio: 5.4, busy_share: 0.011, mean_burst_s: 4.68 };
/// Bursts of blkreplay's linux-webserver-2 without duplicates (1 h, 173 849 requests). The index is 181 at 1 s and 287 at 10 s; 73 % lie in
/// busy windows of 0.1 s.
pub(super) const WEBSERVER_BURSTS: Bursts = Bursts { rate_ratio: 37.0, busy_share: 0.068, mean_burst_s: 0.481 };
/// Bursts of FIU homes (69 s, 1000 requests). The index is 104 at 0.1 s and 109 at 1 s; 99.9 % lie in busy windows of 0.1 s.
///
/// The ratio that solves the equations is larger still, with almost no requests between bursts. 10 000 leaves 7 % of the requests there.
pub(super) const FIU_HOMES_BURSTS: Bursts = Bursts { rate_ratio: 10_000.0, busy_share: 0.0013, mean_burst_s: 0.005 };

/// Returns addresses whose popularity follows Zipf's law with this `exponent`, scattered over the whole array.
fn popular(exponent: f64, sequential_fraction: f64, align: SizeOrAddressGranularity) -> AddressSpec {
    let pattern = Zipf { exponent, ..Zipf::default() }.into();
    AddressSpec { pattern, sequential_fraction, alignment: align, ..AddressSpec::default() }
}

/// Returns addresses whose popularity follows Zipf's law with this `exponent`, scattered over the first mebibytes of the array.
fn popular_within(footprint_mib: u64, exponent: f64, sequential_fraction: f64, align: SizeOrAddressGranularity) -> AddressSpec {
    AddressSpec {
        footprint: Some(Footprint::AtMostBytes(Size { bytes: footprint_mib << 20 })),
        ..popular(exponent, sequential_fraction, align)
    }
}

/// Footprint of Microsoft production servers, developer tools release: all requests together touch 5211 MiB.
pub(super) const DTRS_FOOTPRINT: Footprint = Footprint::AtMostBytes(Size { bytes: 5211 << 20 });

/// Addresses of Financial1: the most popular tenth of pages gets 48 % of writes, and 45 % are sequential. Only 10 % of the addresses lie on
/// a page boundary, so they are sectors. The first 50 000 requests touch 169 MiB.
pub(super) fn financial1_addresses() -> AddressSpec {
    popular_within(169, 0.73, 0.45, SizeOrAddressGranularity::Sector)
}

/// Addresses of TPC-C (7 000 requests in 0.14 s, hardly a page twice): 1 % are sequential. 13 % lie on a page boundary, as by chance, so
/// they are sectors.
///
/// The excerpt is too short to show popularity and footprint. These are those of blkreplay's linux-mysql, a database with many writes: a
/// tenth gets 56 % of 73 608 writes, and they touch 584 MiB.
pub(super) fn tpc_c_addresses() -> AddressSpec {
    popular_within(584, 0.78, 0.01, SizeOrAddressGranularity::Sector)
}

/// Addresses of the developer tools release: a tenth gets 20 % of reads, 20 % are sequential, and all lie on a page boundary.
pub(super) fn dtrs_addresses() -> AddressSpec {
    AddressSpec { footprint: Some(DTRS_FOOTPRINT), ..popular(0.31, 0.2, SizeOrAddressGranularity::LogicalPage) }
}

/// Addresses of linux-webserver-2: a tenth gets 61 % of writes, 7 % are sequential, 87 % lie on a page boundary, and 1999 MiB are touched.
pub(super) fn webserver_addresses() -> AddressSpec {
    popular_within(1999, 0.83, 0.066, SizeOrAddressGranularity::LogicalPage)
}

/// Addresses of hm_0: a tenth gets 80 % of the volume's first two million writes, which go to 167 301 places (654 MiB). In the window
/// above, 3 % are sequential, and 82 % lie on a page boundary.
pub(super) fn hm_0_addresses() -> AddressSpec {
    popular_within(654, 0.99, 0.028, SizeOrAddressGranularity::LogicalPage)
}

/// Addresses of FIU homes: a tenth gets 32 % of writes, 22 % are sequential, and all lie on a page boundary. A thousand requests are too
/// few for a footprint.
pub(super) fn fiu_homes_addresses() -> AddressSpec {
    popular(0.55, 0.22, SizeOrAddressGranularity::LogicalPage)
}

/// Returns a distribution of sizes, given in KiB, with their weights.
pub(super) fn weighted(sizes_kib: &[(f64, f64)]) -> SizeSpec {
    Weighted::from_weights(sizes_kib.iter().map(|&(kib, weight)| ((kib * KIB as f64) as u64, weight))).into()
}

/// Sizes of all requests of Financial1, with weights tilted to a mean of 7.09 KiB (see above).
pub(super) const FINANCIAL1_7_09: &[(f64, f64)] =
    &[(0.5, 0.1317), (1.0, 0.1169), (1.5, 0.0194), (2.5, 0.0286), (3.0, 0.2018), (3.5, 0.0775), (8.0, 0.3606), (48.0, 0.0634)];
/// Sizes of the writes of Financial1, with weights tilted to a mean of 8.44 KiB (see above).
pub(super) const FINANCIAL1_WRITES_8_44: &[(f64, f64)] =
    &[(0.5, 0.1267), (1.0, 0.1695), (1.5, 0.0324), (2.5, 0.0438), (3.0, 0.309), (3.5, 0.1345), (8.0, 0.0546), (48.0, 0.1295)];
/// Sizes of the reads of Financial1, with weights tilted to a mean of 4.05 KiB (see above).
pub(super) const FINANCIAL1_READS_4_05: &[(f64, f64)] =
    &[(0.5, 0.3437), (1.0, 0.099), (1.5, 0.0033), (2.0, 0.0185), (2.5, 0.013), (3.0, 0.0849), (4.0, 0.0126), (8.0, 0.4249)];
/// Sizes of all requests of TPC-C, with weights tilted to a mean of 7.06 KiB (see above).
pub(super) const TPC_C_7_06: &[(f64, f64)] =
    &[(0.5, 0.0628), (1.5, 0.0336), (2.0, 0.023), (2.5, 0.0155), (4.0, 0.0071), (8.0, 0.8577), (16.0, 0.0002)];
/// Sizes of all requests of hplajw, with weights tilted to a mean of 7.06 KiB (see above).
pub(super) const HPLAJW_7_06: &[(f64, f64)] =
    &[(1.0, 0.0381), (2.0, 0.0845), (3.0, 0.0027), (4.0, 0.0259), (5.0, 0.003), (6.0, 0.0185), (7.0, 0.0031), (8.0, 0.8242)];
/// Sizes of the writes of hplajw, with weights tilted to a mean of 6.05 KiB (see above).
pub(super) const HPLAJW_WRITES_6_05: &[(f64, f64)] =
    &[(1.0, 0.1316), (2.0, 0.1629), (3.0, 0.0029), (4.0, 0.0049), (5.0, 0.0023), (6.0, 0.0046), (7.0, 0.0016), (8.0, 0.6892)];
/// Sizes of the reads of hplajw, with weights tilted to a mean of 7.96 KiB (see above).
pub(super) const HPLAJW_READS_7_96: &[(f64, f64)] =
    &[(2.0, 0.0004), (4.0, 0.002), (5.0, 0.0005), (6.0, 0.0119), (7.0, 0.0041), (8.0, 0.981)];
/// Sizes of all requests of linux-webserver-2, with weights tilted to a mean of 9.49 KiB (see above).
pub(super) const WEBSERVER_9_49: &[(f64, f64)] =
    &[(0.5, 0.0419), (4.0, 0.5203), (8.0, 0.2936), (12.0, 0.0402), (16.0, 0.0414), (32.0, 0.0285), (64.0, 0.0217), (128.0, 0.0124)];
/// Sizes of the reads of the developer tools release, with weights tilted to a mean of 28.37 KiB (see above).
pub(super) const DTRS_READS_28_37: &[(f64, f64)] =
    &[(0.5, 0.0303), (4.0, 0.4733), (8.0, 0.0185), (16.0, 0.0104), (28.0, 0.0139), (32.0, 0.0998), (60.0, 0.0196), (64.0, 0.3342)];
/// Sizes of the reads of the developer tools release, with weights tilted to a mean of 37.35 KiB (see above).
pub(super) const DTRS_READS_37_35: &[(f64, f64)] =
    &[(0.5, 0.0209), (4.0, 0.3398), (8.0, 0.0139), (16.0, 0.0085), (28.0, 0.0131), (32.0, 0.0989), (60.0, 0.0268), (64.0, 0.478)];
/// Sizes of the writes of the developer tools release, with weights tilted to a mean of 10.19 KiB (see above).
pub(super) const DTRS_WRITES_10_19: &[(f64, f64)] =
    &[(4.0, 0.7849), (8.0, 0.0802), (12.0, 0.0277), (16.0, 0.0109), (20.0, 0.0034), (24.0, 0.0026), (48.0, 0.0004), (64.0, 0.0899)];

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the index of dispersion of counts in windows of `window_s`, by the formula above.
    fn dispersion(bursts: Bursts, requests_per_s: f64, window_s: f64) -> f64 {
        let limit = bursts.at(requests_per_s).index_of_dispersion().unwrap() - 1.0;
        let sigma_t = window_s / (bursts.mean_burst_s * (1.0 - bursts.busy_share));
        1.0 + limit * (1.0 - (1.0 - libm::exp(-sigma_t)) / sigma_t)
    }

    /// The rounded parameters still give the measured indices, at the rate of the excerpt.
    #[test]
    fn bursts_are_those_of_the_excerpts() {
        let measured = [
            (FINANCIAL1_BURSTS, 38.52, [(1.0, 21.58), (10.0, 57.37)]),
            (HM_0_BURSTS, 41.17, [(1.0, 234.5), (10.0, 263.1)]),
            (DTRS_BURSTS, 423.5, [(1.0, 77.5), (10.0, 449.6)]),
            (WEBSERVER_BURSTS, 48.28, [(1.0, 180.6), (10.0, 287.1)]),
        ];
        for (bursts, requests_per_s, indices) in measured {
            for (window_s, index) in indices {
                let found = dispersion(bursts, requests_per_s, window_s);
                assert!((found / index - 1.0).abs() < 0.03, "{requests_per_s}/s, {window_s} s: {found} for {index}");
            }
        }
    }
}
