//! What a ridge fit by conjugate gradients costs, and which guide it takes.
//!
//! ```text
//! a pass   n·D·(d + 2k) multiply-adds, k right sides;  2·n·D·k where features are kept      guide: s·D²/2 + ⅔·D³ of a sample of s = 4D to 8D rows (from 2D, and ⅙·D³, for one λ),  2·n·D·r of r random vectors
//! ```
//! n × D numbers are kept only where they are few, and D² not where the guide is random vectors or a diagonal.

use super::{Cost, RidgeShape};
use crate::certify::capacity;
use crate::learn::{Solver, part_numbers, slab};
use crate::solve::Preconditioner;
use crate::sweep::{BLOCK, GROUP};

/// Rows of a sketch, as a multiple of D; of a sample at least, for one λ and for many; of a sample at most; and the part of all rows that it is in between.
pub(crate) const SKETCH_ROWS: f64 = 4.0;
const LEAST_SAMPLED: [f64; 2] = [2.0, 4.0];
const MOST_SAMPLED: f64 = 8.0;
const SAMPLED: f64 = 0.125;

/// λ that are tried at once.
pub(crate) const TOGETHER: usize = 7;

/// Random vectors to begin with, and at most.
pub(crate) const FIRST_RANK: usize = 64;
pub(crate) const ENOUGH_RANK: usize = 256;
const MOST_RANK: usize = 2048;

/// Random vectors of less use than a diagonal.
const LEAST_RANK: usize = 16;

/// Steps that a guide is expected to need.
fn steps(guide: Preconditioner) -> f64 {
    match guide {
        Preconditioner::Sample | Preconditioner::Sketch => 16.0,
        Preconditioner::Nystrom { .. } => 50.0,
        Preconditioner::Diagonal => 100.0,
    }
}

/// Rows that are expected where nobody knows.
const UNKNOWN: f64 = 1e6;

/// What a solver keeps beside its guide, and does in a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    /// Vectors of D numbers.
    pub(super) vectors: f64,
    /// Numbers beside each row of a block.
    pub(super) values: f64,
    /// Slabs of features that are not there, but whose place the allocator has not given back.
    pub(super) holes: f64,
    /// Multiply-adds for each feature of a row, once it is made.
    pub(super) products: f64,
    /// Sums of a pass.
    pub(super) back: usize,
}

/// How a fit by passes would go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Conjugate {
    pub(crate) guide: Preconditioner,
    /// Whether features are made once and kept.
    pub(crate) keeps: bool,
    /// Passes in which products are made, residuals anew among them.
    pub(crate) steps: f64,
    /// Multiply-adds of the guide.
    pub(crate) to_guide: f64,
    pub(crate) cost: Cost,
}

/// How the equations are solved, with what it costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
    Gram(Cost),
    Passes(Conjugate),
}

impl Way {
    pub(crate) fn cost(&self) -> Cost {
        match self {
            Way::Gram(cost) => *cost,
            Way::Passes(plan) => plan.cost,
        }
    }
}

/// Products with so many vectors, in double precision and from memory, take this many times as long as sums of as many multiply-adds.
pub(super) fn slowness(vectors: f64) -> f64 {
    3.0 + 6.0 / vectors.max(1.0)
}

/// The work by which sums must exceed passes for these to be taken: a little where λ is given and features are kept; more where sums would tell the error of every fold, or rows would be read in every pass.
const WORTH: f64 = 1.25;
const WORTH_MORE: f64 = 3.0;

/// Multiply-adds, of the speed of sums, that a cosine or an exponential takes.
const FUNCTION: f64 = 30.0;

/// Bytes of features that are kept at most: they grow with the rows, and memory is promised not to.
const KEPT: f64 = (2u64 << 30) as f64;

impl RidgeShape {
    /// What a fit costs that is solved so, within so many bytes.
    pub fn cost_within(&self, solver: Solver, limit: u64) -> Cost {
        self.way(solver, limit).cost()
    }

    /// How the equations are solved within so many bytes: by sums if the solver may be chosen, they fit, and do not cost more than passes by the part that is worth it.
    pub(crate) fn way(&self, solver: Solver, limit: u64) -> Way {
        let (gram, passes) = (self.cost(), self.conjugate(limit));
        let rows = self.rows.map_or(UNKNOWN, |n| n as f64);
        let sums = rows / 1e6 * gram.multiply_adds_per_million_rows + gram.multiply_adds_to_solve;
        let worth = if self.folds == 1 && passes.keeps { WORTH } else { WORTH_MORE };
        // Of rows that nobody has counted one pass is the best guess.
        let is_worth = self.rows.is_some() && self.work(&passes, rows) * worth < sums;
        // What fits in neither way is refused as sums: the usual ones.
        let fits = gram.peak_bytes <= limit || passes.cost.peak_bytes > limit;
        match solver {
            Solver::Gram => Way::Gram(gram),
            Solver::Auto if fits && !is_worth => Way::Gram(gram),
            Solver::Auto | Solver::Cg { .. } => Way::Passes(passes),
        }
    }

