//! Traces of recorders and text with named columns: requests, flushes and measured times, for invented lines in each form.

use super::info::{TraceInfo, trace_info_of_bytes};
use super::{FlushPolicy, Format, TraceRecord, TraceSpec, open_trace_bytes};
use crate::OpKind::{self, Flush, Read, Trim, Write};
use crate::{RequestSource, SourceError};

fn spec() -> TraceSpec {
    TraceSpec::new("recorded")
}

fn with_columns(columns: &str) -> TraceSpec {
    TraceSpec { columns: Some(columns.parse().unwrap()), ..spec() }
}

fn read(bytes: &[u8], spec: &TraceSpec) -> Result<Vec<TraceRecord>, String> {
    let in_words = |error: SourceError| error.to_string();
    let mut reader = open_trace_bytes(bytes.to_vec(), spec).map_err(in_words)?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().map_err(in_words)? {
        records.push(record);
    }
    Ok(records)
}

/// Returns time in µs, device, first byte, length and kind of each request.
fn brief(text: &str, spec: &TraceSpec) -> Vec<(u64, u32, u64, u64, OpKind)> {
    let records = read(text.as_bytes(), spec).unwrap();
    records.iter().map(|r| (r.time_ns / 1000, r.device, r.offset_bytes, r.length_bytes, r.kind)).collect()
}

fn refusal(text: &str, spec: &TraceSpec) -> String {
    read(text.as_bytes(), spec).unwrap_err()
}

fn format_of(text: &str) -> Format {
    open_trace_bytes(text.as_bytes().to_vec(), &spec()).unwrap().format_properties().format
}

fn info(text: &str) -> TraceInfo {
    trace_info_of_bytes(text.as_bytes().to_vec(), &spec()).unwrap()
}

/// Returns the responses in µs.
fn responses(text: &str, spec: &TraceSpec) -> Vec<Option<u64>> {
    read(text.as_bytes(), spec).unwrap().iter().map(|record| record.response_ns.map(|ns| ns.get() / 1000)).collect()
}

#[test]
fn systor_with_and_without_its_header() {
    let lines = "1456095145.001505000,0.000580000,W,4,8192,4096\n1456095145.006334000,0.000704000,R,4,0,512\n";
    for text in [lines.to_owned(), format!("Timestamp,Response,IOType,LUN,Offset,Size\n{lines}")] {
        let at = 1_456_095_145_000_000;
        assert_eq!(brief(&text, &spec()), [(at + 1505, 4, 8192, 4096, Write), (at + 6334, 4, 0, 512, Read)]);
        assert_eq!(format_of(&text), Format::Systor);
        assert_eq!(responses(&text, &spec()), [Some(580), Some(704)]);
    }
}

#[test]
fn headers_name_columns_in_any_order() {
    let text = "start_us;end_us;rw;lba;bytes;disk\n5;9;R;100;4096;sda\n6;8;FWS;108;512;sdb\n7;9;DS;0;1048576;sda\n";
    assert_eq!(format_of(text), Format::Columns);
    let all = [(5, 0, 51_200, 4096, Read), (6, 1, 0, 0, Flush), (6, 1, 55_296, 512, Write), (7, 0, 0, 1 << 20, Trim)];
    assert_eq!(brief(text, &spec()), all);
    assert_eq!(responses(text, &spec())[0], Some(4));
    let bytes = TraceSpec { sector_bytes: Some(1), ..spec() };
    assert_eq!(brief(text, &bytes)[0], (5, 0, 100, 4096, Read));
    let labels: Vec<String> = info(text).devices.iter().map(|device| device.label.clone()).collect();
    assert_eq!(labels, ["sda", "sdb"]);
    let named = info(text).notes.join("\n");
    assert!(named.contains("4 address (sectors)") && named.contains("2 end"), "{named}");

    let blanks = "timestamp_ms op offset size latency_us\n1.5 read 4096 512 80\n2.5 flush 0 0 900\n";
    assert_eq!(brief(blanks, &spec()), [(1500, 0, 4096, 512, Read), (2500, 0, 0, 0, Flush)]);
    assert_eq!(responses(blanks, &spec()), [Some(80), Some(900)]);
}

