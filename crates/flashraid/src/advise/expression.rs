//! Conditions on the points of a space, such as `level != 'raid10' or members % 2 == 0`.
//!
//! From the loosest to the tightest, the operators are `or`, `and`, `not`, comparisons, `+ -`, `* / %`, and a minus in front.

use std::collections::BTreeMap;

/// A value: a number or a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number; percentages and sizes count as numbers, too.
    Number(f64),
    /// A text, such as the name of a level.
    Text(String),
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Value(Value),
    Name(String),
    Sign(&'static str),
}

/// A condition that was read and whose names are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    root: Node,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Value(Value),
    Name(String),
    Negated(Box<Node>),
    Not(Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
}

/// Signs of the language, longer ones first.
const SIGNS: [&str; 13] = ["==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")"];
/// Deepest nesting of a condition.
const DEPTH_MAX: usize = 64;

impl Condition {
    /// Reads a condition. `names` are the names that it may use.
    ///
    /// # Errors
    /// Returns a text that says what is wrong.
    pub fn parse(text: &str, names: &[&str]) -> Result<Self, String> {
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, names };
        let root = parser.either().map_err(|problem| format!("the condition {text:?}: {problem}"))?;
        match tokens.get(parser.at) {
            None => Ok(Self { text: text.to_owned(), root }),
            Some(token) => Err(format!("the condition {text:?}: {} is not expected there", shown(token))),
        }
    }

    /// Returns true if the condition holds for these values.
    ///
    /// # Errors
    /// Returns a text if values do not fit their operators.
    pub fn holds(&self, values: &BTreeMap<String, Value>) -> Result<bool, String> {
        let value = evaluate(&self.root, values).map_err(|problem| format!("the condition {:?}: {problem}", self.text))?;
        match value {
            Value::Number(number) => Ok(number != 0.0),
            Value::Text(_) => Err(format!("the condition {:?} is a text, not true or false; compare it with ==", self.text)),
        }
    }
}

fn shown(token: &Token) -> String {
    match token {
        Token::Value(Value::Number(number)) => format!("{number}"),
        Token::Value(Value::Text(text)) => format!("'{text}'"),
        Token::Name(name) => name.clone(),
        Token::Sign(sign) => (*sign).to_owned(),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first == '\'' || first == '"' {
            let Some(end) = rest[1..].find(first) else { return Err(format!("the condition {text:?}: a closing {first} is missing")) };
            tokens.push(Token::Value(Value::Text(rest[1..=end].to_owned())));
            end + 2
        } else if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let number = rest[..end].parse().map_err(|_| format!("the condition {text:?}: {} is no number", &rest[..end]))?;
            tokens.push(Token::Value(Value::Number(number)));
            end
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
            tokens.push(match &rest[..end] {
                "and" => Token::Sign("and"),
                "or" => Token::Sign("or"),
                "not" => Token::Sign("not"),
                name => Token::Name(name.to_owned()),
            });
            end
        } else {
            let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) else {
                return Err(format!(
                    "the condition {text:?}: {first:?} means nothing there; write and, or, not, + - * / % and comparisons"
                ));
            };
            tokens.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    names: &'a [&'a str],
}

impl Parser<'_> {
    fn take(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let Some(Token::Sign(sign)) = self.tokens.get(self.at) else { return None };
        let found = signs.iter().copied().find(|wanted| wanted == sign)?;
        self.at += 1;
        Some(found)
    }

    fn chain(&mut self, signs: &[&'static str], next: fn(&mut Self) -> Result<Node, String>) -> Result<Node, String> {
        let mut left = next(self)?;
        while let Some(sign) = self.take(signs) {
            left = Node::Binary(sign, Box::new(left), Box::new(next(self)?));
        }
        Ok(left)
    }

    fn either(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("it is nested too deeply".to_owned());
        }
        let node = self.chain(&["or"], |parser| parser.chain(&["and"], Self::negation));
        self.depth -= 1;
        node
    }

    fn negation(&mut self) -> Result<Node, String> {
        let mut negations = 0;
        while self.take(&["not"]).is_some() {
            negations += 1;
        }
        let compared = self.comparison()?;
        Ok(match negations {
            0 => compared,
            odd if odd % 2 == 1 => Node::Not(Box::new(compared)),
            _ => Node::Not(Box::new(Node::Not(Box::new(compared)))),
        })
    }

    fn comparison(&mut self) -> Result<Node, String> {
        let left = self.sum()?;
        match self.take(&["==", "!=", "<=", ">=", "<", ">"]) {
            Some(sign) => Ok(Node::Binary(sign, Box::new(left), Box::new(self.sum()?))),
            None => Ok(left),
        }
    }

    fn sum(&mut self) -> Result<Node, String> {
        self.chain(&["+", "-"], |parser| parser.chain(&["*", "/", "%"], Self::single))
    }

    fn single(&mut self) -> Result<Node, String> {
        let mut is_negated = false;
        while self.take(&["-"]).is_some() {
            is_negated = !is_negated;
        }
        let node = if self.take(&["("]).is_some() {
            let inner = self.either()?;
            if self.take(&[")"]).is_none() {
                return Err("a closing ) is missing".to_owned());
            }
            inner
        } else {
            let token = self.tokens.get(self.at).ok_or("it ends too early")?;
            self.at += 1;
            match token {
                Token::Value(value) => Node::Value(value.clone()),
                Token::Name(name) if self.names.contains(&name.as_str()) => Node::Name(name.clone()),
                Token::Name(name) => {
                    return Err(format!("there is no axis {name}; the axes are {}; a text stands in quotes", self.names.join(", ")));
                }
                Token::Sign(sign) => return Err(format!("{sign} is not expected there")),
            }
        };
        Ok(if is_negated { Node::Negated(Box::new(node)) } else { node })
    }
}

