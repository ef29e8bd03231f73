//! The evaluation of compiled expressions.

use std::io::Write as _;

use triphammer_core::random::Rng;

use super::super::names::Names;
use super::super::random::{self, GAUSSIAN_MIN, ZIPF_MAX, ZIPF_MIN, Zipf};
use super::super::variable::{Value, Variable};
use super::{ARGUMENTS_MAX, Binary, Expression, Function, Operation};

/// Values of a stack for which nothing is allocated.
const FEW: usize = 16;

/// The stack of values. It is part of the evaluation and not of its client, so that it is always in the CPU's cache.
struct Stack {
    few: [Value; FEW],
    /// Those above.
    many: Vec<Value>,
    count: usize,
}

impl Stack {
    const fn new() -> Self {
        Self { few: [Value::Null; FEW], many: Vec::new(), count: 0 }
    }

    #[inline]
    fn push(&mut self, value: Value) {
        match self.few.get_mut(self.count) {
            Some(place) => *place = value,
            None => self.many.push(value),
        }
        self.count += 1;
    }

    #[inline]
    fn last(&self) -> Value {
        let place =
            self.count.checked_sub(1).expect("the parser leaves as many values as are taken");
        match self.few.get(place) {
            Some(value) => *value,
            None => self.many[place - FEW],
        }
    }

    #[inline]
    fn pop(&mut self) -> Value {
        let value = self.last();
        self.count -= 1;
        self.many.truncate(self.count.saturating_sub(FEW));
        value
    }
}

/// What the evaluation of expressions keeps of a client.
#[derive(Clone, Debug)]
pub struct Machine {
    zipf: Zipf,
    /// Number of the script and of its command, which `debug` shows.
    pub place: (usize, usize),
}

impl Default for Machine {
    fn default() -> Self {
        Self { zipf: Zipf::new(ZIPF_MIN, 1), place: (0, 0) }
    }
}

impl Machine {
    /// Evaluates an expression.
    ///
    /// # Errors
    /// With pgbench's message, such as `division by zero`.
    pub fn evaluate(
        &mut self,
        expression: &Expression,
        variables: &[Variable],
        names: &Names,
        rng: &mut Rng,
    ) -> Result<Value, String> {
        let operations = &expression.operations;
        let mut stack = Stack::new();
        let mut at = 0;
        while let Some(operation) = operations.get(at) {
            at += 1;
            match *operation {
                Operation::Constant(value) => stack.push(value),
                Operation::Variable(slot) => {
                    let value = variables[slot].value();
                    let value = value.map_err(|why| format!("{why}: :{}", names.name(slot)))?;
                    stack.push(value);
                }
                Operation::Binary(operation) => {
                    let (b, a) = (stack.pop(), stack.pop());
                    stack.push(binary(operation, a, b)?);
                }
                Operation::Call(function, count) => {
                    let value = self.call(function, count, &mut stack, rng)?;
                    stack.push(value);
                }
                Operation::Not => match stack.pop() {
                    Value::Null => stack.push(Value::Null),
                    value => stack.push(Value::Bool(!value.bool()?)),
                },
                Operation::Is(wanted) => {
                    let value = stack.pop();
                    stack.push(Value::Bool(value == wanted));
                }
                Operation::And(to) | Operation::Or(to) => {
                    let decides = matches!(operation, Operation::Or(_));
                    let value = stack.pop();
                    if value == Value::Null || value.bool()? == decides {
                        stack.push(value);
                        at = to;
                    }
                }
                Operation::Logical => match stack.last() {
                    Value::Null | Value::Bool(_) => {}
                    value => drop(value.bool()?),
                },
                Operation::Jump(to) => at = to,
                Operation::JumpUnless(to) => {
                    if !stack.pop().is_true() {
                        at = to;
                    }
                }
            }
        }
        Ok(stack.pop())
    }

