//! The right-hand side of a product, packed in the order in which register tiles read it.
//!
//! ```text
//! B (depth × columns)  →  panels of `width` columns, each `depth` rows of `width` contiguous entries
//! ```
//! The width is that of a register tile of the instruction set; the last panel is filled with zeros.

use crate::dispatch::panel_width;
use crate::{Aligned, Element, Isa};

/// A packed matrix of `depth` × `columns`, for one instruction set.
#[derive(Debug)]
pub struct Panels<T> {
    pub(crate) isa: Isa,
    pub(crate) depth: usize,
    pub(crate) columns: usize,
    pub(crate) width: usize,
    /// Upper triangular: column j has no entry below row j, and a panel is read no further than that.
    pub(crate) triangular: bool,
    pub(crate) data: Aligned<T>,
}

impl<T: Element> Clone for Panels<T> {
    fn clone(&self) -> Self {
        Panels { data: self.data.clone(), ..*self }
    }
}

impl<T: Element> Panels<T> {
    /// Packs the matrix whose column j is written by `column(j, entries)`, `entries` being `depth` zeros.
    #[inline(never)]
    pub fn pack(isa: Isa, depth: usize, columns: usize, column: &mut dyn FnMut(usize, &mut [T])) -> Self {
        let width = panel_width::<T>(isa);
        let mut data = Aligned::zeros(columns.div_ceil(width) * width * depth);
        let packed = data.as_mut_slice();
        let mut entries = vec![T::default(); depth];
        for j in 0..columns {
            entries.fill(T::default());
            column(j, &mut entries);
            let start = (j / width) * width * depth + j % width;
            for (k, &entry) in entries.iter().enumerate() {
                packed[start + k * width] = entry;
            }
        }
        Panels { isa, depth, columns, width, triangular: false, data }
    }

    /// Promises that column j is zero below row j, which halves the work of a product.
    pub fn upper_triangular(self) -> Self {
        Panels { triangular: true, ..self }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number of rows.
    pub fn depth(&self) -> usize {
        self.depth
    }

    pub(crate) fn count(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// The entries of panel `p` that a product has to read.
    pub(crate) fn panel(&self, p: usize) -> &[T] {
        let size = self.width * self.depth;
        let depth = if self.triangular { self.depth.min((p + 1) * self.width) } else { self.depth };
        &self.data.as_slice()[p * size..p * size + depth * self.width]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_where_the_tile_reads_it() {
        for isa in Isa::available() {
            let panels = Panels::pack(isa, 5, 101, &mut |j, column: &mut [f64]| {
                for (k, entry) in column.iter_mut().enumerate() {
                    *entry = (100 * k + j) as f64;
                }
            });
            for j in 0..101 {
                for k in 0..5 {
                    let panel = panels.panel(j / panels.width);
                    assert_eq!(panel[k * panels.width + j % panels.width] as usize, 100 * k + j);
                }
            }
            assert_eq!(panels.data.as_slice().len(), panels.count() * panels.width * 5);
        }
    }
}
