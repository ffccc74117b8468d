//! What the stand-ins take from real traces: burstiness, popularity of addresses, sequentiality and the mix of sizes.
//!
//! Measured once on excerpts (their names in the comments below), and since then plain numbers. How:
//!
//! * **Burstiness** is that of a two-state Markov-modulated Poisson process, whose index of dispersion of counts (variance / mean of the number of
//!   arrivals) in windows of length t is `1 + A·(1 − (1 − e^(−σt)) / (σt))`. A and σ are solved from the excerpt's index at two lengths;
//!   the share of busy time from the share of requests in windows with more than twice the mean number. Rate ratio, share of busy time and mean
//!   burst length follow and are kept when the stand-in has another mean rate than the excerpt, so that bursts last as long and hold more.
//! * **Popularity** is Zipf's: the exponent is the one with which the most popular tenth of the 4 KiB pages that the excerpt writes gets the share of
//!   its writes that it has. Below 1 this share is nearly the same for any number of pages (a tenth gets 0.1^(1−s)), so the
//!   exponent carries over to other footprints. Popular pages are scattered over the array.
//! * **Footprint** is the distinct 4 KiB pages that the excerpt touches, or the whole array if that is smaller. It decides how full the victims of
//!   collection are, more than anything else here. Where the excerpt is too short to show it, or comes from a much smaller system, it is the whole array.
//! * **Sequential** is PGC's definition: a request starts where the one before, on the same device, ended.
//! * **Sizes** are the most frequent sizes of the excerpt with their weights tilted exponentially (`w·e^(θ·size)`) until the mean is the published
//!   one: the distribution nearest to the excerpt's in relative entropy that has this mean.

use super::KIB;
use crate::Grain;
use crate::quantities::Gap;
use crate::synthetic::addresses::{Footprint, Zipf};
use crate::synthetic::arrivals::MarkovModulated;
use crate::synthetic::sizes::Weighted;
use crate::synthetic::{AddressSpec, ArrivalSpec, SizeSpec};
use crate::units::{Fraction, Size};

/// The busy and quiet states of an excerpt.
#[derive(Clone, Copy)]
pub(super) struct Bursts {
    rate_ratio: f64,
    busy_share: f64,
    mean_burst_s: f64,
}

impl Bursts {
    /// Arrivals with these bursts at another mean rate.
    pub(super) fn at(self, requests_per_s: f64) -> ArrivalSpec {
        ArrivalSpec::from(MarkovModulated {
            mean_gap: Gap::at(requests_per_s),
            rate_ratio: self.rate_ratio,
            busy_share: Fraction(self.busy_share),
            mean_burst: Gap { ns: self.mean_burst_s * 1e9 },
        })
    }
}

/// Financial1, first 10 000 requests (260 s): index of dispersion 21.6 at 1 s and 57.4 at 10 s; 27 % of requests in busy windows of 1 s.
pub(super) const FINANCIAL1_BURSTS: Bursts = Bursts { rate_ratio: 5.3, busy_share: 0.066, mean_burst_s: 1.29 };
/// MSR Cambridge hm_0, a window of 10 000 requests (243 s): 235 at 1 s and 263 at 10 s; 80 % in busy windows of 0.1 s.
pub(super) const HM_0_BURSTS: Bursts = Bursts { rate_ratio: 169.0, busy_share: 0.023, mean_burst_s: 0.122 };
/// Microsoft production servers, developer tools release (300 s, 127 043 requests): 77.5 at 1 s and 450 at 10 s; 5.7 % in busy windows of 1 s.
pub(super) const DTRS_BURSTS: Bursts = Bursts { rate_ratio: 5.4, busy_share: 0.011, mean_burst_s: 4.68 };
/// blkreplay's linux-webserver-2 without duplicates (1 h, 173 849 requests): 181 at 1 s and 287 at 10 s; 73 % in busy windows of 0.1 s.
pub(super) const WEBSERVER_BURSTS: Bursts = Bursts { rate_ratio: 37.0, busy_share: 0.068, mean_burst_s: 0.481 };
/// FIU homes (69 s, 1000 requests): 104 at 0.1 s and 109 at 1 s; 99.9 % in busy windows of 0.1 s. The solution's ratio is larger still, with next to
/// nothing between bursts; 10 000 leaves 7 % of the requests there.
pub(super) const FIU_HOMES_BURSTS: Bursts = Bursts { rate_ratio: 10_000.0, busy_share: 0.0013, mean_burst_s: 0.005 };

