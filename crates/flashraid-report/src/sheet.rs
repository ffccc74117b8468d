//! A table before it is text or HTML.

/// A titled table of texts.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// Title of the table.
    pub title: String,
    /// Headings; figures are aligned to the right.
    pub header: Vec<String>,
    /// Number of columns that name the row.
    pub label_columns: usize,
    /// The last column holds units, aligned to the left.
    pub unit_column: bool,
    /// The rows, each as long as the header.
    pub rows: Vec<Vec<Cell>>,
    /// Keys or figures of the columns ([`flashraid::documented_names`]), in order. A text is empty or missing for a column without one.
    pub columns_of: Vec<String>,
    /// The same of the rows.
    pub rows_of: Vec<String>,
}

/// One field of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Text of the cell.
    pub text: String,
    /// Colour of the cell.
    pub tone: Tone,
}

/// Tone of a figure: better or worse than its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Neither, or not compared.
    Plain,
    /// Better than the baseline, as far as can be told.
    Better,
    /// Worse than the baseline, as far as can be told.
    Worse,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell { text: text.into(), tone: Tone::Plain }
    }
}

impl Sheet {
    /// A table whose first column names the rows.
    pub fn new(title: impl Into<String>, header: &[&str]) -> Sheet {
        Sheet {
            title: title.into(),
            header: header.iter().map(|text| (*text).to_owned()).collect(),
            label_columns: 1,
            unit_column: false,
            rows: Vec::new(),
            columns_of: Vec::new(),
            rows_of: Vec::new(),
        }
    }

    /// The column holds figures.
    pub fn is_figure(&self, column: usize) -> bool {
        column >= self.label_columns && !(self.unit_column && column + 1 == self.header.len())
    }

    /// A table of names and values.
    pub fn facts(title: impl Into<String>, facts: Vec<(&str, String)>) -> Sheet {
        let rows = facts.into_iter().map(|(name, value)| vec![name.into(), value.into()]).collect();
        // Values are sentences as often as numbers, and read better from the left.
        Sheet { rows, label_columns: 2, ..Sheet::new(title, &["", ""]) }
    }
}
