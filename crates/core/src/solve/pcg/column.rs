//! One λ and one output on their way.

use super::lanczos;
use crate::linalg::dot;
use crate::solve::Stop;

/// Residuals apart by more than this part of their square are apart by rounding, which is all that is left of them.
const DRIFT: f64 = 0.01;

/// (S + λI)x = s, as far as it is solved.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Which s.
    pub(crate) output: usize,
    pub(crate) lambda: f64,
    side: Vec<f64>,
    x: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    /// ‖s‖², and s·P⁻¹s.
    sizes: (f64, f64),
    /// r·P⁻¹r, now and when the residual was last found from the rows; and the smallest of the latter.
    square: f64,
    marked: f64,
    before: f64,
    least: f64,
    /// Whether the residual that was summed up was another than the one found from the rows; rounds of this without gain.
    drifted: bool,
    idle: usize,
    /// The larger of ‖r‖/‖s‖ and its like under P.
    relative: f64,
    /// Lengths of steps and parts of directions that were kept, since the guide is this one.
    lengths: Vec<f64>,
    kept: Vec<f64>,
    steps: usize,
    /// The residual seems to be small.
    waits: bool,
    stop: Option<Stop>,
}

impl Column {
    /// From x = 0, or from elsewhere.
    pub(crate) fn new(output: usize, lambda: f64, side: Vec<f64>, start: Option<Vec<f64>>) -> Column {
        let size = side.len();
        Column {
            output,
            lambda,
            residual: side.clone(),
            x: start.unwrap_or_else(|| vec![0.0; size]),
            direction: vec![0.0; size],
            sizes: (dot(&side, &side), 0.0),
            side,
            square: f64::INFINITY,
            marked: f64::INFINITY,
            before: f64::INFINITY,
            least: f64::INFINITY,
            drifted: false,
            idle: 0,
            relative: 1.0,
            lengths: Vec::new(),
            kept: Vec::new(),
            steps: 0,
            waits: false,
            stop: None,
        }
    }

    pub(super) fn is_at_zero(&self) -> bool {
        self.x.iter().all(|x| *x == 0.0)
    }

    /// s − Sx, from the rows.
    pub(super) fn replace(&mut self, mut residual: Vec<f64>) {
        residual.iter_mut().zip(&self.x).for_each(|(r, x)| *r -= self.lambda * x);
        let apart: f64 = residual.iter().zip(&self.residual).map(|(new, old)| (new - old).powi(2)).sum();
        self.drifted = apart > DRIFT * dot(&residual, &residual);
        self.residual = residual;
    }

    /// Begins anew from here: the guide is another.
    pub(super) fn restart(&mut self) {
        self.direction.fill(0.0);
        self.square = f64::INFINITY;
        (self.least, self.idle) = (f64::INFINITY, 0);
        self.lengths.clear();
        self.kept.clear();
    }

    /// Given P⁻¹s.
    pub(super) fn measure(&mut self, led: &[f64]) {
        self.sizes.1 = dot(&self.side, led);
    }

    /// What is gained is counted from here.
    pub(super) fn mark(&mut self) {
        (self.marked, self.before) = (self.square, self.square);
    }

    /// The next direction, given P⁻¹r; or a wait, if that is small.
    pub(super) fn turn(&mut self, led: &[f64], tolerance: f64) {
        let square = dot(&self.residual, led);
        self.weigh(square);
        if self.relative <= tolerance || !(square > 0.0) {
            self.waits = true;
            return;
        }
        let keep = square / self.square;
        if self.square.is_finite() {
            self.kept.push(keep);
        }
        self.direction.iter_mut().zip(led).for_each(|(d, l)| *d = l + keep * *d);
        self.square = square;
    }

