//! A few invented lines of each format: they are recognised, have the right meaning, and give good messages when they are wrong.

use std::io::Write;

use super::compression::CompressingWriter;
use super::info::trace_info_of_bytes;
use super::{Compression, DevicePlacement, DiscardPolicy, Format, TimeUnit, TraceRecord, TraceSortMethod, TraceSpec, open_trace_bytes};
use crate::{HostLoop, OpKind, RequestSource, SourceError};

use OpKind::{Read, Write as Writes};

fn spec() -> TraceSpec {
    TraceSpec::new("sample")
}

fn record(time_ns: u64, device: u32, offset_bytes: u64, length_bytes: u64, direction: OpKind) -> TraceRecord {
    TraceRecord::new(time_ns, device, offset_bytes, length_bytes, direction)
}

fn records(bytes: &[u8], spec: &TraceSpec) -> Result<Vec<TraceRecord>, SourceError> {
    let mut reader = open_trace_bytes(bytes, spec)?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push(record);
    }
    Ok(records)
}

/// Returns the message of the error that reading must end in.
fn refusal(bytes: impl AsRef<[u8]>, spec: &TraceSpec) -> String {
    match records(bytes.as_ref(), spec) {
        Err(SourceError::InvalidInput(message)) => message,
        Err(SourceError::Io { input_name: context, source }) => panic!("an I/O error: {context}: {source}"),
        Err(SourceError::Stopped) => panic!("nobody stops it"),
        Ok(records) => panic!("{} records were read", records.len()),
    }
}

/// Asserts that content alone gives the format and the records.
fn check(bytes: impl AsRef<[u8]>, format: Format, expected: &[TraceRecord]) {
    let bytes = bytes.as_ref();
    assert_eq!(records(bytes, &spec()).unwrap(), expected);
    assert_eq!(open_trace_bytes(bytes, &spec()).unwrap().format_properties().format, format);
    let given = TraceSpec { format: Some(format), ..spec() };
    assert_eq!(records(bytes, &given).unwrap(), expected);
}

#[test]
fn spc() {
    check(
        "3,100,4096,R,0.5\n0,200,512,w,1.000000001\n",
        Format::Spc,
        &[record(500_000_000, 3, 51_200, 4096, Read), record(1_000_000_001, 0, 102_400, 512, Writes)],
    );
}

#[test]
fn msr_with_and_without_record_numbers() {
    let expected = [
        record(1_000_000_000_000, 2, 8192, 4096, Read).with_response_ns(7700),
        record(1_000_000_000_700, 65_536, 0, 512, Writes).with_response_ns(500),
    ];
    check("10000000000,alpha,2,Read,8192,4096,77\r\n10000000007,beta,0,Write,0,512,5\r\n", Format::Msr, &expected);
    check("0 10000000000,alpha,2,Read,8192,4096,77\n1 10000000007,beta,0,Write,0,512,5", Format::Msr, &expected);
    let info = trace_info_of_bytes(&b"5,alpha,2,Read,8192,4096,77\n6,beta,0,Write,0,512,5\n"[..], &spec()).unwrap();
    assert_eq!(info.devices.iter().map(|device| device.label.as_str()).collect::<Vec<_>>(), ["alpha/2", "beta/0"]);
}

#[test]
fn msr_window() {
    check(
        "0.000 0 4096 512 1\n3.250 0 8192 1024 0\n",
        Format::MsrWindow,
        &[record(0, 0, 4096, 512, Read), record(3_250_000, 0, 8192, 1024, Writes)],
    );
}

#[test]
fn fiu_with_blanks_in_the_name() {
    check(
        "900 12 flusher 16 8 W 8 1 00ff\n950 13 two words 24 16 R 8 1 aa\n",
        Format::Fiu,
        &[record(900, 8 << 20 | 1, 8192, 4096, Writes), record(950, 8 << 20 | 1, 12_288, 8192, Read)],
    );
}

#[test]
fn disksim_with_hexadecimal_flags() {
    check(
        "0.25 1 7 8 1\n1.5 1 15 16 2a\n2.0 0 40 8 0x3\n",
        Format::Disksim,
        &[record(250_000, 1, 3584, 4096, Read), record(1_500_000, 1, 7680, 8192, Writes), record(2_000_000, 0, 20_480, 4096, Read)],
    );
}

