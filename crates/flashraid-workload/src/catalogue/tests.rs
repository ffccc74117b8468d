//! The named workloads compared with their published statistics.

use super::*;
use crate::{ArrayProperties, HostLoop, OpKind, Request, open_workload};
use flashraid_model::placement::StripeShape;

/// The address space of 8 × `ggc2014` as RAID-0.
const SPACE: ArrayProperties = ArrayProperties {
    capacity_bytes: 8 * 7_025_760 * 4096,
    page_bytes: 4096,
    stripe_unit_bytes: 4096,
    stripe_shape: StripeShape::without_parity(8),
};
/// A small array, which must be large enough for every workload.
const SMALL: ArrayProperties =
    ArrayProperties { capacity_bytes: 64 << 20, page_bytes: 4096, stripe_unit_bytes: 4096, stripe_shape: StripeShape::without_parity(2) };

/// Returns every workload, with numbers where they are needed.
fn all() -> Vec<NamedWorkload> {
    let numbered = |name: &&str| name.replace("(R,I,W)", "(512,10,80)").replace("(W)", "(80)");
    WORKLOAD_NAMES.iter().map(numbered).map(|name| find_workload(&name).unwrap()).collect()
}

fn draw(workload: &NamedWorkload, n: usize) -> (Vec<Request>, HostLoop) {
    let mut source = open_workload(&workload.spec, 1, &SPACE).unwrap();
    let mut requests = Vec::new();
    source.next_requests(&mut requests, n).unwrap();
    (requests, source.host_loop())
}

fn kib(requests: &[Request], of: impl Fn(&Request) -> bool) -> Vec<f64> {
    requests.iter().filter(|r| of(r)).map(|r| r.length_bytes as f64 / 1024.0).collect()
}

/// Asserts that the mean of a sample lies within four standard errors, and 0.1 % for rounding in the papers and in weights.
fn assert_mean(what: &str, sample: &[f64], expected: f64) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let tolerance = 4.0 * (variance / n).sqrt() + 0.001 * expected;
    assert!((mean - expected).abs() <= tolerance, "{what}: {mean}, published {expected}, tolerance {tolerance}");
}

/// Returns the tolerance of the mean rate, which varies with the dispersion of the process: Δrate/rate = √(dispersion / n).
fn rate_tolerance(spec: &WorkloadSpec, n: f64) -> f64 {
    let of = |spec: &WorkloadSpec| match &spec.source {
        SourceSpec::Synthetic(spec) => spec.arrivals.index_of_dispersion().unwrap().max(1.0),
        SourceSpec::Mix(_) | SourceSpec::Trace(_) => unreachable!("neither is nested in the catalogue"),
    };
    let dispersion = match &spec.source {
        SourceSpec::Mix(streams) => streams.iter().map(of).fold(0.0, f64::max),
        _ => of(spec),
    };
    4.0 * (dispersion / n).sqrt()
}

#[test]
fn realised_statistics_are_the_published_ones() {
    let n = 400_000;
    for workload in all() {
        let (requests, host_loop) = draw(&workload, n);
        let name = &workload.name;
        let PublishedFigures {
            mean_request_kib: mean_kib,
            mean_read_kib: read_kib,
            mean_write_kib: write_kib,
            read_fraction,
            requests_per_s,
        } = workload.published;
        // The note says that sizes are rounded up to pages: 4 / (1 − e^(−4/32)).
        let mean_kib = if name == "pgc-synthetic" { Some(34.0416) } else { mean_kib };
        let is_mix = matches!(workload.spec.source, SourceSpec::Mix(_));
        if let (Some(expected), false) = (mean_kib, is_mix) {
            assert_mean(&format!("{name} size"), &kib(&requests, |_| true), expected);
        }
        if let Some(expected) = read_kib {
            assert_mean(&format!("{name} read size"), &kib(&requests, |r| r.kind == OpKind::Read), expected);
        }
        if let Some(expected) = write_kib {
            assert_mean(&format!("{name} write size"), &kib(&requests, |r| r.kind == OpKind::Write), expected);
        }
        let reads: Vec<f64> = requests.iter().map(|r| f64::from(u8::from(r.kind == OpKind::Read))).collect();
        if let (Some(expected), false) = (read_fraction, is_mix) {
            assert_mean(&format!("{name} reads"), &reads, expected);
        }
        match requests_per_s {
            Some(expected) => {
                let found = n as f64 * 1e9 / requests[n - 1].arrival_ns as f64;
                let tolerance = rate_tolerance(&workload.spec, n as f64);
                assert!((found / expected - 1.0).abs() <= tolerance, "{name}: {found}/s, published {expected}/s, tolerance {tolerance}");
            }
            None => assert!(matches!(host_loop, HostLoop::Closed { .. }), "{name}"),
        }
    }
}

