//! Speed of the simulator on this machine: fixed work at full size on one core, with collection under way.

use flashraid::config::{self, Scenario, address_space};
use flashraid::run::{RunError, peak_rss_bytes};
use flashraid::simulation::{Limit, Progress, Watch, simulate};
use flashraid_model::array::{Array, ArrayParams};
use flashraid_model::flash::Geometry;
use flashraid_model::metrics::{CompletedRequest, MetricsParams};
use flashraid_model::rng;
use flashraid_model::ssd::MemberCounters;
use flashraid_workload as workload;
use serde::Serialize;
use std::time::Instant;

/// What `flashraid bench` measures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchReport {
    /// `hpc-w` on 8 × `ggc2014`, local collection.
    pub array: Speed,
    /// Uniform random 4 KiB writes to one `pgc2011`, closed loop of 32.
    pub device: DeviceSpeed,
    /// `device` with semi-preemptive collection.
    pub device_semi: SemiSpeed,
    /// `exchange` on 8 × `lawc2017` behind the write cache `lawc`.
    pub lawc: Speed,
    /// Filling and twice overwriting 8 × `ggc2014`.
    pub warm_up: WarmUpSpeed,
    /// The mapping and the collection of `device` without time.
    pub floor: FloorSpeed,
    /// Resident memory of the array per physical page.
    pub bytes_per_physical_page: f64,
    /// The most memory that the process has had resident, where the system tells.
    pub peak_rss_bytes: Option<u64>,
}

/// Speed of an array.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Speed {
    /// Pages read and programmed for the host, per second.
    pub host_page_ops_per_s: f64,
    /// All pages read and programmed, per second.
    pub flash_page_ops_per_s: f64,
    /// Requests per second.
    pub requests_per_s: f64,
}

impl Speed {
    fn of(seconds: f64, totals: &MemberCounters, requests: u64) -> Self {
        Self {
            host_page_ops_per_s: totals.host_page_ops() as f64 / seconds,
            flash_page_ops_per_s: totals.flash_page_ops() as f64 / seconds,
            requests_per_s: requests as f64 / seconds,
        }
    }
}

/// Speed of a device.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DeviceSpeed {
    /// Requests per second.
    pub requests_per_s: f64,
    /// All pages read and programmed, per second.
    pub flash_page_ops_per_s: f64,
    /// Time per request, as a multiple of the floor's.
    pub time_over_floor: f64,
}

/// Speed of a device with semi-preemptive collection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SemiSpeed {
    /// Requests per second.
    pub requests_per_s: f64,
    /// Time per request, as a multiple of the device's without preemption.
    pub time_over_device: f64,
}

/// Speed of the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WarmUpSpeed {
    /// Physical pages of the array.
    pub pages: u64,
    /// Time to fill it and to overwrite twice its capacity.
    pub seconds: f64,
}

/// Speed of the floor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FloorSpeed {
    /// Requests per second.
    pub requests_per_s: f64,
}

/// How much a bench does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenchSize {
    /// Requests to the array.
    pub array_requests: u64,
    /// Requests to the array with a write cache.
    pub lawc_requests: u64,
    /// Requests to the device and to the floor.
    pub device_requests: u64,
    /// Dies as a share of the full geometry, one in so many; 1 is full size.
    pub shrink: u32,
}

impl BenchSize {
    /// Full size: a minute or less.
    pub const FULL: Self = Self { array_requests: 150_000, lawc_requests: 3_000_000, device_requests: 20_000_000, shrink: 1 };
    /// A smoke test: a second or less.
    pub const SMOKE: Self = Self { array_requests: 200, lawc_requests: 2_000, device_requests: 20_000, shrink: 16 };
}

