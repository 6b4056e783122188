//! All products of a few columns, of the entries that are not zero: monomials, and interactions of different columns.
//!
//! ```text
//! z(x) = (∏_{j∈S} xⱼ),   S of 1 … p columns, without repetition or with it            a row with r entries has C(r, 1) + … + C(r, p) products, or C(r + p, p) − 1
//!
//! place of {c₁ < … < cₖ}:   all that are shorter, then C(c₁, 1) + C(c₂, 2) + … + C(cₖ, k);          cᵢ + i − 1 for cᵢ with repetition
//! ```
//! The place of a product is a number that its columns give, so that none has to be kept for those that are zero. Where there are
//! more of them than features, products are hashed with a sign (s = 1 of [`Hashed`]), which keeps inner products in the mean. What users of linear
//! models call crossed columns, or the kitchen sink.

use super::monomial::Monomials;
use crate::random::Hashed;
use crate::{Csr, Engine, Kernel, Result, Rows, Scalar};

/// Products of 1 to `degree` columns.
#[derive(Clone, Debug)]
pub(crate) struct Combinations {
    degree: usize,
    repeated: bool,
    features: usize,
    places: Places,
}

#[derive(Clone, Debug)]
enum Places {
    /// C(c, k) for each column (and those that repetition adds) and k = 1 … p; and what is shorter.
    Own {
        ranks: Vec<usize>,
        shorter: Vec<usize>,
    },
    Hashed(Hashed),
}

/// A product on its way: what its columns have added up to.
#[derive(Clone, Copy)]
struct Partial {
    /// Of the place, or a hash.
    key: u64,
    value: f64,
    columns: usize,
}

impl Combinations {
    /// Degree and whether columns are repeated, of the kernels that are such sums.
    pub(super) fn of(kernel: &Kernel) -> Option<(u32, bool)> {
        match *kernel {
            Kernel::Monomials { degree } => Some((degree, true)),
            Kernel::Interactions { degree } => Some((degree, false)),
            _ => None,
        }
    }

    /// The number of products, or the most there can be where that is too large to count.
    pub(super) fn count(columns: usize, degree: u32, repeated: bool) -> usize {
        let one = |k: u32| match (repeated, columns.checked_sub(k as usize - 1)) {
            (true, _) => Monomials::count(columns, k),
            // C(d, k) is the number of monomials of degree k in d − k + 1 variables.
            (false, Some(variables)) => Monomials::count(variables, k),
            (false, None) => 0,
        };
        (1..=degree).fold(0, |sum: usize, k| sum.saturating_add(one(k)))
    }

    /// All of them, each a feature.
    pub(super) fn all(columns: usize, degree: u32, repeated: bool) -> Combinations {
        let most = degree as usize;
        let extended = columns + if repeated { most } else { 0 };
        let binomial = |c: usize, k: usize| match c.checked_sub(k - 1) {
            Some(variables) => Monomials::count(variables, k as u32),
            None => 0,
        };
        let ranks = (0..extended).flat_map(|c| (1..=most).map(move |k| binomial(c, k))).collect();
        let shorter = (1..=degree).map(|k| Combinations::count(columns, k - 1, repeated)).collect();
        let features = Combinations::count(columns, degree, repeated);
        Combinations { degree: most, repeated, features, places: Places::Own { ranks, shorter } }
    }

    /// Hashed to so many features.
    pub(super) fn hashed(features: usize, degree: u32, repeated: bool, seed: u64) -> Result<Combinations> {
        let places = Places::Hashed(Hashed::new(features, 1, true, seed)?);
        Ok(Combinations { degree: degree as usize, repeated, features, places })
    }

    pub(super) fn output_dim(&self) -> usize {
        self.features
    }

    /// Places and signs of some keys: what the seed decides.
    pub(super) fn regenerated(&self) -> Vec<f64> {
        match self.places {
            Places::Own { .. } => Vec::new(),
            Places::Hashed(hashed) => {
                let entry = |key| hashed.column(key).map(|(place, sign)| sign * (1.0 + f64::from(place)));
                (0..256).flat_map(entry).collect()
            }
        }
    }

    /// Features of rows that are not zero, at most.
    pub(super) fn most_entries<T: Scalar>(&self, rows: &Rows<'_, T>) -> u64 {
        (0..rows.count()).fold(0, |sum: u64, i| {
            let entries = rows.entries(i).filter(|(_, x)| *x != T::default()).count();
            let products = Combinations::count(entries, self.degree as u32, self.repeated);
            sum.saturating_add(products.min(self.features) as u64)
        })
    }

    pub(super) fn apply<T: Scalar>(&self, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        let (mut entries, mut sums) = (Vec::new(), vec![0.0; self.features]);
        for (i, out) in out.chunks_mut(stride).enumerate().take(rows.count()) {
            sums.fill(0.0);
            self.visit(rows, i, &mut entries, &mut |place, value| sums[place as usize] += value);
            out.iter_mut().zip(&sums).for_each(|(to, &sum)| *to = T::from_f64(sum));
        }
    }

