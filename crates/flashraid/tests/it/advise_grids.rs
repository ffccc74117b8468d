//! Searches against exhaustive grids. Every point of a space is run for long, and a search has to find one that is as good as the best.
//!
//! The grids are kept as files. A search may simulate a fifth of the requests of its grid. It is right if it names an array within 5 % of
//! the best that the grid judged, and does not say that it cannot tell.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use flashraid::advise::goal::{Direction, Figure, Statistic};
use flashraid::advise::{Advice, Advisor, Effort, Need, Preference, Residuals, Space, Verb};
use flashraid::study::Setting;
use flashraid::{Report, Simulation};
use serde::{Deserialize, Serialize};

/// Seeds of a grid, of which the figures are means.
const SEEDS: [u64; 3] = [1, 2, 3];
/// Searches for each goal, and how many of them have to be right.
const SEARCHES: u64 = 20;
const RIGHT: u64 = 19;
/// Part of the requests of the grid that a search may simulate, as a divisor.
const SHARE: u64 = 5;
/// Smallest factor between two figures that counts.
const INDIFFERENCE: f64 = 1.05;

/// A space with its load.
struct Question {
    name: &'static str,
    load: &'static str,
    space: &'static str,
    /// Requests of a run, measured or not.
    requests: u64,
    figures: &'static [&'static str],
}

/// The array and load of docs/remedies.md: RAID-5 of four drives of 2014, 70 % reads, 64 at a time.
const OLD_DRIVES: Question = Question {
    name: "old-drives",
    load: "array = { level = \"raid5\", members = 4, stripe_unit = \"64KiB\" }\nssd.preset = \"ggc2014\"\nssd.geometry.blocks = 256\n\
           report.skip_requests = 20000\n[workload]\nkind = \"synthetic\"\nrequests = 180000\nsize = \"4KiB\"\nread_fraction = 0.7\n\
           arrivals = { process = \"closed\", depth = 64 }\n",
    space: "\"ssd.gc.preemption\" = [\"none\", \"semi\"]\n\
            \"coordination.scheme\" = [\"local\", \"reactive-inclusive\", \"stagger\", \"windows\"]\n\
            \"read.plan\" = [\"home\", \"avoid\", \"hedge\", \"predict\"]\nneeds = { \"read.plan=avoid\" = \"protocol\" }",
    requests: 180_000,
    figures: &["read p99", "read p99.9"],
};

/// The same load on drives of today.
const NEW_DRIVES: Question = Question {
    name: "new-drives",
    load: "array = { level = \"raid5\", members = 4, stripe_unit = \"64KiB\" }\nssd.preset = \"nvme-gen5\"\nssd.scale = 512\n\
           report.skip_requests = 20000\n[workload]\nkind = \"synthetic\"\nrequests = 400000\nsize = \"4KiB\"\nread_fraction = 0.7\n\
           arrivals = { process = \"closed\", depth = 64 }\n",
    // Runs of schemes of coordination are too short to be judged here.
    space: "\"ssd.gc.preemption\" = [\"suspend\", \"semi\"]\n\"read.plan\" = [\"home\", \"avoid\", \"hedge\", \"predict\"]\nneeds = { \"read.plan=avoid\" = \"protocol\" }",
    requests: 400_000,
    figures: &["mean", "read p99.9"],
};

/// The first load of docs/crossover.md: four members, few writes, small requests.
const FEW_WRITES: Question = Question {
    name: "few-writes",
    load: "array = { level = \"raid5\", members = 4, stripe_unit = \"64KiB\" }\nssd.preset = \"ggc2014\"\nssd.geometry.dies = 16\n\
           ssd.geometry.blocks = 64\ncoordination.window = \"50ms\"\nreport.skip_requests = 20000\n[workload]\nkind = \"synthetic\"\nrequests = 240000\n\
           size = \"4KiB\"\nread_fraction = 0.9\narrivals = { process = \"poisson\", mean_gap = \"66719ns\" }\n",
    space: "\"coordination.scheme\" = [\"local\", \"reactive-inclusive\", \"stagger\"]\n\
            \"read.plan\" = [\"home\", \"avoid\", \"hedge\", \"predict\"]\nneeds = { \"read.plan=avoid\" = \"protocol\" }",
    requests: 240_000,
    figures: &["mean", "read p99"],
};

/// The first load of docs/slow-members.md: reads on eight members, of which one is slow.
const SLOW_MEMBER: Question = Question {
    name: "slow-member",
    load: "array = { level = \"raid5\", members = 8, stripe_unit = \"64KiB\", slow = { member = 3, factor = 10, share = 0.05 } }\n\
           ssd.preset = \"nvme-gen5\"\nssd.scale = 64\nreport.skip_requests = 20000\n[workload]\nkind = \"synthetic\"\nrequests = 400000\nsize = \"4KiB\"\n\
           read_fraction = 1.0\narrivals = { process = \"closed\", depth = 64 }\n",
    space: "\"read.plan\" = [\"home\", \"avoid\", \"hedge\", \"predict\", \"hedge:auto\"]\nneeds = { \"read.plan=avoid\" = \"protocol\" }",
    requests: 400_000,
    figures: &["read p99.9"],
};

