//! Keys of reads: `[read]`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use flashraid_model::array::ReadPlan;

/// Settings of the host's reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ReadConfig {
    /// Plan that chooses the flash for a read if there is a choice: with mirrors, the copy.
    pub plan: Plan,
}

impl ReadConfig {
    /// Returns true if the settings are the defaults, so that reports leave the section out.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A read plan by its name. The model lists the plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan(pub ReadPlan);

impl Default for Plan {
    fn default() -> Self {
        Self(ReadPlan::Home)
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let plan = ReadPlan::ALL.iter().find(|plan| plan.name() == name);
        plan.map(|plan| Self(*plan)).ok_or_else(|| D::Error::custom(format!("there is no read plan \"{name}\"")))
    }
}

impl JsonSchema for Plan {
    fn schema_name() -> Cow<'static, str> {
        "ReadPlan".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let variant = |plan: &ReadPlan| json!({ "type": "string", "const": plan.name(), "description": plan.summary() });
        let variants: Vec<Value> = ReadPlan::ALL.iter().map(variant).collect();
        json_schema!({ "description": "A read plan.", "oneOf": variants })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_written_by_their_names() {
        for plan in ReadPlan::ALL {
            let config = ReadConfig { plan: Plan(*plan) };
            let text = serde_json::to_string(&config).unwrap();
            assert_eq!(text, format!("{{\"plan\":\"{}\"}}", plan.name()));
            assert_eq!(serde_json::from_str::<ReadConfig>(&text).unwrap(), config);
        }
        assert!(serde_json::from_str::<ReadConfig>("{\"plan\":\"away\"}").is_err());
    }
}
