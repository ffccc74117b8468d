//! Generated workloads compared with their specifications.

use proptest::prelude::*;

use super::addresses::{HotCold, Zipf};
use super::arrivals::{Bursts, Closed, Fixed, MarkovModulated, Poisson, PoissonTicks};
use super::sizes::{Bimodal, Exponential, LogNormal, MeanBeforeOrAfterRounding, Neighbours, Uniform, Weighted};
use super::*;
use crate::SizeOrAddressGranularity;
use crate::quantities::{MeanRequestInterval, MeanRequestSize};
use crate::units::{Duration, Fraction, Size};
use flashraid_model::placement::StripeShape;

/// An array of 8 members of 1 GiB with 4 KiB strips.
const SPACE: ArrayProperties =
    ArrayProperties { capacity_bytes: 8 << 30, page_bytes: 4096, stripe_unit_bytes: 4096, stripe_shape: StripeShape::without_parity(8) };
const KIB: u64 = 1024;

fn base() -> SyntheticSpec {
    SyntheticSpec {
        arrivals: ArrivalSpec::poisson(1000.0),
        read_fraction: 0.4,
        read_size: SizeSpec::fixed(8 * KIB),
        write_size: SizeSpec::fixed(8 * KIB),
        addresses: AddressSpec::default(),
        high_priority_fraction: 0.3,
        writes_per_flush: None,
        fua: false,
        sequential_gap: None,
    }
}

fn draw(spec: &SyntheticSpec, n: usize) -> Vec<Request> {
    assert_eq!(spec.problems(&SPACE), []);
    let mut out = Vec::new();
    SyntheticSource::new(spec, 1, &SPACE).next_requests(&mut out, n).unwrap();
    out
}

fn share(requests: &[Request], of: impl Fn(&Request) -> bool) -> f64 {
    requests.iter().filter(|r| of(r)).count() as f64 / requests.len() as f64
}

fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, expected {expected} ± {tolerance}");
}

/// Asserts that a share p of n draws lies within four standard deviations of √(p(1−p)/n).
fn assert_share(what: &str, found: f64, expected: f64, n: usize) {
    assert_near(what, found, expected, 4.0 * (expected * (1.0 - expected) / n as f64).sqrt());
}

#[test]
fn shares_of_reads_and_priorities() {
    let n = 200_000;
    let requests = draw(&base(), n);
    assert_share("reads", share(&requests, |r| r.kind == OpKind::Read), 0.4, n);
    assert_share("high-priority writes", share(&requests, |r| r.high_priority), 0.6 * 0.3, n);
    assert!(requests.iter().all(|r| !(r.high_priority && r.kind == OpKind::Read)));
    let all = |read_fraction| share(&draw(&SyntheticSpec { read_fraction, ..base() }, 1000), |r| r.kind == OpKind::Read);
    assert_eq!((all(0.0), all(1.0)), (0.0, 1.0));
}

/// The requests stay the same except for the property that was changed.
#[test]
fn each_property_has_its_own_stream() {
    let n = 5000;
    let original = draw(&base(), n);
    let unchanged = |spec: SyntheticSpec, property: fn(&mut Request)| {
        let mut changed = draw(&spec, n);
        let mut expected = original.clone();
        assert_ne!(changed, expected);
        changed.iter_mut().chain(&mut expected).for_each(property);
        assert_eq!(changed, expected);
    };
    let bursts = ArrivalSpec::from(MarkovModulated {
        mean_gap: MeanRequestInterval { ns: 1e6 },
        rate_ratio: 9.0,
        busy_share: Fraction(0.1),
        mean_burst: MeanRequestInterval { ns: 1e8 },
    });
    unchanged(SyntheticSpec { arrivals: bursts, ..base() }, |r| r.arrival_ns = 0);
    unchanged(SyntheticSpec { high_priority_fraction: 0.7, ..base() }, |r| r.high_priority = false);
    unchanged(SyntheticSpec { read_fraction: 0.7, ..base() }, |r| (r.kind, r.high_priority) = (OpKind::Read, false));
    let address = AddressSpec { pattern: Zipf { exponent: 0.9, ..Zipf::default() }.into(), ..AddressSpec::default() };
    unchanged(SyntheticSpec { addresses: address, ..base() }, |r| r.offset_bytes = 0);
    // A size changes an address only if the request would not fit there, which never happens in this draw.
    let size = SizeSpec::from(Exponential {
        mean: MeanRequestSize { bytes: 32768.0 },
        grain: SizeOrAddressGranularity::LogicalPage,
        mean_is: MeanBeforeOrAfterRounding::BeforeRounding,
    });
    unchanged(base().with_sizes(size.clone(), size), |r| r.length_bytes = 0);
    // Drawn requests stay where they were if some requests continue others or are aimed.
    let sequential = AddressSpec { sequential_fraction: 0.3, ..AddressSpec::default() };
    let moved = draw(&SyntheticSpec { addresses: sequential, ..base() }, n).iter().zip(&original).filter(|(a, b)| a != b).count();
    assert_share("continued requests", moved as f64 / n as f64, 0.3, n);
}