/// Scattered pages by popularity, all over the array.
fn popular(exponent: f64, sequential_fraction: f64, align: Grain) -> AddressSpec {
    let pattern = Zipf { exponent, ..Zipf::default() }.into();
    AddressSpec { pattern, sequential_fraction, align, ..AddressSpec::default() }
}

/// The same in the first mebibytes of the array.
fn popular_within(footprint_mib: u64, exponent: f64, sequential_fraction: f64, align: Grain) -> AddressSpec {
    AddressSpec { footprint: Some(Footprint::AtMost(Size { bytes: footprint_mib << 20 })), ..popular(exponent, sequential_fraction, align) }
}

/// Microsoft production servers, developer tools release: all requests together touch 5211 MiB.
pub(super) const DTRS_FOOTPRINT: Footprint = Footprint::AtMost(Size { bytes: 5211 << 20 });

/// Financial1: the most popular tenth of pages gets 48 % of writes; 45 % sequential; 10 % of the addresses on a page boundary, so sectors.
/// The first 50 000 requests touch 169 MiB.
pub(super) fn financial1_addresses() -> AddressSpec {
    popular_within(169, 0.73, 0.45, Grain::Sector)
}

/// TPC-C (7 000 requests in 0.14 s, hardly a page twice): 1 % sequential, 13 % of the addresses on a page boundary as by chance, so sectors. It is too
/// short to show popularity and footprint, which are those of blkreplay's linux-mysql (a tenth gets 56 % of 73 608 writes; 584 MiB), a database with
/// many writes.
pub(super) fn tpc_c_addresses() -> AddressSpec {
    popular_within(584, 0.78, 0.01, Grain::Sector)
}

/// Developer tools release: a tenth gets 20 % of reads; 20 % sequential; all on a page boundary.
pub(super) fn dtrs_addresses() -> AddressSpec {
    AddressSpec { footprint: Some(DTRS_FOOTPRINT), ..popular(0.31, 0.2, Grain::Page) }
}

/// linux-webserver-2: a tenth gets 61 % of writes; 7 % sequential; 87 % on a page boundary; 1999 MiB touched.
pub(super) fn webserver_addresses() -> AddressSpec {
    popular_within(1999, 0.83, 0.066, Grain::Page)
}

/// hm_0: a tenth gets 80 % of the volume's first two million writes, which go to 167 301 places: 654 MiB; 3 % sequential in the window above; 82 % on
/// a page boundary.
pub(super) fn hm_0_addresses() -> AddressSpec {
    popular_within(654, 0.99, 0.028, Grain::Page)
}

/// FIU homes: a tenth gets 32 % of writes; 22 % sequential; all on a page boundary. A thousand requests are too few for a footprint.
pub(super) fn fiu_homes_addresses() -> AddressSpec {
    popular(0.55, 0.22, Grain::Page)
}

/// Sizes in KiB with weights as a distribution.
pub(super) fn weighted(sizes_kib: &[(f64, f64)]) -> SizeSpec {
    Weighted::of(sizes_kib.iter().map(|&(kib, weight)| ((kib * KIB as f64) as u64, weight))).into()
}

/// Financial1, all requests, tilted to 7.09 KiB.
pub(super) const FINANCIAL1_7_09: &[(f64, f64)] =
    &[(0.5, 0.1317), (1.0, 0.1169), (1.5, 0.0194), (2.5, 0.0286), (3.0, 0.2018), (3.5, 0.0775), (8.0, 0.3606), (48.0, 0.0634)];
/// Financial1, writes, tilted to 8.44 KiB.
pub(super) const FINANCIAL1_WRITES_8_44: &[(f64, f64)] =
    &[(0.5, 0.1267), (1.0, 0.1695), (1.5, 0.0324), (2.5, 0.0438), (3.0, 0.309), (3.5, 0.1345), (8.0, 0.0546), (48.0, 0.1295)];
