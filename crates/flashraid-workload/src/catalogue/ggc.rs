//! The workloads of GGC (Harmonia): Tables 2, 8 and 9.

use super::trace_excerpts::*;
use super::{Found, GENERATOR_FOOTPRINT, KIB, NamedWorkload, PublishedFigures, mix, synthetic};
use crate::quantities::{MeanRequestInterval, MeanRequestSize};
use crate::synthetic::arrivals::{Bursts, Closed, MarkovModulated};
use crate::synthetic::sizes::{Exponential, MeanBeforeOrAfterRounding, Neighbours};
use crate::synthetic::{AddressSpec, ArrivalSpec, HotMember, SizeSpec, SyntheticSpec};
use crate::units::Fraction;
use crate::{SizeOrAddressGranularity, WorkloadSpec};

pub(super) fn find(stem: &str, numbers: &[u64]) -> Found {
    let workload = match (stem, numbers) {
        ("w1" | "w2" | "w3", _) => return Some(bandwidth(stem, numbers)),
        ("hpc-w", []) => hpc("GGC Table 8", 0.2012, HpcKind::Even),
        ("hpc-r", []) => hpc("GGC Table 8", 0.8008, HpcKind::Even),
        ("hpc-w-skew", []) => hpc("GGC Table 9", 0.2012, HpcKind::Skewed),
        ("hpc-w-burst-m", []) => hpc("GGC Table 9", 0.2012, HpcKind::Bursts { factor: 10.0 }),
        ("hpc-w-burst-h", []) => hpc("GGC Table 9", 0.2012, HpcKind::Bursts { factor: 100.0 }),
        ("financial", []) => enterprise(FINANCIAL, |p| {
            let note = "sizes, bursts, popularity, sequentiality of the first 10 000 requests of Financial1, footprint of the first 50 000; LAWC gives another rate: lawc-financial";
            (FINANCIAL1_BURSTS.at(p.requests_per_s), weighted(FINANCIAL1_7_09), financial1_addresses(), note)
        }),
        ("tpc-c", []) => enterprise(TPC_C, |p| {
            let note = "sizes of a TPC-C excerpt, whose gaps have a squared coefficient of variation of 1.14, hence Poisson arrivals; popularity and \
                        footprint of a MySQL server";
            (ArrivalSpec::poisson(p.requests_per_s), weighted(TPC_C_7_06), tpc_c_addresses(), note)
        }),
        ("cello", []) => enterprise(CELLO, |p| {
            let note = "sizes of hplajw, an HP-UX workstation like Cello but a thousand times slower; bursts, popularity, footprint of MSR Cambridge hm_0, \
                        which has Cello's mix and rate";
            (HM_0_BURSTS.at(p.requests_per_s), weighted(HPLAJW_7_06), hm_0_addresses(), note)
        }),
        ("openmail", []) => enterprise(OPENMAIL, |p| {
            let note = "sizes, bursts, popularity, footprint of a busy web server with a similar mix";
            (WEBSERVER_BURSTS.at(p.requests_per_s), weighted(WEBSERVER_9_49), webserver_addresses(), note)
        }),
        ("tpc-h", []) => tpc_h(),
        _ => return None,
    };
    Some(Ok(workload))
}

/// Variants of the high-performance-computing (HPC) workloads: those of Table 8, and the two changes to them in Table 9.
enum HpcKind {
    Even,
    Skewed,
    Bursts { factor: f64 },
}

/// Mean size of the HPC workloads in KiB.
const HPC_KIB: f64 = 510.53;
/// Mean rate of the HPC workloads in requests per second.
const HPC_PER_S: f64 = 476.5;
/// Number of requests in a burst of Table 9, which the paper leaves open. A hundred of 510.53 KiB are about 50 MiB, and the gap after them
/// lasts 0.2 s.
const BURST_REQUESTS: u64 = 100;

fn hpc(source: &'static str, read_fraction: f64, kind: HpcKind) -> NamedWorkload {
    let mut note = "The paper gives the mean size only: here exponential in pages of 4 KiB, as in the same authors' PGC Table III, which also fits \
                    a mean as odd as 510.53 (`size = \"508KiB\"` or \"512KiB\" is the other reading); Poisson arrivals, uniformly random \
                    addresses in the first 3427 MiB, the address space of the generator as its simulator ships it (`address.footprint = 1.0`: all of the array)"
        .to_owned();
    let mut arrivals = ArrivalSpec::poisson(HPC_PER_S);
    let mut address = AddressSpec { footprint: Some(GENERATOR_FOOTPRINT), ..AddressSpec::default() };
    match kind {
        HpcKind::Even => {}
        HpcKind::Skewed => {
            address.member_skew = Some(HotMember { member: 0, request_share: Fraction(0.5) });
            note += "; half of the requests lie on the first member as a whole, the others spread over all";
        }
        HpcKind::Bursts { factor } => {
            arrivals = ArrivalSpec::from(Bursts {
                mean_gap: MeanRequestInterval::from_rate(HPC_PER_S),
                factor,
                burst_requests: BURST_REQUESTS,
                mean_rate_scaled: false,
            });
            note += "; bursts of 100 requests with idle gaps that keep the mean rate at 476.5/s (`mean_rate_scaled` leaves the gaps out: the literal \
                     rate of the table, which saturates the array)";
        }
    }
    let size = SizeSpec::from(Exponential {
        mean: MeanRequestSize { bytes: HPC_KIB * KIB as f64 },
        grain: SizeOrAddressGranularity::Bytes(4 * KIB),
        mean_is: MeanBeforeOrAfterRounding::AfterRounding,
    });
    NamedWorkload {
        name: String::new(),
        statistics_source: source,
        published: PublishedFigures {
            mean_request_kib: Some(HPC_KIB),
            read_fraction: Some(read_fraction),
            requests_per_s: Some(HPC_PER_S),
            ..PublishedFigures::default()
        },
        is_stand_in: false,
        added_assumptions: note,
        spec: synthetic(arrivals, read_fraction, size, address).into(),
    }
}

