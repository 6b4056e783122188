//! All monomials of some variables.
//!
//! ```text
//! x^a = ∏ xⱼ^aⱼ        C(v + p − 1, p) of degree p in v variables;   C(d + r, r) up to degree r in d
//! ```
//! Each is one of a degree less times a variable that is not before its last: a table of (parent, variable), so that a row costs one product for
//! each. A variable that is 1 makes monomials up to a degree of those of a degree.

use crate::Scalar;

/// Monomials of one degree with their weights.
#[derive(Clone, Debug)]
pub(crate) struct Monomials {
    /// Of degrees 1, 2, …: parent and variable.
    levels: Vec<Vec<(u32, u32)>>,
    /// Of the last degree.
    weights: Vec<f64>,
    /// The variable before the columns; none if there is none.
    first: Option<f64>,
    /// What the columns are multiplied with.
    factor: f64,
}

impl Monomials {
    /// C(v + p − 1, p), or the most there can be where that is too large to count.
    pub(crate) fn count(variables: usize, degree: u32) -> usize {
        (0..degree as usize)
            .try_fold(1usize, |count, k| {
                count.checked_mul(variables.checked_add(k)?).map(|product| product / (k + 1))
            })
            .unwrap_or(usize::MAX)
    }

    /// Features of (γ·x·y + c)ᵖ: weights √(p!/a!).
    pub(crate) fn polynomial(columns: usize, degree: u32, gamma: f64, c: f64) -> Monomials {
        let first = (c > 0.0).then(|| c.sqrt());
        let all: f64 = (1..=degree).map(f64::from).product();
        Monomials::new(columns, degree, first, gamma.sqrt(), false, |factorials| (all / factorials).sqrt())
    }

    /// u^a/√a! for |a| ≤ r: the first variable is 1 and has no factorial.
    pub(crate) fn series(columns: usize, degree: u32) -> Monomials {
        Monomials::new(columns, degree, Some(1.0), 1.0, true, |factorials| factorials.sqrt().recip())
    }

    /// `weight` is a function of a! = ∏ aⱼ!, without the first variable's if that is to be left out.
    fn new(
        columns: usize,
        degree: u32,
        first: Option<f64>,
        factor: f64,
        without_first: bool,
        weight: impl Fn(f64) -> f64,
    ) -> Monomials {
        /// One monomial: its last variable, the power of that, and a! so far.
        struct Last {
            variable: u32,
            power: u32,
            factorials: f64,
        }
        let variables = columns + usize::from(first.is_some());
        let mut monomials = vec![Last { variable: 0, power: 0, factorials: 1.0 }];
        let mut levels = Vec::new();
        for _ in 0..degree {
            let mut level = Vec::new();
            let mut next = Vec::new();
            for (parent, last) in monomials.iter().enumerate() {
                for variable in last.variable..variables as u32 {
                    let power = if variable == last.variable { last.power + 1 } else { 1 };
                    let counts = !(without_first && variable == 0);
                    let factorials = last.factorials * if counts { f64::from(power) } else { 1.0 };
                    level.push((parent as u32, variable));
                    next.push(Last { variable, power, factorials });
                }
            }
            levels.push(level);
            monomials = next;
        }
        let weights = monomials.iter().map(|last| weight(last.factorials)).collect();
        Monomials { levels, weights, first, factor }
    }

    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// All of them for one row, times a factor.
    pub(crate) fn write<T: Scalar>(
        &self,
        row: impl Iterator<Item = f64>,
        scale: f64,
        scratch: &mut Vec<f64>,
        out: &mut [T],
    ) {
        let variables: Vec<f64> = self.first.into_iter().chain(row.map(|x| self.factor * x)).collect();
        scratch.clear();
        scratch.push(scale);
        for level in &self.levels {
            *scratch = level
                .iter()
                .map(|&(parent, variable)| scratch[parent as usize] * variables[variable as usize])
                .collect();
        }
        for ((to, weight), value) in out.iter_mut().zip(&self.weights).zip(scratch) {
            *to = T::from_f64(weight * *value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_counted() {
        for (variables, degree, count) in
            [(1, 5, 1), (3, 1, 3), (3, 2, 6), (4, 3, 20), (65, 2, 2145), (1, 1, 1)]
        {
            assert_eq!(Monomials::count(variables, degree), count);
            assert_eq!(Monomials::polynomial(variables, degree, 1.0, 0.0).len(), count);
        }
        assert_eq!(Monomials::count(1000, 64), usize::MAX);
        assert_eq!(Monomials::series(3, 4).len(), 35, "C(3 + 4, 4)");
    }
}
