//! Means over seeds with 95 % confidence intervals.

/// A mean over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Mean over the seeds.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval by Student's t; `None` with a single seed.
    pub half_width: Option<f64>,
}

/// Mean and confidence interval of one figure's values, one for each seed; `None` without values.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let half_width = (values.len() > 1).then(|| {
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
        student_t_975(values.len() - 1) * (variance / count).sqrt()
    });
    Some(Estimate { mean, half_width })
}

/// The ratio to a baseline, paired by seed: both saw the same requests, so that the chance they share drops out.
/// `None` if the baseline has a zero.
pub fn ratio(values: &[f64], baseline: &[f64]) -> Option<Estimate> {
    if baseline.contains(&0.0) {
        return None;
    }
    let ratios: Vec<f64> = values.iter().zip(baseline).map(|(value, base)| value / base).collect();
    estimate(&ratios)
}

/// The 97.5 % quantile of Student's t.
fn student_t_975(degrees_of_freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101,
        2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    match TABLE.get(degrees_of_freedom - 1) {
        Some(quantile) => *quantile,
        // Expansion about the normal quantile z (Abramowitz & Stegun 26.7.5, two terms).
        None => {
            let (z, n): (f64, f64) = (1.959_964, degrees_of_freedom as f64);
            z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // Mean 3, standard deviation √2.5, t(4) = 2.776: 2.776 · √(2.5 / 5) = 1.963.
        let estimate = estimate(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(estimate.mean, 3.0);
        assert!((estimate.half_width.unwrap() - 1.963).abs() < 1e-3);
    }

    #[test]
    fn one_seed_has_no_interval() {
        assert_eq!(estimate(&[7.0]), Some(Estimate { mean: 7.0, half_width: None }));
        assert_eq!(estimate(&[]), None);
    }

    #[test]
    fn the_quantile_joins_its_expansion() {
        // Tables give 2.0395 for 31 and 1.984 for 100 degrees of freedom.
        assert!((student_t_975(31) - 2.0395).abs() < 5e-4);
        assert!((student_t_975(100) - 1.984).abs() < 5e-4);
    }

    #[test]
    fn ratios_are_paired_by_seed() {
        let ratio = ratio(&[2.0, 20.0], &[4.0, 40.0]).unwrap();
        assert_eq!((ratio.mean, ratio.half_width), (0.5, Some(0.0)));
        assert_eq!(super::ratio(&[1.0], &[0.0]), None);
    }
}
