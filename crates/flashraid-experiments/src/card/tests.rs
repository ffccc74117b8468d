//! Tests of cards: the file, the simulations, the verdicts, and the stored cards.

use std::collections::BTreeSet;

use flashraid::Simulation;

use super::*;

#[test]
fn figures_have_names_of_their_own() {
    let names: BTreeSet<&str> = measure::all().iter().map(|measure| measure.name).collect();
    assert_eq!(names.len(), measure::all().len());
    assert!(names.contains("random_write_4k_steady_iops"), "scripts read it");
}

#[test]
fn every_card_can_be_simulated_and_a_quick_look_is_quick() {
    assert!(cards().len() >= 10);
    for card in cards() {
        assert!(!card.jobs().is_empty());
        for job in card.jobs() {
            let requests = |window| {
                let scenario = card.scenario(job, window).unwrap_or_else(|problems| panic!("{} {job:?}: {problems}", card.drive));
                assert_eq!(scenario.array.members, 1);
                // Random writes need a worn-in drive. Reads and writes in order need a filled one.
                let is_worn_in = !job.name().contains("reads") && !job.name().contains("sequential") || job == Job::Mixed;
                assert_eq!(scenario.warm_up.overwrites_per_page > 0.0, is_worn_in && window != Window::Quick, "{job:?}");
                scenario.config.workload.requests
            };
            assert!(requests(Window::Quick) <= Some(2_000), "{} {job:?}", card.drive);
            // Of seconds, the number of requests is not known before.
            assert!(requests(Window::Usual).is_none_or(|requests| requests >= 20_000), "{} {job:?}", card.drive);
            let doubled = requests(Window::Usual).zip(requests(Window::Double));
            assert!(doubled.is_none_or(|(usual, double)| usual < double && double <= 2 * usual), "{} {job:?}: {doubled:?}", card.drive);
            assert_eq!(requests(Window::Usual).is_none(), matches!(job, Job::ReadSeconds | Job::WriteSeconds));
        }
    }
}

fn report() -> Report {
    Simulation::from_toml(
        "array.level = \"single\"\nssd.preset = \"nvme-gen5\"\nssd.scale = 4096\n[ssd.geometry]\ndies = 2\nblocks = 60\nreserved = 0.4\n",
    )
    .unwrap()
    .set("ssd.warm_up.overwrites", 0)
    .unwrap()
    .set("workload.requests", 200)
    .unwrap()
    .run()
    .unwrap()
}

fn card(figures: &str) -> Card {
    let text = format!("[sources]\na = \"a book\"\n[drives.x]\nafter = \"X\"\ncapacity = \"1 TB\"\nfigures = [{figures}]");
    read(&text).remove(0)
}

