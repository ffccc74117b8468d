//! The program from outside: what it prints, writes and returns. One file for each topic.

mod advise;
mod axes;
mod bad_input;
mod because;
mod browser;
mod cache;
mod chromium;
#[cfg(unix)]
mod cluster;
mod compare;
mod explain;
mod explorer;
mod fio;
mod fit;
mod help;
mod hostile;
mod import;
mod judged;
mod logs;
mod marks;
#[cfg(unix)]
#[path = "../../../flashraid-fit/tests/it/names.rs"]
mod names;
mod opened;
mod pages;
mod pages_of_results;
mod pages_of_runs;
mod pictures;
#[cfg(unix)]
mod probe;
mod program;
mod pts;
mod report;
mod reproduce;
mod results;
mod run;
mod start;
mod tables;
mod timelines;
#[cfg(unix)]
mod tour;
mod trace;
mod until;
mod verdict;