/// A point of a grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Point {
    settings: BTreeMap<String, String>,
    /// True if each of its runs is judged.
    is_judged: bool,
    /// Geometric means over the seeds, in microseconds.
    figures: BTreeMap<String, f64>,
}

impl Question {
    fn file(&self) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/grids").join(format!("{}.json", self.name))
    }

    fn grid(&self) -> Vec<Point> {
        serde_json::from_slice(&std::fs::read(self.file()).unwrap()).unwrap()
    }

    fn space(&self) -> Space {
        Space::from_toml(&format!("[space]\n{}\n", self.space)).unwrap()
    }

    /// Returns the requests of the grid, measured or not.
    fn grid_requests(&self) -> u64 {
        self.space().points().unwrap().len() as u64 * self.requests * SEEDS.len() as u64
    }

    /// Runs all points with all seeds.
    fn run(&self) -> Vec<Point> {
        let points = self.space().points().unwrap();
        let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        std::thread::scope(|scope| {
            for _ in 0..flashraid::study::default_workers() {
                scope.spawn(|| {
                    while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let found = self.run_point(point);
                        done.lock().unwrap().insert(format!("{:?}", found.settings), found);
                    }
                });
            }
        });
        done.into_inner().unwrap().into_values().collect()
    }

    fn run_point(&self, point: &[Setting]) -> Point {
        let reports = SEEDS.map(|seed| {
            let mut simulation = Simulation::from_toml(self.load).unwrap().seed(seed);
            for Setting { key, value } in point {
                simulation = match value.as_str() {
                    "hedge:auto" => {
                        let after = 1.5 * self.single_reads_p99();
                        simulation.set(key, "hedge").unwrap().set("read.after", format!("\"{:.0}ns\"", after * 1000.0)).unwrap()
                    }
                    value => simulation.set(key, format!("{value:?}")).unwrap(),
                };
            }
            simulation.run().unwrap()
        });
        let mean = |figure: &&str| {
            let logs = reports.iter().map(|report| of_report(report, figure).ln());
            ((*figure).to_owned(), (logs.sum::<f64>() / SEEDS.len() as f64).exp())
        };
        Point {
            settings: point.iter().map(|setting| (setting.key.clone(), setting.value.clone())).collect(),
            is_judged: reports.iter().all(|report| report.shortfall().is_none()),
            figures: self.figures.iter().map(mean).collect(),
        }
    }

    /// Returns the 99th percentile of reads that one drive serves one by one, in microseconds.
    fn single_reads_p99(&self) -> f64 {
        let ssd = &self.load[self.load.find("ssd.preset").unwrap()..self.load.find("report.").unwrap()];
        let load =
            "kind = \"synthetic\"\nread_fraction = 1.0\nsize = \"4KiB\"\nrequests = 4000\narrivals = { process = \"closed\", depth = 1 }";
        let text = format!("array = {{ level = \"single\", members = 1 }}\n{ssd}\n[workload]\n{load}\n");
        Simulation::from_toml(&text).unwrap().run().unwrap().response_us.read.p99.unwrap()
    }

    /// Asks for the array with the least figure.
    fn search(&self, figure: &str, allow: &[Need], seed: u64, now: Option<&std::path::Path>) -> Advice {
        let mut advisor = Advisor::from_toml(self.name, self.load, self.space(), 1e6).unwrap();
        advisor.goals = vec![format!("{figure} <= 10s").parse().unwrap()];
        (advisor.effort, advisor.prefer, advisor.seed) = (Effort::Requests(self.grid_requests() / SHARE), vec![Preference::Tail], seed);
        (advisor.allow, advisor.under) = (allow.to_vec(), Vec::new());
        let kinds = ["read mean", "write mean", "read p50", "read p99", "read p99.9"];
        advisor.residuals = Residuals::of(kinds.into_iter().flat_map(|kind| vec![(kind.to_owned(), 0.0); 5]));
        if let Some(now) = now {
            advisor = advisor.present(now).unwrap();
        }
        advisor.advise(&()).unwrap()
    }

    /// Searches with many seeds. `expected` has settings that the best array of the grid has.
    fn searches(&self, figure: &str, allow: &[Need], expected: &[(&str, &str)]) {
        let grid = self.grid();
        let space = self.space();
        let own = serde_json::to_value(Simulation::from_toml(self.load).unwrap().scenario().unwrap().config).unwrap();
        let is_allowed = |point: &&Point| {
            let need = |(key, value): (&String, &String)| {
                let setting = Setting { key: key.clone(), value: value.clone() };
                space.need(&setting, own.pointer(&format!("/{}", key.replace('.', "/"))))
            };
            point.is_judged && point.settings.iter().all(|setting| allow.contains(&need(setting)))
        };
        let best = grid.iter().filter(is_allowed).min_by(|a, b| a.figures[figure].total_cmp(&b.figures[figure])).unwrap();
        assert!(expected.iter().all(|(key, value)| best.settings[*key] == *value), "{figure}: {best:?}");
        let (mut right, mut requests_most) = (0, 0);
        for search in 0..SEARCHES {
            let advice = self.search(figure, allow, 1 + 1_000_000 * search, None);
            let named = advice.named.first().map(|index| &advice.points[*index]);
            let value = |named: &flashraid::advise::PointOf| {
                let is_it = |point: &&Point| point.settings.iter().all(|(key, value)| named.settings[key] == *value.as_str());
                grid.iter().find(is_it).unwrap().figures[figure]
            };
            let ratio = named.map_or(f64::INFINITY, |named| value(named) / best.figures[figure]);
            let is_right = matches!(advice.verb, Verb::Take | Verb::Either) && ratio <= INDIFFERENCE;
            right += u64::from(is_right);
            requests_most = requests_most.max(advice.requests);
            eprintln!("{} {figure} {search}: {ratio:.3} {}", self.name, advice.sentences[0]);
        }
        let share = requests_most as f64 / self.grid_requests() as f64;
        eprintln!("{} {figure}: {right} of {SEARCHES} right with {share:.3} of the requests of the grid at most", self.name);
        assert!(share <= 1.0 / SHARE as f64, "{figure}: {share}");
        assert!(right >= RIGHT, "{figure}: {right} of {SEARCHES}");
    }
}

