//! Error rates of the choice, with a simulator of correlated batches in place of arrays.

use super::*;
use flashraid_model::rng::{self, RandomStream};

/// Number of repetitions of each experiment.
const REPETITIONS: u64 = 200;
/// Standard deviation of a score.
const SPREAD: f64 = 0.08;
/// Correlation of consecutive batches.
const CORRELATION: f64 = 0.3;
const RULES: Rules = Rules { indifference: 0.048_790_164, error: 0.05 };

/// Noise whose values depend on the value before.
struct Noise {
    stream: RandomStream,
    value: f64,
}

impl Noise {
    fn new(seed: u64, index: u64) -> Self {
        let mut stream = rng::stream(seed, "mock", index);
        let value = rng::normal(&mut stream);
        Self { stream, value }
    }

    fn next(&mut self) -> f64 {
        let rest = (1.0 - CORRELATION * CORRELATION).sqrt();
        self.value = CORRELATION * self.value + rest * rng::normal(&mut self.stream);
        self.value
    }
}

/// A simulator whose contestants have known scores. A part of the noise is common to all.
struct Mock {
    means: Vec<f64>,
    /// Correlation between two contestants.
    common_share: f64,
    common: Noise,
    own: Vec<Noise>,
    rounds_left: usize,
    /// Gives a value of the noise its distribution, of the mean 0 and the variance 1.
    shape: fn(f64) -> f64,
}

/// Turns a normal variable into one that is distributed as χ² with one degree of freedom. Its skewness is 2.8.
fn leaning(normal: f64) -> f64 {
    (normal * normal - 1.0) / 2.0_f64.sqrt()
}

impl Mock {
    fn new(seed: u64, means: Vec<f64>, common_share: f64) -> Self {
        let own = (0..means.len()).map(|index| Noise::new(seed, 1 + index as u64)).collect();
        Self { means, common_share, common: Noise::new(seed, 0), own, rounds_left: 200, shape: |normal| normal }
    }

    fn all(&self) -> Vec<usize> {
        (0..self.means.len()).collect()
    }
}

impl Batches for Mock {
    fn round(&mut self, contestants: &[usize]) -> Option<Vec<Vec<f64>>> {
        self.rounds_left = self.rounds_left.checked_sub(1)?;
        let common: Vec<f64> = (0..BATCHES).map(|_| (self.shape)(self.common.next())).collect();
        let mut of = |one: &usize| {
            let score = |common: &f64| {
                let noise = self.common_share.sqrt() * common + (1.0 - self.common_share).sqrt() * (self.shape)(self.own[*one].next());
                self.means[*one] + SPREAD * noise
            };
            common.iter().map(score).collect()
        };
        Some(contestants.iter().map(&mut of).collect())
    }
}

/// Result of a whole choice: the best of the race, and whether it is named alone after fresh batches.
struct Choice {
    best: usize,
    is_alone: bool,
    near: Vec<usize>,
}

fn choose(mock: &mut Mock) -> Choice {
    let all = mock.all();
    let first = mock.round(&all).unwrap();
    let raced = race(mock, first, RULES);
    let best = raced.alive[0];
    // The others are judged by their distance in the race, and the closest three by fresh batches.
    let mut others: Vec<usize> = all.into_iter().filter(|one| *one != best).collect();
    let mean = |one: &usize| raced.scores[*one].iter().sum::<f64>() / raced.scores[*one].len() as f64;
    others.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    others.truncate(3);
    let finalists: Vec<usize> = std::iter::once(best).chain(others.iter().copied()).collect();
    let fresh = confirm(mock, &finalists, RULES, 20);
    let compared: Vec<&[f64]> = fresh[1..].iter().map(Vec::as_slice).collect();
    let is_near = near(&fresh[0], &compared, RULES);
    let near: Vec<usize> = others.iter().zip(&is_near).filter(|(_, near)| **near).map(|(one, _)| *one).collect();
    Choice { best, is_alone: near.is_empty(), near }
}

/// Returns the share of repetitions in which something is true.
fn share(mut is_true: impl FnMut(u64) -> bool) -> f64 {
    (0..REPETITIONS).filter(|seed| is_true(*seed)).count() as f64 / REPETITIONS as f64
}

#[test]
fn of_twelve_equals_none_is_named_alone() {
    for common in [0.0, 0.5, 0.9] {
        let alone = share(|seed| choose(&mut Mock::new(seed, vec![0.0; 12], common)).is_alone);
        assert!(alone <= 0.05, "common {common}: {alone}");
    }
}

#[test]
fn a_better_one_is_found() {
    for factor in [1.05_f64, 1.1, 1.2] {
        for common in [0.0, 0.5, 0.9] {
            let right = share(|seed| {
                let mut means = vec![factor.ln(); 12];
                let better = (seed % 12) as usize;
                means[better] = 0.0;
                let choice = choose(&mut Mock::new(seed, means, common));
                // At the edge of the zone of indifference, others count as equal, but the better one is among the named.
                let is_clear = factor > 1.06;
                if is_clear { choice.best == better && choice.is_alone } else { choice.best == better || choice.near.contains(&better) }
            });
            assert!(right >= 0.95, "factor {factor}, common {common}: {right}");
        }
    }
}

