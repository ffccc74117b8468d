use super::super::{JobFileSurroundings, import_fio_or_mqsim, import_workload};

fn toml(text: &str) -> String {
    import_fio_or_mqsim(text, None).unwrap_or_else(|error| panic!("{text}: {error}")).toml
}

fn reason(text: &str) -> String {
    import_fio_or_mqsim(text, None).expect_err(text).to_string()
}

#[test]
fn a_job_is_a_closed_loop_unless_it_has_a_rate() {
    let text = "; a comment\n[global]\nioengine=libaio\niodepth=32\ndirect=1\nbs=4k\n[mixed]\nrw=randrw\nrwmixread=70\nnumjobs=2\nsize=1g\nruntime=60\ntime_based\n";
    let imported = import_fio_or_mqsim(text, None).unwrap();
    assert!(
        imported.toml.ends_with(
            "[workload]\nkind = \"synthetic\"\nread_fraction = \"70%\"\nsize = 4096\nsequential_fraction = 0.0\n\
             arrivals = { process = \"closed\", depth = 64 }\naddress = { footprint = \"at most 2147483648B\" }\nduration = \"60s\"\n"
        ),
        "{}",
        imported.toml
    );
    assert!(imported.notes.last().unwrap().ends_with("depend on it: direct"), "{:?}", imported.notes);
}

#[test]
fn jobs_with_rates_are_a_mix() {
    let text = "[global]\nrw=randread\nrate_iops=500\nsize=64m\nnorandommap\n[a]\nbssplit=4k/60:64k/40\n[b]\nrw=write\nbs=8k,16k\nfilename=/dev/x\n";
    let imported = import_fio_or_mqsim(text, None).unwrap();
    assert!(imported.toml.contains("kind = \"mix\"") && imported.toml.matches("[[workload.streams]]").count() == 2);
    assert!(imported.toml.contains("sizes = [[4096, 60], [65536, 40]]") && imported.toml.contains("size = 16384"), "{}", imported.toml);
    assert!(imported.toml.contains("gap = \"500/s\"") && imported.toml.contains("limit = 4096\n"), "{}", imported.toml);
    assert_eq!(import_fio_or_mqsim(text, Some("a")).unwrap().toml.matches("sizes").count(), 1);
}

/// fio's rates hold for each direction: the mix does not decide how many reads there are.
#[test]
fn rates_of_reads_and_writes_are_two_streams() {
    let text = toml("[a]\nrw=randrw\nrwmixread=90\nbs=4k,8k\nrate_iops=1000,500\nruntime=10\n");
    assert!(text.contains("gap = \"1000/s\"") && text.contains("gap = \"500/s\"") && text.contains("limit = \"10s\""), "{text}");
    let text = toml("[a]\nrw=rw\nrate_iops=500\nrate_process=poisson\nsize=8m\n");
    assert_eq!((text.matches("mean_gap = \"500/s\"").count(), text.matches("limit = 1024\n").count()), (2, 2), "{text}");
    assert!(toml("[a]\nrw=write\nbs=64k\nrate=1m\nsize=8m\n").contains("gap = \"16/s\""));
    assert!(toml("[a]\nrw=write\nrate_iops=,100\nsize=8m\n").contains("gap = \"100/s\""));
    assert!(reason("[a]\nrw=rw\nrate_iops=,500\n").contains("line 3: rate_iops=,500: reads have no rate"));
}

#[test]
fn a_job_ends_as_with_fio() {
    let ends = |options: &str| {
        let text = toml(&format!("[a]\nrw=read\n{options}"));
        text.lines().filter(|line| line.starts_with(['l', 'd'])).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ends("size=1m"), "limit = 256");
    assert_eq!(ends("size=1m\nloops=3"), "limit = 768");
    assert_eq!(ends("size=1m\nnumber_ios=100\nloops=3"), "limit = 300");
    assert_eq!(ends("size=1m\nnumber_ios=1000"), "limit = 256");
    assert_eq!(ends("size=1m\nnumber_ios=1000\nio_size=64m"), "limit = 1000");
    assert_eq!(ends("size=1m\nruntime=2m"), "limit = 256 duration = \"120s\"");
    assert_eq!(ends("size=1m\nruntime=500ms\nramp_time=1s\ntime_based"), "duration = \"1500000us\"");
    assert_eq!(ends("size=1m\nfilesize=9m\nnumjobs=2"), "limit = 512");
    assert_eq!(ends("size=50%"), "");
    assert_eq!(ends("rw=randrw\nbs=4k,8k\nsize=1m"), "");
    assert!(toml("[a]\nrw=randrw\nrwmixread=70\nbssplit=4k/60:64k/40,8k/100\nnorandommap\nsize=1g\n").contains("limit = 47662\n"));
}

