//! `flashraid reproduce`: the papers' figures and claims.

use serde_json::Value;

use crate::program::{Place, without_wall_clock};
use crate::start::fits_a_terminal;
use crate::tables;

#[test]
fn every_figure_of_the_papers_is_listed() {
    let document = Place::new().run_json(&["reproduce", "list", "--json"]);
    let figures = document["figures"].as_array().unwrap();
    let ids: Vec<&str> = figures.iter().map(|figure| figure["id"].as_str().unwrap()).collect();
    let tables = ["ggc.table3", "ggc.table4", "ggc.table6", "ggc.table10"].map(str::to_owned).into_iter();
    let numbered = |paper: &str, numbers: Vec<u32>| numbers.into_iter().map(|number| format!("{paper}.fig{number}")).collect::<Vec<_>>();
    let expected = tables
        .chain(numbered("ggc", (1..=4).chain(6..=13).collect()))
        .chain(numbered("pgc", [2].into_iter().chain(8..=12).collect()))
        .chain(numbered("lawc", (6..=11).collect()))
        .chain(numbered("poster", (1..=3).collect()));
    for id in expected {
        assert!(ids.contains(&id.as_str()), "{id} is missing");
    }
    // About how long each takes; the quick size is the shorter one.
    let quick = Place::new().run_json(&["reproduce", "list", "--json", "--quick"]);
    let total = |document: &Value| -> f64 {
        document["figures"].as_array().unwrap().iter().map(|figure| figure["seconds_about"].as_f64().unwrap()).sum()
    };
    assert!(figures.iter().all(|figure| figure["seconds_about"].as_f64().unwrap() > 0.0
        || figure["points"] == 0
        || figure["traces"] != serde_json::json!([])));
    assert!(total(&document) > 1.5 * total(&quick), "{} {}", total(&document), total(&quick));
    let table = Place::new().run(&["reproduce", "list"]).stdout;
    assert!(table.lines().nth(2).unwrap().trim_end().ends_with("takes"), "{table}");
    let widest = table.lines().max_by_key(|line| line.chars().count()).unwrap();
    assert!(widest.chars().count() <= 80, "{widest}");
    let words = table.split_whitespace().collect::<Vec<_>>();
    assert!(figures.iter().all(|figure| figure["title"].as_str().unwrap().split_whitespace().all(|word| words.contains(&word))));
}

#[test]
fn a_figure_is_judged_and_kept() {
    let place = Place::new();
    let arguments = ["reproduce", "pgc.poll", "--quick", "--json", "--out", "out"];
    let document = place.run_json(&arguments);
    let figure = &document["figures"][0];
    assert_eq!((&figure["id"], figure["rows"].as_array().unwrap().len()), (&Value::from("pgc.poll"), 2));
    let claim = &figure["claims"][0];
    assert_eq!((&claim["id"], &claim["paper"], &claim["unit"]), (&Value::from("pgc.poll"), &Value::from(0.0053), &Value::from("fraction")));
    assert_eq!((&claim["direction_holds"], &claim["verdict"], &claim["note"]), (&true.into(), &"agrees".into(), &"".into()));
    assert!(claim["measured"].as_f64().unwrap() > 0.0);

    let files =
        ["charts.csv", "charts.parquet", "pgc-poll.svg", "report.html", "reproduction.json", "reproduction.md", "rows.csv", "rows.parquet"];
    let written = place.files();
    assert!(files.iter().all(|name| written.contains(&format!("out/{name}"))), "{written:?}");
    assert_eq!(written.iter().filter(|name| name.starts_with("out/points/")).count(), 8, "two points, four seeds");
    assert_eq!(without_wall_clock(place.json("out/reproduction.json")), without_wall_clock(document.clone()));
    assert!(std::fs::read_to_string(place.path("out/reproduction.md")).unwrap().contains("pgc.poll"));

    let rows = tables::both(&place, "out/rows");
    assert_eq!((rows.len(), rows[1][0].as_str(), &rows[1][1]), (3, "pgc.poll", &figure["rows"][0]["point"].as_str().unwrap().to_owned()));
    let mean = rows[0].iter().position(|name| name == "mean_ms").unwrap();
    assert_eq!(rows[1][mean].parse::<f64>().unwrap(), figure["rows"][0]["mean_ms"].as_f64().unwrap());

    // Finished points are not run again, and another seed measures something else.
    assert_eq!(place.run_json(&arguments), document);
    let other = place.run_json(&["reproduce", "pgc.poll", "--quick", "--json", "--out", "other", "--seed", "7"]);
    assert_ne!(other["figures"][0]["claims"][0]["measured"], claim["measured"]);
    let one = place.run_json(&["reproduce", "pgc.poll", "--quick", "--json", "--out", "one", "--seed", "7", "--seeds", "1"]);
    assert_eq!((&one["seeds"], &other["seeds"]), (&serde_json::json!([7]), &serde_json::json!([7, 8, 9, 10])));
    assert_eq!(place.files().iter().filter(|name| name.starts_with("one/points/")).count(), 2);
    assert!(one["figures"][0]["claims"][0]["ci95"].is_null());
}

