//! Placement handles that stay apart, held against a program of its own: superblocks, streams and labels by owner, without time. It shares
//! nothing with the model.

use flashraid::Simulation;

/// Superblocks of the drive, and units in each of them.
const SUPERBLOCKS: usize = 1024;
const UNITS: usize = 72;
/// Number of free superblocks that collection keeps.
const TARGET: usize = 8;

/// A tenant: its share of the writes, and its share of the addresses. The tenants lie one after another.
type Tenant = (f64, f64);

/// Cases: the tenants, and the reserve.
const CASES: [(&[Tenant], f64); 6] = [
    (&[(0.9, 0.1), (0.1, 0.9)], 0.28),
    (&[(0.5, 0.2), (0.5, 0.8)], 0.28),
    (&[(0.8, 0.2), (0.2, 0.8)], 0.2),
    (&[(0.9, 0.1), (0.1, 0.9)], 0.4),
    (&[(0.6, 0.1), (0.3, 0.3), (0.1, 0.6)], 0.28),
    (&[(0.8, 0.05), (0.15, 0.15), (0.05, 0.8)], 0.28),
];

/// A drive whose data carry the label of their owner. Host and collection have an open superblock for each label.
struct Labelled {
    contents: Vec<Vec<usize>>,
    valid: Vec<usize>,
    label: Vec<usize>,
    block_of: Vec<usize>,
    free: Vec<usize>,
    open_of_host: Vec<Option<usize>>,
    open_of_moves: Vec<Option<usize>>,
    programmed: u64,
}

impl Labelled {
    fn put(&mut self, unit: usize, label: usize, moves: bool) {
        let open = if moves { &mut self.open_of_moves[label] } else { &mut self.open_of_host[label] };
        let block = *open.get_or_insert_with(|| self.free.pop().expect("there is reserve"));
        self.label[block] = label;
        self.contents[block].push(unit);
        self.valid[block] += 1;
        self.block_of[unit] = block;
        self.programmed += 1;
        if self.contents[block].len() == UNITS {
            *open = None;
        }
    }

    /// Moves what is valid out of the full superblock with the least of it.
    fn collect(&mut self) {
        let is_full = |block: &usize| self.contents[*block].len() == UNITS;
        let victim = (0..SUPERBLOCKS).filter(is_full).min_by_key(|&block| self.valid[block]).expect("some superblock is full");
        for unit in std::mem::take(&mut self.contents[victim]) {
            if self.block_of[unit] == victim {
                self.valid[victim] -= 1;
                self.put(unit, self.label[victim], true);
            }
        }
        self.free.insert(0, victim);
    }

    fn write(&mut self, unit: usize, label: usize) {
        self.valid[self.block_of[unit]] -= 1;
        self.block_of[unit] = usize::MAX;
        while self.open_of_host[label].is_none() && self.free.len() <= TARGET {
            self.collect();
        }
        self.put(unit, label, false);
    }
}

/// First unit of each tenant, and the number of units.
fn ends(tenants: &[Tenant], reserve: f64) -> Vec<usize> {
    let units = (SUPERBLOCKS as f64 * (1.0 - reserve)) as usize * UNITS;
    let mut sum = 0.0;
    let ends = tenants.iter().map(|&(_, space)| {
        sum += space;
        (sum * units as f64).round() as usize
    });
    std::iter::once(0).chain(ends).collect()
}

/// Returns the write amplification of long uniform writes of the tenants, after `before` overwrites of the whole drive.
fn labelled(tenants: &[Tenant], reserve: f64, before: usize, measured: usize) -> f64 {
    let ends = ends(tenants, reserve);
    let units = *ends.last().unwrap();
    let mut drive = Labelled {
        contents: vec![Vec::new(); SUPERBLOCKS],
        valid: vec![0; SUPERBLOCKS],
        label: vec![0; SUPERBLOCKS],
        block_of: vec![usize::MAX; units],
        free: (0..SUPERBLOCKS).rev().collect(),
        open_of_host: vec![None; tenants.len()],
        open_of_moves: vec![None; tenants.len()],
        programmed: 0,
    };
    for label in 0..tenants.len() {
        (ends[label]..ends[label + 1]).for_each(|unit| drive.put(unit, label, false));
    }
    // Numbers by Knuth's multiplier, of which the upper bits are taken.
    let mut state = 1_u64;
    let mut drawn = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut programmed_before = 0;
    for write in 0..(before + measured) * units {
        if write == before * units {
            programmed_before = drive.programmed;
        }
        let mut share = drawn();
        let label = tenants.iter().position(|&(writes, _)| {
            share -= writes;
            share < 0.0
        });
        let label = label.unwrap_or(tenants.len() - 1);
        let unit = ends[label] + (drawn() * (ends[label + 1] - ends[label]) as f64) as usize;
        drive.write(unit, label);
    }
    (drive.programmed - programmed_before) as f64 / (measured * units) as f64
}