#[test]
fn batches_do_not_matter() {
    let address = AddressSpec { sequential_fraction: 0.5, ..AddressSpec::default() };
    let spec = SyntheticSpec { addresses: address, ..base() }.with_sizes(
        SizeSpec::fixed(4096),
        SizeSpec::from(Bimodal { small: Size { bytes: 4096 }, large: Size { bytes: 8192 }, small_share: Fraction(0.5) }),
    );
    let expected = draw(&spec, 3000);
    let mut source = SyntheticSource::new(&spec, 1, &SPACE);
    let mut found = Vec::new();
    for n in [1, 255, 256, 257, 0, 700].into_iter().cycle() {
        found.push(source.next_request().unwrap().unwrap());
        source.next_requests(&mut found, n).unwrap();
        if found.len() > 3000 {
            break;
        }
    }
    assert_eq!(found[..3000], expected);
}

/// Golden requests are exact, so that a change of results on any machine is noticed.
#[test]
fn golden_requests() {
    let address = AddressSpec {
        pattern: Zipf { exponent: 0.9, chunk: SizeOrAddressGranularity::Bytes(64 * KIB), scatter: true }.into(),
        sequential_fraction: 0.2,
        member_skew: Some(HotMember { member: 3, request_share: Fraction(0.3) }),
        ..AddressSpec::default()
    };
    let arrivals = ArrivalSpec::from(MarkovModulated {
        mean_gap: MeanRequestInterval { ns: 1e6 },
        rate_ratio: 9.0,
        busy_share: Fraction(0.1),
        mean_burst: MeanRequestInterval { ns: 1e7 },
    });
    let size = SizeSpec::from(LogNormal { mean: MeanRequestSize { bytes: 20_000.0 }, sigma: 1.0, grain: SizeOrAddressGranularity::Sector });
    let spec = SyntheticSpec { addresses: address, arrivals, ..base() }.with_sizes(SizeSpec::fixed(4096), size);
    let requests = draw(&spec, 1000);
    let text = |r: &Request| {
        let kind = if r.kind == OpKind::Read { "R" } else { "W" };
        let priority = if r.high_priority { "!" } else { "" };
        let member = if r.contiguous_on_one_member { "@" } else { "" };
        format!("{} {}{} {kind}{priority}{member}", r.arrival_ns, r.offset_bytes, format_args!("+{}", r.length_bytes))
    };
    insta::assert_snapshot!(requests[..8].iter().chain(&requests[998..]).map(text).collect::<Vec<_>>().join("\n"));
}

mod sizes {
    use super::*;

    /// Returns mean and extremes in KiB over 200 000 draws.
    fn sizes(size: SizeSpec) -> (f64, f64, f64) {
        let n = 200_000;
        let requests = draw(&base().with_sizes(size.clone(), size), n);
        let kib = |r: &Request| r.length_bytes as f64 / 1024.0;
        let mean = requests.iter().map(kib).sum::<f64>() / n as f64;
        (mean, requests.iter().map(kib).fold(f64::MAX, f64::min), requests.iter().map(kib).fold(0.0, f64::max))
    }

    #[test]
    fn neighbours_have_the_exact_mean() {
        let (mean, min, max) = sizes(SizeSpec::from(Neighbours {
            mean: MeanRequestSize { bytes: 510.53 * 1024.0 },
            grain: SizeOrAddressGranularity::LogicalPage,
        }));
        // The standard deviation of one draw is 4·√(0.37·0.63) = 1.93 KiB.
        assert_near("mean", mean, 510.53, 0.02);
        assert_eq!((min, max), (508.0, 512.0));
        assert_eq!(
            sizes(SizeSpec::from(Neighbours { mean: MeanRequestSize { bytes: 8192.0 }, grain: SizeOrAddressGranularity::LogicalPage })),
            (8.0, 8.0, 8.0)
        );
    }

    #[test]
    fn exponential_before_and_after_rounding() {
        let of = |mean_is| {
            sizes(SizeSpec::from(Exponential {
                mean: MeanRequestSize { bytes: 32768.0 },
                grain: SizeOrAddressGranularity::LogicalPage,
                mean_is,
            }))
        };
        // The expected mean is g / (1 − e^(−g/m)) for g = 4, m = 32.
        let (mean, min, _) = of(MeanBeforeOrAfterRounding::BeforeRounding);
        assert_near("mean", mean, 34.0416, 0.3);
        assert_eq!(min, 4.0);
        assert_near("mean", of(MeanBeforeOrAfterRounding::AfterRounding).0, 32.0, 0.3);
        let smallest = SizeSpec::from(Exponential {
            mean: MeanRequestSize { bytes: 4096.0 },
            grain: SizeOrAddressGranularity::LogicalPage,
            mean_is: MeanBeforeOrAfterRounding::AfterRounding,
        });
        assert_eq!(sizes(smallest), (4.0, 4.0, 4.0));
    }