/// Shares of a mix vary with the burstiness of its streams, but the settings of its streams are exact.
#[test]
fn mixes_add_up_to_the_published_statistics() {
    for name in ["tpc-h", "ms-ec", "ms-ft", "ms-ecft"] {
        let workload = find_workload(name).unwrap();
        let SourceSpec::Mix(streams) = &workload.spec.source else { panic!("{name} is a mix") };
        let (mut per_s, mut kib_per_s, mut reads_per_s) = (0.0, 0.0, 0.0);
        for stream in streams {
            let SourceSpec::Synthetic(spec) = &stream.source else { panic!("streams are synthetic") };
            let rate = spec.arrivals.mean_per_second().unwrap();
            let sizes = |read_fraction| {
                let spec = SyntheticSpec { read_fraction, ..spec.clone() };
                let workload = NamedWorkload { spec: spec.into(), ..find_workload("hpc-w").unwrap() };
                let sample = kib(&draw(&workload, 200_000).0, |_| true);
                sample.iter().sum::<f64>() / sample.len() as f64
            };
            per_s += rate;
            reads_per_s += rate * spec.read_fraction;
            kib_per_s += rate * (spec.read_fraction * sizes(1.0) + (1.0 - spec.read_fraction) * sizes(0.0));
        }
        let near = |what, found: f64, expected: Option<f64>, tolerance| {
            let expected = expected.unwrap();
            assert!((found / expected - 1.0).abs() < tolerance, "{name} {what}: {found}, published {expected}");
        };
        near("rate", per_s, workload.published.requests_per_s, 1e-9);
        near("reads", reads_per_s / per_s, workload.published.read_fraction, 1e-9);
        near("size", kib_per_s / per_s, workload.published.mean_request_kib, 0.01);
    }
}

#[test]
fn the_insert_phases_of_tpc_h() {
    let (requests, _) = draw(&find_workload("tpc-h").unwrap(), 400_000);
    let inserts: Vec<&Request> = requests.iter().filter(|r| r.stream == 1).collect();
    assert!(inserts.iter().all(|r| r.length_bytes == 128 << 10 && r.kind == OpKind::Write));
    let continued = inserts.windows(2).filter(|p| p[0].offset_bytes + p[0].length_bytes == p[1].offset_bytes).count();
    let share = continued as f64 / inserts.len() as f64;
    assert!((share - 0.95).abs() < 0.01, "{share}");
}

#[test]
fn skewed_workloads_aim_half_of_the_requests_at_a_member() {
    for name in ["hpc-w-skew", "lawc-skewed"] {
        let (requests, _) = draw(&find_workload(name).unwrap(), 100_000);
        let aimed = requests.iter().filter(|r| r.contiguous_on_one_member && r.offset_bytes / 4096 % 8 == 0).count() as f64 / 1e5;
        assert!((aimed - 0.5).abs() < 0.007, "{name}: {aimed}");
    }
}

#[test]
fn every_workload_opens_on_a_small_array() {
    for workload in all() {
        assert_eq!(workload.spec.problems(&SMALL), [], "{}", workload.name);
        let mut source = open_workload(&workload.spec, 1, &SMALL).unwrap();
        for _ in 0..2000 {
            let request = source.next_request().unwrap().unwrap();
            assert!(
                request.contiguous_on_one_member || request.offset_bytes + request.length_bytes <= SMALL.capacity_bytes,
                "{}",
                workload.name
            );
        }
    }
}

#[test]
fn stand_ins_are_the_imitated_traces() {
    let stand_ins: Vec<String> = all().into_iter().filter(|w| w.is_stand_in).map(|w| w.name).collect();
    let expected = "financial tpc-c cello tpc-h openmail exchange lawc-cello lawc-financial lawc-tpc-h fiu-vm fiu-mail ms-ec ms-ft ms-ecft";
    assert_eq!(stand_ins.join(" "), expected);
}

#[test]
fn wrong_names_say_what_is_allowed() {
    let message = |name| find_workload(name).unwrap_err().to_string();
    assert!(message("finacial").contains("did you mean \"financial\"?"));
    assert!(message("spider(4,20)").contains("takes the large size in KiB"));
    assert!(message("spider(0,20,60)").contains("takes the large size in KiB"));
    assert!(message("w1(101)").contains("0 to 100"));
    assert!(message("spider(a,b,c)").contains("whole"));
    assert!(message("hpc-w(3)").contains("did you mean \"hpc-w\"?"));
    assert!(message("").contains("There are hpc-w, hpc-r"));
}

#[test]
fn spider_has_the_sizes_of_table_4() {
    let (requests, _) = draw(&find_workload("spider(1024,20,60)").unwrap(), 100_000);
    let small = requests.iter().filter(|r| r.length_bytes == 4096).count() as f64 / 1e5;
    assert!((small - 0.5).abs() < 0.007, "{small}");
    assert!(requests.iter().all(|r| r.length_bytes == 4096 || r.length_bytes == 1 << 20));
}
