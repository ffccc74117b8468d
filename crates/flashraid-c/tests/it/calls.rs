//! Calls as C programs make them, wrong ones included: each gives a code and a message, and no one crashes.

#![expect(unsafe_code, reason = "the functions are those that C calls")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::ptr;

use flashraid_c::*;
use proptest::prelude::*;

const SMALL: &CStr = c"array.members = 2\nssd.geometry = { dies = 1, blocks = 64, pages = 16 }";

fn open(toml: &CStr) -> flashraid_device {
    // SAFETY: a text that ends with a zero byte.
    let device = unsafe { flashraid_open(toml.as_ptr()) };
    assert_ne!(device, 0, "{}", message());
    device
}

fn message() -> String {
    // SAFETY: the text stays until the next failure of this thread.
    unsafe { CStr::from_ptr(flashraid_message()) }.to_str().expect("messages are UTF-8").to_owned()
}

fn next_time(device: flashraid_device) -> (i64, u64) {
    let mut next = 0;
    // SAFETY: the place may be written.
    (unsafe { flashraid_next_time(device, &raw mut next) }, next)
}

fn capacity(device: flashraid_device) -> (i64, u64) {
    let mut bytes = 0;
    // SAFETY: the place may be written.
    (unsafe { flashraid_capacity(device, &raw mut bytes) }, bytes)
}

fn advance(device: flashraid_device, until_ns: u64, room: usize) -> Result<Vec<flashraid_answer>, i64> {
    let mut answers = vec![flashraid_answer::default(); room];
    // SAFETY: there is room for as many.
    let count = unsafe { flashraid_advance(device, until_ns, answers.as_mut_ptr(), room) };
    let Ok(count) = usize::try_from(count) else { return Err(count) };
    answers.truncate(count);
    Ok(answers)
}

fn report(device: flashraid_device) -> Result<String, i64> {
    let mut length = 0;
    // SAFETY: no buffer, and a place that may be written.
    let code = unsafe { flashraid_report_json(device, ptr::null_mut(), 0, &raw mut length) };
    if code != FLASHRAID_OK {
        return Err(code);
    }
    let mut buffer = vec![1_u8; length + 1];
    // SAFETY: the buffer has as many bytes.
    let short = unsafe { flashraid_report_json(device, buffer.as_mut_ptr().cast(), length, ptr::null_mut()) };
    assert!(short == FLASHRAID_NO_ROOM && buffer.iter().all(|&byte| byte == 1), "a buffer that is too small stays as it is");
    // SAFETY: the buffer has as many bytes, and one for the zero.
    let code = unsafe { flashraid_report_json(device, buffer.as_mut_ptr().cast(), length + 1, ptr::null_mut()) };
    assert_eq!((code, buffer.pop()), (FLASHRAID_OK, Some(0)));
    Ok(String::from_utf8(buffer).expect("a report is UTF-8"))
}

#[test]
fn a_device_serves_and_reports() {
    let device = open(SMALL);
    let (code, bytes) = capacity(device);
    assert!(code == FLASHRAID_OK && bytes > 1 << 20, "{bytes}");
    assert_eq!(next_time(device), (FLASHRAID_OK, FLASHRAID_NEVER));
    for tag in 0..100 {
        assert_eq!(flashraid_submit(device, tag * 1000, FLASHRAID_WRITE | FLASHRAID_FUA, tag * 4096, 4096, 3, tag), FLASHRAID_OK);
    }
    let mut answers = Vec::new();
    while answers.len() < 100 {
        let some = advance(device, FLASHRAID_NEVER, 7).unwrap();
        assert!(!some.is_empty() && some.len() <= 7);
        answers.extend(some);
    }
    assert_eq!(advance(device, FLASHRAID_NEVER, 7).unwrap(), []);
    let mut tags: Vec<_> = answers.iter().map(|answer| answer.tag).collect();
    tags.sort_unstable();
    assert_eq!(tags, (0..100).collect::<Vec<_>>());
    for answer in &answers {
        let parts = answer.queue_ns + answer.collection_ns + answer.parity_ns + answer.cache_ns + answer.transfer_ns;
        let parts = parts + answer.flash_ns + answer.other_ns;
        assert_eq!((answer.done_ns - answer.arrival_ns, answer.kind, answer.arrival_ns), (parts, FLASHRAID_WRITE, answer.tag * 1000));
    }
    let report = report(device).unwrap();
    assert!(report.contains("\"schema\": \"flashraid.report/") && report.contains("\"write\": 100"), "{report}");
    assert_eq!(flashraid_close(device), FLASHRAID_OK);
}

