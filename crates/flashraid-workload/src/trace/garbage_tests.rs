//! Reading a trace ends in requests or in a message, and never in a panic, for any bytes.

use proptest::prelude::*;

use super::info::trace_info_of_bytes;
use super::{DevicePlacement, Format, MAX_OFFSET_BYTES, TraceSortMethod, TraceSpec, open_trace_bytes};
use crate::{AddressFit, ArrayProperties, OpKind, Request, RequestSource, RequestTransformSpec, SourceError, Stop, TransformedSource};
use flashraid_model::placement::StripeShape;

/// Reads to the end or to the first error. That must not be an error of I/O, because no file is used here.
fn read(bytes: &[u8], spec: &TraceSpec) {
    let refused = |error: SourceError| match error {
        SourceError::InvalidInput(message) => assert!(message.starts_with("garbage") && message.len() < 2000, "{message}"),
        SourceError::Io { input_name: context, source } => panic!("{context}: {source}"),
        SourceError::Stopped => panic!("nobody stops it"),
    };
    match open_trace_bytes(bytes, spec) {
        Ok(mut reader) => {
            let mut last_ns = 0;
            loop {
                match reader.next_request() {
                    Ok(Some(request)) => {
                        assert!((request.length_bytes > 0) != (request.kind == OpKind::Flush) && request.arrival_ns >= last_ns);
                        assert!(request.offset_bytes <= 4 * MAX_OFFSET_BYTES);
                        last_ns = request.arrival_ns;
                    }
                    Ok(None) => break,
                    Err(error) => break refused(error),
                }
            }
        }
        Err(error) => refused(error),
    }
    if let Err(error) = trace_info_of_bytes(bytes, spec) {
        refused(error);
    }
}

/// Requests with their places, and the error after them.
type RequestsAndError = (Vec<(Request, Option<String>)>, Option<String>);

/// Reads to the end or to the first error, `count` requests at a time.
fn read_in_blocks(source: &mut impl RequestSource, count: usize) -> RequestsAndError {
    let mut told = Vec::new();
    loop {
        let mut requests = Vec::new();
        let read = source.next_requests(&mut requests, count);
        let places = (0..requests.len()).rev().map(|requests_after| source.position_in_input(requests_after));
        told.extend(requests.iter().copied().zip(places));
        match read {
            Ok(read) if read == count => {}
            Ok(_) => return (told, None),
            Err(error) => return (told, Some(error.to_string())),
        }
    }
}

fn specs() -> impl Strategy<Value = TraceSpec> {
    let format = prop::option::of(prop::sample::select(&Format::ALL[..]));
    let devices = prop_oneof![Just(DevicePlacement::Concat), Just(DevicePlacement::Fold), Just(DevicePlacement::List(vec![0, 1]))];
    let reorder = prop_oneof![Just(TraceSortMethod::Window(0)), Just(TraceSortMethod::Window(3)), Just(TraceSortMethod::Sort)];
    (format, devices, reorder, any::<bool>(), prop::option::of(0_u64..5_000_000)).prop_map(
        |(format, devices, reorder, skip_bad_lines, drop_repeats_within_ns)| TraceSpec {
            format,
            devices,
            reorder,
            skip_bad_lines,
            drop_repeats_within_ns,
            ..TraceSpec::new("garbage")
        },
    )
}

/// Draws lines that are nearly right: plausible and absurd fields between plausible separators.
fn nearly_lines() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        4 => (0_u64..100_000).prop_map(|number| number.to_string()),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => (0_u32..5_000, 0_u32..1_000_000).prop_map(|(whole, rest)| format!("{whole}.{rest:06}")),
        2 => prop::sample::select(vec![
            "0", "1", "R", "W", "Read", "Write", "r", "w", "Q", "D", "+", "8,0", "read", "write", "wait", "open", "2a", "host", "[p]", "",
            "-1", "1e3", "1e-9", "99999999999999999999", "0x1", "start", "start ;", "time", "obj_id", "size", "op", "\u{e9}", "#",
        ])
        .prop_map(str::to_owned),
    ];
    let separator = prop::sample::select(vec![",", " ", "\t", " ; ", "  "]);
    let line = (prop::collection::vec(field, 0..11), separator).prop_map(|(fields, separator)| fields.join(separator));
    let head = prop::sample::select(vec!["", "", "fio version 2 iolog\n", "fio version 3 iolog\n", "start ; x\n", "time,obj_id,size\n"]);
    let end = prop::sample::select(vec!["\n", "\r\n"]);
    (head, prop::collection::vec(line, 0..20), end).prop_map(|(head, lines, end)| (head.to_owned() + &lines.join(end)).into_bytes())
}

