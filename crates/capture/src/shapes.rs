//! The different statements of a log, each kept once.

use std::collections::HashMap;

use super::sql::{self, Rules, Shape};

/// Most different statements that are kept.
pub const SHAPES_MAX: usize = 10_000;
/// Most bytes of their texts.
pub const SHAPES_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Numbers of statements.
#[derive(Debug, Default)]
pub struct Shapes {
    numbers: HashMap<Shape, usize>,
    shapes: Vec<Shape>,
    /// By number, whether the rows of a statement have an order.
    ordered: Vec<bool>,
    bytes: usize,
}

impl Shapes {
    /// The number of a shape, which gets the next one if it is new; `None` if there are too many.
    pub fn number(&mut self, shape: Shape, rules: Rules) -> Option<usize> {
        if let Some(number) = self.numbers.get(&shape) {
            return Some(*number);
        }
        let bytes: usize = shape.pieces.iter().map(String::len).sum();
        if self.shapes.len() >= SHAPES_MAX || self.bytes + bytes > SHAPES_BYTES_MAX {
            return None;
        }
        self.bytes += bytes;
        let number = self.shapes.len();
        self.ordered.push(sql::is_ordered(&shape.to_string(), rules));
        self.numbers.insert(shape.clone(), number);
        self.shapes.push(shape);
        Some(number)
    }

    /// The shape of a number.
    #[must_use]
    pub fn get(&self, number: usize) -> &Shape {
        &self.shapes[number]
    }

    /// Whether the rows of a statement have an order.
    #[must_use]
    pub fn is_ordered(&self, number: usize) -> bool {
        self.ordered[number]
    }

    /// Number of shapes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }
}