#[test]
fn wrong_calls_get_a_code_and_a_message() {
    let says = |code: i64, expected: i64, text: &str| {
        assert_eq!(code, expected, "{text}: {}", message());
        assert_eq!(flashraid_error(), expected);
        assert!(message().contains(text), "{text}: {}", message());
    };
    // SAFETY: a null pointer, texts that end with a zero byte.
    unsafe {
        assert_eq!(flashraid_open(ptr::null()), 0);
        says(flashraid_error(), FLASHRAID_BAD_ARGUMENT, "null");
        assert_eq!(flashraid_open(c"array.members = \"many\"\nssd.gc.victim = \"gredy\"".as_ptr()), 0);
        says(flashraid_error(), FLASHRAID_BAD_CONFIG, "did you mean");
        assert_eq!(flashraid_open(c"array = [".as_ptr()), 0);
        says(flashraid_error(), FLASHRAID_BAD_CONFIG, "");
        assert_eq!(flashraid_open([0xc3_u8, 0x28, 0].as_ptr().cast()), 0);
        says(flashraid_error(), FLASHRAID_BAD_ARGUMENT, "UTF-8");
        assert_eq!(flashraid_open_file(c"there/is/no/such.toml".as_ptr()), 0);
        says(flashraid_error(), FLASHRAID_BAD_CONFIG, "such.toml");
        assert_eq!(
            flashraid_open(c"array.members = 64\nssd.geometry = { dies = 512, planes = 8, blocks = 16384, pages = 32 }".as_ptr()),
            0
        );
        says(flashraid_error(), FLASHRAID_FAILED, "memory");
    }
    let device = open(SMALL);
    let (_, bytes) = capacity(device);
    let submit = |at, kind, offset, bytes, stream| flashraid_submit(device, at, kind, offset, bytes, stream, 0);
    assert_eq!(submit(1000, FLASHRAID_READ, 0, 512, 0), FLASHRAID_OK);
    says(submit(999, FLASHRAID_READ, 0, 512, 0), FLASHRAID_TIME_GOES_BACK, "999");
    says(submit(u64::MAX, FLASHRAID_READ, 0, 512, 0), FLASHRAID_CLOCK_ENDS, "146 years");
    says(submit(1000, FLASHRAID_WRITE, bytes, 1, 0), FLASHRAID_BAD_EXTENT, "beyond");
    says(submit(1000, FLASHRAID_WRITE, u64::MAX, u64::MAX, 0), FLASHRAID_BAD_EXTENT, "beyond");
    says(submit(1000, FLASHRAID_TRIM, 0, 0, 0), FLASHRAID_BAD_EXTENT, "trim of 0 bytes");
    says(submit(1000, 4, 0, 512, 0), FLASHRAID_BAD_ARGUMENT, "kind");
    says(submit(1000, FLASHRAID_READ | 1024, 0, 512, 0), FLASHRAID_BAD_ARGUMENT, "flags");
    says(submit(1000, FLASHRAID_READ, 0, 512, 256), FLASHRAID_BAD_ARGUMENT, "stream");
    says(advance(device, 5, 1).unwrap_err(), FLASHRAID_TIME_GOES_BACK, "time goes back");
    // SAFETY: null pointers, which are refused.
    unsafe {
        says(flashraid_next_time(device, ptr::null_mut()), FLASHRAID_BAD_ARGUMENT, "next_ns");
        says(flashraid_capacity(device, ptr::null_mut()), FLASHRAID_BAD_ARGUMENT, "bytes");
        says(flashraid_advance(device, 5000, ptr::null_mut(), 1), FLASHRAID_BAD_ARGUMENT, "out");
        says(flashraid_report_json(device, ptr::null_mut(), 1, ptr::null_mut()), FLASHRAID_BAD_ARGUMENT, "buffer");
        assert_eq!(flashraid_advance(device, 2000, ptr::null_mut(), 0), 0);
    }
    assert_eq!(advance(device, FLASHRAID_NEVER, 9).unwrap().len(), 1, "what was refused has changed nothing");
    assert_eq!(flashraid_close(device), FLASHRAID_OK);
    // Numbers that no other test can have meanwhile: this one's place is free, and its next turns belong to whoever opens a device there.
    for gone in [0, 1, device, device + (4096 << 32), u64::MAX] {
        says(flashraid_close(gone), FLASHRAID_BAD_DEVICE, "");
        says(next_time(gone).0, FLASHRAID_BAD_DEVICE, "");
        says(flashraid_submit(gone, 0, 0, 0, 512, 0, 0), FLASHRAID_BAD_DEVICE, "");
        says(report(gone).unwrap_err(), FLASHRAID_BAD_DEVICE, "");
    }
    assert_ne!(open(SMALL), device, "a number is not given twice");
}

