//! A table whose entries keep their number while they live and whose numbers are used again.

/// Entries by number.
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

    /// Takes the entry out; its number may be given again.
    #[inline]
    pub fn remove(&mut self, number: u32) -> T {
        self.release(number);
        self.entries[number as usize]
    }

    /// Its number may be given again: as [`Slab::remove`] for who has read the entry in place, which spares a copy of a large one.
    #[inline]
    pub fn release(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Entries that live.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether none lives.
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