/// A header decides where its lines could also be those of a format without one.
#[test]
fn a_header_that_is_understood_comes_before_formats_without() {
    let text = "time_us,op,offset,size,latency_us\n7,R,0,512,80\n9,W,512,512,120\n";
    assert_eq!((format_of(text), brief(text, &spec())[1]), (Format::Columns, (9, 0, 512, 512, Write)));
    let msr = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n128166372003061629,usr,0,Read,4096,512,41286\n";
    assert_eq!((format_of(msr), responses(msr, &spec())), (Format::Msr, vec![Some(4128)]));
    let spc = "ASU,LBA,Size,Opcode,Timestamp\n3,100,4096,R,0.5\n";
    assert_eq!(brief(spc, &spec()), [(500_000, 3, 51_200, 4096, Read)]);
}

#[test]
fn the_user_names_columns() {
    let text = "7 5000 0 80 8\n8 7000 1 96 16\n";
    let named = with_columns("-,time:us,op:0=read,address:512,length:512");
    assert_eq!(brief(text, &named), [(5000, 0, 40_960, 4096, Read), (7000, 0, 49_152, 8192, Write)]);
    let hexadecimal = with_columns("time:s,op:0=write,address,length,device,response:ms,flush");
    let text = "0.5,1,0x1000,0x200,3,1.25,no\n0.75,0,8192,512,3,2,yes\n";
    assert_eq!(brief(text, &hexadecimal), [(500_000, 3, 4096, 512, Read), (750_000, 3, 0, 0, Flush)]);
    assert_eq!(responses(text, &hexadecimal), [Some(1250), Some(2000)]);
    let by_header = with_columns("time=when:ms,address=where:512,length=how much,op=what");
    assert_eq!(brief("What,Where,When,How much\nW,2,9,512\n", &by_header), [(9000, 0, 1024, 512, Write)]);
}

#[test]
fn lists_of_columns_are_refused_with_what_is_allowed() {
    let refused = |text: &str| text.parse::<super::TraceColumns>().unwrap_err();
    assert!(refused("time,address,size").contains("column \"size\" is not known; allowed are time, end, op, address, length"));
    assert!(refused("time,address").contains("length is missing"));
    assert!(refused("time,address,length,time").contains("time is named twice"));
    assert!(refused("time:h,address,length").contains("allowed are ns, 100ns, us, ms, s"));
    assert!(refused("op:1,address,length").contains("op:0=read or op:0=write"));
    assert!(refused("time=t,address,length").contains("either all items"));
    assert!(refused("address:0,length").contains("from 1 to 1073741824"));
    let missing = refusal("a,b,c\n1,2,3\n", &with_columns("time=t,address=b,length=c"));
    assert!(missing.contains("no column \"t\" in the header; it has a, b, c"), "{missing}");
    let both = TraceSpec { format: Some(Format::Spc), ..with_columns("time,address,length") };
    assert!(refusal("1,2,3\n", &both).contains("not spc; leave one out"));
    let numbers = refusal("time,op,offset,size\n1,0,0,512\n2,1,0,512\n", &spec());
    assert!(numbers.contains("column 2 holds 0 and 1") && numbers.contains("op:0=read"), "{numbers}");
    let bytes = TraceSpec { sector_bytes: Some(512), ..with_columns("time,address:8,length:8") };
    assert!(refusal("1,2,3\n", &bytes).contains("sector_bytes has no meaning"));
}

