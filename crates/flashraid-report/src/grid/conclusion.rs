//! Summarises a comparison in a sentence for each workload. The rule is in docs/figures.md; a test compares the sentences with the table.

use serde_json::Value;

use super::judge::{MEAN, TAILS, Trend, Workload};
use super::{Estimate, Grid};
use crate::figures::CAPACITY;
use crate::number;
use flashraid::study::{AxisKind, axis_kind};

/// Largest number of names in one list of a sentence.
const NAMES_MAX: usize = 4;

/// Largest number of points that a sentence lays out beside each other.
const RESOURCES_MAX: usize = 6;
/// Greatest relative difference of means at which an assumption does not matter.
const ASSUMPTION_SPREAD_MAX: f64 = 0.05;

/// Figures that a remedy may make worse, and their names in the sentence.
const PRICES: [(&str, &str); 2] = [("/flash/write_amplification", "write amplification"), (CAPACITY, "capacity")];

impl Grid {
    /// Returns a sentence for each workload: which remedy wins in mean and tail, and how the others do. If each workload has only one
    /// point, nothing is a remedy, and a single sentence puts the points beside each other. Nothing is concluded of remedies for an idle
    /// array.
    pub fn conclusions(&self) -> Vec<String> {
        let workloads = self.workloads();
        // All workloads have the same combinations of remedies.
        let is_contest = |workload: &Workload| workload.points.len() > 1;
        if !workloads.iter().all(is_contest) {
            return self.side_by_side().map(|text| format!("{text}.")).into_iter().collect();
        }
        let several = workloads.len() > 1;
        let sentence = |workload: &Workload| {
            let text = Contest::of(self, workload)?.sentence();
            Some(if several { format!("{}: {text}.", workload.name) } else { format!("{text}.") })
        };
        let busy = workloads.iter().filter(|workload| self.idle_under(workload).is_none());
        busy.map(sentence).collect::<Option<Vec<String>>>().unwrap_or_default()
    }
}

impl Grid {
    /// Returns a sentence about points that do not differ in remedies. Resources are laid out, loads are told apart, and assumptions should
    /// not matter. Returns `None` if there is nothing to put beside each other.
    fn side_by_side(&self) -> Option<String> {
        if self.points.len() < 2 || self.points.iter().any(|point| !point.is_measured()) {
            return None;
        }
        let keys: Vec<&str> = self.axes.iter().filter(|axis| axis.values.len() > 1).map(|axis| axis.key.as_str()).collect();
        let is_any = |kind: AxisKind| keys.iter().any(|key| axis_kind(key) == kind);
        match () {
            () if is_any(AxisKind::Remedy) => None,
            () if is_any(AxisKind::Load) => Some("points under different loads are not compared".to_owned()),
            () if is_any(AxisKind::Resource) => {
                let offers = (0..self.points.len().min(RESOURCES_MAX)).map(|point| self.offer(point)).collect::<Vec<_>>().join("; ");
                let more = self.points.len().saturating_sub(RESOURCES_MAX);
                let rest = if more > 0 { format!("; {more} more in the table") } else { String::new() };
                Some(format!("resources, of which none is better for all: {offers}{rest}"))
            }
            () => self.spread_over_assumptions(&list(keys.iter().map(|key| (*key).to_owned()))),
        }
    }

    /// Returns what a point offers: its capacity, the failures that it survives, and its response times.
    fn offer(&self, index: usize) -> String {
        let point = &self.points[index];
        let mean_of = |pointer: &str| point.estimate(pointer).map(|estimate| estimate.mean);
        let level = point.reports.first().and_then(|report| report["config"]["array"]["level"].as_str());
        let survives = match level {
            Some("raid6") => Some("survives any two failures"),
            Some("raid1" | "raid10" | "raid4" | "raid5") => Some("survives any one failure"),
            Some(_) => Some("survives no failure"),
            None => None,
        };
        let capacity = mean_of(CAPACITY).map(number::capacity);
        let tail = TAILS.into_iter().find(|(pointer, _)| !point.is_guess(pointer) && mean_of(pointer).is_some());
        let tail = tail.and_then(|(pointer, name)| Some(format!("{name} {}", number::duration_us(mean_of(pointer)?))));
        let mean = mean_of(MEAN).map(|mean| format!("mean {}", number::duration_us(mean)));
        let doubt = (!point.is_judged()).then(|| "not judged".to_owned());
        let parts: Vec<String> = [capacity, survives.map(str::to_owned), mean, tail, doubt].into_iter().flatten().collect();
        format!("{}: {}", point.label(), parts.join(", "))
    }