#[test]
fn many_threads_share_a_device_and_have_their_own_messages() {
    let device = open(SMALL);
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            scope.spawn(move || {
                for round in 0..200 {
                    let code = flashraid_submit(device, 1 << 20, FLASHRAID_WRITE, (round % 50) * 4096, 4096, 0, thread * 1000 + round);
                    assert_eq!(code, FLASHRAID_OK, "{}", message());
                    assert_eq!(flashraid_submit(device, thread, FLASHRAID_READ, 0, 1, 0, 0), FLASHRAID_TIME_GOES_BACK);
                    assert!(message().contains(&format!("says {thread} ns")), "another thread's message: {}", message());
                }
            });
        }
    });
    let mut tags: Vec<_> = advance(device, FLASHRAID_NEVER, 1000).unwrap().iter().map(|answer| answer.tag).collect();
    tags.sort_unstable();
    let sent: Vec<_> = (0..4).flat_map(|thread| (0..200).map(move |round| thread * 1000 + round)).collect();
    assert_eq!(tags, sent);
    assert_eq!(flashraid_close(device), FLASHRAID_OK);
}

/// A call of a program that has no idea.
#[derive(Debug, Clone)]
enum Call {
    Open(usize),
    Close(u8),
    Submit { device: u8, at: Moment, kind: u32, offset: u64, bytes: u64, stream: u32 },
    NextTime(u8),
    Advance { device: u8, until: Moment, room: usize },
    Report(u8),
}

/// A moment, as seen from the last one that was used.
#[derive(Debug, Clone, Copy)]
enum Moment {
    Later(u64),
    Earlier(u64),
    At(u64),
}

