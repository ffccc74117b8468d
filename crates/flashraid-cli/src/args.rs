//! Definition of the command line: commands, options and help texts.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use flashraid::advise::goal::{Circumstance, Goal};
use flashraid::advise::{Need, Preference};
use flashraid::study::{Axis, Setting};
use flashraid_experiments::pts::Test;
use flashraid_fit::Parameter;
use flashraid_fit::datasheet::{Flash, parse_quoted_byte_rate, parse_quoted_request_rate};
use flashraid_fit::sets::Set;
use flashraid_report::figures;
use flashraid_workload::trace::write::WRITABLE_FORMATS;
use flashraid_workload::trace::{DevicePlacement, DiscardPolicy, FlushPolicy, Format, TimeUnit, TraceColumns, TraceSortMethod, TraceSpec};
use flashraid_workload::units::{ByteRate, Duration, Size};

use crate::until::UntilArgs;

/// Default folder for results.
pub const DEFAULT_OUT: &str = "flashraid-out";

const RUN_HELP: &str = "\
Examples:
  flashraid run array.toml
  flashraid run array.toml --set ssd.gc.victim=fifo --out results
  flashraid run array.toml --seeds 5
  flashraid run trace.csv.zst --ssd pgc2011 --level raid5 --members 5
  zcat trace.gz | flashraid run - --format spc

A trace runs on ggc2014 SSDs unless --ssd or --set change that. Addresses beyond the array are
taken modulo its size (workload.address_fit). Times that go backwards a little are sorted
(workload.reorder). A trace from a pipe can be read only once, so its devices share the same
addresses (workload.devices).

Exit status:
  0    success
  1    the simulation failed, or its results could not be written
  2    bad input
  130  stopped by Ctrl-C; results so far are reported and marked as partial";

const DEMO_HELP: &str = "\
Examples:
  flashraid demo
  flashraid demo --quick --out quick

Exit status:
  0    success
  1    a simulation failed, or its results could not be written
  2    bad input
  130  stopped by Ctrl-C";

const MERGE_HELP: &str = "\
Example:
  flashraid compare array.toml --vary array.members=2..8 --shard 1/2 --out one
  flashraid compare array.toml --vary array.members=2..8 --shard 2/2 --out two
  flashraid merge one two --out all";

const CHECK_HELP: &str = "\
Examples:
  flashraid check array.toml
  flashraid check array.toml --set array.members=16 --json
  flashraid check trace.csv.zst --ssd pgc2011";

const TRACE_INFO_HELP: &str = "\
Examples:
  flashraid trace info trace.csv.zst
  flashraid trace info trace.txt --format mqsim --json
  zcat trace.gz | flashraid trace info - --format spc";

const TRACE_CONVERT_HELP: &str = "\
Examples:
  flashraid trace convert trace.csv.zst trace.spc --to spc
  flashraid trace convert notime.txt trace.spc --to spc --rate 500
  flashraid trace convert trace.spc - --to msr | gzip > trace.gz";

const PRESET_HELP: &str = "\
Examples:
  flashraid preset list
  flashraid preset show pgc2011 > drive.toml     a configuration that can be run";

const BENCH_HELP: &str = "\
Examples:
  flashraid bench
  flashraid bench --only nvme --only device
  flashraid bench --quick --json";

const SCHEMA_HELP: &str = "\
Examples:
  flashraid schema > flashraid.schema.json
  flashraid schema --report > report.schema.json
  flashraid schema --markdown
  flashraid schema --report --markdown";

const INIT_HELP: &str = "\
Examples:
  flashraid init
  flashraid init mine.toml
  flashraid init - | less";

const EXPLAIN_HELP: &str = "\
Examples:
  flashraid explain ssd.gc.victim            a key of the configuration
  flashraid explain response_us.all.p99      a figure of a report
  flashraid explain WA                       a column of a comparison

The end of a name is enough. Pages show the same texts beside their figures.

Exit status:
  0    success
  2    there is no such name";

const COMPLETIONS_HELP: &str = "\
Examples:
  flashraid completions bash > ~/.local/share/bash-completion/completions/flashraid
  flashraid completions zsh > ~/.zfunc/_flashraid
  flashraid completions fish > ~/.config/fish/completions/flashraid.fish";

const MAN_HELP: &str = "\
Examples:
  flashraid man | man -l -
  flashraid man --out ~/.local/share/man/man1";

const START: &str = "\
Examples:
  flashraid demo                              compare schemes on a built-in array
  flashraid init array.toml                   write a first configuration
  flashraid check array.toml                  explain it without running it
  flashraid run array.toml --out results      run one simulation and draw charts
  flashraid run trace.csv.zst --members 4     replay a trace on four SSDs
  flashraid compare array.toml --vary array.members=2..8

Exit status:
  0    success
  1    the simulation failed, or its results could not be written
  2    bad input
  130  stopped by Ctrl-C; results so far are reported or kept, and marked as partial";

