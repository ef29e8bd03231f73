//! Expressions of `\set`, `\if` and `\elif`: pgbench's grammar, compiled to a list of operations on
//! a stack, so that neither a deep nor a long expression recurses when it is evaluated.

mod machine;

pub use self::machine::Machine;
use super::names::Names;
use super::tokens::{Token, Tokens};
use super::variable::Value;
use super::{SyntaxError, syntax};

/// Maximum nesting of parentheses, functions, cases and prefix operators.
const DEPTH_MAX: usize = 200;
/// Maximum number of arguments of a function, as in pgbench.
const ARGUMENTS_MAX: usize = 16;
/// Maximum number of operations of an expression.
const OPERATIONS_MAX: usize = 100_000;

/// A compiled expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    operations: Box<[Operation]>,
}

/// An operation on the stack of values.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    /// Pushes a constant.
    Constant(Value),
    /// Pushes the variable of a slot.
    Variable(usize),
    /// Replaces two values.
    Binary(Binary),
    /// Replaces as many arguments.
    Call(Function, usize),
    /// Negates a boolean.
    Not,
    /// Whether the value is the same as this one, in type and value.
    Is(Value),
    /// Takes the first operand of AND: NULL and false are the result, and the second one, up to
    /// here, is not evaluated.
    And(usize),
    /// The same for OR, with NULL and true.
    Or(usize),
    /// Rejects a second operand of AND and OR that is neither NULL nor a boolean.
    Logical,
    /// Continues here.
    Jump(usize),
    /// Takes a condition, and continues here unless it holds.
    JumpUnless(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Mod,
    Permute,
    Pi,
    Power,
    Random,
    Exponential,
    Gaussian,
    Zipfian,
    Sqrt,
}

/// How many arguments a function takes.
#[derive(Clone, Copy)]
enum Arity {
    Exactly(usize),
    OneOrMore,
    /// One more may be given; otherwise it is `:default_seed`.
    Seeded(usize),
}

/// All functions by their names.
const FUNCTIONS: [(&str, Function, Arity); 21] = [
    ("abs", Function::Abs, Arity::Exactly(1)),
    ("debug", Function::Debug, Arity::Exactly(1)),
    ("double", Function::Double, Arity::Exactly(1)),
    ("exp", Function::Exp, Arity::Exactly(1)),
    ("greatest", Function::Greatest, Arity::OneOrMore),
    ("hash", Function::HashMurmur2, Arity::Seeded(1)),
    ("hash_fnv1a", Function::HashFnv1a, Arity::Seeded(1)),
    ("hash_murmur2", Function::HashMurmur2, Arity::Seeded(1)),
    ("int", Function::Int, Arity::Exactly(1)),
    ("least", Function::Least, Arity::OneOrMore),
    ("ln", Function::Ln, Arity::Exactly(1)),
    ("mod", Function::Mod, Arity::Exactly(2)),
    ("permute", Function::Permute, Arity::Seeded(2)),
    ("pi", Function::Pi, Arity::Exactly(0)),
    ("pow", Function::Power, Arity::Exactly(2)),
    ("power", Function::Power, Arity::Exactly(2)),
    ("random", Function::Random, Arity::Exactly(2)),
    ("random_exponential", Function::Exponential, Arity::Exactly(3)),
    ("random_gaussian", Function::Gaussian, Arity::Exactly(3)),
    ("random_zipfian", Function::Zipfian, Arity::Exactly(3)),
    ("sqrt", Function::Sqrt, Arity::Exactly(1)),
];

/// Binding strength of the operators, weakest first, as in PostgreSQL.
mod level {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const IS: u8 = 4;
    pub const COMPARE: u8 = 5;
    pub const BITS: u8 = 6;
    pub const ADD: u8 = 7;
    pub const MULTIPLY: u8 = 8;
    pub const UNARY: u8 = 9;
}

