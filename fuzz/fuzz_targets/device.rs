#![no_main]
//! Calls of the C library in any order, with any numbers.

use std::ptr;

use flashraid_c::*;
use libfuzzer_sys::fuzz_target;

/// Arrays whose requests take different ways.
const CONFIGS: [&[u8]; 4] = [
    b"array.members = 2\nssd.geometry = { dies = 1, blocks = 64, pages = 16 }\0",
    b"array = { members = 3, level = \"raid5\" }\nssd.geometry = { dies = 1, blocks = 64, pages = 16 }\nssd.gc.preemption = \"semi\"\0",
    b"array.members = 2\nssd.geometry = { dies = 1, blocks = 64, pages = 16 }\ncache = { policy = \"lawc\", size = \"64KiB\" }\0",
    b"array.members = nonsense\0",
];

/// Takes a number from the bytes: small ones are frequent, large ones possible.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (&size, rest) = bytes.split_first()?;
    let size = usize::from(size % 9).min(rest.len());
    let (own, rest) = rest.split_at(size);
    *bytes = rest;
    Some(own.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// The length of a step in time: with any number a run of mere timers could last for hours.
const STEP_NS_MAX: u64 = 1_000_000_000;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes;
    let (mut devices, mut now_ns) = (Vec::new(), 0_u64);
    while let Some((&call, rest)) = bytes.split_first() {
        bytes = rest;
        let mut next = || number(&mut bytes).unwrap_or(0);
        let device = match next() {
            known if known < devices.len() as u64 => devices[known as usize],
            other => other,
        };
        let mut answers = [flashraid_answer::default(); 8];
        match call % 8 {
            // SAFETY: the texts end with a zero byte.
            0 if devices.len() < 4 => devices.push(unsafe { flashraid_open(CONFIGS[next() as usize % CONFIGS.len()].as_ptr().cast()) }),
            1 => assert_ne!(flashraid_close(device), FLASHRAID_BUG),
            2..=4 => {
                now_ns = now_ns.saturating_add(next() % STEP_NS_MAX);
                let at_ns = if call & 8 == 0 { now_ns } else { next() };
                assert_ne!(flashraid_submit(device, at_ns, next() as u32, next(), next(), next() as u32, 0), FLASHRAID_BUG);
            }
            5 => {
                let (at_ns, room) = (now_ns.saturating_add(next() % STEP_NS_MAX), next() as usize % 9);
                let until_ns = if call & 8 == 0 { at_ns } else { FLASHRAID_NEVER };
                // SAFETY: there is room for eight answers.
                let count = unsafe { flashraid_advance(device, until_ns, answers.as_mut_ptr(), room) };
                assert!(count <= room as i64);
                for answer in answers.iter().take(count.max(0) as usize) {
                    assert!(answer.done_ns >= answer.arrival_ns);
                    now_ns = now_ns.max(answer.done_ns);
                }
            }
            6 => {
                let mut at_ns = 0;
                // SAFETY: the place may be written.
                assert_ne!(unsafe { flashraid_next_time(device, &raw mut at_ns) }, FLASHRAID_BUG);
            }
            _ => {
                // SAFETY: there is no buffer.
                assert_ne!(unsafe { flashraid_report_json(device, ptr::null_mut(), 0, ptr::null_mut()) }, FLASHRAID_BUG);
            }
        }
    }
    for device in devices {
        let code = flashraid_close(device);
        assert_ne!(code, FLASHRAID_BUG);
    }
});