#[test]
fn the_race_alone_selects_the_best_with_the_promised_probability() {
    for common in [0.0, 0.5, 0.9] {
        let right = share(|seed| {
            let mut means = vec![RULES.indifference; 12];
            means[5] = 0.0;
            let mut mock = Mock::new(seed, means, common);
            let first = mock.round(&mock.all()).unwrap();
            race(&mut mock, first, RULES).alive == [5]
        });
        assert!(right >= 0.95, "common {common}: {right}");
    }
}

/// Percentiles of batches lean to one side, and their differences to both. No test of signs has to take the place of means for that.
#[test]
fn scores_that_lean_to_one_side_mislead_no_more_often() {
    for common in [0.0, 0.5, 0.9] {
        let mock = |seed, means| Mock { shape: leaning, ..Mock::new(seed, means, common) };
        let alone = share(|seed| choose(&mut mock(seed, vec![0.0; 12])).is_alone);
        assert!(alone <= 0.05, "common {common}: {alone}");
        let right = share(|seed| {
            let mut means = vec![RULES.indifference; 12];
            means[5] = 0.0;
            let mut mock = mock(seed, means);
            let first = mock.round(&mock.all()).unwrap();
            race(&mut mock, first, RULES).alive == [5]
        });
        assert!(right >= 0.95, "common {common}: {right}");
        let lost = share(|seed| {
            let mut mock = mock(seed, (0..40).map(|one| 0.02 * f64::from(one)).collect());
            let all = mock.all();
            let scores = mock.round(&all).unwrap();
            screen(&scores, leader(&scores).unwrap(), &all, 40, RULES).iter().any(|left| left.contestant == 0)
        });
        assert!(lost <= 0.01, "common {common}: {lost}");
    }
}

/// The best of many is not lost, although the leader of a short screen is often another one.
#[test]
fn a_screen_hardly_ever_loses_the_best() {
    for common in [0.0, 0.5, 0.9] {
        let mut removed = 0;
        let lost = share(|seed| {
            let means: Vec<f64> = (0..40).map(|one| 0.02 * f64::from(one)).collect();
            let mut mock = Mock::new(seed, means, common);
            let scores = mock.round(&mock.all()).unwrap();
            let all = mock.all();
            let left = screen(&scores, leader(&scores).unwrap(), &all, 40, RULES);
            removed += left.len();
            left.iter().any(|left| left.contestant == 0)
        });
        assert!(lost <= 0.01, "common {common}: {lost}");
        assert!(removed as u64 > REPETITIONS * 8, "common {common}: a screen removes what is far behind, {removed}");
    }
}

#[test]
fn a_goal_at_its_limit_is_hardly_ever_called_sure() {
    for model_error in [0.0, 0.1] {
        let mut likely = 0;
        let sure = share(|seed| {
            let mut mock = Mock::new(seed, vec![0.5], 0.0);
            let scores: Vec<f64> = (0..4).flat_map(|_| mock.round(&[0]).unwrap().remove(0)).collect();
            let word = Word::of(Differences::of(scores).unwrap(), model_error, 0.5);
            likely += u32::from(word == Word::Likely);
            word == Word::Sure
        });
        assert!(sure <= 0.05, "model error {model_error}: {sure}");
        assert!(likely > 40, "chance decides between likely and open: {likely}");
    }
}

#[test]
fn words_follow_from_the_margin() {
    let score = Differences { mean: 0.0, variance: 1e-12, count: 10 };
    let word = |limit| Word::of(score, 0.1, limit);
    assert_eq!([word(0.17), word(0.16), word(-0.16), word(-0.17)], [Word::Sure, Word::Likely, Word::Open, Word::Failed]);
}

/// Two contestants with α = 0.05 and ten batches: η = ½ · (0.1^(−2/9) − 1) = 0.33405, and h² = 18 η = 6.0129.
#[test]
fn the_threshold_is_the_published_one() {
    let by = |mean, count| Differences { mean, variance: 0.01, count };
    let rules = Rules { indifference: 0.1, error: 0.05 };
    let eta = 0.5 * (0.1_f64.powf(-2.0 / 9.0) - 1.0);
    let expected = 18.0 * eta * 0.01 / 0.2 - 0.1 / 2.0 * 10.0;
    assert!(expected < 0.0 && threshold(by(0.0, 10), 2, rules) == 0.0, "the triangle has closed");
    let narrow = Rules { indifference: 0.04, ..rules };
    let expected = 18.0 * eta * 0.01 / 0.08 - 0.02 * 10.0;
    assert!((threshold(by(0.0, 10), 2, narrow) - expected).abs() < 1e-12 && expected > 0.0);
    assert!(threshold(by(0.0, 20), 2, narrow) < expected, "it falls with the number of batches");
}

#[test]
fn batches_that_follow_each_other_closely_are_joined() {
    let slow: Vec<f64> = (0..40).map(|batch| f64::from(batch / 8)).collect();
    assert!(Differences::of(slow).unwrap().count < 40);
    let fast: Vec<f64> = (0..40).map(|batch| f64::from(batch % 2)).collect();
    assert_eq!(Differences::of(fast).unwrap().count, 40);
    assert_eq!(Differences::of(vec![1.0]), None);
}
