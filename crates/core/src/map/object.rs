//! Landmark features of objects, by a kernel of one's own.
//!
//! ```text
//! F₂(x) = (k(x, x₁), …, k(x, x_m))·U⁻¹,   K = UᵀU        F₂(x)·F₂(y) ≈ k(x, y), exactly if x or y is a landmark
//! ```
//! Trees, strings, graphs: whatever has kernel values becomes rows of numbers, and every learner and every certificate works on those. With all objects as landmarks the Gram
//! matrix is reproduced to rounding, so that linear learners on these features are the exact kernel machines.

use super::landmarks::{self, Choice, Values};
use crate::kernel::Similarity;
use crate::linalg;
use crate::random::{Draws, Stream};
use crate::{Engine, Error, Matrix, Result};

/// A kernel of one's own, and objects that are landmarks.
#[derive(Clone, Debug)]
pub struct ObjectMap<X, K> {
    kernel: K,
    landmarks: Vec<X>,
    whitening: Matrix<f64>,
}

/// The numbers below n in random order.
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut draws = Draws::new(seed, Stream::Landmarks, 0);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, draws.below(i as u64 + 1) as usize);
    }
    order
}

struct ObjectValues<'a, X, K> {
    engine: &'a Engine,
    kernel: &'a K,
    objects: &'a [X],
}

impl<X: Sync, K: Similarity<X>> Values for ObjectValues<'_, X, K> {
    fn count(&self) -> usize {
        self.objects.len()
    }

    fn diagonal(&self) -> Vec<f64> {
        self.objects.iter().map(|x| self.kernel.value(x, x)).collect()
    }

    fn columns(&self, chosen: &[usize], out: &mut [f64]) {
        self.engine.for_each_chunk(out, self.count(), &|at, out| {
            let j = chosen[at];
            out.iter_mut().zip(self.objects).for_each(|(to, x)| *to = self.kernel.value(x, &self.objects[j]));
        });
    }
}

impl<X: Clone + Send + Sync, K: Similarity<X>> ObjectMap<X, K> {
    /// With at most so many of the objects as landmarks; those that others explain are left out.
    pub fn fit(
        engine: &Engine,
        kernel: K,
        objects: &[X],
        landmarks: usize,
        choice: Choice,
        seed: u64,
    ) -> Result<Self> {
        if objects.is_empty() {
            return Err(Error::NoRows);
        }
        engine
            .phase("map", objects.len() as u64, |check| {
                let values = ObjectValues { engine, kernel: &kernel, objects };
                let weights = vec![1.0; objects.len()];
                let chosen = match choice {
                    // Objects come in any order, not in a random one.
                    Choice::Uniform => shuffled(objects.len(), seed).into_iter().take(landmarks).collect(),
                    _ => landmarks::among(choice, &values, &weights, landmarks, seed, check)?,
                };
                let picked: Vec<&X> = chosen.iter().map(|&i| &objects[i]).collect();
                let gram = kernel.gram(&picked, &picked)?;
                let (pivots, whitening) = landmarks::whitening(engine, gram, 1e-10, check)?;
                let landmarks = pivots.into_iter().map(|p| picked[p].clone()).collect();
                Ok((landmarks, whitening))
            })
            .map(|(landmarks, whitening)| ObjectMap { kernel, landmarks, whitening })
    }

    /// Features, D: as many as landmarks were kept.
    pub fn output_dim(&self) -> usize {
        self.landmarks.len()
    }

    /// The landmarks that were kept.
    pub fn landmarks(&self) -> &[X] {
        &self.landmarks
    }

    /// F₂ of each object.
    pub fn transform(&self, engine: &Engine, objects: &[X]) -> Result<Matrix<f64>> {
        let (theirs, own) = (self.landmarks.iter().collect::<Vec<_>>(), objects.iter().collect::<Vec<_>>());
        let values = self.kernel.gram(&own, &theirs)?;
        Ok(linalg::multiply(engine, &values, &self.whitening))
    }

    /// r(x) = k(x, x) − ‖F₂(x)‖² of each object: |k(x, y) − F₂(x)·F₂(y)| ≤ √(r(x)·r(y)), always.
    pub fn residuals(&self, engine: &Engine, objects: &[X]) -> Result<Vec<f64>> {
        let features = self.transform(engine, objects)?;
        let square = |i: usize| features.row(i).iter().map(|z| z * z).sum::<f64>();
        Ok(objects.iter().enumerate().map(|(i, x)| (self.kernel.value(x, x) - square(i)).max(0.0)).collect())
    }
}
