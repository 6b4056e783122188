//! The profile of a kernel along one line, drawn with dots of braille.
//!
//! ```text
//! t ↦ k(a·1, t·1)        1 = (1, …, 1)/√d: all columns move alike
//! ```

use bochner::{Engine, Kernel, Matrix, Result, Rows};
use serde::Serialize;

use crate::text;

/// Characters of the picture, of 2 × 4 dots each.
const WIDTH: usize = 64;
const HEIGHT: usize = 14;

/// Values of a kernel along a line.
#[derive(Debug, Serialize)]
pub(super) struct Profile {
    kernel: String,
    at: f64,
    t: Vec<f64>,
    /// None where the kernel has no value: χ² has none left of zero.
    k: Vec<Option<f64>>,
}

impl Profile {
    /// Around `at`, and `reach` to either side; without one, as far as the kernel changes.
    pub(super) fn of(
        kernel: &Kernel,
        columns: usize,
        at: Option<f64>,
        reach: Option<f64>,
    ) -> Result<Profile> {
        let is_shift_invariant = features_exist(kernel);
        let at = at.unwrap_or(if is_shift_invariant { 0.0 } else { 1.0 });
        let along = |t: f64| vec![t / (columns as f64).sqrt(); columns];
        let engine = Engine::single_thread();
        let values = |points: &[f64]| -> Result<Vec<f64>> {
            let here = Matrix::new(1, columns, along(at))?;
            let there = Matrix::new(points.len(), columns, points.iter().flat_map(|&t| along(t)).collect())?;
            Ok(kernel.gram(&engine, &Rows::from(&here), &Rows::from(&there))?.into_vec())
        };
        kernel.check(columns)?;
        let reach = match reach {
            Some(reach) => reach,
            None if !is_shift_invariant => 3.0,
            None => {
                // The first distance at which a twentieth is left, and half as far again.
                let top = values(&[at])?[0];
                let distance = |step: i32| 10f64.powf(f64::from(step) * 0.05 - 6.0);
                let small = |step: &i32| values(&[at + distance(*step)]).is_ok_and(|k| k[0] < 0.05 * top);
                1.5 * (0..400).find(small).map_or(3.0, distance)
            }
        };
        // An odd number, so that the middle is one of them.
        let steps = WIDTH as i32 - 1;
        let t: Vec<f64> = (-steps..=steps).map(|i| at + reach * f64::from(i) / f64::from(steps)).collect();
        let k = t.iter().map(|t| values(&[*t]).ok().map(|k| k[0]).filter(|k| k.is_finite())).collect();
        Ok(Profile { kernel: kernel.to_string(), at, t, k })
    }

    /// A picture with its axes.
    pub(super) fn drawn(&self) -> String {
        let (low, high) =
            self.k.iter().flatten().fold((0.0f64, 0.0f64), |(low, high), &k| (low.min(k), high.max(k)));
        let span = if high > low { high - low } else { 1.0 };
        let dot_rows = 4 * HEIGHT;
        let row = |k: f64| ((high - k) / span * (dot_rows - 1) as f64).round() as usize;
        let mut dots = vec![vec![false; 2 * WIDTH]; dot_rows];
        let mut last = None;
        for (i, k) in self.k.iter().enumerate() {
            let here = k.map(row);
            if let Some(here) = here {
                // Steep parts stay connected.
                let before = last.unwrap_or(here);
                (here.min(before)..=here.max(before)).for_each(|r: usize| dots[r][i] = true);
            }
            last = here;
        }
        let zero = row(0.0) / 4;
        let mut lines = vec![format!("{}: k({}, t)", self.kernel, text::number(self.at))];
        for line in 0..HEIGHT {
            let label = match line {
                0 => text::number(high),
                _ if line == zero => "0".to_owned(),
                _ if line + 1 == HEIGHT => text::number(low),
                _ => String::new(),
            };
            let cells: String = (0..WIDTH).map(|column| braille(&dots, line, column)).collect();
            lines.push(format!("{label:>8} ┤{}", cells.trim_end_matches('\u{2800}')));
        }
        let (from, to) = (self.t.first().copied().unwrap_or(0.0), self.t.last().copied().unwrap_or(0.0));
        let (from, middle, to) = (text::number(from), text::number(self.at), text::number(to));
        lines.push(format!("{:>8} └{}", "", "─".repeat(WIDTH)));
        let half = WIDTH / 2;
        lines.push(format!(
            "{:>10}{from:<half$}{middle:<rest$}{to}",
            "",
            rest = half.saturating_sub(to.chars().count())
        ));
        lines.join("\n")
    }
}

/// Whether the kernel is a function of x − y: its Fourier features exist.
fn features_exist(kernel: &Kernel) -> bool {
    bochner::certify::features_for(kernel, bochner::FourierForm::Pairs, 2, 0.5, 0.5).is_ok()
}

/// The character of 2 × 4 dots.
fn braille(dots: &[Vec<bool>], line: usize, column: usize) -> char {
    const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
    let mut code = 0x2800;
    for (r, bits) in BITS.iter().enumerate() {
        for (c, bit) in bits.iter().enumerate() {
            code |= if dots[4 * line + r][2 * column + c] { *bit } else { 0 };
        }
    }
    char::from_u32(code).unwrap_or(' ')
}
