//! Comparisons that speak, held against runs twenty times as long: the proof that the conditions for a verdict suffice.

use flashraid::study::StudyPlan;
use flashraid::{Study, StudyResult};
use flashraid_report::grid::{Estimate, Grid, Trend};

const MEAN: &str = "/response_us/all/mean";
const P99: &str = "/response_us/all/p99";
/// Factor by which the run that counts as the truth is longer.
const LONGER: u64 = 20;

const POOLS: &str = "ssd.geometry = { dies = 2, planes = 1, blocks = 64, pages = 16 }";
const SUPERBLOCKS: &str = "array.stripe_unit = \"16KiB\"\nssd = { preset = \"nvme-tlc-read\", scale = 1, channel.dies_per_channel = 2, \
                           geometry = { dies = 4, planes = 2, blocks = 40, pages = 36, reserved = 0.4 } }";

/// Numbers drawn by a multiplicative generator, always the same.
struct Draw(u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.unit() * of.len() as f64) as usize]
    }

    /// Returns a number between two others, evenly on a logarithmic scale.
    fn between(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.unit())
    }
}

/// Returns a comparison of a remedy with none, or of several remedies, and a text that says what it compares.
fn comparison(seed: u64, several: bool) -> (StudyPlan, String) {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    draw.unit();
    let has_superblocks = draw.unit() < 0.5;
    let (members, level) = draw.one_of(&[(2, "raid0"), (4, "raid0"), (3, "raid5"), (4, "raid5"), (4, "raid10")]);
    let reads = draw.between(0.2, 0.8);
    // Pools need some milliseconds for a clean, drives of today some hundred microseconds for a superpage.
    let gap_us = if has_superblocks { draw.between(30.0, 200.0) } else { draw.between(2_000.0, 10_000.0) };
    let requests = if has_superblocks { draw.between(500.0, 20_000.0) } else { draw.between(30.0, 3_000.0) };
    let text = format!(
        "seed = {seed}\narray = {{ level = \"{level}\", members = {members} }}\n{}\n[workload]\nkind = \"synthetic\"\nrequests = {requests:.0}\n\
         read_fraction = {reads:.2}\nsize = \"4KiB\"\narrivals = {{ process = \"poisson\", mean_gap = \"{gap_us:.0}us\" }}\n",
        if has_superblocks { SUPERBLOCKS } else { POOLS }
    );
    // A table may not follow a dotted key of the same table.
    let text = text.replace(
        &format!("array = {{ level = \"{level}\", members = {members} }}"),
        &format!("array.level = \"{level}\"\narray.members = {members}"),
    );
    let remedies: &[(&str, &str, &str)] = &[
        ("coordination.scheme", "local", "reactive-inclusive"),
        ("coordination.scheme", "local", "reactive-selective"),
        ("coordination.scheme", "local", "stagger"),
        ("coordination.scheme", "local", "ideal"),
        ("ssd.gc.preemption", "none", if has_superblocks { "suspend" } else { "semi" }),
        ("ssd.gc.victim", "greedy", "fifo"),
        ("read.plan", "home", "avoid"),
    ];
    let suitable: Vec<_> = remedies.iter().filter(|(key, ..)| *key != "read.plan" || level != "raid0").copied().collect();
    let (key, base, other) = draw.one_of(&suitable);
    let named = format!("seed {seed}: {key} {base} against {other}, {level} of {members}, {requests:.0} requests");
    let (key, values) = match several {
        true => ("coordination.scheme", vec!["local", "reactive-inclusive", "reactive-selective", "stagger", "ideal"]),
        false => (key, vec![base, other]),
    };
    let plan = Study::from_toml(&text).and_then(|study| study.vary(key, values)?.workers(1).plan());
    (plan.unwrap_or_else(|error| panic!("{named}: {error}\n{text}")), named)
}

/// Counts of what was said, and of what was true.
#[derive(Debug, Default)]
struct Counts {
    comparisons: usize,
    judged: usize,
    signs: usize,
    signs_right: usize,
    intervals: usize,
    intervals_right: usize,
    /// Comparisons, and those that were judged, by the rarest cycle of a member: below 1, to 3, to 10, and more.
    by_cycles: [(usize, usize); 4],
    wrong: Vec<String>,
}