#[test]
fn mqsim() {
    check("1000 4 8 16 0\n9000 5 16 8 1\n", Format::Mqsim, &[record(1000, 4, 4096, 8192, Writes), record(9000, 5, 8192, 4096, Read)]);
}

#[test]
fn flashsim_counts_pages_unless_told_otherwise() {
    let text = "0.5\t0\t9\t1\t1\n1.5\t0\t20\t2\t0\n";
    check(text, Format::Flashsim, &[record(500_000, 0, 36_864, 4096, Read), record(1_500_000, 0, 81_920, 8192, Writes)]);
    let sectors = TraceSpec { sector_bytes: Some(512), ..spec() };
    assert_eq!(records(text.as_bytes(), &sectors).unwrap()[0], record(500_000, 0, 4608, 4096, Read));
}

const BLKPARSE: &str = "\
  8,16   1        1     0.000000000   697  Q   W 2048 + 8 [writer]
  8,16   1        2     0.000001000   697  G   W 2048 + 8 [writer]
  8,16   1        3     0.000002000   697  D   W 2048 + 8 [writer]
  8,16   1        4     0.000003000   697  Q FWS [writer]
  8,16   1        5     0.000004000   697  Q  DS 4096 + 64 [trimmer]
  8,16   0        6     0.500000001   698  Q  RA 16 + 16 [reader]
CPU0 (8,16):
 Reads Queued:           1,        8KiB
Total (8,16):
";

#[test]
fn blkparse_takes_what_is_queued_or_else_issued() {
    let device = 8 << 20 | 16;
    let queued = [
        record(0, device, 1 << 20, 4096, Writes),
        record(3000, device, 0, 0, OpKind::Flush),
        record(4000, device, 2 << 20, 32_768, OpKind::Trim),
        record(500_000_001, device, 8192, 8192, Read),
    ];
    check(BLKPARSE, Format::Blkparse, &queued);
    let ignoring = TraceSpec { discards: DiscardPolicy::Ignore, ..spec() };
    assert_eq!(records(BLKPARSE.as_bytes(), &ignoring).unwrap(), [queued[0], queued[1], queued[3]]);
    let info = trace_info_of_bytes(BLKPARSE.as_bytes(), &spec()).unwrap();
    assert_eq!((info.requests, info.trim.requests, info.trim.bytes, info.footprint_bytes), (3, 1, 32_768, 12_288));
    assert_eq!(trace_info_of_bytes(BLKPARSE.as_bytes(), &ignoring).unwrap().skipped.discards, 1);
    let issued: String = BLKPARSE.lines().filter(|line| !line.contains(" Q ")).map(|line| format!("{line}\n")).collect();
    check(issued, Format::Blkparse, &[record(2000, device, 1 << 20, 4096, Writes)]);
}