#[test]
fn a_figure_holds_within_its_tolerance_and_nothing_is_claimed_of_what_is_reported() {
    let card = card(
        "{ figure = \"random_write_4k_steady_iops\", value = 1000, tolerance = 0.1, kind = \"fitted\", source = \"a\" },
         { figure = \"write_amplification_random_4k\", value = 4.5, range = [3.4, 6.3], kind = \"predicted\", source = \"a\", note = \"rounded\" },
         { figure = \"random_read_4k_iops\", value = 5, kind = \"reported\", source = \"a\" }",
    );
    assert_eq!(card.jobs(), [Job::RandomWrite, Job::RandomRead]);
    let graded = |write_iops: f64, write_amplification: f64, steady: bool| {
        let (mut writes, mut reads) = (report(), report());
        writes.iops.write = Some(write_iops);
        writes.drive.as_mut().unwrap().write_amplification = Some(write_amplification);
        writes.verdict.steady = steady;
        (reads.iops.read, reads.verdict.steady) = (Some(4.0), true);
        card.grade(&[writes, reads], false)
    };
    let holds = |graded: &Graded| graded.figures.iter().map(|figure| figure.holds).collect::<Vec<_>>();
    let good = graded(1100.0, 6.3, true);
    assert_eq!(holds(&good), [Some(true), Some(true), None]);
    assert_eq!((good.tally(), good.tally_of(Kind::Predicted)), ((2, 2), (1, 1)));
    assert_eq!(good.figures[1].source, "a book; rounded");
    assert!((good.figures[1].tolerance.unwrap() - 0.4).abs() < 1e-9);
    let bad = graded(899.0, 6.4, false);
    assert_eq!(holds(&bad), [Some(false), Some(false), None]);
    assert_eq!(bad.figures.iter().map(|figure| figure.steady).collect::<Vec<_>>(), [false, false, true]);
    // Other programs read these keys of the document.
    let json = serde_json::to_value(&bad).unwrap();
    for key in ["name", "data_sheet", "simulated", "tolerance", "kind", "holds", "source"] {
        assert!(json["figures"][0].get(key).is_some(), "{key}");
    }
    assert_eq!((json["figures"][2]["holds"].is_null(), json["figures"][2]["kind"].as_str()), (true, Some("reported")));
    assert_eq!(serde_json::from_value::<Graded>(json).unwrap(), bad);
}

#[test]
fn a_percentile_holds_within_its_tolerance_and_a_bound_up_to_it() {
    let text = "[sources]\na = \"a book\"\n[drives.x]\nafter = \"X\"\ncapacity = \"1 TB\"\nfigures = []\npercentiles = [
        { load = \"random-read-16\", of = \"p50\", value = 100, tolerance = 0.1, kind = \"fitted\", source = \"a\" },
        { load = \"random-read-16\", of = \"p99\", value = 200, to = 220, tolerance = 0.1, kind = \"predicted\", source = \"a\" },
        { load = \"random-read-16\", of = \"p99.9\", value = 300, tolerance = 0.3, kind = \"bound\", source = \"a\" },
        { load = \"random-read-16\", of = \"p99/p50\", kind = \"reported\", source = \"a\" },
        { load = \"read-seconds\", of = \"consistency\", value = 90, tolerance = 0.05, kind = \"predicted\", source = \"a\" }]";
    let card = read(text).remove(0);
    assert_eq!(card.jobs(), [Job::ReadPercentiles(16), Job::ReadSeconds]);
    let graded = |p50: f64, p99: f64, p99_9: f64, slowest: f64| {
        let (mut reads, mut seconds) = (report(), report());
        reads.response_us.all.count = 100_000;
        reads.response_us.all.cdf = vec![(1.0, 0.0), (p50, 0.5), (p99, 0.99), (p99_9, 0.999), (9e9, 1.0)];
        (seconds.bandwidth_mb_s.mean, seconds.bandwidth_mb_s.series) = (Some(200.0), vec![210.0, 2.0 * slowest, 205.0]);
        card.grade(&[reads, seconds], false)
    };
    let holds = |graded: &Graded| graded.percentiles.iter().map(|percentile| percentile.holds).collect::<Vec<_>>();
    let good = graded(110.0, 241.9, 390.0, 85.0);
    assert_eq!(holds(&good), [Some(true), Some(true), Some(true), None, Some(true)]);
    assert_eq!((good.tally_of_percentiles(), good.tally_of_held_out(), good.tally()), ((4, 4), (3, 3), (0, 0)));
    assert!(!good.percentiles[3].is_unlike_drives());
    let bad = graded(111.0, 260.0, 391.0, 84.9);
    assert_eq!(holds(&bad), [Some(false), Some(false), Some(false), None, Some(false)]);
    assert!(bad.percentiles[3].is_unlike_drives(), "260 over 111 is more than 2.3");
    assert_eq!(
        holds(&graded(100.0, 200.0, 10.0, 100.0)),
        [Some(true), Some(true), Some(true), None, Some(false)],
        "too even is a miss, too"
    );
    let json = serde_json::to_value(&bad).unwrap();
    assert_eq!((json["percentiles"][2]["of"].as_str(), json["percentiles"][2]["kind"].as_str()), (Some("p99.9"), Some("bound")));
    assert_eq!(serde_json::from_value::<Graded>(json).unwrap(), bad);
    // Fewer than ten requests beyond a percentile tell nothing of it.
    let mut few = report();
    few.response_us.all.count = 999;
    let short = card.grade(&[few, report()], false);
    assert_eq!((short.percentiles[1].simulated, short.percentiles[1].holds), (None, Some(false)));
}

#[test]
fn a_window_is_long_enough_if_twice_its_length_tells_the_same() {
    let card = card(
        "{ figure = \"random_write_4k_steady_iops\", value = 1000, tolerance = 0.1, kind = \"fitted\", source = \"a\" },
         { figure = \"random_read_4k_iops\", value = 5, kind = \"reported\", source = \"a\" }",
    );
    let graded = |write_iops: f64| {
        let (mut writes, reads) = (report(), report());
        writes.iops.write = Some(write_iops);
        card.grade(&[writes, reads], false)
    };
    let moved = |usual: f64, doubled: f64| graded(usual).moved(&graded(doubled));
    let little = moved(1050.0, 1059.0);
    assert!(little.iter().all(Moved::is_settled) && (little[0].share_of_tolerance.unwrap() - 0.09).abs() < 1e-9, "{little:?}");
    assert_eq!(little[1].share_of_tolerance, None, "nothing is claimed of it");
    assert!(!moved(1050.0, 1061.0)[0].is_settled(), "more than a tenth of the tolerance");
    assert!(!moved(1099.9, 1100.1)[0].is_settled(), "another verdict");
}

#[test]
#[should_panic(expected = "random_write_4k_steady_iops")]
fn what_is_judged_needs_a_tolerance() {
    card("{ figure = \"random_write_4k_steady_iops\", value = 1000, kind = \"predicted\", source = \"a\" }");
}

/// After a change of a preset or a figure, its card must be made again:
/// `flashraid preset card NAME --json > crates/flashraid-experiments/cards/NAME.json`.
#[test]
fn kept_cards_are_of_presets_and_data_sheets_as_they_are_now() {
    for (name, _) in KEPT {
        let card = cards().iter().find(|card| card.drive == *name).unwrap_or_else(|| panic!("{name} has no figures in cards.toml"));
        let kept = kept(name).unwrap();
        let again = format!("flashraid preset card {0} --json > crates/flashraid-experiments/cards/{0}.json", card.drive);
        assert!(!kept.quick && kept.schema == CARD_SCHEMA && kept.drive == card.drive, "{again}");
        assert_eq!(kept.ssd, keys_of(&card.drive).unwrap(), "the preset has changed: {again}");
        let printed =
            |figure: &Printed| (figure.measure.name.to_owned(), figure.value, figure.tolerance, figure.kind, figure.source.clone());
        let expected: Vec<_> = card.figures.iter().map(printed).collect();
        let found = kept
            .figures
            .iter()
            .map(|figure| (figure.name.clone(), figure.data_sheet, figure.tolerance, figure.kind, figure.source.clone()));
        assert_eq!(found.collect::<Vec<_>>(), expected, "the data sheet has changed: {again}");
        let published = |one: &Published| (one.load.name(), one.of, one.value, one.to, one.tolerance, one.kind, one.source.clone());
        let kept_of = |one: &GradedPercentile| {
            (one.load.clone(), one.of, one.published, one.published_to, one.tolerance, one.kind, one.source.clone())
        };
        let expected: Vec<_> = card.percentiles.iter().map(published).collect();
        assert_eq!(kept.percentiles.iter().map(kept_of).collect::<Vec<_>>(), expected, "published percentiles have changed: {again}");
        assert!(
            kept.figures.iter().all(|figure| figure.kind != Kind::Fitted || figure.holds == Some(true))
                && kept.percentiles.iter().all(|percentile| percentile.kind != Kind::Fitted || percentile.holds == Some(true)),
            "{}: a fit that does not fit",
            card.drive
        );
    }
}

/// Predictions count as such because drives of a family differ in nothing but these keys.
#[test]
fn drives_of_a_family_differ_in_little() {
    let differing = |base: &str, other: &str| {
        let (base, other) = (keys_of(base).unwrap(), keys_of(other).unwrap());
        let mut keys = Vec::new();
        for (section, value) in other.as_object().unwrap() {
            match value.as_object() {
                Some(table) => keys
                    .extend(table.iter().filter(|(key, value)| base[section].get(key.as_str()) != Some(value)).map(|(key, _)| key.clone())),
                None if base.get(section) != Some(value) => keys.push(section.clone()),
                None => {}
            }
        }
        assert_eq!(base.as_object().unwrap().len(), other.as_object().unwrap().len());
        keys
    };
    assert_eq!(differing("nvme-tlc-read", "nvme-tlc-mixed"), ["reserved"]);
    for larger in ["nvme-gen5-6400", "nvme-gen5-12800", "nvme-gen5-25600"] {
        assert_eq!(differing("nvme-gen5", larger), ["dies", "dies_per_channel"]);
    }
}

/// The table of docs/drives.md has a row for each stored card with write amplification: the theoretical, the simulated, and the data
/// sheet's value.
#[test]
fn the_book_has_write_amplification_beside_theory_and_endurance() {
    let book = include_str!("../../../../docs/drives.md");
    let mut rows = 0;
    for (name, _) in KEPT {
        let kept = kept(name).unwrap();
        let Some(figure) = kept.figures.iter().find(|figure| figure.name == "write_amplification_random_4k") else { continue };
        let simulated = figure.simulated.unwrap();
        let text =
            format!("array.level = \"single\"\nssd.preset = {name:?}\nworkload.preset = \"random-write\"\nworkload.requests = 1000\n");
        let theory = Simulation::from_toml(&text).unwrap().check().unwrap().gc.write_amplification;
        let row = format!("| `{name}` | {theory:.2} | {simulated:.2} | {:.2} |", figure.data_sheet);
        assert!(book.contains(&row), "docs/drives.md lacks: {row}");
        assert!(!figure.steady || (simulated / theory - 1.0).abs() < 0.05, "{row}");
        rows += 1;
    }
    assert!(rows >= 5, "{rows} rows");
}
