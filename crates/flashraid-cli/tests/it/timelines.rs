//! `compare --timeline`: two schemes above each other over the same window, the slowest request tied to the collection that it met.

use serde_json::{Value, json};

use crate::browser::{LOOKS, visit_with};
use crate::program::Place;

/// Tells what the timeline shows: its panels, their texts, and the dark pixels around the collection that is marked.
const PROBE: &str = r#"(async () => {
  await new Promise((resolve) => setTimeout(resolve, 100));
  const section = document.getElementById("timeline"), plot = section.querySelector(".plot");
  const scales = () => plot.uplots.map((u) => [u.scales.x.min, u.scales.x.max]);
  const full = scales();
  plot.uplots[3].setScale("x", { min: full[0][0] + 50, max: full[0][0] + 90 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  tell({ names: [...plot.querySelectorAll(".panel b")].map((name) => name.textContent), texts: [...plot.querySelectorAll(".panel")].map((text) => text.textContent),
    full, zoomed: scales(), heights: plot.uplots.map((u) => [u.scales.y.min, u.scales.y.max]), data: plot.uplots.map((u) => u.data),
    panels: plot.uplots.map((u) => { const box = u.over.getBoundingClientRect(); return [box.left, box.right]; }), charts: [] });
})();"#;

/// The slowest request of a report's window is the slowest, and its collection overlaps with it longest of all that it can have met.
fn expect_slowest(timeline: &Value) -> (usize, Option<usize>) {
    let ns = |entry: &Value, key: &str| entry[key].as_u64().unwrap();
    let (from, to) = (ns(timeline, "from_ns"), ns(timeline, "to_ns"));
    let requests = timeline["requests"].as_array().unwrap();
    let length = |request: &Value| ns(request, "done_ns") - ns(request, "arrival_ns");
    let longest = requests.iter().filter(|request| (from..to).contains(&ns(request, "done_ns"))).map(length).max().unwrap();
    let slowest = &timeline["slowest"];
    let request = &requests[slowest["request"].as_u64().unwrap() as usize];
    assert_eq!(length(request), longest);
    assert!(ns(slowest, "collection_ns") <= longest);
    let collection = slowest["gc"].as_u64().map(|position| position as usize);
    assert_eq!(collection.is_some(), request["gc_members_met"] != 0, "{slowest} {request}");
    if let Some(position) = collection {
        let gc = timeline["gc"].as_array().unwrap();
        let overlap =
            |gc: &Value| ns(gc, "end_ns").min(ns(request, "done_ns")).saturating_sub(ns(gc, "start_ns").max(ns(request, "arrival_ns")));
        assert!(overlap(&gc[position]) > 0, "{} {request}", gc[position]);
        // The array is a RAID-0 of two members with strips of one page of 4 KiB, and requests have two pages. Each request therefore has
        // data on both members.
        assert_eq!(overlap(&gc[position]), gc.iter().map(overlap).max().unwrap());
    }
    (slowest["request"].as_u64().unwrap() as usize, collection)
}

#[test]
fn two_schemes_stand_above_each_other_and_the_slowest_is_tied_to_its_collection() {
    let place = Place::new();
    let window = ["--timeline", "1s..1400ms", "--json", "--out", "out"];
    let document =
        place.run_json(&[&["compare", "small.toml", "--vary", "coordination.scheme=local,reactive-inclusive"][..], &window].concat());
    let timelines = [0, 1].map(|point| &document["points"][point]["report"]["timeline"]);
    let met = timelines.map(expect_slowest);
    assert!(met.iter().all(|(_, collection)| collection.is_some()), "the slowest of this drive wait for collection: {met:?}");
    // The reports of a run say the same.
    let alone = place.run_json(&["run", "small.toml", "--timeline", "1s..1400ms", "--json"]);
    assert_eq!(alone["timeline"], *timelines[0]);

    let picture = place.read("out/timeline.svg");
    for name in ["local. Slowest: a ", "reactive-inclusive. Slowest: a "] {
        assert!(picture.contains(name), "{name}");
    }
    for look in LOOKS {
        let Some(probe) = visit_with(&place, "out/report.html", look, PROBE) else { return };
        assert_eq!(probe["names"], json!(["local", "reactive-inclusive"]));
        for ((text, timeline), (_, collection)) in probe["texts"].as_array().unwrap().iter().zip(timelines).zip(met) {
            let gc = &timeline["gc"][collection.unwrap()];
            let tied = format!("here that of SSD {}, die {}.", gc["member"], gc["element"]);
            assert!(text.as_str().unwrap().ends_with(&tied), "{text}: {tied}");
        }
        let spans = |key: &str| serde_json::from_value::<Vec<[f64; 2]>>(probe[key].clone()).unwrap();
        assert_eq!(spans("full"), [[1000.0, 1400.0]; 4], "the same window");
        assert_eq!(spans("zoomed"), [[1050.0, 1090.0]; 4], "they are zoomed together");
        assert_eq!(spans("heights")[0], spans("heights")[2], "response times have one axis");
        assert!(spans("panels").iter().all(|panel| *panel == spans("panels")[0]));
        for (panel, timeline) in [(0, timelines[0]), (2, timelines[1])] {
            let within = |request: &&Value| (1_000_000_000..1_400_000_000).contains(&request["done_ns"].as_u64().unwrap());
            let count = timeline["requests"].as_array().unwrap().iter().filter(within).count();
            assert_eq!(probe["data"][panel][0].as_array().unwrap().len(), count);
        }
    }
}

#[test]
fn more_timelines_than_anybody_looks_at_are_refused() {
    let place = Place::new();
    let ended = place.run(&["compare", "small.toml", "--vary", "seed=1..60", "--timeline", "1s..2s", "--out", "out"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("--timeline: 60 simulations") && place.files().is_empty(), "{}", ended.stderr);
}
