//! The parser of plain expressions. It accepts less than JavaScript, and gives everything that it accepts the same
//! structure.

use plan::Function;

use super::tokens::{Lexeme, lexemes};
use super::tree::{BinaryOperator, Builtin, PlainNode, UnaryOperator, ValueMethod};

/// The deepest tree that is evaluated here: evaluation takes stack.
const DEPTH_MAX: usize = 64;

/// The names of an expression.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// All of them.
    pub(super) names: &'a [&'a str],
    /// Those that have values, as indices of the names.
    pub(super) uses: &'a [u32],
}

impl Known<'_> {
    fn has(self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Whether columns of a row of this name are there.
    fn has_row(self, row: &str) -> bool {
        self.names.iter().any(|name| name.split_once('.').is_some_and(|(known, _)| known == row))
    }

    fn given(self, name: &str) -> Option<PlainNode> {
        let place = self.names.iter().position(|known| *known == name)?;
        self.uses.iter().position(|used| *used as usize == place).map(PlainNode::Given)
    }

    fn column(self, row: &str, column: &str) -> Option<PlainNode> {
        let is_it = |name: &&str| name.split_once('.') == Some((row, column));
        let place = self.names.iter().position(is_it)?;
        self.uses.iter().position(|used| *used as usize == place).map(PlainNode::Given)
    }
}

/// Parses an expression; `None`: it is not plain.
pub(super) fn parse(text: &str, known: Known<'_>) -> Option<PlainNode> {
    parse_nested(text, known, 0)
}

fn parse_nested(text: &str, known: Known<'_>, depth: usize) -> Option<PlainNode> {
    let lexemes = lexemes(text)?;
    let mut parser = Parser { lexemes: &lexemes, at: 0, known, depth };
    let (node, _) = parser.choice()?;
    (parser.at == lexemes.len()).then_some(node)
}

struct Parser<'a> {
    lexemes: &'a [Lexeme<'a>],
    at: usize,
    known: Known<'a>,
    /// The brackets and operators around this position.
    depth: usize,
}

/// A node with its height.
type Tall = (PlainNode, usize);

/// The binary operators, by precedence, and the operands of the first are the second.
const LEVELS: [&[(&str, BinaryOperator)]; 4] = [
    &[
        ("===", BinaryOperator::Same),
        ("!==", BinaryOperator::NotSame),
        ("==", BinaryOperator::Equal),
        ("!=", BinaryOperator::NotEqual),
    ],
    &[
        ("<", BinaryOperator::Less),
        ("<=", BinaryOperator::LessEqual),
        (">", BinaryOperator::Greater),
        (">=", BinaryOperator::GreaterEqual),
    ],
    &[("+", BinaryOperator::Add), ("-", BinaryOperator::Subtract)],
    &[("*", BinaryOperator::Multiply), ("/", BinaryOperator::Divide), ("%", BinaryOperator::Remainder)],
];

fn taller(heights: impl IntoIterator<Item = usize>) -> Option<usize> {
    let height = heights.into_iter().max().unwrap_or_default() + 1;
    (height <= DEPTH_MAX).then_some(height)
}

