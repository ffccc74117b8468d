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
            let requests = |quick| {
                let scenario = card.scenario(job, quick).unwrap_or_else(|problems| panic!("{} {job:?}: {problems}", card.drive));
                assert_eq!(scenario.array.members, 1);
                // Random writes need a worn-in drive. Reads and writes in order need a filled one.
                let is_worn_in = !job.name().contains("reads") && !job.name().contains("sequential") || job == Job::Mixed;
                assert_eq!(scenario.warm_up.overwrites > 0.0, is_worn_in && !quick, "{job:?}");
                scenario.config.workload.requests.unwrap()
            };
            assert!(requests(true) <= 2_000 && requests(false) >= 20_000, "{} {job:?}", card.drive);
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
        assert!(
            kept.figures.iter().all(|figure| figure.kind != Kind::Fitted || figure.holds == Some(true)),
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
