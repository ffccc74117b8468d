//! Finds the least sum of squares of a function that takes seconds to evaluate.
//!
//! The search has these steps:
//!
//! - Gauss–Newton steps lead towards the minimum.
//! - A simplex (Nelder and Mead, 1965) searches around their end.
//! - Gauss–Newton steps lead on from its end, and the slopes there give an interval for each unknown.
//!
//! Both methods are needed. With slopes, seven unknowns need some twenty evaluations, and a simplex alone needs several hundred. But
//! slopes mislead at points where another part becomes the bottleneck, and a simplex passes these points. When it has used up its
//! evaluations, it is past them but not at the minimum, to which slopes lead quickly.
//!
//! Nothing is drawn at random, so that the same function gives the same result.

use flashraid::model::metrics::confidence_interval::student_t_quantile_975;

/// Half the width of the differences from which slopes are computed. Unknowns are logarithms, so this is 5 %. Beyond that, the function is
/// no longer straight. Below it, whole nanoseconds and the order of events show.
const STEP: f64 = 0.05;
/// Gauss–Newton steps at most.
const STEPS_MAX: usize = 12;
/// Share of the mean square below which the gain of a step makes it the last one. Unknowns are then at most about a third of their
/// deviations away from the minimum, for any number of residuals.
const GAIN_MIN: f64 = 0.1;
/// Shorter and shorter strides that are tried in a step.
const TRIES_MAX: usize = 6;
/// Greatest change of an unknown in a step: a factor of 1.65 or 0.6.
const STRIDE_MAX: f64 = 0.5;
/// Greatest change of an unknown from the start: a factor of 100 or a hundredth.
const REACH: f64 = 4.6;
/// Edge of the first simplex: wider than what the order of events makes of a small change.
const EDGE: f64 = 0.08;
/// A simplex of this size has ended: a tenth of a percent.
const SMALL: f64 = 1e-3;

/// Result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Least {
    /// Values of the unknowns.
    pub at: Vec<f64>,
    /// Residuals at these values.
    pub residuals: Vec<f64>,
    /// Slopes of all residuals at these values, a list for each unknown. The search follows such slopes.
    slopes: Vec<Vec<f64>>,
    /// The parts of these slopes that have the same direction on both sides.
    certain_slopes: Vec<Vec<f64>>,
}

/// Share of its own diagonal that is added to the matrix of slopes.
const RIDGE: f64 = 1e-10;
/// Unknowns whose variance others widen more than this are not told apart from them.
const INFLATION_MAX: f64 = 1e8;

impl Least {
    /// Returns half the widths of the unknowns' 95 % intervals, which are infinite if the function does not depend on an unknown.
    ///
    /// `kinds` has the kind of each residual. Residuals of a kind have the same deviation: the one that they show, but at least
    /// `deviation_min`. If all kinds were taken together, many residuals with small deviations would hide a few with large ones. Values
    /// that depend on the few would then seem certain.
    ///
    /// A few residuals may be small by chance, and would then make all intervals too narrow. So the deviation of a kind is estimated as if
    /// there were `expected` more residuals of the deviation 1, in which residuals are measured.
    ///
    /// Two intervals are computed, and the wider one counts. Errors move the unknowns along the slopes that the search follows. But slopes
    /// that are not certain would make an unknown seem known that nothing determines.
    pub fn half_widths(&self, kinds: &[usize], deviation_min: f64, expected: f64) -> Vec<f64> {
        let followed = self.half_widths_of(&self.slopes, kinds, deviation_min, expected);
        let certain = self.half_widths_of(&self.certain_slopes, kinds, deviation_min, expected);
        followed.into_iter().zip(certain).map(|(followed, certain)| followed.max(certain)).collect()
    }