    /// Returns a sentence that says if assumptions matter, if all points are judged.
    fn spread_over_assumptions(&self, keys: &str) -> Option<String> {
        let means: Vec<f64> =
            self.points.iter().filter(|point| point.is_judged()).filter_map(|point| Some(point.estimate(MEAN)?.mean)).collect();
        if means.len() < self.points.len() {
            return None;
        }
        let (least, most) = (means.iter().copied().reduce(f64::min)?, means.iter().copied().reduce(f64::max)?);
        let [from, to] = [least, most].map(number::duration_us);
        let matters = most > least * (1.0 + ASSUMPTION_SPREAD_MAX);
        Some(match matters {
            true => format!("{keys} matters, although it is only an assumption: means lie between {from} and {to}"),
            false => format!("{keys} does not matter: means lie between {from} and {to}"),
        })
    }
}

/// A point that may win, with its ratios to the baseline.
#[derive(Clone, Copy)]
struct Contestant {
    point: usize,
    mean: Estimate,
    tail: Option<Estimate>,
}

/// Comparison of the points of one workload.
struct Contest<'a> {
    grid: &'a Grid,
    baseline: usize,
    /// Pointer and name of the percentile that is judged.
    tail: Option<(&'static str, &'static str)>,
    /// Real remedies other than the baseline that were measured and lost no data.
    contestants: Vec<Contestant>,
    yardsticks: Vec<Contestant>,
    lost: Vec<usize>,
    unmeasured: Vec<usize>,
    /// Points that the comparison does not speak of, because collection happened too seldom in them.
    not_judged: Vec<usize>,
}