fn joined(make: impl FnOnce(Box<(PlainNode, PlainNode)>) -> PlainNode, left: Tall, right: Tall) -> Option<Tall> {
    let height = taller([left.1, right.1])?;
    Some((make(Box::new((left.0, right.0))), height))
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Lexeme<'a>> {
        self.lexemes.get(self.at)
    }

    fn sees(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Lexeme::Sign(seen)) if *seen == sign)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_it = self.sees(sign);
        self.at += usize::from(is_it);
        is_it
    }

    /// Goes into brackets or to the operand of an operator.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let is_allowed = self.depth <= DEPTH_MAX;
        let node = is_allowed.then(|| read(self)).flatten();
        self.depth -= 1;
        node
    }

    fn choice(&mut self) -> Option<Tall> {
        let condition = self.circuit()?;
        if !self.takes("?") {
            return Some(condition);
        }
        let yes = self.deeper(Self::choice)?;
        if !self.takes(":") {
            return None;
        }
        let no = self.deeper(Self::choice)?;
        let height = taller([condition.1, yes.1, no.1])?;
        Some((PlainNode::Choice(Box::new((condition.0, yes.0, no.0))), height))
    }

    /// `??` stands beside `&&` and `||` in brackets alone.
    fn circuit(&mut self) -> Option<Tall> {
        let mut left = self.binary(0)?;
        if self.sees("??") {
            while self.takes("??") {
                left = joined(PlainNode::Coalesce, left, self.binary(0)?)?;
            }
            return (!self.sees("&&") && !self.sees("||")).then_some(left);
        }
        left = self.and(left)?;
        while self.takes("||") {
            let first = self.binary(0)?;
            left = joined(PlainNode::Or, left, self.and(first)?)?;
        }
        (!self.sees("??")).then_some(left)
    }

    fn and(&mut self, first: Tall) -> Option<Tall> {
        let mut left = first;
        while self.takes("&&") {
            left = joined(PlainNode::And, left, self.binary(0)?)?;
        }
        Some(left)
    }

    fn binary(&mut self, level: usize) -> Option<Tall> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            let found = operators.iter().find(|(sign, _)| self.sees(sign));
            let Some((_, operator)) = found else { return Some(left) };
            self.at += 1;
            left = joined(|both| PlainNode::Binary(*operator, both), left, self.binary(level + 1)?)?;
        }
    }

    fn unary(&mut self) -> Option<Tall> {
        let operator = match self.peek()? {
            Lexeme::Sign("!") => UnaryOperator::Not,
            Lexeme::Sign("-") => UnaryOperator::Minus,
            Lexeme::Sign("+") => UnaryOperator::Plus,
            Lexeme::Word("typeof") => UnaryOperator::TypeOf,
            _ => return self.postfix(),
        };
        self.at += 1;
        let (operand, height) = self.deeper(Self::unary)?;
        Some((PlainNode::Unary(operator, Box::new(operand)), taller([height])?))
    }

    fn postfix(&mut self) -> Option<Tall> {
        let (mut node, mut height) = self.primary()?;
        let mut has_optional = false;
        loop {
            let is_list = matches!(node, PlainNode::List(_));
            let is_optional = self.takes("?.");
            has_optional |= is_optional;
            if self.takes("[") {
                let (index, of_index) = self.deeper(Self::choice)?;
                if is_list || !self.takes("]") {
                    return None;
                }
                height = taller([height, of_index])?;
                node = PlainNode::Index(Box::new((node, index)), is_optional);
                continue;
            }
            if !is_optional && !self.takes(".") {
                break;
            }
            let Some(Lexeme::Word(name)) = self.peek() else { return None };
            self.at += 1;
            if self.sees("(") {
                let (arguments, of_arguments) = self.arguments(")")?;
                let method = ValueMethod::from_name(name, arguments.len())?;
                if is_list && method != ValueMethod::Includes {
                    return None;
                }
                height = taller([height, of_arguments])?;
                node = PlainNode::Method(method, Box::new(node), arguments.into(), is_optional);
                continue;
            }
            if is_list {
                return None;
            }
            height = taller([height])?;
            node = PlainNode::Member(Box::new(node), (*name).into(), is_optional);
        }
        if has_optional {
            return Some((PlainNode::Chain(Box::new(node)), taller([height])?));
        }
        Some((node, height))
    }

    /// Reads what stands between brackets, from the opening one.
    fn arguments(&mut self, close: &str) -> Option<(Vec<PlainNode>, usize)> {
        self.at += 1;
        let (mut all, mut height) = (Vec::new(), 0);
        while !self.takes(close) {
            if !all.is_empty() && !self.takes(",") {
                return None;
            }
            let (node, of_node) = self.deeper(Self::choice)?;
            height = height.max(of_node);
            all.push(node);
        }
        Some((all, height))
    }

    fn primary(&mut self) -> Option<Tall> {
        let lexeme = self.peek()?;
        if matches!(lexeme, Lexeme::Sign("[")) {
            let (elements, height) = self.arguments("]")?;
            return Some((PlainNode::List(elements.into()), taller([height])?));
        }
        self.at += 1;
        let node = match lexeme {
            Lexeme::Number(number) => PlainNode::Number(*number),
            Lexeme::Text(text) => PlainNode::Text(text.as_str().into()),
            Lexeme::Template(texts, slots) => return self.template(texts, slots),
            Lexeme::Word(word) => return self.word(word),
            Lexeme::Sign("(") => {
                let (node, height) = self.deeper(Self::choice)?;
                // A list in brackets is no different, but a chain that ends here is.
                return self.takes(")").then_some((node, height));
            }
            Lexeme::Sign(_) => return None,
        };
        Some((node, 1))
    }

    fn template(&mut self, texts: &[String], slots: &[&str]) -> Option<Tall> {
        let (known, depth) = (self.known, self.depth + 1);
        let slots = slots.iter().map(|slot| (depth <= DEPTH_MAX).then(|| parse_nested(slot, known, depth)).flatten());
        let slots = slots.collect::<Option<Box<[PlainNode]>>>()?;
        let texts = texts.iter().map(|text| text.as_str().into()).collect();
        // The heights of nested texts are not known here: they count as the most that brackets leave.
        let height = if slots.is_empty() { 1 } else { DEPTH_MAX / 2 };
        Some((PlainNode::Template(texts, slots), height))
    }

    fn word(&mut self, word: &str) -> Option<Tall> {
        if self.known.has_row(word) {
            return (!self.known.has(word)).then(|| self.column(word)).flatten();
        }
        if let Some(given) = self.known.given(word) {
            return Some((given, 1));
        }
        if self.known.has(word) {
            return None;
        }
        let node = match word {
            "undefined" => PlainNode::Undefined,
            "null" => PlainNode::Null,
            "true" => PlainNode::Bool(true),
            "false" => PlainNode::Bool(false),
            "NaN" => PlainNode::Number(f64::NAN),
            "Infinity" => PlainNode::Number(f64::INFINITY),
            _ => return self.called(word),
        };
        Some((node, 1))
    }

    /// `row.column`, `row["column"]`
    fn column(&mut self, row: &str) -> Option<Tall> {
        if self.takes("[") {
            let Some(Lexeme::Text(column)) = self.peek() else { return None };
            self.at += 1;
            return Some((self.takes("]").then(|| self.known.column(row, column)).flatten()?, 1));
        }
        if !self.takes(".") && !self.takes("?.") {
            return None;
        }
        let Some(Lexeme::Word(column)) = self.peek() else { return None };
        self.at += 1;
        // A method of the row is none of the column.
        if self.sees("(") {
            return None;
        }
        Some((self.known.column(row, column)?, 1))
    }

    fn called(&mut self, word: &str) -> Option<Tall> {
        let mut member = None;
        if self.takes(".") {
            let Some(Lexeme::Word(name)) = self.peek() else { return None };
            self.at += 1;
            member = Some(*name);
        }
        if !self.sees("(") {
            return None;
        }
        let (arguments, height) = self.arguments(")")?;
        let count = arguments.len();
        let height = taller([height])?;
        let builtin = match member {
            Some(name) => Some(Builtin::of_object(word, name, count)?),
            None => Builtin::from_name(word, count),
        };
        if let Some(builtin) = builtin {
            return Some((PlainNode::Call(builtin, arguments.into()), height));
        }
        let own = Function::from_name(word).filter(|function| *function != Function::Counter)?;
        Some((PlainNode::Own(own, arguments.into()), height))
    }
}
