//! The order in which a die takes up work that needs all its planes (rule 211).

/// A class of work that needs all planes of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Programs a superpage of the host.
    HostProgram,
    /// Erases the die's share of a superblock.
    Erase,
    /// Programs a superpage of collection.
    CollectionProgram,
    /// Reads a step of a part of a victim.
    CollectionRead,
}

/// Returns the classes in the order in which a die takes them. Host reads go before all of them, as far as the limit of reads in a row
/// allows.
///
/// The host goes first while collection keeps up. If collection `hurries`, host programs come last, because they use up the free
/// superblocks. Collection finishes before it begins something new: erases give room at once, and programs give it soon.
pub fn of_classes(hurries: bool) -> [Class; 4] {
    use Class::{CollectionProgram, CollectionRead, Erase, HostProgram};
    if hurries { [Erase, CollectionProgram, CollectionRead, HostProgram] } else { [HostProgram, Erase, CollectionProgram, CollectionRead] }
}

#[cfg(test)]
mod tests {
    use super::{Class, of_classes};

    #[test]
    fn only_the_host_changes_its_place() {
        let without_host = |hurries| of_classes(hurries).into_iter().filter(|class| *class != Class::HostProgram).collect::<Vec<_>>();
        assert_eq!(without_host(true), without_host(false));
        assert_eq!((of_classes(false)[0], of_classes(true)[3]), (Class::HostProgram, Class::HostProgram));
    }
}