fn evaluate(node: &Node, values: &BTreeMap<String, Value>) -> Result<Value, String> {
    let truth = |is_true: bool| Value::Number(f64::from(u8::from(is_true)));
    let number = |node: &Node| match evaluate(node, values)? {
        Value::Number(number) => Ok(number),
        Value::Text(text) => Err(format!("'{text}' is no number")),
    };
    Ok(match node {
        Node::Value(value) => value.clone(),
        Node::Name(name) => values.get(name).cloned().ok_or_else(|| format!("there is no axis {name}"))?,
        Node::Negated(inner) => Value::Number(-number(inner)?),
        Node::Not(inner) => truth(number(inner)? == 0.0),
        Node::Binary("and", left, right) => truth(number(left)? != 0.0 && number(right)? != 0.0),
        Node::Binary("or", left, right) => truth(number(left)? != 0.0 || number(right)? != 0.0),
        Node::Binary(sign @ ("==" | "!="), left, right) => {
            let (left, right) = (evaluate(left, values)?, evaluate(right, values)?);
            if std::mem::discriminant(&left) != std::mem::discriminant(&right) {
                return Err("a number is compared with a text; texts stand in quotes, numbers do not".to_owned());
            }
            truth((left == right) == (*sign == "=="))
        }
        Node::Binary(sign, left, right) => {
            let (left, right) = (number(left)?, number(right)?);
            match *sign {
                "<" => truth(left < right),
                "<=" => truth(left <= right),
                ">" => truth(left > right),
                ">=" => truth(left >= right),
                "+" => Value::Number(left + right),
                "-" => Value::Number(left - right),
                "*" => Value::Number(left * right),
                _ if right == 0.0 => return Err("it divides by 0".to_owned()),
                "/" => Value::Number(left / right),
                _ => Value::Number(left % right),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> Result<bool, String> {
        let values = BTreeMap::from([
            ("level".to_owned(), Value::Text("raid10".to_owned())),
            ("members".to_owned(), Value::Number(6.0)),
            ("read.plan".to_owned(), Value::Text("home".to_owned())),
        ]);
        Condition::parse(text, &["level", "members", "read.plan"])?.holds(&values)
    }

    #[test]
    fn conditions_are_evaluated() {
        for (text, expected) in [
            ("level != 'raid10' or members % 2 == 0", true),
            ("level == \"raid10\" and members > 6", false),
            ("not level == 'raid5'", true),
            ("members - 2 * 2 == 2", true),
            ("(members - 2) * 2 == 8", true),
            ("-members + 7 == 1", true),
            ("members / 4 >= 1.5 and not not members < 7", true),
            ("read.plan == 'home'", true),
            ("members", true),
        ] {
            assert_eq!(holds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("memmbers > 2", "there is no axis memmbers; the axes are level, members, read.plan"),
            ("level == raid10", "there is no axis raid10"),
            ("level == 10", "number is compared with a text"),
            ("members % 0", "divides by 0"),
            ("members >", "ends too early"),
            ("members > 2)", ") is not expected"),
            ("(members > 2", "closing ) is missing"),
            ("level == 'raid10", "closing ' is missing"),
            ("members & 2", "means nothing"),
            ("level < 'x'", "is no number"),
            ("level", "is a text"),
            ("1.2.3", "is no number"),
            ("", "ends too early"),
        ] {
            let error = holds(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let deep = format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000));
        assert!(holds(&deep).unwrap_err().contains("nested too deeply"));
    }
}
