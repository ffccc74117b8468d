//! The ledger: every claim with the paper's value, ours, and the verdict, as Markdown.

use std::fmt::Write;

use crate::settings::{CHOICES, LATER_CHOICES};
use crate::{Claim, Evaluation, Evidence, FACTOR, Figure, Part, Role, SHARE, Sensitivity, Size, Verdict, root_causes};

/// Date, version and size of the simulations behind the ledger.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Day on which it was made, such as `2026-11-21`.
    pub date: String,
    /// Version of the program.
    pub version: String,
    /// Size of the simulations.
    pub size: Size,
    /// First seed of the simulations.
    pub first_seed: u64,
    /// Number of seeds of the points that have most of them.
    pub seeds: u64,
}

/// Returns the whole ledger. `tally` says how many claims have each verdict.
pub fn markdown(figures: &[(Figure, Evaluation)], origin: &Origin, tally: &str) -> String {
    let size = match origin.size {
        Size::Quick => "quick (smaller devices, fewer requests)",
        Size::Full => "full",
    };
    let is_later = figures.iter().any(|(figure, _)| figure.is_later());
    let has_first = figures.iter().any(|(figure, _)| !figure.is_later());
    let title = if has_first { "Reproduction" } else { "Reproduction: later papers" };
    let mut text = format!(
        "# {title}\n\n\
         What the papers report, and what flashraid measures. Written by `flashraid reproduce`; do not edit.\n\n\
         {date}, flashraid {version}, size {size}, seeds {first} to {last}.\n\
         {tally}.\n\n\
         A value *agrees* when it is within a factor of {FACTOR} of the paper's; a reduction r when what is left, 1 − r, is, and r itself is within {share:.0} % of \
         the paper's. There is no absolute tolerance. A claim of several values agrees when all of them do, a statement when all of it holds.\n\
         *direction*: only the sign, the side of 1 or the order of the values is the paper's; of a statement only its core holds, which stands first. \
         *differs*: not even that.\n\
         *unstable*: one of the claim's runs gives no mean. Either more than 1 % of its requests were outstanding when the last one arrived, and the second half's mean \
         response time was more than 1.5 times the first half's, and so was that of each of the last three tenths of time; or the run is saturated: less than 98 % of what \
         was asked for had been served by then. Requests that are skipped count as well. Nothing is concluded then, unless the paper's own load is an overload.\n\
         Values with a factor of their own (*within*) are those whose repeatability the paper shows: Tables 4 and 6 of GGC have one set-up twice.\n\
         Settings beside a claim say what becomes of it as a whole: *holds*, *nearer* or *farther*, by the logarithms of measured over paper. The reason for a verdict \
         other than *agrees* is *established* if the claim holds with one of them, or comes nearer by half of the distance at least and no part of it that held is lost, \
         and the paper does not contradict that setting; else it is not, and says so. Other readings of a paper stand beside as well; they establish nothing.\n\
         *undecided*: five first seeds were tried, since one turns the verdict of another, and fewer than four agree. Nothing is concluded then either.\n\
         Values that parameters were fitted to are shown (*fitted*), and do not count.\n\
         ± is half the 95 % confidence interval over the seeds; a number without it was measured with the first seed alone (see *seeds* at the end). Other settings (columns *with* …) are measured with the first seed{sensitivity}.\n",
        sensitivity = if origin.size == Size::Quick { ", in the full size only" } else { "" },
        date = origin.date,
        version = origin.version,
        first = origin.first_seed,
        last = origin.first_seed + origin.seeds - 1,
        share = 100.0 * SHARE,
    );
    text += &first_page(figures, has_first);
    for (figure, evaluation) in figures.iter().filter(|(_, evaluation)| !evaluation.claims.is_empty()) {
        let _ = write!(text, "\n## {}: {}\n\n| claim | paper | measured | verdict |\n|---|---:|---:|---|\n", figure.id, figure.title);
        for claim in &evaluation.claims {
            let role = if claim.role == Role::Prediction { String::new() } else { format!(", {}", claim.role.name()) };
            let _ = writeln!(text, "| **{}** {} ({}{role}) | | | **{}** |", claim.id, claim.what, claim.figure, claim.verdict.name());
            for part in &claim.parts {
                let name = if part.name.is_empty() { claim.unit.clone() } else { format!("{}{}", part.name, unit(claim)) };
                // What a run without a mean comes to is a figure of its length.
                let mark = if claim.verdict == Verdict::Unstable { " (no mean)" } else { "" };
                let holds = match part.fitted {
                    true => "fitted",
                    false if part.holds && mark.is_empty() => "✓",
                    false => "",
                };
                let _ = writeln!(text, "| {name} | {} | {}{mark} | {holds} |", number(part.paper), measured(part));
            }
        }
        for claim in &evaluation.claims {
            text += &remarks(claim, origin.size);
        }
    }
    text += "\n## What the papers leave open\n\nChosen once, for all figures:\n\n| setting | value | why |\n|---|---|---|\n";
    let chosen = [has_first.then_some(CHOICES), is_later.then_some(LATER_CHOICES)];
    for choice in chosen.into_iter().flatten().flatten() {
        let _ = writeln!(text, "| {} | {} | {} |", choice.key, choice.value, choice.why);
    }
    text
}