/// Simulates garbage collection in arrays of SSDs.
#[derive(Debug, Parser)]
#[command(name = "flashraid", version, after_help = START, max_term_width = 100)]
pub struct Arguments {
    /// The command to run
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare the schemes of garbage collection on a built-in array, as a first example
    ///
    /// Simulates a RAID-0 of 8 SSDs under the workload hpc-w, in two cases. As in the paper, the workload first uses a small part of the
    /// array, and then all of it. Prints tables, and writes flashraid-out/report.html and flashraid-out/report.json.
    #[command(after_help = DEMO_HELP)]
    Demo(DemoArgs),
    /// Write a commented configuration to begin with
    #[command(after_help = INIT_HELP)]
    Init(InitArgs),
    /// Run one simulation and report it
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Run every combination of varied keys and compare the results
    #[command(after_help = COMPARE_HELP)]
    Compare(CompareArgs),
    /// Advise which array to take for a load: drive, number, level, chunk and spare, with reasons and doubts
    #[command(after_help = ADVISE_HELP)]
    Advise(AdviseArgs),
    /// Combine earlier results (runs, comparisons, reproductions) into one page
    #[command(after_help = REPORT_HELP)]
    Report(ReportArgs),
    /// Combine the parts of a comparison that was run with --shard
    #[command(after_help = MERGE_HELP)]
    Merge(MergeArgs),
    /// Explain a configuration without running it
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Show statistics of a trace, or convert it to another format
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Convert a workload of fio or MQSim, or a device of MQSim, to a configuration
    #[command(after_help = IMPORT_HELP)]
    Import(ImportArgs),
    /// Write a drive and its workload for another simulator
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArgs),
    /// Measure a drive with fio. Overwrites the file or block device, unless --gentle is given
    #[command(after_help = PROBE_HELP)]
    Probe(ProbeArgs),
    /// Make a device file from measurements of fio, or from a data sheet
    #[command(after_help = FIT_HELP)]
    Fit(FitArgs),
    /// Show the devices, arrays and workloads that come with the program
    #[command(after_help = PRESET_HELP)]
    Preset {
        /// The action to perform [default: list]
        #[command(subcommand)]
        command: Option<PresetCommand>,
    },
    /// Test a simulated drive for its steady state, by the specification of SNIA (PTS)
    #[command(after_help = PTS_HELP)]
    Pts(PtsArgs),
    /// Simulate the papers' figures and tables, and compare each of their claims with the results
    #[command(after_help = REPRODUCE_HELP)]
    Reproduce(ReproduceArgs),
    /// Measure the speed of the simulator on this machine
    #[command(after_help = BENCH_HELP)]
    Bench(BenchArgs),
    /// List or remove the states of SSDs that are kept after long warm-ups
    #[command(after_help = CACHE_HELP)]
    Cache {
        /// The action to perform [default: list]
        #[command(subcommand)]
        command: Option<CacheCommand>,
    },
    /// Print the JSON Schema of the configuration, or that of a report
    #[command(after_help = SCHEMA_HELP)]
    Schema {
        /// Print the schema of the document that `run --json` prints. Each `report` of `compare --json` has it, too
        #[arg(long)]
        report: bool,
        /// Print a page with tables of all keys, or of all figures of a report, instead of the schema
        #[arg(long)]
        markdown: bool,
    },
    /// Explain a key of the configuration or a figure of a report
    #[command(after_help = EXPLAIN_HELP)]
    Explain {
        /// Name of the key or figure, or the end of the name, such as gc.runs
        #[arg(value_name = "KEY|FIGURE")]
        name: String,
    },
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        /// The shell to complete commands in
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands
    #[command(after_help = MAN_HELP)]
    Man {
        /// Write flashraid.1 and a page for each command into this folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Arguments of the command `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Print every table below the summary
    #[arg(long)]
    pub tables: bool,
    /// Use smaller SSDs and fewer requests, which takes seconds and gives other figures
    #[arg(long)]
    pub quick: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Folder for the results [default: flashraid-out]. If it is not empty, DIR-2, DIR-3 and so on are tried
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it is not empty, and replace files with the same names
    #[arg(long)]
    pub force: bool,
}

/// Arguments of the command `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The new file; - stands for standard output
    #[arg(value_name = "FILE", default_value = "array.toml")]
    pub file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

const CACHE_HELP: &str = "\
Examples:
  flashraid cache
  flashraid cache clear

The program keeps the states of SSDs after long warm-ups. Later runs that begin in the same state
load it. When the limit is reached, the states that were not used for the longest time are removed.
The folder is flashraid in $XDG_CACHE_HOME or ~/.cache. The variable FLASHRAID_CACHE names another
folder, and FLASHRAID_CACHE=off keeps nothing.";

/// Commands for states that are kept after warm-ups.
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// List the states with size and age
    List {
        /// Print one JSON document instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Remove all kept states
    Clear,
}

/// Use of the machine, and progress messages. Nothing here changes a result.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct MachineArgs {
    /// Number of threads of each simulation, for warm-ups and for requests of several SSDs. All simulations together use at most one thread
    /// for each processor [default: the processors that --jobs leaves]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Do not load or keep states after warm-ups (see flashraid cache)
    #[arg(long)]
    pub no_cache: bool,
    /// Do not show progress and notes on standard error
    #[arg(short, long)]
    pub quiet: bool,
}

/// The configuration to simulate, with changes to it.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// Configuration (.toml), or trace to replay; - stands for standard input. `flashraid init` writes a first configuration
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Replace a key of the configuration, such as ssd.gc.victim=fifo. Can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// SSDs of the array, short for --set ssd.preset=PRESET
    #[arg(long, value_name = "PRESET")]
    pub ssd: Option<String>,
    /// RAID level of the array, short for --set array.level=LEVEL. The level single has one member
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<String>,
    /// Number of SSDs, short for --set array.members=N
    #[arg(long, value_name = "N")]
    pub members: Option<u32>,
    /// Read FILE as a trace of this format [default: detected from the content]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&Format::ALL))]
    pub format: Option<Format>,
}

/// Arguments of the command `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Seed of all random numbers, instead of the configuration's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run N consecutive seeds, and print means with 95 % confidence intervals. Tables and files are those of compare
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000), conflicts_with_all = ["check", "timeline"])]
    pub seeds: Option<u64>,
    /// Run the same requests again with one thing changed, to say what causes the response times. The changes are: no collection, no
    /// parity, reads alone, one request at a time. Each of these up to four runs takes as long as the first
    #[arg(long, conflicts_with = "seeds")]
    pub because: bool,
    #[command(flatten)]
    pub until: UntilArgs,
    /// Verify the whole state of every SSD at the end
    #[arg(long)]
    pub check: bool,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Print every table below the summary
    #[arg(long, conflicts_with = "json")]
    pub tables: bool,
    /// Print the results in this form: json like --json, fio+ like fio with --output-format=json+
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text, conflicts_with = "json")]
    pub output_format: OutputFormat,
    /// Write response times of reads and writes into this file, as an interval log of HdrHistogram. An interval is as long as
    /// report.bandwidth_interval
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    pub hdr: Option<PathBuf>,
    /// Write logs for fio's plotters: PREFIX_lat.log, _clat.log, _slat.log, _bw.log and _iops.log. An interval is as long as
    /// report.bandwidth_interval
    #[arg(long, value_name = "PREFIX", conflicts_with = "seeds")]
    pub fio_logs: Option<PathBuf>,
    /// Record single requests and collections in this window of simulated time, such as 1s..1300ms. With --out, they are drawn
    #[arg(long, value_name = "FROM..TO", value_parser = parse_window)]
    pub timeline: Option<Range<Duration>>,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Write results into this folder. report.json and report.html have the results, requests.parquet each request, and
    /// series.parquet and .csv each interval. Pictures (*.svg) show them, and charts.parquet and .csv have the data of the pictures. If the
    /// folder is not empty, DIR-2, DIR-3 and so on are tried
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write each request into requests.csv, too. It has seven times the bytes of requests.parquet, and takes longer than the run
    #[arg(long, requires = "out")]
    pub csv: bool,
    /// Write into the folder even if it is not empty, and replace files with the same names
    #[arg(long)]
    pub force: bool,
}

