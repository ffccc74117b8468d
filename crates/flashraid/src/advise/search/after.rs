//! Runs of an array that was chosen: circumstances, plausible drives, steps from the present array, and growth of the load.

use serde_json::Value;

use super::*;
use crate::advise::advice::{PlausibleDrives, Step};
use crate::advise::plausible::{PlausibleDrive, plausible_drives};

/// Share of the remaining requests that plausible drives may take.
const PLAUSIBLE_SHARE: f64 = 0.6;
/// Number of plausible drives, and the number for answers that must be right with more than `SURE_ERROR`.
const PLAUSIBLE: [usize; 2] = [8, 20];
/// Share of wrong answers at or below which more plausible drives are tried.
const SURE_ERROR: f64 = 0.01;
/// Most arrays that are compared in each plausible drive.
const COMPARED_MAX: usize = 3;

impl Search<'_> {
    /// Runs an array in the circumstances that goals or the user ask for. Those that only the user asks for are left out if the search has
    /// no more requests.
    pub(super) fn circumstances(&mut self, one: usize, seed: u64) -> Result<Option<Circumstances>, Error> {
        let mut runs = Vec::new();
        for under in Circumstance::ALL {
            let is_goal = self.advisor.goals.iter().any(|goal| goal.under == under);
            let is_affordable = self.spent + (runs.len() + 2) as u64 * self.cost_of(self.race_requests) <= self.requests_max;
            let is_asked = is_goal || (is_affordable && self.advisor.under.contains(&under));
            let needs_redundancy = matches!(under, Circumstance::Failed | Circumstance::Rebuild);
            if under == Circumstance::Healthy || !is_asked || (needs_redundancy && !self.field[one].has_redundancy) {
                continue;
            }
            let run = |round| RunOf { under, ..self.run_of(seed + round, self.race_requests) };
            runs.extend((0..2).map(|round| (self.field[one].clone(), run(round))));
        }
        let circumstances: Vec<Circumstance> = runs.iter().map(|(_, run)| run.under).collect();
        let mut all = Circumstances::new();
        for (under, sample) in circumstances.into_iter().zip(self.run_all(runs, "circumstances")?) {
            let Some(sample) = sample else { return Ok(None) };
            all.entry(under).or_default().push(sample);
        }
        Ok(Some(all))
    }

    /// Returns by how much the load may grow until the first goal is missed. There must be a goal about response times or life.
    pub(super) fn growth(&mut self, one: usize, samples: &[Sample], seed: u64) -> Result<Option<f64>, Error> {
        let grows = |goal: &&Goal| {
            goal.under == Circumstance::Healthy && matches!(goal.figure, Figure::Response(..) | Figure::Life | Figure::WriteAmplification)
        };
        let goals: Vec<Goal> = self.advisor.goals.iter().filter(grows).cloned().collect();
        if goals.is_empty() || self.is_closed {
            return Ok(None);
        }
        let life = self.life(one, samples).map(|[_, most]| most);
        // Two factors at a time, because there are two processors and more.
        let mut hold = |factors: [f64; 2]| -> Result<Option<[bool; 2]>, Error> {
            if self.spent + 2 * self.cost_of(self.race_requests) > self.requests_max {
                return Ok(None);
            }
            let run = |factor: f64| {
                let run = self.run_of(seed + SEEDS_OF_STAGE, self.race_requests);
                (self.field[one].clone(), RunOf { rate_scale: Some(self.base_rate * factor), ..run })
            };
            let samples = self.run_all(factors.map(run).to_vec(), "growth of the load")?;
            let Some(samples) = samples.into_iter().collect::<Option<Vec<Sample>>>() else { return Ok(None) };
            let is_met = |goal: &Goal, factor: f64, sample: &Sample| match goal.figure {
                // A drive that is written to so much faster lives so much shorter.
                Figure::Life => life.is_some_and(|life| life / factor >= goal.limit),
                _ => self.met(one, goal, std::slice::from_ref(sample)).is_some_and(|met| met.violation <= 0.0),
            };
            let holds = |index: usize| {
                let sample = &samples[index];
                !sample.falls_behind && goals.iter().all(|goal| is_met(goal, factors[index], sample))
            };
            Ok(Some([holds(0), holds(1)]))
        };
        let (mut low, mut high) = (1.0, f64::INFINITY);
        for factors in [[2.0, 4.0], [8.0, GROWTH_MAX]] {
            match hold(factors)? {
                None => return Ok(None),
                Some([false, _]) => high = factors[0],
                Some([true, false]) => (low, high) = (factors[0], factors[1]),
                Some([true, true]) => low = factors[1],
            }
            if high.is_finite() {
                break;
            }
        }
        for _ in 0..2 {
            let third = libm::cbrt(high / low);
            if !high.is_finite() {
                break;
            }
            let factors = [low * third, low * third * third];
            match hold(factors)? {
                None => break,
                Some([false, _]) => high = factors[0],
                Some([true, false]) => (low, high) = (factors[0], factors[1]),
                Some([true, true]) => low = factors[1],
            }
        }
        Ok(Some(low))
    }

    /// Runs an array and up to two others with drives that are as plausible as their presets. The result is `None` if there are no such
    /// drives, or too few requests are left.
    pub(super) fn plausible(&mut self, chosen: usize, others: &[usize], seed: u64) -> Result<Option<PlausibleDrives>, Error> {
        let arrays: Vec<usize> = std::iter::once(chosen).chain(others.iter().copied().take(COMPARED_MAX - 1)).collect();
        let count = PLAUSIBLE[usize::from(self.advisor.error <= SURE_ERROR)];
        let mut drives: Vec<Vec<PlausibleDrive>> = Vec::new();
        for one in &arrays {
            let array = &self.field[*one];
            let scenario = |settings: &[(String, String)]| array.varied(settings).scenario(&self.run_of(seed, self.race_requests)).ok();
            let Some(own) = scenario(&[]) else { return Ok(None) };
            drives.push(plausible_drives(&own.config.ssd, count, self.advisor.seed, &scenario));
        }
        let count = drives.iter().map(Vec::len).min().unwrap_or(0);
        if count == 0 {
            return Ok(None);
        }
        let left = self.requests_max.saturating_sub(self.spent) as f64 * PLAUSIBLE_SHARE;
        let requests = ((left / (count * arrays.len()) as f64) as u64).saturating_sub(self.skipped()).min(self.race_requests);
        if requests < self.requests_of_figure {
            self.notes.push("plausible drives were not tried, because too few requests were left".to_owned());
            return Ok(None);
        }
        let run = self.run_of(seed, requests);
        let mut runs = Vec::new();
        for index in 0..count {
            runs.extend(arrays.iter().zip(&drives).map(|(one, drives)| (self.field[*one].varied(&drives[index].settings), run)));
        }
        let samples = self.run_all(runs, "plausible drives")?;
        let mut found = PlausibleDrives {
            drives: 0,
            best_in: 0,
            goals_met_in: 0,
            figure: self.figure.to_string(),
            least: f64::INFINITY,
            most: 0.0,
            exceptions: Vec::new(),
        };
        for (index, samples) in samples.chunks(arrays.len()).enumerate() {
            let Some(samples) = samples.iter().cloned().collect::<Option<Vec<Sample>>>() else { return Ok(None) };
            let scores: Option<Vec<Vec<f64>>> = samples.iter().map(|sample| sample.scores(self.figure)).collect();
            // What collected too little says nothing of this drive.
            let (Some(scores), true) = (scores, samples.iter().all(|sample| sample.shortfall.is_none())) else { continue };
            let Some(value) = self.score(self.figure, &samples[..1]) else { continue };
            let is_behind = |other: &Vec<f64>| {
                Differences::between(&scores[0], other).is_none_or(|by| by.lower_bound(1.0 - self.rules.error) > self.rules.indifference)
            };
            let is_best = !scores[1..].iter().any(is_behind);
            let is_met = !samples[0].falls_behind && self.violation(chosen, &samples[..1], 0.0) <= 0.0;
            let value = libm::exp(if self.figure == Figure::Iops { -value.mean } else { value.mean });
            found.drives += 1;
            found.best_in += usize::from(is_best);
            found.goals_met_in += usize::from(is_met);
            (found.least, found.most) = (found.least.min(value), found.most.max(value));
            if !is_best || !is_met {
                found.exceptions.push(drives[0][index].to_string());
            }
        }
        Ok((found.drives > 0).then_some(found))
    }

    /// Returns what each change on the way from the present array to the chosen one is worth, with the requests and seeds of `fresh`.
    pub(super) fn steps(&mut self, now: usize, chosen: usize, fresh: &Fresh) -> Result<Vec<Step>, Error> {
        let [from, to] = [self.field[now].configuration()?, self.field[chosen].configuration()?];
        let changes = changes(&from, &to);
        let rounds = 2.min(fresh.samples.get(&now).map_or(0, Vec::len)).min(fresh.samples.get(&chosen).map_or(0, Vec::len));
        let cost = (changes.len().saturating_sub(1) * rounds) as u64 * self.cost_of(self.race_requests);
        if rounds == 0 || changes.is_empty() || self.spent + cost > self.requests_max {
            return Ok(Vec::new());
        }
        let scores_of = |samples: &[Sample], figure: Figure| -> Option<Vec<f64>> {
            let scores: Option<Vec<Vec<f64>>> = samples[..rounds].iter().map(|sample| sample.scores(figure)).collect();
            scores.map(|scores| scores.concat())
        };
        let Some(mut before) = scores_of(&fresh.samples[&now], self.figure) else { return Ok(Vec::new()) };
        let mut config = from;
        let (mut steps, mut names): (Vec<Step>, Vec<String>) = (Vec::new(), Vec::new());
        for (index, change) in changes.iter().enumerate() {
            change.apply(&mut config, &to);
            names.push(change.name.clone());
            let after = if index + 1 == changes.len() {
                scores_of(&fresh.samples[&chosen], self.figure)
            } else {
                // Some changes are no array without the next one.
                let Ok(between) = self.field[now].with_configuration(&config) else { continue };
                let run_of = |round: usize| self.run_of(fresh.seed + round as u64, self.race_requests);
                if between.scenario(&run_of(0)).is_err() {
                    continue;
                }
                let runs = (0..rounds).map(|round| (between.clone(), run_of(round))).collect();
                let samples = self.run_all(runs, "steps from the present array")?;
                let Some(samples) = samples.into_iter().collect::<Option<Vec<Sample>>>() else { return Ok(Vec::new()) };
                scores_of(&samples, self.figure)
            };
            let Some(after) = after else { return Ok(Vec::new()) };
            let Some(by) = Differences::between(&after, &before) else { return Ok(Vec::new()) };
            let sign = if self.figure == Figure::Iops { -1.0 } else { 1.0 };
            let width = by.half_width(0.975);
            let mut interval = [libm::exp(sign * (by.mean - width)), libm::exp(sign * (by.mean + width))];
            interval.sort_by(f64::total_cmp);
            steps.push(Step { change: names.join(" and "), ratio: libm::exp(sign * by.mean), interval });
            names.clear();
            before = after;
        }
        Ok(steps)
    }
}

