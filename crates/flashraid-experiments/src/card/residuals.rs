//! Errors of the model by kind of figure, taken from the kept report cards.

use flashraid::advise::Residuals;

use super::{KEPT, Kind, Statistic, kept};

/// Figures of data sheets, with the kinds of figures that their errors stand for.
const FIGURES: [(&str, &str); 6] = [
    ("write_amplification_random_4k", "waf"),
    ("random_read_4k_qd1_us", "read mean"),
    ("random_write_4k_qd1_us", "write mean"),
    ("random_read_4k_iops", "iops"),
    ("random_write_4k_steady_iops", "iops"),
    ("mixed_70_30_4k_iops", "iops"),
];

/// Beginning of the names of client drives. Their writes go to a cache of one bit per cell, and say nothing of other drives' writes.
const CLIENT: &str = "nvme-client";

/// Returns the errors of the kept cards. Only figures count to which no number of the preset was fitted.
#[must_use]
pub fn residuals() -> Residuals {
    let cards = KEPT.iter().filter_map(|(name, _)| kept(name));
    let errors = cards.flat_map(|card| {
        let is_client = card.drive.starts_with(CLIENT);
        let of_figures = card.figures.iter().filter(|figure| figure.kind == Kind::Predicted).filter_map(|figure| {
            let (_, kind) = FIGURES.iter().find(|(name, _)| *name == figure.name)?;
            Some(((*kind).to_owned(), libm::log(figure.simulated? / figure.data_sheet)))
        });
        let of_percentiles = card.percentiles.iter().filter(|percentile| percentile.kind == Kind::Predicted).filter_map(|percentile| {
            let direction = if percentile.load.contains("writes") { "write" } else { "read" };
            let is_of_many = matches!(percentile.of, Statistic::Mean | Statistic::Percentile(_));
            let counts = is_of_many && !(is_client && direction == "write");
            let error = libm::log(percentile.simulated? / percentile.published?);
            counts.then(|| (format!("{direction} {}", percentile.of), error))
        });
        of_figures.chain(of_percentiles).collect::<Vec<_>>()
    });
    Residuals::of(errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashraid::advise::goal::{Direction, Figure, Statistic};

    /// Published figures of seven loads have a 99th percentile of reads, and none of a drive of today one of writes.
    #[test]
    fn the_cards_give_errors_of_reads_and_none_of_slow_writes() {
        let residuals = residuals();
        let of = |kind: &str| residuals.kinds.iter().find(|residual| residual.kind == kind).unwrap();
        assert_eq!(of("read p99").figures, 7);
        assert!((0.11..0.15).contains(&of("read p99").rms), "{:?}", of("read p99"));
        assert!((0.02..0.06).contains(&of("waf").rms), "{:?}", of("waf"));
        let error = |direction, statistic| residuals.error_of(Figure::Response(direction, statistic));
        assert_eq!(error(Direction::Write, Statistic::P99), None);
        assert!(error(Direction::All, Statistic::Mean).is_some() && error(Direction::Read, Statistic::P99_9).is_some());
    }
}
