//! What leads the conjugate gradients of streamed features: P ≈ ∇²F for all outputs, from one matrix.
//!
//! ```text
//! ∇²F ≈ I + B·(S + z̄z̄ᵀ),   S = Σ cᵢκᵢ(zᵢ − z̄)(zᵢ − z̄)ᵀ/B,   B = Σ cᵢκᵢ,    κᵢ the mean bend of row i over all outputs
//! with b′ = b + w·z̄ the constant stands by itself:   P = (I + B·S) ⊕ (B + 1 or 0) ⊕ Σ cᵢℓ″ᵢuᵢ²
//! ```
//! S is that of a sample of rows, or is seen through random vectors, or is its diagonal: the guides of ridge's conjugate gradients, whose λ is 1/B here. Each output has its own B, so that they share S and still have their own size, and
//! another λ of the objective, which changes B alone, needs no other S. It is made anew with the bends of the moment where it leads astray.

use super::descent::{Descent, Group};
use crate::learn::streamed::{Block, Job, Shown, Visitor};
use crate::linalg::dot;
use crate::plan::{ENOUGH_RANK, FIRST_RANK, RidgeShape, SKETCH_ROWS};
use crate::solve::pcg::{Guide, Nystrom, Operator, Vectors};
use crate::solve::{Constant, Normal, Preconditioner};
use crate::stat::Gram;
use crate::{Engine, Event, MatrixView, Result, Scalar};
use bochner_simd::{Aligned, RowsRef, project};

/// A guide, if one was made, and what it takes to make another.
pub(super) struct Lead<'a> {
    pub(super) engine: &'a Engine,
    pub(super) shape: &'a RidgeShape,
    /// How many distinct rows there are.
    pub(super) distinct: f64,
    /// To begin with.
    pub(super) kind: Preconditioner,
    /// Means and variances of the features.
    pub(super) means: Vec<f64>,
    pub(super) variances: Vec<f64>,
    pub(super) made: Option<Made>,
}

/// S about z̄.
pub(super) struct Made {
    guide: Guide,
    centre: Vec<f64>,
}

/// A B so small that P is the identity.
const LEAST_BEND: f64 = 1e-100;

