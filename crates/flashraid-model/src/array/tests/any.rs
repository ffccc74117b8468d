//! Any array with any requests.

use super::*;

fn requests(pages: u64) -> impl Strategy<Value = Vec<Asked>> {
    let request = (0_u64..400, 0..pages, 1_u32..20, any::<bool>());
    prop::collection::vec(request, 1..60).prop_map(move |drawn| {
        let mut at = 0;
        let asked = |(gap, first, length, write): (u64, u64, u32, bool)| {
            // Many requests arrive together, and many at the ends of phases.
            at += [0, gap, READ_NS, WRITE_NS, READ_WRITE][gap as usize % 5];
            (at, first, length.min((pages - first) as u32), write)
        };
        drawn.into_iter().map(asked).collect()
    })
}

fn any_case() -> impl Strategy<Value = (ArrayParams, Vec<Asked>)> {
    let levels = vec![RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid10, RaidLevel::Raid4, RaidLevel::Raid5, RaidLevel::Raid6];
    let rebuild = prop::option::of((0_u64..2000, 0_u64..600, 1_u32..4, 1_u32..3, any::<bool>()));
    let failures = prop::collection::vec((0_u32..6, 0_u64..8000), 0..4);
    let shape = (prop::sample::select(levels), 1_u32..4, 1_u32..4, any::<bool>());
    (shape, failures, rebuild).prop_flat_map(|((level, size, strip_pages, collects), failures, rebuild)| {
        let members = match level {
            RaidLevel::Raid10 => 2 * size,
            _ => size + 1 + level.parity_strips(),
        };
        let mut params = params(level, members, strip_pages);
        if collects {
            params.ssd.geometry.blocks_per_plane = 6;
            params.ssd.geometry.overprovisioned_blocks_per_plane = 3;
        }
        for (member, at_ns) in failures.into_iter().filter(|_| level.survives_a_failure()) {
            if params.failures.iter().all(|failure| failure.member != member % members) {
                params.failures.push(MemberFailure { member: member % members, at: Duration { ns: at_ns } });
            }
        }
        params.rebuild = rebuild.map(|(delay_ns, strip_ns, in_flight, spares, finish)| RebuildParams {
            strip_interval_min_ns: strip_ns,
            settings: Rebuilding {
                delay: Duration { ns: delay_ns },
                in_flight,
                spares,
                spare: InitialSpareState::WarmedUpByOverwrites,
                finish,
            },
        });
        let pages = params.layout().exported_pages();
        (Just(params), requests(pages))
    })
}

proptest! {
    /// Every request is done once (which `run` asserts), and every page is accounted for.
    #[test]
    fn requests_and_pages_are_conserved((params, asked) in any_case()) {
        let got = run(&params, &asked);
        let counters = &got.counters;
        let sum = |pick: fn(&(u64, u64)) -> u64| got.pages.iter().map(pick).sum::<u64>();
        let asked_pages = |write| asked.iter().filter(|a| a.3 == write).map(|a| u64::from(a.2)).sum::<u64>();
        let has_failed = got.health != ArrayHealth::Normal;
        let lost: u64 = got.lost.iter().map(|&pages| u64::from(pages)).sum();
        prop_assert_eq!(lost, counters.pages_lost);
        let lost_to = |write| (0..asked.len()).filter(|&i| asked[i].3 == write).map(|i| u64::from(got.lost[i])).sum::<u64>();
        let copies = match params.level {
            RaidLevel::Raid1 => u64::from(params.members),
            RaidLevel::Raid10 => 2,
            _ => 1,
        };
        let read = asked_pages(false) - lost_to(false) + counters.data_pages_read + counters.parity_pages_read + counters.pages_read_to_reconstruct
            + counters.rebuild_pages_read;
        prop_assert_eq!(sum(|pages| pages.0) + counters.pages_reconstructed, read);
        let written = asked_pages(true) * copies + counters.parity_pages_written + counters.rebuild_pages_written;
        if has_failed {
            prop_assert!(sum(|pages| pages.1) <= written - lost_to(true));
        } else {
            prop_assert_eq!(sum(|pages| pages.1), written);
        }
        if params.level.parity_strips() == 0 {
            prop_assert_eq!(got.kinds(), [0; 4]);
        }
    }

    /// Members that proceed in steps and members that know their ends in advance give the same array. Events of one nanosecond do not
    /// depend on it (rule 55).
    #[test]
    fn immediate_and_stepwise_members_agree((params, asked) in any_case()) {
        let deaf = CoordinationParams {
            scheme: schemes::inclusive(),
            t_soft: GcStopThreshold::FreeBlocks(0),
 notify: Some(JointCollectionRequestTiming::AtStartThreshold),
            answer: ControllerAnswer::Never,
            coordinated_members: MemberSet(u128::MAX),
            ..CoordinationParams::default()
        };
        let stepwise = ArrayParams { coordination: Some(deaf), ..params.clone() };
        let (immediate, stepwise) = (run(&params, &asked), run(&stepwise, &asked));
        prop_assert_eq!(&immediate.done, &stepwise.done);
        prop_assert_eq!(&immediate.met, &stepwise.met);
        prop_assert_eq!(&immediate.pages, &stepwise.pages);
        prop_assert_eq!(&immediate.failures, &stepwise.failures);
        prop_assert_eq!(&immediate.lost, &stepwise.lost);
    }

    /// Arrays with parity come to an end under coordination, too: nothing hangs or is lost.
    #[test]
    fn coordinated_arrays_with_parity_come_to_an_end(
        (params, asked) in any_case(),
        scheme in prop::sample::select(vec![schemes::inclusive(), schemes::selective(), schemes::idle(), schemes::soft_limit(2, 1)]),
        latency in 0_u64..500,
        delay_ns in 0_u64..500,
    ) {
        let latency = Duration { ns: latency };
        let coordination = CoordinationParams {
            scheme,
            t_soft: GcStopThreshold::FreeBlocks(2),
 notify: Some(JointCollectionRequestTiming::AtStartThreshold),
            delay: Duration { ns: delay_ns },
            coordinated_members: MemberSet::first_members(params.members),
            latency: MessageLatency { gc_request: latency, participate: latency, force_gc: latency, gc_state: latency, gc_done: latency },
 ..CoordinationParams::default()
        };
        run(&ArrayParams { coordination: Some(coordination), ..params }, &asked);
    }
}