#[test]
fn writes_of_zeroes_are_told() {
    let lines = ["W", "WZ", "WZS", "FWZFS", "ZR", "ZRA", "ZF"]
        .map(|kind| format!("  8,16   1        1     0.000000000   697  Q {kind:>5} 2048 + 8 [writer]\n"));
    let found = records(lines.concat().as_bytes(), &TraceSpec { format: Some(Format::Blkparse), ..spec() }).unwrap();
    let marks: Vec<_> = found.iter().map(|record| (record.kind, record.zeroes, record.fua)).collect();
    let flush = (OpKind::Flush, false, false);
    assert_eq!(marks, [(Writes, false, false), (Writes, true, false), (Writes, true, false), flush, (Writes, true, true)]);

    let csv = "time,obj_id,size,op\n1,8,4096,write\n2,16,4096,write_zeroes\n3,24,4096,read\n";
    let found = records(csv.as_bytes(), &TraceSpec { format: Some(Format::Libcachesim), ..spec() }).unwrap();
    assert_eq!(found.iter().map(|record| record.zeroes).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn blkparse_tells_force_unit_access_from_a_flush() {
    let lines =
        ["W", "WFS", "FWFS", "FWS", "RF"].map(|kind| format!("  8,16   1        1     0.000000000   697  Q {kind:>3} 2048 + 8 [writer]\n"));
    let found = records(lines.concat().as_bytes(), &TraceSpec { format: Some(Format::Blkparse), ..spec() }).unwrap();
    let marks: Vec<_> = found.iter().map(|record| (record.kind, record.fua)).collect();
    let (flush, write) = ((OpKind::Flush, false), (Writes, false));
    assert_eq!(marks, [write, (Writes, true), flush, (Writes, true), flush, write, (Read, false)]);
}

#[test]
fn fio_2_adds_up_waits() {
    let text = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/b open\n/dev/a read 0 4096\n/dev/a wait 150 0\n/dev/b write 4096 512\n\
                /dev/a wait 50 0\n/dev/a sync 0 0\n/dev/a trim 8192 4294967296\n/dev/a read 512 512\n/dev/a close\n";
    check(
        text,
        Format::Fio2,
        &[
            record(0, 0, 0, 4096, Read),
            record(150_000, 1, 4096, 512, Writes),
            record(200_000, 0, 0, 0, OpKind::Flush),
            record(200_000, 0, 8192, 1 << 32, OpKind::Trim),
            record(200_000, 0, 512, 512, Read),
        ],
    );
    let without: String = text.lines().filter(|line| !line.contains("wait")).map(|line| format!("{line}\n")).collect();
    let reader = open_trace_bytes(without.into_bytes(), &spec()).unwrap();
    assert_eq!((reader.format_properties().has_times, reader.host_loop()), (false, HostLoop::Closed { depth: 1, think_ns: 0 }));
}

#[test]
fn fio_3_has_stamps() {
    check(
        "fio version 3 iolog\n0 d add\n2 d open\n10 d write 0 4096\n25 d read 4096 512\n30 d close\n",
        Format::Fio3,
        &[record(10_000, 0, 0, 4096, Writes), record(25_000, 0, 4096, 512, Read)],
    );
}

fn vscsi_1(opcode: u16, length: u32, sector: u64, time_us: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [7_u32, length, 1] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(opcode.to_le_bytes());
    bytes.extend(256_u16.to_le_bytes());
    bytes.extend(sector.to_le_bytes());
    bytes.extend(time_us.to_le_bytes());
    bytes
}

fn vscsi_2(opcode: u16, length: u32, sector: u64, time_us: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(opcode.to_le_bytes());
    bytes.extend(512_u16.to_le_bytes());
    for word in [7_u32, length, 1] {
        bytes.extend(word.to_le_bytes());
    }
    for long in [sector, time_us, 90] {
        bytes.extend(long.to_le_bytes());
    }
    bytes
}

#[test]
fn vscsi_of_both_versions() {
    // Only version 2 tells how long a request took.
    for (make, response_ns) in [(vscsi_1 as fn(u16, u32, u64, u64) -> Vec<u8>, 0), (vscsi_2, 90_000)] {
        let expected = [
            record(50_000, 0, 51_200, 4096, Writes).with_response_ns(response_ns),
            record(60_000, 0, 0, 0, OpKind::Flush).with_response_ns(response_ns),
            record(70_000, 0, 1024, 512, Read).with_response_ns(response_ns),
        ];
        // The opcode 0x35 flushes the cache of the disk.
        let bytes = [make(0x2a, 4096, 100, 50), make(0x35, 0, 0, 60), make(0x88, 512, 2, 70)].concat();
        check(&bytes, Format::Vscsi, &expected);
        let message = refusal(&bytes[..bytes.len() - 3], &spec());
        assert!(message.contains("truncated") && message.contains("record of"), "{message}");
    }
}

#[test]
fn libcachesim_by_position_and_by_header() {
    check(
        "5,100,4096\n6,108,512\n",
        Format::Libcachesim,
        &[record(5_000_000_000, 0, 51_200, 4096, Read), record(6_000_000_000, 0, 55_296, 512, Read)],
    );
    check(
        "version,time,op,size,lbn\n1,5,2a,4096,100\n1,6,28,512,108\n1,7,35,0,0\n",
        Format::Libcachesim,
        &[
            record(5_000_000_000, 0, 51_200, 4096, Writes),
            record(6_000_000_000, 0, 55_296, 512, Read),
            record(7_000_000_000, 0, 0, 0, OpKind::Flush),
        ],
    );
    check(
        "1700000000000001,1,512,set\n1700000000000002,2,512,get\n",
        Format::Libcachesim,
        &[record(1_700_000_000_000_001_000, 0, 512, 512, Writes), record(1_700_000_000_000_002_000, 0, 1024, 512, Read)],
    );
    let writes = TraceSpec { assumed_direction: Some(Writes), ..spec() };
    assert_eq!(records(b"5,100,4096\n", &writes).unwrap()[0].kind, Writes);
    assert!(refusal("5,100,4096,w\n", &writes).contains("direction can't be chosen"));
}

fn srt(words: &[[u32; 14]]) -> Vec<u8> {
    let mut bytes = b"$$TR_IOREC-1.3 (invented)\0\nversion = 1.3;\n\x0c".to_vec();
    bytes.extend(words.iter().flatten().flat_map(|word| word.to_be_bytes()));
    bytes
}

#[test]
fn srt_has_sectors_of_256_bytes() {
    let read = [56, 0x0004_0001, 12, 345, 1, 2, 8192, 100, 0x0800_0207, 4, 1, 1, 0, 1];
    let write = [56, 0x0004_0001, 13, 0, 1, 2, 512, 2, 0x0800_0007, 4, 1, 0x1a, 0, 1];
    let other = [56, 0x0004_0002, 13, 0, 1, 2, 512, 2, 0x0800_0007, 4, 1, 0, 0, 1];
    check(
        srt(&[read, other, write]),
        Format::Srt,
        &[record(12_000_345_000, 2, 25_600, 8192, Read), record(13_000_000_000, 0, 512, 512, Writes)],
    );
    let wrong_size = [60_000; 14];
    assert!(refusal(srt(&[read, wrong_size]), &spec()).contains("found a record of 60000 bytes"));
    let with_unit = TraceSpec { time_unit: Some(TimeUnit::Nanoseconds), ..spec() };
    assert!(refusal(srt(&[read]), &with_unit).contains("time_unit can't be chosen"));
}

#[test]
fn diskmon() {
    check(
        "0\t0.5\t0.0001\t1\tRead\t16\t8\t\r\n1\t0.75\t0.0\t0\tWrite\t32\t16\t\r\n",
        Format::Diskmon,
        &[record(500_000_000, 1, 8192, 4096, Read).with_response_ns(100_000), record(750_000_000, 0, 16_384, 8192, Writes)],
    );
}

#[test]
fn blkreplay_has_a_preamble_and_read_aheads() {
    let text = "Some words; with a semicolon\n#####\nstart ; sector; length ; op ;  replay_delay=0 ; replay_duration=0\n\
                  0.000000000 ;  16 ;  8 ; W ; 0.0 ; 0.0\n  1.500000000 ;  24 ;  8 ;RA ; 0.0 ; 0.0\n";
    check(text, Format::Blkreplay, &[record(0, 0, 8192, 4096, Writes), record(1_500_000_000, 0, 12_288, 4096, Read)]);
    let notes = trace_info_of_bytes(text.as_bytes(), &spec()).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("1 request marked RA")), "{notes:?}");
}

