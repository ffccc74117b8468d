//! A window of simulated time: requests, collections and destages of one array, or of several above each other.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;

use super::{Chart, Content, unit_of};
use crate::number;

/// A window of simulated time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// Beginning and end of the window, in ms.
    pub window_ms: Range<f64>,
    /// Unit of the response times.
    pub unit: &'static str,
    /// One array, or several that are compared, from top to bottom.
    pub panels: Vec<Panel>,
}

/// The window of one array.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// Name of the panel; empty if there is only one.
    pub name: String,
    /// Members, each with a lane.
    pub members: u32,
    /// Dies of a member, each with a row in its lane.
    pub dies: u32,
    /// Requests that ended in the window: end in ms, response time, whether it is a write.
    pub requests: Vec<(f64, f64, bool)>,
    /// Collections: member, die, begin and end in ms, whether the controller forced it.
    pub collections: Vec<(u32, u32, f64, f64, bool)>,
    /// Destages of the write cache to members: member, begin in ms, end on the member, and end on all members.
    pub destages: Vec<(u32, f64, f64, f64)>,
    /// The slowest of the requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowest: Option<Slowest>,
}

/// The slowest request of a window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slowest {
    /// Time of arrival in ms, or the begin of the window if that is later.
    pub from_ms: f64,
    /// Time at which it was done, in ms.
    pub done_ms: f64,
    /// Response time of the request.
    pub response: f64,
    /// The position among the collections of that which it met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection: Option<usize>,
    /// Both in a sentence.
    pub text: String,
}

impl Timeline {
    /// The longest response time of all panels.
    pub fn longest(&self) -> f64 {
        self.panels.iter().flat_map(|panel| &panel.requests).map(|request| request.1).fold(f64::MIN_POSITIVE, f64::max)
    }
}

/// Requests, collections and destages of the window that was asked for (GGC Figs. 10 and 13, LAWC Figs. 2 and 5).
pub fn of_run(report: &Value) -> Option<Chart> {
    of_several("timeline", &[(String::new(), report)])
}

/// The windows of several reports above each other, over one axis of time and with one unit; `None` if one of them has none.
pub fn of_several(id: &str, reports: &[(String, &Value)]) -> Option<Chart> {
    let windows: Vec<Window<'_>> = reports.iter().map(|(name, report)| Window::of(name, report)).collect::<Option<_>>()?;
    let requests = || windows.iter().flat_map(|window| &window.panel.requests);
    let (unit, scale) = unit_of(requests().map(|request| request.1).fold(0.0, f64::max));
    // Runs may have been asked for different windows: the axis reaches over all of them.
    let ends = |(start, end): (f64, f64), window: &Window<'_>| (start.min(window.window_ms.start), end.max(window.window_ms.end));
    let first = &windows.first()?.window_ms;
    let (start, end) = windows.iter().fold((first.start, first.end), ends);
    let window_ms = start..end;
    let has_destages = windows.iter().any(|window| !window.panel.destages.is_empty());
    let panels = windows.into_iter().map(|window| window.in_unit(scale)).collect();
    let title = match has_destages {
        false => "Requests by the time they are done, and collections",
        true => "Requests by the time they are done, destages and collections",
    };
    Some(Chart::new(id, title, Content::Timeline(Timeline { window_ms, unit, panels })))
}

/// The window of a report, response times in microseconds.
struct Window<'a> {
    window_ms: Range<f64>,
    panel: Panel,
    timeline: &'a Value,
}

fn ms(entry: &Value, key: &str) -> Option<f64> {
    entry[key].as_f64().map(|ns| ns / 1e6)
}

fn small(entry: &Value, key: &str) -> Option<u32> {
    entry[key].as_u64().map(|number| number as u32)
}

