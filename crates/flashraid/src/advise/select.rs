//! Statistics of a choice between arrays. It knows neither arrays nor time: scores come in batches from a source.
//!
//! A score is the logarithm of a figure of which less is better. All contestants have the same requests in a batch (common random
//! numbers), so that differences of scores are certain sooner than the scores themselves.
//!
//! - [`screen`] removes what is surely worse than the leader by more than the zone of indifference.
//! - [`race`] is the procedure KN++ of Kim and Nelson (2006), in the form for common random numbers (Malone, Kim, Goldsman and Batur, WSC
//!   2005).
//! - [`confirm`] and [`near`] judge the survivors by fresh batches, so that the luck of the winner does not count.
//! - [`Word::of`] compares a figure with a limit.

use flashraid_model::metrics::confidence_interval::{normal_quantile, student_t_quantile};

/// Number of batches in a round, and in the first stage of a race.
pub const BATCHES: usize = 10;
/// Least number of batches of which a variance is taken.
const BATCHES_MIN: usize = 5;
/// Greatest correlation of consecutive differences. Batches with more become twice as long.
const CORRELATION_MAX: f64 = 0.2;
/// Greatest correlation that is taken into account if batches cannot become longer. Few batches do not tell it well.
const REST_OF_CORRELATION_MAX: f64 = 0.5;
/// Least number of fresh rounds of finalists.
const CONFIRMING_ROUNDS_MIN: usize = 2;
/// Share of wrong eliminations that a screen may make.
const SCREEN_ERROR: f64 = 0.01;
/// Probability with which a figure that is called sure meets its limit.
const SURE: f64 = 0.95;

/// A source of scores in batches.
pub trait Batches {
    /// Runs one more round, and returns the scores of each contestant in the order of `contestants`. All rounds have the same number of
    /// batches. The result is `None` if nothing more may be run.
    fn round(&mut self, contestants: &[usize]) -> Option<Vec<Vec<f64>>>;
}

/// The zone of indifference and the share of wrong answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Difference of scores below which two contestants count as equal, above 0.
    pub indifference: f64,
    /// Share of wrong answers that is allowed, such as 0.05.
    pub error: f64,
}

/// Mean difference of two contestants over batches, or mean score of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Differences {
    /// Mean over the batches.
    pub mean: f64,
    /// Variance of a batch. The correlation of neighbours is taken into account, so that it gives the variance of the mean.
    pub variance: f64,
    /// Number of batches, after short ones were joined.
    pub count: usize,
}

impl Differences {
    /// Returns the differences of two contestants in the same batches; `None` for fewer than two batches.
    pub fn between(own: &[f64], other: &[f64]) -> Option<Self> {
        debug_assert_eq!(own.len(), other.len());
        Self::of(own.iter().zip(other).map(|(own, other)| own - other).collect())
    }

    /// Returns the mean and variance of batches; `None` for fewer than two. Neighbours are joined until they hardly correlate.
    pub fn of(mut batches: Vec<f64>) -> Option<Self> {
        while batches.len() >= 2 * BATCHES_MIN && correlation(&batches) > CORRELATION_MAX {
            batches = batches.chunks_exact(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
        }
        let count = batches.len();
        if count < 2 || batches.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mean = batches.iter().sum::<f64>() / count as f64;
        let squares: f64 = batches.iter().map(|value| (value - mean) * (value - mean)).sum();
        let rest = correlation(&batches).clamp(0.0, REST_OF_CORRELATION_MAX);
        let inflation = (1.0 + rest) / (1.0 - rest);
        Some(Self { mean, variance: inflation * squares / (count - 1) as f64, count })
    }

    /// Returns half of the interval that holds the true mean, with this probability of being below its upper end.
    pub fn half_width(&self, probability: f64) -> f64 {
        student_t_quantile(probability, self.count - 1) * libm::sqrt(self.variance / self.count as f64)
    }

    /// Returns the value that the true mean exceeds with this probability.
    pub fn lower_bound(&self, probability: f64) -> f64 {
        self.mean - self.half_width(probability)
    }
}

/// Returns the correlation of consecutive batches, without the bias of an estimate from few (Marriott and Pope, 1954).
fn correlation(batches: &[f64]) -> f64 {
    let count = batches.len() as f64;
    if count < 4.0 {
        return 0.0;
    }
    let mean = batches.iter().sum::<f64>() / batches.len() as f64;
    let squares: f64 = batches.iter().map(|value| (value - mean) * (value - mean)).sum();
    let products: f64 = batches.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if squares > 0.0 { (products / squares + 1.0 / count) / (1.0 - 3.0 / count) } else { 0.0 }
}

/// Returns the contestant with the least mean score, the first of several.
pub fn leader(scores: &[Vec<f64>]) -> Option<usize> {
    let mean = |index: usize| scores[index].iter().sum::<f64>() / scores[index].len().max(1) as f64;
    (0..scores.len()).min_by(|a, b| mean(*a).total_cmp(&mean(*b)))
}

/// A contestant that left, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Left {
    /// The contestant that left.
    pub contestant: usize,
    /// The contestant that is better.
    pub against: usize,
    /// Difference of their scores.
    pub by: Differences,
}

