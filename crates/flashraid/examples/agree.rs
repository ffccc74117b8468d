//! temporary
use flashraid::array::*;
use flashraid::flash::*;
use flashraid::ssd::*;
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
    for (name, p) in [("r1", ssd(8, 8, 2048)), ("r2", ssd(8, 8, 2048)), ("r3", ssd(8, 8, 2048)), ("r4", ssd(64, 4, 512))] {
        let text = std::fs::read_to_string(format!("/tmp/ref/{name}")).unwrap();
        let mut a = Array::new(&ArrayParams { level: Level::Single, members: 1, stripe_unit_pages: 1, ssd: p }, 1);
        let (mut done, mut cleans) = (vec![], vec![]);
        let (mut n, mut sum, mut sq, mut max) = (0u64, 0f64, 0f64, 0u64);
        let mut take = |done: &mut Vec<Done>| {
            for d in done.drain(..) {
                let r = d.at - d.tag;
                n += 1;
                sum += r as f64;
                sq += (r as f64) * (r as f64);
                max = max.max(r);
            }
        };
        for line in text.lines() {
            let f: Vec<&str> = line.split(' ').collect();
            let now = (f[0].parse::<f64>().unwrap() * 1e6).round() as u64;
            while a.next_time().is_some_and(|x| x < now) {
                let x = a.next_time().unwrap();
                a.advance(x, &mut done);
            }
            a.submit(
                now,
                &PageRequest {
                    tag: now,
                    first_page: f[2].parse::<u64>().unwrap() / 8,
                    pages: f[3].parse::<u32>().unwrap() / 8,
                    write: f[4] == "0",
                    high_priority: false,
                },
            );
            take(&mut done);
        }
        let _ = &take;
        a.advance(u64::MAX, &mut done);
        if std::env::var("CUT").is_err() {
            take(&mut done);
        } else {
            println!("outstanding at last arrival {:?}", done.iter().map(|d| (d.at - d.tag) as f64 / 1e6).collect::<Vec<_>>());
        }
        a.take_cleans(&mut cleans);
        let c = a.members()[0].counters();
        println!(
            "{name} mean {:.6} stddev {:.6} max {:.6} cleans {} moved {} time {:.3}",
            sum / n as f64 / 1e6,
            ((sq / n as f64) - (sum / n as f64).powi(2)).sqrt() / 1e6,
            max as f64 / 1e6,
            c.erases,
            c.gc_pages_moved,
            c.gc_time_ns as f64 / 1e6
        );
        let _ = cleans;
        a.verify().unwrap();
    }
}