impl<'a> Window<'a> {
    fn of(name: &str, report: &'a Value) -> Option<Window<'a>> {
        let timeline = report.get("timeline").filter(|timeline| timeline.is_object())?;
        let entries = |key: &str| timeline[key].as_array().into_iter().flatten();
        let window_ms = ms(timeline, "from_ns")?..ms(timeline, "to_ns")?;

        let request = |entry: &Value| {
            let done_ms = ms(entry, "done_ns")?;
            Some((done_ms, (done_ms - ms(entry, "arrival_ns")?) * 1e3, entry["write"] == true))
        };
        let mut requests: Vec<(f64, f64, bool)> =
            entries("requests").filter_map(request).filter(|done| window_ms.contains(&done.0)).collect();
        requests.sort_by(|a, b| a.0.total_cmp(&b.0));

        let collection = |entry: &Value| {
            let (start_ms, end_ms) = (ms(entry, "start_ns")?.max(window_ms.start), ms(entry, "end_ns")?.min(window_ms.end));
            Some((small(entry, "member")?, small(entry, "element")?, start_ms, end_ms, entry["forced"] == true))
        };
        let collections = entries("gc").filter_map(collection).collect();
        let destage = |entry: &Value| {
            let begun_ms = ms(entry, "begun_ns")?.max(window_ms.start);
            let within = |key| Some(ms(entry, key)?.min(window_ms.end));
            Some((small(entry, "member")?, begun_ms, within("ended_ns")?, within("done_ns")?))
        };
        let destages = entries("destages").filter_map(destage).collect();
        let members = report["members"].as_array().map_or(1, Vec::len).max(1) as u32;
        let dies = report["config"]["ssd"]["geometry"]["dies"].as_u64().unwrap_or(1).max(1) as u32;
        let panel = Panel { name: name.to_owned(), members, dies, requests, collections, destages, slowest: None };
        Some(Window { window_ms, panel, timeline })
    }

    /// The panel with response times in a unit of so many microseconds, and with its slowest request.
    fn in_unit(self, scale: f64) -> Panel {
        let slowest = self.slowest(scale);
        let requests = self.panel.requests.iter().map(|(done_ms, us, is_write)| (*done_ms, us / scale, *is_write)).collect();
        Panel { requests, slowest, ..self.panel }
    }

    fn slowest(&self, scale: f64) -> Option<Slowest> {
        let slowest = &self.timeline["slowest"];
        let request = &self.timeline["requests"][slowest["request"].as_u64()? as usize];
        let (arrived_ms, done_ms) = (ms(request, "arrival_ns")?, ms(request, "done_ns")?);
        let collection = slowest["gc"].as_u64().map(|position| position as usize);
        let kind = if request["write"] == true { "write" } else { "read" };
        let duration = |ms: f64| number::duration_us(ms * 1e3);
        let behind = match (collection.and_then(|position| self.panel.collections.get(position)), ms(slowest, "collection_ns")?) {
            (_, 0.0) => "; it met no collection".to_owned(),
            (Some((member, die, ..)), waited_ms) => {
                format!("; {} of it behind collection, here that of SSD {member}, die {die}", duration(waited_ms))
            }
            (None, waited_ms) => format!("; {} of it behind collection that ended before the window", duration(waited_ms)),
        };
        Some(Slowest {
            from_ms: arrived_ms.max(self.window_ms.start),
            done_ms,
            response: (done_ms - arrived_ms) * 1e3 / scale,
            collection,
            text: format!("Slowest: a {kind} that took {}, done at {}{behind}.", duration(done_ms - arrived_ms), duration(done_ms)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(slowest: Value) -> Value {
        let timeline = json!({
            "from_ns": 0, "to_ns": 10_000_000,
            "requests": [
                { "arrival_ns": 1_000_000, "done_ns": 3_000_000, "write": true },
                { "arrival_ns": 0, "done_ns": 11_000_000, "write": false },
                { "arrival_ns": 0, "done_ns": 1_000_000, "write": false },
            ],
            "gc": [{ "member": 1, "element": 1, "start_ns": 2_000_000, "end_ns": 14_000_000, "forced": true }],
            "destages": [{ "member": 1, "begun_ns": 1_000_000, "ended_ns": 2_000_000, "done_ns": 14_000_000 }],
            "slowest": slowest,
        });
        json!({ "members": [{}, {}], "config": { "ssd": { "geometry": { "dies": 2 } } }, "timeline": timeline })
    }

    fn timeline(chart: Option<Chart>) -> Timeline {
        let Content::Timeline(timeline) = chart.unwrap().content else { panic!("a timeline") };
        timeline
    }

    #[test]
    fn a_timeline_holds_what_happens_in_its_window() {
        let timeline = timeline(of_run(&report(Value::Null)));
        let panel = &timeline.panels[0];
        assert_eq!(panel.requests, [(1.0, 1.0, false), (3.0, 2.0, true)]);
        assert_eq!(panel.collections, [(1, 1, 2.0, 10.0, true)]);
        assert_eq!(panel.destages, [(1, 1.0, 2.0, 10.0)]);
        assert_eq!((panel.members, panel.dies, timeline.unit, timeline.panels.len()), (2, 2, "ms", 1));
        assert_eq!((panel.slowest.as_ref(), of_run(&json!({}))), (None, None));
    }

    #[test]
    fn two_windows_stand_above_each_other_with_their_slowest_requests() {
        let met = report(json!({ "request": 0, "collection_ns": 1_500_000, "gc": 0 }));
        let free = report(json!({ "request": 2, "collection_ns": 0 }));
        let named = |name: &str| name.to_owned();
        let timeline = timeline(of_several("timeline", &[(named("local"), &met), (named("ideal"), &free)]));
        let slowest = |panel: usize| timeline.panels[panel].slowest.clone().unwrap();
        assert_eq!(timeline.panels.iter().map(|panel| panel.name.as_str()).collect::<Vec<_>>(), ["local", "ideal"]);
        assert_eq!((slowest(0).from_ms, slowest(0).done_ms, slowest(0).response, slowest(0).collection), (1.0, 3.0, 2.0, Some(0)));
        assert!(
            slowest(0).text.contains("a write that took 2.00 ms")
                && slowest(0).text.contains("1.50 ms of it behind collection, here that of SSD 1, die 1")
        );
        assert!(slowest(1).text.ends_with("it met no collection."), "{}", slowest(1).text);
        assert_eq!(of_several("timeline", &[(named("local"), &met), (named("other"), &json!({}))]), None);
    }

    #[test]
    fn the_axis_reaches_over_windows_that_differ() {
        let first = report(Value::Null);
        let mut second = first.clone();
        second["timeline"]["from_ns"] = json!(8_000_000);
        second["timeline"]["to_ns"] = json!(20_000_000);
        for both in [[&first, &second], [&second, &first]] {
            assert_eq!(timeline(of_several("timeline", &both.map(|report| (String::new(), report)))).window_ms, 0.0..20.0);
        }
    }
}