    fn half_widths_of(&self, slopes: &[Vec<f64>], kinds: &[usize], deviation_min: f64, expected: f64) -> Vec<f64> {
        let mut all = vec![f64::INFINITY; self.at.len()];
        // Without effect on anything, an unknown would make the matrix singular for all.
        let (with_effect, slopes): (Vec<usize>, Vec<Vec<f64>>) =
            slopes.iter().cloned().enumerate().filter(|(_, slopes)| squares(slopes) > 1e-12).unzip();
        let mut matrix = normal_matrix(&slopes);
        // Unknowns with the same effect on everything would make the matrix singular for the others, too. A ridge keeps them apart.
        matrix.iter_mut().enumerate().for_each(|(index, row)| row[index] *= 1.0 + RIDGE);
        let Some(inverse) = inverse(&matrix) else { return all };
        // By how much each unknown moves with each residual, and how much of each residual the unknowns take up.
        let of_slopes = |row: &[f64], of: usize| row.iter().zip(&slopes).map(|(entry, slopes)| entry * slopes[of]).sum::<f64>();
        let moves: Vec<Vec<f64>> = inverse.iter().map(|row| (0..kinds.len()).map(|of| of_slopes(row, of)).collect()).collect();
        let taken = |of: usize| moves.iter().zip(&slopes).map(|(moves, slopes)| moves[of] * slopes[of]).sum::<f64>();
        let free: Vec<f64> = (0..kinds.len()).map(|of| (1.0 - taken(of)).max(0.0)).collect();
        // The variance of some residuals, and by how many it is known.
        let variance_of = |chosen: &dyn Fn(usize) -> bool| {
            let chosen = || (0..kinds.len()).filter(|&of| chosen(kinds[of]));
            let free: f64 = chosen().map(|of| free[of]).sum();
            let squares = || chosen().map(|of| self.residuals[of] * self.residuals[of]).sum::<f64>();
            (free >= 1.0).then(|| ((expected + squares()) / (expected + free), expected + free))
        };
        let least = (deviation_min * deviation_min, f64::INFINITY);
        let variances: Vec<(f64, f64)> = (0..=kinds.iter().copied().max().unwrap_or(0))
            .map(|kind| variance_of(&|of| of == kind).or_else(|| variance_of(&|_| true)).filter(|(variance, _)| *variance > least.0))
            .map(|known| known.unwrap_or(least))
            .collect();
        for (row, (moves, index)) in moves.iter().zip(with_effect).enumerate() {
            // By how much others with a similar effect widen the interval. Of unknowns of which only the sum matters, none is known.
            let inflation = inverse[row][row] * matrix[row][row];
            if inflation > 0.0 && inflation < INFLATION_MAX {
                let mut of_kind = vec![0.0; variances.len()];
                moves.iter().zip(kinds).for_each(|(by, kind)| of_kind[*kind] += by * by * variances[*kind].0);
                let variance: f64 = of_kind.iter().sum();
                // Welch and Satterthwaite: of a sum of variances that are known by as many as these.
                let freedom = variance * variance / of_kind.iter().zip(&variances).map(|(part, (_, free))| part * part / free).sum::<f64>();
                all[index] = student_t_quantile_975((freedom as usize).max(1)) * variance.sqrt();
            }
        }
        all
    }
}

/// Function from lists of unknowns to lists of residuals.
pub type Function<'a, E> = &'a mut dyn FnMut(&[Vec<f64>]) -> Result<Vec<Vec<f64>>, E>;

/// Looks for the least sum of the squares of `function`, with up to `simplex_max` evaluations of the simplex.
///
/// `deviation_min` is the least standard deviation that residuals are taken to have; what is met ten times as well is met.
///
/// # Errors
/// The function's.
pub fn minimise<E>(function: Function<'_, E>, start: &[f64], simplex_max: usize, deviation_min: f64) -> Result<Least, E> {
    let bounded = |at: Vec<f64>| -> Vec<f64> { at.iter().zip(start).map(|(at, start)| at.clamp(start - REACH, start + REACH)).collect() };
    let residuals = function(&[start.to_vec()])?.swap_remove(0);
    // A tenth of what repeated measurements differ by.
    let met = 0.01 * deviation_min * deviation_min * residuals.len() as f64 + 1e-12;
    let mut corner = descend(function, (start.to_vec(), residuals), &bounded, met)?;
    if squares(&corner.1) > met && simplex_max > 0 {
        let mut one = |at: &[f64]| -> Result<Vec<f64>, E> { Ok(function(&[at.to_vec()])?.swap_remove(0)) };
        corner = simplex(&mut one, corner, &bounded, simplex_max)?;
        corner = descend(function, corner, &bounded, met)?;
    }
    let (at, residuals) = corner;
    let beside = beside(function, &at)?;
    let (slopes, certain_slopes) = (slopes(&beside), certain_slopes(&beside, &residuals));
    Ok(Least { at, residuals, slopes, certain_slopes })
}

