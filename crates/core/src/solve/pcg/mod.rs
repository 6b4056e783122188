//! (S + λI)x = s for many λ and s at once, by conjugate gradients that are led by a guide and know S by its products alone.
//!
//! ```text
//! r = s − (S + λI)x,   z = P⁻¹r,   p ← z + (r·z / r′·z′)·p,   x ← x + a·p,   r ← r − a·(S + λI)p,   a = r·z / p·(S + λI)p
//! ‖x − x*‖ in the norm of S + λI falls by (√κ − 1)/(√κ + 1) a step,    κ the condition of P⁻¹(S + λI)
//! ```
//! A step takes one product with S, which is one pass over the rows for all λ and outputs together; S is never made. Sums of many steps drift away from what they stand
//! for, so that every ten steps, and before it is said that a residual is small, it is found from the rows again.
//!
//! A residual is small when both ‖r‖ ≤ ε‖s‖ and r·P⁻¹r ≤ ε²·s·P⁻¹s: as far as P is S + λI, the second is the distance to the best in what is minimised, the first sees what a guide that is too stiff
//! somewhere hides. `docs/book/solvers.md`.

mod column;
mod guide;
mod lanczos;
mod nystrom;
mod sketch;

pub(crate) use self::column::Column;
pub(crate) use self::guide::Guide;
pub use self::guide::Preconditioner;
pub(crate) use self::nystrom::Nystrom;
pub(crate) use self::sketch::Sketch;
use super::newton::Stop;
use crate::{Engine, Result};

/// One vector for each column.
pub(crate) type Vectors = Vec<Vec<f64>>;

/// S, known by its products.
pub(crate) trait Operator {
    /// S·v of some vectors.
    fn apply(&mut self, vectors: &[&[f64]]) -> Result<Vectors>;

    /// s − S·v of some outputs and vectors, from the rows.
    fn fresh(&mut self, of: &[(usize, &[f64])]) -> Result<Vectors>;

    /// The engine that products run on.
    fn engine(&self) -> &Engine;
}

/// From a guide under which columns come on slowly to a better one, and whether there was one. The old one is handed over: there may be no room for both.
pub(crate) type Better<'a> = &'a mut dyn FnMut(Guide) -> Result<(Guide, bool)>;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// ε.
    pub(crate) tolerance: f64,
    /// Steps at most.
    pub(crate) steps: usize,
}

/// Steps after which residuals are found from the rows again.
const FRESH: usize = 10;

/// These many steps should make the residual smaller than this part; a guide whose steps do not is changed for a better one. (κ = 80 would.)
const SLOW: f64 = 0.1;

/// Rounds of [`FRESH`] steps whose gain is on paper alone that end the work.
const PATIENCE: usize = 3;

/// Takes steps until every column has its residual small, or no more are allowed. `told` is given the largest residual after each step.
pub(crate) fn solve(
    operator: &mut dyn Operator,
    columns: &mut [Column],
    guide: &mut Guide,
    better: Better<'_>,
    limits: Limits,
    told: &dyn Fn(usize, f64) -> Result<()>,
) -> Result<()> {
    begin(operator, columns)?;
    measure(operator, columns, guide, limits.tolerance);
    for step in 1..=limits.steps {
        let mut going: Vec<&mut Column> = columns.iter_mut().filter(|column| column.is_going()).collect();
        if going.is_empty() {
            break;
        }
        let directions: Vec<&[f64]> = going.iter().map(|column| column.direction()).collect();
        let bent = operator.apply(&directions)?;
        going.iter_mut().zip(&bent).for_each(|(column, bent)| column.advance(bent));
        lead(operator, &mut going, guide, limits.tolerance);
        let largest = going.iter().map(|column| column.residual()).fold(0.0, f64::max);
        let is_over = going.iter().all(|column| !column.is_going());
        if is_over || step % FRESH == 0 || step == limits.steps {
            refresh(operator, columns, guide, limits.tolerance)?;
            // Fewer steps tell nothing of a guide.
            let is_round = step % FRESH == 0 && step < limits.steps;
            if is_round && columns.iter().any(|column| column.is_going() && column.gained() > SLOW) {
                let (other, is_better) = better(std::mem::replace(guide, Guide::Diagonal(Vec::new())))?;
                *guide = other;
                if is_better {
                    columns.iter_mut().filter(|column| column.is_going()).for_each(Column::restart);
                    measure(operator, columns, guide, limits.tolerance);
                }
            }
            columns.iter_mut().for_each(|column| column.judge(PATIENCE));
        }
        told(step, largest)?;
    }
    columns.iter_mut().filter(|column| column.is_going()).for_each(|column| column.end(Stop::Steps));
    Ok(())
}

/// Residuals at the start.
fn begin(operator: &mut dyn Operator, columns: &mut [Column]) -> Result<()> {
    let mut started: Vec<&mut Column> = columns.iter_mut().filter(|column| !column.is_at_zero()).collect();
    if started.is_empty() {
        return Ok(());
    }
    let of: Vec<(usize, &[f64])> = started.iter().map(|column| (column.output, column.solution())).collect();
    let residuals = operator.fresh(&of)?;
    started.iter_mut().zip(residuals).for_each(|(column, residual)| column.replace(residual));
    Ok(())
}

/// How large sides are to a guide, and first directions.
fn measure(operator: &dyn Operator, columns: &mut [Column], guide: &Guide, tolerance: f64) {
    let mut going: Vec<&mut Column> = columns.iter_mut().filter(|column| column.is_going()).collect();
    let sides: Vec<(&[f64], f64)> = going.iter().map(|column| (column.side(), column.lambda)).collect();
    let led = guide.lead(operator.engine(), &sides);
    going.iter_mut().zip(&led).for_each(|(column, led)| column.measure(led));
    lead(operator, &mut going, guide, tolerance);
    for column in going {
        column.mark();
        column.settle(tolerance);
    }
}

/// P⁻¹ of the residuals, and with them the next directions.
fn lead(operator: &dyn Operator, going: &mut [&mut Column], guide: &Guide, tolerance: f64) {
    let residuals: Vec<(&[f64], f64)> = going.iter().map(|column| (column.left(), column.lambda)).collect();
    let led = guide.lead(operator.engine(), &residuals);
    going.iter_mut().zip(&led).for_each(|(column, led)| column.turn(led, tolerance));
}

/// Finds residuals from the rows again: columns that only seemed to be done go on.
fn refresh(operator: &mut dyn Operator, columns: &mut [Column], guide: &Guide, tolerance: f64) -> Result<()> {
    let mut open: Vec<&mut Column> = columns.iter_mut().filter(|column| column.is_open()).collect();
    let of: Vec<(usize, &[f64])> = open.iter().map(|column| (column.output, column.solution())).collect();
    let residuals = operator.fresh(&of)?;
    open.iter_mut().zip(residuals).for_each(|(column, residual)| column.replace(residual));
    let residuals: Vec<(&[f64], f64)> = open.iter().map(|column| (column.left(), column.lambda)).collect();
    let led = guide.lead(operator.engine(), &residuals);
    open.iter_mut().zip(&led).for_each(|(column, led)| column.confirm(led, tolerance));
    Ok(())
}

#[cfg(test)]
mod tests;
