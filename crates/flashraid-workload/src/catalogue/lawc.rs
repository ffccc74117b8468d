//! The workloads of LAWC: Tables 3 and 4 and the mixes of section 4.1.

use super::trace_excerpts::*;
use super::{Found, KIB, NamedWorkload, PublishedFigures, mix, synthetic};
use crate::quantities::MeanRequestInterval;
use crate::synthetic::arrivals::Poisson;
use crate::synthetic::sizes::Bimodal;
use crate::synthetic::{AddressSpec, ArrivalSpec, HotMember, SizeSpec, SyntheticSpec};
use crate::units::{Fraction, Size};

pub(super) fn find(stem: &str, numbers: &[u64]) -> Found {
    let workload = match (stem, numbers) {
        ("spider", _) => return Some(spider(numbers)),
        ("exchange", []) => table_3(EXCHANGE, |rate| SyntheticParts {
            arrivals: DTRS_BURSTS.at(rate),
            write_size: SizeSpec::from(Bimodal {
                small: Size { bytes: 4 * KIB },
                large: Size { bytes: 8 * KIB },
                small_share: Fraction(0.0575),
            }),
            read_size: SizeSpec::from(Bimodal {
                small: Size { bytes: 8 * KIB },
                large: Size { bytes: 16 * KIB },
                small_share: Fraction(0.99875),
            }),
            // hm_0 has a sixteenth of the requests, so its footprint says nothing about that of a mail server.
            address: AddressSpec { footprint: None, ..hm_0_addresses() },
            note: "Exchange's database pages of 8 KiB with as many of 4 and 16 KiB as give the mean sizes; bursts of another Microsoft production server \
                   traced in the same campaign; popularity of MSR Cambridge hm_0 over all of the array",
        }),
        ("lawc-cello", []) => table_3(CELLO, |rate| SyntheticParts {
            arrivals: HM_0_BURSTS.at(rate),
            write_size: weighted(HPLAJW_WRITES_6_05),
            read_size: weighted(HPLAJW_READS_7_96),
            address: hm_0_addresses(),
            note: "sizes of hplajw, an HP-UX workstation like Cello; bursts, popularity, footprint of MSR Cambridge hm_0; GGC and PGC give other sizes: cello",
        }),
        ("lawc-financial", []) => table_3(FINANCIAL, |rate| SyntheticParts {
            arrivals: FINANCIAL1_BURSTS.at(rate),
            write_size: weighted(FINANCIAL1_WRITES_8_44),
            read_size: weighted(FINANCIAL1_READS_4_05),
            address: financial1_addresses(),
            note: "sizes, bursts, popularity, sequentiality of the first 10 000 requests of Financial1, footprint of the first 50 000; GGC and PGC give eight times the rate: financial",
        }),
        ("lawc-tpc-h", []) => table_3(TPC_H, |rate| SyntheticParts {
            arrivals: DTRS_BURSTS.at(rate),
            write_size: weighted(DTRS_WRITES_10_19),
            read_size: weighted(DTRS_READS_37_35),
            address: dtrs_addresses(),
            note: "sizes, bursts, popularity, footprint of a Microsoft release server; GGC and PGC give eight times the rate, and phases of inserts: tpc-h",
        }),
        ("fiu-vm", []) => table_3(FIU_VM, fiu),
        ("fiu-mail", []) => table_3(FIU_MAIL, fiu),
        ("lawc-skewed", []) => NamedWorkload {
            is_stand_in: false,
            ..table_3(SKEWED, |rate| SyntheticParts {
                arrivals: ArrivalSpec::poisson(rate),
                write_size: SizeSpec::fixed(4 * KIB),
                read_size: SizeSpec::fixed(4 * KIB),
                address: AddressSpec { member_skew: Some(HotMember { member: 0, request_share: Fraction(0.5) }), ..AddressSpec::default() },
                note: "half of the requests on the first member, the others uniformly random; the paper leaves the arrivals open: here Poisson",
            })
        },
        ("ms-ec", []) => multi_stream(&["exchange", "lawc-cello"]),
        ("ms-ft", []) => multi_stream(&["lawc-financial", "lawc-tpc-h"]),
        ("ms-ecft", []) => multi_stream(&["exchange", "lawc-cello", "lawc-financial", "lawc-tpc-h"]),
        _ => return None,
    };
    Some(Ok(workload))
}

/// A row of Table 3. Its totals differ a little from the sums of the separate rates, which are used here.
#[derive(Clone, Copy)]
struct Row {
    write_per_s: f64,
    write_kib: f64,
    read_per_s: f64,
    read_kib: f64,
}