    /// Multiply-adds of passes, in units of those of sums.
    fn work(&self, plan: &Conjugate, rows: f64) -> f64 {
        let times = if plan.keeps { 1.0 } else { plan.steps };
        let made = times * (self.to_make_or_keep(plan.keeps) + FUNCTION * self.features as f64);
        let met = plan.steps * 2.0 * self.features as f64 * self.sides();
        rows * (made + slowness(self.sides()) * met) + plan.to_guide
    }

    /// What conjugate gradients keep and do for all right sides. Of each column: side, x, residual, direction, P⁻¹r, the product and its sums, and directions side by side.
    fn load(&self) -> Load {
        let vectors = self.sides() * if self.has_many_groups() { 9.0 } else { 8.0 };
        let (values, products) = (3.0 * self.sides() + 4.0, 2.0 * self.sides());
        Load { vectors, values, holes: 0.0, products, back: self.sides() as usize }
    }

    /// Right sides that are solved at once.
    pub(super) fn sides(&self) -> f64 {
        self.outputs as f64 * if self.folds > 1 { TOGETHER as f64 } else { 1.0 }
    }

    pub(super) fn has_many_groups(&self) -> bool {
        self.rows.is_none_or(|n| n > (BLOCK * GROUP) as u64)
    }

    /// Bytes at the peak: beside a sample, what its certificate is measured with, or the map while it is made, or the solver at work with its guide.
    fn peak(&self, guide: Preconditioner, load: Load, keeps: bool) -> f64 {
        let f = |n: usize| n as f64;
        let (entries, features, scalar) = (self.entries as f64, f(self.features), f(self.scalar_bytes));
        let rows = |most: usize| self.rows.map_or(f(most), |n| f(most).min(n as f64));
        let vectors = (load.vectors * features + part_numbers(self.features, load.back) as f64) * 8.0;
        let features_at_once = if keeps {
            self.kept()
        } else if self.map.is_sparse() {
            self.map.sparse_entries(rows(BLOCK) as u64, None) as f64 * 2.0 * (scalar + 8.0)
        } else {
            (1.0 + load.holes) * rows(slab(self.features)) * features * scalar
        };
        let values = rows(BLOCK) * load.values * 8.0;
        let sampled = f(capacity(&self.map, self.inputs)).min(self.rows.map_or(f64::INFINITY, |n| n as f64));
        let (sample, certificate) = (sampled * entries * (16.0 + 8.0), 512.0 * features * 8.0);
        let (made, kept) = (self.map.bytes(self.inputs) as f64, self.map.bytes_kept(self.inputs) as f64);
        let solver = kept + vectors + features_at_once + values + self.guide_bytes(guide);
        sample + made.max(kept + certificate).max(solver)
    }

    /// Bytes of all features with what is known of their rows, and of a second map whose landmarks are plain.
    fn kept(&self) -> f64 {
        let (scalar, features) = (self.scalar_bytes as f64, self.features as f64);
        let Some(rows) = self.rows else { return f64::INFINITY };
        // Rows that are their own features are there already.
        if self.map.is_identity() {
            return f64::INFINITY;
        }
        let numbers = if self.map.is_sparse() {
            self.map.sparse_entries(rows, None) as f64 * (scalar + 4.0)
        } else {
            rows as f64 * features * scalar
        };
        let landmarks = features * self.inputs as f64 * (8.0 + 2.0 * scalar);
        let is_plain = matches!(self.map.method, crate::Method::Landmarks { .. });
        numbers + rows as f64 * 8.0 * (self.outputs as f64 + 3.0) + if is_plain { landmarks } else { 0.0 }
    }

    /// Bytes that a guide takes while it is made.
    fn guide_bytes(&self, guide: Preconditioner) -> f64 {
        let (features, scalar) = (self.features as f64, self.scalar_bytes as f64);
        let square = features * features * 8.0;
        // A slab and its packed copy, beside half of the matrix in tiles; then both and the whole.
        let slab = slab(self.features) as f64 * features * scalar;
        match guide {
            Preconditioner::Sample => 1.5 * square + slab,
            Preconditioner::Sketch => {
                (SKETCH_ROWS * features * features * scalar + 0.5 * square).max(2.0 * square) + 2.0 * slab
            }
            // Of each: itself, its product, the sums of that and of parts; later half of the root, and the vectors.
            Preconditioner::Nystrom { rank } => {
                (6.0 * rank as f64 * features + part_numbers(self.features, rank) as f64) * 8.0
            }
            Preconditioner::Diagonal => features * 8.0,
        }
    }

    /// Whether a guide fits.
    pub(crate) fn has_room(&self, guide: Preconditioner, limit: u64, keeps: bool) -> bool {
        self.peak(guide, self.load(), keeps) <= limit as f64
    }

    /// The largest rank up to `most` for which there is room; none below one that is of use.
    pub(crate) fn rank(&self, most: usize, limit: u64, keeps: bool) -> Option<usize> {
        self.rank_beside(most, limit, self.load(), keeps)
    }