/// Financial1, reads, tilted to 4.05 KiB.
pub(super) const FINANCIAL1_READS_4_05: &[(f64, f64)] =
    &[(0.5, 0.3437), (1.0, 0.099), (1.5, 0.0033), (2.0, 0.0185), (2.5, 0.013), (3.0, 0.0849), (4.0, 0.0126), (8.0, 0.4249)];
/// TPC-C, all requests, tilted to 7.06 KiB.
pub(super) const TPC_C_7_06: &[(f64, f64)] =
    &[(0.5, 0.0628), (1.5, 0.0336), (2.0, 0.023), (2.5, 0.0155), (4.0, 0.0071), (8.0, 0.8577), (16.0, 0.0002)];
/// hplajw, all requests, tilted to 7.06 KiB.
pub(super) const HPLAJW_7_06: &[(f64, f64)] =
    &[(1.0, 0.0381), (2.0, 0.0845), (3.0, 0.0027), (4.0, 0.0259), (5.0, 0.003), (6.0, 0.0185), (7.0, 0.0031), (8.0, 0.8242)];
/// hplajw, writes, tilted to 6.05 KiB.
pub(super) const HPLAJW_WRITES_6_05: &[(f64, f64)] =
    &[(1.0, 0.1316), (2.0, 0.1629), (3.0, 0.0029), (4.0, 0.0049), (5.0, 0.0023), (6.0, 0.0046), (7.0, 0.0016), (8.0, 0.6892)];
/// hplajw, reads, tilted to 7.96 KiB.
pub(super) const HPLAJW_READS_7_96: &[(f64, f64)] =
    &[(2.0, 0.0004), (4.0, 0.002), (5.0, 0.0005), (6.0, 0.0119), (7.0, 0.0041), (8.0, 0.981)];
/// linux-webserver-2, all requests, tilted to 9.49 KiB.
pub(super) const WEBSERVER_9_49: &[(f64, f64)] =
    &[(0.5, 0.0419), (4.0, 0.5203), (8.0, 0.2936), (12.0, 0.0402), (16.0, 0.0414), (32.0, 0.0285), (64.0, 0.0217), (128.0, 0.0124)];
/// Developer tools release, reads, tilted to 28.37 KiB.
pub(super) const DTRS_READS_28_37: &[(f64, f64)] =
    &[(0.5, 0.0303), (4.0, 0.4733), (8.0, 0.0185), (16.0, 0.0104), (28.0, 0.0139), (32.0, 0.0998), (60.0, 0.0196), (64.0, 0.3342)];
/// Developer tools release, reads, tilted to 37.35 KiB.
pub(super) const DTRS_READS_37_35: &[(f64, f64)] =
    &[(0.5, 0.0209), (4.0, 0.3398), (8.0, 0.0139), (16.0, 0.0085), (28.0, 0.0131), (32.0, 0.0989), (60.0, 0.0268), (64.0, 0.478)];
/// Developer tools release, writes, tilted to 10.19 KiB.
pub(super) const DTRS_WRITES_10_19: &[(f64, f64)] =
    &[(4.0, 0.7849), (8.0, 0.0802), (12.0, 0.0277), (16.0, 0.0109), (20.0, 0.0034), (24.0, 0.0026), (48.0, 0.0004), (64.0, 0.0899)];

#[cfg(test)]
mod tests {
    use super::*;

    /// The index of dispersion of counts in windows of `window_s`, by the formula above.
    fn dispersion(bursts: Bursts, requests_per_s: f64, window_s: f64) -> f64 {
        let limit = bursts.at(requests_per_s).dispersion().unwrap() - 1.0;
        let sigma_t = window_s / (bursts.mean_burst_s * (1.0 - bursts.busy_share));
        1.0 + limit * (1.0 - (1.0 - libm::exp(-sigma_t)) / sigma_t)
    }

    /// The rounded parameters still give the indices that were measured, at the rate of the excerpt.
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
