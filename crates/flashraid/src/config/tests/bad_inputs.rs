//! Tests of every kind of mistake, and of its message.

use super::*;

/// Name of the case, text of the file, and options.
const BAD: &[(&str, &str, &[&str])] = &[
    ("syntax", "[array]\nmembers = = 8\nlevel = \"raid0\n[ssd\n", &[]),
    ("unknown_keys", "[aray]\nmembers = 8\n[ssd]\nstart = 0.05\n[ssd.gc]\nstrat = 0.05\nfrobnicate = 1\n", &[]),
    ("wrong_types", "seed = \"one\"\n[array]\nmembers = \"8\"\nlevel = 5\n[ssd]\nsummary_page = \"true\"\ngc = 3\n", &[]),
    (
        "wrong_units",
        "[ssd.timing]\npage_read = 25\npage_program = \"200 usec\"\nblock_erase = \"fast\"\ntransfer_per_byte = \"25\"\n[array]\nstripe_unit = \"4k\"\n",
        &[],
    ),
    (
        "wrong_names",
        "[array]\nlevel = \"raid-00\"\n[ssd.gc]\nvictim = \"gredy\"\ntrigger = \"reads\"\n[coordination]\nscheme = \"locale\"\n",
        &[],
    ),
    (
        "numbers_out_of_range",
        "[array]\nmembers = 0\n[ssd.geometry]\ndies = -1\nreserved = 1.5\nblocks = 99999999999\n[ssd.gc]\nstart = \"150%\"\n",
        &[],
    ),
    (
        "wrong_variants",
        "[ssd.gc]\nvictim = { policy = \"d-choice\", d = 3 }\n[workload]\narrivals = { process = \"poison\", mean_gap = \"3ms\" }\n",
        &[],
    ),
    ("variant_without_tag", "[ssd.gc]\nvictim = { d = 3 }\n[workload]\nkind = \"synthetic\"\nsize = { mean = \"4KiB\" }\n", &[]),
    (
        "variant_with_wrong_keys",
        "[ssd.gc]\nvictim = { policy = \"d-choices\", e = 3 }\n[workload]\nsize = { distribution = \"exponential\", mean = 32, garin = \"page\" }\n",
        &[],
    ),
    ("unknown_presets", "[ssd]\npreset = \"ggc2015\"\n[workload]\npreset = \"hpc-x\"\n[array]\npreset = \"zzz\"\n", &[]),
    ("nothing_reserved", "[ssd.geometry]\nreserved = 0\n", &[]),
    ("little_reserved", "[ssd.geometry]\nreserved = \"1%\"\nblocks = 256\n[ssd.gc]\nseparate_open_block = true\n", &[]),
    ("everything_reserved", "[ssd.geometry]\nreserved = 1.0\n", &[]),
    ("start_of_no_block", "[ssd.geometry]\nblocks = 16\n", &[]),
    ("start_beyond_the_reserve", "[ssd.gc]\nstart = 0.15\n", &[]),
    ("stop_before_start", "[ssd.gc]\nstart = \"30 blocks\"\nstop = \"30 blocks\"\n", &[]),
    ("stop_beyond_the_reserve", "[ssd.gc]\nstop = \"start+100\"\n", &[]),
    ("stop_above_nothing", "[ssd.gc]\nstop = \"start+0\"\nstart = \"many blocks\"\n", &[]),
    ("stripe_unit_no_multiple", "[array]\nstripe_unit = \"6KiB\"\n", &[]),
    ("members_and_levels", "[array]\nlevel = \"raid10\"\nmembers = 7\n", &[]),
    ("single_with_members", "[array]\nlevel = \"single\"\nmembers = 2\n", &[]),
    ("too_few_for_parity", "[array]\nlevel = \"raid6\"\nmembers = 3\n", &[]),
    (
        "failures",
        "[array]\nlevel = \"raid5\"\nmembers = 128\n[array.failure]\nmember = 3\nat = \"1s\"\n[array.rebuild]\nrate = \"1B/s\"\ndelay = \"2h\"\n",
        &[],
    ),
    (
        "windows_of_nvme",
        "[coordination]\nscheme = \"windows\"\nprotocol = \"nvm\"\ndtwin_reads_typical = -1\ndtwin_time_maximum = 300\nndwin_minimum_low = \"1ms\"\n",
        &[],
    ),
    (
        "windows_of_nvme_that_contradict",
        "[coordination]\nscheme = \"windows\"\nprotocol = \"nvme\"\nwindow = \"100ms\"\nbuffer = \"20ms\"\ndtwin_writes_typical = 100\ndtwin_writes_threshold = 101\ndtwin_reads_threshold = 1\ndtwin_time_maximum = \"2h\"\nndwin_time_minimum_high = \"2h\"\nndwin_time_minimum_low = \"20ms\"\n",
        &[],
    ),
    ("controller", "[array.controller]\noutstanding = 0\nbandwidth = \"1150\"\nqueue = 3\n", &[]),
    ("controller_of_no_bandwidth", "[array.controller]\nbandwidth = \"4KB/s\"\n", &[]),
    ("processor", "[array.controller.processor]\ncores = 0\nrequest = \"2s\"\nshared = 3\nlock = \"none\"\n", &[]),
    (
        "processor_of_stripes_behind_a_cache",
        "[array.controller.processor]\ncores = 2_000\nrequest = \"2s\"\nparity_page = \"1us\"\n[cache]\npolicy = \"lawc\"\n",
        &[],
    ),
    ("failure_beyond_the_array", "[array]\nlevel = \"raid5\"\n[array.failure]\nmember = 9\nat = \"1s\"\n", &[]),
    (
        "failures_of_several_members",
        "[array]\nlevel = \"raid6\"\nmembers = 127\n[[array.failure]]\nmember = 3\nat = \"1s\"\n[[array.failure]]\nmember = 3\nat = \"2s\"\n[[array.failure]]\nmember = 200\nat = \"2s\"\n[array.rebuild]\nspares = 2\n",
        &[],
    ),
    ("failures_of_nobody", "[array]\nlevel = \"raid6\"\nfailure = []\nrebuild = { spares = 0 }\n", &[]),
    (
        "failures_with_mistakes",
        "array.level = \"raid6\"\n[[array.failure]]\nmember = 3\nat = 1\n[[array.failure]]\nmembr = 3\nat = \"2s\"\n",
        &[],
    ),
    (
        "slow_members",
        "[[array.slow]]\nmember = 8\nfactor = 0.5\nadd = \"2h\"\n[[array.slow]]\nmember = 1\n[[array.slow]]\nmember = 1\nfrom = \"2s\"\nuntil = \"1s\"\nstall = \"2ms\"\nevery = \"2ms\"\nshare = 0.5\n[[array.slow]]\nmember = 2\nstall = \"1ms\"\nshare = 0\n[[array.slow]]\nmember = 3\nevery = \"1ms\"\n[[array.slow]]\nmember = 4\nstall = \"0s\"\nevery = \"1ms\"\n",
        &[],
    ),
    ("slow_members_with_mistakes", "[array.slow]\nmember = -1\nfrom = 1\nfaktor = 10\n", &[]),
    ("failure_without_redundancy", "[array.failure]\nmember = 0\nat = \"1s\"\n", &[]),
    (
        "failure_options",
        "[array]\nlevel = \"raid5\"\nfailure = { member = -1 }\nrebuild = { rate = 0, in_flight = 0, spare = \"cold\" }\n",
        &[],
    ),
    ("cache_thresholds", "[cache]\npolicy = \"wow\"\nlow = 0.9\nhigh = 0.8\nin_flight = 0\nnvm_read = \"2h\"\nsise = \"1MiB\"\n", &[]),
    ("cache_too_small", "[cache]\npolicy = \"iwc\"\nsize = \"16KiB\"\n", &[]),
    ("cache_without_first_level", "[cache]\npolicy = \"lawc\"\nsize = \"64KiB\"\nfirst_level_fraction = 0.01\n", &[]),
    ("cache_policy", "[cache]\npolicy = \"law\"\n", &[]),
    ("too_many_pages", "[ssd.geometry]\ndies = 4096\nblocks = 16384\n", &[]),
    ("page_size", "[ssd.geometry]\npage_size = 1000\n", &[]),
    ("channels", "[ssd]\ntransfer = \"channel\"\n", &[]),
    ("channels_of_more_than_all", "[ssd]\ntransfer = \"channel\"\nchannel.dies_per_channel = 65\n", &[]),
    ("links", "[ssd]\nlink = \"300MB\"\n", &[]),
    ("link_tables", "[ssd]\nlink = { rate = \"3GB/s\", duplex = \"triple\" }\n", &[]),
    ("blocked_planes", "[ssd.gc]\npool = \"die\"\nblocking = \"plane\"\n", &[]),
    (
        "procedure_and_what_contradicts_it",
        "[ssd]\npreset = \"lawc2017\"\n[ssd.gc]\nprocedure = \"reference-no-copy-back\"\npool = \"plane\"\nblocking = \"plane\"\ncopy_back = true\nvictim = \"fifo\"\nseparate_open_block = true\npreemption = \"semi\"\npipeline = true\n",
        &[],
    ),
    ("procedure_with_a_start_of_one", "[ssd]\npreset = \"lawc2017\"\n[ssd.gc]\nstart = \"1 block\"\n", &[]),
    ("summary_pages", "[ssd]\nsummary_page = \"spred\"\n", &[]),
    ("preemption_by_name", "[ssd.gc]\npreemption = \"full\"\n", &[]),
    ("preemption_options", "[ssd.gc]\npreemption = \"semi\"\nreorder = true\nsuspend_ns = 7\nidle = \"0ms\"\n", &[]),
    (
        "coordination_options",
        "[coordination]\nscheme = \"reactive-selective\"\nt_soft = \"3 blocks\"\ncheck_interval = \"10ns\"\ndelay = \"2h\"\nggc_aware = [0, 0, 8]\n[ssd.gc]\nidle = \"1ms\"\n",
        &[],
    ),
    ("trace_keys_of_a_generator", "[workload]\npreset = \"hpc-w\"\nformat = \"spc\"\nskip_bad_lines = true\n", &[]),
    ("generator_keys_of_a_trace", "[workload]\npath = \"x.spc\"\nread_fraction = 0.3\n", &[]),
    ("trace_without_file", "[workload]\nkind = \"trace\"\n", &[]),
    ("mix_without_streams", "[workload]\nkind = \"mix\"\n", &[]),
    ("empty_mix", "[workload]\nstreams = []\n", &[]),
    (
        "mistakes_in_streams",
        "[[workload.streams]]\npreset = \"hpc-w\"\n[[workload.streams]]\npreset = \"financal\"\nrequests = 3\nsizes = 1\n",
        &[],
    ),
    ("address_keys", "[workload.address]\npattern = \"uniform\"\nexponent = 0.9\n", &[]),
    ("workload_beyond_the_array", "[workload]\nsize = \"1TiB\"\n[workload.address]\nfootprint = \"100TiB\"\n", &[]),
    ("run_of_nothing", "[workload]\nrequests = 0\nduration = \"0s\"\n", &[]),
    ("report", "[report]\nbandwidth_interval = \"0s\"\nskip_requests = 20000\ntimeline = { from = \"2s\", to = \"1s\" }\n", &[]),
    ("dates_and_infinities", "seed = 2024-01-01\n[ssd.warm_up]\noverwrites = inf\n", &[]),
    (
        "options",
        "",
        &["array.level=raid7", "ssd.gc.start=banana", "sede=3", "array..members=8", "ssd.gc.victim={policy=\"fifo\"", "inherits=x"],
    ),
    ("inherits_nothing", "inherits = \"no/such/file.toml\"\n", &[]),
    ("inherits_a_number", "inherits = 3\n", &[]),
    ("tables_for_values", "ssd = 3\nworkload = \"hpc-w\"\narray = []\n", &[]),
];