fn of_report(report: &Report, figure: &str) -> f64 {
    let Figure::Response(direction, statistic) = figure.parse().unwrap() else { panic!("{figure}") };
    let response = &report.response_us;
    let response = match direction {
        Direction::All => &response.all,
        Direction::Read => &response.read,
        Direction::Write => &response.write,
    };
    let value = match statistic {
        Statistic::Mean => response.mean,
        Statistic::P99 => response.p99,
        Statistic::P99_9 => response.p99_9,
        other => panic!("{other:?}"),
    };
    value.unwrap()
}

const PLAIN: [Need; 2] = [Need::Now, Need::Application];

/// The grids are what simulations give. `FLASHRAID_GRIDS` has the names of those that are written anew.
#[test]
#[ignore = "an hour all together: by name"]
fn grids_are_what_simulations_give() {
    let written = std::env::var("FLASHRAID_GRIDS").unwrap_or_default();
    for question in [OLD_DRIVES, NEW_DRIVES, FEW_WRITES, SLOW_MEMBER] {
        let is_written = written.contains(question.name);
        if !written.is_empty() && !is_written {
            continue;
        }
        let found = question.run();
        if is_written {
            std::fs::write(question.file(), serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
        } else {
            assert_eq!(question.grid(), found, "{}", question.name);
        }
    }
}

#[test]
#[ignore = "an hour all together: by name"]
fn old_drives_get_turns_and_a_hedge_for_the_deepest_percentile() {
    OLD_DRIVES.searches("read p99.9", &Need::ALL, &[("coordination.scheme", "windows"), ("read.plan", "hedge")]);
}

#[test]
#[ignore = "an hour all together: by name"]
fn old_drives_get_a_hedge_for_the_99th_percentile_if_firmware_stays() {
    OLD_DRIVES.searches("read p99", &PLAIN, &[("read.plan", "hedge")]);
}

/// No plan is better by more than 5 % than reading at home, so that an array that does is kept.
#[test]
#[ignore = "an hour all together: by name"]
fn old_drives_are_kept_for_the_deepest_percentile_if_firmware_stays() {
    let folder = tempfile::tempdir().unwrap();
    let now = folder.path().join("now.toml");
    std::fs::write(&now, OLD_DRIVES.load).unwrap();
    let kept = (0..SEARCHES).filter(|search| {
        let advice = OLD_DRIVES.search("read p99.9", &PLAIN, 1 + 1_000_000 * search, Some(&now));
        eprintln!("{search}: {}", advice.sentences[0]);
        advice.verb == Verb::Keep
    });
    let kept = kept.count() as u64;
    eprintln!("kept: {kept} of {SEARCHES}");
    assert!(kept >= RIGHT, "{kept} of {SEARCHES}");
}

#[test]
#[ignore = "an hour all together: by name"]
fn new_drives_have_the_least_mean_with_what_the_grid_names() {
    NEW_DRIVES.searches("mean", &Need::ALL, &[("ssd.gc.preemption", "suspend"), ("read.plan", "avoid")]);
}

#[test]
#[ignore = "an hour all together: by name"]
fn new_drives_have_the_least_deepest_percentile_with_what_the_grid_names() {
    NEW_DRIVES.searches("read p99.9", &PLAIN, &[("read.plan", "hedge")]);
}

#[test]
#[ignore = "an hour all together: by name"]
fn few_writes_are_collected_in_turn_and_read_round() {
    FEW_WRITES.searches("mean", &Need::ALL, &[("coordination.scheme", "stagger"), ("read.plan", "avoid")]);
    FEW_WRITES.searches("read p99", &Need::ALL, &[("coordination.scheme", "stagger"), ("read.plan", "avoid")]);
}

#[test]
#[ignore = "an hour all together: by name"]
fn a_slow_member_is_hedged_by_a_time() {
    SLOW_MEMBER.searches("read p99.9", &Need::ALL, &[("read.plan", "hedge:auto")]);
}
