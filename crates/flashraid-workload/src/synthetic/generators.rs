//! Lists of generators. One file holds a complete law with the parameters that users write, and one line of a list registers it.

/// Makes an enumeration of a list of generators. Users write one as a table, in which the key `tag` holds the name of the type in kebab
/// case.
///
/// ```text
/// generators! {
///     /// Meaning of the enumeration.
///     pub enum Kind: Trait, tag "tag" { file::Type, … }     // a module and a type in it that implements Trait
/// }
/// ```
macro_rules! generators {
    ($(#[$doc:meta])* $vis:vis enum $Kind:ident: $Trait:ident, tag $tag:literal { $($file:ident::$Type:ident),+ $(,)? }) => {
        $(
            mod $file;
            pub use $file::$Type;
        )+

        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(tag = $tag, rename_all = "kebab-case")]
        $vis enum $Kind {
            $(
                #[allow(missing_docs)]
                $Type($Type),
            )+
        }

        impl $Kind {
            /// Returns the chosen generator as a trait object.
            fn law(&self) -> &dyn $Trait {
                match self {
                    $(Self::$Type(law) => law,)+
                }
            }
        }

        $(
            impl From<$Type> for $Kind {
                fn from(law: $Type) -> Self {
                    Self::$Type(law)
                }
            }
        )+
    };
}
pub(super) use generators;