/// Forms in which results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    /// Tables for people to read
    Text,
    /// One document of JSON, as with --json
    Json,
    /// A document that tools for fio can read
    #[value(name = "fio+")]
    Fio,
}

impl RunArgs {
    /// Returns the form that the options ask for.
    pub fn form(&self) -> OutputFormat {
        if self.json { OutputFormat::Json } else { self.output_format }
    }
}

const ADVISE_HELP: &str = "\
Examples:
  flashraid advise trace.csv.zst --capacity 30TB --goal \"read p99 <= 500us\" --goal \"life >= 5y\"
  flashraid advise load.toml --capacity 30TB --bays 4..8 --drives nvme-tlc-read,nvme-tlc-mixed
  flashraid advise trace.csv.zst --capacity 30TB --space space.toml --requests 20M --out advice

Goals:
  FIGURE <= LIMIT, or FIGURE >= LIMIT, and perhaps: under failed, rebuild or slow
  figures with <=: read mean, read p50, p90, p95, p99, p99.9 (also write, or neither), waf, cost
  figures with >=: life, capacity, iops

A space is a TOML file with a table [space]. It has a key for each axis: drive, members, level,
chunk, use, or a key of the configuration in quotes. Values are a list, or a text as in --vary.
`only` has conditions such as \"level != 'raid10' or members % 2 == 0\". `needs` says what
a value needs, as in { \"read.plan=hedge\" = \"application\" }.

Answers:
  Take           one array is best
  Either         several are as good; the cheapest is named first
  Keep           the present array (--now) is as good as the best
  Not reachable  no array meets the goals; the nearest is named
  Can't tell     the runs do not decide, and what would

Exit status:
  0    an answer was given
  1    a simulation failed, or its results could not be written
  2    bad input
  130  stopped by Ctrl-C; the answer so far is printed";

/// Arguments of the command `advise`.
#[derive(Debug, Args)]
pub struct AdviseArgs {
    /// Load: a trace, a configuration (.toml), or the name of a workload from `flashraid preset list`
    #[arg(value_name = "LOAD")]
    pub load: PathBuf,
    /// Least capacity of the array, such as 60TB
    #[arg(long, value_name = "SIZE")]
    pub capacity: Size,
    /// Goal, such as "read p99 <= 500us" or "rebuild hours <= 24". Can be repeated. Without one, arrays are named that no other beats
    #[arg(long, value_name = "GOAL")]
    pub goal: Vec<Goal>,
    /// Preferences among arrays that meet the goals: cost, tail, or both in this order [default: cost,tail]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub prefer: Vec<Preference>,
    /// Drives to choose from: presets, or device files that end in .toml [default: nvme-tlc-read,nvme-tlc-mixed]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "space")]
    pub drives: Vec<String>,
    /// Number of drives: N for at most N, or MIN..MAX [default: 4..12]
    #[arg(long, value_name = "N|MIN..MAX", value_parser = parse_bays, conflicts_with = "space")]
    pub bays: Option<(u32, u32)>,
    /// The present array, as a configuration. It is compared, too, and the advice may be to keep it
    #[arg(long, value_name = "FILE")]
    pub now: Option<PathBuf>,
    /// Needs that values may have: now, application, memory, firmware, protocol [default: now,application]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub allow: Vec<Need>,
    /// Circumstances in which the chosen array is shown: healthy, failed, rebuild, slow [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub under: Vec<Circumstance>,
    /// Factor by which more requests arrive than in the load
    #[arg(long, value_name = "FACTOR", value_parser = parse_growth)]
    pub growth: Option<f64>,
    /// Space of arrays to choose from, as a TOML file
    #[arg(long, value_name = "FILE")]
    pub space: Option<PathBuf>,
    /// Prices of drives, slots and power, as a TOML file. Without it, raw capacity stands for cost
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Time that the search may take on this machine [default: 2min]
    #[arg(long, value_name = "TIME")]
    pub effort: Option<Duration>,
    /// Number of requests that the search may simulate, such as 90M. The same number gives the same answer on every machine
    #[arg(long, value_name = "REQUESTS", conflicts_with = "effort", value_parser = crate::until::parse_requests)]
    pub requests: Option<u64>,
    /// Probability with which the answer is right, from 80% to 99.9%
    #[arg(long, value_name = "P%", default_value = "95%", value_parser = parse_sure)]
    pub sure: f64,
    /// First seed of the simulations
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 62))]
    pub seed: u64,
    /// Replace a key of the load's configuration, such as workload.rate_scale=10. Can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Read LOAD as a trace of this format [default: detected from the content]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&Format::ALL))]
    pub format: Option<Format>,
    /// Number of simulations at a time, which changes no result [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Do not show progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Folder for the results: advice.toml (a configuration that can be run), advice.json and advice.html. If it is not empty, DIR-2, DIR-3
    /// and so on are tried
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it is not empty, and replace files with the same names
    #[arg(long, requires = "out")]
    pub force: bool,
}

