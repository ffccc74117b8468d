//! `flashraid report`: one page of results that are there.

use crate::program::Place;

/// The headings of the results of a page.
fn headings(page: &str) -> Vec<&str> {
    page.split("<article ").skip(1).map(|part| part.split("</h").next().unwrap().rsplit('>').next().unwrap()).collect()
}

#[test]
fn runs_and_comparisons_make_one_page() {
    let place = Place::new();
    for (out, set) in [("before", "array.members=2"), ("after", "array.members=4")] {
        assert_eq!(place.run(&["run", "small.toml", "--set", set, "--out", out]).status, 0);
    }
    assert_eq!(place.run(&["compare", "small.toml", "--vary", "ssd.gc.victim=greedy,fifo", "--out", "grid"]).status, 0);
    let ended = place.run(&["report", "before", "after/report.json", "grid", "--out", "page"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let page = place.read("page/report.html");
    assert_eq!(headings(&page), ["All runs", "before", "after", "grid"]);
    // The runs beside each other, with what differs.
    let beside = page.split("<article ").nth(1).unwrap();
    assert!(beside.contains("What differs") && beside.contains("array.members") && beside.contains("× is the ratio"), "{beside}");
    assert!(ended.stdout.contains("2 × ggc2014 as RAID-0") && ended.stdout.contains("written: page/report.html"), "{}", ended.stdout);

    // Of one result the terminal says what its own command said, with all tables if they are asked for.
    // Without where the files are, and what the wall clock decides.
    let lasting = |text: &str| text.split("written:").next().unwrap().split("\nSimulator\n").next().unwrap().to_owned();
    for (folder, command) in [
        ("before", &["run", "small.toml", "--set", "array.members=2", "--quiet"][..]),
        ("grid", &["compare", "small.toml", "--vary", "ssd.gc.victim=greedy,fifo", "--out", "grid"]),
    ] {
        for (index, tables) in [&[][..], &["--tables"]].into_iter().enumerate() {
            let own = place.run(&[command, tables].concat());
            let page = format!("{folder}-page-{index}");
            let again = place.run(&[&["report", folder, "--out", &page], tables].concat());
            assert_eq!((again.status, own.status), (0, 0), "{}{}", again.stderr, own.stderr);
            assert_eq!(lasting(&again.stdout), lasting(&own.stdout), "{folder} {tables:?}");
            assert_eq!(again.stdout.lines().count() > 40, index == 1, "{}", again.stdout);
        }
    }

    // Of one result the page says what its own page says, and the pictures are the same.
    assert_eq!(place.run(&["report", "before", "--out", "one"]).status, 0);
    let (one, own) = (place.read("one/report.html"), place.read("before/report.html"));
    let body = |page: &str| page.split("</h1>").nth(1).unwrap().to_owned();
    assert_eq!(body(&one), body(&own));
    assert_eq!(place.read("one/response-cdf.svg"), place.read("before/response-cdf.svg"));
    let grid = place.run(&["report", "grid", "--out", "grid-page"]);
    assert_eq!(grid.status, 0, "{}", grid.stderr);
    assert_eq!(body(&place.read("grid-page/report.html")), body(&place.read("grid/report.html")));
}

/// Returns the names of elements in the contents of a page, result by result.
fn contents(page: &str) -> Vec<Vec<&str>> {
    let contents = page.split("<nav").nth(1).unwrap().split("</nav>").next().unwrap();
    contents
        .split("<ul>")
        .skip(1)
        .map(|list| {
            let list = list.split("</ul>").next().unwrap();
            list.split("</a>").filter_map(|entry| entry.rsplit_once("\">")).map(|(_, name)| name).collect()
        })
        .collect()
}

#[test]
fn names_in_the_contents_of_a_page_are_all_different() {
    let place = Place::new();
    let runs: [(&str, &[&str]); 3] = [
        ("plain", &["--timeline", "0s..200ms"]),
        ("many", &["--set", "array.members=17", "--set", "cache.policy=lawc", "--set", "cache.size=1MiB"]),
        ("failed", &["--set", "array.level=raid5", "--set", "array.members=4", "--set", "array.failure={member=1, at=\"1s\"}"]),
    ];
    for (out, options) in runs {
        let ended = place.run(&[&["run", "small.toml", "--out", out], options].concat());
        assert_eq!(ended.status, 0, "{}", ended.stderr);
    }
    assert_eq!(place.run(&["compare", "small.toml", "--vary", "ssd.gc.victim=greedy,fifo", "--out", "grid"]).status, 0);
    assert_eq!(place.run(&["report", "plain", "many", "grid", "--out", "all"]).status, 0);
    for (folder, results) in [("plain", 1), ("many", 1), ("failed", 1), ("grid", 1), ("all", 4)] {
        let page = place.read(&format!("{folder}/report.html"));
        let contents = contents(&page);
        assert_eq!(contents.len(), results, "{folder}");
        for names in contents {
            let mut sorted = names.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert!(names.len() > 2 && sorted.len() == names.len(), "{folder}: {names:?}");
        }
    }
}

#[test]
fn nothing_is_overwritten() {
    let place = Place::new();
    assert_eq!(place.run(&["run", "small.toml", "--set", "workload.requests=50", "--out", "a"]).status, 0);
    for (expected, said) in [("flashraid-out/report", false), ("flashraid-out/report-2", true), ("flashraid-out/report-3", true)] {
        let ended = place.run(&["report", "a"]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        assert!(place.path(expected).join("report.html").exists());
        assert_eq!(ended.stderr.contains(&format!("results go to {expected}")), said, "{}", ended.stderr);
    }
}

#[test]
fn what_is_no_result_is_refused() {
    let place = Place::new();
    place.write("text.json", "text");
    place.write("other.json", "{\"schema\": \"other/1\"}");
    std::fs::create_dir(place.path("empty")).unwrap();
    for (result, expected) in [
        ("absent", "absent: can't be read"),
        ("empty", "neither report.json nor reproduction.json"),
        ("text.json", "text.json: is not JSON"),
        ("other.json", "its schema is \"other/1\""),
        ("small.toml", "small.toml: is not JSON"),
    ] {
        let ended = place.run(&["report", result, "--out", "page"]);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        assert!(!place.path("page").exists());
    }
    assert_eq!(place.run(&["report"]).status, 2);
}