impl Lead<'_> {
    /// Makes a guide if there is none, and another if that led astray, or what bends is known to be other rows.
    pub(super) fn prepare(
        &mut self,
        descent: &Descent<'_>,
        groups: &[Group],
        is_astray: bool,
        is_other: bool,
    ) -> Result<()> {
        let limit = self.engine.memory_limit();
        if let Some(made) = &self.made {
            if !(is_astray || is_other) {
                return Ok(());
            }
            self.kind = match (self.kind, made.guide.kind()) {
                (_, Preconditioner::Nystrom { rank }) => {
                    let more = if is_astray { self.shape.newton_rank(2 * rank, limit) } else { None };
                    Preconditioner::Nystrom { rank: more.unwrap_or(rank).max(rank) }
                }
                (Preconditioner::Diagonal, _) => match self.shape.newton_rank(FIRST_RANK, limit) {
                    Some(rank) if is_astray => Preconditioner::Nystrom { rank },
                    _ => return Ok(()),
                },
                (kind, _) => kind,
            };
        }
        let is_first = self.made.is_none();
        // There may be no room for both.
        self.made = None;
        self.made = Some(self.make(descent, groups, is_first)?);
        Ok(())
    }

    fn make(&self, descent: &Descent<'_>, groups: &[Group], is_first: bool) -> Result<Made> {
        let made = match self.kind {
            Preconditioner::Sample | Preconditioner::Sketch => self.by_sample(descent, groups)?,
            Preconditioner::Nystrom { rank } => Some(self.by_vectors(descent, groups, rank, is_first)?),
            Preconditioner::Diagonal => None,
        };
        // The diagonal also where no row of the sample bends.
        let diagonal = || Made { guide: Guide::Diagonal(self.variances.clone()), centre: self.means.clone() };
        Ok(made.unwrap_or_else(diagonal))
    }

    /// S of a sample of the rows that bend.
    fn by_sample(&self, descent: &Descent<'_>, groups: &[Group]) -> Result<Option<Made>> {
        let features = self.means.len();
        let bending = groups.iter().map(|group| group.bending).fold(0.0, f64::max);
        let share = SKETCH_ROWS * features as f64 / (self.distinct * bending).max(1.0);
        let (directions, constants) = descent.weights(groups.iter());
        let mut seen = Seen {
            bends: Bends::new(descent, groups),
            coefficients: directions.concat(),
            constants,
            sums: Gram::zero(self.engine, features, 0, 1),
            engine: self.engine,
        };
        descent.stream.visit(share, &mut seen)?;
        if seen.sums.rows() == 0 && share < 1.0 {
            // Few enough that all of them can be looked at.
            descent.stream.visit(1.0, &mut seen)?;
        }
        if seen.sums.rows() == 0 {
            return Ok(None);
        }
        let single = descent.stream.source.scalar_bytes() == 4;
        let rounding = if single { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let check = |_| self.engine.tell(&Event::Alive);
        let sums = seen.sums.total(self.engine);
        drop(seen.sums);
        let has_constant = descent.constant != Constant::None;
        let mean = |sum: &f64| if has_constant { sum / sums.weight } else { 0.0 };
        let centre = sums.features.iter().map(mean).collect();
        let normal = Normal::new(self.engine, sums, has_constant);
        let guide = Guide::whole(self.engine, normal.matrix, rounding, false, &check)?;
        Ok(Some(Made { guide, centre }))
    }

    /// S seen through random vectors, as many as are of use or are asked for.
    fn by_vectors(
        &self,
        descent: &Descent<'_>,
        groups: &[Group],
        rank: usize,
        is_first: bool,
    ) -> Result<Made> {
        let mut nystrom = Nystrom::new(self.means.len(), descent.stream.map.spec().seed);
        let mut products = Products { bends: Bends::new(descent, groups), centre: &self.means };
        let bend = groups.iter().map(|group| group.bend).fold(LEAST_BEND, f64::max);
        let mut wanted = if is_first { rank.min(FIRST_RANK) } else { rank };
        loop {
            nystrom.grow(&mut products, wanted)?;
            // (Infinite, where nothing is seen.)
            if !(nystrom.last() > 10.0 / bend)
                || nystrom.last().is_infinite()
                || wanted >= rank.min(ENOUGH_RANK)
            {
                break;
            }
            wanted = (2 * wanted).min(rank);
        }
        Ok(Made { guide: Guide::Nystrom(nystrom), centre: self.means.clone() })
    }

    /// P⁻¹ of a residual of each of some groups.
    pub(super) fn lead(&self, descent: &Descent<'_>, residuals: &[(&Group, &[f64])]) -> Vectors {
        let Some(Made { guide, centre }) = &self.made else {
            return residuals.iter().map(|(_, residual)| residual.to_vec()).collect();
        };
        let (features, has_constant) = (centre.len(), descent.constant != Constant::None);
        let held = if descent.constant == Constant::Held { 1.0 } else { 0.0 };
        let inverse = |group: &Group| 1.0 / group.bend.max(LEAST_BEND);
        let outputs =
            || residuals.iter().flat_map(|(group, r)| descent.outputs(group, r).map(move |r| (*group, r)));
        // Residuals as b′ sees them.
        let centred: Vec<(Vec<f64>, f64)> = outputs()
            .map(|(group, r)| {
                let pull = r.get(features).copied().unwrap_or(0.0);
                (r.iter().zip(centre).map(|(r, mean)| r - mean * pull).collect(), inverse(group))
            })
            .collect();
        let sides: Vec<(&[f64], f64)> = centred.iter().map(|(r, lambda)| (&r[..], *lambda)).collect();
        let led = guide.lead(self.engine, &sides);
        let mut led = outputs().zip(led).map(|((group, r), mut led)| {
            let size = inverse(group) / guide.factor(inverse(group));
            led.iter_mut().for_each(|x| *x *= size);
            if has_constant {
                let bend = if group.bend + held > 0.0 { group.bend + held } else { 1.0 };
                led.push(r[features] / bend - dot(&led, centre));
            }
            led
        });
        let whole = |(group, residual): &(&Group, &[f64])| {
            let mut all: Vec<f64> = led.by_ref().take(group.state.width).flatten().collect();
            // What is left is that of σ.
            let bend = if group.scale_bend > 0.0 { group.scale_bend } else { 1.0 };
            all.extend(residual[all.len()..].iter().map(|r| r / bend));
            all
        };
        residuals.iter().map(whole).collect()
    }
}

/// κ of each row, in units of its mean.
struct Bends<'a> {
    descent: &'a Descent<'a>,
    groups: &'a [Group],
    unit: f64,
}

