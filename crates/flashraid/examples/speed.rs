//! temporary
use flashraid::array::*;
use flashraid::flash::*;
use flashraid::ssd::*;
use std::time::Instant;
fn ssd(elements: u32, planes: u32, blocks: u32) -> SsdParams {
    let g = Geometry {
        elements,
        planes,
        blocks_per_plane: blocks,
        pages_per_block: 64,
        page_bytes: 4096,
        reserved_blocks_per_plane: blocks * 15 / 100,
        summary_page: true,
    };
    SsdParams {
        geometry: g,
        timing: Timing {
            page_read_ns: 25_000,
            page_program_ns: 200_000,
            block_erase_ns: 1_500_000,
            page_transfer_ns: 105_600,
            summary_transfer_ns: 13_200,
            command_overhead_ns: 0,
        },
        element_stride_pages: 1,
        allocation: Allocation::Static,
        plane_choice: PlaneChoice::MostFree,
        gc: GcParams {
            pool: Pool::Plane,
            hold: Hold::Element,
            start_free_blocks: blocks * 5 / 100,
            stop_free_blocks: blocks * 5 / 100 + 1,
            trigger: Trigger::Request,
            victim: VictimPolicy::Greedy,
            separate_open_block: false,
            copy_back: true,
            instantaneous: false,
            preemption: None,
            idle_ns: None,
        },
        fill_seals_last_block: false,
        channel: None,
        link: None,
    }
}

struct W(u64);
impl flashraid::simulation::Watch for W {
    fn look(&mut self, _: &flashraid::simulation::Progress) -> bool {
        true
    }
    fn completed(&mut self, _: &flashraid::metrics::CompletedRequest) {
        self.0 += 1;
    }
}
fn main() {
    use flashraid::workload::*;
    let which = std::env::args().nth(1).unwrap_or("all".into());
    let go = |p: ArrayParams, name: &str, exponential: bool, n: u64| {
        let t = Instant::now();
        let mut a = Array::new(&p, 1);
        println!("new {:?}", t.elapsed());
        let t = Instant::now();
        for m in a.members_mut() {
            m.warm_up(2.0, 1);
        }
        println!("warm {:?}", t.elapsed());
        let space = AddressSpace {
            capacity_bytes: a.layout().exported_pages() * 4096,
            page_bytes: 4096,
            stripe_unit_bytes: 4096,
            members_data: p.members,
        };
        let mut spec = catalogue::find(name).unwrap().spec;
        if let SourceSpec::Synthetic(s) = &mut spec.source {
            if exponential {
                let e = synthetic::SizeSpec::Exponential {
                    mean_bytes: 510.53 * 1024.0,
                    grain: Grain::Page,
                    mean_is: synthetic::ExponentialMean::AfterRounding,
                };
                s.read_size = e.clone();
                s.write_size = e;
            }
            if name == "random-write" {
                s.arrivals = synthetic::ArrivalSpec::Closed { depth: 32, think_ns: 0 };
            }
        }
        let source = open(&spec, 1, &space).unwrap();
        let t = Instant::now();
        let mut w = W(0);
        let o = flashraid::simulation::simulate(
            a,
            source,
            flashraid::simulation::Limit { requests: Some(n), duration_ns: None },
            &Default::default(),
            &mut w,
        )
        .unwrap();
        let e = t.elapsed().as_secs_f64();
        let ops: u64 = o.counters.iter().map(|c| c.host_page_ops()).sum();
        let c: flashraid::ssd::MemberCounters = o.counters.iter().copied().sum();
        let m = o.metrics.finish(o.end_ns);
        println!(
            "{name} exp {exponential} requests {:.2} M/s ops {:.2} M/s mean {:.3} ms stddev {:.3} p99 {:.3} moved/clean {:.1} ms/clean {:.2}",
            n as f64 / e / 1e6,
            ops as f64 / e / 1e6,
            m.response.all.moments().mean().unwrap() / 1e6,
            m.response.all.moments().stddev().unwrap() / 1e6,
            m.response.all.quantile_ns(0.99).unwrap() as f64 / 1e6,
            c.gc_pages_moved as f64 / c.erases as f64,
            c.gc_time_ns as f64 / c.erases as f64 / 1e6
        );
    };
    let array = |ideal: bool| {
        let mut s = ssd(64, 4, 512);
        s.gc.instantaneous = ideal;
        ArrayParams { level: Level::Raid0, members: 8, stripe_unit_pages: 1, ssd: s }
    };
    if which != "device" {
        go(array(false), "hpc-w", false, 40_000);
        go(array(false), "hpc-w", true, 40_000);
        go(array(true), "hpc-w", true, 40_000);
    }
    if which != "array" {
        let mut device = ArrayParams { level: Level::Single, members: 1, stripe_unit_pages: 1, ssd: ssd(8, 8, 2048) };
        for merge in [None, Some(false), Some(true)] {
            device.ssd.gc.preemption =
                merge.map(|merge| Preemption { poll_ns: 600, t_hard: 0.5, pipeline: merge, merge, reorder: merge, suspension: None });
            println!("preemption {:?}", device.ssd.gc.preemption);
            go(device.clone(), "random-write", false, 5_000_000);
        }
    }
}