/// Draws bytes behind the marks of binary formats and of compression.
fn marked_bytes() -> impl Strategy<Value = Vec<u8>> {
    let mark = prop::sample::select(vec![
        &b"$$TR_IOREC-1.3\n\x0c\0\0\0\x38\0\x04\0\x01"[..],
        b"$$TR_IOREC-1.2",
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
        b"\x28\xb5\x2f\xfd",
        b"\x50\x2a\x4d\x18",
        b"BZh91AY&SY",
        b"\xef\xbb\xbf",
        b"\0\0\0\0\0\x10\0\0\0\0\0\0\x2a\0\0\x01",
        b"\x2a\0\0\x02",
    ]);
    (mark, prop::collection::vec(any::<u8>(), 0..300)).prop_map(|(mark, bytes)| [mark, &bytes].concat())
}

/// An array of 16 KiB.
const SPACE: ArrayProperties =
    ArrayProperties { capacity_bytes: 1 << 14, page_bytes: 4096, stripe_unit_bytes: 4096, stripe_shape: StripeShape::without_parity(1) };

/// Draws settings of a transformation of [`disksim_line`] to [`SPACE`].
fn transforms() -> impl Strategy<Value = RequestTransformSpec> {
    let fits = vec![AddressFit::Error, AddressFit::Wrap, AddressFit::Scale { source_extent_bytes: None }];
    let limit_ns = prop::option::of(0_u64..30_000_000);
    (0_u64..3, 0_u64..9_000_000, prop::option::of(0_u64..20), limit_ns, 1_u32..3, prop::sample::select(fits), any::<bool>()).prop_map(
        |(start_requests, start_ns, limit_requests, limit_ns, rate, address_fit, changes)| match changes {
            false => RequestTransformSpec { address_fit, ..RequestTransformSpec::default() },
            true => RequestTransformSpec {
                start_requests,
                start_ns,
                limit_requests,
                limit_ns,
                rate_scale: rate.into(),
                high_priority_fraction: 0.5,
                address_fit,
                ..RequestTransformSpec::default()
            },
        },
    )
}

/// Draws a line of DiskSim, whose times often go backwards. Some lines have length 0, some are bad or too late, and some are comments.
fn disksim_line() -> impl Strategy<Value = String> {
    let op = prop_oneof![20 => Just("1"), 20 => Just("0"), 1 => Just("x")];
    let begin = prop_oneof![20 => Just(""), 1 => Just("#")];
    let ms = prop_oneof![40 => 0_u64..40, 1 => Just(5_000_000_000_000)];
    let sector = prop_oneof![20 => 0_u32..8, 1 => Just(100)];
    (begin, ms, 0_u32..3, sector, 0_u32..4, op)
        .prop_map(|(begin, ms, device, sector, sectors, op)| format!("{begin}{ms}.5 {device} {sector} {sectors} {op}\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..600), spec in specs()) {
        read(&bytes, &spec);
    }

    #[test]
    fn lines_that_are_nearly_right(bytes in nearly_lines(), spec in specs()) {
        read(&bytes, &spec);
    }

    /// Checks that requests, places and errors do not depend on how many requests are read at a time. Neither do counts and notes, if a
    /// trace is read to its end.
    #[test]
    fn any_number_at_a_time(
        lines in prop::collection::vec(disksim_line(), 0..40), spec in specs(), transform in transforms(), count in 2_usize..9
    ) {
        let spec = TraceSpec { format: Some(Format::Disksim), ..spec };
        let text = lines.concat();
        let open = || open_trace_bytes(text.as_bytes(), &spec);
        if let (Ok(mut single), Ok(mut blocks)) = (open(), open()) {
            prop_assert_eq!(blocks.next_requests(&mut Vec::new(), 0).unwrap(), 0);
            let expected = read_in_blocks(&mut single, 1);
            prop_assert_eq!(&read_in_blocks(&mut blocks, count), &expected);
            if expected.1.is_none() {
                prop_assert_eq!((blocks.records_skipped(), blocks.notes()), (single.records_skipped(), single.notes()));
            }
        }
        let changed = || TransformedSource::open(&transform, 1, &SPACE, &Stop::default(), open);
        if let (Ok(mut single), Ok(mut blocks)) = (changed(), changed()) {
            prop_assert_eq!(read_in_blocks(&mut blocks, count), read_in_blocks(&mut single, 1));
        }
    }

    #[test]
    fn bytes_that_begin_right(bytes in marked_bytes(), spec in specs()) {
        read(&bytes, &spec);
    }
}

/// Each parser sees each kind of garbage, independent of the random choices above.
#[test]
fn every_parser_survives_every_short_line() {
    let pieces = ["", "0", "1.5", "x", "R", "8,0", "+", "18446744073709551615", "\u{e9}", "fio version 2 iolog", "start ;"];
    for format in Format::ALL {
        let spec = TraceSpec { format: Some(format), skip_bad_lines: true, ..TraceSpec::new("garbage") };
        for separator in [",", " ", ";"] {
            for first in pieces {
                for second in pieces {
                    let line = [first, second, first, second, first, second, first, second].join(separator);
                    read(line.as_bytes(), &spec);
                }
            }
        }
    }
}
