//! Ganesh et al., *LAWC: Optimizing Write Cache Using Layout-Aware I/O Scheduling for All Flash Storage*, IEEE TC 2017: Figures 6–11.

use crate::{Evaluation, Figure, Results};

pub fn figures() -> Vec<Figure> {
    let figure = |id, title, evaluate| Figure { id, title, points: Vec::new(), evaluate };
    vec![
        figure("lawc.fig6", "Response times over the share of the front cache", |_: &Results, e: &mut Evaluation| skip(e, &["lawc.fig6"])),
        figure("lawc.fig7", "Policies of the write cache", |_, e| {
            let parts = ["best", "iwc", "light", "skewed", "stddev", "throughput"];
            skip(e, &parts.map(|part| format!("lawc.fig7.{part}")).each_ref().map(String::as_str));
        }),
        figure("lawc.fig8", "Synchronised collections", |_, e| skip(e, &["lawc.fig8"])),
        figure("lawc.fig9", "Synthetic workloads", |_, e| skip(e, &["lawc.fig9.raid0", "lawc.fig9.raid5"])),
        figure("lawc.fig10", "Cache sizes", |_, e| skip(e, &["lawc.fig10"])),
        figure("lawc.fig11", "Cache latencies", |_, e| skip(e, &["lawc.fig11"])),
        figure("lawc.multi", "Workloads of several streams", |_, e| skip(e, &["lawc.multi"])),
    ]
}

fn skip(evaluation: &mut Evaluation, claims: &[&str]) {
    claims.iter().for_each(|claim| evaluation.not_modelled(claim, "the write cache is not in the model yet"));
}
