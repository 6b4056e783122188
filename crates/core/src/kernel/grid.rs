//! Random grids whose cells are shared with the kernel's probability.
//!
//! ```text
//! k(x, y) = mass·∏ hatlike(xⱼ, yⱼ)·s(x − y)        hatlike: laplace or hat, a mixture of hats;   s: shift-invariant, or none
//! P(x and y share a cell)·E exp(i ω·(x − y)) = k(x, y)/mass
//! ```
//! A product of such kernels joins their grids: a cell of the product is a cell of each. What is shift-invariant but no mixture of hats puts a frequency into
//! each grid.

use super::{Kernel, Law, Spectrum, columns};

/// A kernel by grids.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridLaw {
    pub(crate) mass: f64,
    /// One for each column of each factor.
    pub(crate) columns: Vec<GridColumn>,
    /// The law of a frequency for each grid; none if there is nothing but grids.
    pub(crate) waves: Option<Law>,
}

/// One direction of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GridColumn {
    pub(crate) column: usize,
    pub(crate) pitch: Pitch,
}

/// The law of the pitch of a random grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pitch {
    /// Gamma with shape 2.
    Gamma { scale: f64 },
    /// One pitch.
    Fixed { width: f64 },
}

impl Pitch {
    /// What the bound that holds everywhere needs of the law: the larger of E[1/pitch] and the steepest slope of the kernel in one column. Both
    /// are one over the width, for hats and for their Gamma mixture alike.
    pub(crate) fn rate(self) -> f64 {
        match self {
            Pitch::Gamma { scale } => 1.0 / scale,
            Pitch::Fixed { width } => 1.0 / width,
        }
    }
}

impl GridLaw {
    /// Features of a cell.
    pub(crate) fn outputs(&self) -> usize {
        if self.waves.is_some() { 2 } else { 1 }
    }
}

impl Kernel {
    /// Grids for rows with so many columns; none for kernels without a factor that is a mixture of hats.
    pub(crate) fn grid_law(&self, count: usize) -> Option<GridLaw> {
        let law = self.joined(count)?;
        (!law.columns.is_empty()).then_some(law)
    }

    fn joined(&self, count: usize) -> Option<GridLaw> {
        let directions = |chosen: Option<Vec<usize>>, pitch: &dyn Fn(usize) -> Pitch| {
            let number = |at: usize| chosen.as_ref().map_or(at, |columns| columns[at]);
            let directions = 0..chosen.as_ref().map_or(count, Vec::len);
            let columns = directions.map(|at| GridColumn { column: number(at), pitch: pitch(at) }).collect();
            Some(GridLaw { mass: 1.0, columns, waves: None })
        };
        match self {
            Kernel::Scaled { factor, kernel } => {
                kernel.joined(count).map(|law| GridLaw { mass: factor * law.mass, ..law })
            }
            Kernel::Product { factors } => {
                let parts = factors.iter().map(|factor| factor.joined(count)).collect::<Option<Vec<_>>>()?;
                let mass = parts.iter().map(|part| part.mass).product();
                let waves: Vec<Law> = parts.iter().filter_map(|part| part.waves.clone()).collect();
                let columns = parts.into_iter().flat_map(|part| part.columns).collect();
                Some(GridLaw { mass, columns, waves: (!waves.is_empty()).then_some(Law::Independent(waves)) })
            }
            Kernel::Normalised { kernel } => kernel.joined(count).map(|law| GridLaw { mass: 1.0, ..law }),
            Kernel::Laplace { scale } => directions(None, &|at| Pitch::Gamma { scale: scale.at(at) }),
            Kernel::Hat { width } => directions(None, &|at| Pitch::Fixed { width: width.at(at) }),
            Kernel::Restricted { columns, kernel } => match &**kernel {
                Kernel::Laplace { scale } => directions(Some(columns::numbers(columns).collect()), &|at| {
                    Pitch::Gamma { scale: scale.at(at) }
                }),
                Kernel::Hat { width } => directions(Some(columns::numbers(columns).collect()), &|at| {
                    Pitch::Fixed { width: width.at(at) }
                }),
                _ => self.waves(),
            },
            _ => self.waves(),
        }
    }

    fn waves(&self) -> Option<GridLaw> {
        let Spectrum { mass, law } = self.spectrum()?;
        Some(GridLaw { mass, columns: Vec::new(), waves: (law != Law::Still).then_some(law) })
    }
}