impl Expression {
    /// Compiles the expression at `range` of `text`, which is the rest of a command.
    ///
    /// # Errors
    /// With the place of the first error.
    pub fn parse(
        text: &str,
        range: std::ops::Range<usize>,
        names: &mut Names,
    ) -> Result<Self, SyntaxError> {
        let tokens = Tokens::new(text, range)?;
        let mut parser = Parser { tokens, names, operations: Vec::new(), depth: 0 };
        parser.binary(level::OR)?;
        match parser.tokens.peek() {
            None => Ok(Self { operations: parser.operations.into() }),
            Some(token) => Err(parser.unexpected(token)),
        }
    }

    /// Slots of the variables that it reads.
    pub fn variables(&self) -> impl Iterator<Item = usize> {
        self.operations.iter().filter_map(|operation| match operation {
            Operation::Variable(slot) => Some(*slot),
            _ => None,
        })
    }
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    names: &'a mut Names,
    operations: Vec<Operation>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn unexpected(&self, token: Token<'a>) -> SyntaxError {
        syntax(self.tokens.at(), format!("syntax error at {token}"))
    }

    fn emit(&mut self, operation: Operation) -> Result<usize, SyntaxError> {
        if self.operations.len() == OPERATIONS_MAX {
            let message = format!("an expression has at most {OPERATIONS_MAX} operations");
            return Err(syntax(self.tokens.at(), message));
        }
        self.operations.push(operation);
        Ok(self.operations.len() - 1)
    }

    /// Makes an earlier jump continue here.
    fn land(&mut self, jump: usize) {
        let here = self.operations.len();
        match &mut self.operations[jump] {
            Operation::And(to)
            | Operation::Or(to)
            | Operation::Jump(to)
            | Operation::JumpUnless(to) => *to = here,
            _ => unreachable!("only jumps are landed"),
        }
    }