    #[test]
    fn the_other_distributions() {
        let (mean, min, max) = sizes(SizeSpec::from(Uniform {
            min: Size { bytes: 5000 },
            max: Size { bytes: 33_000 },
            grain: SizeOrAddressGranularity::LogicalPage,
        }));
        assert_near("uniform", mean, 20.0, 0.1);
        assert_eq!((min, max), (8.0, 32.0));
        let (mean, ..) =
            sizes(SizeSpec::from(Bimodal { small: Size { bytes: 4096 }, large: Size { bytes: 1 << 20 }, small_share: Fraction(0.5) }));
        assert_near("bimodal", mean, 514.0, 5.0);
        let weighted = SizeSpec::from(Weighted::from_weights(vec![(512, 1.0), (1 << 30, 0.0), (1536, 3.0)]));
        let (mean, min, max) = sizes(weighted);
        assert_near("weighted", mean, 1.25, 0.01);
        assert_eq!((min, max), (0.5, 1.5));
        // Rounding up adds half a sector on average.
        let (mean, ..) = sizes(SizeSpec::from(LogNormal {
            mean: MeanRequestSize { bytes: 20_480.0 },
            sigma: 0.8,
            grain: SizeOrAddressGranularity::Sector,
        }));
        assert_near("log-normal", mean, 20.25, 0.2);
    }

    #[test]
    fn reads_and_writes_differ() {
        let requests = draw(&base().with_sizes(SizeSpec::fixed(4096), SizeSpec::fixed(12_288)), 1000);
        assert!(requests.iter().all(|r| (r.length_bytes == 4096) == (r.kind == OpKind::Read)));
    }
}

mod arrivals {
    use super::*;

    fn times(arrivals: ArrivalSpec, n: usize) -> Vec<u64> {
        draw(&SyntheticSpec { arrivals, ..base() }, n).iter().map(|r| r.arrival_ns).collect()
    }