#[test]
fn alibaba_and_tencent() {
    check(
        "7,W,8192,4096,1577808000000123\n9,R,0,512,1577808000000456\n",
        Format::Alibaba,
        &[record(1_577_808_000_000_123_000, 7, 8192, 4096, Writes), record(1_577_808_000_000_456_000, 9, 0, 512, Read)],
    );
    check(
        "1538323200,16,8,0,1063\n1538323201,24,1,1,1064\n",
        Format::Tencent,
        &[record(1_538_323_200_000_000_000, 1063, 8192, 4096, Read), record(1_538_323_201_000_000_000, 1064, 12_288, 512, Writes)],
    );
}

const SPC: &str = "0,8,4096,w,5.0\n1,16,512,r,6.0\n0,0,512,r,7.5\n";

fn compressed(compression: Compression, parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        let mut writer = CompressingWriter::new(compression, &mut bytes).unwrap();
        writer.write_all(part).unwrap();
        writer.finish().unwrap();
    }
    bytes
}

#[test]
fn compression_is_found_and_may_come_in_parts() {
    let (first, second) = SPC.as_bytes().split_at(20);
    for compression in [Compression::Gzip, Compression::Zstd, Compression::Bzip2] {
        let bytes = compressed(compression, &[first, second]);
        check(&bytes, Format::Spc, &records(SPC.as_bytes(), &spec()).unwrap());
        assert_eq!(open_trace_bytes(bytes, &spec()).unwrap().format_properties().compression, compression);
    }
}