/// Returns the contestants that are surely worse than `leader` by more than the zone of indifference. `compared` is the number of
/// contestants in the whole screen, which the allowed error is shared between. Scores of contestants that left earlier are empty.
pub fn screen(scores: &[Vec<f64>], leader: usize, candidates: &[usize], compared: usize, rules: Rules) -> Vec<Left> {
    let of = |&contestant: &usize| {
        let by = Differences::between(&scores[contestant], &scores[leader])?;
        is_surely_behind(by, compared, rules).then_some(Left { contestant, against: leader, by })
    };
    candidates.iter().filter(|contestant| **contestant != leader).filter_map(of).collect()
}

/// Returns true if a contestant of a screen is surely beyond a bound by more than the zone of indifference. `distances` are those of its
/// batches from the bound.
pub fn is_beyond(distances: Vec<f64>, compared: usize, rules: Rules) -> bool {
    Differences::of(distances).is_some_and(|by| is_surely_behind(by, compared, rules))
}

fn is_surely_behind(by: Differences, compared: usize, rules: Rules) -> bool {
    by.lower_bound(1.0 - SCREEN_ERROR / compared.max(1) as f64) > rules.indifference
}

/// End of a race.
#[derive(Debug, Clone, PartialEq)]
pub struct Raced {
    /// Contestants that are left, the best first.
    pub alive: Vec<usize>,
    /// Contestants that left, in order.
    pub left: Vec<Left>,
    /// Scores of all contestants, as far as they were run.
    pub scores: Vec<Vec<f64>>,
    /// Number of batches of those that are left.
    pub batches: usize,
}

/// Runs rounds until one contestant is left, or until the source ends. `scores` has the first scores of each contestant.
///
/// With the probability `1 − error`, the last one is the best, if no other is within the zone of indifference of the best.
pub fn race(source: &mut dyn Batches, scores: Vec<Vec<f64>>, rules: Rules) -> Raced {
    let contestants = scores.len();
    let mut raced = Raced { alive: (0..contestants).collect(), left: Vec::new(), scores, batches: 0 };
    loop {
        raced.batches = raced.alive.first().map_or(0, |first| raced.scores[*first].len());
        let leaving: Vec<Left> = raced.alive.iter().filter_map(|one| beaten(&raced, *one, contestants, rules)).collect();
        raced.alive.retain(|one| leaving.iter().all(|left| left.contestant != *one));
        raced.left.extend(leaving);
        let mean = |one: usize| raced.scores[one].iter().sum::<f64>() / raced.scores[one].len().max(1) as f64;
        raced.alive.sort_by(|a, b| mean(*a).total_cmp(&mean(*b)).then(a.cmp(b)));
        if raced.alive.len() <= 1 {
            return raced;
        }
        let Some(round) = source.round(&raced.alive) else { return raced };
        for (contestant, batches) in raced.alive.iter().zip(round) {
            raced.scores[*contestant].extend(batches);
        }
    }
}

/// Returns the contestant that is better than `one` by so much that `one` leaves the race.
fn beaten(raced: &Raced, one: usize, contestants: usize, rules: Rules) -> Option<Left> {
    let against = |other: usize| {
        let by = Differences::between(&raced.scores[one], &raced.scores[other])?;
        (by.mean * by.count as f64 > threshold(by, contestants, rules)).then_some(Left { contestant: one, against: other, by })
    };
    let others = raced.alive.iter().filter(|other| **other != one);
    others.filter_map(|other| against(*other)).max_by(|a, b| a.by.mean.total_cmp(&b.by.mean))
}