/// Makes damped Gauss–Newton steps, until one gains little or the sum of squares is at most `met`.
fn descend<E>(function: Function<'_, E>, corner: Corner, bounded: &dyn Fn(Vec<f64>) -> Vec<f64>, met: f64) -> Result<Corner, E> {
    let (mut at, mut residuals) = corner;
    let mut damping = 1e-3;
    for _ in 0..STEPS_MAX {
        let before = squares(&residuals);
        if before <= met {
            break;
        }
        let slopes = slopes(&beside(function, &at)?);
        let mut accepted = false;
        for _ in 0..TRIES_MAX {
            let stride = stride(&slopes, &residuals, damping);
            let next = bounded(at.iter().zip(&stride).map(|(at, stride)| at + stride.clamp(-STRIDE_MAX, STRIDE_MAX)).collect());
            let there = function(std::slice::from_ref(&next))?.swap_remove(0);
            if squares(&there) < before {
                (at, residuals, accepted) = (next, there, true);
                damping = f64::max(damping / 10.0, 1e-9);
                break;
            }
            damping *= 10.0;
        }
        if !accepted || before - squares(&residuals) < GAIN_MIN * before / residuals.len() as f64 {
            break;
        }
    }
    Ok((at, residuals))
}

/// Returns the slopes of all residuals, a list for each unknown. Differences extend to both sides, because one side may be beyond a
/// bottleneck.
fn slopes(beside: &[Beside]) -> Vec<Vec<f64>> {
    let slope = |below: &[f64], above: &[f64]| below.iter().zip(above).map(|(below, above)| (above - below) / (2.0 * STEP)).collect();
    beside.iter().map(|[below, above]| slope(below, above)).collect()
}

/// Returns the slopes of all residuals that have the same direction on both sides. It is the smaller one of the two, or 0 if they point in
/// different directions.
///
/// The order of events also turns a small change into a slope, mostly on one side. Dozens of such slopes would seem to determine an unknown
/// that nothing determines, and would make its interval too narrow.
fn certain_slopes(beside: &[Beside], residuals: &[f64]) -> Vec<Vec<f64>> {
    let lesser = |below: f64, here: f64, above: f64| {
        let (before, after) = ((here - below) / STEP, (above - here) / STEP);
        if before * after > 0.0 { before.signum() * before.abs().min(after.abs()) } else { 0.0 }
    };
    let slope = |[below, above]: &Beside| (0..residuals.len()).map(|of| lesser(below[of], residuals[of], above[of])).collect();
    beside.iter().map(slope).collect()
}

/// Residuals below and above the value of an unknown.
type Beside = [Vec<f64>; 2];

/// Returns the residuals below and above, for each unknown.
fn beside<E>(function: Function<'_, E>, at: &[f64]) -> Result<Vec<Beside>, E> {
    let points: Vec<Vec<f64>> = (0..at.len()).flat_map(|index| [-STEP, STEP].map(|by| moved(at, index, by))).collect();
    let mut residuals = function(&points)?.into_iter();
    Ok(std::iter::from_fn(|| Some([residuals.next()?, residuals.next()?])).collect())
}