#[test]
fn a_truncated_compressed_file_is_bad_input_wherever_it_ends() {
    for compression in [Compression::Gzip, Compression::Zstd, Compression::Bzip2] {
        let bytes = compressed(compression, &[SPC.as_bytes()]);
        for length in 5..bytes.len() {
            let message = refusal(&bytes[..length], &spec());
            assert!(message.contains("truncated") && message.contains(compression.name()), "{compression:?} {length}: {message}");
        }
        let mut damaged = bytes;
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0x55;
        refusal(damaged, &spec());
    }
}

#[test]
fn a_window_too_large_is_told_from_damage() {
    let mut writer = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    writer.window_log(28).unwrap();
    writer.include_contentsize(false).unwrap();
    writer.write_all(SPC.as_bytes()).unwrap();
    // A flush before the end keeps the encoder from shrinking the window to the content.
    writer.flush().unwrap();
    writer.write_all(SPC.as_bytes()).unwrap();
    let message = refusal(writer.finish().unwrap(), &spec());
    assert!(message.contains("window of more than 128 MiB"), "{message}");
}

#[test]
fn a_bad_line_is_named_and_can_be_skipped() {
    let text = "0,8,4096,w,5.0\n0,8,40x6,w,5.5\n0,8,4096,w\n0,8,4096,w,6.0\n";
    let message = refusal(text, &spec());
    for part in ["sample: line 2, column 5", "found \"40x6\"", "expected the length in bytes", "format spc", "skip_bad_lines"] {
        assert!(message.contains(part), "{message}");
    }
    let skipping = TraceSpec { skip_bad_lines: true, ..spec() };
    let mut reader = open_trace_bytes(text.as_bytes(), &skipping).unwrap();
    while reader.next_record().unwrap().is_some() {}
    assert_eq!((reader.bad_lines_skipped(), records(text.as_bytes(), &skipping).unwrap().len()), (2, 2));
    // The line number counts blank lines and comments. Bytes that are no UTF-8 are shown, not trusted.
    let message = refusal(b"# a comment\n\n0,8,4096,w,5.0\n0,\xff\xfe,4096,w,5.0\n", &spec());
    assert!(message.contains("line 4, column 3: found \"\u{fffd}\u{fffd}\""), "{message}");
}

#[test]
fn a_header_is_passed_over_but_not_a_second_one() {
    let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    let text = format!("{header}5,alpha,2,Read,8192,4096,77\n6,alpha,2,Write,0,512,5\n");
    assert_eq!(records(text.as_bytes(), &spec()).unwrap().len(), 2);
    let notes = trace_info_of_bytes(text.clone().into_bytes(), &spec()).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("line 1: passed over as a header")), "{notes:?}");
    assert!(refusal(text + header, &spec()).contains("line 4, column 1"));
}

#[test]
fn readers_can_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<super::TraceReader>();
}

#[test]
fn absurd_numbers_are_bad_lines_and_empty_requests_are_left_out() {
    for (line, complaint) in [
        ("0,8,99999999999999999999,w,1", "the length in bytes"),
        ("0,8,2147483648,w,1", "at most 1 GiB"),
        ("0,9223372036854775807,512,w,1", "below 2^60"),
        ("4294967296,8,512,w,1", "device number of at most"),
        ("0,8,512,w,99999999999", "a time below 2^64 - 2^60 ns"),
        ("0,-8,512,w,1", "the start sector"),
    ] {
        let message = refusal(format!("{SPC}{line}\n"), &spec());
        assert!(message.contains("line 4") && message.contains(complaint), "{message}");
    }
    let info = trace_info_of_bytes(format!("{SPC}0,8,0,w,8.0\n").into_bytes(), &spec()).unwrap();
    assert_eq!((info.requests, info.skipped.zero_length), (3, 1));
}

