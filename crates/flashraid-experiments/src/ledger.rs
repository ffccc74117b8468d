//! The ledger: every claim with the paper's value, ours, and the verdict, as Markdown.

use std::fmt::Write;

use crate::settings::CHOICES;
use crate::{Claim, Evaluation, Figure, Part, Size, Verdict};

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
}

/// How many claims have each verdict: agrees, direction, differs.
pub fn tally<'a>(claims: impl Iterator<Item = &'a Claim>) -> [usize; 3] {
    let mut counts = [0; 3];
    for claim in claims {
        counts[match claim.verdict {
            Verdict::Agrees => 0,
            Verdict::Direction => 1,
            Verdict::Differs => 2,
        }] += 1;
    }
    counts
}

/// The whole ledger.
pub fn markdown(figures: &[(Figure, Evaluation)], origin: &Origin) -> String {
    let claims = || figures.iter().flat_map(|(_, evaluation)| &evaluation.claims);
    let [agrees, direction, differs] = tally(claims());
    let size = match origin.size {
        Size::Quick => "quick (smaller devices, fewer requests)",
        Size::Full => "full",
    };
    let mut text = format!(
        "# Reproduction\n\n\
         What the papers report, and what flashraid measures. Written by `flashraid reproduce`; do not edit.\n\n\
         {date}, flashraid {version}, size {size}, seeds {first} to {last}.\n\
         Of {all} claims {agrees} agree, {direction} hold in direction, {differs} differ.\n\n\
         A value *agrees* when it is within 25 % of the paper's, or within 0.05 for fractions; a statement when it holds.\n\
         *direction*: only the sign or the order holds. A claim of several values agrees when all of them do.\n\
         ± is half the 95 % confidence interval over the seeds. Other settings (columns *with* …) are measured with the first seed{sensitivity}.\n",
        sensitivity = if origin.size == Size::Quick { ", in the full size only" } else { "" },
        date = origin.date,
        version = origin.version,
        first = origin.first_seed,
        last = origin.first_seed + origin.size.seeds() - 1,
        all = agrees + direction + differs,
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
        for claim in evaluation.claims.iter().filter(|claim| !claim.note.is_empty()) {
            let _ = write!(text, "\n**{}**: {}.\n", claim.id, claim.note);
            text += &sensitivities(claim);
        }
    }
    text += "\n## What the papers leave open\n\nChosen once, for all figures:\n\n| setting | value | why |\n|---|---|---|\n";
    for choice in CHOICES {
        let _ = writeln!(text, "| {} | {} | {} |", choice.key, choice.value, choice.why);
    }
    text
}

/// A row for each value, a column for each setting.
fn sensitivities(claim: &Claim) -> String {
    if claim.sensitivity.is_empty() {
        return String::new();
    }
    let settings = claim.sensitivity.iter().map(|varied| format!(" with `{}` |", varied.setting.replace("; ", "`, `")));
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
