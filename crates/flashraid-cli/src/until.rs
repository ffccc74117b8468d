//! `--until`: runs that go on until their figures can be judged, or until they are certain enough.

use std::time::{Duration, Instant};

use clap::Args;
use flashraid_report::grid::{Grid, Until};
use flashraid_report::{number, text};
use flashraid_workload::units;

/// Greatest factor by which runs become longer, unless `--at-most` says otherwise.
const TIMES_MAX: f64 = 20.0;
/// Most extensions of one command. An estimate from a short run may be too small.
const EXTENSIONS_MAX: usize = 4;

/// Options for the length of runs.
#[derive(Debug, Clone, Copy, Args)]
pub struct UntilArgs {
    /// Go on until collection has happened often enough ("judged"), or until means are as certain as this, such as 5%. With P%, half of the
    /// 95 % interval of each difference is at most P percent of the baseline's mean. Generated requests go on, and traces repeat. Without
    /// this option, comparisons go on until judged unless the array is idle
    #[arg(long, value_name = "judged|P%", value_parser = parse_until)]
    pub until: Option<Until>,
    /// Bound on --until: requests of a run, such as 2M, or time of this machine, such as 60s [default: 20 times as many
    /// requests]
    #[arg(long, value_name = "REQUESTS|TIME", value_parser = parse_bound)]
    pub at_most: Option<Bound>,
}

/// End of the extensions.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// Number of requests of each run.
    Requests(f64),
    /// Time of this machine since the beginning of the command.
    Time(Duration),
}

fn parse_until(text: &str) -> Result<Until, String> {
    let share = |percent: &str| percent.trim().parse::<f64>().ok().filter(|percent| (0.1..=100.0).contains(percent));
    match text.strip_suffix('%').map(share) {
        Some(Some(percent)) => Ok(Until::HalfWidth(percent / 100.0)),
        None if text == "judged" => Ok(Until::Judged),
        _ => Err("write judged, or a percentage from 0.1% to 100%".to_owned()),
    }
}

fn parse_bound(text: &str) -> Result<Bound, String> {
    let (number, unit) = match text.as_bytes().last() {
        Some(b'k') => (&text[..text.len() - 1], 1e3),
        Some(b'M') => (&text[..text.len() - 1], 1e6),
        Some(b'G') => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    match (number.parse::<f64>(), text.parse::<units::Duration>()) {
        (Ok(number), _) if number >= 1.0 && number * unit <= 1e15 => Ok(Bound::Requests(number * unit)),
        (Err(_), Ok(time)) if time.ns > 0 => Ok(Bound::Time(Duration::from_nanos(time.ns))),
        _ => Err("write a number of requests, such as 2000000 or 2M, or a time, such as 60s or 5min".to_owned()),
    }
}

/// Reads a number of requests, such as 2000000 or 2M.
pub fn parse_requests(text: &str) -> Result<u64, String> {
    match parse_bound(text) {
        Ok(Bound::Requests(requests)) => Ok(requests as u64),
        _ => Err("write a number of requests, such as 2000000 or 2M".to_owned()),
    }
}

/// Decides how runs go on.
pub struct Extensions {
    until: Option<Until>,
    /// True if the user set the goal.
    is_asked: bool,
    at_most: Option<Bound>,
    begin: Instant,
    done: usize,
    /// Factor of the present runs over those that were asked for.
    pub times: u64,
}

impl Extensions {
    /// Begins with the runs as they were asked for. `default` is the goal without `--until`.
    pub fn new(arguments: UntilArgs, default: Option<Until>) -> Self {
        let UntilArgs { until, at_most } = arguments;
        Self { until: until.or(default), is_asked: until.is_some(), at_most, begin: Instant::now(), done: 0, times: 1 }
    }

    /// Returns true if longer runs lead to the goal, and says so unless `quiet`. `times` is then the new factor.
    pub fn go_on(&mut self, grid: &Grid, quiet: bool) -> bool {
        let Some(until) = self.until.filter(|_| self.done < EXTENSIONS_MAX && !crate::interrupt::requested()) else { return false };
        // Whoever asks for verdicts gets them for an idle array, too.
        if !self.is_asked && !grid.idle().is_empty() {
            return false;
        }
        let (present, requests) = (self.times as f64, grid.requests() as f64);
        let most = match self.at_most {
            None => TIMES_MAX / present,
            Some(Bound::Requests(most)) => most / requests.max(1.0),
            Some(Bound::Time(most)) => {
                let used = self.begin.elapsed();
                most.saturating_sub(used).as_secs_f64() / used.as_secs_f64().max(1e-3)
            }
        };
        let Some(needed) = grid.times_needed(until, most) else { return false };
        let times = (present * needed).ceil().min((present * most).floor());
        if times <= present {
            return false;
        }
        self.times = times as u64;
        self.done += 1;
        if !quiet {
            let requests = number::grouped((times / present * requests) as u64);
            let goal = match until {
                Until::Judged => "so that each collects often enough to be judged".to_owned(),
                Until::HalfWidth(share) => format!("for intervals of ±{} %", number::three_digits(share * 100.0)),
            };
            let way = if self.at_most.is_none() { "; --exactly keeps to what was asked" } else { "" };
            crate::complain(&format!("note: going on to {requests} requests a run, {goal}{way}"));
        }
        true
    }

    /// Returns the line that says to which length the runs went on; empty if they did not.
    pub fn sentence(&self, grid: &Grid, width: usize) -> String {
        self.said(grid).map_or_else(String::new, |length| text::wrap(&length, width, "  ") + "\n")
    }

    fn said(&self, grid: &Grid) -> Option<String> {
        let until = self.until.filter(|_| self.times > 1)?;
        let requests = number::grouped(grid.requests());
        let length = format!("went on to {requests} requests a run, {} times as many as asked for", self.times);
        Some(match (until, grid.has_reached(until)) {
            (Until::Judged, true) => format!("{length}, so that each collected often enough"),
            (Until::HalfWidth(share), true) => {
                format!("{length}, so that each interval is at most ±{} %", number::three_digits(share * 100.0))
            }
            (_, false) => format!("{length}; not all points got as far as they should"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_and_bounds_are_read() {
        assert_eq!(parse_until("judged"), Ok(Until::Judged));
        assert_eq!(parse_until("5%"), Ok(Until::HalfWidth(0.05)));
        for wrong in ["", "5", "0%", "101%", "x%", "Judged", "nan%"] {
            assert!(parse_until(wrong).is_err(), "{wrong}");
        }
        assert!(matches!(parse_bound("2M"), Ok(Bound::Requests(requests)) if requests == 2e6));
        assert!(matches!(parse_bound("300"), Ok(Bound::Requests(requests)) if requests == 300.0));
        assert!(matches!(parse_bound("5min"), Ok(Bound::Time(time)) if time.as_secs() == 300));
        for wrong in ["", "0", "-1", "0s", "M", "1e99", "5 fortnights", "inf", "nan"] {
            assert!(parse_bound(wrong).is_err(), "{wrong}");
        }
    }
}
