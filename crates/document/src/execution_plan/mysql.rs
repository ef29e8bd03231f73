//! MySQL: `EXPLAIN FORMAT=TREE`, an operation per line, indented by four blanks per level.

use super::PlanOperation;

/// What begins the estimates and measurements of an operation.
const FIGURES: [&str; 3] = ["(cost=", "(actual time=", "(never executed)"];

pub(super) fn read(text: &str) -> Vec<PlanOperation> {
    let line = |line: &str| {
        let operation = line.trim_start();
        let depth = (line.len() - operation.len()) / 4;
        let operation = operation.strip_prefix("-> ")?;
        let end = FIGURES.iter().filter_map(|begin| operation.find(begin)).min();
        let (operation, figures) = operation.split_at(end.unwrap_or(operation.len()));
        let figures = figures.trim().trim_matches(['(', ')']).replace(") (", ", ");
        // Versions differ in the blanks of a condition: `(id=5)` of 8.0 is `(id = 5)` of 9.
        let operation = operation.trim().replace(" = ", "=");
        Some(PlanOperation::new(depth, &operation, figures))
    };
    text.lines().filter_map(line).collect()
}