impl<'a> Contest<'a> {
    fn of(grid: &'a Grid, workload: &Workload) -> Option<Contest<'a>> {
        let baseline = grid.baselines[*workload.points.first()?];
        if workload.points.iter().any(|point| grid.baselines[*point] != baseline) {
            return None;
        }
        let is = |test: fn(&super::Point) -> bool| move |point: &usize| test(&grid.points[*point]);
        let (unmeasured, rest): (Vec<usize>, Vec<usize>) = workload.points.iter().partition(|point| !is(super::Point::is_measured)(point));
        let (lost, rest): (Vec<usize>, Vec<usize>) = rest.into_iter().partition(is(super::Point::has_lost));
        let (rest, not_judged): (Vec<usize>, Vec<usize>) = rest.into_iter().partition(|point| grid.may_speak_of(*point));
        let others: Vec<usize> = rest.iter().copied().filter(|point| *point != baseline).collect();
        let is_supported = |(pointer, _): &(&str, &str)| {
            rest.iter().all(|point| grid.points[*point].figure(pointer).is_some() && !grid.points[*point].is_guess(pointer))
        };
        let tail = TAILS.into_iter().find(is_supported);
        let contestant = |point: usize| {
            let mean = grid.ratio(point, baseline, MEAN)?;
            Some(Contestant { point, mean, tail: tail.and_then(|(pointer, _)| grid.ratio(point, baseline, pointer)) })
        };
        let (yardsticks, contestants): (Vec<usize>, Vec<usize>) = others.into_iter().partition(is(super::Point::is_yardstick));
        let [contestants, yardsticks] = [contestants, yardsticks].map(|points| points.into_iter().filter_map(contestant).collect());
        Some(Contest { grid, baseline, tail, contestants, yardsticks, lost, unmeasured, not_judged })
    }

    fn sentence(&self) -> String {
        let mut parts = Vec::new();
        if self.lost.contains(&self.baseline) || self.unmeasured.contains(&self.baseline) {
            parts.push(format!("nothing can be compared with {}", self.name(self.baseline)));
        } else if self.not_judged.contains(&self.baseline) {
            let base = self.name(self.baseline);
            parts.push(format!("no point is compared with {base}, the table has absolute figures only"));
        } else if self.contestants.is_empty() && self.not_judged.iter().any(|point| !self.grid.points[*point].is_yardstick()) {
            parts.push(format!("no point can be compared with {}", self.name(self.baseline)));
        } else if !self.contestants.is_empty() {
            parts.extend(self.verdict());
        }
        parts.extend(self.clauses());
        parts.join("; ")
    }

    /// Returns the clauses about the winners and their costs.
    fn verdict(&self) -> Vec<String> {
        let base = self.name(self.baseline);
        let winners = self.winners();
        if !winners.is_empty() {
            let names = list(winners.iter().map(|winner| self.name(winner.point)));
            let is_best = match winners.len() {
                1 => format!("{names} is best"),
                _ => format!("{names} are best and not distinguishable with {}", self.with_seeds()),
            };
            let means = span(winners.iter().map(|winner| winner.mean));
            let tails: Option<Vec<Estimate>> = winners.iter().map(|winner| winner.tail).collect();
            let tails = self.tail.zip(tails).map_or(String::new(), |((_, name), tails)| format!(", {name} {}", span(tails.into_iter())));
            return std::iter::once(format!("{is_best}: mean {means}{tails} against {base}")).chain(self.prices(&winners)).collect();
        }
        let shortest = self.contestants.iter().filter(|one| self.mean_trend(one) == Trend::Less);
        let verdict = match shortest.min_by(|a, b| a.mean.mean.total_cmp(&b.mean.mean)) {
            Some(shortest) => {
                let tail = self.tail.map_or("its tail", |(_, name)| name);
                let name = self.name(shortest.point);
                format!(
                    "no remedy shortens the mean of {base} without lengthening {tail}; {name} has the shortest mean, {}",
                    change(shortest.mean)
                )
            }
            None if self.contestants.iter().all(|one| self.is_like_baseline(one)) => {
                format!("no remedy is distinguishable from {base} with {}", self.with_seeds())
            }
            None if self.grid.points[self.baseline].is_yardstick() => {
                let nearest = self.contestants.iter().min_by(|a, b| a.mean.mean.total_cmp(&b.mean.mean)).expect("there are contestants");
                format!("{} comes nearest to {base}: mean {}", self.name(nearest.point), change(nearest.mean))
            }
            None => format!("no remedy beats {base}"),
        };
        vec![verdict]
    }

    /// Returns the winners, which shorten mean or tail and lengthen neither. Of these the ones with the shortest means are kept, and then
    /// those with the shortest tails. Points with marks of doubt win only if no other does.
    fn winners(&self) -> Vec<Contestant> {
        let is_clean = |one: &&Contestant| {
            let trends = [self.mean_trend(one), self.tail_trend(one)];
            trends.contains(&Trend::Less) && !trends.contains(&Trend::More)
        };
        let clean: Vec<Contestant> = self.contestants.iter().filter(is_clean).copied().collect();
        let is_marked = |one: &Contestant| self.grid.points[one.point].is_unsteady();
        let (marked, unmarked): (Vec<Contestant>, Vec<Contestant>) = clean.into_iter().partition(is_marked);
        let clean = if unmarked.is_empty() { marked } else { unmarked };
        let (by_mean, by_tail): (Vec<Contestant>, Vec<Contestant>) = clean.into_iter().partition(|one| self.mean_trend(one) == Trend::Less);
        let fastest = if by_mean.is_empty() { by_tail } else { self.not_distinguishable(by_mean, MEAN, |one| Some(one.mean)) };
        match self.tail {
            Some((pointer, _)) => self.not_distinguishable(fastest, pointer, |one| one.tail),
            None => fastest,
        }
    }

    /// Returns the contestant with the smallest ratio of a figure, and those that can't be told from it, the smallest first.
    fn not_distinguishable(&self, mut of: Vec<Contestant>, pointer: &str, ratio: fn(&Contestant) -> Option<Estimate>) -> Vec<Contestant> {
        let rank = |one: &Contestant| ratio(one).map_or(f64::INFINITY, |ratio| ratio.mean);
        of.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        let Some(least) = of.first().copied() else { return of };
        let is_like_least = |one: &Contestant| {
            self.grid.ratio(one.point, least.point, pointer).is_none_or(|ratio| Trend::of(pointer, ratio) == Trend::Undecided)
        };
        of.retain(|one| one.point == least.point || is_like_least(one));
        of
    }

    fn mean_trend(&self, one: &Contestant) -> Trend {
        Trend::of(MEAN, one.mean)
    }

    fn tail_trend(&self, one: &Contestant) -> Trend {
        self.tail.zip(one.tail).map_or(Trend::Undecided, |((pointer, _), ratio)| Trend::of(pointer, ratio))
    }

    fn is_like_baseline(&self, one: &Contestant) -> bool {
        self.mean_trend(one) == Trend::Undecided && self.tail_trend(one) == Trend::Undecided
    }

    /// Returns the figures that get worse with the winners.
    fn prices(&self, winners: &[Contestant]) -> Vec<String> {
        let price = |(pointer, name): &(&str, &str)| {
            let costly = if *pointer == CAPACITY { Trend::Less } else { Trend::More };
            let ratio = |winner: &Contestant| {
                self.grid.ratio(winner.point, self.baseline, pointer).filter(|ratio| Trend::of(pointer, *ratio) == costly)
            };
            let costs: Vec<(String, Estimate)> =
                winners.iter().filter_map(|winner| Some((self.name(winner.point), ratio(winner)?))).collect();
            let names = list(costs.iter().map(|(name, _)| name.clone()));
            (!costs.is_empty()).then(|| format!("{name} of {names}: {}", span(costs.iter().map(|(_, ratio)| *ratio))))
        };
        PRICES.iter().filter_map(price).collect()
    }

    /// Returns the clauses about the others: longer times, lost data, doubts, and the yardstick.
    fn clauses(&self) -> Vec<String> {
        let is_base_in = ![&self.lost, &self.unmeasured, &self.not_judged].iter().any(|points| points.contains(&self.baseline));
        let named = |what: &str, points: &[usize]| {
            (!points.is_empty()).then(|| format!("{what}: {}", list(points.iter().map(|point| self.name(*point)))))
        };
        // Only the points that the sentence depends on are named as doubtful. The table marks the others.
        let rests_on = std::iter::once(self.baseline).chain(self.winners().into_iter().map(|winner| winner.point));
        let marked: Vec<usize> = rests_on.filter(|point| is_base_in && self.grid.points[*point].is_unsteady()).collect();
        let tail = self.tail.map_or("tail", |(_, name)| name);
        let yardstick = self.yardstick().map(|one| {
            let of_tail = one.tail.map_or(String::new(), |ratio| format!(", {tail} {}", change(ratio)));
            let against = if self.contestants.is_empty() { format!(" against {}", self.name(self.baseline)) } else { String::new() };
            let remedies = self.grid.axes.iter().filter(|axis| axis_kind(&axis.key) == AxisKind::Remedy);
            let name = if remedies.count() > 1 { format!(" {}", self.name(one.point)) } else { String::new() };
            format!("collection in 0 s, the yardstick{name}: mean {}{of_tail}{against}", change(one.mean))
        });
        let longer = if is_base_in { self.longer(tail) } else { Vec::new() };
        let rest = [
            named("data lost", &self.lost),
            named("nothing measured", &self.unmeasured),
            yardstick.filter(|_| is_base_in),
            named("not steady, so that longer runs may say otherwise", &marked),
        ];
        let doubted_but_faster = if is_base_in { self.doubted_but_faster() } else { Vec::new() };
        doubted_but_faster.into_iter().chain(longer).chain(rest.into_iter().flatten()).chain(self.shortfall()).collect()
    }

    /// Returns the yardstick of the first winner or, without winners, of the baseline: the same point with collection that takes no time.
    fn yardstick(&self) -> Option<Contestant> {
        let point = self.winners().first().map_or(self.baseline, |winner| winner.point);
        let differs_in_scheme_only = |yardstick: &usize| {
            let settings = [*yardstick, point].map(|point| &self.grid.points[point].settings);
            let mut differing = settings[0].iter().zip(settings[1]).filter(|(one, other)| one != other);
            differing.all(|(one, _)| one.selects_ideal_coordination())
        };
        let own = self.yardsticks.iter().find(|one| differs_in_scheme_only(&one.point));
        own.or_else(|| self.yardsticks.first().filter(|_| self.grid.axes.len() < 2)).copied()
    }

    /// Returns the clauses about points that may not win and have a shorter mean than the winner or, without one, than the baseline.
    fn doubted_but_faster(&self) -> Vec<String> {
        let winners = self.winners();
        let reference = winners.first().map_or(self.baseline, |winner| winner.point);
        let is_faster = |point: &usize| {
            let is_candidate = !winners.iter().any(|winner| winner.point == *point) && !self.grid.points[*point].is_yardstick();
            let ratio = self.grid.unjudged_ratio(*point, reference, MEAN).filter(|_| is_candidate);
            ratio.is_some_and(|ratio| Trend::of(MEAN, ratio) == Trend::Less)
        };
        let unsteady = self.contestants.iter().map(|one| one.point).filter(|point| self.grid.points[*point].is_unsteady());
        let groups =
            [("judged", self.not_judged.iter().copied().filter(is_faster).collect()), ("steady", unsteady.filter(is_faster).collect())];
        let clause = |(doubt, points): (&str, Vec<usize>)| {
            let names = list(points.iter().map(|point| self.name(*point)));
            match points.len() {
                0 => None,
                1 => Some(format!("a point that is not {doubt} is faster: {names}")),
                2 => Some(format!("two points that are not {doubt} are faster: {names}")),
                count => Some(format!("{count} points that are not {doubt} are faster: {names}")),
            }
        };
        groups.into_iter().filter_map(clause).collect()
    }

    /// Returns the clauses that say which points are not judged, what is missing in one of them, and how long a run has to be.
    fn shortfall(&self) -> Vec<String> {
        let needed = |point: &&usize| {
            let needed = |report: &Value| report["cycles"]["requests_until_judged"].as_u64();
            self.grid.points[**point].reports.iter().filter_map(needed).max().unwrap_or(0)
        };
        let Some(farthest) = self.not_judged.iter().rev().max_by_key(needed) else { return Vec::new() };
        let sentence = self.grid.points[*farthest].shortfall_sentence(&self.name(*farthest)).unwrap_or_default();
        match self.not_judged.len() {
            1 => vec![format!("not judged: {sentence}")],
            _ => vec![format!("not judged: {}", list(self.not_judged.iter().map(|point| self.name(*point)))), sentence],
        }
    }

    /// Returns the clauses about those that lengthen the tail or the mean; one list if both are the same.
    fn longer(&self, tail: &str) -> Vec<String> {
        let of = |trend: fn(&Self, &Contestant) -> Trend| -> Vec<&Contestant> {
            self.contestants.iter().filter(|one| trend(self, one) == Trend::More).collect()
        };
        let (tails, means) = (of(Self::tail_trend), of(Self::mean_trend));
        let points = |of: &[&Contestant]| of.iter().map(|one| one.point).collect::<Vec<_>>();
        let span_of = |of: &[&Contestant], ratio: fn(&Contestant) -> Option<Estimate>| span(of.iter().filter_map(|one| ratio(one)));
        let names = |of: &[&Contestant]| list(of.iter().map(|one| self.name(one.point)));
        if !tails.is_empty() && points(&tails) == points(&means) {
            let (mean, of_tail) = (span_of(&means, |one| Some(one.mean)), span_of(&tails, |one| one.tail));
            return vec![format!("longer mean and {tail}: {} (mean {mean}, {tail} {of_tail})", names(&means))];
        }
        let longer = |what: &str, of: &[&Contestant], ratio| {
            (!of.is_empty()).then(|| format!("longer {what}: {} ({})", names(of), span_of(of, ratio)))
        };
        [longer(tail, &tails, |one| one.tail), longer("mean", &means, |one| Some(one.mean))].into_iter().flatten().collect()
    }

    fn name(&self, point: usize) -> String {
        self.grid.points[point].remedy()
    }

    fn with_seeds(&self) -> String {
        match self.grid.seeds() {
            1 => "one seed".to_owned(),
            seeds => format!("{seeds} seeds"),
        }
    }
}

/// Joins names as in `A, B and C`. From a long list it names the first ones, and the number of the others.
pub(crate) fn list(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    if names.len() > NAMES_MAX {
        let more = names.len() - (NAMES_MAX - 1);
        names.truncate(NAMES_MAX - 1);
        names.push(format!("{more} more"));
    }
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// Formats several changes as the smallest and the largest.
fn span(ratios: impl Iterator<Item = Estimate>) -> String {
    let mut ratios: Vec<Estimate> = ratios.collect();
    ratios.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    match ratios.as_slice() {
        [] => String::new(),
        [only] => change(*only),
        [first, .., last] => {
            let [first, last] = [first, last].map(|ratio| number::change(ratio.mean, None));
            if first == last { first } else { format!("{first} to {last}") }
        }
    }
}

/// Formats a change as tables do.
fn change(ratio: Estimate) -> String {
    number::change(ratio.mean, ratio.interval_half_width)
}

/// Returns the points of a workload that its sentence names as best.
pub(super) fn best_points(grid: &Grid, workload: &Workload) -> Vec<usize> {
    Contest::of(grid, workload).map_or(Vec::new(), |contest| contest.winners().iter().map(|winner| winner.point).collect())
}