/// Parses a number of drives, written as `N` or `MIN..MAX`.
fn parse_bays(text: &str) -> Result<(u32, u32), String> {
    let wrong = || "write N or MIN..MAX with numbers from 1 to 128, such as 8 or 4..12".to_owned();
    let (least, most) = text.split_once("..").unwrap_or(("1", text));
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| (1..=128).contains(number));
    let (least, most) = number(least).zip(number(most)).ok_or_else(wrong)?;
    if least <= most { Ok((least, most)) } else { Err(wrong()) }
}

/// Parses a factor of the load.
fn parse_growth(text: &str) -> Result<f64, String> {
    let factor = text.parse::<f64>().ok().filter(|factor| (0.01..=1000.0).contains(factor));
    factor.ok_or_else(|| "write a factor from 0.01 to 1000, such as 2".to_owned())
}

/// Parses a probability, and returns the share of wrong answers.
fn parse_sure(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|percent| percent.trim().parse::<f64>().ok());
    let percent = percent.filter(|percent| (80.0..=99.9).contains(percent));
    percent.map(|percent| 1.0 - percent / 100.0).ok_or_else(|| "write a percentage from 80% to 99.9%".to_owned())
}

const COMPARE_HELP: &str = "\
Examples:
  flashraid compare array.toml --vary coordination.scheme=local,ideal --seeds 5
  flashraid compare array.toml --vary array.members=2..8
  flashraid compare array.toml --vary workload.arrivals.mean_gap=1ms..100ms:log:5 --out gaps
  flashraid compare array.toml --vary coordination.scheme=local,reactive-inclusive --timeline 1s..1300ms
  flashraid compare array.toml --vary array.members=2..8 --seeds 20 --slurm job.sh --parts 64%16

Ranges of values, which include both ends:
  FROM..TO          every whole number
  FROM..TO:lin:N    N values with equal differences
  FROM..TO:log:N    N values with equal ratios
  FROM..TO:log2     values that double, as in 16KiB..512KiB:log2
A text that looks like a range is written in quotes: '\"2..8\"'.
Commas inside quotes, brackets or braces separate no values: --vary 'a.b=[1,2],[3]'.

Every point has the same workload and the same seeds. Each point is saved when it is done.
If a comparison is interrupted, the same command continues it.

Exit status:
  0    success
  1    a simulation failed, or its results could not be written
  2    bad input
  130  stopped by Ctrl-C; finished points are kept";

/// Arguments of the command `compare`.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("for_others").args(["slurm", "parallel"]))]
pub struct CompareArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// A key with its values, such as coordination.scheme=local,ideal or array.members=2..8. Can be repeated for all combinations
    #[arg(long, value_name = "KEY=A,B,C", required = true)]
    pub vary: Vec<Axis>,
    /// The value that all others are compared with [default: the first value of the first --vary]
    #[arg(long, value_name = "A")]
    pub baseline: Option<String>,
    /// Record single requests and collections in this window of simulated time, such as 1s..1300ms. The page and a picture show each point
    /// below its baseline, with the slowest request and the collection that it met
    #[arg(long, value_name = "FROM..TO", value_parser = parse_window)]
    pub timeline: Option<Range<Duration>>,
    #[command(flatten)]
    pub until: UntilArgs,
    /// Keep to the requests that the configuration asks for. Without this, runs in which too little was collected go on as with
    /// --until judged
    #[arg(long, conflicts_with_all = ["until", "at_most"])]
    pub exactly: bool,
    /// Sort the tables by this figure, such as response_us.all.mean, with the best value first
    #[arg(long, value_name = "FIGURE", value_parser = figures::of_key)]
    pub sort: Option<&'static figures::Figure>,
    /// First seed, instead of the configuration's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run every point with this number of consecutive seeds, and print 95 % confidence intervals
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
    /// Number of simulations at a time, which changes no result [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Run only part I of N parts, such as 1/4. `flashraid merge` combines the folders of all parts
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    pub shard: Option<(usize, usize)>,
    /// Write a script for Slurm that runs the parts as an array of jobs, and JOB-merge.sh, which combines their results. Nothing is run
    #[arg(long, value_name = "JOB.sh", conflicts_with_all = ["shard", "json", "tables", "parallel"])]
    pub slurm: Option<PathBuf>,
    /// Print the command line with which GNU parallel runs the parts. Nothing is run
    #[arg(long, conflicts_with_all = ["shard", "json", "tables"])]
    pub parallel: bool,
    /// Number of parts for --slurm and --parallel. 64%16 runs at most 16 of 64 at a time [default: one for each simulation, up to 64]
    #[arg(long, value_name = "N[%M]", value_parser = parse_parts, requires = "for_others")]
    pub parts: Option<(usize, Option<usize>)>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Print every table below the summary
    #[arg(long, conflicts_with = "json")]
    pub tables: bool,
    /// Write results into this folder. report.json and report.html have the results, and points.parquet and .csv each point. Pictures
    /// (*.svg) show them, and charts.parquet and .csv have the data of the pictures. A folder with a part of the same study is continued,
    /// and a folder with another study is refused [default: flashraid-out/compare-HASH]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it is not empty, and replace files with the same names
    #[arg(long)]
    pub force: bool,
}

const IMPORT_HELP: &str = "\
Prints a configuration with the workload or the drive of the file. All other keys have their
defaults. Settings without a counterpart are named and left out. A file is refused if such a
setting would change the requests or the drive.

Examples:
  flashraid import randrw.fio > randrw.toml && flashraid run randrw.toml
  flashraid import ssdconfig.xml --out drive.toml
  flashraid import workload.xml --part 2 --out second.toml

Exit status:
  0    success
  1    the file could not be written
  2    bad input";

/// Arguments of the command `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// A fio job file, or a workload definition or device of MQSim (workload.xml, ssdconfig.xml)
    pub file: PathBuf,
    /// Name of a job (fio) or number of a scenario (MQSim), if the file has several
    #[arg(long, value_name = "NAME|N")]
    pub part: Option<String>,
    /// Write the configuration into this file instead of printing it
    #[arg(long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

const EXPORT_HELP: &str = "\
Prints the drive in the format of the other program. Properties that the format cannot express are
listed on standard error. With --out, the workload is written, too.