#[test]
fn what_is_no_trace_is_told_apart() {
    for (bytes, complaint) in [
        (&b""[..], "is empty"),
        (b"\n\n# nothing\n", "no line with content"),
        (b"LBA,Frequency\n4096,17\n8192,3\n", "popularity table"),
        (b"4096,17\n8192,3\n", "popularity table"),
        (b"<html><body>404</body></html>\n", "no known format fits"),
        (b"\xfd7zXZ\0\0\0\0\0", "xz"),
        (b"PK\x03\x04\0\0\0\0", "zip"),
        (b"\xff\xfe0\0,\08\0", "UTF-16"),
        (b"fio version 2 iolog\n/dev/a open\n", "holds no request"),
    ] {
        let message = refusal(bytes, &spec());
        assert!(message.contains(complaint), "{message}");
    }
    let empty = compressed(Compression::Gzip, &[b""]);
    assert!(refusal(empty, &spec()).contains("holds nothing once decompressed"));
    let forced = TraceSpec { format: Some(Format::Srt), ..spec() };
    assert!(refusal(SPC, &forced).contains("$$TR_IOREC-1.3"));
    let long_line = vec![b'7'; 3 << 20];
    assert!(refusal(long_line, &TraceSpec { format: Some(Format::Spc), ..spec() }).contains("more than 1 MiB"));
}

#[test]
fn a_path_that_leads_to_no_file_is_bad_input() {
    for path in ["no/such/file", "."] {
        let error = super::open_trace(&TraceSpec::new(path)).err().unwrap();
        assert!(matches!(&error, SourceError::InvalidInput(message) if message.contains(path)), "{error}");
    }
}

fn offsets(devices: DevicePlacement) -> Vec<(u64, u64)> {
    let mut reader = open_trace_bytes(SPC.as_bytes(), &TraceSpec { devices, ..spec() }).unwrap();
    let mut offsets = Vec::new();
    while let Some(request) = reader.next_request().unwrap() {
        offsets.push((request.arrival_ns, request.offset_bytes));
    }
    offsets
}

#[test]
fn devices_are_laid_end_to_end_folded_or_chosen() {
    let (second, third) = (1_000_000_000, 2_500_000_000);
    assert_eq!(offsets(DevicePlacement::Concat), [(0, 4096), (second, (1 << 20) + 8192), (third, 0)]);
    assert_eq!(offsets(DevicePlacement::Fold), [(0, 4096), (second, 8192), (third, 0)]);
    assert_eq!(offsets(DevicePlacement::List(vec![1])), [(0, 8192)]);
    assert_eq!(offsets(DevicePlacement::List(vec![1, 0])), [(0, (1 << 20) + 4096), (second, 8192), (third, 1 << 20)]);
    for (list, complaint) in [(vec![], "empty"), (vec![1, 1], "twice"), (vec![9, 5], "holds 3 requests, none of device 9, 5")] {
        let message = refusal(SPC, &TraceSpec { devices: DevicePlacement::List(list), ..spec() });
        assert!(message.contains(complaint), "{message}");
    }
    let reader = open_trace_bytes(SPC.as_bytes(), &spec()).unwrap();
    assert_eq!(reader.address_space_bytes(), Some(2 << 20));
    assert!(reader.format_properties().notes.iter().any(|note| note.contains("2 laid end to end, 2 MiB")));
}

#[test]
fn times_that_go_backwards_are_refused_or_put_in_order() {
    let text = "0,1,512,r,5.0\n0,2,512,r,7.0\n0,3,512,r,6.0\n0,4,512,r,5.5\n0,5,512,r,7.0\n";
    let message = refusal(text, &spec());
    for part in ["line 3", "backwards from 7.000000000 s to 6.000000000 s", "reorder"] {
        assert!(message.contains(part), "{message}");
    }
    let order = |reorder| {
        records(text.as_bytes(), &TraceSpec { reorder, ..spec() }).map(|all| all.iter().map(|r| r.offset_bytes / 512).collect::<Vec<_>>())
    };
    assert_eq!(order(TraceSortMethod::Sort).unwrap(), [1, 4, 3, 2, 5]);
    assert_eq!(order(TraceSortMethod::Window(2)).unwrap(), [1, 4, 3, 2, 5]);
    let message = refusal(text, &TraceSpec { reorder: TraceSortMethod::Window(1), ..spec() });
    assert!(message.contains("although up to 1 request may be held back"), "{message}");
    let backwards = trace_info_of_bytes(text.as_bytes(), &spec()).unwrap().backwards;
    assert_eq!((backwards.stamps, backwards.farthest_ns, backwards.reorder_window), (2, 1_500_000_000, Some(2)));
}