/// Returns the sum of differences above which a contestant leaves: `max(0, δ/2 · (h²·S²/δ² − r))` with `h² = 2·η·(n₀ − 1)` and
/// `η = ½·((2α/(k − 1))^(−2/(n₀ − 1)) − 1)`.
///
/// Here, `δ` is the zone of indifference, `α` the error, and `k` the number of contestants. `S²` is the variance of a difference. `r` is
/// the number of batches, and `n₀` that of the first stage.
fn threshold(by: Differences, contestants: usize, rules: Rules) -> f64 {
    let degrees = (by.count.min(BATCHES) - 1) as f64;
    let share = 2.0 * rules.error / contestants.saturating_sub(1).max(1) as f64;
    let eta = 0.5 * (libm::pow(share.min(1.0), -2.0 / degrees) - 1.0);
    let (delta, h_squared) = (rules.indifference, 2.0 * eta * degrees);
    (delta / 2.0 * (h_squared * by.variance / (delta * delta) - by.count as f64)).max(0.0)
}

/// Runs fresh rounds of finalists, the best one first, until it is certain which are within the zone of indifference of the best. It ends
/// after `rounds_max` rounds, or if the source ends. Returns the fresh scores.
pub fn confirm(source: &mut dyn Batches, finalists: &[usize], rules: Rules, rounds_max: usize) -> Vec<Vec<f64>> {
    let mut scores: Vec<Vec<f64>> = vec![Vec::new(); finalists.len()];
    for done in 1..=rounds_max {
        let Some(round) = source.round(finalists) else { break };
        scores.iter_mut().zip(round).for_each(|(all, batches)| all.extend(batches));
        let probability = 1.0 - rules.error / (finalists.len() - 1).max(1) as f64;
        let is_certain = |other: &Vec<f64>| {
            Differences::between(other, &scores[0]).is_some_and(|by| (by.mean - rules.indifference).abs() > by.half_width(probability))
        };
        if done >= CONFIRMING_ROUNDS_MIN && scores[1..].iter().all(is_certain) {
            break;
        }
    }
    scores
}

/// Returns true for each of `others` that the best one is not better than, given fresh scores. One is as good if its mean is within the
/// zone of indifference, or if its interval reaches the best one's.
pub fn near(best: &[f64], others: &[&[f64]], rules: Rules) -> Vec<bool> {
    let probability = 1.0 - rules.error / others.len().max(1) as f64;
    let is_near = |other: &&[f64]| match Differences::between(other, best) {
        Some(by) => by.mean < rules.indifference || by.lower_bound(probability) <= 0.0,
        None => true,
    };
    others.iter().map(is_near).collect()
}

/// Certainty with which a figure meets a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// The figure misses the limit by more than chance and the model's error.
    Failed,
    /// The figure misses the limit, but by no more than chance and the model's error; or it is only known within bounds.
    Open,
    /// The figure meets the limit, but by no more than chance and the model's error.
    Likely,
    /// The figure meets the limit by more than chance and the model's error.
    Sure,
}

impl Word {
    /// Compares a score, the logarithm of a figure of which less is better, with the logarithm of a limit. `model_error` is the standard
    /// deviation of the model's error.
    pub fn of(score: Differences, model_error: f64, limit: f64) -> Word {
        let margin = Self::margin(score, model_error);
        match score.mean {
            mean if mean + margin <= limit => Word::Sure,
            mean if mean <= limit => Word::Likely,
            mean if mean - margin <= limit => Word::Open,
            _ => Word::Failed,
        }
    }

    /// Returns the distance from a limit beyond which a score is sure: chance and the model's error together.
    pub fn margin(score: Differences, model_error: f64) -> f64 {
        let (chance, model) = (score.half_width(SURE), normal_quantile(SURE) * model_error);
        libm::sqrt(chance * chance + model * model)
    }

    /// Returns the word as texts have it.
    pub fn name(self) -> &'static str {
        match self {
            Word::Failed => "missed",
            Word::Open => "open",
            Word::Likely => "likely",
            Word::Sure => "sure",
        }
    }
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