Examples:
  flashraid export --to mqsim nvme-tlc-read > ssdconfig.xml
  flashraid export --to mqsim array.toml --out mqsim
  flashraid export --to femu nvme-simple > options.txt

Exit status:
  0    success
  1    the files could not be written
  2    bad input";

/// Arguments of the command `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// A preset, or a configuration (.toml), such as a drive made by `flashraid fit`
    #[arg(value_name = "PRESET|FILE.toml")]
    pub what: String,
    /// The program that will read the files
    #[arg(long, value_name = "PROGRAM")]
    pub to: Simulator,
    /// Replace a key of the configuration. Can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Write all files into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace files in the folder
    #[arg(long, requires = "out")]
    pub force: bool,
}

/// A simulator that drives are exported to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Simulator {
    /// MQSim: ssdconfig.xml and workload.xml
    Mqsim,
    /// NVMeVirt: the constants of its ssd_config.h
    Nvmevirt,
    /// FEMU's black-box mode: options for QEMU
    Femu,
}

const PROBE_HELP: &str = "\
Examples:
  flashraid probe /dev/nvme1n1 --out drive            20 jobs of 70 s, which overwrite the drive
  flashraid probe /mnt/scratch/file --seconds 10
  flashraid probe --gentle /dev/nvme0n1 --out drive   only read, for five minutes
  flashraid probe /dev/nvme1n1 --set ggc --out variability
  flashraid probe /dev/nvme1n1 --dry-run              print the jobs without running them
  flashraid probe --simulate nvme-gen5 --out known    get the same results from a simulated drive

WARNING: all data in the file or on the device are lost. Only --gentle keeps them, because it opens
the target for reading only. A target that is mounted, in use, or has a partition table, a file
system or other data is refused unless both --destroy-data and --really are given.

An interrupted measurement is continued by the same command.

Sets of jobs:
  fit  the measurements that `flashraid fit` needs
  ggc  bandwidth in each second under large random requests, as in section 3 of the paper

Exit status:
  0    success
  1    fio failed
  2    bad input
  130  stopped by Ctrl-C; finished jobs are kept";

/// Arguments of the command `probe`.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// The file or block device to measure. Its contents are overwritten unless --gentle is given
    #[arg(value_name = "FILE|DEVICE", required_unless_present = "simulate")]
    pub target: Option<PathBuf>,
    /// Only read, for at most five minutes. The drive may be mounted, in use or full of data
    #[arg(long, conflicts_with_all = ["set", "overwrites", "destroy_data", "really"])]
    pub gentle: bool,
    /// Jobs to run: fit or ggc
    #[arg(long, value_name = "NAME", default_value = "fit", value_parser = PossibleValuesParser::new(Set::WRITING.map(Set::name)).map(|name| name.parse::<Set>().expect("the name of a set")))]
    pub set: Set,
    /// Seconds of each measured job, after a ramp of a sixth of this time [default: 60, or 300 for the set ggc]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: Option<u64>,
    /// Amount of random writes before random writes are measured, as a multiple of the size
    #[arg(long, value_name = "X", default_value_t = 2.0, value_parser = parse_overwrites)]
    pub overwrites: f64,
    /// I/O engine of fio, such as io_uring
    #[arg(long, value_name = "NAME", default_value = "libaio", value_parser = parse_word)]
    pub engine: String,
    /// Use the cache of the operating system, if the file system has no direct I/O. This measures the cache
    #[arg(long)]
    pub buffered: bool,
    /// Print the jobs for fio, and run nothing
    #[arg(long, conflicts_with = "simulate")]
    pub dry_run: bool,
    /// Overwrite a drive that is in use or has data. Requires --really, too
    #[arg(long)]
    pub destroy_data: bool,
    /// Confirm --destroy-data, which is required
    #[arg(long)]
    pub really: bool,
    /// Simulate this device instead of using a drive, and write results as fio would. It is a preset or a file that ends in .toml
    #[arg(long, value_name = "PRESET|FILE.toml", conflicts_with_all = ["target", "seconds", "overwrites", "engine", "buffered", "destroy_data", "really"])]
    pub simulate: Option<String>,
    /// Simulate one in N rows of each superblock, with --simulate
    #[arg(long, value_name = "N", default_value_t = 128, requires = "simulate", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub scale: u32,
    /// Show no progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
    /// Folder for the jobs and their results. An interrupted measurement in the folder is continued [default: flashraid-out/probe]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

fn parse_overwrites(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(times) if (0.0..=100.0).contains(&times) => Ok(times),
        _ => Err("write a number from 0 to 100".to_owned()),
    }
}

fn parse_word(text: &str) -> Result<String, String> {
    match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-:./".contains(&byte)) {
        true => Ok(text.to_owned()),
        false => Err("write the name of an engine, for instance libaio or io_uring".to_owned()),
    }
}

const FIT_HELP: &str = "\
Examples:
  flashraid fit drive --out drive.toml
  flashraid fit drive --base nvme-gen5 --out drive.toml
  flashraid fit one.json two.json --parameters link,latency --out drive.toml
  flashraid fit --datasheet sheet.toml --out drive.toml
  flashraid fit --datasheet --capacity 3.84TB --raw 4TiB --seq-read 6800MB/s --seq-write 4000MB/s --rand-read 1000000 \\
    --rand-write 180000 --read-latency 85us --write-latency 30us --out drive.toml

Results come from `flashraid probe`, or from your own fio jobs with one size, a closed loop and
--output-format=json+.

With --datasheet, the figures of a data sheet take the place of measurements. At the end, longer
runs simulate the device, and the page shows their figures beside those of the data sheet.
Contradictory figures are named.

A configuration uses the device file by: inherits = \"drive.toml\". Values that measurements do not
show come from the base and are marked `# assumed`. A value whose 95 % interval extends more than
30 % to one side is marked undetermined.

Exit status:
  0    success
  1    a simulation failed, or its results could not be written
  2    bad input
  130  stopped by Ctrl-C";