#[test]
fn repeats_can_be_dropped() {
    let text = "0,1,512,r,5.0\n0,1,512,r,5.001\n0,1,512,w,5.001\n0,1,512,r,5.0029\n0,1,512,r,5.005\n";
    let kept = records(text.as_bytes(), &TraceSpec { drop_repeats_within_ns: Some(2_000_000), ..spec() }).unwrap();
    let times_us: Vec<u64> = kept.iter().map(|record| record.time_ns / 1000 - 5_000_000).collect();
    assert_eq!(times_us, [0, 1000, 5000]);
}

#[test]
fn units_are_overruled_and_options_without_effect_are_refused() {
    let text = "979 0 2 8 1\n3976 0 8 8 1\n9836 0 9 8 0\n11225 0 9 8 0\n";
    let reader = open_trace_bytes(text.as_bytes(), &spec()).unwrap();
    assert_eq!(reader.format_properties().time_unit, Some(TimeUnit::Microseconds));
    assert!(reader.format_properties().notes.iter().any(|note| note.contains("time_unit overrules it")));
    let in_ns = TraceSpec { time_unit: Some(TimeUnit::Nanoseconds), sector_bytes: Some(4096), ..spec() };
    assert_eq!(records(text.as_bytes(), &in_ns).unwrap()[0], record(979, 0, 8192, 32_768, Read));
    let message = refusal("7,W,8192,4096,15\n", &TraceSpec { sector_bytes: Some(512), ..spec() });
    assert!(message.contains("sector_bytes has no meaning"), "{message}");
    assert!(refusal(text, &TraceSpec { sector_bytes: Some(0), ..spec() }).contains("allowed are 1 to"));
    assert!(refusal(text, &TraceSpec { assumed_direction: Some(Read), ..spec() }).contains("direction can't be chosen"));
}

#[test]
fn a_column_of_record_numbers_is_no_time() {
    let text: String = [0, 10, 50, 60, 70, 110].map(|number| format!("{number} 0 {} 8 0\n", number * 3)).concat();
    let mut reader = open_trace_bytes(text.clone().into_bytes(), &spec()).unwrap();
    assert_eq!((reader.format_properties().has_times, reader.host_loop()), (false, HostLoop::Closed { depth: 1, think_ns: 0 }));
    while let Some(request) = reader.next_request().unwrap() {
        assert_eq!(request.arrival_ns, 0);
    }
    assert_eq!(trace_info_of_bytes(text.into_bytes(), &spec()).unwrap().duration_s, None);
}

#[test]
fn statistics_of_a_few_requests() {
    let text = "0,0,4096,w,0.0\n0,8,8192,w,0.1\n0,8,512,r,0.2\n0,0,512,w,1.5\n1,9,512,r,2.0\n";
    let info = trace_info_of_bytes(text.as_bytes(), &spec()).unwrap();
    assert_eq!((info.requests, info.read.requests, info.write.requests), (5, 2, 3));
    assert_eq!((info.all.bytes, info.write.min_bytes, info.write.max_bytes, info.read.mean_bytes), (13_824, 512, 8192, 512.0));
    assert_eq!((info.duration_s, info.requests_per_s, info.peak_requests_per_s), (Some(2.0), Some(2.5), Some(3)));
    assert_eq!((info.footprint_bytes, info.written_footprint_bytes, info.rewritten), (4 * 4096, 3 * 4096, Some(4.0 / 3.0)));
    assert_eq!((info.sequential_fraction, info.first_byte, info.end_byte), (0.2, 0, 12_288));
    assert_eq!(
        info.devices.iter().map(|device| (device.device, device.requests, device.reads)).collect::<Vec<_>>(),
        [(0, 4, 1), (1, 1, 1)]
    );
}