fn moved(at: &[f64], index: usize, by: f64) -> Vec<f64> {
    let mut moved = at.to_vec();
    moved[index] += by;
    moved
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the products of slopes with each other. `slopes` has a list for each unknown.
fn normal_matrix(slopes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    slopes.iter().map(|a| slopes.iter().map(|b| product(a, b)).collect()).collect()
}

/// Returns a damped Gauss–Newton step (Levenberg and Marquardt). An unknown without effect does not move.
fn stride(slopes: &[Vec<f64>], residuals: &[f64], damping: f64) -> Vec<f64> {
    let mut matrix = normal_matrix(slopes);
    for (index, row) in matrix.iter_mut().enumerate() {
        row[index] += damping * row[index] + 1e-12;
    }
    let wanted: Vec<f64> = slopes.iter().map(|column| -product(column, residuals)).collect();
    solve(matrix, wanted).unwrap_or_else(|| vec![0.0; slopes.len()])
}

/// Returns the rows of the inverse of a symmetric matrix; `None` if it is singular.
fn inverse(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let unit = |column: usize| (0..matrix.len()).map(|row| f64::from(u8::from(row == column))).collect();
    (0..matrix.len()).map(|column| solve(matrix.to_vec(), unit(column))).collect()
}

/// Solves a system of equations by Gaussian elimination with pivots; `None` if the matrix is singular.
fn solve(mut matrix: Vec<Vec<f64>>, mut wanted: Vec<f64>) -> Option<Vec<f64>> {
    let size = wanted.len();
    for column in 0..size {
        let pivot = (column..size).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-14 {
            return None;
        }
        matrix.swap(column, pivot);
        wanted.swap(column, pivot);
        for row in column + 1..size {
            let factor = matrix[row][column] / matrix[column][column];
            let (above, below) = matrix.split_at_mut(row);
            below[0].iter_mut().zip(&above[column]).skip(column).for_each(|(entry, from)| *entry -= factor * from);
            wanted[row] -= factor * wanted[column];
        }
    }
    let mut solution = vec![0.0; size];
    for row in (0..size).rev() {
        let rest: f64 = (row + 1..size).map(|column| matrix[row][column] * solution[column]).sum();
        solution[row] = (wanted[row] - rest) / matrix[row][row];
    }
    Some(solution)
}

/// A corner of the simplex with its residuals.
type Corner = (Vec<f64>, Vec<f64>);

/// Function from one list of unknowns to residuals.
type FunctionOfOne<'a, E> = &'a mut dyn FnMut(&[f64]) -> Result<Vec<f64>, E>;

/// Nelder and Mead's search with their coefficients: 1, 2, ½, ½.
fn simplex<E>(
    function: FunctionOfOne<'_, E>,
    start: Corner,
    bounded: &dyn Fn(Vec<f64>) -> Vec<f64>,
    evaluations_max: usize,
) -> Result<Corner, E> {
    let size = start.0.len();
    if evaluations_max <= size {
        return Ok(start);
    }
    let mut corners = vec![start];
    for index in 0..size {
        let at = bounded(moved(&corners[0].0, index, EDGE));
        let residuals = function(&at)?;
        corners.push((at, residuals));
    }
    let mut evaluations = size;
    while evaluations < evaluations_max {
        // A stable sort: of equal corners the older is better.
        corners.sort_by(|a, b| squares(&a.1).total_cmp(&squares(&b.1)));
        let extent =
            corners[1..].iter().flat_map(|corner| corner.0.iter().zip(&corners[0].0)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if extent < SMALL {
            break;
        }
        let (best, second_worst, worst) = (squares(&corners[0].1), squares(&corners[size - 1].1), squares(&corners[size].1));
        let centre: Vec<f64> =
            (0..size).map(|index| corners[..size].iter().map(|corner| corner.0[index]).sum::<f64>() / size as f64).collect();
        // From the centre by so many times the way from the worst corner to it.
        let beyond = |by: f64| bounded(centre.iter().zip(&corners[size].0).map(|(centre, worst)| centre + by * (centre - worst)).collect());
        let mut corner = |at: Vec<f64>| -> Result<Corner, E> {
            evaluations += 1;
            let residuals = function(&at)?;
            Ok((at, residuals))
        };
        let reflected = corner(beyond(1.0))?;
        let at_reflected = squares(&reflected.1);
        let next = if at_reflected < best {
            let expanded = corner(beyond(2.0))?;
            if squares(&expanded.1) < at_reflected { Some(expanded) } else { Some(reflected) }
        } else if at_reflected < second_worst {
            Some(reflected)
        } else {
            let contracted = corner(beyond(if at_reflected < worst { 0.5 } else { -0.5 }))?;
            (squares(&contracted.1) < at_reflected.min(worst)).then_some(contracted)
        };
        match next {
            Some(next) => corners[size] = next,
            None => {
                let best = corners[0].0.clone();
                for shrunk in &mut corners[1..] {
                    let at: Vec<f64> = shrunk.0.iter().zip(&best).map(|(at, best)| (at + best) / 2.0).collect();
                    *shrunk = corner(at)?;
                }
            }
        }
    }
    corners.sort_by(|a, b| squares(&a.1).total_cmp(&squares(&b.1)));
    Ok(corners.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn least(function: impl Fn(&[f64]) -> Vec<f64>, start: &[f64], simplex_max: usize) -> (Least, usize) {
        let mut evaluations = 0;
        let mut batch = |points: &[Vec<f64>]| -> Result<Vec<Vec<f64>>, Infallible> {
            evaluations += points.len();
            Ok(points.iter().map(|point| function(point)).collect())
        };
        let Ok(least) = minimise(&mut batch, start, simplex_max, 0.0);
        (least, evaluations)
    }

    #[test]
    fn curved_functions_are_followed_to_their_least_point() {
        // Rosenbrock's valley, (1, 1) from (-1.2, 1).
        let (least, evaluations) = least(|x| vec![1.0 - x[0], 10.0 * (x[1] - x[0] * x[0])], &[-1.2, 1.0], 400);
        assert!(least.at.iter().all(|at| (at - 1.0).abs() < 0.02), "{:?}", least.at);
        assert!(evaluations < 500);
    }

    #[test]
    fn a_kink_stops_slopes_but_not_the_simplex() {
        // The slope at the start shows only the first bottleneck.
        let bottlenecks = |x: &[f64]| vec![f64::max(x[0], x[1]) - 0.2, f64::max(x[0] - 0.5, -0.5 * x[1]) + 0.1, 0.3 * (x[0] + x[1] - 0.3)];
        let sum = |least: &Least| squares(&least.residuals);
        let (without, _) = least(bottlenecks, &[1.0, -1.0], 0);
        let (with, _) = least(bottlenecks, &[1.0, -1.0], 200);
        // The simplex ends when it is a thousandth wide; slopes lead on from there.
        assert!(sum(&with) <= sum(&without) && sum(&with) < 1e-12, "{} {}", sum(&with), sum(&without));
    }

    #[test]
    fn intervals_say_what_is_not_known() {
        let widths = |least: &Least| least.half_widths(&vec![0; least.residuals.len()], 0.0, 0.0);
        // x0 well, x1 badly, x2 not at all.
        let (known, _) = least(|x| vec![x[0] - 0.1, x[0] + 0.01 * x[1], 0.1 + 0.01 * x[1], 0.02], &[0.0, 0.0, 0.0], 100);
        let of_known = widths(&known);
        assert!(of_known[0] < of_known[1] && of_known[2].is_infinite(), "{of_known:?}");
        // Only the sum of two: neither.
        let (sum, _) = least(|x| vec![x[0] + x[1] - 1.0, 0.5 * (x[0] + x[1]) - 0.6], &[0.0, 0.0], 50);
        assert!(widths(&sum).iter().all(|width| *width > 1e3), "{:?}", widths(&sum));
        // The same beside a value that is known: that one stays known.
        let (beside, _) = least(|x| vec![x[0] + x[1] - 1.0, x[2] - 0.5, x[2] - 0.6], &[0.0, 0.0, 0.0], 50);
        let of_beside = beside.half_widths(&[0; 3], 0.1, 0.0);
        assert!(of_beside[0].is_infinite() && of_beside[1].is_infinite() && of_beside[2] < 1.0, "{of_beside:?}");
        // Four residuals of one value, each with deviation 1: half the width is about 3.18 / √4, with three degrees of freedom.
        let (mean, _) = least(|x| [-1.0, 1.0, -1.0, 1.0].map(|noise| x[0] + noise).to_vec(), &[0.3], 60);
        assert!(mean.at[0].abs() < 1e-3, "{:?}", mean.at);
        assert!((widths(&mean)[0] - student_t_quantile_975(3) * (4.0_f64 / 3.0).sqrt() / 2.0).abs() < 1e-6, "{:?}", widths(&mean));
    }

    #[test]
    fn a_slope_to_one_side_tells_nothing() {
        // At 0 the second unknown shows on one side only.
        let (least, _) = least(|x| vec![x[0] - 1.0, x[0] + 1.0, 0.1 + f64::max(x[1], 0.0)], &[0.0, 0.0], 0);
        assert_eq!(least.at, [0.0, 0.0]);
        let widths = least.half_widths(&[0; 3], 0.0, 0.0);
        assert!(widths[0].is_finite() && widths[1].is_infinite(), "{widths:?}");
    }

    /// The second residual depends on the second unknown ten times as much on one side. The search follows the mean of both sides. An
    /// interval is therefore no narrower than that of the mean, nor than that of the lesser side.
    #[test]
    fn the_wider_interval_of_followed_and_of_certain_slopes_counts() {
        let kinked = |x: &[f64]| {
            let second = if x[1] > 0.0 { 10.0 * x[1] } else { x[1] };
            vec![x[0] + x[1], x[0] + second, 0.3 * x[1]]
        };
        let (least, _) = least(kinked, &[0.0, 0.0], 0);
        let widths = least.half_widths(&[0; 3], 1.0, 0.0);
        let of = |slopes: &[Vec<f64>]| least.half_widths_of(slopes, &[0; 3], 1.0, 0.0);
        let (followed, certain) = (of(&least.slopes), of(&least.certain_slopes));
        assert!(certain[1] > followed[1] && widths[1] == certain[1], "{followed:?} {certain:?}");
        assert_eq!(widths[0], f64::max(followed[0], certain[0]));
        assert_ne!(least.slopes[1], least.certain_slopes[1]);
    }

    /// Four residuals happen to be met exactly. One more that is expected leaves an interval.
    #[test]
    fn residuals_that_are_small_by_chance_leave_an_interval() {
        let (least, _) = least(|x| vec![x[0]; 4], &[0.3], 0);
        assert!(least.half_widths(&[0; 4], 0.0, 0.0)[0] < 1e-3);
        let expected = student_t_quantile_975(4) * (1.0_f64 / 4.0).sqrt() / 2.0;
        assert!((least.half_widths(&[0; 4], 0.0, 1.0)[0] - expected).abs() < 1e-6);
    }

    /// Two values, each looked at by four residuals of its own kind: one kind is ten times as certain.
    #[test]
    fn residuals_of_a_kind_deviate_alike() {
        let noise = [-1.0, 1.0, -1.0, 1.0];
        let looks = |x: &[f64]| noise.iter().map(|noise| x[0] + noise).chain(noise.iter().map(|noise| x[1] + 0.1 * noise)).collect();
        let (both, _) = least(looks, &[0.3, -0.2], 60);
        let exact = student_t_quantile_975(3) * (4.0_f64 / 3.0).sqrt() / 2.0;
        let apart = both.half_widths(&[0, 0, 0, 0, 1, 1, 1, 1], 0.0, 0.0);
        assert!((apart[0] - exact).abs() < 1e-6 && (apart[1] - 0.1 * exact).abs() < 1e-6, "{apart:?}");
        assert!((both.half_widths(&[0, 0, 0, 0, 1, 1, 1, 1], 2.0, 0.0)[1] - student_t_quantile_975(usize::MAX) * 2.0 / 2.0).abs() < 1e-9);
        let together = both.half_widths(&[0; 8], 0.0, 0.0);
        assert!((together[0] - together[1]).abs() < 1e-9 && together[0] < exact, "{together:?}");
    }
}