/// A difference of two arrays: keys of the configuration that belong together.
struct ArrayChange {
    name: String,
    pointers: Vec<String>,
}

impl ArrayChange {
    /// Copies the values of the change.
    fn apply(&self, config: &mut Value, to: &Value) {
        for pointer in &self.pointers {
            let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
            let Some(table) = config.pointer_mut(parent).and_then(Value::as_object_mut) else { continue };
            match to.pointer(pointer) {
                Some(value) => drop(table.insert(key.to_owned(), value.clone())),
                None => drop(table.shift_remove(key)),
            }
        }
    }
}

/// Returns the differences of two arrays in the order in which they are explained: drive, level, chunk, use, and others.
fn changes(from: &Value, to: &Value) -> Vec<ArrayChange> {
    const RESERVED: &str = "/ssd/geometry/reserved";
    let mut all = Vec::new();
    // Tables of the drive as a whole, except the share in use.
    let keys = |config: &Value, pointer: &str| -> Vec<String> {
        let table = config.pointer(pointer).and_then(Value::as_object);
        table.into_iter().flat_map(|table| table.keys().map(|key| format!("{pointer}/{key}"))).collect()
    };
    let both = |pointer: &str| -> Vec<String> {
        let mut keys: Vec<String> = keys(from, pointer).into_iter().chain(keys(to, pointer)).collect();
        keys.sort();
        keys.dedup();
        keys
    };
    let differs = |pointer: &String| from.pointer(pointer) != to.pointer(pointer);
    let of_drive = both("/ssd").into_iter().filter(|pointer| pointer != "/ssd/geometry").chain(both("/ssd/geometry"));
    let of_drive: Vec<String> = of_drive.filter(|pointer| pointer != RESERVED && differs(pointer)).collect();
    let preset = [from, to].map(|config| text(config, "/ssd/preset"));
    if !of_drive.is_empty() {
        let name = match preset[0] == preset[1] {
            true => of_drive.iter().flat_map(|pointer| leaves(from, to, pointer)).collect::<Vec<_>>().join(", "),
            false => format!("drives {} instead of {}", preset[1], preset[0]),
        };
        all.push(ArrayChange { name, pointers: of_drive });
    }
    let mut of_level = both("/array").into_iter().filter(differs).collect::<Vec<_>>();
    let chunk: Vec<String> = of_level.extract_if(.., |pointer| pointer == "/array/stripe_unit").collect();
    if !of_level.is_empty() {
        let level = |config: &Value| {
            let level = text(config, "/array/level").to_uppercase().replace("RAID", "RAID-");
            format!("{level} of {}", text(config, "/array/members"))
        };
        all.push(ArrayChange { name: format!("{} instead of {}", level(to), level(from)), pointers: of_level });
    }
    if let Some(pointer) = chunk.first() {
        let name = format!("chunk {} instead of {}", text(to, pointer), text(from, pointer));
        all.push(ArrayChange { name, pointers: chunk });
    }
    if differs(&RESERVED.to_owned()) {
        let used = |config: &Value| 1.0 - config.pointer(RESERVED).and_then(Value::as_f64).unwrap_or(0.0);
        let share = used(to) / used(from) - 1.0;
        let more = if share < 0.0 { "less" } else { "more" };
        let name = format!("{:.0} % {more} of each drive in use", libm::fabs(share) * 100.0);
        all.push(ArrayChange { name, pointers: vec![RESERVED.to_owned()] });
    }
    let is_load = |pointer: &String| ["/array", "/ssd", "/workload", "/report", "/seed"].contains(&pointer.as_str());
    for pointer in both("").into_iter().filter(|pointer| !is_load(pointer) && differs(pointer)) {
        let name = leaves(from, to, &pointer).join(", ");
        all.push(ArrayChange { name, pointers: vec![pointer] });
    }
    all
}

/// Formats the value of a key.
fn text(config: &Value, pointer: &str) -> String {
    match config.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "none".to_owned(),
    }
}

/// Describes what differs in a key or in the table that it is.
fn leaves(from: &Value, to: &Value, pointer: &str) -> Vec<String> {
    if from.pointer(pointer) == to.pointer(pointer) {
        return Vec::new();
    }
    match (from.pointer(pointer), to.pointer(pointer)) {
        (Some(Value::Object(own)), Some(Value::Object(other))) => {
            let mut keys: Vec<&String> = own.keys().chain(other.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            keys.into_iter().flat_map(|key| leaves(from, to, &format!("{pointer}/{key}"))).collect()
        }
        _ => vec![format!("{}={} instead of {}", pointer[1..].replace('/', "."), text(to, pointer), text(from, pointer))],
    }
}