#[test]
fn every_mistake_is_explained() {
    for (name, text, sets) in BAD {
        let problems = read_with(text, sets).expect_err(name);
        assert!(!problems.list.is_empty(), "{name}");
        let options: String = sets.iter().map(|set| format!("--set {set}\n")).collect();
        insta::assert_snapshot!(*name, format!("{text}{options}---\n{problems}\n"));
    }
}

#[test]
fn inheriting_in_a_circle_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.toml"), "inherits = \"b.toml\"").unwrap();
    std::fs::write(path("b.toml"), "inherits = \"a.toml\"").unwrap();
    let problems = load_scenario(&path("a.toml"), &[], None).unwrap_err();
    assert_eq!(problems.list.len(), 1, "{problems}");
    assert!(problems.list[0].message.contains("goes in a circle"), "{problems}");
}

#[test]
fn files_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    assert!(load_scenario(&folder.path().join("none.toml"), &[], None).unwrap_err().to_string().contains("can't be read"));
    let binary = folder.path().join("binary.toml");
    std::fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
    assert!(load_scenario(&binary, &[], None).unwrap_err().to_string().contains("not a text file"));
}

#[test]
fn problems_know_their_places() {
    let problems = read("[array]\nmembers = 8\n  stripe_unit = \"6KiB\"\n").unwrap_err();
    let problem = &problems.list[0];
    assert_eq!(problem.key, "array.stripe_unit");
    assert_eq!(problems.file_line_column(problem).as_deref(), Some("test.toml:3:17"));
    let place = problem.place.as_ref().unwrap();
    assert_eq!(&problems.sources[place.source_index].text[place.span.clone()], "\"6KiB\"");
}

#[test]
fn members_fail_once_and_leave_room_for_their_spares() {
    let failure = |member: u32| format!("[[array.failure]]\nmember = {member}\nat = \"1s\"\n");
    let failures = [failure(3), failure(3), failure(127)].concat();
    let problems = read(&format!("[array]\nlevel = \"raid6\"\nmembers = 127\n{failures}[array.rebuild]\nspares = 2\n")).unwrap_err();
    let keys: Vec<&str> = problems.list.iter().map(|problem| problem.key.as_str()).collect();
    assert_eq!(keys, ["array.members", "array.failure[1].member", "array.failure[2].member"], "{problems}");
    assert!(problems.list[0].message.contains("with 2 spares to rebuild on, 126 are the most"), "{problems}");
    assert!(problems.list[1].message.contains("which fails by `array.failure[0]`, too"), "{problems}");
}