#[test]
fn thesios_takes_what_the_client_asked_for() {
    let text = "filename,file_offset,application,c_time,op_type,request_io_size_bytes,disk_io_size_bytes,start_time,simulated_latency\n\
                ab,4096,x,1,READ,8192,65536,1705276800.25,0.002\ncd,0,x,1,WRITE,512,512,1705276800.5,0.001\n";
    let at = 1_705_276_800_000_000;
    assert_eq!(format_of(text), Format::Thesios);
    assert_eq!(brief(text, &spec()), [(at + 250_000, 0, 4096, 8192, Read), (at + 500_000, 1, 0, 512, Write)]);
    assert_eq!(responses(text, &spec()), [Some(2000), Some(1000)]);
}

#[test]
fn etw_has_columns_for_each_event() {
    let text = "BeginHeader\n  DiskRead, TimeStamp, Process Name ( PID), ByteOffset, IOSize, ElapsedTime, DiskNum\n  \
                DiskWrite, TimeStamp, Process Name ( PID), ByteOffset, IOSize, ElapsedTime, DiskNum\n  \
                DiskFlush, TimeStamp, Process Name ( PID), ElapsedTime, DiskNum\nEndHeader\n  \
                DiskRead, 5000, a.exe (12), 0x0000001000, 0x00000200, 206, 1\n  DiskReadInit, 5001, a.exe (12)\n  \
                DiskWrite, 5100, a.exe (12), 0x2000, 0x1000, 500, 2\n  DiskFlush, 7000, a.exe (12), 300, 1\n";
    assert_eq!(format_of(text), Format::Etw);
    // The write ends later than the read, but began before it.
    let expected = [(4600, 2, 8192, 4096, Write), (4794, 1, 4096, 512, Read), (6700, 1, 0, 0, Flush)];
    assert_eq!(brief(text, &spec()), expected);
    let measured = info(text).measured_response_us.unwrap();
    assert_eq!((measured.read.unwrap().max, measured.write.unwrap().max, measured.flush.unwrap().max), (206.0, 500.0, 300.0));
    let lacking = text.replace("ByteOffset, ", "");
    assert!(refusal(&lacking, &TraceSpec { format: Some(Format::Etw), ..spec() }).contains("no column ByteOffset for DiskRead"));
}

#[test]
fn biosnoop_counts_columns_from_the_right() {
    let text = "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   LAT(ms)\n\
                0.000999    Web Content    1800    nvme0n1   W 16         8192      0.25\n\
                0.004057    fio            1803    sdb       R 8          512       4.00\n\
                0.048783    ?              0                 R 0          0         2.10\n";
    assert_eq!(format_of(text), Format::Biosnoop);
    let expected = [(57, 1, 4096, 512, Read), (749, 0, 8192, 8192, Write), (46_683, 0, 0, 0, Flush)];
    assert_eq!(brief(text, &spec()), expected);
    let queued = text.replace("LAT(ms)", "QUE(ms) LAT(ms)").replace("     0.25", "  9  0.25").replace("     4.00", "  9  4.00");
    assert_eq!(brief(&queued.replace("     2.10", "  9  2.10"), &spec()), expected);
    let short = refusal("TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n0.5 fio 1 sda W 8 512 0.1\n0.6 512 0.1\n", &spec());
    assert!(short.contains("line 3") && short.contains("DISK"), "{short}");
}

const FTRACE: &str = "# tracer: nop\n\
    fio-18 [003] ..... 9203.000282: block_rq_issue: 259,0 W 16384 () 64 + 32 none,0,0 [fio]\n\
    <idle>-0 [003] d.h1. 9203.000594: block_rq_complete: 259,0 W () 64 + 32 none,0,0 [0]\n\
    jbd2/nvme0n1-412 [001] ..... 9203.001: block_rq_issue: 259,0 FF 0 () 0 + 0 none,0,0 [jbd2/nvme0n1]\n\
    my task-18 [003] ..... 9203.002: block_rq_issue: 259,0 RS 4096 (28 00 00) 8 + 8 [my task]\n\
    <idle>-0 [003] d.h1. 9203.0035: block_rq_complete: 259,0 RS (28 00 00) 8 + 8 [0]\n";

