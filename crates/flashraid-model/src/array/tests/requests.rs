//! Requests at the host port, trims, refusals, and how an array is made.

use super::*;

/// Returns two members behind these limits. A page passes in 100.
fn limited(outstanding: Option<u32>, bandwidth: bool) -> ArrayParams {
    let params = params(RaidLevel::Raid0, 2, 1);
    let page_bytes = u64::from(params.ssd.geometry.page_bytes);
    let bandwidth = bandwidth.then_some(ByteRate { bytes_per_s: page_bytes * 10_000_000 });
    let host_port = Some(ControllerLimits { outstanding, bandwidth, processor: None });
    ArrayParams { host_port, ..params }
}

#[test]
fn only_so_many_requests_are_in_work() {
    // Even pages lie on member 0. The second request waits for the first, the third for the second. The fourth comes when all are done.
    let asked = [(0, 0, 1, false), (0, 1, 1, false), (10, 1, 1, true), (500, 0, 1, false)];
    let got = run(&limited(Some(1), false), &asked);
    assert_eq!(got.done, [READ_NS, 2 * READ_NS, 2 * READ_NS + WRITE_NS, 500 + READ_NS]);
    let waited = ControllerThrottlingCounters { waits: 2, wait_ns: u128::from(READ_NS + 2 * READ_NS - 10), ..Default::default() };
    assert_eq!(got.host_port, Some(waited));
    let got = run(&limited(Some(2), false), &asked);
    assert_eq!(got.done, [READ_NS, READ_NS, READ_NS + WRITE_NS, 500 + READ_NS]);
    assert_eq!(got.host_port.map(|counters| counters.wait_ns), Some(u128::from(READ_NS - 10)));
}

#[test]
fn data_pass_one_after_another() {
    // The write's data pass first. The member finishes the read at 28; its data wait until the write's have passed.
    let got = run(&limited(None, true), &[(0, 0, 1, true), (0, 1, 1, false)]);
    assert_eq!(got.done, [100 + WRITE_NS, 200]);
    assert_eq!(got.host_port, Some(ControllerThrottlingCounters { busy_ns: 200, ..Default::default() }));
    // Both reads are read at 28, and pass in order of arrival. The pages of a request pass together.
    let got = run(&limited(None, true), &[(0, 1, 1, false), (0, 0, 1, false), (1000, 0, 2, false)]);
    assert_eq!(got.done, [READ_NS + 100, READ_NS + 200, 1000 + READ_NS + 200]);
    // A request is in work until its data have passed.
    let got = run(&limited(Some(1), true), &[(0, 0, 1, false), (0, 1, 1, true)]);
    assert_eq!(got.done, [READ_NS + 100, READ_NS + 200 + WRITE_NS]);
    assert_eq!(
        ControllerLimits { outstanding: None, bandwidth: Some(ByteRate { bytes_per_s: 3 }), processor: None }.transfer_ns(1),
        333_333_334
    );
}

fn operation(kind: OpKind, first_page: u64, pages: u32) -> RequestInPages {
    RequestInPages { tag: 0, first_page, pages, kind, fua: false, must_not_wait_for_gc: false, stream: 0, contiguous_on_one_member: false }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut array = Array::new(&params(RaidLevel::Raid5, 3, 1), 1, ArrayExecutionOptions::default());
    let exported_pages = array.shape().layout.exported_pages();
    assert_eq!(array.submit(0, &operation(OpKind::Read, 0, 0)), Err(SubmitError::EmptyRequest));
    let beyond = SubmitError::BeyondTheArray { first_page: exported_pages - 1, pages: 2, exported_pages };
    assert_eq!(array.submit(0, &operation(OpKind::Write, exported_pages - 1, 2)), Err(beyond));
    assert_eq!(array.submit_many(&[(0, operation(OpKind::Trim, u64::MAX, 1))]).map_err(|error| error.to_string().is_empty()), Err(false));
    assert!(array.volume.members.completions.is_empty());
}

#[test]
fn whole_stripes_are_trimmed_with_their_parity_and_a_flush_is_done_at_once() {
    // With two data columns of one page, this is all of stripe 0 and half of stripe 1.
    let mut array = Array::new(&params(RaidLevel::Raid5, 3, 1), 1, ArrayExecutionOptions::default());
    array.submit(0, &operation(OpKind::Trim, 0, 3)).unwrap();
    array.submit(0, &operation(OpKind::Trim, 2, 1)).unwrap();
    array.submit(0, &operation(OpKind::Flush, 0, 0)).unwrap();
    let mut events = Vec::new();
    array.advance(0, &mut events);
    assert_eq!(done_requests(&events).len(), 2, "all but the stripe");
    while let Some(at) = array.next_time() {
        array.advance(at, &mut events);
    }
    assert_eq!(done_requests(&events).len(), 3);
    let trimmed: Vec<u64> = array.members().iter().map(|member| member.counters().host_pages_trimmed).collect();
    assert_eq!(trimmed, [1; 3]);
    assert_eq!(array.counters(0).parity_and_rebuild.map(|counters| counters.trim_pages_ignored), Some(2));
    assert_eq!(array.counters(0).trims_and_flushes, TrimAndFlushCounters { trims: 2, flushes: 1 });
}

#[test]
fn an_array_is_made_member_by_member_while_it_is_wanted() {
    let params = params(RaidLevel::Raid0, 3, 1);
    let mut asked = 0;
    let stopped = ArrayExecutionOptions::default().new_array_unless_stopped(&params, 1, &mut || {
        asked += 1;
        asked < 3
    });
    assert!(stopped.is_none() && asked == 3);
    let made = ArrayExecutionOptions::default().new_array_unless_stopped(&params, 1, &mut || true).expect("nobody says no");
    assert_eq!(
        made.shape().members_including_spares,
        Array::new(&params, 1, ArrayExecutionOptions::default()).shape().members_including_spares
    );
}
