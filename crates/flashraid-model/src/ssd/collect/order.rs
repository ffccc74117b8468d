//! The order in which a die performs work that needs all its planes (rule 211).

/// Classes of work that occupy all planes of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Programs a superpage (a flash page of each plane and bit per cell) with data that the host has written.
    HostProgram,
    /// Erases the die's share of a superblock.
    Erase,
    /// Programs a superpage (a flash page of each plane and bit per cell) with data that collection moves.
    CollectionProgram,
    /// Reads some of the valid units of a victim superblock, which are then moved. A unit is one page or several
    /// (`ssd.superblock.unit`).
    CollectionRead,
}

/// Returns the classes in the order in which a die takes them. Host reads come before all classes, as far as the limit of reads in a row
/// allows.
///
/// Host programs come first while collection keeps up. With `collection_first` they come last, because they use up free superblocks.
/// Collection finishes work before it begins more: erases free space at once, and programs do so soon.
pub(crate) fn of_classes(collection_first: bool) -> [Class; 4] {
    use Class::{CollectionProgram, CollectionRead, Erase, HostProgram};
    if collection_first {
        [Erase, CollectionProgram, CollectionRead, HostProgram]
    } else {
        [HostProgram, Erase, CollectionProgram, CollectionRead]
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, of_classes};

    #[test]
    fn only_the_host_changes_its_place() {
        let without_host =
            |collection_first| of_classes(collection_first).into_iter().filter(|class| *class != Class::HostProgram).collect::<Vec<_>>();
        assert_eq!(without_host(true), without_host(false));
        assert_eq!((of_classes(false)[0], of_classes(true)[3]), (Class::HostProgram, Class::HostProgram));
    }
}
