//! The ledger: every claim with the paper's value, ours, and the verdict, as Markdown.

use std::fmt::Write;

use crate::settings::CHOICES;
use crate::{Claim, Evaluation, FACTOR, Figure, Part, SHARE, Size, Verdict};

/// When and how the ledger was made.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Day, as `2026-11-21`.
    pub date: String,
    /// Version of the program.
    pub version: String,
    /// How much was simulated.
    pub size: Size,
    /// First seed.
    pub first_seed: u64,
    /// Seeds of the points with the most of them.
    pub seeds: u64,
}

/// The whole ledger; `tally` says how many claims have each verdict.
pub fn markdown(figures: &[(Figure, Evaluation)], origin: &Origin, tally: &str) -> String {
    let size = match origin.size {
        Size::Quick => "quick (smaller devices, fewer requests)",
        Size::Full => "full",
    };
    let mut text = format!(
        "# Reproduction\n\n\
         What the papers report, and what flashraid measures. Written by `flashraid reproduce`; do not edit.\n\n\
         {date}, flashraid {version}, size {size}, seeds {first} to {last}.\n\
         {tally}.\n\n\
         A value *agrees* when it is within a factor of {FACTOR} of the paper's; a reduction r when what is left, 1 − r, is, and r itself is within {share:.0} % of \
         the paper's. There is no absolute tolerance. A claim of several values agrees when all of them do, a statement when all of it holds.\n\
         *direction*: only the sign, the side of 1 or the order of the values is the paper's; of a statement only its core holds, which stands first. \
         *differs*: not even that.\n\
         *unstable*: in one of the claim's runs more than 1 % of the requests were outstanding when the last one arrived, and the second half's mean response \
         time was more than 1.5 times the first half's, and so was that of each of the last three tenths of time. Nothing is concluded then.\n\
         The reason for a verdict other than *agrees* is *established* if a value that does not hold does with one of the settings beside it, where no run is \
         unstable; else it is not, and says so.\n\
         ± is half the 95 % confidence interval over the seeds; a number without it was measured with the first seed alone (see *seeds* at the end). Other settings (columns *with* …) are measured with the first seed{sensitivity}.\n",
        sensitivity = if origin.size == Size::Quick { ", in the full size only" } else { "" },
        date = origin.date,
        version = origin.version,
        first = origin.first_seed,
        last = origin.first_seed + origin.seeds - 1,
        share = 100.0 * SHARE,
    );
    for (figure, evaluation) in figures.iter().filter(|(_, evaluation)| !evaluation.claims.is_empty()) {
        let _ = write!(text, "\n## {}: {}\n\n| claim | paper | measured | verdict |\n|---|---:|---:|---|\n", figure.id, figure.title);
        for claim in &evaluation.claims {
            let _ = writeln!(text, "| **{}** {} ({}) | | | **{}** |", claim.id, claim.what, claim.figure, claim.verdict.name());
            for part in &claim.parts {
                let name = if part.name.is_empty() { claim.unit.clone() } else { format!("{}{}", part.name, unit(claim)) };
                let _ = writeln!(text, "| {name} | {} | {} | {} |", number(part.paper), measured(part), if part.holds { "✓" } else { "" });
            }
        }
        for claim in &evaluation.claims {
            text += &remarks(claim, origin.size);
        }
    }
    text += "\n## What the papers leave open\n\nChosen once, for all figures:\n\n| setting | value | why |\n|---|---|---|\n";
    for choice in CHOICES {
        let _ = writeln!(text, "| {} | {} | {} |", choice.key, choice.value, choice.why);
    }
    text
}

/// What there is to say about a claim: where its numbers come from, why it does not agree, what other settings give.
fn remarks(claim: &Claim, size: Size) -> String {
    let mut remarks = Vec::new();
    if !claim.derived.is_empty() {
        remarks.push(format!("Derived: {}.", claim.derived));
    }
    if !claim.about.is_empty() {
        remarks.push(format!("To know: {}.", claim.about));
    }
    if !claim.unstable.is_empty() {
        remarks.push(format!("Requests pile up without bound in: {}.", claim.unstable.join(", ")));
    }
    if claim.verdict != Verdict::Agrees {
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

/// A row for each value, a column for each setting.
fn sensitivities(claim: &Claim) -> String {
    if claim.sensitivity.is_empty() {
        return String::new();
    }
    let settings = claim
        .sensitivity
        .iter()
        .map(|varied| format!(" with `{}`{} |", varied.setting.replace("; ", "`, `"), if varied.bears_out { " ✓" } else { "" }));
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