#[test]
fn ftrace_takes_what_is_issued() {
    let device = 259 << 20;
    let at = 9_203_000_000;
    let expected = [(at + 282, device, 32_768, 16_384, Write), (at + 1000, device, 0, 0, Flush), (at + 2000, device, 4096, 4096, Read)];
    assert_eq!(format_of(FTRACE), Format::Ftrace);
    assert_eq!(brief(FTRACE, &spec()), expected);
    let perf = FTRACE.replace("block_rq", "block:block_rq");
    assert_eq!(brief(&perf, &spec()), expected);
    let measured = info(FTRACE).measured_response_us.unwrap();
    assert_eq!((measured.write.unwrap().max, measured.read.unwrap().max, measured.flush), (312.0, 1500.0, None));
    let ends: String = FTRACE.lines().filter(|line| !line.contains("issue")).map(|line| format!("{line}\n")).collect();
    assert_eq!(brief(&ends, &spec())[0], (at + 594, device, 32_768, 16_384, Write));
    let queued = FTRACE.replace("block_rq_issue: 259,0 W 16384 ()", "block_bio_queue: 259,0 W");
    assert_eq!(brief(&queued, &spec()).len(), 2, "what is issued counts where it is recorded");
}

#[test]
fn many_lost_events_are_refused_and_few_are_told() {
    let lost = refusal(&format!("{FTRACE}CPU:3 [LOST 245 EVENTS]\n"), &spec());
    assert!(lost.contains("lost 245 events beside 3 requests"), "{lost}");
    let line = |i: u64| format!("fio-1 [0] ..... 5.{i:06}: block_rq_issue: 8,0 R 512 () {i} + 1 [fio]\n");
    let long: String = (0..500).map(line).chain(["CPU:0 [LOST 3 EVENTS]\n".to_owned()]).collect();
    assert!(info(&long).notes.iter().any(|note| note.contains("lost 3 events")));
    let summary = "8,0 1 1 0.000000000 697 Q W 8 + 8 [w]\nCPU0 (8,0):\n Skips: 2 forward (17 -  89.5%)\n";
    assert!(refusal(summary, &spec()).contains("lost 17 events"));
}

#[test]
fn blkparse_has_flushes_before_writes_and_alone() {
    let text = "8,0 1 1 0.000000000 697 Q WS 8 + 8 [w]\n8,0 1 2 0.000010000 697 C WS 8 + 8 [0]\n8,0 1 3 0.000020000 697 Q FWS [w]\n\
                8,0 1 4 0.000030000 697 Q FWFS 64 + 8 [w]\n8,0 1 5 0.000330000 697 C FWFS 64 + 8 [0]\n8,0 1 6 0.0005 697 C FWS 0 [0]\n";
    let expected =
        [(0, 8 << 20, 4096, 4096, Write), (20, 8 << 20, 0, 0, Flush), (30, 8 << 20, 0, 0, Flush), (30, 8 << 20, 32_768, 4096, Write)];
    assert_eq!(brief(text, &spec()), expected);
    let records = read(text.as_bytes(), &spec()).unwrap();
    assert!(records[3].fua && !records[0].fua);
    let found = info(text);
    assert_eq!((found.requests, found.flushes), (2, 2));
    let measured = found.measured_response_us.unwrap();
    assert_eq!((measured.write.unwrap().count, measured.write.unwrap().max, measured.flush.unwrap().max), (2, 300.0, 480.0));

    let ignored = TraceSpec { flushes: FlushPolicy::Ignore, ..spec() };
    assert_eq!(read(text.as_bytes(), &ignored).unwrap().len(), 2);
    let ends: String = text.lines().filter(|line| line.contains(" C ")).map(|line| format!("{line}\n")).collect();
    assert_eq!(brief(&ends, &spec()).iter().filter(|request| request.4 == Write).count(), 2);
    let late = ends + "8,0 1 9 0.000600000 697 D WS 8 + 8 [w]\n";
    assert!(brief(&late, &spec()).len() == 1, "with one D among the first lines, D stands for requests");
}