const ARRAY: &str = "array = { level = \"raid0\", members = 8, stripe_unit = \"4KiB\" }
ssd.preset = \"ggc2014\"
workload.preset = \"hpc-w\"
";
const LAWC: &str = "array.preset = \"lawc-raid0-8\"
ssd.preset = \"lawc2017\"
cache.policy = \"lawc\"
workload.preset = \"exchange\"
";
const DEVICE: &str = "array = { level = \"single\", members = 1 }
ssd.preset = \"pgc2011\"
workload = { kind = \"synthetic\", read_fraction = 0.0, size = \"4KiB\", arrivals = { process = \"closed\", depth = 32 } }
";

/// Measures. `report` is told what comes next.
///
/// # Errors
/// None but those of a built-in configuration that is wrong, which is a bug.
pub fn run(size: BenchSize, mut report: impl FnMut(&str)) -> Result<BenchReport, RunError> {
    report("warming up 8 × ggc2014");
    let scenario = scenario(ARRAY, size)?;
    let begin = Instant::now();
    let mut array = Array::new(&scenario.array, scenario.seed);
    warm(&mut array, &scenario);
    let warm_up_s = begin.elapsed().as_secs_f64();
    let pages = scenario.array.ssd.geometry.physical_pages() * u64::from(scenario.array.members);
    let resident_bytes: u64 = array.members().iter().map(|m| m.ftl().resident_bytes()).sum();

    report("hpc-w on 8 × ggc2014");
    let (array_s, totals) = timed(array, &scenario, size.array_requests)?;
    let array_speed = Speed::of(array_s, &totals, size.array_requests);

    report("random writes to one pgc2011");
    let scenario = self::scenario(DEVICE, size)?;
    let mut device = Array::new(&scenario.array, scenario.seed);
    warm(&mut device, &scenario);
    let (device_s, totals) = timed(device, &scenario, size.device_requests)?;

    report("the same with semi-preemptive collection");
    let semi_text = format!("{DEVICE}ssd.gc.preemption = \"semi\"\n");
    let semi = self::scenario(&semi_text, size)?;
    let mut semi_device = Array::new(&semi.array, semi.seed);
    warm(&mut semi_device, &semi);
    let (semi_s, _) = timed(semi_device, &semi, size.device_requests)?;

    report("the floor");
    let floor_s = Floor::new(&scenario.array).warm_and_time(size.device_requests);

    report("exchange on 8 × lawc2017 with a write cache");
    let cached = self::scenario(LAWC, size)?;
    let mut cached_array = Array::new(&cached.array, cached.seed);
    warm(&mut cached_array, &cached);
    let (cached_s, cached_totals) = timed(cached_array, &cached, size.lawc_requests)?;
    let lawc = Speed::of(cached_s, &cached_totals, size.lawc_requests);
    Ok(BenchReport {
        array: array_speed,
        lawc,
        device: DeviceSpeed {
            requests_per_s: size.device_requests as f64 / device_s,
            flash_page_ops_per_s: totals.flash_page_ops() as f64 / device_s,
            time_over_floor: device_s / floor_s,
        },
        device_semi: SemiSpeed { requests_per_s: size.device_requests as f64 / semi_s, time_over_device: semi_s / device_s },
        warm_up: WarmUpSpeed { pages, seconds: warm_up_s },
        floor: FloorSpeed { requests_per_s: size.device_requests as f64 / floor_s },
        bytes_per_physical_page: resident_bytes as f64 / pages as f64,
        peak_rss_bytes: peak_rss_bytes(),
    })
}

fn scenario(text: &str, size: BenchSize) -> Result<Scenario, RunError> {
    let mut scenario = config::from_str("bench", text, &[], None).map_err(|problems| RunError::Input(problems.to_string()))?;
    let dies = &mut scenario.array.ssd.geometry.dies;
    *dies = (*dies / size.shrink).max(1);
    Ok(scenario)
}

fn warm(array: &mut Array, scenario: &Scenario) {
    for member in array.members_mut() {
        member.warm_up(2.0, scenario.seed);
    }
}

struct Unwatched;

impl Watch for Unwatched {
    fn tick(&mut self, _: &Progress) -> bool {
        true
    }
    fn completed(&mut self, _: &CompletedRequest) {}
}

fn timed(array: Array, scenario: &Scenario, requests: u64) -> Result<(f64, MemberCounters), RunError> {
    let source = workload::open(&scenario.workload, scenario.seed, &address_space(&scenario.array))?;
    let limit = Limit { requests: Some(requests), duration_ns: None };
    let begin = Instant::now();
    let outcome = simulate(array, source, limit, &MetricsParams::default(), &mut Unwatched)?;
    Ok((begin.elapsed().as_secs_f64(), outcome.counters.iter().copied().sum()))
}

/// The same mapping and collection as *device* in a minimal loop: page-mapped, static dies, one pool per plane, planes in
/// turn, greedy victims. No time, no queues, no requests.
struct Floor {
    geometry: Geometry,
    start_free_blocks: u32,
    data_pages: u32,
    map: Vec<u32>,
    rmap: Vec<u32>,
    valid: Vec<u64>,
    score: Vec<i16>,
    free_blocks: Vec<u32>,
    open: Vec<(u32, u32)>,
    rotation: Vec<u32>,
    turn: Vec<u32>,
}

/// Score of a block that is no victim.
const NOT_SEALED: i16 = i16::MAX;

impl Floor {
    fn new(params: &ArrayParams) -> Self {
        let g = params.ssd.geometry;
        assert!(g.pages_per_block <= 64 && g.pages_per_block.is_power_of_two(), "one word of valid bits per block");
        let (planes, data_pages) = (g.dies * g.planes, g.data_pages_per_block());
        let blocks = planes * g.blocks_per_plane;
        let filled = g.blocks_per_plane - g.reserved_blocks_per_plane;
        let mut floor = Self {
            geometry: g,
            start_free_blocks: params.ssd.gc.start_free_blocks,
            data_pages,
            map: vec![0; g.exported_pages_per_die() as usize * g.dies as usize],
            rmap: vec![0; (blocks * g.pages_per_block) as usize],
            valid: vec![0; blocks as usize],
            score: vec![NOT_SEALED; blocks as usize],
            free_blocks: vec![g.reserved_blocks_per_plane - 1; planes as usize],
            open: (0..planes).map(|p| (p * g.blocks_per_plane + filled, 0)).collect(),
            rotation: vec![filled + 1; planes as usize],
            turn: vec![0; g.dies as usize],
        };
        for plane in 0..planes {
            for block in 0..filled {
                let number = plane * g.blocks_per_plane + block;
                floor.score[number as usize] = data_pages as i16;
                floor.valid[number as usize] = (1 << data_pages) - 1;
                for page in 0..data_pages {
                    let lpn = (plane * filled + block) * data_pages + page;
                    floor.map[lpn as usize] = number * g.pages_per_block + page;
                    floor.rmap[(number * g.pages_per_block + page) as usize] = lpn;
                }
            }
        }
        floor
    }

    fn warm_and_time(&mut self, requests: u64) -> f64 {
        let mut stream = rng::stream(1, "floor", 0);
        let pages = self.map.len() as u64;
        for _ in 0..2 * pages {
            self.write(rng::below(&mut stream, pages) as u32);
        }
        let begin = Instant::now();
        for _ in 0..requests {
            self.write(rng::below(&mut stream, pages) as u32);
        }
        let seconds = begin.elapsed().as_secs_f64();
        std::hint::black_box(&self.map);
        seconds
    }

    fn write(&mut self, lpn: u32) {
        let planes = self.geometry.planes;
        let die = lpn / (self.map.len() as u32 / self.geometry.dies);
        let first = (die * planes) as usize;
        while let Some(plane) = (first..first + planes as usize).find(|&p| self.free_blocks[p] <= self.start_free_blocks) {
            if !self.clean(plane) {
                break;
            }
        }
        let old = self.map[lpn as usize];
        let (old_block, page) = ((old / self.geometry.pages_per_block) as usize, old % self.geometry.pages_per_block);
        self.valid[old_block] &= !(1 << page);
        if self.score[old_block] != NOT_SEALED {
            self.score[old_block] -= 1;
        }
        let turn = &mut self.turn[die as usize];
        let plane = first + *turn as usize;
        *turn = if *turn + 1 == planes { 0 } else { *turn + 1 };
        self.program(plane, lpn);
    }

    fn program(&mut self, plane: usize, lpn: u32) {
        if self.open[plane].1 == self.data_pages {
            self.open_block(plane);
        }
        let (block, page) = &mut self.open[plane];
        let physical = *block * self.geometry.pages_per_block + *page;
        self.valid[*block as usize] |= 1 << *page;
        *page += 1;
        if *page == self.data_pages {
            self.score[*block as usize] = self.valid[*block as usize].count_ones() as i16;
        }
        self.map[lpn as usize] = physical;
        self.rmap[physical as usize] = lpn;
    }

    fn open_block(&mut self, plane: usize) {
        let blocks = self.geometry.blocks_per_plane;
        let first = plane as u32 * blocks;
        let is_free = |b: u32| {
            let block = (first + b) as usize;
            self.score[block] == NOT_SEALED && self.valid[block] == 0 && first + b != self.open[plane].0
        };
        let from = self.rotation[plane];
        let found = (from..blocks).chain(0..from).find(|&b| is_free(b)).expect("collection keeps blocks free");
        self.rotation[plane] = (found + 1) % blocks;
        self.free_blocks[plane] -= 1;
        self.open[plane] = (first + found, 0);
    }

    /// Says whether there was anything to gain.
    fn clean(&mut self, plane: usize) -> bool {
        let blocks = self.geometry.blocks_per_plane as usize;
        let scores = &self.score[plane * blocks..(plane + 1) * blocks];
        let min = scores.iter().copied().fold(i16::MAX, i16::min);
        if min >= self.data_pages as i16 {
            return false;
        }
        let victim = plane * blocks + scores.iter().rposition(|&s| s == min).expect("it was found");
        let mut bits = self.valid[victim];
        while bits != 0 {
            let lpn = self.rmap[victim * self.geometry.pages_per_block as usize + bits.trailing_zeros() as usize];
            bits &= bits - 1;
            self.program(plane, lpn);
        }
        // Free only now: a block that the moves open must not be the victim.
        self.valid[victim] = 0;
        self.score[victim] = NOT_SEALED;
        self.free_blocks[plane] += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_bench_runs_and_its_figures_are_sane() {
        let report = run(BenchSize::SMOKE, |_| {}).unwrap();
        assert!(report.array.host_page_ops_per_s > 0.0 && report.device.requests_per_s > 0.0);
        assert!(report.device_semi.requests_per_s > 0.0 && report.device_semi.time_over_device > 0.0);
        assert!(report.array.flash_page_ops_per_s > report.array.host_page_ops_per_s, "collection is under way");
        assert!(report.bytes_per_physical_page > 7.0 && report.bytes_per_physical_page <= 9.0, "{}", report.bytes_per_physical_page);
    }

    #[test]
    fn the_floor_maps_every_page_to_a_place_of_its_own() {
        let scenario = scenario(DEVICE, BenchSize::SMOKE).unwrap();
        let mut floor = Floor::new(&scenario.array);
        floor.warm_and_time(10_000);
        assert!(floor.map.iter().enumerate().all(|(lpn, &p)| floor.rmap[p as usize] == lpn as u32));
        let valid: u32 = floor.valid.iter().map(|v| v.count_ones()).sum();
        assert_eq!(valid as usize, floor.map.len());
    }
}