    fn call(
        &mut self,
        function: Function,
        count: usize,
        stack: &mut Stack,
        rng: &mut Rng,
    ) -> Result<Value, String> {
        let mut arguments = [Value::Null; ARGUMENTS_MAX];
        arguments[..count].iter_mut().rev().for_each(|argument| *argument = stack.pop());
        let arguments = &arguments[..count];
        if function == Function::Debug {
            let (script, command) = self.place;
            let value = arguments[0];
            // It is lost if stderr is closed.
            let _ =
                writeln!(std::io::stderr(), "debug(script={script},command={command}): {value}");
            return Ok(value);
        }
        if arguments.contains(&Value::Null) {
            return Ok(Value::Null);
        }
        match function {
            Function::Random | Function::Exponential | Function::Gaussian | Function::Zipfian => {
                self.draw(function, arguments, rng)
            }
            _ => apply(function, arguments),
        }
    }

    fn draw(
        &mut self,
        function: Function,
        arguments: &[Value],
        rng: &mut Rng,
    ) -> Result<Value, String> {
        let (low, high) = (arguments[0].int()?, arguments[1].int()?);
        if low > high {
            return Err("empty range given to random".into());
        }
        if high.checked_sub(low).and_then(|size| size.checked_add(1)).is_none() {
            return Err("random range is too large".into());
        }
        if function == Function::Random {
            return Ok(Value::Int(rng.between(low, high)));
        }
        let parameter = arguments[2].double()?;
        Ok(Value::Int(match function {
            Function::Gaussian if parameter >= GAUSSIAN_MIN => {
                random::gaussian(rng, low, high, parameter)
            }
            Function::Gaussian => {
                return Err(format!(
                    "gaussian parameter must be at least {GAUSSIAN_MIN:.6} (not {parameter:.6})"
                ));
            }
            Function::Exponential if parameter > 0.0 => {
                random::exponential(rng, low, high, parameter)
            }
            Function::Exponential => {
                return Err(format!(
                    "exponential parameter must be greater than zero (not {parameter:.6})"
                ));
            }
            _ if (ZIPF_MIN..=ZIPF_MAX).contains(&parameter) => {
                let size = high - low + 1;
                if !self.zipf.is_of(parameter, size) {
                    self.zipf = Zipf::new(parameter, size);
                }
                low + (self.zipf.draw(rng) - 1)
            }
            _ => {
                return Err(format!(
                    "zipfian parameter must be in range [{ZIPF_MIN:.3}, {ZIPF_MAX:.0}] (not \
                     {parameter:.6})"
                ));
            }
        }))
    }
}

/// Computes a function that draws nothing, of arguments without NULL.
fn apply(function: Function, arguments: &[Value]) -> Result<Value, String> {
    let int = |place: usize| arguments[place].int();
    let double = |place: usize| arguments[place].double();
    Ok(match function {
        Function::Pi => Value::Double(std::f64::consts::PI),
        Function::Abs => match arguments[0] {
            Value::Int(value) => Value::Int(value.checked_abs().ok_or("bigint abs out of range")?),
            value => Value::Double(value.double()?.abs()),
        },
        Function::Int => Value::Int(int(0)?),
        Function::Double => Value::Double(double(0)?),
        Function::Sqrt => Value::Double(double(0)?.sqrt()),
        Function::Ln => Value::Double(double(0)?.ln()),
        Function::Exp => Value::Double(double(0)?.exp()),
        Function::Power => Value::Double(double(0)?.powf(double(1)?)),
        Function::Mod => binary(Binary::Modulo, arguments[0], arguments[1])?,
        Function::HashFnv1a => Value::Int(random::hash_fnv1a(int(0)?, int(1)?)),
        Function::HashMurmur2 => Value::Int(random::hash_murmur2(int(0)?, int(1)?)),
        Function::Permute => match (int(0)?, int(1)?, int(2)?) {
            (_, ..=0, _) => return Err("permute size parameter must be greater than zero".into()),
            (value, size, seed) => Value::Int(random::permute(value, size, seed)),
        },
        Function::Least | Function::Greatest => extreme(function, arguments)?,
        Function::Debug
        | Function::Random
        | Function::Exponential
        | Function::Gaussian
        | Function::Zipfian => unreachable!("computed by the machine"),
    })
}