/// Flushes reach the array, without an address, and whatever happens to sizes and addresses.
#[test]
fn flushes_become_requests() {
    let text = "time,op,offset,size,disk\n1,W,4096,512,7\n2,flush,0,0,7\n3,flush,0,0,9\n";
    let mut reader = open_trace_bytes(text.as_bytes().to_vec(), &spec()).unwrap();
    let mut requests = Vec::new();
    reader.next_requests(&mut requests, 9).unwrap();
    assert_eq!(
        requests.iter().map(|r| (r.kind, r.offset_bytes, r.length_bytes)).collect::<Vec<_>>(),
        [(Write, 4096, 512), (Flush, 0, 0), (Flush, 0, 0)]
    );
}

fn blktrace_record(time_ns: u64, sector: u64, bytes: u32, action: u32, extra: &[u8]) -> Vec<u8> {
    let mut record = b"\x07tae\x01\0\0\0".to_vec();
    record.extend(time_ns.to_le_bytes());
    record.extend(sector.to_le_bytes());
    for word in [bytes, action, 697, 8 << 20, 0] {
        record.extend(word.to_le_bytes());
    }
    record.extend([0, 0]);
    record.extend((extra.len() as u16).to_le_bytes());
    record.extend(extra);
    record
}

const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const NOTE: u32 = 1 << 26;

#[test]
fn blktrace_of_several_cpus_is_merged() {
    let folder = tempfile::tempdir().unwrap();
    let cpu_0 = [
        blktrace_record(0, 0, 0, NOTE, b"fio\0"),
        blktrace_record(5_000, 8, 4096, 1 | READ, b""),
        blktrace_record(9_000, 0, 0, 1 | WRITE | FLUSH, b""),
        blktrace_record(90_000, 8, 4096, 8 | READ, b""),
    ];
    let cpu_1 = [blktrace_record(7_000, 64, 8192, 1 | WRITE | 1 << 31, b""), blktrace_record(8_000, 64, 8192, 7 | WRITE, b"")];
    let path = |cpu: u32| folder.path().join(format!("sda.blktrace.{cpu}"));
    std::fs::write(path(0), cpu_0.concat()).unwrap();
    std::fs::write(path(1), cpu_1.concat()).unwrap();
    std::fs::write(path(2), b"").unwrap();
    std::fs::write(folder.path().join("sdb.blktrace.0"), b"other").unwrap();
    assert_eq!(super::files_of_recording(&path(1)), [path(0), path(1)]);
    let mut reader = super::open_trace(&TraceSpec::new(path(1))).unwrap();
    let records: Vec<TraceRecord> = std::iter::from_fn(|| reader.next_record().unwrap()).collect();
    let brief: Vec<_> = records.iter().map(|r| (r.time_ns, r.offset_bytes, r.length_bytes, r.kind, r.fua)).collect();
    assert_eq!(brief, [(5_000, 4096, 4096, Read, false), (7_000, 32_768, 8192, Write, true), (9_000, 0, 0, Flush, false)]);
    let found = super::trace_info(&TraceSpec::new(path(0))).unwrap();
    assert_eq!(found.measured_response_us.unwrap().read.unwrap().max, 85.0);
}

#[test]
fn damaged_blktrace_records_are_refused() {
    let whole = blktrace_record(5_000, 8, 4096, 1 | READ, b"");
    let cut = [&whole[..], &whole[..30]].concat();
    assert!(read(&cut, &spec()).unwrap_err().contains("truncated"));
    let mut broken = [&whole[..], &whole[..]].concat();
    broken[48] = 9;
    assert!(read(&broken, &spec()).unwrap_err().contains("07 74 61 65"));
    let mut foreign = whole.clone();
    foreign[..4].reverse();
    assert!(read(&foreign, &spec()).unwrap_err().contains("big-endian"));
}

