//! Assigns colours to names. A name has the same colour in all charts that are shown together.

use std::collections::{BTreeMap, BTreeSet};

use super::{Chart, Content};

/// Number of colours of the palette that tell names apart.
pub const COLOURS: usize = 8;
/// Number of greys for yardsticks, which follow the colours in the palette.
pub const GREYS: usize = 6;

/// Names that always have the same place in the palette. Timelines draw requests, collections, and destages in these colours, too.
pub const FIXED: [(&str, usize); 6] = [("all", 0), ("read", 5), ("write", 1), ("collection", 4), ("forced", 0), ("cache", 2)];

/// Place of each name in the palette.
#[derive(Debug, Default)]
pub struct Colours(BTreeMap<String, usize>);

impl Colours {
    /// Gives colours to all names of these charts, in the order in which they appear.
    ///
    /// Names that share a chart differ. Otherwise a name gets the colour that the fewest others have.
    pub fn of<'a>(charts: impl IntoIterator<Item = &'a Chart>) -> Colours {
        let charts: Vec<(&Chart, Vec<&str>)> = charts.into_iter().map(|chart| (chart, chart.names())).collect();
        let yardsticks: BTreeSet<&str> = charts.iter().flat_map(|(chart, _)| chart.yardsticks.iter().map(String::as_str)).collect();
        let mut colours = Colours::default();
        // A chart with a single series takes the first colour, unless its name occurs in a chart with several.
        for name in charts.iter().filter(|(_, names)| names.len() > 1).flat_map(|(_, names)| names) {
            if colours.0.contains_key(*name) {
                continue;
            }
            let fixed = FIXED.iter().find(|(known, _)| known == name).map(|(_, colour)| *colour);
            let places = if yardsticks.contains(name) { COLOURS..COLOURS + GREYS } else { 0..COLOURS };
            let beside: BTreeSet<&str> =
                charts.iter().filter(|(_, names)| names.contains(name)).flat_map(|(_, names)| names.iter().copied()).collect();
            let taken = |place: usize| colours.0.iter().filter(|(known, _)| beside.contains(known.as_str())).any(|(_, own)| *own == place);
            let users = |place: usize| colours.0.values().filter(|own| **own == place).count();
            // Colours that are fixed for other names of the same chart are taken, even if those names come later.
            let reserved = |place: usize| FIXED.iter().any(|(known, own)| *own == place && beside.contains(known));
            // Colours that are fixed for a name of another chart are used last.
            let has_meaning = |place: usize| FIXED.iter().any(|(known, own)| *own == place && colours.0.contains_key(*known));
            let free = places.min_by_key(|place| (taken(*place), reserved(*place), has_meaning(*place), users(*place), *place));
            colours.0.insert((*name).to_owned(), fixed.unwrap_or_else(|| free.expect("the palette has places")));
        }
        colours
    }

    /// Returns the place of each name of a chart in the palette.
    pub fn of_chart(&self, chart: &Chart) -> Vec<usize> {
        chart.names().iter().map(|name| self.0.get(*name).copied().unwrap_or(0)).collect()
    }
}

impl Chart {
    /// Returns the names that colours tell apart: those of lines, or of series of bars. If groups of bars are compared, their names are
    /// returned.
    pub fn names(&self) -> Vec<&str> {
        match &self.content {
            Content::Lines(lines) => lines.series.iter().map(|line| line.name.as_str()).collect(),
            Content::Bars(bars) if bars.by_group => bars.groups.iter().map(String::as_str).collect(),
            Content::Bars(bars) => bars.series.iter().map(|series| series.name.as_str()).collect(),
            Content::Timeline(_) => Vec::new(),
        }
    }

    /// Returns true if a name is a yardstick: a configuration that nobody can build.
    pub fn is_yardstick(&self, name: &str) -> bool {
        self.yardsticks.iter().any(|yardstick| yardstick == name)
    }

    /// Returns a name as legends show it. Yardsticks are marked as such, and symbols of doubt follow the name.
    pub fn shown_name(&self, name: &str) -> String {
        let doubt = self.doubt(name);
        let (yardstick, gap) = (if self.is_yardstick(name) { " (yardstick)" } else { "" }, if doubt.is_empty() { "" } else { " " });
        format!("{name}{yardstick}{gap}{doubt}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Line, Lines};
    use super::*;

    fn chart(names: &[&str], yardsticks: &[&str]) -> Chart {
        let series = names.iter().map(|name| Line::new(*name, vec![(0.0, 1.0)])).collect();
        let lines = Lines::plain(Axis::linear("x"), Axis::linear("y"), series);
        let yardsticks = yardsticks.iter().map(|name| (*name).to_owned()).collect();
        Chart { yardsticks, ..Chart::new("c", "", Content::Lines(lines)) }
    }

    #[test]
    fn a_name_has_one_colour_and_names_of_a_chart_differ() {
        let charts = [chart(&["b", "a"], &[]), chart(&["a", "c", "b"], &[]), chart(&["d", "c"], &[]), chart(&["alone"], &[])];
        let colours = Colours::of(&charts);
        assert_eq!(charts.each_ref().map(|chart| colours.of_chart(chart)), [vec![0, 1], vec![1, 2, 0], vec![3, 2], vec![0]]);
    }

    #[test]
    fn more_names_than_colours_still_differ_within_their_charts() {
        let names: Vec<String> = (0..24).map(|name| format!("name {name}")).collect();
        let charts: Vec<Chart> = names.chunks(8).map(|names| chart(&names.iter().map(String::as_str).collect::<Vec<_>>(), &[])).collect();
        let colours = Colours::of(&charts);
        for chart in &charts {
            assert_eq!(colours.of_chart(chart).into_iter().collect::<BTreeSet<_>>().len(), 8);
        }
    }

    #[test]
    fn names_with_a_meaning_keep_their_colours_and_yardsticks_are_grey() {
        let charts = [chart(&["mean", "p99"], &[]), chart(&["all", "read", "write"], &[]), chart(&["local", "ideal", "other"], &["ideal"])];
        let colours = Colours::of(&charts);
        assert_eq!(colours.of_chart(&charts[1]), [0, 5, 1]);
        let more = [chart(&["all", "read", "write"], &[]), chart(&["mean", "p99"], &[])];
        assert_eq!(Colours::of(&more).of_chart(&more[1]), [2, 3]);
        assert_eq!(colours.of_chart(&charts[2])[1], COLOURS);
        assert!(colours.of_chart(&charts[2]).iter().enumerate().all(|(index, colour)| index == 1 || *colour < COLOURS));
        assert_eq!(charts[2].shown_name("ideal"), "ideal (yardstick)");
    }
}