/// Returns the write amplification of the same by the model, from a start and after so many overwrites.
fn simulated(tenants: &[Tenant], reserve: f64, start: &str, isolation: &str, (before, measured): (f64, f64)) -> f64 {
    let ends = ends(tenants, reserve);
    let units = *ends.last().unwrap();
    let mut config = format!(
        r#"
[array]
level = "single"
members = 1
[ssd]
preset = "nvme-gen5"
scale = 1
[ssd.channel]
dies_per_channel = 2
[ssd.geometry]
dies = 2
planes = 1
blocks = {SUPERBLOCKS}
pages = 36
reserved = {reserve}
[ssd.superblock]
target = {TARGET}
floor = 4
# Superpages of one unit need no padding when collection goes on with another handle.
flash_page = "4KiB"
pages_per_cell = 1
page_reads = ["40us"]
[ssd.placement_handles]
handles = {}
isolation = "{isolation}"
[ssd.warm_up]
{start}
[report]
skip_requests = {}
[workload]
kind = "mix"
requests = {}
"#,
        tenants.len(),
        (before * units as f64) as u64,
        ((before + measured) * units as f64) as u64,
    );
    for (tenant, ends) in tenants.iter().zip(ends.windows(2)) {
        let pattern = match ends[0] {
            0 => "pattern = \"uniform\"".to_owned(),
            first => {
                format!("pattern = \"hot-cold\", request_share = 0.0, space_share = {}, scatter = false", first as f64 / ends[1] as f64)
            }
        };
        config += &format!(
            "[[workload.streams]]\nkind = \"synthetic\"\nread_fraction = 0\nsize = \"4KiB\"\naddress = {{ {pattern}, footprint = \"{}KiB\" }}\narrivals = {{ process = \"poisson\", mean_gap = \"{}us\" }}\n",
            4 * ends[1],
            2000.0 / tenant.0,
        );
    }
    let report = Simulation::from_toml(&config).unwrap().verify().run().unwrap();
    report.drive.unwrap().write_amplification.unwrap()
}

/// Returns what the program says after long writes.
fn of_program((tenants, reserve): (&[Tenant], f64)) -> f64 {
    labelled(tenants, reserve, 30, 8)
}

/// Returns what the model says from the steady state, after so many overwrites.
fn of_steady_model((tenants, reserve): (&[Tenant], f64), overwrites: (f64, f64)) -> f64 {
    simulated(tenants, reserve, "pattern = \"steady\"", "persistently", overwrites)
}

fn assert_within(what: &str, found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() < share, "{what}: {found:.3} instead of {expected:.3}");
}

/// Handles that stay apart cost what data cost that carry the label of their owner, in six cases of two and three tenants.
#[test]
#[ignore = "takes a quarter of a minute; make test-long"]
fn handles_that_stay_apart_are_labels_of_owners() {
    for case in CASES {
        let own = of_program(case);
        assert_within(&format!("{case:?}"), of_steady_model(case, (2.0, 2.0)), own, 0.02);
        assert_within(&format!("{case:?}, from the start on"), of_steady_model(case, (0.0, 1.0)), own, 0.03);
    }
}

/// The fill, random overwrites and the steady state all begin with the data of each tenant in superblocks of its own. Data that collection
/// mixes cost more.
#[test]
fn every_start_has_labels_of_owners() {
    let (tenants, reserve) = CASES[0];
    let own = of_program(CASES[0]);
    assert_within("steady", of_steady_model(CASES[0], (0.0, 1.0)), own, 0.03);
    let model = |start: &str, isolation: &str, overwrites| simulated(tenants, reserve, start, isolation, overwrites);
    assert_within("random", model("overwrites = 4", "persistently", (1.0, 2.0)), own, 0.02);
    // Few of the cold data are overwritten so soon.
    assert_within("fill", model("overwrites = 0", "persistently", (4.0, 2.0)), labelled(tenants, reserve, 4, 2), 0.02);
    let mixed = model("overwrites = 4", "initially", (1.0, 2.0));
    assert!(mixed > 1.08 * own, "{mixed:.3} when collection mixes, {own:.3} when it does not");
}
