//! A figure or table of a paper: what to simulate and how to judge it.

use crate::{Evaluation, Results};

/// A figure or table.
#[derive(Debug, Clone)]
pub struct Figure {
    /// For instance `ggc.fig6`.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Its simulations.
    pub points: Vec<Point>,
    /// Judges their results.
    pub evaluate: fn(&Results, &mut Evaluation),
}

/// How much to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Smaller devices, fewer requests, two seeds: to see that everything works.
    Quick,
    /// As in the papers, three seeds.
    Full,
}

impl Size {
    /// Seeds of every point: consecutive, from the first.
    pub fn seeds(self) -> u64 {
        match self {
            Size::Quick => 2,
            Size::Full => 3,
        }
    }
}

/// One simulation of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Its name in the figure: the values of the figure's axes, for instance `hpc-w local`.
    pub name: String,
    /// Its configuration as TOML.
    pub text: &'static str,
    /// Keys over it.
    pub settings: Vec<(String, String)>,
    /// Keys over these if the size is quick.
    pub quick: Vec<(String, String)>,
}

impl Point {
    /// A point on a base configuration.
    pub fn new(name: impl Into<String>, text: &'static str) -> Point {
        Point { name: name.into(), text, settings: Vec::new(), quick: Vec::new() }
    }

    /// Sets a key.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl ToString) -> Point {
        self.settings.push((key.to_owned(), value.to_string()));
        self
    }

    /// Sets a key for the quick size.
    #[must_use]
    pub fn quick(mut self, key: &str, value: impl ToString) -> Point {
        self.quick.push((key.to_owned(), value.to_string()));
        self
    }

    /// The keys to set for a size, those that come later winning.
    pub fn settings(&self, size: Size) -> Vec<(String, String)> {
        let quick = if size == Size::Quick { self.quick.as_slice() } else { &[] };
        self.settings.iter().chain(quick).cloned().collect()
    }
}
