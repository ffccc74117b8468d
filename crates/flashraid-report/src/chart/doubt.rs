//! Marks doubtful values of a chart with symbols, and explains the symbols.

use super::{BarSeries, Chart, Content, Line, WarningMark};

impl Line {
    /// Returns the symbols of doubt about a point, or an empty text.
    pub fn doubt(&self, point: usize) -> &str {
        match self.doubts.as_slice() {
            [all] => all,
            each => each.get(point).map_or("", String::as_str),
        }
    }
}

impl BarSeries {
    /// Returns the symbols of doubt about the value of a group, or an empty text.
    pub fn doubt(&self, group: usize) -> &str {
        self.doubts.get(group).map_or("", String::as_str)
    }
}

impl Chart {
    /// Returns all symbols of doubt about the values of a name, the gravest first.
    pub fn doubt(&self, name: &str) -> String {
        let texts: Vec<&str> = match &self.content {
            Content::Lines(lines) => lines.series.iter().filter(|line| line.name == name).flat_map(|line| texts(&line.doubts)).collect(),
            Content::Bars(bars) if bars.by_group => {
                let groups = bars.groups.iter().enumerate().filter(|(_, group)| *group == name);
                groups.flat_map(|(group, _)| bars.series.iter().map(move |series| series.doubt(group))).collect()
            }
            Content::Bars(bars) => {
                bars.series.iter().filter(|series| series.name == name).flat_map(|series| texts(&series.doubts)).collect()
            }
            Content::Timeline(_) => Vec::new(),
        };
        let is_there = |mark: &WarningMark| texts.iter().any(|text| text.contains(mark.symbol()));
        WarningMark::ALL.into_iter().filter(is_there).map(WarningMark::symbol).collect()
    }

    /// Returns the explanation of each symbol in the chart, such as `! The run was not steady …`.
    pub fn explanations(&self) -> Vec<String> {
        let symbols: String = self.names().into_iter().map(|name| self.doubt(name)).collect();
        let marks = WarningMark::ALL.into_iter().filter(|mark| symbols.contains(mark.symbol()));
        marks.map(|mark| format!("{} {}", mark.symbol(), mark.explanation())).collect()
    }
}

fn texts(doubts: &[String]) -> impl Iterator<Item = &str> {
    doubts.iter().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Bars, Lines};
    use super::*;

    fn symbols(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_name_has_the_symbols_of_its_values_and_the_chart_explains_each_once() {
        let points = vec![(1.0, 1.0), (2.0, 2.0)];
        let line = |name: &str, doubts: &[&str]| Line { doubts: symbols(doubts), ..Line::new(name, points.clone()) };
        let lines = vec![line("one", &["", "!"]), line("all", &["✗!"]), line("sound", &[])];
        assert_eq!([0, 1].map(|point| lines[0].doubt(point)), ["", "!"]);
        assert_eq!([0, 1].map(|point| lines[1].doubt(point)), ["✗!", "✗!"]);
        let chart = Chart::new("c", "", Content::Lines(Lines::plain(Axis::linear("x"), Axis::linear("y"), lines)));
        assert_eq!(["one", "all", "sound"].map(|name| chart.shown_name(name)), ["one !", "all ✗!", "sound"]);
        let explained = chart.explanations();
        assert_eq!(explained.len(), 2);
        assert!(explained[0].starts_with("✗ Data were lost") && explained[1].starts_with("! The run was not steady"), "{explained:?}");
    }

    #[test]
    fn groups_that_are_compared_are_marked_themselves() {
        let series = BarSeries { doubts: symbols(&["", "!"]), ..BarSeries::plain("mean", vec![Some(1.0), Some(2.0)]) };
        let bars = Bars::side_by_side(symbols(&["local", "other"]), Axis::linear("y"), vec![series]);
        let chart = |by_group: bool| Chart::new("c", "", Content::Bars(Bars { by_group, ..bars.clone() }));
        assert_eq!(["local", "other", "mean"].map(|name| chart(true).shown_name(name)), ["local", "other !", "mean"]);
        assert_eq!(chart(false).shown_name("mean"), "mean !");
        assert_eq!(chart(true).explanations(), chart(false).explanations());
    }
}
