//! Lists of policies. One file holds a complete policy, one line of a list registers it, and everything else is made from the list.
//!
//! The macro `policies!` turns a list into an enumeration. Users write a policy as its name or, with parameters, as a table. The JSON
//! Schema, the reference of configuration keys and the random cases of tests come from the same list. A method call on the enumeration is
//! passed on to the chosen policy.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// Error for a parameter whose value has the right type but is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterProblem {
    /// Name of the parameter in the configuration.
    pub key: &'static str,
    /// Explanation, as the end of a sentence that begins with the key and its value, such as "but must be at least 1".
    pub message: String,
}

/// Makes an enumeration of a list of policies.
///
/// ```text
/// policies! {
///     /// What the enumeration is.
///     pub enum Kind: Trait, tag "policy" {
///         file::Type = "name",              // a module and a type in it that implements Trait
///     }
///     /// What the method does.
///     pub fn method(&self, argument: u32) -> u32;      // of Trait, passed on to the policy
///     /// What the second enumeration is.
///     pub enum Half: Trait::Half = half(argument: u32); // of a type that each policy names, made by its method `half`
///     // Further methods are those of the halves.
/// }
/// ```
///
/// The first policy is the default one. `Trait` needs `random_for_tests(&mut Stream) -> Self`: one with random parameters, for tests.
#[macro_export]
macro_rules! policies {
    (
        $(#[$doc:meta])*
        $vis:vis enum $Kind:ident: $Trait:ident, tag $tag:literal {
            $first_file:ident::$First:ident = $first_name:literal
            $(, $file:ident::$Type:ident = $name:literal)* $(,)?
        }
        $($methods:tt)*
    ) => {
        mod $first_file;
        pub use $first_file::$First;
        $(
            mod $file;
            pub use $file::$Type;
        )*

        $crate::policy::policies! {
            @kind $(#[$doc])* $vis $Kind $Trait $tag [$First = $first_name $(, $Type = $name)*]
        }

        impl Default for $Kind {
            fn default() -> Self {
                Self::$First($First::default())
            }
        }

        $crate::policy::policies! { @methods $Kind [$First $($Type)*] $($methods)* }
    };

    (@kind $(#[$doc:meta])* $vis:vis $Kind:ident $Trait:ident $tag:literal [$($Type:ident = $name:literal),+]) => {
        $(#[$doc])*
        $vis enum $Kind {
            $(
                #[doc = concat!("`", $name, "`")]
                $Type($Type),
            )+
        }

        impl $Kind {
            /// Names of all policies of this enumeration, in the order of its variants.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// Returns the name of the chosen policy (a variant of the enumeration), as users write it in a configuration.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$Type(_) => $name,)+
                }
            }

            /// Returns a random policy with random parameters, each policy equally likely, for random cases in tests.
            pub fn random_for_tests(stream: &mut $crate::rng::RandomStream) -> Self {
                let any_of: [fn(&mut $crate::rng::RandomStream) -> Self; Self::NAMES.len()] =
                    [$(|stream| Self::$Type(<$Type as $Trait>::random_for_tests(stream))),+];
                any_of[$crate::rng::below(stream, any_of.len() as u64) as usize](stream)
            }
        }

        $(
            impl From<$Type> for $Kind {
                fn from(policy: $Type) -> Self {
                    Self::$Type(policy)
                }
            }
        )+

        impl std::fmt::Debug for $Kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$Type(policy) => policy.fmt(f),)+
                }
            }
        }

        impl ::serde::Serialize for $Kind {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$Type(policy) => $crate::policy::serialize_policy(serializer, $tag, $name, policy),)+
                }
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $Kind {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let (name, parameters) = $crate::policy::name_and_parameters(deserializer, $tag)?;
                match name.as_str() {
                    $($name => $crate::policy::policy_from_parameters(parameters).map(Self::$Type),)+
                    _ => Err(::serde::de::Error::unknown_variant(&name, Self::NAMES)),
                }
            }
        }

        impl $crate::policy::PolicyEnum for $Kind {
            fn name(&self) -> &'static str {
                self.name()
            }

            fn parameters(&self) -> ::serde_json::Map<String, ::serde_json::Value> {
                match self {
                    $(Self::$Type(policy) => $crate::policy::policy_parameters(policy).unwrap_or_default(),)+
                }
            }

            fn all_with_default_parameters() -> Vec<Self> {
                vec![$(Self::$Type($Type::default())),+]
            }

            fn schemas(generator: &mut ::schemars::SchemaGenerator) -> Vec<::schemars::Schema> {
                vec![$(<$Type as ::schemars::JsonSchema>::json_schema(generator)),+]
            }
        }

        impl ::schemars::JsonSchema for $Kind {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Kind).into()
            }

            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                $crate::policy::policy_choice_json_schema::<Self>($tag, generator)
            }
        }
    };

    (@methods $Kind:ident $types:tt) => {};
    (
        @methods $Kind:ident [$($Type:ident)+]
        $(#[$doc:meta])* $vis:vis enum $Half:ident: $Trait:ident::$Part:ident = $make:ident($($arg:ident: $Arg:ty),*); $($rest:tt)*
    ) => {
        $(#[$doc])*
        $vis enum $Half {
            $($Type(<$Type as $Trait>::$Part),)+
        }

        impl $Kind {
            $vis fn $make(&self, $($arg: $Arg),*) -> $Half {
                $crate::policy::policies!(@halves self $Kind $Half [$($Type)+] $make ($($arg),*))
            }
        }
        $crate::policy::policies! { @methods $Half [$($Type)+] $($rest)* }
    };
    (
        @methods $Kind:ident $types:tt
        $(#[$doc:meta])* $vis:vis fn $method:ident(&self $(, $arg:ident: $Arg:ty)*) $(-> $Ret:ty)?; $($rest:tt)*
    ) => {
        impl $Kind {
            $(#[$doc])*
            #[inline]
            $vis fn $method(&self $(, $arg: $Arg)*) $(-> $Ret)? {
                $crate::policy::policies!(@call self $Kind $types $method ($($arg),*))
            }
        }
        $crate::policy::policies! { @methods $Kind $types $($rest)* }
    };
    (
        @methods $Kind:ident $types:tt
        $(#[$doc:meta])* $vis:vis fn $method:ident(&mut self $(, $arg:ident: $Arg:ty)*) $(-> $Ret:ty)?; $($rest:tt)*
    ) => {
        impl $Kind {
            $(#[$doc])*
            #[inline]
            $vis fn $method(&mut self $(, $arg: $Arg)*) $(-> $Ret)? {
                $crate::policy::policies!(@call self $Kind $types $method ($($arg),*))
            }
        }
        $crate::policy::policies! { @methods $Kind $types $($rest)* }
    };
    (@halves $self:ident $Kind:ident $Half:ident [$($Type:ident)+] $make:ident $args:tt) => {
        match $self {
            $($Kind::$Type(policy) => $Half::$Type(policy.$make $args),)+
        }
    };
    (@call $self:ident $Kind:ident [$($Type:ident)+] $method:ident $args:tt) => {
        match $self {
            $($Kind::$Type(policy) => policy.$method $args,)+
        }
    };
}
pub use policies;

/// Writes a policy as its name if all its parameters have default values, and otherwise as a table.
pub fn serialize_policy<P: Serialize + Default, S: Serializer>(
    serializer: S,
    tag: &'static str,
    name: &'static str,
    policy: &P,
) -> Result<S::Ok, S::Error> {
    let parameters = policy_parameters(policy).map_err(S::Error::custom)?;
    if parameters == policy_parameters(&P::default()).map_err(S::Error::custom)? {
        return serializer.serialize_str(name);
    }
    let mut table = Map::from_iter([(tag.to_owned(), name.into())]);
    table.extend(parameters);
    table.serialize(serializer)
}

/// Returns the parameters of a policy as a table.
///
/// # Errors
///
/// Returns an error if the policy cannot be written as a JSON table.
pub fn policy_parameters<P: Serialize>(policy: &P) -> Result<Map<String, Value>, serde_json::Error> {
    serde_json::to_value(policy).and_then(serde_json::from_value)
}

/// Reads a policy as a user has written it, and returns its name and its parameters. The user writes either a name alone, or a table
/// that has the name under the key `tag`. The parameters are empty if the name stands alone.
pub fn name_and_parameters<'de, D: Deserializer<'de>>(
    deserializer: D,
    tag: &'static str,
) -> Result<(String, Map<String, Value>), D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Name(String),
        Table(Map<String, Value>),
    }
    match Written::deserialize(deserializer)? {
        Written::Name(name) => Ok((name, Map::new())),
        Written::Table(mut table) => match table.remove(tag) {
            Some(Value::String(name)) => Ok((name, table)),
            Some(_) => Err(D::Error::custom(format!("`{tag}` is not a name"))),
            None => Err(D::Error::missing_field(tag)),
        },
    }
}

/// Builds a policy of the type `P` from a table of its parameters. Returns an error if the table does not describe a `P`, for example if
/// it contains a parameter that `P` does not have.
pub fn policy_from_parameters<P: DeserializeOwned, E: serde::de::Error>(parameters: Map<String, Value>) -> Result<P, E> {
    serde_json::from_value(Value::Object(parameters)).map_err(E::custom)
}

/// Enumeration of the policies for one purpose, such as the choice of victim blocks, made by the macro `policies!`. Each variant is a
/// policy that users can choose by name. Code that uses this trait works with every such enumeration.
pub trait PolicyEnum: Sized + DeserializeOwned {
    /// Returns the name of the chosen policy (a variant of the enumeration), as users write it in a configuration.
    fn name(&self) -> &'static str;
    /// Returns the parameters of the policy as a table.
    fn parameters(&self) -> Map<String, Value>;
    /// Returns all policies of the enumeration with their default parameters, in the order of its variants.
    fn all_with_default_parameters() -> Vec<Self>;
    /// Returns the JSON Schemas of all policies of the enumeration, in the order of its variants.
    fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema>;
}

/// Returns the JSON Schema for a value that chooses one policy of the enumeration `K`. The value is the name of the policy, or a table.
/// The table has the name under the key `tag`, and the parameters of that policy. The documentation of a policy's type becomes the
/// description of both forms.
pub fn policy_choice_json_schema<K: PolicyEnum>(tag: &str, generator: &mut SchemaGenerator) -> Schema {
    let schemas = K::schemas(generator);
    let mut tables = Vec::new();
    for (policy, schema) in K::all_with_default_parameters().iter().zip(&schemas) {
        let mut table = schema.clone().to_value();
        let mut properties = Map::from_iter([(tag.to_owned(), json!({ "type": "string", "const": policy.name() }))]);
        properties.extend(table["properties"].as_object().cloned().unwrap_or_default());
        table["properties"] = properties.into();
        let mut required = vec![Value::from(tag)];
        required.extend(table["required"].as_array().cloned().unwrap_or_default());
        table["required"] = required.into();
        tables.push(table);
    }
    let meanings = schemas.iter().map(|schema| meaning_of_name(schema.as_value()));
    json_schema!({ "anyOf": [names::<K>(meanings), { "description": "With its parameters.", "oneOf": tables }] })
}

/// Returns the JSON Schema that allows the names alone.
fn names<K: PolicyEnum>(meanings: impl Iterator<Item = String>) -> Value {
    let names = K::all_with_default_parameters().into_iter().zip(meanings);
    let names: Vec<Value> =
        names.map(|(policy, meaning)| json!({ "type": "string", "const": policy.name(), "description": meaning })).collect();
    json!({ "oneOf": names })
}

/// Functions that read and write a table of the configuration, such as `[cache]`, which chooses one policy by name. The table may also
/// hold the parameters of the other policies of the same kind. Runs that compare policies can then share one table and change only the
/// name.
pub mod policy_config_serde {
    use super::{Map, PolicyEnum, Schema, SchemaGenerator, Value, json, names};
    use schemars::JsonSchema;
    use serde::ser::Error as _;
    use serde::{Serialize, Serializer};

    /// Returns the policy whose name `table` has under the key `tag`. If `table` has no such key, the first variant of the enumeration
    /// `K` is chosen.
    ///
    /// The table may also contain parameters of policies that are not chosen. The second part of the result contains these other
    /// policies, as far as their parameters in the table differ from the defaults.
    ///
    /// The function removes the key `tag` and the parameters of all policies of `K` from `table`. Other keys stay.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no policy of that name, or if a parameter is not allowed.
    pub fn take_chosen_and_other_policies<K: PolicyEnum>(
        tag: &str,
        table: &mut Map<String, Value>,
    ) -> Result<(K, Vec<K>), serde_json::Error> {
        let policies = K::all_with_default_parameters();
        let name = table.remove(tag).unwrap_or_else(|| policies[0].name().into());
        let read = |name: Value, default: Option<&K>| -> Result<K, serde_json::Error> {
            let keys = default.map(PolicyEnum::parameters).unwrap_or_default();
            let own = table.iter().filter(|(key, _)| keys.contains_key(*key)).map(|(key, value)| (key.clone(), value.clone()));
            serde_json::from_value(std::iter::once((tag.to_owned(), name)).chain(own).collect::<Map<_, _>>().into())
        };
        let chosen = read(name.clone(), policies.iter().find(|policy| name == policy.name()))?;
        let mut others = Vec::new();
        for default in policies.iter().filter(|policy| name != policy.name()) {
            let other = read(default.name().into(), Some(default))?;
            if other.parameters() != default.parameters() {
                others.push(other);
            }
        }
        for key in policies.iter().flat_map(|policy| policy.parameters().into_iter()).map(|(key, _)| key) {
            table.remove(&key);
        }
        Ok((chosen, others))
    }

    /// Returns a policy as a table: its name under the key `tag`, and its own parameters. The table has no keys for parameters of
    /// other policies of the same kind. ([`put_policy_and_defaults_of_others`] adds those, too, with their default values.)
    pub fn named_table_with_own_parameters<K: PolicyEnum>(tag: &str, policy: &K) -> Map<String, Value> {
        let mut table = policy.parameters();
        table.insert(tag.to_owned(), policy.name().into());
        table
    }

    /// Writes one table that contains the keys and values of `table` and of `beside`. The argument `beside` holds the settings that
    /// stand in the same table of the configuration as a policy, but do not belong to it. If both have a key, the value of `beside` is
    /// written.
    ///
    /// # Errors
    ///
    /// Returns an error if `beside` cannot be written as a JSON table.
    pub fn serialize_merged_tables<R: Serialize, S: Serializer>(
        mut table: Map<String, Value>,
        beside: &R,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match serde_json::to_value(beside).map_err(S::Error::custom)? {
            Value::Object(beside) => table.extend(beside),
            _ => return Err(S::Error::custom("what stands beside a policy is a table")),
        }
        table.serialize(serializer)
    }

    /// Returns the names of the policies that have the parameter `key`.
    pub fn policies_with_parameter<K: PolicyEnum>(key: &str) -> Vec<&'static str> {
        K::all_with_default_parameters().iter().filter(|policy| policy.parameters().contains_key(key)).map(PolicyEnum::name).collect()
    }

    /// Returns true if a policy has a parameter, and its value is not the default one.
    pub fn is_parameter_set<K: PolicyEnum>(policy: &K, key: &str) -> bool {
        let default = K::all_with_default_parameters().into_iter().find(|default| default.name() == policy.name());
        default.is_some_and(|default| default.parameters().get(key) != policy.parameters().get(key))
    }

    /// Returns the names of parameters that policies in `others` set, but that `chosen` does not have.
    pub fn unused_parameters<K: PolicyEnum>(chosen: &K, others: &[K]) -> Vec<String> {
        let own = chosen.parameters();
        let mut unused = Vec::new();
        for other in others {
            for (key, _) in other.parameters() {
                if is_parameter_set(other, &key) && !own.contains_key(&key) && !unused.contains(&key) {
                    unused.push(key);
                }
            }
        }
        unused
    }

    /// Adds a policy to `table`: its name under the key `tag`, and each parameter under a key of its own. The function then also adds the
    /// default parameters of the other policies of this kind. So all tables have the same keys.
    pub fn put_policy_and_defaults_of_others<K: PolicyEnum>(tag: &str, policy: &K, table: &mut Map<String, Value>) {
        table.insert(tag.to_owned(), policy.name().into());
        table.extend(policy.parameters());
        for (key, default) in K::all_with_default_parameters().iter().flat_map(PolicyEnum::parameters) {
            table.entry(key).or_insert(default);
        }
    }

    /// Returns the JSON Schema of a table of the configuration that names a policy.
    ///
    /// The table has the name under `tag`, the parameters of all policies of this kind, and the keys of `OtherKeys`.
    pub fn policy_table_json_schema<Kind: PolicyEnum, OtherKeys: JsonSchema>(
        tag: &str,
        name_description: &str,
        table_description: &str,
        generator: &mut SchemaGenerator,
    ) -> Schema {
        let mut properties = properties::<Kind>(tag, name_description, generator);
        let mut schema = OtherKeys::json_schema(generator);
        properties.extend(schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
        schema.insert("properties".into(), properties.into());
        schema.insert("description".into(), table_description.into());
        schema
    }

    /// Returns the JSON Schemas of the name, described by `description`, and of the parameters of all policies. The description of a
    /// parameter names the policies that have it.
    fn properties<K: PolicyEnum>(tag: &str, description: &str, generator: &mut SchemaGenerator) -> Map<String, Value> {
        let (policies, schemas) = (K::all_with_default_parameters(), K::schemas(generator));
        let meanings = schemas.iter().map(|schema| schema.as_value()["description"].as_str().unwrap_or_default().to_owned());
        let mut property = names::<K>(meanings);
        property["description"] = description.into();
        property["default"] = policies[0].name().into();
        let mut properties = Map::from_iter([(tag.to_owned(), property)]);
        let of = |schema: &Schema| schema.as_value()["properties"].as_object().cloned().unwrap_or_default();
        for (key, mut property) in schemas.iter().flat_map(of) {
            let users = policies_with_parameter::<K>(&key);
            let meaning = property["description"].as_str().unwrap_or_default().trim_end_matches('.').to_owned();
            property["description"] = json!(format!("{meaning} ({}).", users.join(", ")));
            properties.entry(key).or_insert(property);
        }
        properties
    }
}

/// Returns the description of a policy, followed by its default parameters.
fn meaning_of_name(schema: &Value) -> String {
    let own_words = schema["description"].as_str().unwrap_or_default();
    let defaults: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, property)| !property["default"].is_null())
        .map(|(key, property)| format!("`{key} = {}`", property["default"]))
        .collect();
    if defaults.is_empty() { own_words.to_owned() } else { format!("{own_words} By its name alone: {}.", defaults.join(", ")) }
}