    /// Returns variance / mean of the number of arrivals in windows.
    fn dispersion(times: &[u64], window_ns: u64) -> f64 {
        let mut counts = vec![0.0; (times[times.len() - 1] / window_ns) as usize];
        let windows = counts.len();
        for &time in times.iter().filter(|&&time| ((time / window_ns) as usize) < windows) {
            counts[(time / window_ns) as usize] += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / windows as f64;
        counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / windows as f64 / mean
    }

    fn per_second(times: &[u64]) -> f64 {
        times.len() as f64 * 1e9 / times[times.len() - 1] as f64
    }

    #[test]
    fn poisson_rate_and_dispersion() {
        let times = times(ArrivalSpec::poisson(476.5), 400_000);
        assert_near("rate", per_second(&times), 476.5, 4.0 * 476.5 / 400_000_f64.sqrt());
        assert_near("dispersion", dispersion(&times, 100_000_000), 1.0, 0.07);
    }

    /// Gaps are whole milliseconds, whose number has the variance of its mean. A share of e^−3 of them are 0.
    #[test]
    fn poisson_ticks() {
        let n = 200_000;
        let times =
            times(ArrivalSpec::from(PoissonTicks { mean_gap: MeanRequestInterval { ns: 3e6 }, tick: MeanRequestInterval { ns: 1e6 } }), n);
        assert_near("rate", per_second(&times), 1e3 / 3.0, 4.0 * 1e3 / 3.0 / (3.0 * n as f64).sqrt());
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| gap % 1_000_000 == 0));
        assert_share("none", gaps.iter().filter(|gap| **gap == 0).count() as f64 / n as f64, libm::exp(-3.0), n);
        assert_near("dispersion", dispersion(&times, 1_000_000_000), 1.0 / 3.0, 0.05);
    }

    /// Gaps before sequential requests have their own law. The others are those of the same workload without it.
    #[test]
    fn sequential_requests_have_gaps_of_their_own() {
        let n = 20_000;
        let address = AddressSpec { sequential_fraction: 0.4, ..AddressSpec::default() };
        let spec = SyntheticSpec { addresses: address, ..base() };
        let (plain, own) = (draw(&spec, n), draw(&SyntheticSpec { sequential_gap: Some(MeanRequestInterval { ns: 1e5 }), ..spec }, n));
        let gaps = |requests: &[Request]| requests.windows(2).map(|pair| pair[1].arrival_ns - pair[0].arrival_ns).collect::<Vec<_>>();
        let (mut of_sequential, mut sequential) = (0.0, 0);
        for (pair, (plain_ns, own_ns)) in plain.windows(2).zip(gaps(&plain).into_iter().zip(gaps(&own))) {
            if pair[0].offset_bytes + pair[0].length_bytes == pair[1].offset_bytes {
                assert!(own_ns <= 100_001, "{own_ns}");
                (of_sequential, sequential) = (of_sequential + own_ns as f64, sequential + 1);
            } else {
                assert!(own_ns.abs_diff(plain_ns) <= 1);
            }
        }
        assert_near("mean", of_sequential / f64::from(sequential), 5e4, 4.0 * 1e5 / (12.0 * f64::from(sequential)).sqrt());
    }

    #[test]
    fn fixed_gaps_do_not_drift() {
        let times = times(ArrivalSpec::from(Fixed { gap: MeanRequestInterval { ns: 1e9 / 3.0 } }), 300_000);
        let late_ns = |(index, &time): (usize, &u64)| time.abs_diff((index as u64 + 1) * 1_000_000_000 / 3);
        assert!(times.iter().enumerate().map(late_ns).max() <= Some(1));
    }

    /// Inside bursts, the gap is the mean gap / factor, and the mean rate stays. Scaled, there are no idle gaps.
    #[test]
    fn bursts_keep_the_mean_rate() {
        let bursts = |mean_rate_scaled| {
            ArrivalSpec::from(Bursts {
                mean_gap: MeanRequestInterval { ns: 1e9 / 476.5 },
                factor: 100.0,
                burst_requests: 100,
                mean_rate_scaled,
            })
        };
        let with_gaps = times(bursts(false), 200_000);
        assert_near("rate", per_second(&with_gaps), 476.5, 1.0);
        let gaps: Vec<u64> = with_gaps.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let idle: Vec<usize> = (0..gaps.len()).filter(|&i| gaps[i] > 100_000_000).collect();
        assert!(idle.windows(2).all(|pair| pair[1] - pair[0] == 100), "an idle gap follows every hundredth request");
        assert_eq!(idle.len(), 1999);
        let inside = gaps.iter().filter(|&&gap| gap < 100_000_000).sum::<u64>() as f64 / (gaps.len() - idle.len()) as f64;
        assert_near("gap inside bursts", inside, 1e9 / 47_650.0, 200.0);
        let scaled = times(bursts(true), 200_000);
        assert_near("scaled rate", per_second(&scaled), 47_650.0, 430.0);
    }

    #[test]
    fn markov_modulated_rate_dispersion_and_states() {
        let spec = ArrivalSpec::from(MarkovModulated {
            mean_gap: MeanRequestInterval { ns: 1e6 },
            rate_ratio: 20.0,
            busy_share: Fraction(0.1),
            mean_burst: MeanRequestInterval { ns: 1e8 },
        });
        let times = times(spec.clone(), 1_000_000);
        let expected = spec.index_of_dispersion().unwrap();
        // 1 + 2·0.1·0.9·(6896.6 − 344.8)² / (1000 · 11.11)
        assert_near("dispersion in theory", expected, 696.4, 0.2);
        assert_near("rate", per_second(&times), 1000.0, 4.0 * (expected * 1e6_f64).sqrt() / 1000.0);
        // In windows of 10 s, with σt = 111, the index is this share of it: 1 − (1 − e^(−σt)) / (σt).
        assert_near("dispersion", dispersion(&times, 10_000_000_000), 690.0, 4.0 * 690.0 * (2.0_f64 / 100.0).sqrt());
        let busy = times.windows(2).filter(|pair| pair[1] - pair[0] < 145_000).count();
        // A gap below the mean of the busy state has probability 1 − 1/e there and 1 − e^(−1/20) in the other.
        let share = 0.1 * 6.8966 * 0.6321 + 0.9 * 0.3448 * 0.0488;
        assert_near("short gaps", busy as f64 / 1e6, share, 0.03);
    }

    #[test]
    fn closed_loop_has_depth_and_no_times() {
        let spec = SyntheticSpec { arrivals: ArrivalSpec::from(Closed { depth: 64, think: Duration { ns: 5 } }), ..base() };
        assert_eq!(SyntheticSource::new(&spec, 1, &SPACE).host_loop(), HostLoop::Closed { depth: 64, think_ns: 5 });
        assert!(draw(&spec, 600).iter().all(|r| r.arrival_ns == 0));
    }
}

mod addresses {
    use super::*;

    fn requests(address: AddressSpec, n: usize) -> Vec<Request> {
        draw(&SyntheticSpec { addresses: address, ..base() }, n)
    }

    #[test]
    fn uniform_covers_and_aligns() {
        let n = 200_000;
        let requests = requests(AddressSpec::default(), n);
        for tenth in 0..10 {
            let found = share(&requests, |r| r.offset_bytes * 10 / SPACE.capacity_bytes == tenth);
            assert_share("tenth", found, 0.1, n);
        }
        assert!(requests.iter().all(|r| r.offset_bytes % 4096 == 0));
    }