/// The least or greatest argument: a double if one of them is.
fn extreme(function: Function, arguments: &[Value]) -> Result<Value, String> {
    let is_least = function == Function::Least;
    if arguments.iter().any(|value| matches!(value, Value::Double(_))) {
        let mut found = arguments[0].double()?;
        for value in &arguments[1..] {
            let value = value.double()?;
            found = if is_least { found.min(value) } else { found.max(value) };
        }
        return Ok(Value::Double(found));
    }
    let mut found = arguments[0].int()?;
    for value in &arguments[1..] {
        let value = value.int()?;
        found = if is_least { found.min(value) } else { found.max(value) };
    }
    Ok(Value::Int(found))
}

#[inline]
fn binary(operation: Binary, a: Value, b: Value) -> Result<Value, String> {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::Double(_), _) | (_, Value::Double(_)) => match on_doubles(operation, a, b)? {
            Some(value) => Ok(value),
            None => on_ints(operation, a.int()?, b.int()?),
        },
        _ => on_ints(operation, a.int()?, b.int()?),
    }
}

/// Computes an operation in which one operand is a double; `None` for those on integers only.
fn on_doubles(operation: Binary, a: Value, b: Value) -> Result<Option<Value>, String> {
    use Binary as B;
    if matches!(operation, B::Modulo | B::And | B::Or | B::Xor | B::ShiftLeft | B::ShiftRight) {
        return Ok(None);
    }
    let (a, b) = (a.double()?, b.double()?);
    Ok(Some(match operation {
        B::Add => Value::Double(a + b),
        B::Subtract => Value::Double(a - b),
        B::Multiply => Value::Double(a * b),
        B::Divide => Value::Double(a / b),
        #[expect(clippy::float_cmp, reason = "the script asks for it")]
        B::Equal => Value::Bool(a == b),
        #[expect(clippy::float_cmp, reason = "the script asks for it")]
        B::NotEqual => Value::Bool(a != b),
        B::Less => Value::Bool(a < b),
        B::LessOrEqual => Value::Bool(a <= b),
        B::Greater => Value::Bool(a > b),
        B::GreaterOrEqual => Value::Bool(a >= b),
        B::Modulo | B::And | B::Or | B::Xor | B::ShiftLeft | B::ShiftRight => return Ok(None),
    }))
}

#[inline]
fn on_ints(operation: Binary, a: i64, b: i64) -> Result<Value, String> {
    use Binary as B;
    // Shifts count modulo 64, as processors do.
    let shift = u32::try_from(b & 63).expect("below 64");
    Ok(match operation {
        B::Add => Value::Int(a.checked_add(b).ok_or("bigint add out of range")?),
        B::Subtract => Value::Int(a.checked_sub(b).ok_or("bigint sub out of range")?),
        B::Multiply => Value::Int(a.checked_mul(b).ok_or("bigint mul out of range")?),
        B::Divide | B::Modulo if b == 0 => return Err("division by zero".into()),
        B::Divide => Value::Int(a.checked_div(b).ok_or("bigint div out of range")?),
        B::Modulo => Value::Int(a.wrapping_rem(b)),
        B::And => Value::Int(a & b),
        B::Or => Value::Int(a | b),
        B::Xor => Value::Int(a ^ b),
        B::ShiftLeft => Value::Int(a.wrapping_shl(shift)),
        B::ShiftRight => Value::Int(a.wrapping_shr(shift)),
        B::Equal => Value::Bool(a == b),
        B::NotEqual => Value::Bool(a != b),
        B::Less => Value::Bool(a < b),
        B::LessOrEqual => Value::Bool(a <= b),
        B::Greater => Value::Bool(a > b),
        B::GreaterOrEqual => Value::Bool(a >= b),
    })
}