const EXCHANGE: Row = Row { write_per_s: 533.57, write_kib: 7.77, read_per_s: 159.40, read_kib: 8.01 };
const CELLO: Row = Row { write_per_s: 55.36, write_kib: 6.05, read_per_s: 18.91, read_kib: 7.96 };
const FINANCIAL: Row = Row { write_per_s: 4.08, write_kib: 8.44, read_per_s: 1.81, read_kib: 4.05 };
const TPC_H: Row = Row { write_per_s: 4.57, write_kib: 10.19, read_per_s: 17.03, read_kib: 37.35 };
const FIU_VM: Row = Row { write_per_s: 15.80, write_kib: 4.0, read_per_s: 3.80, read_kib: 4.0 };
const FIU_MAIL: Row = Row { write_per_s: 83.62, write_kib: 4.0, read_per_s: 62.02, read_kib: 4.0 };
const SKEWED: Row = Row { write_per_s: 199.76, write_kib: 4.0, read_per_s: 50.33, read_kib: 4.0 };

/// Parts of a stand-in that the table does not give.
struct SyntheticParts {
    arrivals: ArrivalSpec,
    write_size: SizeSpec,
    read_size: SizeSpec,
    address: AddressSpec,
    note: &'static str,
}

fn table_3(row: Row, build: impl FnOnce(f64) -> SyntheticParts) -> NamedWorkload {
    let requests_per_s = row.write_per_s + row.read_per_s;
    let SyntheticParts { arrivals, write_size, read_size, address, note } = build(requests_per_s);
    let read_fraction = row.read_per_s / requests_per_s;
    NamedWorkload {
        name: String::new(),
        statistics_source: "LAWC Table 3",
        published: PublishedFigures::of_rates(row.write_per_s, row.write_kib, row.read_per_s, row.read_kib),
        is_stand_in: true,
        added_assumptions: note.to_owned(),
        spec: SyntheticSpec {
            arrivals,
            read_fraction,
            read_size,
            write_size,
            addresses: address,
            high_priority_fraction: 0.0,
            writes_per_flush: None,
            fua: false,
            sequential_gap: None,
        }
        .into(),
    }
}

fn fiu(requests_per_s: f64) -> SyntheticParts {
    SyntheticParts {
        arrivals: FIU_HOMES_BURSTS.at(requests_per_s),
        write_size: SizeSpec::fixed(4 * KIB),
        read_size: SizeSpec::fixed(4 * KIB),
        address: fiu_homes_addresses(),
        note: "bursts, popularity, sequentiality of FIU homes, a trace of the same campaign",
    }
}

fn multi_stream(names: &[&str]) -> NamedWorkload {
    let streams: Vec<NamedWorkload> =
        names.iter().map(|name| super::find_workload(name).expect("a mix is of entries of this catalogue")).collect();
    let published: Vec<PublishedFigures> = streams.iter().map(|stream| stream.published).collect();
    NamedWorkload {
        name: String::new(),
        statistics_source: "LAWC section 4.1",
        published: PublishedFigures::together(&published),
        is_stand_in: true,
        added_assumptions: format!("{} merged in time over the same array, each with popular pages of its own", names.join(", ")),
        spec: mix(streams.into_iter().map(|stream| stream.spec).collect()),
    }
}

/// Returns the workload W(R, I, W) of Table 4. Half of the requests have 4 KiB and half have R KiB, the mean gap is I ms, and W % are
/// writes.
///
/// Without numbers, it is the measured mix of section 4.1.
fn spider(numbers: &[u64]) -> Result<NamedWorkload, String> {
    let (size, mean_kib, gap_ms, write_percent) = match *numbers {
        // The published shares are 50 % of 4 KiB, 17 % of 512 KiB and 32 % of 1 MiB. The missing percent is divided among them.
        [] => (weighted(&[(4.0, 50.0), (512.0, 17.0), (1024.0, 32.0)]), (50.0 * 4.0 + 17.0 * 512.0 + 32.0 * 1024.0) / 99.0, 20, 60),
        [large_kib, gap_ms, write_percent]
            if (1..=1 << 20).contains(&large_kib) && (1..=1 << 20).contains(&gap_ms) && write_percent <= 100 =>
        {
            let size = SizeSpec::from(Bimodal {
                small: Size { bytes: 4 * KIB },
                large: Size { bytes: large_kib * KIB },
                small_share: Fraction(0.5),
            });
            (size, (4.0 + large_kib as f64) / 2.0, gap_ms, write_percent)
        }
        _ => {
            let allowed = "spider(R,I,W) takes the large size in KiB, the mean gap in ms and the share of writes in percent";
            return Err(format!("{allowed}; Table 4 of LAWC has R in 4, 512, 1024, 4096, I in 10, 20, 40 and W in 20, 60, 80"));
        }
    };
    let read_fraction = 1.0 - write_percent as f64 / 100.0;
    let arrivals = ArrivalSpec::from(Poisson { mean_gap: MeanRequestInterval { ns: gap_ms as f64 * 1e6 } });
    Ok(NamedWorkload {
        name: String::new(),
        statistics_source: "LAWC section 4.1, Table 4",
        published: PublishedFigures {
            mean_request_kib: Some(mean_kib),
            read_fraction: Some(read_fraction),
            requests_per_s: Some(1000.0 / gap_ms as f64),
            ..PublishedFigures::default()
        },
        is_stand_in: false,
        added_assumptions: "synthetic in the paper as well; uniformly random addresses, which it leaves open".into(),
        spec: synthetic(arrivals, read_fraction, size, AddressSpec::default()).into(),
    })
}