impl<'a> Bends<'a> {
    fn new(descent: &'a Descent<'a>, groups: &'a [Group]) -> Bends<'a> {
        let mut bends = Bends { descent, groups, unit: 1.0 };
        let unit = bends.mean(|group| group.mean_bend);
        bends.unit = if unit > 0.0 { unit } else { 1.0 };
        bends
    }

    /// The mean over outputs.
    fn mean(&self, bend: impl Fn(&Group) -> f64) -> f64 {
        let width: usize = self.groups.iter().map(|group| group.state.width).sum();
        self.groups.iter().map(|group| bend(group) * group.state.width as f64).sum::<f64>()
            / width.max(1) as f64
    }

    /// w·κ of a row that has these scores; 0 for one that does not take part.
    fn of(&self, block: &Block, i: usize, scores: &[f64]) -> f64 {
        if !self.descent.counts(block, i) {
            return 0.0;
        }
        let mut at = 0;
        let mut sum = 0.0;
        for Group { state, .. } in self.groups {
            let s = &scores[at..at + state.width];
            sum += state.loss.curvature(self.descent.target(block, i, state), s) * state.width as f64;
            at += state.width;
        }
        block.weights[i] * sum / (at.max(1) as f64 * self.unit)
    }
}

/// Sums of products of features of rows, weighted by their bends.
struct Seen<'a> {
    engine: &'a Engine,
    bends: Bends<'a>,
    coefficients: Vec<f64>,
    constants: Vec<f64>,
    sums: Gram,
}

/// Rows that one thread scores at once.
const CHUNK: usize = 64;

impl Visitor for Seen<'_> {
    fn visit<T: Scalar>(&mut self, z: MatrixView<'_, T>, rows: &Shown<'_>, spare: &mut Aligned<T>) {
        let (width, outputs) = (z.columns(), self.constants.len());
        let mut scores = self.constants.repeat(z.rows());
        self.engine.for_each_chunk(&mut scores, CHUNK * outputs, &|chunk, scores| {
            let here = z.slice(chunk * CHUNK..z.rows().min((chunk + 1) * CHUNK));
            let here = RowsRef { data: here.as_slice(), count: here.rows(), stride: here.stride() };
            project(self.engine.isa(), here, width, &self.coefficients, scores);
        });
        let weight =
            |(k, &i): (usize, &usize)| self.bends.of(rows.block, i, &scores[k * outputs..(k + 1) * outputs]);
        let weights: Vec<f64> = rows.places.iter().enumerate().map(weight).collect();
        if let Ok(none) = MatrixView::new(&[], z.rows(), 0) {
            self.sums.absorb(self.engine, z, none, &|i| weights[i], &|_| 0, spare);
        }
    }
}

/// S, known by its products.
struct Products<'a> {
    bends: Bends<'a>,
    centre: &'a [f64],
}

impl Operator for Products<'_> {
    fn apply(&mut self, vectors: &[&[f64]]) -> Result<Vectors> {
        let descent = self.bends.descent;
        let (mut directions, mut constants) = descent.weights(self.bends.groups.iter());
        let outputs = directions.len();
        directions.extend(vectors);
        constants.extend(vectors.iter().map(|v| -dot(self.centre, v)));
        let total = descent.stream.pass(&Job {
            directions: &directions,
            constants: &constants,
            back: vectors.len(),
            plain: 0,
            squares: false,
            values: &|block, i, reach, out| {
                let (scores, reach) = reach.split_at(outputs);
                let weight = self.bends.of(block, i, scores);
                out.iter_mut().zip(reach).for_each(|(out, reach)| *out = weight * reach);
            },
        })?;
        let centred = |(mut vector, sum): (Vec<f64>, &f64)| {
            vector.iter_mut().zip(self.centre).for_each(|(v, m)| *v = (*v - m * sum) / descent.weight);
            vector
        };
        Ok(total.vectors.into_iter().zip(&total.plain).map(centred).collect())
    }

    fn engine(&self) -> &Engine {
        self.bends.descent.stream.engine
    }

    /// There are no right sides.
    fn fresh(&mut self, of: &[(usize, &[f64])]) -> Result<Vectors> {
        let vectors: Vec<&[f64]> = of.iter().map(|(_, v)| *v).collect();
        let mut found = self.apply(&vectors)?;
        found.iter_mut().flatten().for_each(|x| *x = -*x);
        Ok(found)
    }
}