/// A row of Table 8.
#[derive(Clone, Copy)]
struct Row {
    mean_kib: f64,
    read_fraction: f64,
    requests_per_s: f64,
}

const FINANCIAL: Row = Row { mean_kib: 7.09, read_fraction: 0.1892, requests_per_s: 47.19 };
const TPC_C: Row = Row { mean_kib: 7.06, read_fraction: 0.2050, requests_per_s: 388.32 };
const CELLO: Row = Row { mean_kib: 7.06, read_fraction: 0.1963, requests_per_s: 74.24 };
const TPC_H: Row = Row { mean_kib: 31.62, read_fraction: 0.9180, requests_per_s: 172.73 };
const OPENMAIL: Row = Row { mean_kib: 9.49, read_fraction: 0.6330, requests_per_s: 846.62 };

fn enterprise(row: Row, build: impl FnOnce(Row) -> (ArrivalSpec, SizeSpec, AddressSpec, &'static str)) -> NamedWorkload {
    let (arrivals, size, address, note) = build(row);
    stand_in(row, note, synthetic(arrivals, row.read_fraction, size, address).into())
}

fn stand_in(row: Row, note: &str, spec: WorkloadSpec) -> NamedWorkload {
    NamedWorkload {
        name: String::new(),
        statistics_source: "GGC Table 8, PGC Table IV",
        published: PublishedFigures {
            mean_request_kib: Some(row.mean_kib),
            read_fraction: Some(row.read_fraction),
            requests_per_s: Some(row.requests_per_s),
            ..PublishedFigures::default()
        },
        is_stand_in: true,
        added_assumptions: note.to_owned(),
        spec,
    }
}

/// Returns PGC's TPC-H workload (PGC IV.B.2): queries all the time and, from time to time, a phase in which large sequential writes fill
/// tables.
///
/// Half of the writes are inserts of 128 KiB, and the other half are writes of 8 KiB. Reads have the mean size that remains: 28.37 KiB.
fn tpc_h() -> NamedWorkload {
    let insert_share = (1.0 - TPC_H.read_fraction) / 2.0;
    let queries = SyntheticSpec {
        arrivals: DTRS_BURSTS.at(TPC_H.requests_per_s * (1.0 - insert_share)),
        read_fraction: TPC_H.read_fraction / (1.0 - insert_share),
        read_size: weighted(DTRS_READS_28_37),
        write_size: SizeSpec::fixed(8 * KIB),
        addresses: dtrs_addresses(),
        high_priority_fraction: 0.0,
        writes_per_flush: None,
        fua: false,
        sequential_gap: None,
    };
    let inserts = synthetic(
        ArrivalSpec::from(MarkovModulated {
            mean_gap: MeanRequestInterval::from_rate(TPC_H.requests_per_s * insert_share),
            rate_ratio: 1000.0,
            busy_share: Fraction(0.1),
            mean_burst: MeanRequestInterval { ns: 10e9 },
        }),
        0.0,
        SizeSpec::fixed(128 * KIB),
        AddressSpec { sequential_fraction: 0.95, footprint: Some(DTRS_FOOTPRINT), ..AddressSpec::default() },
    );
    let note = "two streams: queries with the read sizes, bursts, popularity and footprint of a Microsoft release server, and phases of sequential 128 KiB inserts that make up \
                half of the writes (the papers mention the phase; its share and its length, 10 s in every 100 s, are our choice)";
    stand_in(TPC_H, note, mix(vec![queries.into(), inserts.into()]))
}

/// Returns the measurements of real arrays in Table 2: random requests at a queue depth of 64, with 20 to 80 % writes.
fn bandwidth(stem: &str, numbers: &[u64]) -> Result<NamedWorkload, String> {
    let write_percent = match numbers {
        [] => 60,
        &[percent] if percent <= 100 => percent,
        _ => return Err(format!("{stem}(W) takes the share of writes in percent, 0 to 100; Table 2 of GGC has 20 to 80")),
    };
    let mean_kib = match stem {
        "w1" => 313.0,
        "w2" => 1.25 * 1024.0,
        _ => 1.87 * 1024.0,
    };
    let read_fraction = 1.0 - write_percent as f64 / 100.0;
    let size =
        SizeSpec::from(Neighbours { mean: MeanRequestSize { bytes: mean_kib * KIB as f64 }, grain: SizeOrAddressGranularity::Sector });
    Ok(NamedWorkload {
        name: String::new(),
        statistics_source: "GGC Table 2",
        published: PublishedFigures { mean_request_kib: Some(mean_kib), read_fraction: Some(read_fraction), ..PublishedFigures::default() },
        is_stand_in: false,
        added_assumptions: "closed loop of 64 requests at uniformly random pages; w1 is for one SSD, w2 for four, w3 for six; without a number 60 % writes (GGC Fig. 3)"
            .into(),
        spec: synthetic(Closed::with_depth(64).into(), read_fraction, size, AddressSpec::default()).into(),
    })
}