fn grid(plan: &StudyPlan) -> Grid {
    let result: StudyResult = plan.run(&()).unwrap();
    Grid::of(result).unwrap()
}

impl Counts {
    fn add(&mut self, seed: u64) {
        let (plan, name) = comparison(seed, false);
        let short = grid(&plan);
        let is_stable =
            |grid: &Grid| grid.points.iter().all(|point| point.reports.iter().all(|report| report["verdict"]["load"] == "stable"));
        if !is_stable(&short) {
            return;
        }
        self.comparisons += 1;
        let cycles = |point: usize| short.points[point].reports[0]["cycles"]["kinds"][0]["least"].as_f64().unwrap_or(0.0);
        let rarest = cycles(0).min(cycles(1));
        let class = [1.0, 3.0, 10.0].iter().filter(|border| rarest >= **border).count();
        self.by_cycles[class].0 += 1;
        if !short.are_comparable(1, 0) {
            return;
        }
        let long = grid(&plan.longer(LONGER).unwrap());
        if !is_stable(&long) {
            return;
        }
        self.judged += 1;
        self.by_cycles[class].1 += 1;
        for pointer in [MEAN, P99] {
            let is_guess = |grid: &Grid| grid.points.iter().any(|point| point.is_guess(pointer));
            let (Some(said), Some(truth)) = (short.ratio(1, 0, pointer), long.ratio(1, 0, pointer)) else { continue };
            if !is_guess(&short) {
                self.compare(&name, pointer, said, truth);
            }
        }
    }

    fn compare(&mut self, name: &str, pointer: &str, said: Estimate, truth: Estimate) {
        let trend = Trend::of(pointer, said);
        if trend != Trend::Undecided {
            self.signs += 1;
            let is_right = (trend == Trend::Less) == (truth.mean < 1.0);
            self.signs_right += usize::from(is_right);
            if !is_right {
                self.wrong.push(format!("{name}: {pointer} sign, said {said:?}, true {:.3}", truth.mean));
            }
        }
        if let Some(half_width) = said.interval_half_width {
            self.intervals += 1;
            // The truth has an interval, too, a fraction of the other.
            let is_right = (said.mean - truth.mean).abs() <= half_width + truth.interval_half_width.unwrap_or(0.0);
            self.intervals_right += usize::from(is_right);
            if !is_right {
                self.wrong.push(format!("{name}: {pointer} interval, said {:.3} ± {half_width:.3}, true {:.3}", said.mean, truth.mean));
            }
        }
    }
}

fn of(seeds: std::ops::Range<u64>) -> Counts {
    let mut counts = Counts::default();
    seeds.for_each(|seed| counts.add(seed));
    eprintln!("{counts:#?}");
    counts
}

#[test]
fn what_thirty_comparisons_say_is_true() {
    let counts = of(1..31);
    assert!(counts.judged >= 8, "{counts:#?}");
    assert!(counts.signs_right == counts.signs && counts.intervals_right * 10 >= counts.intervals * 8, "{counts:#?}");
}

#[test]
#[ignore = "minutes: make test-long"]
fn what_three_hundred_comparisons_say_is_true() {
    let counts = of(1..301);
    assert!(counts.signs_right * 100 >= counts.signs * 97, "{counts:#?}");
    assert!(counts.intervals_right * 100 >= counts.intervals * 90, "{counts:#?}");
}

/// Returns the mean of a figure's name in sentences, from the report of a point.
fn figure(grid: &Grid, label: &str, name: &str) -> f64 {
    let point = grid.points.iter().find(|point| point.label() == label).unwrap_or_else(|| panic!("no point {label}"));
    let pointer = format!("/response_us/all/{}", name.replace('.', "_"));
    point.reports[0].pointer(&pointer).and_then(serde_json::Value::as_f64).unwrap_or_else(|| panic!("{label} {name}"))
}