    #[test]
    fn sequential_requests_continue_the_one_before() {
        let n = 100_000;
        let requests = requests(AddressSpec { sequential_fraction: 0.4, ..AddressSpec::default() }, n);
        let continued = requests.windows(2).filter(|pair| pair[0].offset_bytes + pair[0].length_bytes == pair[1].offset_bytes).count();
        assert_share("sequential", continued as f64 / n as f64, 0.4, n);
    }

    /// Size and direction are those of the request before, as in DiskSim's generator, so that a run of sequential requests is of one kind.
    #[test]
    fn sequential_requests_repeat_size_and_direction() {
        let n = 100_000;
        let address = AddressSpec { sequential_fraction: 0.4, sequential_repeats_size_and_kind: true, ..AddressSpec::default() };
        let size = SizeSpec::from(Exponential {
            mean: MeanRequestSize { bytes: 65_536.0 },
            grain: SizeOrAddressGranularity::LogicalPage,
            mean_is: MeanBeforeOrAfterRounding::BeforeRounding,
        });
        let spec = SyntheticSpec { addresses: address, high_priority_fraction: 0.0, ..base() }.with_sizes(size.clone(), size);
        let requests = draw(&spec, n);
        let continued: Vec<&[Request]> =
            requests.windows(2).filter(|pair| pair[0].offset_bytes + pair[0].length_bytes == pair[1].offset_bytes).collect();
        assert_share("sequential", continued.len() as f64 / n as f64, 0.4, n);
        assert!(continued.iter().all(|pair| (pair[0].length_bytes, pair[0].kind) == (pair[1].length_bytes, pair[1].kind)));
        // Runs are 1 / 0.6 requests long on average, which gives as many independent draws of the direction.
        assert_near("reads", share(&requests, |r| r.kind == OpKind::Read), 0.4, 4.0 * (0.24 / (0.6 * n as f64)).sqrt());
    }

    #[test]
    fn all_sequential_walks_and_starts_anew_at_the_end() {
        let footprint = Some(Footprint::Bytes(Size { bytes: 10 * 8192 + 4096 }));
        let requests = requests(AddressSpec { sequential_fraction: 1.0, footprint, ..AddressSpec::default() }, 200);
        let continued = requests.windows(2).filter(|pair| pair[0].offset_bytes + 8192 == pair[1].offset_bytes).count();
        assert!(continued > 100, "{continued}");
        assert!(requests.iter().all(|r| r.offset_bytes + r.length_bytes <= 10 * 8192 + 4096));
    }

    #[test]
    fn zipf_gives_the_popular_chunks_their_share() {
        let (n, chunk_bytes) = (400_000, 1 << 20);
        let shares = |scatter| {
            let pattern = Zipf { exponent: 0.8, chunk: SizeOrAddressGranularity::Bytes(chunk_bytes), scatter }.into();
            let mut counts = vec![0_u32; (SPACE.capacity_bytes / chunk_bytes) as usize];
            for request in requests(AddressSpec { pattern, ..AddressSpec::default() }, n) {
                counts[(request.offset_bytes / chunk_bytes) as usize] += 1;
            }
            counts
        };
        let weight = |rank: usize| libm::pow((rank + 1) as f64, -0.8);
        let total: f64 = (0..8192).map(weight).sum();
        let tenth: f64 = (0..819).map(weight).sum::<f64>() / total;
        let in_order = shares(false);
        let hottest = |counts: &[u32]| counts[..819].iter().sum::<u32>() as f64 / n as f64;
        assert_share("first tenth", hottest(&in_order), tenth, n);
        assert_share("first chunk", f64::from(in_order[0]) / n as f64, weight(0) / total, n);
        let mut scattered = shares(true);
        assert_near("tenth by place when scattered", hottest(&scattered), 0.1, 0.03);
        scattered.sort_unstable_by(|a, b| b.cmp(a));
        // The order by counts favours chance a little.
        assert_near("tenth by popularity when scattered", hottest(&scattered), tenth, 0.01);
    }

    #[test]
    fn hot_and_cold() {
        let n = 200_000;
        let pattern = HotCold { chunk: SizeOrAddressGranularity::Bytes(1 << 20), scatter: false, ..HotCold::default() }.into();
        let requests = requests(AddressSpec { pattern, ..AddressSpec::default() }, n);
        assert_share("hot part", share(&requests, |r| r.offset_bytes < 1638 << 20), 0.8, n);
        assert_near("half of the hot part", share(&requests, |r| r.offset_bytes < 819 << 20), 0.4, 0.005);
    }

    /// Returns the member that holds a byte.
    fn member(offset_bytes: u64) -> u64 {
        offset_bytes / 4096 % 8
    }

