//! Conjugate gradients for ∇²F·p = −∇F of one group of outputs.

use crate::linalg::dot;

/// One group's conjugate gradients; vectors of all its outputs stand one after another.
pub(crate) struct Cg {
    /// p so far.
    step: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    /// Residual times its preconditioned self, r·P⁻¹r: as far as P is ∇²F, twice what is left to gain.
    square: f64,
    /// The part of its first value that is small enough, and of the square of the residual: a guide that is too stiff in some directions hides what is left there.
    enough: f64,
    first: Option<(f64, f64)>,
    done: bool,
}

impl Cg {
    /// At p = 0, given ∇F and the part of the gain that may be left over.
    pub(crate) fn start(gradient: &[f64], enough: f64) -> Cg {
        let residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
        Cg {
            step: vec![0.0; residual.len()],
            direction: vec![0.0; residual.len()],
            square: f64::INFINITY,
            enough,
            first: None,
            done: false,
            residual,
        }
    }

    /// The next direction, given P⁻¹·residual; or the end, if that is small.
    pub(crate) fn turn(&mut self, led: &[f64]) {
        let square = dot(&self.residual, led);
        let plain = dot(&self.residual, &self.residual);
        let first = *self.first.get_or_insert((square, plain));
        let is_small = square <= self.enough * first.0 && plain <= self.enough * first.1;
        if is_small || !(square > 0.0) {
            self.done = true;
            return;
        }
        let keep = square / self.square;
        self.direction.iter_mut().zip(led).for_each(|(d, l)| *d = l + keep * *d);
        self.square = square;
    }

    /// One step along the direction, given ∇²F·direction; gives back its length.
    pub(crate) fn advance(&mut self, bent: &[f64]) -> f64 {
        let curvature = dot(&self.direction, bent);
        if !(curvature > 0.0 && self.square.is_finite()) {
            // Nothing bends any more, up to rounding.
            self.done = true;
            return 0.0;
        }
        let length = self.square / curvature;
        for j in 0..self.step.len() {
            self.step[j] += length * self.direction[j];
            self.residual[j] -= length * bent[j];
        }
        length
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    pub(crate) fn residual(&self) -> &[f64] {
        &self.residual
    }

    pub(crate) fn direction(&self) -> &[f64] {
        &self.direction
    }

    /// p.
    pub(crate) fn into_step(self) -> Vec<f64> {
        self.step
    }
}
