//! Names of devices, files and hosts in a trace, numbered in order of appearance.

use std::collections::HashMap;

/// The names seen so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    names: Vec<Box<[u8]>>,
    numbers: HashMap<Box<[u8]>, u32>,
    /// Number of the last name that was asked for. The next one nearly always is the same.
    last: u32,
}

impl Names {
    /// Returns the number of a name. A new name gets the next number.
    pub(crate) fn number(&mut self, name: &[u8]) -> u32 {
        if self.names.get(self.last as usize).is_some_and(|last| **last == *name) {
            return self.last;
        }
        self.last = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = self.names.len() as u32;
                self.names.push(name.into());
                self.numbers.insert(name.into(), number);
                number
            }
        };
        self.last
    }

    /// Returns the name that has this number, if one has it.
    pub(crate) fn name(&self, number: u32) -> Option<String> {
        self.names.get(number as usize).map(|name| String::from_utf8_lossy(name).into_owned())
    }
}