    #[test]
    fn skew_aims_half_of_the_requests_at_a_member() {
        let n = 100_000;
        for sequential_fraction in [0.0, 0.5] {
            let member_skew = Some(HotMember { member: 5, request_share: Fraction(0.5) });
            let requests = requests(AddressSpec { member_skew, sequential_fraction, ..AddressSpec::default() }, n);
            assert_near("aimed", share(&requests, |r| r.contiguous_on_one_member), 0.5, 0.01);
            assert!(requests.iter().all(|r| !r.contiguous_on_one_member || member(r.offset_bytes) == 5));
            // Each request ends inside the part of the member.
            let rows = SPACE.capacity_bytes / SPACE.stripe_data_bytes();
            let last_row = |r: &Request| r.offset_bytes / SPACE.stripe_data_bytes() + r.length_bytes / 4096;
            assert!(requests.iter().all(|r| !r.contiguous_on_one_member || last_row(r) <= rows));
            let others = share(&requests, |r| !r.contiguous_on_one_member && member(r.offset_bytes) == 2);
            assert_near("the others are even", others, 0.5 / 8.0, 0.006);
        }
    }

    /// Parity moves a member's data through the columns. Half of the requests still find it, and reach all of its data equally.
    #[test]
    fn skew_follows_a_member_through_rotating_parity() {
        for parity in [1, 2] {
            let shape = StripeShape { data_strips: 8, parity_strips: parity, rotates_over_members: true };
            let space = ArrayProperties { stripe_shape: shape, ..SPACE };
            let member_skew = Some(HotMember { member: shape.strips_per_stripe() - 1, request_share: Fraction(0.5) });
            let spec = SyntheticSpec { addresses: AddressSpec { member_skew, ..AddressSpec::default() }, ..base() };
            let mut source = SyntheticSource::new(&spec, 1, &space);
            let mut requests = Vec::new();
            source.next_requests(&mut requests, 100_000).unwrap();
            assert_near("aimed", share(&requests, |r| r.contiguous_on_one_member), 0.5, 0.01);
            let place = |r: &Request| (r.offset_bytes / space.stripe_data_bytes(), (r.offset_bytes / 4096 % 8) as u32);
            let aimed: Vec<_> = requests.iter().filter(|r| r.contiguous_on_one_member).map(place).collect();
            assert!(aimed.iter().all(|&(stripe, column)| shape.member_of_strip(stripe, column) == shape.strips_per_stripe() - 1));
            for column in 0..8 {
                let in_column = aimed.iter().filter(|place| place.1 == column).count() as f64 / aimed.len() as f64;
                assert_near("all columns alike", in_column, 0.125, 0.01);
            }
        }
    }

    #[test]
    fn footprint_limits() {
        let far =
            |footprint| requests(AddressSpec { footprint, ..AddressSpec::default() }, 100_000).iter().map(|r| r.offset_bytes + 8192).max();
        let tenth = far(Some(Footprint::ShareOfCapacity(Fraction(0.1)))).unwrap();
        assert!(tenth <= SPACE.capacity_bytes / 10 && tenth > SPACE.capacity_bytes / 10 - (1 << 20));
        assert_eq!(far(Some(Footprint::Bytes(Size { bytes: 8192 }))), Some(8192));
        assert_eq!(far(Some(Footprint::AtMostBytes(Size { bytes: 8192 }))), Some(8192));
        assert_eq!(far(Some(Footprint::AtMostBytes(Size { bytes: u64::MAX }))), far(None));
    }
}