/// Arguments of the command `fit`.
#[derive(Debug, Args)]
pub struct FitArgs {
    /// Results of fio (JSON), or folders with them
    #[arg(value_name = "RESULT", required_unless_present = "datasheet", conflicts_with = "datasheet")]
    pub results: Vec<PathBuf>,
    /// Device to start from, a preset or a file that ends in .toml. It should have the same size and kind
    #[arg(long, value_name = "PRESET|FILE.toml", default_value = "nvme-tlc-read", conflicts_with = "datasheet")]
    pub base: String,
    #[command(flatten)]
    pub sheet: DataSheetArgs,
    /// File for the device. A page with measured and simulated curves is written beside it (.html)
    #[arg(long, value_name = "DEVICE.toml")]
    pub out: PathBuf,
    /// Parameters to fit to measurements, at most seven of page_program, programs_at_once, page_read, link, latency, ack, read and move.
    /// The parameter move is the cost of a write command and of a moved unit
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "page_program,link,latency,ack,read,move",
        conflicts_with = "datasheet"
    )]
    pub parameters: Vec<Parameter>,
    /// Job to predict instead of fitting to it; none fits to all [default: an even mix or a middle depth, if there are eight jobs]
    #[arg(long, value_name = "JOB", conflicts_with = "datasheet")]
    pub hold_out: Option<String>,
    /// Simulate one in N rows of each superblock
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub scale: u32,
    /// Number of evaluations of the simplex method in the middle of the search, each of all jobs. With 0, only slopes are followed
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub simplex: u32,
    /// Seed of all simulations
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 62))]
    pub seed: u64,
    /// Number of simulations at a time, which changes no result [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Show no progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
    /// Replace files that exist already
    #[arg(long)]
    pub force: bool,
}

/// Figures printed on a data sheet.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --datasheet")]
pub struct DataSheetArgs {
    /// Make a device from a data sheet. The figures are the options below, or the same keys in FILE with _ instead of -
    #[arg(long, value_name = "FILE.toml", num_args = 0..=1, help_heading = "Options")]
    pub datasheet: Option<Option<PathBuf>>,
    /// Name of the drive [default: the name of --out]
    #[arg(long, value_name = "NAME", requires = "datasheet")]
    pub name: Option<String>,
    /// Number of bytes that a host sees, such as 3.84TB
    #[arg(long, value_name = "SIZE", requires = "datasheet")]
    pub capacity: Option<Size>,
    /// Number of bytes of flash, such as 4TiB [default: the least power of two that leaves 7 % or more]
    #[arg(long, value_name = "SIZE", requires = "datasheet")]
    pub raw: Option<Size>,
    /// Rate of sequential reads, such as 6800MB/s; a plain number counts MB/s
    #[arg(long, value_name = "RATE", requires = "datasheet", value_parser = parse_quoted_byte_rate)]
    pub seq_read: Option<ByteRate>,
    /// Rate of sequential writes, such as 4000MB/s; a plain number counts MB/s
    #[arg(long, value_name = "RATE", requires = "datasheet", value_parser = parse_quoted_byte_rate)]
    pub seq_write: Option<ByteRate>,
    /// Random reads of 4 KiB per second, such as 1,000,000 or 1.4M
    #[arg(long, value_name = "N", requires = "datasheet", value_parser = parse_quoted_request_rate)]
    pub rand_read: Option<u64>,
    /// Random writes of 4 KiB per second, in the steady state, such as 190K
    #[arg(long, value_name = "N", requires = "datasheet", value_parser = parse_quoted_request_rate)]
    pub rand_write: Option<u64>,
    /// Response time of a single read of 4 KiB, such as 85us
    #[arg(long, value_name = "TIME", requires = "datasheet")]
    pub read_latency: Option<Duration>,
    /// Response time of a single write of 4 KiB, such as 30us
    #[arg(long, value_name = "TIME", requires = "datasheet")]
    pub write_latency: Option<Duration>,
    /// Drive writes per day that are promised for five years
    #[arg(long, value_name = "X", requires = "datasheet")]
    pub dwpd: Option<f64>,
    /// Kind of flash, tlc or qlc [default: that of --like]
    #[arg(long, value_name = "KIND", requires = "datasheet", value_parser = PossibleValuesParser::new(Flash::ALL.map(Flash::name)).map(|name| Flash::ALL.into_iter().find(|flash| flash.name() == name).expect("the name of a kind")))]
    pub flash: Option<Flash>,
    /// Device for everything that data sheets do not print, a preset or .toml file [default: a preset with the same flash and link]
    #[arg(long, value_name = "PRESET|FILE.toml", requires = "datasheet")]
    pub like: Option<String>,
}

const REPORT_HELP: &str = "\
The page is a single file that opens without a network. Several runs are also compared with each
other, and the first one is the baseline. For a single result, pictures are written, too.

Examples:
  flashraid report results
  flashraid report before after --out before-after
  flashraid report flashraid-out/compare-1f0c2a44

Exit status:
  0    success
  1    the page could not be written
  2    bad input";

/// Arguments of the command `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Folders written by run, compare, reproduce or demo, or a report.json or reproduction.json
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<PathBuf>,
    /// Print every table below the summaries
    #[arg(long)]
    pub tables: bool,
    /// Folder for report.html and pictures (*.svg). If it is not empty, the next free name is used [default: flashraid-out/report]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Arguments of the command `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Folders of all shards, as written by `flashraid compare --shard`
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Print every table below the summary
    #[arg(long, conflicts_with = "json")]
    pub tables: bool,
    /// Folder for the results, with the same files as those of compare. If it is not empty, DIR-2, DIR-3 and so on are tried [default:
    /// flashraid-out/merge]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it is not empty, and replace files with the same names
    #[arg(long)]
    pub force: bool,
}

/// Parses a number of parts, written as `N` or `N%M`.
fn parse_parts(text: &str) -> Result<(usize, Option<usize>), String> {
    let (count, at_once) = text.split_once('%').map_or((text, None), |(count, at_once)| (count, Some(at_once)));
    let number = |text: &str| match text.trim().parse::<usize>() {
        Ok(number @ 1..=100_000) => Ok(number),
        _ => Err("write N or N%M, both from 1 to 100000, for instance 64%16".to_owned()),
    };
    Ok((number(count)?, at_once.map(number).transpose()?))
}