/// Returns the names of a list such as `A, B and C`, without the number of those that it leaves out.
fn names(text: &str) -> Vec<&str> {
    text.split(", ").flat_map(|part| part.split(" and ")).map(str::trim).filter(|name| !name.ends_with(" more")).collect()
}

/// Returns the first change of a text such as `−11.8 ±6.3 %` or `×2.11`, in percent.
fn percentage(text: &str) -> f64 {
    if let Some(times) = text.trim_start().strip_prefix('×') {
        return (times.split(' ').next().unwrap_or_default().parse::<f64>().unwrap_or_else(|_| panic!("{text}")) - 1.0) * 100.0;
    }
    let number = text.trim_start().split([' ', '±', '%']).next().unwrap_or_default();
    number.replace('−', "-").replace('+', "").parse().unwrap_or_else(|_| panic!("{text}"))
}

/// Returns by how much the first percentage of a text may be off: half of its last digit.
fn rounding(text: &str) -> f64 {
    if text.trim_start().split([' ', '±', '%']).next().unwrap_or_default().contains('.') { 0.0501 } else { 0.501 }
}

/// Asserts that a clause `FIGURE PERCENTAGE` gives the change of the figure between two points.
fn expect_change(grid: &Grid, label: &str, base: &str, clause: &str) {
    let (name, rest) = clause.trim().split_once(' ').unwrap();
    let change = (figure(grid, label, name) / figure(grid, base, name) - 1.0) * 100.0;
    if let Some((from, to)) = rest.split_once(" to ") {
        return assert!(percentage(from) - 0.6 <= change && change <= percentage(to) + 0.6, "{clause}: {change}");
    }
    assert!((percentage(rest) - change).abs() <= rounding(rest), "{clause}: {change}");
}