#[test]
fn problems_name_their_keys() {
    let keys = |spec: SyntheticSpec| spec.problems(&SPACE).iter().map(|p| p.key.clone()).collect::<Vec<_>>();
    assert!(keys(SyntheticSpec::random_writes()).is_empty());
    let spec = SyntheticSpec { read_fraction: 1.5, high_priority_fraction: f64::NAN, ..base() };
    assert_eq!(keys(spec), ["read_fraction", "high_priority_fraction"]);
    let closed = ArrivalSpec::from(Closed { depth: 1, think: Duration { ns: 0 } });
    assert_eq!(
        keys(SyntheticSpec { arrivals: closed, sequential_gap: Some(MeanRequestInterval { ns: 1.0 }), ..base() }),
        ["sequential_gap"]
    );
    assert_eq!(keys(SyntheticSpec { sequential_gap: Some(MeanRequestInterval { ns: 0.0 }), ..base() }), ["sequential_gap"]);
    let arrivals = ArrivalSpec::from(PoissonTicks { mean_gap: MeanRequestInterval { ns: 1e9 }, tick: MeanRequestInterval { ns: 1e6 } });
    assert_eq!(keys(SyntheticSpec { arrivals, ..base() }), ["arrivals.tick"]);
    let arrivals =
        ArrivalSpec::from(Bursts { mean_gap: MeanRequestInterval { ns: 0.0 }, factor: 0.5, burst_requests: 0, mean_rate_scaled: false });
    assert_eq!(keys(SyntheticSpec { arrivals, ..base() }), ["arrivals.mean_gap", "arrivals.factor", "arrivals.burst_requests"]);
    let spec = base().with_sizes(SizeSpec::fixed(0), SizeSpec::from(Weighted::from_weights(vec![])));
    assert_eq!(keys(spec), ["read_size", "write_size.sizes"]);
    let address = AddressSpec {
        pattern: HotCold {
            request_share: Fraction(2.0),
            space_share: Fraction(0.5),
            chunk: SizeOrAddressGranularity::Bytes(1),
            scatter: true,
        }
        .into(),
        sequential_fraction: -0.1,
        member_skew: Some(HotMember { member: 8, request_share: Fraction(0.5) }),
        ..AddressSpec::default()
    };
    let expected = ["address.sequential_fraction", "address.request_share", "address.chunk", "address.member_skew.member"];
    assert_eq!(keys(SyntheticSpec { addresses: address, ..base() }), expected);
    let of_bytes = |bytes| Footprint::Bytes(Size { bytes });
    for footprint in
        [of_bytes(0), of_bytes(u64::MAX), Footprint::ShareOfCapacity(Fraction(1.01)), Footprint::ShareOfCapacity(Fraction(f64::NAN))]
    {
        let address = AddressSpec { footprint: Some(footprint), ..AddressSpec::default() };
        assert!(keys(SyntheticSpec { addresses: address, ..base() }).contains(&"address.footprint".to_owned()), "{footprint:?}");
    }
}

fn any_grain() -> impl Strategy<Value = SizeOrAddressGranularity> {
    prop_oneof![
        Just(SizeOrAddressGranularity::Sector),
        Just(SizeOrAddressGranularity::LogicalPage),
        (1_u64..20_000).prop_map(SizeOrAddressGranularity::Bytes)
    ]
}

fn any_size() -> impl Strategy<Value = SizeSpec> {
    let mean = 1.0..200_000.0;
    prop_oneof![
        (1_u64..100_000).prop_map(SizeSpec::fixed),
        (mean.clone(), any_grain())
            .prop_map(|(mean_bytes, grain)| SizeSpec::from(Neighbours { mean: MeanRequestSize { bytes: mean_bytes }, grain })),
        (mean.clone(), any_grain(), any::<bool>()).prop_map(|(mean_bytes, grain, before)| {
            let mean_is = if before { MeanBeforeOrAfterRounding::BeforeRounding } else { MeanBeforeOrAfterRounding::AfterRounding };
            SizeSpec::from(Exponential { mean: MeanRequestSize { bytes: mean_bytes }, grain, mean_is })
        }),
        (1_u64..50_000, 1_u64..100_000, any_grain()).prop_map(|(min_bytes, more, grain)| SizeSpec::from(Uniform {
            min: Size { bytes: min_bytes },
            max: Size { bytes: min_bytes + more },
            grain
        })),
        (1_u64..9999, 1_u64..99_999, 0.0..=1.0).prop_map(|(small_bytes, large_bytes, small_share)| SizeSpec::from(Bimodal {
            small: Size { bytes: small_bytes },
            large: Size { bytes: large_bytes },
            small_share: Fraction(small_share)
        })),
        prop::collection::vec((1_u64..100_000, 0.0..5.0), 1..5).prop_map(|sizes| SizeSpec::from(Weighted::from_weights(sizes))),
        (mean, 0.0..3.0, any_grain()).prop_map(|(mean_bytes, sigma, grain)| SizeSpec::from(LogNormal {
            mean: MeanRequestSize { bytes: mean_bytes },
            sigma,
            grain
        })),
    ]
}

fn any_arrivals() -> impl Strategy<Value = ArrivalSpec> {
    let gap = 1.0..1e9;
    prop_oneof![
        gap.clone().prop_map(|mean_gap_ns| ArrivalSpec::from(Poisson { mean_gap: MeanRequestInterval { ns: mean_gap_ns } })),
        (gap.clone(), 0.002..10.0).prop_map(|(mean_gap_ns, tick)| ArrivalSpec::from(PoissonTicks {
            mean_gap: MeanRequestInterval { ns: mean_gap_ns },
            tick: MeanRequestInterval { ns: mean_gap_ns * tick }
        })),
        gap.clone().prop_map(|gap_ns| ArrivalSpec::from(Fixed { gap: MeanRequestInterval { ns: gap_ns } })),
        (gap.clone(), 1.0..1000.0, 1_u64..500, any::<bool>()).prop_map(|(mean_gap_ns, factor, burst_requests, mean_rate_scaled)| {
            ArrivalSpec::from(Bursts { mean_gap: MeanRequestInterval { ns: mean_gap_ns }, factor, burst_requests, mean_rate_scaled })
        }),
        (gap, 1.0..1e4, 0.001..0.999, 1e4..1e9).prop_map(|(mean_gap_ns, rate_ratio, busy_share, mean_burst_ns)| {
            ArrivalSpec::from(MarkovModulated {
                mean_gap: MeanRequestInterval { ns: mean_gap_ns },
                rate_ratio,
                busy_share: Fraction(busy_share),
                mean_burst: MeanRequestInterval { ns: mean_burst_ns },
            })
        }),
    ]
}