/// Reads a shard, written as `I/N`.
fn parse_shard(text: &str) -> Result<(usize, usize), String> {
    let (index, count) = text.split_once('/').ok_or("write I/N, for instance 1/4")?;
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| "write I/N, for instance 1/4".to_owned());
    let (index, count) = (number(index)?, number(count)?);
    match index >= 1 && index <= count {
        true => Ok((index, count)),
        false => Err(format!("shards of {count} are 1/{count} to {count}/{count}")),
    }
}

const REPRODUCE_HELP: &str = "\
Examples:
  flashraid reproduce list                       list the figures, and about how long each takes
  flashraid reproduce ggc.fig6 --quick
  flashraid reproduce all                        the papers on coordination, preemption and caches
  flashraid reproduce later                      later papers
  flashraid reproduce later --trace dtrs=DTRS.trace
  flashraid reproduce remedies                   all remedies side by side on four drives
  flashraid reproduce crossover                  collecting together against collecting in turn

Writes these files:
  reproduction.md, reproduction.json    the ledger of all claims
  rows.parquet, rows.csv                the measured values
  report.html, *.svg                    a page and pictures
  charts.parquet, charts.csv            the data of the pictures
Each point is saved when it is done. If the command is interrupted, the same command continues it.

Exit status:
  0    success
  1    a simulation failed, or its results could not be written
  2    bad input
  130  stopped by Ctrl-C; finished points are kept";

/// Arguments of the command `reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// `list`, `all`, `later`, `remedies`, `crossover`, figures such as ggc.fig6, or papers such as pgc
    #[arg(value_name = "list|all|…|ID", default_value = "list")]
    pub figures: Vec<String>,
    /// Use smaller devices and fewer requests
    #[arg(long)]
    pub quick: bool,
    /// First seed of the simulations
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 62))]
    pub seed: u64,
    /// Number of seeds for each simulation [default: three, or one if that is enough; with --quick four]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: Option<u64>,
    /// Use a real trace instead of a named workload, such as financial=Financial1.spc. Can be repeated
    #[arg(long, value_name = "NAME=FILE", value_parser = parse_named_trace)]
    pub trace: Vec<Setting>,
    /// Take the figures that are not run from this reproduction.json, which must have the same size and seeds
    #[arg(long, value_name = "FILE")]
    pub earlier: Option<PathBuf>,
    /// Number of simulations at a time, which changes no result [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Print every value of each claim, and all measured values, below the summary
    #[arg(long, conflicts_with = "json")]
    pub tables: bool,
    /// Folder for the results [default: flashraid-out/reproduce, or flashraid-out/reproduce-quick with --quick]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Reads a named trace, written as `NAME=FILE`.
fn parse_named_trace(text: &str) -> Result<Setting, String> {
    text.parse().map_err(|_| "write NAME=FILE, for instance financial=Financial1.spc".to_owned())
}

/// Arguments of the command `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// Commands for traces of requests.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Show statistics of a trace
    #[command(after_help = TRACE_INFO_HELP)]
    Info(TraceInfoArgs),
    /// Write a trace in another format
    #[command(after_help = TRACE_CONVERT_HELP)]
    Convert(TraceConvertArgs),
}

/// Options for reading a trace.
#[derive(Debug, Args)]
pub struct TraceInputArgs {
    /// Format of the input [default: detected from the content]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&Format::ALL))]
    pub format: Option<Format>,
    /// Unit of the times, if the format has variants
    #[arg(long, value_name = "UNIT", value_parser = unit())]
    pub time_unit: Option<TimeUnit>,
    /// Bytes in a sector, if the format counts sectors [default: 512]
    #[arg(long, value_name = "BYTES")]
    pub sector_bytes: Option<u32>,
    /// Read only the devices with these numbers, such as 0,2
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub devices: Vec<u32>,
    /// Leave out lines that cannot be read, and count them
    #[arg(long)]
    pub skip_bad_lines: bool,
    /// Leave out discards, and count them
    #[arg(long)]
    pub ignore_discards: bool,
    /// Leave out flushes, and count them
    #[arg(long)]
    pub ignore_flushes: bool,
    /// Meanings of the columns with their units, such as time:us,op,address:512,length,- (also end, device, response, flush); or names of
    /// the header, such as time=Start:s,address=LBA:512
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub columns: Option<TraceColumns>,
    /// Leave out requests that repeat another one within this number of microseconds, and count them
    #[arg(long, value_name = "US")]
    pub drop_repeats_within_us: Option<u64>,
}

impl TraceInputArgs {
    /// Returns the trace in `file`, with these options.
    pub fn spec(&self, file: &Path) -> TraceSpec {
        let devices = if self.devices.is_empty() { DevicePlacement::Concat } else { DevicePlacement::List(self.devices.clone()) };
        TraceSpec {
            format: self.format,
            time_unit: self.time_unit,
            sector_bytes: self.sector_bytes,
            devices,
            skip_bad_lines: self.skip_bad_lines,
            flushes: if self.ignore_flushes { FlushPolicy::Ignore } else { FlushPolicy::Send },
            columns: self.columns.clone(),
            discards: if self.ignore_discards { DiscardPolicy::Ignore } else { DiscardPolicy::Trim },
            drop_repeats_within_ns: self.drop_repeats_within_us.map(|us| us.saturating_mul(1000)),
            ..TraceSpec::new(file)
        }
    }
}

/// Arguments of the command `trace info`.
#[derive(Debug, Args)]
pub struct TraceInfoArgs {
    /// The trace, plain or compressed (gzip, zstd, bzip2); - stands for standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub input: TraceInputArgs,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Arguments of the command `trace convert`.
#[derive(Debug, Args)]
pub struct TraceConvertArgs {
    /// The trace, plain or compressed (gzip, zstd, bzip2); - stands for standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The new file, compressed if it ends in .gz, .zst or .bz2; - stands for standard output
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    #[command(flatten)]
    pub options: TraceInputArgs,
    /// Format of the output
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&WRITABLE_FORMATS))]
    pub to: Format,
    /// Requests per second for a trace without times, if the format needs times
    #[arg(long, value_name = "PER_SECOND", value_parser = parse_rate)]
    pub rate: Option<f64>,
    /// Method to sort requests whose times go backwards: a number of requests to hold back, or sort (in memory)
    #[arg(long, value_name = "N|sort", value_parser = parse_reorder, default_value = "0")]
    pub reorder: TraceSortMethod,
}