    /// The same beside any load.
    pub(super) fn rank_beside(&self, most: usize, limit: u64, load: Load, keeps: bool) -> Option<usize> {
        let mut rank = most.min(MOST_RANK).min(self.features / 2);
        while rank >= LEAST_RANK && self.peak(Preconditioner::Nystrom { rank }, load, keeps) > limit as f64 {
            rank /= 2;
        }
        (rank >= LEAST_RANK).then_some(rank)
    }

    /// Rows that a sample should have, given all: more make fewer steps, which cost the more the more rows there are.
    pub(crate) fn guide_rows(&self, rows: f64) -> f64 {
        let (features, least) = (self.features as f64, LEAST_SAMPLED[usize::from(self.folds > 1)]);
        (SAMPLED * rows).clamp(least * features, MOST_SAMPLED * features)
    }

    /// Multiply-adds to make a row of features, or what is kept of it: landmarks as plain kernel values where λ is given.
    pub(super) fn to_make_or_keep(&self, keeps: bool) -> f64 {
        match self.map.method {
            crate::Method::Landmarks { .. } if keeps && self.folds == 1 => {
                self.features as f64 * self.entries as f64
            }
            _ => self.to_make_a_row(),
        }
    }

    /// Multiply-adds of one pass over a row.
    fn pass(&self, load: Load, keeps: bool) -> f64 {
        let made = if keeps { 0.0 } else { self.to_make_a_row() };
        made + self.features as f64 * load.products
    }

    /// Multiply-adds of a band form for every λ, or of a factor for one.
    pub(super) fn to_form(&self) -> f64 {
        (if self.folds > 1 { 2.0 / 3.0 } else { 1.0 / 6.0 }) * (self.features as f64).powi(3)
    }

    /// Multiply-adds of making a guide, given the rows.
    fn to_make(&self, guide: Preconditioner, rows: f64) -> f64 {
        let features = self.features as f64;
        match guide {
            Preconditioner::Sample | Preconditioner::Sketch => {
                let sampled = self.guide_rows(rows).min(rows);
                sampled * features * features / 2.0 + self.to_form()
            }
            Preconditioner::Nystrom { rank } => 2.0 * rows * features * rank as f64,
            Preconditioner::Diagonal => 0.0,
        }
    }

    /// The guide to begin with: a sample, if its square fits and costs no more than a few hundred passes; random vectors; for features that are mostly zero, the diagonal.
    fn guide(&self, limit: u64, load: Load) -> Preconditioner {
        let rows = self.rows.map_or(UNKNOWN, |n| n as f64);
        let sample = Preconditioner::Sample;
        let is_cheap = self.to_make(sample, rows) <= 300.0 * rows * self.pass(load, false);
        if self.peak(sample, load, false) <= limit as f64 && is_cheap {
            sample
        } else if self.map.is_sparse() {
            Preconditioner::Diagonal
        } else {
            let rank = self.rank_beside(ENOUGH_RANK, limit, load, false);
            rank.map_or(Preconditioner::Diagonal, |rank| Preconditioner::Nystrom { rank })
        }
    }

    /// How passes go within so many bytes, if a guide makes for so many of them; whether features may be kept is up to who asks.
    pub(super) fn by_passes(
        &self,
        limit: u64,
        load: Load,
        may_keep: bool,
        passes: impl Fn(Preconditioner) -> f64,
    ) -> Conjugate {
        let rows = self.rows.map_or(UNKNOWN, |n| n as f64);
        let guide = self.guide(limit, load);
        let steps = passes(guide);
        let has_room =
            || self.kept() <= KEPT.min(limit as f64 / 2.0) && self.peak(guide, load, true) <= limit as f64;
        let keeps = may_keep && has_room();
        let once = self.to_make(guide, rows);
        let made = if keeps { self.to_make_or_keep(true) } else { 0.0 };
        let per_row = match guide {
            Preconditioner::Nystrom { .. } => once / rows,
            _ => 0.0,
        };
        Conjugate {
            guide,
            keeps,
            steps,
            to_guide: once,
            cost: Cost {
                // Beside the steps the sample, the sides and the guide.
                passes: if keeps { 3 } else { steps.ceil() as u32 + 3 },
                multiply_adds_per_million_rows: 1e6 * (made + steps * self.pass(load, keeps) + per_row),
                multiply_adds_to_solve: once - per_row * rows,
                peak_bytes: self.peak(guide, load, keeps) as u64,
            },
        }
    }

    /// Ridge by conjugate gradients.
    pub(crate) fn conjugate(&self, limit: u64) -> Conjugate {
        // Every group of λ to a ten-thousandth, two of three groups; then the one. Residuals are found anew every ten steps.
        let groups = if self.folds > 1 { 2.0 } else { 0.0 };
        self.by_passes(limit, self.load(), true, |guide| 1.1 * steps(guide) * (1.0 + 0.7 * groups))
    }
}
