//! A table whose entries keep their number until they are removed. Numbers of removed entries are used again.

/// Table of entries that can be added and removed. Each entry gets a number, which finds it until it is removed. The numbers of removed
/// entries are given to later ones.
#[derive(Debug, Clone)]
pub struct Slab<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    /// Adds an entry and returns its number.
    #[inline]
    pub fn insert(&mut self, entry: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.entries[number as usize] = entry;
                number
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        }
    }

    /// Removes an entry and returns it. Its number may be given to a later entry.
    #[inline]
    pub fn remove(&mut self, number: u32) -> T {
        self.release(number);
        self.entries[number as usize]
    }

    /// Removes an entry without returning it. For a large entry that the caller has read already, this saves a copy.
    #[inline]
    pub fn release(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Returns the places of all entries, in order of their numbers. Places of removed entries are among them.
    #[inline]
    pub(crate) fn places(&self) -> &[T] {
        &self.entries
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.entries[number as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.entries[number as usize]
    }
}