/// Holds each clause of a sentence against the reports, by the rules of docs/figures.md. Returns the number of clauses.
fn expect_true(grid: &Grid, sentence: &str) -> usize {
    let base = "local";
    let mean = |label: &str| figure(grid, label, "mean");
    let index = |label: &str| grid.points.iter().position(|point| point.label() == label).unwrap();
    let clauses: Vec<&str> = sentence.trim_end_matches('.').split("; ").collect();
    for clause in &clauses {
        if let Some((best, changes)) = clause.split_once(" is best: ") {
            let (changes, against) = changes.rsplit_once(" against ").unwrap();
            assert_eq!(against, base, "{clause}");
            changes.split(", ").for_each(|change| expect_change(grid, best, base, change));
            assert!(mean(best) <= mean(base) * 1.001 && grid.may_speak_of(index(best)) && best != "ideal", "{clause}");
        } else if let Some(rest) =
            clause.strip_prefix("no remedy is distinguishable from ").or_else(|| clause.strip_prefix("no remedy beats "))
        {
            assert!(rest.starts_with(base), "{clause}");
            let beats = |point: usize| {
                let ratio = grid.ratio(point, 0, MEAN).filter(|_| !grid.points[point].is_yardstick());
                ratio.is_some_and(|ratio| ratio.mean + ratio.interval_half_width.unwrap_or(0.0) < 0.95)
            };
            let has_longer_tail = sentence.contains("longer p99");
            assert!(has_longer_tail || !(1..grid.points.len()).any(beats), "{clause}");
        } else if let Some(rest) = clause.strip_prefix("longer ") {
            let (what, points) = rest.split_once(": ").unwrap();
            let names_of = points.split_once(" (").unwrap().0;
            for (label, figure_name) in names(names_of).into_iter().flat_map(|label| names(what).into_iter().map(move |name| (label, name)))
            {
                assert!(figure(grid, label, figure_name) > figure(grid, base, figure_name), "{clause}: {label} {figure_name}");
            }
        } else if let Some(points) = clause.strip_prefix("not judged: ") {
            let listed = points.split(" had ").next().unwrap().split(" lived ").next().unwrap().split(" collected ").next().unwrap();
            names(listed).iter().for_each(|label| assert!(!grid.may_speak_of(index(label)), "{clause}"));
        } else if let Some(changes) = clause.strip_prefix("collection in 0 s, the yardstick: ") {
            changes.trim_end_matches(" against local").split(", ").for_each(|change| expect_change(grid, "ideal", base, change));
        } else if let Some((_, points)) =
            clause.split_once(" that is not judged is faster: ").or_else(|| clause.split_once(" that are not judged are faster: "))
        {
            let best = clauses[0].split_once(" is best").map_or(base, |(best, _)| best);
            for label in names(points) {
                assert!(!grid.may_speak_of(index(label)) && mean(label) < mean(best), "{clause}");
            }
        } else if let Some((labels, changes)) = clause.strip_prefix("write amplification of ").and_then(|rest| rest.split_once(": ")) {
            let of = |label: &str| grid.points[index(label)].reports[0]["flash"]["write_amplification"].as_f64().unwrap();
            for label in names(labels) {
                let change = (of(label) / of(base) - 1.0) * 100.0;
                let (least, most) = changes.split_once(" to ").unwrap_or((changes, changes));
                assert!(percentage(least) - 0.6 <= change && change <= percentage(most) + 0.6, "{clause}: {label} {change}");
            }
        } else if let Some(points) = clause.strip_prefix("not steady, so that longer runs may say otherwise: ") {
            names(points).iter().for_each(|label| assert!(grid.points[index(label)].is_unsteady(), "{clause}"));
        } else if let Some((label, _)) =
            clause.split_once(" had ").or_else(|| clause.split_once(" lived on credit")).or_else(|| clause.split_once(" collected nothing"))
        {
            assert!(!grid.may_speak_of(index(label)), "{clause}");
        } else if let Some(rest) =
            clause.strip_prefix("no point is compared with ").or_else(|| clause.strip_prefix("no point can be compared with "))
        {
            assert!(
                rest.starts_with(base)
                    && (1..grid.points.len()).all(|point| grid.points[point].is_yardstick() || grid.ratio(point, 0, MEAN).is_none()),
                "{clause}"
            );
        } else if clause.starts_with("it needs about ") {
            assert!(sentence.contains("not judged: ") && clause.contains(" requests (--until judged --at-most "), "{clause}");
        } else if let Some((labels, rest)) = clause.split_once(" are best and not distinguishable with ") {
            assert!(rest.contains(": mean "), "{clause}");
            names(labels)
                .iter()
                .for_each(|label| assert!(mean(label) <= mean(base) * 1.001 && grid.may_speak_of(index(label)), "{clause}"));
        } else if let Some(rest) = clause.strip_prefix("no remedy shortens the mean of local without lengthening ") {
            assert!(!rest.is_empty());
        } else if let Some((label, change)) = clause.split_once(" has the shortest mean, ") {
            expect_change(grid, label, base, &format!("mean {change}"));
        } else {
            panic!("a clause that concludes nothing that is known: {clause}");
        }
    }
    clauses.len()
}

/// Asserts that what collection costs is what goes away with `ideal`.
fn expect_cost(grid: &Grid, sentence: &str) -> usize {
    let costs = sentence.strip_prefix("Collection costs ").unwrap().trim_end_matches('.');
    for cost in costs.split(", and ") {
        let (label, shares) = cost.split_once(' ').unwrap();
        let of_best_is_known = label == "local";
        for share in
            shares.split(" and ").filter(|share| of_best_is_known && share.as_bytes()[0].is_ascii_digit() && !share.contains(" to "))
        {
            let (share, name) = share.split_once(" of its ").unwrap();
            let caused = (1.0 - figure(grid, "ideal", name) / figure(grid, label, name)) * 100.0;
            assert!((percentage(share) - caused).abs() <= rounding(share), "{cost}: {caused}");
        }
    }
    1
}

#[test]
fn sentences_of_twenty_comparisons_are_true() {
    let mut clauses = 0;
    for seed in 1001..1021 {
        let (plan, name) = comparison(seed, true);
        let grid = grid(&plan);
        for sentence in grid.conclusions() {
            eprintln!("{name}: {sentence}");
            clauses += expect_true(&grid, &sentence);
        }
        clauses += grid.costs_of_collection().iter().map(|sentence| expect_cost(&grid, sentence)).sum::<usize>();
    }
    assert!(clauses >= 30, "{clauses}");
}
