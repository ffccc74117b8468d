//! Traces as people bring them: each kind in spellings that differ from the usual one, and what is told where something is wrong.

use super::info::{TraceInfo, trace_info_of_bytes};
use super::{Format, TraceSpec};

fn spec() -> TraceSpec {
    TraceSpec::new("brought")
}

fn with_columns(columns: &str) -> TraceSpec {
    TraceSpec { columns: Some(columns.parse().unwrap()), ..spec() }
}

fn info_with(text: &str, spec: &TraceSpec) -> TraceInfo {
    trace_info_of_bytes(text.as_bytes().to_vec(), spec).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn info(text: &str) -> TraceInfo {
    info_with(text, &spec())
}

fn refusal(text: &str) -> String {
    trace_info_of_bytes(text.as_bytes().to_vec(), &spec()).map(|info| info.format).expect_err(text).to_string()
}

/// Returns the numbers of reads, writes, trims and flushes, the bytes of reads and writes, and the duration in µs.
fn figures(info: &TraceInfo) -> ([u64; 4], [u64; 2], u64) {
    let counts = [info.read.requests, info.write.requests, info.trim.requests, info.flushes];
    (counts, [info.read.bytes, info.write.bytes], (info.duration_s.unwrap_or(0.0) * 1e6).round() as u64)
}

#[test]
fn systor_in_other_spellings() {
    let lines = "1456095145.001505000,0.000580000,W,4,8192,4096\n1456095145.006334000,0.000704000,R,4,0,512\n";
    let expected = ([1, 1, 0, 0], [512, 4096], 4829);
    let windows = format!("Timestamp,Response,IOType,LUN,Offset,Size\n{lines}").replace('\n', "\r\n");
    assert_eq!(figures(&info(&windows)), expected);
    // A recorder that has not seen the end of a request leaves its response empty.
    let without_end = lines.replace("0.000704000", "");
    assert_eq!(figures(&info(&without_end)), expected);
    assert_eq!(info(&without_end).measured_response_us.unwrap().total.unwrap().count, 1);
    let other_order = "Offset,Size,IOType,LUN,Response,Timestamp\n8192,4096,W,4,0.000580000,1456095145.001505000\n\
                       0,512,R,4,0.000704000,1456095145.006334000\n";
    let reordered = info(other_order);
    assert_eq!((figures(&reordered), reordered.format), (expected, Format::Columns));
    assert_eq!(reordered.measured_response_us.unwrap().total.unwrap().max, 704.0);
    assert!(refusal(&format!("{lines}1456095146.1,0.0001,W\n")).contains("line 3"), "a truncated line");
}

#[test]
fn etw_in_other_spellings() {
    let text = "BeginHeader\n DiskRead, TimeStamp, ByteOffset, IOSize, ElapsedTime, DiskNum\n \
                DiskWrite, TimeStamp, ByteOffset, IOSize, ElapsedTime, DiskNum\nEndHeader\n \
                DiskRead, 5000, 0x1000, 0x0200, 206, 1\n DiskWrite, 6000, 0x2000, 0x1000, 500, 2\n";
    let expected = ([1, 1, 0, 0], [512, 4096], 706);
    assert_eq!(figures(&info(text)), expected);
    assert_eq!(figures(&info(&text.replace('\n', "\r\n").replace(", ", ",      "))), expected);
    // Columns of one event may stand in another order than those of the other.
    let reordered = text
        .replacen(
            "DiskWrite, TimeStamp, ByteOffset, IOSize, ElapsedTime, DiskNum",
            "DiskWrite, TimeStamp, DiskNum, IOSize, ElapsedTime, ByteOffset",
            1,
        )
        .replace("6000, 0x2000, 0x1000, 500, 2", "6000, 2, 4096, 500, 8192");
    assert_eq!(figures(&info(&reordered)), expected);
    assert!(refusal(&format!("{text} DiskRead, 7000, 0x10")).contains("line 7"), "a truncated line");
}

#[test]
fn biosnoop_in_other_spellings() {
    let text = "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   LAT(ms)\n\
                0.000999    fio            1800    nvme0n1   W 16         8192      0.25\n\
                0.004057    fio            1803    nvme0n1   R 8          512       0.05\n";
    let expected = ([1, 1, 0, 0], [512, 8192], 3258);
    assert_eq!(figures(&info(text)), expected);
    assert_eq!(figures(&info(&text.replace("    ", "\t").replace('\n', "\r\n"))), expected);
    let queued = text.replace("LAT(ms)", "QUE(ms) LAT(ms)").replace("   0.25", " 1.5 0.25").replace("   0.05", " 0.01 0.05");
    assert_eq!(figures(&info(&queued)), expected);
    // What the tool says of lost events is counted: more than 1 % are refused.
    for lost in ["Possibly lost 7 samples", "lost 7 events on CPU #3!"] {
        assert!(refusal(&format!("{text}{lost}\n")).contains("lost 7 events beside 2 requests"));
        let line = |i: u64| format!("{}.5 fio 1 sda R {} 512 0.05\n", i, 8 * i);
        let long: String = std::iter::once("TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n".to_owned())
            .chain((0..800).map(line))
            .chain([format!("{lost}\n")])
            .collect();
        assert!(info(&long).notes.iter().any(|note| note.contains("lost 7 events")));
    }
    assert!(refusal(&text.replace("0.05", "fast")).contains("the latency in milliseconds"));
}

#[test]
fn ftrace_in_other_spellings() {
    let text = "# tracer: nop\n fio-18 [003] ..... 9203.000282: block_rq_issue: 259,0 W 16384 () 64 + 32 none,0,0 [fio]\n \
                fio-18 [003] ..... 9203.000594: block_rq_issue: 259,0 R 4096 () 8 + 8 none,0,0 [fio]\n";
    let expected = ([1, 1, 0, 0], [4096, 16_384], 312);
    assert_eq!(figures(&info(text)), expected);
    // Older kernels print no priority, trace-cmd another head, and perf nanoseconds.
    assert_eq!(figures(&info(&text.replace("none,0,0 ", "").replace('\n', "\r\n"))), expected);
    let trace_cmd = text.replace("# tracer: nop", "cpus=16").replace(" ..... ", " ");
    assert_eq!(figures(&info(&trace_cmd)), expected);
    assert_eq!(figures(&info(&text.replace("000282", "000282000").replace("000594", "000594000"))), expected);
    for lost in ["CPU:3 [LOST 9 EVENTS]", "CPU:3 [9 EVENTS DROPPED]"] {
        assert!(refusal(&format!("{text}{lost}\n")).contains("lost 9 events"), "{lost}");
    }
    for unknown in ["CPU:3 [LOST EVENTS]", "CPU:3 [EVENTS DROPPED]"] {
        assert!(refusal(&format!("{text}{unknown}\n")).contains("lost 1 event"), "{unknown}");
    }
    assert!(refusal(&format!("{text} fio-18 [003] ..... 9203.1: block_rq_issue: 259,0 R 4096 () 8")).contains("line 4"));
}

#[test]
fn blkparse_in_other_spellings() {
    let text = "259,0 3 1 0.008619000 18234 Q RS 1543480 + 8 [fio]\n259,0 3 2 0.015081000 18234 Q WS 770264 + 8 [fio]\n\
                259,0 3 3 0.015260000 18234 Q FWS [fio]\n";
    let expected = ([1, 1, 0, 1], [4096, 4096], 6462);
    assert_eq!(figures(&info(text)), expected);
    assert_eq!(figures(&info(&text.replace(' ', "   ").replace('\n', "\r\n"))), expected);
    assert_eq!(figures(&info(&text.replace(" Q ", " D "))), expected);
    assert_eq!(figures(&info(&format!("{text}CPU0 (259,0):\n Reads Queued: 1, 4KiB\n"))), expected);
    assert!(refusal(&format!("{text}259,0 3 4 0.02 18234 Q WS 770264 + ")).contains("line 4"), "a truncated line");
}

/// Times of begin and end may have different units, and one option or the names of the header tell both.
#[test]
fn units_may_differ_between_columns() {
    let named = info_with("5,5900,R,0,4096\n7,7100,W,4096,512\n", &with_columns("time:ms,end:us,op,address,length"));
    assert_eq!(named.measured_response_us.unwrap().total.unwrap().max, 900.0);
    assert_eq!(named.duration_s, Some(0.002));
    let header = info("start_ms,end_us,rw,offset,size\n5,5900,R,0,4096\n7,7100,W,4096,512\n");
    assert_eq!((header.measured_response_us.unwrap().total.unwrap().max, header.duration_s), (900.0, Some(0.002)));
    let same = info_with("5,6,R,0,4096\n7,9,W,4096,512\n", &with_columns("time,end:ms,op,address,length"));
    assert_eq!((same.measured_response_us.unwrap().total.unwrap().max, same.duration_s), (2000.0, Some(0.002)));
}

/// A clock that began with the machine, and one that began in 1970.
#[test]
fn two_clocks_are_refused_with_their_line() {
    let text = "time_us,op,offset,size\n1000,R,0,512\n2000,R,512,512\n1705276800000000,W,0,512\n3000,R,0,512\n";
    let message = refusal(text);
    for part in ["line 4", "on by 54.1 years", "two clocks", "skip_bad_lines"] {
        assert!(message.contains(part), "{message}");
    }
    let skipped = info_with(text, &TraceSpec { skip_bad_lines: true, ..spec() });
    assert_eq!((figures(&skipped).0, skipped.skipped.bad_lines), ([3, 0, 0, 0], 1));
    let backwards = text.lines().enumerate().filter(|(i, _)| *i != 1 && *i != 2).map(|(_, line)| format!("{line}\n")).collect::<String>();
    assert!(refusal(&backwards).contains("line 3: the time goes back by 54.1 years"));
}

/// Without `log_offset=1`, the fifth column of fio's log of latencies is a priority.
#[test]
fn latency_logs_without_offsets_are_refused() {
    assert!(refusal("0, 210310, 0, 4096, 0\n1, 74389, 0, 4096, 0\n").contains("log_offset=1"));
    assert!(refusal("0, 210310, 0, 4096, 16388\n1, 74389, 1, 4096, 16388\n").contains("log_offset=1"));
    assert_eq!(info("1, 210310, 0, 4096, 0\n2, 74389, 1, 4096, 8192\n").format, Format::FioLat);
    let windows = info("1, 210310, 0, 4096, 0, 0\r\n2, 74389, 1, 4096, 8192, 0\r\n");
    assert_eq!(figures(&windows).0, [1, 1, 0, 0]);
    let close = info("1,210310,0,4096,0,0\n2,74389,1,4096,8192,0\n");
    assert_eq!((figures(&close).0, close.format), ([1, 1, 0, 0], Format::FioLat));
}

/// Columns of seconds with nine decimals are no milliseconds, and no other unit is offered for them.
#[test]
fn seconds_with_nine_decimals_are_asked_about() {
    let seconds = |digits: usize| (0..30).map(|i| format!("{:.digits$} 0 {} 8 1\n", 1.0 + 1.37 * f64::from(i), 8 * i)).collect::<String>();
    let message = refusal(&seconds(9));
    assert!(message.contains("sensible are s (") && !message.contains("ms (") && message.contains("time_unit"), "{message}");
    let told = info_with(&seconds(9), &TraceSpec { time_unit: Some(super::TimeUnit::Seconds), ..spec() });
    assert_eq!(told.duration_s.map(|s| (s * 100.0).round()), Some(3973.0));
}

/// One emulated run as three recorders write it down: blkparse, biosnoop, and fio with `log_offset=1`.
fn three_logs() -> [String; 3] {
    let mut state = 7_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let requests: Vec<(u64, u64, bool, u64)> = (0..3000_u64)
        .map(|i| {
            let tail = if draw(50) == 0 { 4_000_000 } else { 0 };
            (i * 900_000 + draw(400_000), 60_000 + draw(90_000) + tail, draw(3) > 0, 8 * draw(100_000))
        })
        .collect();
    let blkparse = {
        let mut events: Vec<(u64, char, bool, u64)> = Vec::new();
        for &(begin, took, read, sector) in &requests {
            events.extend([(begin, 'Q', read, sector), (begin + took, 'C', read, sector)]);
        }
        events.sort_unstable();
        let line = |(at, action, read, sector): &(u64, char, bool, u64)| {
            let (s, ns) = (at / 1_000_000_000, at % 1_000_000_000);
            format!("8,0 1 1 {s}.{ns:09} 697 {action} {} {sector} + 8 [x]\n", if *read { "R" } else { "W" })
        };
        events.iter().map(line).collect()
    };
    let mut by_end = requests;
    by_end.sort_unstable_by_key(|(begin, took, ..)| begin + took);
    let snooped = by_end.iter().map(|(begin, took, read, sector)| {
        let (end, kind) = ((begin + took) as f64 / 1e9, if *read { "R" } else { "W" });
        format!("{end:.6} fio 18 sda {kind} {sector} 4096 {:.2}\n", *took as f64 / 1e6)
    });
    let biosnoop = std::iter::once("TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n".to_owned()).chain(snooped).collect();
    let logged = |(begin, took, read, sector): &(u64, u64, bool, u64)| {
        format!("{}, {took}, {}, 4096, {}, 0\n", (begin + took) / 1_000_000, u8::from(!read), sector * 512)
    };
    [blkparse, biosnoop, by_end.iter().map(logged).collect()]
}

/// Another reader of the same logs: blkparse, biosnoop, fio. Returns the latencies in µs, sorted.
fn latencies_us(log: &str, kind: usize) -> Vec<f64> {
    let (mut begun, mut latencies) = (Vec::<(&str, f64)>::new(), Vec::new());
    for line in log.lines() {
        let fields: Vec<&str> = line.split([' ', ',']).filter(|field| !field.is_empty()).collect();
        let number = |at: usize| fields[at].parse::<f64>();
        match (kind, fields[6.min(fields.len() - 1)]) {
            (0, "Q") => begun.push((fields[8], number(4).unwrap())),
            (0, _) => {
                let at = begun.iter().position(|(sector, _)| *sector == fields[8]).unwrap();
                latencies.push((number(4).unwrap() - begun.remove(at).1) * 1e6);
            }
            // The header of biosnoop has no number there.
            (1, _) => latencies.extend(number(7).map(|ms| ms * 1e3)),
            _ => latencies.push(number(1).unwrap() / 1e3),
        }
    }
    latencies.sort_by(f64::total_cmp);
    latencies
}

#[test]
fn measured_percentiles_are_those_of_another_reader() {
    let logs = three_logs();
    for (kind, log) in logs.iter().enumerate() {
        let latencies = latencies_us(log, kind);
        let measured = info(log).measured_response_us.unwrap().total.unwrap();
        assert_eq!((measured.count, latencies.len()), (3000, 3000), "log {kind}");
        for (found, share) in [(measured.p50, 0.5), (measured.p99, 0.99), (measured.p99_9, 0.999)] {
            let expected = latencies[(share * 3000.0_f64).ceil() as usize - 1];
            assert!((found / expected - 1.0).abs() < 1.5e-3, "log {kind}, {share}: {found} beside {expected}");
        }
    }
}
