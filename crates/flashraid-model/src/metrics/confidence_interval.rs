//! Means over several seeds with their 95 % confidence intervals, for comparisons.

/// The 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom.
const T_975: [f64; 30] = [
    12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004, 2.262_157, 2.228_139, 2.200_985, 2.178_813,
    2.160_369, 2.144_787, 2.131_450, 2.119_905, 2.109_816, 2.100_922, 2.093_024, 2.085_963, 2.079_614, 2.073_873, 2.068_658, 2.063_899,
    2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
];

/// The 97.5 % quantile of the normal distribution.
const Z_975: f64 = 1.959_963_985;

/// Returns the 97.5 % quantile of Student's t for at least 1 degree of freedom.
///
/// Up to 30 degrees it comes from a table. Beyond, it is the beginning of the Cornish-Fisher expansion in 1/degrees (Abramowitz and Stegun
/// 26.7.5), right to six digits.
pub fn student_t_quantile_975(degrees: usize) -> f64 {
    debug_assert!(degrees > 0);
    if let Some(&quantile) = T_975.get(degrees - 1) {
        return quantile;
    }
    let (z, n) = (Z_975, degrees as f64);
    let odd_power = |exponent: i32| (0..exponent / 2).fold(z, |power, _| power * z * z);
    let (z3, z5, z7, z9) = (odd_power(3), odd_power(5), odd_power(7), odd_power(9));
    let terms = [
        z,
        (z3 + z) / 4.0,
        (5.0 * z5 + 16.0 * z3 + 3.0 * z) / 96.0,
        (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / 384.0,
        (79.0 * z9 + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * z) / 92_160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| sum / n + term)
}

/// Returns the quantile of the standard normal distribution for a probability above 0 and below 1.
pub fn normal_quantile(probability: f64) -> f64 {
    increasing_inverse(probability, |value| 0.5 * libm::erfc(-value / std::f64::consts::SQRT_2))
}

/// Returns the quantile of Student's t for a probability above 0 and below 1, and at least 1 degree of freedom.
pub fn student_t_quantile(probability: f64, degrees: usize) -> f64 {
    debug_assert!(degrees > 0);
    // Beyond so many degrees, the distribution differs from the normal one by less than a thousandth of its scale.
    const NORMAL_FROM: usize = 2000;
    if degrees >= NORMAL_FROM {
        normal_quantile(probability)
    } else {
        increasing_inverse(probability, |t| student_t_probability(t, degrees))
    }
}

/// Returns the probability that Student's t lies below `t` (Abramowitz and Stegun 26.7.3 and 26.7.4, exact for whole degrees of freedom).
fn student_t_probability(t: f64, degrees: usize) -> f64 {
    let angle = libm::atan(t / libm::sqrt(degrees as f64));
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let is_odd = degrees % 2 == 1;
    let (mut term, mut sum) = if is_odd { (cosine, if degrees > 1 { cosine } else { 0.0 }) } else { (1.0, 1.0) };
    let first = if is_odd { 3 } else { 2 };
    for power in (first..degrees.saturating_sub(1)).step_by(2) {
        term *= cosine * cosine * (power - 1) as f64 / power as f64;
        sum += term;
    }
    let within = if is_odd { (angle + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum };
    0.5 + 0.5 * within
}

/// Returns the value at which an increasing distribution function reaches a probability, by bisection.
fn increasing_inverse(probability: f64, distribution: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-1.0, 1.0);
    // Far tails of few degrees of freedom lie at large values, but within numbers that can be halved often.
    while distribution(low) > probability && low > -1e9 {
        low *= 2.0;
    }
    while distribution(high) < probability && high < 1e9 {
        high *= 2.0;
    }
    for _ in 0..70 {
        let middle = 0.5 * (low + high);
        if distribution(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// A mean over independent repetitions (runs that differ only in their seeds), with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Mean of the values that the repetitions gave, one value each.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval (Student's t); `None` for a single repetition.
    pub interval_half_width: Option<f64>,
    /// Number of values in the mean, one from each repetition (a run with a seed of its own).
    pub repetitions: usize,
}

impl Estimate {
    /// Returns the mean of `values`, one for each seed, and its confidence interval. It is `None` without values, or if one is not finite.
    #[must_use]
    pub fn from_values(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let half_width = (count > 1).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            student_t_quantile_975(count - 1) * (squares / (count - 1) as f64 / count as f64).sqrt()
        });
        Some(Self { mean, interval_half_width: half_width, repetitions: count })
    }

    /// Returns the mean of the ratios `values[i] / baselines[i]`, and its confidence interval.
    ///
    /// The values `values[i]` and `baselines[i]` come from two configurations that ran with the same workload and the same seed. Their
    /// ratio therefore varies less than the ratio of two means.
    ///
    /// The result is `None` if the two lists are empty or differ in length, or if a baseline is 0.
    #[must_use]
    pub fn from_ratios(values: &[f64], baselines: &[f64]) -> Option<Self> {
        if values.len() != baselines.len() {
            return None;
        }
        let ratios: Vec<f64> = values.iter().zip(baselines).map(|(value, baseline)| value / baseline).collect();
        Self::from_values(&ratios)
    }
}

/// Returns half of the 95 % confidence interval of the mean of batches of one run (Student's t). It is exactly zero if they are equal,
/// without a rounding error, and `None` for fewer than two batches.
#[must_use]
pub fn half_width_of_batches(values: &[f64]) -> Option<f64> {
    let is_equal = values.windows(2).all(|pair| pair[0] == pair[1]);
    match values.len() {
        0 | 1 => None,
        _ if is_equal => Some(0.0),
        _ => Estimate::from_values(values)?.interval_half_width,
    }
}

/// Returns half of the 95 % confidence interval of the difference of two runs, from the differences of their batches in pairs. It is
/// `None` if the runs do not have the same number of batches, or fewer than two.
#[must_use]
pub fn half_width_of_paired_batches(own: &[f64], base: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = own.iter().zip(base).map(|(own, base)| own - base).collect();
    (own.len() == base.len()).then(|| half_width_of_batches(&differences)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the probability that Student's t lies below `t`: its density, integrated by Simpson's rule.
    fn t_probability(t: f64, degrees: usize) -> f64 {
        let n = degrees as f64;
        let log_scale = libm::lgamma((n + 1.0) / 2.0) - libm::lgamma(n / 2.0) - 0.5 * libm::log(n * std::f64::consts::PI);
        let density = |x: f64| libm::exp(log_scale - (n + 1.0) / 2.0 * libm::log1p(x * x / n));
        let steps = 20_000;
        let width = t / f64::from(steps);
        let inner: f64 = (1..steps).map(|i| density(f64::from(i) * width) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
        0.5 + (density(0.0) + inner + density(t)) * width / 3.0
    }

    #[test]
    fn quantiles_leave_a_fortieth_above_them() {
        for degrees in (1..=60).chain([100, 1000]) {
            // The tolerance is half a unit of the sixth digit times the density there, which is below 0.06.
            let probability = t_probability(student_t_quantile_975(degrees), degrees);
            assert!((probability - 0.975).abs() < 3e-8, "{degrees} degrees: {probability}");
        }
    }

    #[test]
    fn any_quantile_leaves_its_share_below_it() {
        for degrees in [1, 2, 3, 4, 5, 8, 9, 29, 30, 119, 120, 1999] {
            for probability in [0.005, 0.5, 0.9, 0.975, 0.999] {
                let reached = t_probability(student_t_quantile(probability, degrees), degrees);
                assert!((reached - probability).abs() < 1e-5, "{degrees} degrees, {probability}: {reached}");
            }
            assert!((student_t_quantile(0.975, degrees) - student_t_quantile_975(degrees)).abs() < 1e-4, "{degrees} degrees");
        }
        for (probability, quantile) in [(0.5, 0.0), (0.95, 1.644_853_6), (0.975, Z_975), (0.999, 3.090_232_3)] {
            assert!((normal_quantile(probability) - quantile).abs() < 1e-6, "{probability}");
        }
    }

    #[test]
    fn a_textbook_interval() {
        // Mean 10, deviation of the sample √10, n = 5: the half width is 2.776 · √10 / √5.
        let estimate = Estimate::from_values(&[6.0, 8.0, 10.0, 12.0, 14.0]).unwrap();
        assert_eq!((estimate.mean, estimate.repetitions), (10.0, 5));
        assert!((estimate.interval_half_width.unwrap() - 2.776_445 * f64::sqrt(2.0)).abs() < 1e-9);
    }

    #[test]
    fn one_seed_has_no_interval() {
        assert_eq!(Estimate::from_values(&[3.0]), Some(Estimate { mean: 3.0, interval_half_width: None, repetitions: 1 }));
        assert_eq!(Estimate::from_values(&[]), None);
        assert_eq!(Estimate::from_values(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn ratios_are_paired() {
        let estimate = Estimate::from_ratios(&[1.0, 10.0], &[2.0, 20.0]).unwrap();
        assert_eq!((estimate.mean, estimate.interval_half_width), (0.5, Some(0.0)));
        assert_eq!(Estimate::from_ratios(&[1.0], &[0.0]), None);
        assert_eq!(Estimate::from_ratios(&[1.0], &[1.0, 2.0]), None);
    }
}
