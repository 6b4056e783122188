//! Conjugate gradients for ∇²F·p = −∇F of one output.

use crate::linalg::dot;

/// One output's conjugate gradients.
pub(super) struct Cg {
    /// p so far.
    step: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    /// Residual times its preconditioned self.
    square: f64,
    /// The residual that is small enough.
    enough: f64,
    done: bool,
}

impl Cg {
    /// At p = 0, given ∇F and the length that it had at first.
    pub(super) fn start(gradient: &[f64], first_gradient: f64) -> Cg {
        let residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let norm = dot(&residual, &residual).sqrt();
        // The nearer to the end, the better the step: what makes Newton's method quick there.
        let forcing = (norm / first_gradient.max(f64::MIN_POSITIVE)).sqrt().min(0.1);
        Cg {
            step: vec![0.0; residual.len()],
            direction: vec![0.0; residual.len()],
            square: f64::INFINITY,
            enough: forcing * norm,
            done: norm <= 0.0,
            residual,
        }
    }

    /// The next direction, given P⁻¹·residual.
    pub(super) fn turn(&mut self, led: &[f64]) {
        let square = dot(&self.residual, led);
        let keep = square / self.square;
        self.direction.iter_mut().zip(led).for_each(|(d, l)| *d = l + keep * *d);
        self.square = square;
    }

    /// One step along the direction, given ∇²F·direction without its identity.
    pub(super) fn advance(&mut self, bent: &[f64]) {
        let curvature = dot(&self.direction, &self.direction) + dot(&self.direction, bent);
        let length = self.square / curvature.max(f64::MIN_POSITIVE);
        for j in 0..self.step.len() {
            self.step[j] += length * self.direction[j];
            self.residual[j] -= length * (self.direction[j] + bent[j]);
        }
        self.done = dot(&self.residual, &self.residual).sqrt() <= self.enough;
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn residual(&self) -> &[f64] {
        &self.residual
    }

    pub(super) fn direction(&self) -> &[f64] {
        &self.direction
    }

    /// p.
    pub(super) fn into_step(self) -> Vec<f64> {
        self.step
    }
}