/// Returns the remarks on a claim: the origin of its numbers, the reason for a difference, and the results with other settings.
fn remarks(claim: &Claim, size: Size) -> String {
    let mut remarks = Vec::new();
    if !claim.derived.is_empty() {
        remarks.push(format!("Derived: {}.", claim.derived));
    }
    if !claim.about.is_empty() {
        remarks.push(format!("To know: {}.", claim.about));
    }
    if !claim.unstable.is_empty() {
        let but = if claim.verdict == Verdict::Unstable { "" } else { " (the paper's own load is an overload)" };
        remarks.push(format!("Runs without a mean{but}: {}.", claim.unstable.join(", ")));
    }
    if claim.verdict == Verdict::NoTrace {
        remarks.push("The trace is not at hand; its configuration is, and `--trace NAME=FILE` runs it.".to_owned());
    } else if claim.verdict != Verdict::Agrees {
        let reason = match (claim.note.as_str(), claim.established, size) {
            ("", ..) => "Why is not established.".to_owned(),
            (reason, true, _) => format!("Reason, established by the runs beside: {reason}."),
            (reason, false, Size::Full) => format!("Not established: {reason}."),
            (reason, false, Size::Quick) => format!("Not examined in the quick size: {reason}."),
        };
        remarks.push(reason);
    }
    if remarks.is_empty() {
        return String::new();
    }
    format!("\n**{}**: {}\n{}", claim.id, remarks.join(" "), sensitivities(claim))
}

/// Returns a table with a row for each value and a column for each setting.
fn sensitivities(claim: &Claim) -> String {
    if claim.sensitivity.is_empty() {
        return String::new();
    }
    let settings = claim.sensitivity.iter().map(|varied| format!(" with `{}`: {} |", varied.setting.replace("; ", "`, `"), effect(varied)));
    let mut text =
        format!("\n| | paper | measured |{}\n|---|---:|---:|{}\n", settings.collect::<String>(), "---:|".repeat(claim.sensitivity.len()));
    for part in &claim.parts {
        let name = if part.name.is_empty() { &claim.unit } else { &part.name };
        let varied = claim.sensitivity.iter().map(|varied| varied.parts.iter().find(|varied| varied.name == part.name));
        let varied = varied.map(|part| format!(" {} |", number(part.and_then(|part| part.measured))));
        let _ = writeln!(text, "| {name} | {} | {} |{}", number(part.paper), number(part.measured), varied.collect::<String>());
    }
    text
}

/// Returns the effect of other settings in words.
fn effect(varied: &Sensitivity) -> String {
    let mut words = varied.effect.map_or("no mean", |effect| effect.name()).to_owned();
    if varied.loses {
        words += ", loses a part";
    }
    if !varied.contradicts.is_empty() {
        let _ = write!(words, ", against \"{}\"", varied.contradicts);
    }
    if varied.bears_out { format!("{words} ✓") } else { words }
}