    /// The same for a residual that was found from the rows: the direction stays, up to rounding.
    pub(super) fn confirm(&mut self, led: &[f64], tolerance: f64) {
        let square = dot(&self.residual, led);
        self.weigh(square);
        (self.before, self.marked) = (self.marked, square);
        if self.relative <= tolerance {
            self.stop = Some(Stop::Residual);
        } else if self.waits {
            // It only seemed to be small: what was said of directions does not hold.
            self.waits = false;
            self.direction.copy_from_slice(led);
            self.square = square;
            self.lengths.clear();
            self.kept.clear();
            // Not one digit is left.
            if !(square > 0.0) {
                self.stop = Some(Stop::Stagnation);
            }
        }
    }

    /// How small the residual is.
    fn weigh(&mut self, square: f64) {
        let part = |now: f64, all: f64| match (now, all) {
            // What is not a number is not small.
            _ if now.is_nan() || all.is_nan() => f64::INFINITY,
            _ if all > 0.0 => (now.max(0.0) / all).sqrt(),
            _ => 0.0,
        };
        let plain = part(dot(&self.residual, &self.residual), self.sizes.0);
        self.relative = plain.max(part(square, self.sizes.1));
    }

    /// One step, given S·direction.
    pub(super) fn advance(&mut self, bent: &[f64]) {
        let curvature = dot(&self.direction, bent) + self.lambda * dot(&self.direction, &self.direction);
        self.steps += 1;
        if !(curvature > 0.0 && curvature.is_finite()) {
            // Nothing bends any more, up to rounding.
            self.waits = true;
            return;
        }
        let length = self.square / curvature;
        self.lengths.push(length);
        for j in 0..self.x.len() {
            self.x[j] += length * self.direction[j];
            self.residual[j] -= length * (bent[j] + self.lambda * self.direction[j]);
        }
    }

    /// Ends what was small from the beginning.
    pub(super) fn settle(&mut self, tolerance: f64) {
        if self.waits {
            let is_small = self.relative <= tolerance;
            self.stop = Some(if is_small { Stop::Residual } else { Stop::Stagnation });
        }
    }

    /// Ends what does not come on, after a residual was found from the rows: sums say that it does, rows that it does not.
    pub(super) fn judge(&mut self, patience: usize) {
        if !self.is_going() {
            return;
        }
        let has_gained = self.marked < 0.9 * self.least;
        self.idle = if has_gained || !self.drifted { 0 } else { self.idle + 1 };
        self.least = self.least.min(self.marked);
        if self.idle >= patience || !self.marked.is_finite() {
            self.stop = Some(Stop::Stagnation);
        }
    }

    pub(super) fn end(&mut self, stop: Stop) {
        self.stop = Some(stop);
    }

    /// What the last round left of the residual under P, as a part.
    pub(super) fn gained(&self) -> f64 {
        if self.before > 0.0 { (self.marked / self.before).sqrt() } else { 0.0 }
    }

    /// Takes part in the next step.
    pub(super) fn is_going(&self) -> bool {
        self.stop.is_none() && !self.waits
    }

    /// Has not ended.
    pub(super) fn is_open(&self) -> bool {
        self.stop.is_none()
    }

    pub(super) fn side(&self) -> &[f64] {
        &self.side
    }

    pub(super) fn left(&self) -> &[f64] {
        &self.residual
    }

    pub(super) fn direction(&self) -> &[f64] {
        &self.direction
    }

    /// x.
    pub(crate) fn solution(&self) -> &[f64] {
        &self.x
    }

    /// x, at the end.
    pub(crate) fn into_solution(self) -> Vec<f64> {
        self.x
    }

    /// The larger of ‖r‖/‖s‖ and the same under the guide.
    pub(crate) fn residual(&self) -> f64 {
        self.relative
    }

    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// Why no more.
    pub(crate) fn stop(&self) -> Stop {
        self.stop.unwrap_or(Stop::Steps)
    }

    /// κ of P⁻¹(S + λI), as far as the steps have seen it.
    pub(crate) fn condition(&self) -> f64 {
        lanczos::condition(&self.lengths, &self.kept)
    }
}
