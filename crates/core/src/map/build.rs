//! From a recipe to a map that can be applied.
//!
//! Each part that draws has a seed of its own, a function of the map's seed and the part's place in the tree; an expression of one part has the map's.

use super::combination::Combinations;
use super::compile::{How, Recipe};
use super::exact::Exact;
use super::fourier::Ask;
use super::hinge::Hinges;
use super::homogeneous::Homogeneous;
use super::part::Part;
use super::positive::Positive;
use super::projection::Projector;
use super::sign::Subsets;
use super::sketch::Sketched;
use super::{Binning, Fourier, FrequencyDraw, Grids, Projection};
use crate::engine::Check;
use crate::kernel::{RowFactor, columns_of};
use crate::random::{Draws, Stream};
use crate::{Engine, Error, Kernel, Result};

/// Builds the parts of a recipe.
pub(super) struct Builder<'a> {
    engine: &'a Engine,
    columns: usize,
    seed: u64,
    /// Parts that have drawn so far.
    drawn: u64,
    check: Check<'a>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(engine: &'a Engine, columns: usize, seed: u64, check: Check<'a>) -> Self {
        Builder { engine, columns, seed, drawn: 0, check }
    }

    /// The seed of the next part that draws.
    fn next_seed(&mut self) -> u64 {
        self.drawn += 1;
        match self.drawn {
            1 => self.seed,
            n => {
                let mut draws = Draws::new(self.seed, Stream::Parts, n);
                u64::from(draws.word()) << 32 | u64::from(draws.word())
            }
        }
    }

    pub(super) fn part(&mut self, recipe: &Recipe) -> Result<Part> {
        // A leaf on some columns is a leaf of rows that have these only; Fourier features and grids choose for themselves.
        if let (Kernel::Restricted { columns, .. }, false) =
            (&recipe.kernel, matches!(recipe.how, How::Fourier { .. } | How::Grids { .. }))
        {
            let columns: Vec<usize> = columns_of(columns).collect();
            let recipe = unrestricted(recipe);
            let mut inner = Builder { columns: columns.len(), ..*self };
            let part = Box::new(inner.part(&recipe)?);
            self.drawn = inner.drawn;
            return Ok(Part::On { columns, part });
        }
        let (features, columns) = (recipe.features, self.columns);
        Ok(match &recipe.how {
            How::Exact => Part::Exact(Exact::build(&recipe.kernel, columns)?.ok_or_else(|| wrong(recipe))?),
            How::Constant => {
                let mass = recipe.kernel.constant_diagonal().ok_or_else(|| wrong(recipe))?;
                Part::Scale { factor: mass.sqrt(), part: Box::new(Part::Exact(Exact::Constant)) }
            }
            How::Taylor { degree } => {
                let Kernel::Gaussian { sigma } = &recipe.kernel else { return Err(wrong(recipe)) };
                Part::Exact(Exact::taylor(sigma, columns, *degree))
            }
            How::Fourier { form, draw } => {
                let spectrum = recipe.kernel.spectrum().ok_or_else(|| wrong(recipe))?;
                let ask = Ask { form: *form, draw: *draw, features, seed: self.next_seed() };
                Part::Fourier(Fourier::build(self.engine, &spectrum, ask, columns, self.check)?)
            }
            How::Homogeneous { steps } => Part::Homogeneous(
                Homogeneous::new(&recipe.kernel, columns, *steps).ok_or_else(|| wrong(recipe))?,
            ),
            How::Hinges => {
                let Kernel::ArcCosine { order } = recipe.kernel else { return Err(wrong(recipe)) };
                Part::Hinges(Hinges::build(
                    self.engine,
                    order,
                    features,
                    columns,
                    self.next_seed(),
                    self.check,
                )?)
            }
            How::Subsets => Part::Subsets(Subsets::new(features, columns, self.next_seed())),
            How::Sketch { sketch } => {
                let &Kernel::Polynomial { degree, gamma, c } = &recipe.kernel else {
                    return Err(wrong(recipe));
                };
                Part::Sketched(Sketched::new(
                    *sketch,
                    (degree, gamma, c),
                    features,
                    columns,
                    self.next_seed(),
                ))
            }
            How::Hashed => {
                let (degree, repeated) = Combinations::of(&recipe.kernel).ok_or_else(|| wrong(recipe))?;
                Part::Hashed(Combinations::hashed(features, degree, repeated, self.next_seed())?)
            }
            How::Grids { width } => {
                let law = recipe.kernel.grid_law(columns).ok_or_else(|| wrong(recipe))?;
                let count = features / (width * law.outputs());
                Part::Grids(Box::new(Binning::hashed(
                    Grids::draw(self.engine, &law, count, self.next_seed(), columns, self.check)?,
                    *width,
                )))
            }
            How::Projected(inner) => {
                let inner = self.part(inner)?;
                let shape = (features, inner.output_dim());
                let projection =
                    Projector::build(self.engine, Projection::Signs, shape, self.next_seed(), self.check)?;
                nested(inner, Part::Projection(projection))
            }
            How::Projection { how } => {
                let shape = (features, columns);
                Part::Projection(Projector::build(self.engine, *how, shape, self.next_seed(), self.check)?)
            }
            How::OfDistance { form, part: inner } => {
                let Kernel::ExponentialChi2 { gamma } = recipe.kernel else { return Err(wrong(recipe)) };
                let inner = self.part(inner)?;
                // exp(−γ‖u − v‖²)
                let spectrum =
                    Kernel::gaussian((0.5 / gamma).sqrt()).spectrum().ok_or_else(|| wrong(recipe))?;
                let ask =
                    Ask { form: *form, draw: FrequencyDraw::Orthogonal, features, seed: self.next_seed() };
                let outer = Fourier::build(self.engine, &spectrum, ask, inner.output_dim(), self.check)?;
                nested(inner, Part::Fourier(outer))
            }
            How::Positive(inner) => {
                let inner = self.part(inner)?;
                let outer =
                    Positive::build(self.engine, features, inner.output_dim(), self.next_seed(), self.check)?;
                nested(inner, Part::Positive(outer))
            }
            How::Join(parts) => Part::Join(self.parts(parts)?),
            How::Tensor(parts) => Part::Tensor(self.parts(parts)?),
            How::Multiply(parts) => Part::Multiply(self.parts(parts)?),
            How::Scale { factor, part } => {
                Part::Scale { factor: factor.sqrt(), part: Box::new(self.part(part)?) }
            }
            How::Weight { function, part } => {
                Part::Weight { by: RowFactor::Function(function.clone()), part: Box::new(self.part(part)?) }
            }
            How::Normalise(part) => {
                Part::Weight { by: RowFactor::Length(part.kernel.clone()), part: Box::new(self.part(part)?) }
            }
        })
    }

    fn parts(&mut self, recipes: &[Recipe]) -> Result<Vec<Part>> {
        recipes.iter().map(|recipe| self.part(recipe)).collect()
    }
}

/// The recipe of a leaf with its inner ones, which are of the same leaf, for rows that have its columns only.
fn unrestricted(recipe: &Recipe) -> Recipe {
    let bare = |inner: &Recipe| Box::new(unrestricted(inner));
    let how = match &recipe.how {
        How::Projected(inner) => How::Projected(bare(inner)),
        How::OfDistance { form, part } => How::OfDistance { form: *form, part: bare(part) },
        how => how.clone(),
    };
    let kernel = match &recipe.kernel {
        Kernel::Restricted { kernel, .. } => (**kernel).clone(),
        kernel => kernel.clone(),
    };
    Recipe { kernel, how, features: recipe.features }
}

fn nested(inner: Part, outer: Part) -> Part {
    Part::Nested { inner: Box::new(inner), outer: Box::new(outer) }
}

/// A recipe that does not fit its kernel: nothing that the compiler makes.
fn wrong(recipe: &Recipe) -> Error {
    Error::Unsupported {
        what: format!("{:?} of {}", recipe.how, recipe.kernel),
        reason: "they do not go together",
        instead: "let the compiler choose",
    }
}