/// Returns the first page: counts by evidence and meaning, and the common causes of differences. These are known of the first part of the
/// ledger only.
fn first_page(figures: &[(Figure, Evaluation)], has_first: bool) -> String {
    let claims: Vec<&Claim> = figures.iter().flat_map(|(_, evaluation)| &evaluation.claims).collect();
    let lacks_trace = claims.iter().any(|claim| claim.verdict == Verdict::NoTrace).then_some(Verdict::NoTrace);
    let verdicts: Vec<Verdict> = Verdict::ALL.into_iter().chain(lacks_trace).collect();
    let head: String = verdicts.iter().map(|verdict| format!(" {} |", verdict.name())).collect();
    let row = |name: &str, of: &dyn Fn(&Claim) -> bool| {
        let count = |verdict: Verdict| claims.iter().filter(|claim| of(claim) && claim.verdict == verdict).count();
        let counts: Vec<usize> = verdicts.iter().copied().map(count).collect();
        let cells: String = counts.iter().map(|count| format!(" {count} |")).collect();
        match counts.iter().sum::<usize>() {
            0 => String::new(),
            sum => format!("| {name} | {sum} |{cells}\n"),
        }
    };
    let mut text =
        format!("\n## At a glance\n\n| the paper's figures come from | claims |{head}\n|---|---:|{}\n", "---:|".repeat(verdicts.len()));
    for evidence in Evidence::ALL {
        text += &row(evidence.name(), &|claim| claim.evidence == evidence);
    }
    let _ = write!(text, "\n| role | claims |{head}\n|---|---:|{}\n", "---:|".repeat(verdicts.len()));
    for role in [Role::Prediction, Role::Fitted, Role::ByConstruction] {
        text += &row(role.name(), &|claim| claim.role == role);
    }
    let reasons = claims.iter().copied().filter(|claim| !matches!(claim.verdict, Verdict::Agrees | Verdict::NoTrace));
    let (established, others): (Vec<&Claim>, Vec<&Claim>) = reasons.partition(|claim| claim.established);
    let _ = writeln!(
        text,
        "\nOf the claims that do not agree {} have a reason that is established, {} have not.",
        established.len(),
        others.len()
    );
    if !has_first {
        return text;
    }
    text += "\nWhat they come from:\n\n| root cause | how it is read here | what is known of it besides | claims that do not agree |\n|---|---|---|---|\n";
    for cause in root_causes() {
        let ids: Vec<&str> = claims
            .iter()
            .filter(|claim| cause.covers(&claim.id) && claim.verdict != Verdict::Agrees)
            .map(|claim| claim.id.as_str())
            .collect();
        let ids = if ids.is_empty() { "–".to_owned() } else { ids.join(", ") };
        let _ = writeln!(text, "| {} | {} | {} | {ids} |", cause.cause, cause.reading, cause.known);
    }
    text += "\nNo simulator can satisfy all claims at once: \
             GGC Table 4 has 689.6 MB/s for six MLC drives at 60 % writes, Table 6 847.4 and Fig. 3 689.7 for four; \
             GGC's greatest reduction on financial (0.15) excludes what section 6 says of proactive-idle on it; \
             PGC's reductions of mean and variance exclude each other on every footprint that was tried: on 25 % of the device cello's mean falls by 58 % \
             and its variance by 98.8 %, where the paper has 66.6 and 83.3 %; \
             LAWC's synchronised collections grow by 53.1 times in the introduction and by 6.24 in Fig. 8.\n";
    text
}

fn unit(claim: &Claim) -> String {
    if claim.unit.is_empty() { String::new() } else { format!(", {}", claim.unit) }
}

fn number(value: Option<f64>) -> String {
    let Some(value) = value else { return "–".to_owned() };
    let decimals = match value.abs() {
        magnitude if magnitude >= 100.0 => 0,
        magnitude if magnitude >= 10.0 => 1,
        magnitude if magnitude >= 1.0 => 2,
        magnitude if magnitude >= 0.01 || magnitude == 0.0 => 3,
        _ => 5,
    };
    format!("{value:.decimals$}")
}

fn measured(part: &Part) -> String {
    match part.ci95 {
        Some(half_width) => format!("{} ± {}", number(part.measured), number(Some(half_width))),
        None => number(part.measured),
    }
}