    /// The features that are not zero.
    pub(super) fn apply_sparse<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Csr<T> {
        /// Rows of one piece of work.
        const PIECE: usize = 64;
        let piece = |p: usize| {
            let mut features = Csr::empty(self.features);
            let (mut entries, mut products) = (Vec::new(), Vec::new());
            for i in p * PIECE..rows.count().min((p + 1) * PIECE) {
                products.clear();
                self.visit(rows, i, &mut entries, &mut |place, value| products.push((place, value)));
                // Equal places are added in the order of the products, which sorting keeps.
                products.sort_by_key(|(place, _)| *place);
                products.dedup_by(|next, sum| {
                    let same = next.0 == sum.0;
                    sum.1 += if same { next.1 } else { 0.0 };
                    same
                });
                features.push_row(products.iter().map(|&(place, value)| (place, T::from_f64(value))));
            }
            features
        };
        let pieces = engine.map(rows.count().div_ceil(PIECE), &piece);
        let mut features = Csr::empty(self.features);
        pieces.iter().for_each(|piece| features.append(piece));
        features
    }

    /// Place and value of every product of row i.
    fn visit<T: Scalar>(
        &self,
        rows: &Rows<'_, T>,
        i: usize,
        entries: &mut Vec<(u32, f64)>,
        each: &mut impl FnMut(u32, f64),
    ) {
        entries.clear();
        entries.extend(rows.entries(i).map(|(j, x)| (j, x.to_f64())).filter(|(_, x)| *x != 0.0));
        self.extend(entries, Partial { key: 0, value: 1.0, columns: 0 }, each);
    }

    /// Every product of the one in hand with more of `entries`.
    fn extend(&self, entries: &[(u32, f64)], partial: Partial, each: &mut impl FnMut(u32, f64)) {
        for (at, &(column, x)) in entries.iter().enumerate() {
            let longer = self.times(partial, column, x);
            self.emit(longer, each);
            if longer.columns < self.degree {
                self.extend(&entries[if self.repeated { at } else { at + 1 }..], longer, each);
            }
        }
    }

    fn times(&self, partial: Partial, column: u32, x: f64) -> Partial {
        let key = match &self.places {
            Places::Own { ranks, .. } => {
                let shifted = column as usize + if self.repeated { partial.columns } else { 0 };
                partial.key + ranks[shifted * self.degree + partial.columns] as u64
            }
            Places::Hashed(_) => mixed(partial.key ^ (u64::from(column) + 1)),
        };
        Partial { key, value: partial.value * x, columns: partial.columns + 1 }
    }

    fn emit(&self, product: Partial, each: &mut impl FnMut(u32, f64)) {
        match &self.places {
            Places::Own { shorter, .. } => {
                each((shorter[product.columns - 1] as u64 + product.key) as u32, product.value);
            }
            Places::Hashed(hashed) => {
                hashed.column(product.key).for_each(|(place, sign)| each(place, sign * product.value));
            }
        }
    }
}

/// A bijection of 64 bits in which every bit depends on all (Stafford's mix 13): columns in their order become one key.
fn mixed(key: u64) -> u64 {
    let key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;

    /// Every product has a place of its own, and there are no others.
    #[test]
    fn places_are_all_different() {
        for (columns, degree, repeated, count) in [
            (5, 1, false, 5),
            (5, 2, false, 15),
            (5, 3, false, 25),
            (3, 7, false, 7),
            (1, 4, true, 4),
            (3, 2, true, 9),
            (4, 3, true, 34),
        ] {
            let all = Combinations::all(columns, degree, repeated);
            assert_eq!(all.output_dim(), count, "{columns} {degree} {repeated}");
            let row = Matrix::from_fn(1, columns, |_, j| 1.5 + j as f64);
            let mut seen = vec![0; count];
            all.visit(&Rows::from(&row), 0, &mut Vec::new(), &mut |place, _| seen[place as usize] += 1);
            assert!(seen.iter().all(|times| *times == 1), "{seen:?}");
            assert_eq!(all.most_entries(&Rows::from(&row)), count as u64);
        }
        assert_eq!(Combinations::count(100_000, 30, true), usize::MAX);
    }

    /// Rows without zeros or with them, written out or not, have the same features, in either shape.
    #[test]
    fn zeros_are_not_formed() {
        let dense = Matrix::new(2, 4, vec![2.0, 0.0, 3.0, 0.0, 0.0, 0.0, 5.0, 7.0]).unwrap();
        let all = Combinations::all(4, 2, false);
        let sparse = all.apply_sparse(&Engine::default(), &Rows::from(&dense));
        assert_eq!(sparse.view().row(0), (&[0, 2, 5][..], &[2.0, 3.0, 6.0][..]));
        assert_eq!(sparse.view().row(1), (&[2, 3, 9][..], &[5.0, 7.0, 35.0][..]));
        let mut out = vec![9.0; 20];
        all.apply(&Rows::from(&dense), &mut out, 10);
        let mut row = vec![0.0; 10];
        for i in 0..2 {
            Rows::from(&sparse).densify(i, &mut row);
            assert_eq!(out[i * 10..][..10], row);
        }
    }

    /// Which columns, and in which number, decides the key: the 19,899 products of up to two of 199 columns, repeated, have as many.
    #[test]
    fn keys_do_not_collide() {
        let hashed = Combinations::hashed(8, 2, true, 3).unwrap();
        let mut keys = Vec::new();
        for a in 0..199 {
            let one = hashed.times(Partial { key: 0, value: 1.0, columns: 0 }, a, 1.0);
            keys.push(one.key);
            keys.extend((a..199).map(|b| hashed.times(one, b, 1.0).key));
        }
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((count, keys.len()), (199 + 199 * 200 / 2, count));
    }
}
