//! The words of an answer.

use super::*;

impl Search<'_> {
    /// Answers with what was found.
    pub(super) fn found(&mut self, found: Found, behind: &[usize], seed: u64) -> Result<Advice, Error> {
        let Found { chosen, near, now, keeps, race, fresh } = found;
        for one in behind {
            self.leave(*one, format!("not raced: twelve others were better in {} in the screen", self.screened_by));
        }
        let mut sentences = Vec::new();
        let name = |search: &Self, one: usize| search.field[one].name.clone();
        let is_cost_first = self.advisor.prefer.first() == Some(&Preference::Cost);
        let (verb, named) = match (keeps, near.as_slice()) {
            (Some(now), _) => {
                let is_cheaper = is_cost_first && self.field[now].cost < self.field[chosen].cost;
                let reason = match is_cheaper {
                    true => "it meets the goals, and no other that does costs as little",
                    false => "the best of the others is better by less than 5 %",
                };
                sentences.push(format!("Keep {}: {reason}.", name(self, now)));
                (Verb::Keep, vec![now, chosen])
            }
            (None, []) => {
                sentences.push(format!("Take {}.", name(self, chosen)));
                (Verb::Take, vec![chosen])
            }
            (None, near) => {
                let others: Vec<String> = near.iter().map(|one| name(self, *one)).collect();
                sentences.push(format!(
                    "Either {}, or {}: they differ by less than can be told or matters.",
                    name(self, chosen),
                    others.join(", or ")
                ));
                (Verb::Either, std::iter::once(chosen).chain(near.iter().copied()).collect())
            }
        };
        sentences.push(self.certainty(chosen, &race, &fresh));
        if !behind.is_empty() && self.screened_by != self.figure {
            let (count, figure) = (behind.len(), self.figure);
            sentences.push(format!(
                "{count} more were compared in {} only, so that they may be better in {figure}; more requests (--effort) would tell.",
                self.screened_by
            ));
        }
        for one in 0..self.field.len() {
            let Some(sample) = self.samples[one].clone() else { continue };
            if race.group.contains(&one) || self.field[one].is_now {
                continue;
            }
            let is_dearer = self.field[one].cost > self.field[chosen].cost * (1.0 + 1e-9);
            if self.violation(one, std::slice::from_ref(&sample), 0.0) > 0.0 {
                self.leave(one, "misses a goal, though not surely".to_owned());
            } else if is_cost_first && is_dearer {
                self.leave(one, "costs more than one that meets the goals".to_owned());
            }
        }
        let order = race.order();
        if let Some(sentence) = self.halves(&order, &fresh.samples) {
            sentences.insert(0, sentence);
        }
        let why = match now {
            Some(now) if keeps.is_none() => self.steps(now, chosen, &fresh)?,
            _ => Vec::new(),
        };
        let mut rivals: Vec<usize> = fresh.finalists.iter().copied().filter(|one| *one != chosen).collect();
        rivals.sort_by_key(|one| !near.contains(one));
        let plausible = self.plausible(keeps.unwrap_or(chosen), &rivals, seed + 2 * SEEDS_OF_STAGE)?;
        let mut also = self.also(chosen, &race, &fresh);
        also.retain(|other| near.iter().chain(&keeps).all(|one| self.point_of[*one] != other.point));
        if let Some(sentence) = self.nothing_gained(chosen) {
            sentences.push(sentence);
        }
        let first = keeps.unwrap_or(chosen);
        let samples = fresh.samples.get(&first).cloned().unwrap_or_default();
        let growth = self.growth(first, &samples, seed)?;
        let named: Vec<usize> = named.into_iter().map(|one| self.point_of[one]).collect();
        for point in &named {
            self.points[*point].reason.clear();
        }
        let configuration = self.field[first].configuration()?;
        let advice = self.answer(verb, named, sentences);
        let stopped = self.watch.stop();
        Ok(Advice { also, why, plausible, load_may_grow: growth, configuration: Some(configuration), stopped, ..advice })
    }

    /// Says how sure it is that no other array of the race is better than the chosen one by more than the zone of indifference.
    fn certainty(&self, chosen: usize, race: &Race, fresh: &Fresh) -> String {
        let others: Vec<usize> = race.group.iter().copied().filter(|one| *one != chosen).collect();
        let of_price = if self.advisor.prefer.first() == Some(&Preference::Cost) { " of this price" } else { "" };
        if others.is_empty() {
            return format!("No other array{of_price} was in the race.");
        }
        let probability = 1.0 - self.rules.error / others.len() as f64;
        let may_be_better = |one: &&usize| {
            let by = fresh.between(**one, chosen).or_else(|| race.between(**one, chosen));
            by.is_none_or(|by| by.lower_bound(probability) < -self.rules.indifference)
        };
        let all = others.len();
        let noun = if all == 1 { "array" } else { "arrays" };
        match others.iter().filter(may_be_better).count() {
            0 => format!(
                "With {}, none of {all} other {noun}{of_price} is better in {} by more than 5 %, in the model.",
                percentage(1.0 - self.advisor.error),
                self.figure
            ),
            open => format!(
                "{open} of {all} other {noun}{of_price} may still be better in {} by more than 5 %; more requests (--effort) would tell.",
                self.figure
            ),
        }
    }

    /// Answers that the present array is the only one that meets the goals.
    pub(super) fn only_present(&mut self, now: usize) -> Advice {
        let sentence = format!("Keep {}: it meets the goals, and the best of the others do not.", self.field[now].name);
        let point = self.point_of[now];
        let advice = self.answer(Verb::Keep, vec![point], vec![sentence]);
        Advice { configuration: self.field[now].configuration().ok(), ..advice }
    }

    /// Answers that the load leaves every array idle. `first` is a run of the array that works most.
    pub(super) fn idle(&mut self, first: &Sample) -> Advice {
        let share = first.busiest_interval;
        let mut sentences = vec![format!(
            "Idle: even in the busiest moment, dies of the busiest array work {:.2} % of the time. Take any of these; choose by capacity.",
            share * 100.0
        )];
        if share > 0.0 {
            // Rounded to one digit.
            let times = self.base_rate * HALF_BUSY / share;
            let digit = libm::pow(10.0, libm::floor(libm::log10(times)));
            let times = (times / digit).round() * digit;
            sentences.push(format!("With --set workload.rate_scale={times} they would work about half of it."));
        }
        let Some(busiest) = self.busiest else { return self.answer(Verb::Idle, Vec::new(), sentences) };
        // Some goals are beyond an idle drive, too.
        for goal in self.advisor.goals.iter().filter(|goal| goal.under == Circumstance::Healthy) {
            if let Some(met) = self.met(busiest, goal, std::slice::from_ref(first)).filter(|met| met.violation > 0.0) {
                let name = &self.field[busiest].name;
                sentences.push(format!("{name} misses {:?} by {} even so.", goal.text, distance(met.violation)));
            }
        }
        self.answer(Verb::Idle, Vec::new(), sentences)
    }

    /// Returns a sentence if the two halves of the load have different winners among the finalists.
    fn halves(&self, order: &[usize], fresh: &BTreeMap<usize, Vec<Sample>>) -> Option<String> {
        let finalists: Vec<usize> = order.iter().copied().filter(|one| fresh.contains_key(one)).collect();
        let half_of = |one: usize, half: usize| -> Vec<f64> {
            let scores: Vec<Vec<f64>> = fresh[&one].iter().filter_map(|sample| sample.scores(self.figure)).collect();
            scores.iter().flat_map(|scores| scores[half * scores.len() / 2..(half + 1) * scores.len() / 2].iter().copied()).collect()
        };
        let mean = |one: usize, half: usize| {
            let scores = half_of(one, half);
            scores.iter().sum::<f64>() / scores.len().max(1) as f64
        };
        let best = |half| finalists.iter().copied().min_by(|a, b| mean(*a, half).total_cmp(&mean(*b, half)));
        let (first, second) = (best(0)?, best(1)?);
        // Halves of requests that are drawn differ by chance alone.
        let leads = |half: usize, one: usize, other: usize| {
            let by = Differences::between(&half_of(other, half), &half_of(one, half));
            by.is_some_and(|by| by.mean > self.rules.indifference && by.lower_bound(1.0 - self.rules.error) > 0.0)
        };
        (first != second && leads(0, first, second) && leads(1, second, first)).then(|| {
            let (first, second) = (&self.field[first].name, &self.field[second].name);
            format!("The halves of the load disagree: {first} is best in the first, and {second} in the second.")
        })
    }

    /// Returns the runner-up, and the best array of each other drive, which cannot be ranked if it is close.
    fn also(&self, chosen: usize, race: &Race, fresh: &Fresh) -> Vec<Other> {
        let mut also: Vec<Other> = Vec::new();
        let drive = |one: usize| self.field[one].drive.as_str();
        let percent = |by: f64| (libm::exp(by) - 1.0) * 100.0;
        let runner_up = race.order().into_iter().find(|one| *one != chosen && drive(*one) == drive(chosen));
        if let Some(second) = runner_up
            && let Some(by) = fresh.between(second, chosen).or_else(|| race.between(second, chosen))
        {
            let text = format!("{:+.1} % in {}{}", percent(by.mean), self.figure, self.besides(second, chosen));
            also.push(Other { point: self.point_of[second], text: format!("{}: {text}", self.field[second].name) });
        }
        // All were in the screen together.
        let error = self.advisor.residuals.error_of(self.figure);
        let margin = error.map(|error| 1.64 * std::f64::consts::SQRT_2 * error);
        let mut all: Vec<(Figure, f64, usize)> = (0..self.field.len())
            .filter(|one| !self.field[*one].is_now && drive(*one) != drive(chosen))
            .filter_map(|one| self.in_screen(one, chosen).map(|(figure, by)| (figure, by.mean, one)))
            .collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.2.cmp(&b.2)));
        let mut drives: Vec<&str> = Vec::new();
        for (figure, by, one) in all {
            if drives.contains(&drive(one)) || drives.len() > 2 {
                continue;
            }
            drives.push(drive(one));
            let rank = match margin {
                Some(margin) if by.abs() > margin && figure == self.figure => format!("{:+.0} % in {}", percent(by), self.figure),
                _ => format!("can't be ranked on {} (another drive)", self.figure),
            };
            let text = format!("{}: {rank}{}", self.field[one].name, self.besides(one, chosen));
            also.push(Other { point: self.point_of[one], text });
        }
        also
    }

    /// Says how another array differs from the chosen one in life and raw capacity, if it does.
    fn besides(&self, one: usize, chosen: usize) -> String {
        let mut text = String::new();
        let life = |one: usize| self.samples[one].as_ref().and_then(|sample| self.life(one, std::slice::from_ref(sample)));
        if let (Some([own, _]), Some([of_chosen, _])) = (life(one), life(chosen))
            && libm::fabs(libm::log(own / of_chosen)) > self.rules.indifference
        {
            text += &match own {
                own if own >= 1.0 => format!(", life {own:.1} years"),
                own => format!(", life {:.1} days", own * YEAR_S / DAY_S),
            };
        }
        let more = self.field[one].cost - self.field[chosen].cost;
        let word = if more > 0.0 { "more" } else { "less" };
        match &self.advisor.prices {
            Some(prices) if libm::fabs(more) >= 0.5 => text += &format!(", {:.0} {} {word}", libm::fabs(more), prices.currency),
            None if libm::fabs(more) > 1e9 => text += &format!(", {:.1} TB {word} raw", libm::fabs(more) / 1e12),
            _ => {}
        }
        text
    }

    /// Returns the differences of two arrays in the last round of the screen that both were in, and the figure that they are of.
    fn in_screen(&self, one: usize, other: usize) -> Option<(Figure, Differences)> {
        let rounds = self.screened[one].len().min(self.screened[other].len());
        let (own, of_other) = (&self.screened[one][rounds.checked_sub(1)?], &self.screened[other][rounds - 1]);
        let is_alike = own.0 == of_other.0 && !own.1.is_empty() && own.1.len() == of_other.1.len();
        is_alike.then(|| Some((own.0, Differences::between(&own.1, &of_other.1)?)))?
    }

    /// Names the axes whose other values change the compared figure by less than 5 %, everything else being equal. Screens that were too
    /// short for this figure tell none.
    fn nothing_gained(&self, chosen: usize) -> Option<String> {
        let own = &self.points[self.point_of[chosen]];
        let mut without: Vec<String> = Vec::new();
        for axis in &self.advisor.space.axes {
            let differs_only_there = |one: &usize| {
                let point = &self.points[self.point_of[*one]];
                *one != chosen
                    && point.settings.len() == own.settings.len()
                    && point.settings.iter().all(|(key, value)| (own.settings.get(key) == Some(value)) != (*key == axis.key))
            };
            let of_figure = |one: usize| self.in_screen(one, chosen).filter(|(figure, _)| *figure == self.figure).map(|(_, by)| by);
            let others: Vec<Differences> = (0..self.field.len()).filter(differs_only_there).filter_map(of_figure).collect();
            if others.is_empty() || others.len() + 1 < axis.values.len() {
                continue;
            }
            let widest = others.iter().map(|by| libm::fabs(by.mean)).fold(0.0, f64::max);
            let with_chance = others.iter().map(|by| libm::fabs(by.mean) + by.half_width(0.975)).fold(0.0, f64::max);
            if widest < self.rules.indifference {
                without.push(format!("{} (within {:.0} %)", axis.key, ((libm::exp(with_chance) - 1.0) * 100.0).max(1.0)));
            }
        }
        (!without.is_empty()).then(|| format!("Nothing gained: {}.", without.join(", ")))
    }

    /// Answers without goals: names the arrays that none beats in cost, response time and life together.
    pub(super) fn front(&mut self, alive: &[usize]) -> Result<Advice, Error> {
        let score = |search: &Self, one: usize| search.points[search.point_of[one]].score.unwrap_or(f64::INFINITY);
        let life = |search: &Self, one: usize| search.samples[one].as_ref().and_then(|sample| sample.life_years).unwrap_or(f64::INFINITY);
        let is_beaten = |search: &Self, one: usize| {
            alive.iter().copied().any(|other| {
                let (a, b) = (&search.field[other], &search.field[one]);
                let values = [(a.cost, b.cost), (score(search, other), score(search, one)), (-life(search, other), -life(search, one))];
                values.iter().all(|(own, other)| own <= other) && values.iter().any(|(own, other)| own < other)
            })
        };
        let mut front: Vec<usize> = alive.iter().copied().filter(|one| !is_beaten(self, *one)).collect();
        front.sort_by(|a, b| self.field[*a].cost.total_cmp(&self.field[*b].cost).then(score(self, *a).total_cmp(&score(self, *b))));
        for one in alive {
            if !front.contains(one) {
                self.leave(*one, "another is no worse in cost, response time and life, and better in one".to_owned());
            }
        }
        let all = front.len();
        // Of a long front, the ends and some between are shown.
        if all > FRONT_MAX {
            front = (0..FRONT_MAX).map(|index| front[index * (all - 1) / (FRONT_MAX - 1)]).collect();
        }
        let seed = self.advisor.seed + SEEDS_OF_STAGE;
        let run = self.run_of(seed, self.race_requests);
        let samples = self.run(&front, run, "fresh seeds")?;
        for (one, sample) in front.iter().copied().zip(samples) {
            if let Some(sample) = sample {
                self.tell(one, &[sample], Circumstance::Healthy);
                self.point(one).stage = Stage::Confirmed;
            }
        }
        let shown = if all > front.len() { format!(", of which {} are shown", front.len()) } else { String::new() };
        let sentence = format!(
            "Without goals there is no best. {all} arrays are such that none beats them in cost, {} and life together{shown}.",
            self.figure
        );
        let named = front.into_iter().map(|one| self.point_of[one]).collect();
        Ok(self.answer(Verb::Front, named, vec![sentence]))
    }

    pub(super) fn not_reachable(&mut self) -> Advice {
        let all: Vec<usize> = (0..self.field.len()).filter(|one| !self.field[*one].is_now && self.samples[*one].is_some()).collect();
        let violation = |search: &Self, one: usize| {
            search.samples[one].as_ref().map_or(f64::INFINITY, |sample| search.violation(one, std::slice::from_ref(sample), f64::INFINITY))
        };
        let nearest = all.into_iter().min_by(|a, b| violation(self, *a).total_cmp(&violation(self, *b)));
        let Some(nearest) = nearest else {
            return self.answer(Verb::NotReachable, Vec::new(), vec!["Not reachable: no array keeps up with the load.".to_owned()]);
        };
        let sample = self.samples[nearest].clone();
        let samples: Vec<Sample> = sample.into_iter().collect();
        self.tell(nearest, &samples, Circumstance::Healthy);
        let unbacked: Vec<String> = self
            .advisor
            .goals
            .iter()
            .filter(|goal| self.advisor.residuals.error_of(goal.figure).is_none())
            .map(|goal| goal.figure.to_string())
            .collect();
        let name = self.field[nearest].name.clone();
        let worst = violation(self, nearest);
        let missing: Vec<String> = self
            .advisor
            .goals
            .iter()
            .filter(|goal| goal.under == Circumstance::Healthy)
            .filter_map(|goal| Some((goal, self.met(nearest, goal, &samples)?)))
            .filter(|(_, met)| met.violation > 0.0)
            .map(|(goal, met)| format!("{:?} is missed by {}", goal.text, distance(met.violation)))
            .collect();
        let point = self.point_of[nearest];
        if worst <= 0.0 && !unbacked.is_empty() {
            let sentence = format!(
                "Can't tell: {name} comes closest, but no published figure of a drive backs {}. Measure a drive: flashraid probe --gentle.",
                unbacked.join(", ")
            );
            return self.answer(Verb::CantTell, vec![point], vec![sentence]);
        }
        // Some goals were only looked at with fresh seeds, or in another circumstance.
        let told = self.points[point].figures.iter().filter_map(|figure| Some((figure.goal.as_ref()?, figure.word?)));
        let later: Vec<String> =
            told.filter(|(_, word)| matches!(*word, "missed" | "open")).map(|(goal, word)| format!("{goal:?} is {word}")).collect();
        let missing = match (missing.is_empty(), later.is_empty()) {
            (false, _) => missing.join(", "),
            (true, false) => later.join(", "),
            (true, true) => "its runs with fresh seeds miss a goal".to_owned(),
        };
        let sentence = format!("Not reachable: the nearest is {name}; {missing}.");
        self.answer(Verb::NotReachable, vec![point], vec![sentence])
    }

    pub(super) fn cant_tell(&mut self, one: usize, reason: &str) -> Advice {
        let samples: Vec<Sample> = self.samples[one].clone().into_iter().collect();
        self.tell(one, &samples, Circumstance::Healthy);
        let sentence = format!(
            "Can't tell: {} is best so far, but {reason}. More requests (--requests, --effort) or a longer load would tell.",
            self.field[one].name
        );
        self.answer(Verb::CantTell, vec![self.point_of[one]], vec![sentence])
    }

    /// Returns the best array among those that have not left: one that meets the goals, then the cheapest or the fastest.
    pub(super) fn best_so_far(&self) -> Option<usize> {
        let is_cost_first = self.advisor.prefer.first() == Some(&Preference::Cost) && !self.advisor.goals.is_empty();
        let key = |one: usize| {
            let score = self.points[self.point_of[one]].score?;
            let sample = self.samples[one].as_ref()?;
            let violation = self.violation(one, std::slice::from_ref(sample), 0.0).max(0.0);
            let cost = if is_cost_first { self.field[one].cost } else { 0.0 };
            Some([violation, cost, score])
        };
        let open = (0..self.field.len()).filter(|one| !self.field[*one].is_now && self.points[self.point_of[*one]].reason.is_empty());
        let keyed = open.filter_map(|one| Some((key(one)?, one)));
        let least = keyed.min_by(|(a, _), (b, _)| {
            a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|by| by.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        least.map(|(_, one)| one)
    }

    /// Answers with what is known when the user stops the search.
    pub(super) fn stopped(&mut self, best: Option<usize>) -> Advice {
        let best = best.or_else(|| self.best_so_far());
        let ran = |point: &&PointOf| point.stage >= Stage::Screen && !point.now;
        let compared = self.points.iter().filter(ran).count();
        let open = self.points.iter().filter(ran).filter(|point| point.reason.is_empty()).count();
        let mut named = Vec::new();
        let sentence = match best {
            Some(one) => {
                let is_confirmed = self.points[self.point_of[one]].stage == Stage::Confirmed;
                if !is_confirmed {
                    let samples: Vec<Sample> = self.samples[one].clone().into_iter().collect();
                    self.tell(one, &samples, Circumstance::Healthy);
                }
                named.push(self.point_of[one]);
                let rest = if is_confirmed { "" } else { "; nothing was confirmed with fresh seeds" };
                format!(
                    "Can't tell: stopped. {} is best so far. Of {compared} arrays that were run, {open} are still open{rest}.",
                    self.field[one].name
                )
            }
            None => "Can't tell: stopped before anything was compared.".to_owned(),
        };
        Advice { stopped: true, ..self.answer(Verb::CantTell, named, vec![sentence]) }
    }

    pub(super) fn answer(&mut self, verb: Verb, named: Vec<usize>, sentences: Vec<String>) -> Advice {
        for one in 0..self.field.len() {
            if !named.contains(&self.point_of[one]) {
                self.leave(one, "another is better, or as good".to_owned());
            }
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for point in self.points.iter().filter(|point| !point.reason.is_empty() && !point.now) {
            // Percentages differ from point to point, so that they do not belong to a counted reason.
            let reason = match point.reason.split_once(" % ") {
                Some((_, rest)) => rest.to_owned(),
                None => point.reason.clone(),
            };
            *counts.entry(reason).or_default() += 1;
        }
        let mut left_by_reason: Vec<(String, usize)> = counts.into_iter().collect();
        left_by_reason.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut assumptions = self.notes.clone();
        match self.pass_requests {
            Some(pass) => {
                let repeats = if self.race_requests > pass { ", repeated to be long enough" } else { "" };
                assumptions.push(format!("the trace of {pass} requests is one sample: seeds vary the drives, not the load{repeats}"));
            }
            None if self.is_trace => {
                let most = self.race_requests.max(self.screen_requests);
                assumptions.push(format!("the first {most} requests of the trace; later ones were not looked at"));
            }
            None => {}
        }
        if let Some(seconds) = self.load_s.filter(|seconds| *seconds < DAY_S) {
            assumptions.push(format!("life as if every day were like these {} of the trace", time_of(seconds)));
        }
        match &self.advisor.prices {
            Some(prices) => assumptions
                .push(format!("cost over {} years at the given prices, with drives bought again when they are worn out", prices.years)),
            None => assumptions.push("not asked: prices".to_owned()),
        }
        assumptions.push("not asked: the processor of the host, the file system".to_owned());
        Advice {
            schema: ADVICE_SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            load: self.advisor.load_name.clone(),
            verb,
            currency: self.advisor.prices.as_ref().map(|prices| prices.currency.clone()),
            now: self.points.iter().position(|point| point.now),
            named,
            sentences,
            also: Vec::new(),
            why: Vec::new(),
            plausible: None,
            left_by_reason,
            load_may_grow: None,
            requests: self.spent,
            requests_max: self.requests_max,
            requests_of_screen: self.screen_requests,
            requests_of_race: self.race_requests,
            assumptions,
            points: std::mem::take(&mut self.points),
            configuration: None,
            residuals: self.advisor.residuals.clone(),
            stopped: false,
        }
    }
    /// Adds the figures of an array to its point, with intervals and words.
    pub(super) fn tell(&mut self, one: usize, samples: &[Sample], under: Circumstance) {
        let mut figures: Vec<(Figure, Option<Goal>)> =
            self.advisor.goals.iter().filter(|goal| goal.under == under).map(|goal| (goal.figure, Some(goal.clone()))).collect();
        let mut add = |figure: Figure| {
            if figures.iter().all(|(known, _)| *known != figure) {
                figures.push((figure, None));
            }
        };
        add(self.figure);
        if under == Circumstance::Rebuild {
            add(Figure::RebuildHours);
        }
        if under == Circumstance::Healthy {
            [Figure::Life, Figure::WriteAmplification, Figure::Capacity, Figure::Cost].into_iter().for_each(&mut add);
        }
        let told: Vec<FigureOf> =
            figures.into_iter().filter_map(|(figure, goal)| self.figure_of(one, figure, goal, samples, under)).collect();
        let point = self.point(one);
        point.figures.retain(|figure| figure.under != under.name());
        point.figures.extend(told);
    }

    fn figure_of(&self, one: usize, figure: Figure, goal: Option<Goal>, samples: &[Sample], under: Circumstance) -> Option<FigureOf> {
        let word = goal.as_ref().and_then(|goal| self.met(one, goal, samples)).map(|met| met.word.name());
        let told = FigureOf {
            figure: figure.to_string(),
            under: under.name().to_owned(),
            value: 0.0,
            by_chance: None,
            with_model: None,
            bounds: None,
            superblocks: None,
            goal: goal.map(|goal| goal.text),
            word,
        };
        let model_error = self.advisor.residuals.error_of(figure);
        Some(match figure {
            Figure::Capacity => FigureOf { value: self.field[one].capacity_bytes, ..told },
            Figure::Cost => FigureOf { value: self.field[one].cost, ..told },
            Figure::Life => {
                let [least, most] = self.life(one, samples)?;
                let error = libm::exp(1.64 * model_error.unwrap_or(0.0));
                let superblocks = samples.iter().map(|sample| sample.superblocks).fold(f64::INFINITY, f64::min);
                let is_measured = samples.iter().all(Sample::is_wear_measured);
                FigureOf {
                    value: least,
                    with_model: Some([least / error, most * error]),
                    bounds: (!is_measured).then_some([least, most]),
                    superblocks: (!is_measured).then_some(superblocks),
                    ..told
                }
            }
            Figure::RebuildHours => FigureOf { value: self.rebuild_hours(one, samples)?.0, ..told },
            Figure::Response(..) | Figure::WriteAmplification | Figure::Iops => {
                let by = self.score(figure, samples)?;
                let sign = if figure == Figure::Iops { -1.0 } else { 1.0 };
                let between = |width: f64| {
                    let mut ends = [libm::exp(sign * (by.mean - width)), libm::exp(sign * (by.mean + width))];
                    ends.sort_by(f64::total_cmp);
                    ends
                };
                FigureOf {
                    value: libm::exp(sign * by.mean),
                    by_chance: Some(between(by.half_width(0.975))),
                    with_model: model_error.map(|error| between(Word::margin(by, error))),
                    ..told
                }
            }
        })
    }
}

/// Result of a race and of fresh seeds.
pub(super) struct Found {
    /// The array to take.
    pub chosen: usize,
    /// Others that are as good.
    pub near: Vec<usize>,
    /// The present array, if it was run with fresh seeds.
    pub now: Option<usize>,
    /// The present array, if it is to be kept.
    pub keeps: Option<usize>,
    pub race: Race,
    pub fresh: Fresh,
}

/// Share of the time that parts work of an array that is half busy.
const HALF_BUSY: f64 = 0.5;

/// Number of seconds in a day.
const DAY_S: f64 = 86_400.0;

/// Number of seconds in a year of the Julian calendar.
const YEAR_S: f64 = 365.25 * DAY_S;

/// Formats a time of a load.
fn time_of(seconds: f64) -> String {
    match seconds {
        seconds if seconds >= 5400.0 => format!("{:.1} hours", seconds / 3600.0),
        seconds if seconds >= 90.0 => format!("{:.0} minutes", seconds / 60.0),
        seconds if seconds >= 10.0 => format!("{seconds:.0} seconds"),
        seconds => format!("{seconds:.2} seconds"),
    }
}

/// Formats a probability as a percentage.
fn percentage(probability: f64) -> String {
    format!("{} %", (probability * 1000.0).round() / 10.0)
}

/// Formats the distance from a goal, of which the logarithm is given.
fn distance(violation: f64) -> String {
    match libm::exp(violation) {
        factor if factor >= 2.0 => format!("a factor of {factor:.0}"),
        factor => format!("{:.0} %", (factor - 1.0) * 100.0),
    }
}
