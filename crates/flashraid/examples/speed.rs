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
        },
        fill_seals_last_block: false,
        channel: None,
        link: None,
    }
}
fn main() {
    let which = std::env::args().nth(1).unwrap_or("all".into());
    let mut cleans = vec![];
    if which != "device" {
        let t = Instant::now();
        let p = ArrayParams { level: Level::Raid0, members: 8, stripe_unit_pages: 1, ssd: ssd(64, 4, 512) };
        let mut a = Array::new(&p, 1);
        println!("new {:?}", t.elapsed());
        let t = Instant::now();
        for m in a.members_mut() {
            m.warm_up(2.0, 1);
        }
        println!("warm {:?}", t.elapsed());
        let pages = a.layout().exported_pages();
        let mut s = flashraid::rng::stream(1, "x", 0);
        let (mut now, mut done, mut sum, mut n) = (0u64, vec![], 0u64, 0u64);
        let t = Instant::now();
        let mut arr = std::collections::VecDeque::new();
        for i in 0..40_000u64 {
            now += (-(1.0 - flashraid::rng::unit(&mut s)).ln() * 1e9 / 476.5) as u64;
            let first = flashraid::rng::below(&mut s, pages - 128);
            let write = flashraid::rng::unit(&mut s) > 0.2012;
            arr.push_back((now, first, write));
            let req = |x: (u64, u64, bool)| PageRequest {
                tag: x.0,
                first_page: x.1,
                pages: 128,
                write: x.2,
                high_priority: false,
                one_member: false,
            };
            a.prefetch_map(&req(arr[arr.len() - 1]));
            if arr.len() < 3 {
                continue;
            }
            a.prefetch_block(&req(arr[1]));
            let r = req(arr.pop_front().unwrap());
            let now = r.tag;
            while a.next_time().is_some_and(|x| x < now) {
                let x = a.next_time().unwrap();
                a.advance(x, &mut done);
            }
            a.submit(now, &r);
            for d in done.drain(..) {
                sum += d.at - d.tag;
                n += 1;
            }
            a.take_cleans(&mut cleans);
            let _ = i;
        }
        let e = t.elapsed().as_secs_f64();
        let ops: u64 = a.members().iter().map(|m| m.counters().host_pages_read + m.counters().host_pages_written).sum();
        println!(
            "array {:.2} M ops/s  mean {:.3} ms  cleans {} moved/clean {:.1} ms/clean {:.2}",
            ops as f64 / e / 1e6,
            sum as f64 / n as f64 / 1e6,
            cleans.len(),
            cleans.iter().map(|c| c.pages_moved as u64).sum::<u64>() as f64 / cleans.len() as f64,
            cleans.iter().map(|c| c.end_ns - c.start_ns).sum::<u64>() as f64 / cleans.len() as f64 / 1e6
        );
    }
    if which != "array" {
        cleans.clear();
        let p = ArrayParams { level: Level::Single, members: 1, stripe_unit_pages: 1, ssd: ssd(8, 8, 2048) };
        let mut a = Array::new(&p, 1);
        let t = Instant::now();
        a.members_mut()[0].warm_up(2.0, 1);
        println!("warm {:?}", t.elapsed());
        let pages = a.layout().exported_pages();
        let mut s = flashraid::rng::stream(1, "x", 0);
        let t = Instant::now();
        let mut done = vec![];
        let total = 5_000_000u64;
        const L: usize = 64;
        let mut ring = [PageRequest { tag: 0, first_page: 0, pages: 1, write: true, high_priority: false, one_member: false }; L];
        let mut draw = || PageRequest {
            tag: 0,
            first_page: flashraid::rng::below(&mut s, pages),
            pages: 1,
            write: true,
            high_priority: false,
            one_member: false,
        };
        for r in &mut ring {
            *r = draw();
        }
        let mut i = 0usize;
        let mut issue = |a: &mut Array, now| {
            a.submit(now, &ring[i % L]);
            ring[i % L] = draw();
            a.prefetch_map(&ring[i % L]);
            a.prefetch_block(&ring[(i + L / 2) % L]);
            i += 1;
        };
        for _ in 0..32 {
            issue(&mut a, 0);
        }
        let mut n = 0;
        while n < total {
            let x = a.next_time().unwrap();
            a.advance(x, &mut done);
            for d in done.drain(..) {
                n += 1;
                issue(&mut a, d.at);
            }
            cleans.clear();
            a.take_cleans(&mut cleans);
        }
        let e = t.elapsed().as_secs_f64();
        println!(
            "device {:.2} M req/s  wa {:.2}",
            total as f64 / e / 1e6,
            1.0 + a.members()[0].counters().gc_pages_moved as f64 / total as f64
        );
        a.verify().unwrap();
    }
}
