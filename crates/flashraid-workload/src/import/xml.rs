//! Parser for the XML of MQSim: elements without attributes, each with the line where it begins.

use roxmltree::{Document, Node};

use super::ImportError;

/// Maximum depth of nested elements. MQSim's files have four levels.
const DEPTH_MAX: usize = 64;

/// An element with its name, line, text and children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Name of the tag.
    pub name: String,
    /// Number of the line on which it begins, from 1.
    pub line: usize,
    /// Text between its tags, trimmed and without that of its children.
    pub text: String,
    /// Elements that lie inside this one.
    pub children: Vec<Element>,
}

impl Element {
    /// Returns the text of the first child of that name.
    pub fn child_text(&self, name: &str) -> Option<&str> {
        self.children.iter().find(|child| child.name == name).map(|child| child.text.as_str())
    }
}

/// Reads a whole document of MQSim.
///
/// # Errors
///
/// Returns an error if the text is no XML, has attributes, or is nested too deeply.
pub fn parse_xml(text: &str) -> Result<Element, ImportError> {
    let text = text.trim_start_matches('\u{feff}');
    // A declaration has to stand at the very beginning, but editors leave blank lines there.
    let body = text.trim_start();
    let skipped = text[..text.len() - body.len()].matches('\n').count();
    let document = Document::parse(body).map_err(|error| {
        let reason = error.to_string();
        // The position at the end counts from the beginning of `body`; the line stands in front here.
        let reason = reason.rsplit_once(" at ").map_or(reason.clone(), |(reason, _)| reason.to_owned());
        refused_at_line(error.pos().row as usize + skipped, reason)
    })?;
    element(&document, document.root_element(), 1, skipped)
}

fn element(document: &Document<'_>, node: Node<'_, '_>, depth: usize, skipped: usize) -> Result<Element, ImportError> {
    let line = document.text_pos_at(node.range().start).row as usize + skipped;
    let name = node.tag_name().name().to_owned();
    if depth > DEPTH_MAX {
        return Err(refused_at_line(line, format!("more than {DEPTH_MAX} elements lie in each other: MQSim's files have four")));
    }
    if let Some(attribute) = node.attributes().next() {
        return Err(refused_at_line(line, format!("<{name}> has the attribute {}: MQSim's files have none", attribute.name())));
    }
    let text = node.children().filter(Node::is_text).filter_map(|text| text.text()).collect::<String>().trim().to_owned();
    let children = node.children().filter(Node::is_element).map(|child| element(document, child, depth + 1, skipped));
    Ok(Element { name, line, text, children: children.collect::<Result<_, _>>()? })
}

/// Returns an error that refuses a line.
pub fn refused_at_line(line: usize, reason: impl Into<String>) -> ImportError {
    ImportError::AtLine { line, reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_file() {
        let root = parse_xml("\u{feff}\n\n<?xml version=\"1.0\"?>\n<a>\n<!-- <c>1</c> -->\n <b> x </b></a>\n").unwrap();
        assert_eq!((root.line, root.children[0].line, root.child_text("b"), root.child_text("c")), (4, 6, Some("x"), None));
    }

    #[test]
    fn mistakes_have_their_line() {
        let reason = |text: &str| parse_xml(text).unwrap_err().to_string();
        assert!(reason("<a>\n<b>\n</a>").starts_with("line 3: "), "{}", reason("<a>\n<b>\n</a>"));
        assert!(reason("\n<a>\n<b>").starts_with("line 2: "), "{}", reason("\n<a>\n<b>"));
        assert!(reason("<a>\n<b c='1'/></a>").contains("line 2: <b> has the attribute c"));
        let deep = format!("{}{}", "<a>".repeat(100), "</a>".repeat(100));
        assert!(reason(&deep).contains("more than 64"));
    }
}