/// Reads the name of one of these formats, which the help lists.
fn one_of(formats: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(formats.iter().map(|format| format.name())).map(|name| name.parse().expect("the name of a format"))
}

fn unit() -> impl TypedValueParser<Value = TimeUnit> {
    PossibleValuesParser::new(TimeUnit::ALL.map(TimeUnit::name)).map(|name| name.parse().expect("the name of a unit"))
}

fn parse_reorder(text: &str) -> Result<TraceSortMethod, String> {
    match text {
        "sort" => Ok(TraceSortMethod::Sort),
        number => number.parse().map(TraceSortMethod::Window).map_err(|_| "write a number of requests, or sort".to_owned()),
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && (1e-6..=1e9).contains(&rate) => Ok(rate),
        _ => Err("write requests per second, from 0.000001 to 1000000000".to_owned()),
    }
}

/// Reads a window of simulated time. The configuration checks that it does not end before it begins.
fn parse_window(text: &str) -> Result<Range<Duration>, String> {
    let (from, to) = text.split_once("..").ok_or("write FROM..TO, for instance 1s..1300ms")?;
    let time = |text: &str| text.trim().parse::<Duration>().map_err(|error| error.to_string());
    Ok(time(from)?..time(to)?)
}

/// Commands for built-in presets.
#[derive(Debug, Subcommand)]
pub enum PresetCommand {
    /// List all presets by kind
    List {
        /// Print one JSON document, with each preset as a configuration
        #[arg(long, conflicts_with = "markdown")]
        json: bool,
        /// Print a page with all values of the presets
        #[arg(long)]
        markdown: bool,
    },
    /// Print a preset as a configuration, which can be run
    Show {
        /// A name from `flashraid preset list`
        name: String,
    },
    /// Simulate a drive and compare it with its data sheet, figure by figure
    #[command(after_help = CARD_HELP)]
    Card(CardArgs),
}

const CARD_HELP: &str = "\
Examples:
  flashraid preset card nvme-tlc-read
  flashraid preset card nvme-gen5 --json > card.json
  flashraid preset card --residuals

Kinds of figures:
  fitted       a value of the preset was chosen to meet the figure
  predicted    no value was chosen for it
  bound        the data sheet promises at most this value
  reported     the figure is only shown beside the simulation
A figure agrees if the simulation is within the tolerance of the data sheet. A card takes some
minutes.

Exit status:
  0    success, whether or not the figures agree
  1    a simulation failed
  2    bad input
  130  stopped by Ctrl-C";

/// Arguments of the command `preset card`.
#[derive(Debug, Args)]
pub struct CardArgs {
    /// A device from `flashraid preset list` that has a data sheet
    #[arg(required_unless_present = "residuals")]
    pub name: Option<String>,
    /// Show how far the simulation is from published figures of all drives, by kind of figure. Nothing is simulated: the figures are those
    /// of the kept cards to which no value of a preset was fitted
    #[arg(long, conflicts_with_all = ["name", "quick", "double"])]
    pub residuals: bool,
    /// Check quickly that the command works. A few requests to a small drive prove nothing
    #[arg(long)]
    pub quick: bool,
    /// Measure twice as much as well, and show by how much each figure moves
    #[arg(long, conflicts_with = "quick")]
    pub double: bool,
    /// Number of simulations at a time, which changes no result [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

const PTS_HELP: &str = "\
Examples:
  flashraid pts wsat --ssd nvme-tlc-read
  flashraid pts latency --ssd nvme-gen5 --set ssd.gc.preemption=suspend --json
  flashraid pts iops --fio > iops.fio            the test for fio; it overwrites a real drive

Tests:
  iops       7 shares of reads with 8 sizes each, 128 requests at a time
  latency    3 shares of reads with 3 sizes each, one request at a time
  wsat       random writes of 4 KiB to an empty drive, 128 at a time
Before iops and latency, the whole capacity is written twice in order. In each round, a pattern
lasts a minute, divided by the scale of the simulated drive. The drive is steady if, over five
rounds, a figure ranges by at most 20 % of its mean, and a line fitted to it rises by at most 10 %.

Exit status:
  0    success
  1    the simulation failed
  2    bad input
  130  stopped by Ctrl-C; the rounds so far are reported and marked as partial";

/// Arguments of the command `pts`.
#[derive(Debug, Args)]
pub struct PtsArgs {
    /// The test to run
    #[arg(value_name = "TEST", value_parser = PossibleValuesParser::new(Test::ALL.map(Test::name)).map(|name| test_of(&name)))]
    pub test: Test,
    /// A drive with superblocks from `flashraid preset list`
    #[arg(long, value_name = "PRESET", required_unless_present = "fio")]
    pub ssd: Option<String>,
    /// Replace a key of the configuration, such as ssd.gc.preemption=suspend. Can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Most rounds of the test [default: 600 for wsat, 25 for the others, 5 with --fio]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(5..=10_000))]
    pub rounds: Option<u32>,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Print fio's job file for the test instead of simulating it
    #[arg(long, conflicts_with_all = ["ssd", "set", "json", "seed"])]
    pub fio: bool,
}

fn test_of(name: &str) -> Test {
    Test::ALL.into_iter().find(|test| test.name() == name).expect("clap lets no other one through")
}

/// Arguments of the command `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Check quickly that the command works, with a second of work on small devices
    #[arg(long)]
    pub quick: bool,
    /// Measure only this line, named as in --json, such as nvme or device. Can be repeated
    #[arg(long, value_name = "LINE", value_enum, hide_possible_values = true)]
    pub only: Vec<flashraid_bench::Line>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
