//! Problems of workload specifications.

/// Problem of a workload specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecProblem {
    /// Name of the setting as a path of field names, such as `address.footprint`.
    pub key: String,
    /// Explanation with the value found and the values allowed.
    pub message: String,
}

impl std::fmt::Display for SpecProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl SpecProblem {
    pub(super) fn new(key: &str, message: String) -> Self {
        Self { key: key.to_owned(), message }
    }

    /// Returns the same problem with `parent` in front of its key.
    pub(super) fn below(self, parent: &str) -> Self {
        let key = if self.key.is_empty() { parent.to_owned() } else { format!("{parent}.{}", self.key) };
        Self { key, message: self.message }
    }
}