#[test]
fn comments_variables_and_included_files_are_read() {
    assert!(toml("[a] ; one\nrw=randread # any\nbs=,8k ;x\nsize=4m\t# span\n").contains("size = 4096\n"));
    let surroundings = JobFileSurroundings {
        variable: &|name| (name == "BLOCK").then(|| "16k".to_owned()),
        include: &|file| {
            if file == "more.fio" { Ok("; x\nrw=write\nsize=1g\nodd=1\n".to_owned()) } else { Err(std::io::ErrorKind::NotFound.into()) }
        },
    };
    let read = |text: &str| import_workload(text, None, &surroundings);
    assert!(read("[a]\nbs=${BLOCK}\nrw=read\nsize=1m\n").unwrap().toml.contains("size = 16384\n"));
    assert!(read("[a]\nbs=${BLOCKS}\n").unwrap_err().to_string().contains("line 2: ${BLOCKS}: the environment variable BLOCKS is not set"));
    assert!(read("[a]\ninclude more.fio\n").unwrap_err().to_string().contains("line 2: in more.fio, line 4: odd: "));
    assert!(read("[a]\ninclude none.fio\n").unwrap_err().to_string().contains("include none.fio: can't be read"));
    assert!(reason("[a]\nsize=$ncpus\n").contains("$ncpus depends on the machine"));
}

#[test]
fn jobs_that_wait_for_each_other_are_chosen_by_part() {
    let text = "[global]\nsize=1g\nstonewall\n[fill]\nrw=write\nbs=128k\n[read]\nrw=read\n";
    let message = reason(text);
    assert!(message.contains("stonewall: the jobs begin one after another") && message.contains("fill, then read"), "{message}");
    assert!(import_fio_or_mqsim(text, Some("fill")).unwrap().toml.contains("limit = 8192\n"));
    assert!(reason("[a]\nrw=read\n[b]\nrw=read\nstartdelay=5\n").contains("startdelay: the jobs begin one after another"));
}

#[test]
fn engines_that_are_not_known_to_wait_keep_their_depth() {
    for (engine, depth) in [("rbd", 8), ("external:/a/b.so", 8), ("io_uring", 8), ("psync", 1), ("mmap", 1)] {
        assert!(toml(&format!("[a]\nioengine={engine}\niodepth=8\nsize=1m\n")).contains(&format!("depth = {depth} ")), "{engine}");
    }
    // fio waits for all requests before it pauses.
    assert!(toml("[a]\nioengine=libaio\niodepth=8\nthinktime=5\nsize=1m\n").contains("depth = 1, think = \"5us\""));
}

#[test]
fn addresses_are_multiples_of_the_size() {
    assert!(toml("[a]\nrw=randread\nbs=64k\nsize=1m\n").contains("align = \"65536B\""));
    assert!(toml("[a]\nrw=randread\nrandom_distribution=zipf:1.1/20\nsize=1m\n").contains("exponent = 1.1,"));
    assert!(toml("[a]\nrw=randread:4\nsize=1m\n").contains("sequential_fraction = \"75%\""));
}

#[test]
fn what_cannot_be_expressed_is_refused() {
    for (options, expected) in [
        ("rw=randtrim", "rw=randtrim"),
        ("rw=read:-8k", "line 2: rw=read:-8k: addresses that go backwards"),
        ("rw=read:8k", "leave gaps"),
        ("bs=x", "line 2: bs=x"),
        ("size=1.5g", "size=1.5g: a size"),
        ("rw=write\nverify=crc32c", "verify=crc32c: what was written is read back"),
        ("zonemode=strided", "zonemode=strided: addresses follow zones"),
        ("ioengine=net", "ioengine=net"),
        ("random_distribution=pareto:0.9", "random_distribution=pareto"),
        ("rw=randread\nbsrange=4k-64k\nsize=1g", "bsrange=4k-64k: sizes that differ"),
        ("latency_target=5ms", "latency_target"),
        ("odd=1", "line 2: odd: whether this option"),
        ("version = \"0.1\"", "values of fio have no quotes"),
        ("description=x", "nothing in it says which requests"),
        ("thinktime_blocks=4", "thinktime_blocks=4"),
        ("kb_base=1000", "kb_base=1000"),
    ] {
        let message = reason(&format!("[a]\n{options}\n"));
        assert!(message.contains(expected), "{options}: {message}");
    }
    assert!(reason("[a]\nrw=read\n[b]\nrw=write\n").contains("--part"));
    assert!(reason("[[a]]\nrw=read\n").contains("TOML"));
    assert!(reason("#!/bin/sh\nfio --name=a --rw=read\n").contains("line 1: this is a shell script"));
    assert!(import_fio_or_mqsim("[a]\n", Some("z")).unwrap_err().to_string().contains("there are a"));
    // Writes are flushed after so many of them, or are safe when they are done.
    assert!(toml("[a]\nrw=write\nfsync=4\nsize=1m\n").contains("\nflush_every = 4\n"));
    assert!(toml("[a]\nrw=randrw\nfdatasync=1\nfsync=0\nsize=1m\n").contains("\nflush_every = 1\n"));
    assert!(toml("[a]\nrw=write\nsync=dsync\nsize=1m\n").contains("\nfua = true\n"));
    let rated = toml("[a]\nrw=randrw\nfsync=2\nrate_iops=10,20\nsize=1m\n");
    assert_eq!(rated.matches("flush_every = 2").count(), 1, "{rated}");
    // Bytes decide, and small requests at the end of a sequence are told.
    let split = toml("[a]\nrw=write\nbssplit=512/50:1m/50\nsize=1g\n");
    assert!(split.contains("\nlimit = 2047\n") && split.contains("1023 more small requests"), "{split}");
    // Reads have nothing to flush or to read back.
    assert!(toml("[a]\nrw=read\nsync=1\nfsync=1\nverify=md5\nsize=1m\n").contains("limit = 256"));
}