    /// Parses an operand and all operators that bind at least as strongly as `min`.
    fn binary(&mut self, min: u8) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("an expression is nested at most {DEPTH_MAX} deep");
            return Err(syntax(self.tokens.at(), message));
        }
        self.operand()?;
        // Comparisons do not chain: `1 < 2 < 3` is an error.
        let mut alone = None;
        while let Some(token) = self.tokens.peek() {
            let Some(strength) = strength(token) else { break };
            if strength < min {
                break;
            }
            if alone == Some(strength) {
                return Err(self.unexpected(token));
            }
            self.tokens.take();
            self.operator(token, strength)?;
            alone = match strength {
                level::COMPARE => Some(strength),
                // `a < b IS TRUE < c` compares a boolean: IS ends the comparison before it.
                level::IS => None,
                _ => alone,
            };
        }
        self.depth -= 1;
        Ok(())
    }

    /// Parses the rest of an operation after its operator.
    fn operator(&mut self, token: Token<'a>, strength: u8) -> Result<(), SyntaxError> {
        if let Some(operation) = binary_of(token) {
            self.binary(strength + 1)?;
            return self.emit(Operation::Binary(operation)).map(drop);
        }
        match token {
            Token::Word(word) if word.eq_ignore_ascii_case("isnull") => {
                self.emit(Operation::Is(Value::Null)).map(drop)
            }
            Token::Word(word) if word.eq_ignore_ascii_case("notnull") => {
                self.emit(Operation::Is(Value::Null))?;
                self.emit(Operation::Not).map(drop)
            }
            Token::Word(word) if word.eq_ignore_ascii_case("is") => self.is(),
            Token::Word(word) => {
                let is_and = word.eq_ignore_ascii_case("and");
                let jump = if is_and { Operation::And(0) } else { Operation::Or(0) };
                let jump = self.emit(jump)?;
                self.binary(strength + 1)?;
                self.emit(Operation::Logical)?;
                self.land(jump);
                Ok(())
            }
            token => Err(self.unexpected(token)),
        }
    }

    /// Parses what follows IS: NULL, TRUE or FALSE, with or without NOT.
    fn is(&mut self) -> Result<(), SyntaxError> {
        let negated = self.tokens.take_word("not");
        let value = match self.tokens.peek().and_then(constant) {
            Some(value @ (Value::Null | Value::Bool(_))) => value,
            _ => return Err(self.expected("NULL, TRUE or FALSE after IS")),
        };
        self.tokens.take();
        self.emit(Operation::Is(value))?;
        if negated {
            self.emit(Operation::Not)?;
        }
        Ok(())
    }

    fn expected(&self, what: &str) -> SyntaxError {
        let found = match self.tokens.peek() {
            Some(token) => format!("syntax error at {token}: expected {what}"),
            None => format!("syntax error at the end: expected {what}"),
        };
        syntax(self.tokens.at(), found)
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), SyntaxError> {
        match self.tokens.peek() {
            Some(Token::Symbol(found)) if found == symbol => {
                self.tokens.take();
                Ok(())
            }
            _ => Err(self.expected(&format!("`{symbol}`"))),
        }
    }

    /// Parses an operand with its prefix operators.
    fn operand(&mut self) -> Result<(), SyntaxError> {
        let Some(token) = self.tokens.peek() else {
            return Err(self.expected("an expression"));
        };
        if let Some(value) = constant(token) {
            self.tokens.take();
            return self.emit(Operation::Constant(value)).map(drop);
        }
        match token {
            Token::Variable(name) => {
                self.tokens.take();
                let slot = self.names.slot(name);
                self.emit(Operation::Variable(slot)).map(drop)
            }
            Token::Symbol("(") => {
                self.tokens.take();
                self.binary(level::OR)?;
                self.expect(")")
            }
            Token::Symbol("+") => {
                self.tokens.take();
                self.binary(level::UNARY)
            }
            Token::Symbol("-") => self.negative(),
            Token::Symbol("~") => {
                self.tokens.take();
                self.emit(Operation::Constant(Value::Int(-1)))?;
                self.binary(level::BITS + 1)?;
                self.emit(Operation::Binary(Binary::Xor)).map(drop)
            }
            Token::Word(word) if word.eq_ignore_ascii_case("not") => {
                self.tokens.take();
                self.binary(level::NOT)?;
                self.emit(Operation::Not).map(drop)
            }
            Token::Word(word) if word.eq_ignore_ascii_case("case") => self.case(),
            Token::Word(word) if !is_keyword(word) => self.call(word),
            Token::AboveInteger => Err(syntax(self.tokens.at(), "bigint constant overflow")),
            token => Err(self.unexpected(token)),
        }
    }

    /// Parses a negative operand: 0 - x, which is computed at once for a constant.
    fn negative(&mut self) -> Result<(), SyntaxError> {
        self.tokens.take();
        if self.tokens.peek() == Some(Token::AboveInteger) {
            self.tokens.take();
            return self.emit(Operation::Constant(Value::Int(i64::MIN))).map(drop);
        }
        let zero = self.emit(Operation::Constant(Value::Int(0)))?;
        self.binary(level::UNARY)?;
        let value = match self.operations[zero + 1..] {
            [Operation::Constant(Value::Int(value))] if value > i64::MIN => Value::Int(-value),
            [Operation::Constant(Value::Double(value))] => Value::Double(0.0 - value),
            _ => return self.emit(Operation::Binary(Binary::Subtract)).map(drop),
        };
        self.operations.truncate(zero);
        self.emit(Operation::Constant(value)).map(drop)
    }

    /// Parses CASE WHEN … THEN … ELSE … END.
    fn case(&mut self) -> Result<(), SyntaxError> {
        self.tokens.take();
        let mut ends = Vec::new();
        if !self.tokens.take_word("when") {
            return Err(self.expected("WHEN"));
        }
        loop {
            self.binary(level::OR)?;
            let next = self.emit(Operation::JumpUnless(0))?;
            if !self.tokens.take_word("then") {
                return Err(self.expected("THEN"));
            }
            self.binary(level::OR)?;
            ends.push(self.emit(Operation::Jump(0))?);
            self.land(next);
            if !self.tokens.take_word("when") {
                break;
            }
        }
        if self.tokens.take_word("else") {
            self.binary(level::OR)?;
        } else {
            self.emit(Operation::Constant(Value::Null))?;
        }
        if !self.tokens.take_word("end") {
            return Err(self.expected("END"));
        }
        for end in ends {
            self.land(end);
        }
        Ok(())
    }

    fn call(&mut self, name: &'a str) -> Result<(), SyntaxError> {
        let at = self.tokens.at();
        let Some((name, function, arity)) =
            FUNCTIONS.iter().find(|(known, ..)| name.eq_ignore_ascii_case(known)).copied()
        else {
            return Err(syntax(at, format!("unexpected function name `{name}`")));
        };
        self.tokens.take();
        self.expect("(")?;
        let mut count = 0;
        if self.tokens.peek() != Some(Token::Symbol(")")) {
            loop {
                self.binary(level::OR)?;
                count += 1;
                if self.tokens.peek() != Some(Token::Symbol(",")) {
                    break;
                }
                self.tokens.take();
            }
        }
        self.expect(")")?;
        let fits = match arity {
            Arity::Exactly(wanted) => count == wanted,
            Arity::OneOrMore => count > 0,
            Arity::Seeded(wanted) => count == wanted || count == wanted + 1,
        };
        if !fits {
            let message = match arity {
                Arity::OneOrMore => "at least one argument expected",
                _ => "unexpected number of arguments",
            };
            return Err(syntax(at, format!("{message} ({name})")));
        }
        if count > ARGUMENTS_MAX {
            let message = format!("too many function arguments, maximum is {ARGUMENTS_MAX}");
            return Err(syntax(at, message));
        }
        if matches!(arity, Arity::Seeded(wanted) if count == wanted) {
            let slot = self.names.slot("default_seed");
            self.emit(Operation::Variable(slot))?;
            count += 1;
        }
        self.emit(Operation::Call(function, count)).map(drop)
    }
}