fn any_pattern() -> impl Strategy<Value = AddressDistribution> {
    let chunk = || (1_u64..100_000).prop_map(SizeOrAddressGranularity::Bytes);
    prop_oneof![
        Just(AddressDistribution::default()),
        (0.0..3.0, chunk(), any::<bool>()).prop_map(|(exponent, chunk, scatter)| Zipf { exponent, chunk, scatter }.into()),
        (0.0..=1.0, 0.0..=1.0, chunk(), any::<bool>()).prop_map(|(requests, space, chunk, scatter)| {
            HotCold { request_share: Fraction(requests), space_share: Fraction(space), chunk, scatter }.into()
        }),
    ]
}

fn any_address() -> impl Strategy<Value = AddressSpec> {
    let aimed = (0_u32..4, 0.0..=1.0).prop_map(|(member, share)| HotMember { member, request_share: Fraction(share) });
    let footprint = prop::option::of(prop_oneof![
        (1_u64..1 << 22).prop_map(|bytes| Footprint::Bytes(Size { bytes })),
        (1_u64..u64::MAX).prop_map(|bytes| Footprint::AtMostBytes(Size { bytes })),
        (0.001..=1.0).prop_map(|share| Footprint::ShareOfCapacity(Fraction(share)))
    ]);
    (any_pattern(), 0.0..=1.0, any::<bool>(), prop::option::of(aimed), footprint, any_grain()).prop_map(
        |(pattern, sequential_fraction, sequential_repeats, member_skew, footprint, align)| AddressSpec {
            pattern,
            sequential_fraction,
            sequential_repeats_size_and_kind: sequential_repeats,
            member_skew,
            footprint,
            alignment: align,
            unused_parameters: Vec::new(),
        },
    )
}

proptest! {
    /// Specifications without problems are generated without a panic, in order, inside the footprint, and never empty.
    #[test]
    fn requests_are_sound(
        (read_size, write_size) in (any_size(), any_size()),
        arrivals in any_arrivals(),
        address in any_address(),
        (columns, parity, rotates) in (1_u32..5, 0_u32..3, any::<bool>()),
        (unit_pages, stripes) in (1_u64..33, 1_u64..200),
        sequential_gap_ns in prop::option::of(1.0..1e9),
        seed in any::<u64>(),
    ) {
        let stripe_unit_bytes = unit_pages * 4096;
        let shape = StripeShape { data_strips: columns, parity_strips: parity, rotates_over_members: rotates && parity > 0 };
        let capacity_bytes = stripe_unit_bytes * u64::from(columns) * stripes;
        let space = ArrayProperties { capacity_bytes, page_bytes: 4096, stripe_unit_bytes, stripe_shape: shape };
        let spec = SyntheticSpec { arrivals, read_fraction: 0.5, read_size, write_size, addresses: address, high_priority_fraction: 0.5, writes_per_flush: None, fua: false, sequential_gap: sequential_gap_ns.map(|ns| MeanRequestInterval { ns }) };
        prop_assume!(spec.problems(&space).is_empty());
        let footprint_bytes = spec.addresses.footprint_bytes(&space);
        let mut source = SyntheticSource::new(&spec, seed, &space);
        let mut before_ns = 0;
        for _ in 0..600 {
            let request = source.next_request().unwrap().unwrap();
            prop_assert!(request.length_bytes > 0);
            prop_assert!(request.arrival_ns >= before_ns);
            before_ns = request.arrival_ns;
            if request.contiguous_on_one_member {
                // This is the end in the addresses of the member's own data.
                let member = spec.addresses.member_skew.unwrap().member;
                let (stripe, strip) = (request.offset_bytes / space.stripe_data_bytes(), request.offset_bytes / stripe_unit_bytes);
                let start = shape.count_data_strips_of_member(member, stripe) * stripe_unit_bytes + request.offset_bytes % stripe_unit_bytes;
                let end = start + request.length_bytes;
                prop_assert!(end <= shape.count_data_strips_of_member(member, footprint_bytes / space.stripe_data_bytes()) * stripe_unit_bytes);
                prop_assert_eq!(shape.member_of_strip(stripe, (strip % u64::from(columns)) as u32), member);
            } else {
                prop_assert!(request.offset_bytes + request.length_bytes <= footprint_bytes);
            }
        }
    }
}