#[test]
fn oracle_general_is_read_from_its_records() {
    let record = |time: u32, id: u64, size: u32, next: i64| {
        [&time.to_le_bytes()[..], &id.to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()].concat()
    };
    let bytes = [record(1, 8, 4096, 2), record(1, 16, 512, -1), record(9, 8, 4096, i64::MAX)].concat();
    let records = read(&bytes, &spec()).unwrap();
    assert_eq!(records[2], TraceRecord::new(9_000_000_000, 0, 4096, 4096, Read));
    let writes = TraceSpec { assumed_direction: Some(Write), ..spec() };
    assert_eq!(read(&bytes, &writes).unwrap()[1].kind, Write);
    let text = "1,8,4096,2\n1,16,512,-2\n9,8,4096,300\n";
    assert_eq!(read(text.as_bytes(), &spec()).unwrap().len(), 3);
    assert_eq!(format_of(text), Format::Libcachesim);
    assert!(read(&bytes[..50], &spec()).unwrap_err().contains("truncated"));
}

#[test]
fn fio_logs_of_latencies_tell_begin_and_response() {
    let text = "1, 84732, 0, 4096, 8192, 0\n2, 91001, 1, 4096, 0, 0\n2, 500000, 0, 512, 512, 0\n";
    assert_eq!(format_of(text), Format::FioLat);
    assert_eq!(brief(text, &spec()), [(915, 0, 8192, 4096, Read), (1500, 0, 512, 512, Read), (1908, 0, 0, 4096, Write)]);
    let measured = info(text).measured_response_us.unwrap();
    let reads = measured.read.unwrap();
    assert_eq!(reads.count, 2);
    assert!((reads.p50 / 84.732 - 1.0).abs() < 1e-3, "{reads:?}");
    let short = refusal("1, 84732, 0, 4096\n", &TraceSpec { format: Some(Format::FioLat), ..spec() });
    assert!(short.contains("log_offset=1"), "{short}");
}

/// Formats with a column for response times keep them.
#[test]
fn conversions_hand_response_times_on() {
    let records = read(b"time_us,op,offset,size,latency_us\n0,R,0,512,80\n9,W,512,512,120\n", &spec()).unwrap();
    for format in [Format::Msr, Format::Diskmon, Format::Blkreplay] {
        let mut writer = super::write::TraceWriter::new(Vec::new(), format, &[0]).unwrap();
        records.iter().for_each(|record| writer.write(record).unwrap());
        let written = writer.finish().unwrap().0;
        let back = read(&written, &TraceSpec { format: Some(format), ..spec() }).unwrap();
        let responses: Vec<_> = back.iter().map(|record| record.response_ns.map(|ns| ns.get())).collect();
        assert_eq!(responses, [Some(80_000), Some(120_000)], "{format}");
    }
}

#[test]
fn the_first_requests_alone_are_measured() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let lines: String = (0..1000).map(|i| format!("{i},R,{},512,{}\n", 512 * i, i + 1)).collect();
    std::fs::write(file.path(), format!("time_us,op,offset,size,latency_us\n{lines}")).unwrap();
    let measured = |requests| super::measured_response_times(&TraceSpec::new(file.path()), requests).unwrap().unwrap().read.unwrap();
    assert_eq!((measured(100).count, measured(5000).count), (256, 1000), "a block is read at a time");
    assert!(measured(5000).mean == 500.5 && (measured(5000).p99 / 990.0 - 1.0).abs() < 1e-3);
    std::fs::write(file.path(), "time_us,op,offset,size\n0,R,0,512\n9,R,0,512\n").unwrap();
    assert_eq!(super::measured_response_times(&TraceSpec::new(file.path()), 9).unwrap(), None);
}

#[test]
fn a_summary_of_iostat_is_called_one() {
    let text = "Linux 6.8.0 (node) 08/06/2026 _x86_64_ (64 CPU)\n\nDevice  r/s  rkB/s  w/s  wkB/s  %util\nsda 15.00 1800.00 160.00 13440.00 80.00\n";
    assert!(refusal(text, &spec()).contains("a summary of iostat"));
}