fn moment() -> impl Strategy<Value = Moment> {
    prop_oneof![
        8 => (0..2_000_000_u64).prop_map(Moment::Later),
        1 => (0..10_000_u64).prop_map(Moment::Earlier),
        1 => prop_oneof![Just(0), Just(u64::MAX), Just(u64::MAX - 1), Just(1 << 63)].prop_map(Moment::At),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let extent = || prop_oneof![8 => 0..2_000_000_u64, 1 => any::<u64>()];
    prop_oneof![
        1 => (0..CONFIGS.len()).prop_map(Call::Open),
        1 => (0..6_u8).prop_map(Call::Close),
        12 => (0..4_u8, moment(), prop_oneof![9 => 0..4_u32, 1 => any::<u32>()], extent(), extent(), prop_oneof![9 => 0..3_u32, 1 => any::<u32>()])
            .prop_map(|(device, at, kind, offset, bytes, stream)| Call::Submit { device, at, kind, offset, bytes, stream }),
        4 => (0..6_u8).prop_map(Call::NextTime),
        6 => (0..4_u8, moment(), 0..20_usize).prop_map(|(device, until, room)| Call::Advance { device, until, room }),
        1 => (0..6_u8).prop_map(Call::Report),
    ]
}

const CONFIGS: &[&str] = &[
    "array.members = 2\nssd.geometry = { dies = 1, blocks = 64, pages = 16 }",
    "array = { members = 3, level = \"raid5\" }\nssd.geometry = { dies = 1, blocks = 64, pages = 16 }\nssd.gc.preemption = \"semi\"",
    "array.members = 2\nssd.geometry = { dies = 2, blocks = 64, pages = 16 }\ncache = { policy = \"lawc\", size = \"64KiB\" }\n\
     coordination.scheme = \"reactive-inclusive\"",
    "array.members = 0",
    "nonsense",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_calls_never_crash(calls in prop::collection::vec(call(), 1..120)) {
        let mut devices: Vec<flashraid_device> = vec![0];
        let mut now: BTreeMap<flashraid_device, u64> = BTreeMap::new();
        let mut waiting: BTreeMap<flashraid_device, i64> = BTreeMap::new();
        let mut tag = 0;
        let at = |now: &BTreeMap<flashraid_device, u64>, device, moment| {
            let now = now.get(&device).copied().unwrap_or(0);
            match moment {
                Moment::Later(by) => now.saturating_add(by),
                Moment::Earlier(by) => now.saturating_sub(by),
                Moment::At(at) => at,
            }
        };
        for call in calls {
            match call {
                Call::Open(config) => {
                    let text = CString::new(CONFIGS[config]).unwrap();
                    // SAFETY: a text that ends with a zero byte.
                    let device = unsafe { flashraid_open(text.as_ptr()) };
                    prop_assert_eq!(device == 0, config >= 3);
                    devices.push(device);
                }
                Call::Close(which) => {
                    let device = devices[usize::from(which) % devices.len()];
                    let known = (waiting.remove(&device), now.remove(&device));
                    let is_open = known != (None, None);
                    let code = flashraid_close(device);
                    prop_assert!(code == FLASHRAID_OK || (!is_open && code == FLASHRAID_BAD_DEVICE), "{}", code);
                }
                Call::Submit { device, at: moment, kind, offset, bytes, stream } => {
                    let device = devices[usize::from(device) % devices.len()];
                    let at_ns = at(&now, device, moment);
                    tag += 1;
                    let code = flashraid_submit(device, at_ns, kind, offset, bytes, stream, tag);
                    prop_assert!(code == FLASHRAID_OK || (FLASHRAID_BAD_EXTENT..0).contains(&code), "{}: {}", code, message());
                    if code == FLASHRAID_OK {
                        now.insert(device, at_ns);
                        *waiting.entry(device).or_default() += 1;
                    }
                }
                Call::NextTime(which) => {
                    let device = devices[usize::from(which) % devices.len()];
                    let (code, next) = next_time(device);
                    prop_assert!(code == FLASHRAID_BAD_DEVICE || next >= now.get(&device).copied().unwrap_or(0));
                }
                Call::Advance { device, until, room } => {
                    let device = devices[usize::from(device) % devices.len()];
                    let until_ns = at(&now, device, until);
                    match advance(device, until_ns, room) {
                        Ok(answers) => {
                            let last = answers.iter().map(|answer| answer.done_ns).max().unwrap_or(0);
                            let reached = if answers.len() < room && until_ns != u64::MAX { until_ns } else { last };
                            let now = now.entry(device).or_default();
                            *now = reached.max(*now);
                            *waiting.entry(device).or_default() -= answers.len() as i64;
                            prop_assert!(waiting[&device] >= 0, "an answer without a request");
                        }
                        Err(code) => prop_assert!((FLASHRAID_CLOCK_ENDS..0).contains(&code), "{}", code),
                    }
                }
                Call::Report(which) => {
                    let device = devices[usize::from(which) % devices.len()];
                    if let Err(code) = report(device) {
                        prop_assert_eq!(code, FLASHRAID_BAD_DEVICE, "{}", message());
                    }
                }
            }
        }
        for device in devices {
            if let Some(waiting) = waiting.get(&device) {
                let mut left = 0;
                loop {
                    let answers = advance(device, FLASHRAID_NEVER, 16);
                    match answers {
                        Ok(answers) if answers.is_empty() => break,
                        Ok(answers) => left += answers.len() as i64,
                        Err(code) => {
                            prop_assert_eq!(code, FLASHRAID_BAD_DEVICE);
                            left = *waiting;
                            break;
                        }
                    }
                }
                prop_assert_eq!(left, *waiting, "every request has one answer");
            }
            flashraid_close(device);
        }
    }
}

#[test]
fn the_version_is_a_text() {
    let version: *const c_char = flashraid_version();
    // SAFETY: a constant text.
    assert_eq!(unsafe { CStr::from_ptr(version) }.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}