/// A ledger with some figures run anew has the others as they were, in the order of all.
#[test]
fn figures_that_are_not_run_are_taken_from_an_earlier_ledger() {
    let place = Place::new();
    let run = |figure: &str, out: &str, more: &[&str]| {
        place.run(&[&["reproduce", figure, "--quick", "--seeds", "1", "--out", out], more].concat())
    };
    assert_eq!(run("lawc.fig4", "first", &[]).status, 0);
    let ended = run("pgc.poll", "both", &["--earlier", "first/reproduction.json"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(run("pgc.poll", "alone", &[]).status, 0);
    let [first, both, alone] = ["first", "both", "alone"].map(|out| place.json(&format!("{out}/reproduction.json")));
    assert_eq!(both["figures"], serde_json::json!([alone["figures"][0], first["figures"][0]]));
    let ledger = place.read("both/reproduction.md");
    assert!(ledger.contains("Of 2 claims") && ledger.contains("## lawc.fig4: ") && ledger.contains("## pgc.poll: "), "{ledger}");

    // What is run counts, not what was.
    assert_eq!(run("pgc.poll", "again", &["--earlier", "both/reproduction.json"]).status, 0);
    assert_eq!(place.json("again/reproduction.json")["figures"], both["figures"]);

    let refused = [("first/reproduction.md", "is no reproduction.json"), ("absent.json", "can't read it")];
    for (file, part) in refused {
        let ended = run("pgc.poll", "refused", &["--earlier", file]);
        assert!(ended.status == 2 && ended.stderr.contains(part), "{}", ended.stderr);
    }
    let ended = run("pgc.poll", "refused", &["--earlier", "first/reproduction.json", "--seed", "7"]);
    assert!(ended.status == 2 && ended.stderr.contains("seeds: [1] there and [7] here"), "{}", ended.stderr);
}

#[test]
fn the_terminal_shows_one_table_and_a_sentence() {
    let place = Place::new();
    let arguments = ["reproduce", "pgc.poll", "--quick", "--seeds", "1", "--out", "out"];
    let ended = place.run(&arguments);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    fits_a_terminal(&ended.stdout);
    let document = place.json("out/reproduction.json");
    let claim = &document["figures"][0]["claims"][0];
    let verdict = claim["verdict"].as_str().unwrap();
    let row = ended.stdout.lines().find(|line| line.starts_with("pgc.poll")).unwrap();
    let paper = claim["paper"].as_f64().unwrap().to_string();
    assert!(row.contains(&paper) && row.trim_end().ends_with(verdict), "{row}");
    let sentence = ended.stdout.lines().find(|line| line.starts_with("⇒ Of 1 claim ")).unwrap();
    let counts = [("agrees", "1 agrees"), ("direction", "1 holds in direction"), ("differs", "1 differs"), ("unstable", "1 is unstable")];
    assert!(counts.iter().all(|(name, said)| sentence.contains(said) == (*name == verdict)), "{sentence} {verdict}");
    // One for each verdict.
    assert_eq!(sentence.split(';').next().unwrap().split(", ").count(), 5, "{sentence}");
    // Everything else is asked for, and a report of the folder says the same.
    let all = place.run(&[&arguments[..], &["--tables"]].concat()).stdout;
    let before = |text: &str| text.split("written:").next().unwrap().to_owned();
    assert!(all.starts_with(&before(&ended.stdout)) && all.contains("Values of claims") && all.contains("amplification"), "{all}");
    let report = place.run(&["report", "out", "--out", "page"]);
    assert_eq!((report.status, before(&report.stdout)), (0, before(&ended.stdout)), "{}", report.stderr);
}

/// Claims whose trace is not given have a verdict of their own, and the others are judged.
#[test]
fn later_papers_without_their_traces() {
    let place = Place::new();
    let document = place.run_json(&["reproduce", "later", "--quick", "--seeds", "1", "--json", "--out", "out"]);
    let figures = document["figures"].as_array().unwrap();
    let of = |id: &str| figures.iter().find(|figure| figure["id"] == id).unwrap();
    let verdicts = |id: &str| of(id)["claims"].as_array().unwrap().iter().map(|claim| claim["verdict"].clone()).collect::<Vec<_>>();
    let ioda = verdicts("ioda.fig5");
    assert!(ioda.len() == 20 && ioda.iter().all(|verdict| verdict == "no trace"), "{ioda:?}");
    assert!(of("ioda.fig5")["rows"].as_array().unwrap().is_empty());
    assert!(verdicts("linnos.mean") != [Value::from("no trace")] && of("linnos.mean")["rows"].as_array().unwrap().len() == 2);
    let ledger = place.read("out/reproduction.md");
    assert!(ledger.contains("# Reproduction: later papers") && ledger.contains("20 have no trace"), "{ledger}");
    assert!(ledger.contains("drives of IODA") && !ledger.contains("LAWC"), "only what is chosen for them");
}

/// The quick form of the comparison of remedies has a table and two charts for each drive, and goes on with what is done.
#[test]
fn remedies_side_by_side() {
    let place = Place::new();
    let arguments = ["reproduce", "remedies.pgc2011", "--quick", "--seeds", "1", "--json", "--out", "out"];
    let document = place.run_json(&arguments);
    let drives = document["drives"].as_array().unwrap();
    assert_eq!((drives.len(), drives[0]["remedies"].as_array().unwrap().len()), (1, 14));
    let local = &drives[0]["remedies"][0];
    assert_eq!((&local["remedy"], &local["quantities"]["mean"]["over_local"]), (&"local".into(), &1.0.into()));
    let written = place.files();
    for name in ["remedies.md", "remedies.json", "charts.csv", "remedies-pgc2011-work.svg", "remedies-pgc2011-programs.svg"] {
        assert!(written.contains(&format!("out/{name}")), "{written:?}");
    }
    let page = place.read("out/remedies.md");
    assert!(page.contains("## pgc2011") && page.contains("| semi+avoid") && page.contains("no winner"), "{page}");
    assert_eq!(place.run_json(&arguments), document);
    for (arguments, part) in
        [(["reproduce", "crossover", "--trace", "dtrs=x"].as_slice(), "uses no traces"), (&["reproduce", "remedies.absent"], "pgc2011")]
    {
        let refused = place.run(arguments);
        assert!(refused.status == 2 && refused.stderr.contains(part), "{}", refused.stderr);
    }
}

#[test]
fn what_does_not_exist_is_refused() {
    let place = Place::new();
    for (arguments, part) in [
        (["reproduce", "ggc.fig99"].as_slice(), "there is no figure ggc.fig99"),
        (&["reproduce", "pgc.poll", "--trace", "nonsense=x"], "nonsense"),
        (&["reproduce", "pgc.fig9", "--quick", "--trace", "cello=absent.spc"], "absent.spc"),
        (&["reproduce", "ioda.fig5", "--quick", "--trace", "dtrs=empty.trace", "--out", "new/out"], "empty.trace is empty"),
    ] {
        place.write("empty.trace", "");
        let ended = place.run(arguments);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
    assert!(!place.path("new/out").exists(), "nothing is left");
}
