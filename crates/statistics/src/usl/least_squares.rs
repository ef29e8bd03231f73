//! Least squares for the law: Levenberg-Marquardt (Marquardt, SIAM J. 11, 1963) with bounds, on the
//! logarithm of throughput, because its noise is proportional to it and the unit then does not
//! matter.
//!
//! The parameters are ln λ, u = σ (M - 1) and v = κ M (M - 1) with M the highest level, so that all
//! three have a magnitude of about 1 whatever the levels are.

use super::Point;
use crate::numbers::size;

const ITERATIONS_MAX: usize = 200;
/// Residuals below this, in logarithms, are rounding errors.
const ROUNDING: f64 = 1e-12;

pub(super) type Vector = [f64; 3];
pub(super) type Matrix = [Vector; 3];

/// Points in the variables of the law.
pub(super) struct Problem {
    /// For every point: ln X, ln N, (N - 1) / (M - 1), N (N - 1) / (M (M - 1)).
    rows: Vec<[f64; 4]>,
    /// Greatest u: M - 1.
    u_max: f64,
}

/// The parameters with the least sum of squares.
pub(super) struct Solution {
    /// The parameters ln λ, u, v.
    pub parameters: Vector,
    /// Sum of the squares of the residuals.
    pub squares: f64,
    /// Σ ∂i ∂j of the residuals.
    pub curvature: Matrix,
}

impl Problem {
    /// Creates the problem from points with a level above 1.
    pub fn new(points: &[Point], highest: f64) -> Self {
        let row = |point: &Point| {
            let n = f64::from(point.users);
            let (a, b) = ((n - 1.0) / (highest - 1.0), n / highest);
            [point.throughput.ln(), n.ln(), a, a * b]
        };
        Self { rows: points.iter().map(row).collect(), u_max: highest - 1.0 }
    }

    /// Residual of every point: ln X minus the law's value.
    pub fn residuals(&self, [ln_lambda, u, v]: Vector) -> impl Iterator<Item = f64> + '_ {
        self.rows
            .iter()
            .map(move |[ln_x, ln_n, a, b]| ln_x - ln_n - ln_lambda + (u * a + v * b).ln_1p())
    }

    fn squares(&self, parameters: Vector) -> f64 {
        self.residuals(parameters).map(|r| r * r).sum()
    }

    /// The best ln λ for given u and v.
    fn project(&self, u: f64, v: f64) -> Vector {
        [self.residuals([0.0, u, v]).sum::<f64>() / size(self.rows.len()), u, v]
    }

    /// The best parameters of a coarse grid.
    fn start(&self, kappa: bool) -> Vector {
        let scale = |k: i32| if k == 0 { 0.0 } else { 10f64.powi(k - 3) };
        let grid = (0..7).flat_map(|u| (0..if kappa { 7 } else { 1 }).map(move |v| (u, v)));
        let starts = grid.map(|(u, v)| self.project(scale(u).min(self.u_max), scale(v)));
        let better = |a: &Vector, b: &Vector| self.squares(*a).total_cmp(&self.squares(*b));
        starts.min_by(better).expect("the grid has points")
    }

    /// Half the gradient, and the curvature.
    fn slopes(&self, parameters: Vector) -> (Vector, Matrix) {
        let [_, u, v] = parameters;
        let (mut gradient, mut curvature) = ([0.0; 3], [[0.0; 3]; 3]);
        for ([_, _, a, b], residual) in self.rows.iter().zip(self.residuals(parameters)) {
            let divisor = 1.0 + u * a + v * b;
            let slope = [-1.0, a / divisor, b / divisor];
            for i in 0..3 {
                gradient[i] += slope[i] * residual;
                for j in 0..3 {
                    curvature[i][j] += slope[i] * slope[j];
                }
            }
        }
        (gradient, curvature)
    }

    /// Solves with σ from 0 to 1 and κ from 0, or κ = 0.
    pub fn solve(&self, kappa: bool) -> Solution {
        let mut at = self.start(kappa);
        let mut squares = self.squares(at);
        let mut damping = 1e-3;
        for _ in 0..ITERATIONS_MAX {
            let (gradient, curvature) = self.slopes(at);
            let free = [
                true,
                !(at[1] <= 0.0 && gradient[1] >= 0.0 || at[1] >= self.u_max && gradient[1] <= 0.0),
                kappa && !(at[2] <= 0.0 && gradient[2] >= 0.0),
            ];
            let step = solve(damped(curvature, damping, free), masked(gradient, free));
            let next = [
                at[0] - step[0],
                (at[1] - step[1]).clamp(0.0, self.u_max),
                (at[2] - step[2]).max(0.0),
            ];
            let there = self.squares(next);
            if there < squares {
                let gained = squares - there;
                (at, squares, damping) = (next, there, damping / 10.0);
                if gained <= 1e-14 * squares {
                    break;
                }
            } else if damping > 1e10 {
                break;
            } else {
                damping *= 10.0;
            }
        }
        let floor = size(self.rows.len()) * ROUNDING * ROUNDING;
        Solution { parameters: at, squares: squares.max(floor), curvature: self.slopes(at).1 }
    }
}

fn masked(vector: Vector, free: [bool; 3]) -> Vector {
    [0, 1, 2].map(|i| if free[i] { vector[i] } else { 0.0 })
}

/// The curvature with its diagonal raised; parameters that are not free are separate.
fn damped(curvature: Matrix, damping: f64, free: [bool; 3]) -> Matrix {
    let mut damped = curvature;
    for i in 0..3 {
        for j in 0..3 {
            if i != j && !(free[i] && free[j]) {
                damped[i][j] = 0.0;
            }
        }
        damped[i][i] = damped[i][i] * (1.0 + damping) + f64::MIN_POSITIVE;
    }
    damped
}

/// Solves a symmetric positive system by Gaussian elimination with pivoting.
fn solve(mut matrix: Matrix, mut right: Vector) -> Vector {
    for column in 0..3 {
        let size_of = |row: &usize| matrix[*row][column].abs();
        let pivot = (column..3).max_by(|a, b| size_of(a).total_cmp(&size_of(b))).unwrap_or(column);
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let (above, known) = (matrix[column], right[column]);
        for row in column + 1..3 {
            let factor = matrix[row][column] / above[column];
            matrix[row].iter_mut().zip(above).for_each(|(cell, above)| *cell -= factor * above);
            right[row] -= factor * known;
        }
    }
    let mut solution = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|k| matrix[row][k] * solution[k]).sum();
        solution[row] = (right[row] - known) / matrix[row][row];
    }
    solution
}

/// The inverse; `None` if the matrix is practically singular. `kappa` = false omits the third
/// parameter.
pub(super) fn inverse(matrix: Matrix, kappa: bool) -> Option<Matrix> {
    let free = [true, true, kappa];
    let matrix = damped(matrix, 0.0, free);
    let mut inverse = [0, 1, 2].map(|i| {
        let mut unit = [0.0; 3];
        unit[i] = 1.0;
        solve(matrix, unit)
    });
    if !kappa {
        inverse[2] = [0.0; 3];
    }
    let sound = inverse.iter().flatten().all(|x| x.is_finite());
    (sound && (0..3).all(|i| inverse[i][i] >= 0.0)).then_some(inverse)
}
