//! The tree of a plain expression, with its names resolved.

use plan::Function;

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PlainNode {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Box<str>),
    /// A value, by its index among those that the expression uses.
    Given(usize),
    /// Texts, and the values between them, one less.
    Template(Box<[Box<str>]>, Box<[Self]>),
    Unary(UnaryOperator, Box<Self>),
    Binary(BinaryOperator, Box<(Self, Self)>),
    And(Box<(Self, Self)>),
    Or(Box<(Self, Self)>),
    Coalesce(Box<(Self, Self)>),
    /// `a ? b : c`
    Choice(Box<(Self, Self, Self)>),
    /// `a.b`; with `true` it is `a?.b`.
    Member(Box<Self>, Box<str>, bool),
    /// `a[b]`, `a?.[b]`
    Index(Box<(Self, Self)>, bool),
    /// A chain with `?.` in it, whose value is undefined where that finds nothing.
    Chain(Box<Self>),
    /// `a.includes(b)`, `a?.includes(b)`
    Method(ValueMethod, Box<Self>, Box<[Self]>, bool),
    /// `Math.max(a, b)`
    Call(Builtin, Box<[Self]>),
    /// One of our functions.
    Own(Function, Box<[Self]>),
    /// A list: as the whole expression, or before `.includes(x)`.
    List(Box<[Self]>),
}

impl PlainNode {
    /// Whether its value may depend on chance.
    pub(super) fn draws(&self) -> bool {
        let any = |nodes: &[Self]| nodes.iter().any(Self::draws);
        match self {
            Self::Undefined | Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::Given(_) => false,
            Self::Template(_, nodes) | Self::List(nodes) => any(nodes),
            Self::Unary(_, node) | Self::Member(node, ..) | Self::Chain(node) => node.draws(),
            Self::Binary(_, both) | Self::And(both) | Self::Or(both) | Self::Coalesce(both) | Self::Index(both, _) => {
                both.0.draws() || both.1.draws()
            }
            Self::Choice(three) => three.0.draws() || three.1.draws() || three.2.draws(),
            Self::Method(_, node, arguments, _) => node.draws() || any(arguments),
            Self::Call(builtin, arguments) => *builtin == Builtin::Random || any(arguments),
            Self::Own(function, arguments) => function.draws() || any(arguments),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnaryOperator {
    Not,
    Minus,
    Plus,
    TypeOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Same,
    NotSame,
}

/// Methods of texts, some of them of lists or of numbers too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueMethod {
    Includes,
    StartsWith,
    EndsWith,
    IndexOf,
    Trim,
    LowerCase,
    UpperCase,
    ToText,
    ToFixed,
    Slice,
}

impl ValueMethod {
    /// The method of this name with this number of arguments.
    pub(super) fn from_name(name: &str, arguments: usize) -> Option<Self> {
        Some(match (name, arguments) {
            ("includes", 1) => Self::Includes,
            ("startsWith", 1) => Self::StartsWith,
            ("endsWith", 1) => Self::EndsWith,
            ("indexOf", 1) => Self::IndexOf,
            ("trim", 0) => Self::Trim,
            ("toLowerCase", 0) => Self::LowerCase,
            ("toUpperCase", 0) => Self::UpperCase,
            ("toString", 0) => Self::ToText,
            ("toFixed", 0 | 1) => Self::ToFixed,
            ("slice", 1 | 2) => Self::Slice,
            _ => return None,
        })
    }
}

/// Functions of JavaScript that are plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    Now,
    Random,
    Abs,
    Floor,
    Ceil,
    Round,
    Trunc,
    Min,
    Max,
    Number,
    Text,
    ParseInt,
    ParseFloat,
    IsNaN,
}

impl Builtin {
    /// `Math.max` and the like, with this number of arguments.
    pub(super) fn of_object(object: &str, name: &str, arguments: usize) -> Option<Self> {
        Some(match (object, name, arguments) {
            ("Date", "now", 0) => Self::Now,
            ("Math", "random", 0) => Self::Random,
            ("Math", "abs", 1) => Self::Abs,
            ("Math", "floor", 1) => Self::Floor,
            ("Math", "ceil", 1) => Self::Ceil,
            ("Math", "round", 1) => Self::Round,
            ("Math", "trunc", 1) => Self::Trunc,
            ("Math", "min", _) => Self::Min,
            ("Math", "max", _) => Self::Max,
            _ => return None,
        })
    }

    /// `Number` and the like, with this number of arguments.
    pub(super) fn from_name(name: &str, arguments: usize) -> Option<Self> {
        Some(match (name, arguments) {
            ("Number", 1) => Self::Number,
            ("String", 1) => Self::Text,
            ("parseInt", 1) => Self::ParseInt,
            ("parseFloat", 1) => Self::ParseFloat,
            ("isNaN", 1) => Self::IsNaN,
            _ => return None,
        })
    }
}
