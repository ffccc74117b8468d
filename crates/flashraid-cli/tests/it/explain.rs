//! `flashraid explain`, and the same text on pages.

use crate::program::Place;

#[test]
fn keys_figures_and_columns_are_explained() {
    let place = Place::new();
    let texts = ["ssd.gc.victim", "response_us.all.p99", "WA", "gc", "runs"].map(|name| {
        let ended = place.run(&["explain", name]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        format!("$ flashraid explain {name}\n{}", ended.stdout)
    });
    assert!(texts[2].contains("flash.write_amplification, a figure of a report"), "{}", texts[2]);
    // A column of points.csv is the figure or the key.
    for (column, name) in [("response_us_all_p99", "response_us.all.p99"), ("ssd_gc_victim", "ssd.gc.victim")] {
        assert_eq!(place.run(&["explain", column]).stdout, place.run(&["explain", name]).stdout);
    }
    insta::assert_snapshot!("explain", texts[..3].join("\n"));
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    let place = Place::new();
    for (name, part) in [
        ("ssd.gc.victm", "did you mean ssd.gc.victim?"),
        ("victm", "ssd.gc.victim"),
        ("flash.erasse", "did you mean one of flash.erases, "),
        ("qqqqqqqqqqqqqqqqqqqqq", "flashraid schema --markdown"),
        ("", "there is no key or figure"),
    ] {
        let ended = place.run(&["explain", name]);
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{name}: {}", ended.stderr);
        assert!(ended.stderr.contains(part), "{name}: {}", ended.stderr);
    }
}

/// The text beside the cursor in pages is the text that the program prints.
#[test]
fn pages_show_the_same_text_where_a_figure_stands() {
    let place = Place::new();
    place.run_json(&["run", "small.toml", "--json", "--out", "run"]);
    place.run_json(&["compare", "small.toml", "--vary", "coordination.scheme=local,ideal", "--json", "--out", "grid"]);
    let words = |text: &str| text.replace("&#10;", " ").replace("&quot;", "\"").split_whitespace().collect::<Vec<_>>().join(" ");
    for (page, at_least) in [("run/report.html", 40), ("grid/report.html", 15)] {
        let html = place.read(page);
        let titles: Vec<String> = html
            .split("explained\" title=\"")
            .skip(1)
            .map(|rest| words(&rest.split('"').next().unwrap().replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")))
            .collect();
        assert!(titles.len() >= at_least, "{page}: {}", titles.len());
        for title in titles.iter().collect::<std::collections::BTreeSet<_>>() {
            let name = title.split(": ").next().unwrap();
            let explained = words(&place.run(&["explain", name]).stdout);
            assert!(explained.contains(title.as_str()), "{page}: {title}\nis not in\n{explained}");
        }
    }
}