/// Words that are not functions.
fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 9] =
        ["and", "or", "is", "isnull", "notnull", "when", "then", "else", "end"];
    KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}

fn constant(token: Token<'_>) -> Option<Value> {
    match token {
        Token::Integer(value) => Some(Value::Int(value)),
        Token::Double(value) => Some(Value::Double(value)),
        Token::Word(word) if word.eq_ignore_ascii_case("null") => Some(Value::Null),
        Token::Word(word) if word.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        Token::Word(word) if word.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        _ => None,
    }
}

/// How strongly an operator between two operands, or after one, binds.
fn strength(token: Token<'_>) -> Option<u8> {
    match token {
        Token::Word(word) => {
            const WORDS: [(&str, u8); 5] = [
                ("or", level::OR),
                ("and", level::AND),
                ("is", level::IS),
                ("isnull", level::IS),
                ("notnull", level::IS),
            ];
            WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known)).map(|(_, l)| *l)
        }
        Token::Symbol("<" | ">" | "=" | "<=" | ">=" | "<>" | "!=") => Some(level::COMPARE),
        Token::Symbol("|" | "#" | "&" | "<<" | ">>") => Some(level::BITS),
        Token::Symbol("+" | "-") => Some(level::ADD),
        Token::Symbol("*" | "/" | "%") => Some(level::MULTIPLY),
        _ => None,
    }
}

fn binary_of(token: Token<'_>) -> Option<Binary> {
    let Token::Symbol(symbol) = token else { return None };
    Some(match symbol {
        "+" => Binary::Add,
        "-" => Binary::Subtract,
        "*" => Binary::Multiply,
        "/" => Binary::Divide,
        "%" => Binary::Modulo,
        "&" => Binary::And,
        "|" => Binary::Or,
        "#" => Binary::Xor,
        "<<" => Binary::ShiftLeft,
        ">>" => Binary::ShiftRight,
        "=" => Binary::Equal,
        "<>" | "!=" => Binary::NotEqual,
        "<" => Binary::Less,
        "<=" => Binary::LessOrEqual,
        ">" => Binary::Greater,
        ">=" => Binary::GreaterOrEqual,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
