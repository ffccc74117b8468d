//! The program from outside: what it prints, writes and returns. One file for each topic.

mod bad_input;
mod browser;
mod cache;
mod compare;
mod compatibility;
mod help;
mod hostile;
mod migrate;
mod pages;
mod program;
mod reproduce;
mod results;
mod run;
mod start;
mod tables;
#[cfg(unix)]
mod tour;
mod trace;
mod verdict;
