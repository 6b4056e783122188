//! The two passes over all rows of a solver that moves two variables at a time.
//!
//! ```text
//! move     e(t) ← e(t) − step·(a(t) − b(t)),     the largest e(t) that may rise, the smallest that may fall
//! partner  the t that may fall with the largest  (top − e(t))² / (kᵢᵢ + k(t,t) − 2·k(i,t)),   e(t) < top
//! ```
//! What may not rise or fall has −∞ or +∞ added, so that the passes have no branches. A block's best is compared as one number, and
//! only the best block is searched for the place: the first of equals. Kernel values are f32, errors f64; a difference of kernel values is exact.
//! The gain of a partner only ranks, so that it is computed in f32, where a division costs a quarter.

use crate::Isa;
use crate::dispatch::{Task, dispatch};
use crate::lanes::{Lanes, MOST_LANES};

/// Which rows may rise and which may fall.
#[derive(Clone, Copy, Debug)]
pub struct Room<'a> {
    /// 0 where a row may rise, −∞ elsewhere.
    pub up: &'a [f32],
    /// 0 where a row may fall, +∞ elsewhere.
    pub low: &'a [f32],
}

/// The ends of what may rise and fall, with where they stand: −∞ and +∞ where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes {
    /// The largest error that may rise.
    pub highest: f64,
    /// Where it stands.
    pub highest_at: usize,
    /// The smallest error that may fall.
    pub lowest: f64,
    /// Where it stands.
    pub lowest_at: usize,
}

/// Elements whose best is one number: a multiple of every vector's length.
const BLOCK: usize = 512;

/// e ← e − step·(a − b), and the extremes of what comes out.
///
/// # Panics
/// If the lengths differ.
pub fn move_errors(isa: Isa, step: f64, rows: [&[f32]; 2], room: Room<'_>, errors: &mut [f64]) -> Extremes {
    let n = errors.len();
    assert!([rows[0], rows[1], room.up, room.low].iter().all(|part| part.len() == n), "lengths differ");
    let mut found =
        Extremes { highest: f64::NEG_INFINITY, highest_at: 0, lowest: f64::INFINITY, lowest_at: 0 };
    dispatch(isa, Move { step, rows, room, errors, found: &mut found });
    // Adding 0 or ±∞ changes no bit, so the ends are met again exactly.
    let block = |first: usize| first..n.min(first + BLOCK);
    let meets = |range: std::ops::Range<usize>, is: &dyn Fn(usize) -> bool| {
        range.clone().find(|&t| is(t)).unwrap_or(range.start)
    };
    let e = |t: usize, bound: &[f32]| errors[t] + f64::from(bound[t]);
    found.highest_at = meets(block(found.highest_at), &|t| e(t, room.up) >= found.highest);
    found.lowest_at = meets(block(found.lowest_at), &|t| e(t, room.low) <= found.lowest);
    found
}

struct Move<'a> {
    step: f64,
    rows: [&'a [f32]; 2],
    room: Room<'a>,
    errors: &'a mut [f64],
    found: &'a mut Extremes,
}

impl Task<f32> for Move<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f32>, const R: usize>(self) {
        let Move { step, rows: [a, b], room: Room { up, low }, errors, found } = self;
        let n = errors.len();
        // SAFETY: all slices have `n` elements; whole vectors stay below it and the rest goes through buffers.
        unsafe {
            for first in (0..n).step_by(BLOCK) {
                let end = n.min(first + BLOCK);
                let whole = first + (end - first) / L::N * L::N;
                let mut ends = Ends::<L>::none();
                for t in (first..whole).step_by(L::N) {
                    let (a, b) = (a.as_ptr().add(t), b.as_ptr().add(t));
                    let (up, low) = (up.as_ptr().add(t), low.as_ptr().add(t));
                    ends.absorb(step, [a, b, up, low], errors.as_mut_ptr().add(t));
                }
                if whole < end {
                    let left = end - whole;
                    let mut rest = [0.0; MOST_LANES];
                    rest[..left].copy_from_slice(&errors[whole..end]);
                    let (a, b) = (padded(&a[whole..end], 0.0), padded(&b[whole..end], 0.0));
                    let up = padded(&up[whole..end], f32::NEG_INFINITY);
                    let low = padded(&low[whole..end], f32::INFINITY);
                    let parts = [a.as_ptr(), b.as_ptr(), up.as_ptr(), low.as_ptr()];
                    ends.absorb(step, parts, rest.as_mut_ptr());
                    errors[whole..end].copy_from_slice(&rest[..left]);
                }
                let (highest, lowest) = ends.of_block();
                if highest > found.highest {
                    (found.highest, found.highest_at) = (highest, first);
                }
                if lowest < found.lowest {
                    (found.lowest, found.lowest_at) = (lowest, first);
                }
            }
        }
    }
}

/// The ends so far, lane by lane.
struct Ends<L: Lanes> {
    high: L::Wide,
    low: L::Wide,
}

impl<L: Lanes<Elem = f32>> Ends<L> {
    #[inline(always)]
    unsafe fn none() -> Self {
        unsafe { Ends { high: L::Wide::constant(f64::NEG_INFINITY), low: L::Wide::constant(f64::INFINITY) } }
    }

    /// Moves N errors and takes them in; `parts` are a, b, up and low.
    #[inline(always)]
    unsafe fn absorb(&mut self, step: f64, parts: [*const f32; 4], errors: *mut f64) {
        unsafe {
            let (a, b) = (L::load(parts[0]).widen(), L::load(parts[1]).widen());
            let (up, low) = (L::load(parts[2]).widen(), L::load(parts[3]).widen());
            self.absorb_half(step, [a.0, b.0, up.0, low.0], errors);
            if L::N > L::Wide::N {
                self.absorb_half(step, [a.1, b.1, up.1, low.1], errors.add(L::Wide::N));
            }
        }
    }

    #[inline(always)]
    unsafe fn absorb_half(&mut self, step: f64, [a, b, up, low]: [L::Wide; 4], errors: *mut f64) {
        unsafe {
            let moved = L::Wide::constant(-step).mul_add(a.sub(b), L::Wide::load(errors));
            moved.store(errors);
            self.high = moved.add(up).max(self.high);
            self.low = moved.add(low).min(self.low);
        }
    }

    #[inline(always)]
    unsafe fn of_block(self) -> (f64, f64) {
        let (mut high, mut low) = ([f64::NEG_INFINITY; MOST_LANES], [f64::INFINITY; MOST_LANES]);
        unsafe {
            self.high.store(high.as_mut_ptr());
            self.low.store(low.as_mut_ptr());
        }
        let larger = |a: f64, &b: &f64| if b > a { b } else { a };
        let smaller = |a: f64, &b: &f64| if b < a { b } else { a };
        (high.iter().fold(f64::NEG_INFINITY, larger), low.iter().fold(f64::INFINITY, smaller))
    }
}

/// The row that gains most when paired with row i, whose error is `top` and whose kernel values with itself and all are `own` and
/// `row`; none where no gain is above zero. Curvatures below `least` count as that.
///
/// # Panics
/// If the lengths differ.
pub fn best_partner(
    isa: Isa,
    top: f64,
    own: f32,
    least: f32,
    row: &[f32],
    diagonal: &[f32],
    low: &[f32],
    errors: &[f64],
) -> Option<usize> {
    let n = errors.len();
    assert!([row, diagonal, low].iter().all(|part| part.len() == n), "lengths differ");
    let mut found = None;
    dispatch(isa, Partner { top, own, least, row, diagonal, low, errors, found: &mut found });
    found
}

struct Partner<'a> {
    top: f64,
    own: f32,
    least: f32,
    row: &'a [f32],
    diagonal: &'a [f32],
    low: &'a [f32],
    errors: &'a [f64],
    found: &'a mut Option<usize>,
}

impl Task<f32> for Partner<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Elem = f32>, const R: usize>(self) {
        let n = self.errors.len();
        let (mut best, mut best_block) = (0.0, None);
        // SAFETY: as for `Move`.
        unsafe {
            for first in (0..n).step_by(BLOCK) {
                let end = n.min(first + BLOCK);
                let whole = first + (end - first) / L::N * L::N;
                let mut gain = L::constant(0.0);
                for t in (first..whole).step_by(L::N) {
                    gain = self.gains::<L>(t).max(gain);
                }
                if whole < end {
                    gain = self.last_gains::<L>(whole).max(gain);
                }
                let mut lanes = [0.0; MOST_LANES];
                gain.store(lanes.as_mut_ptr());
                let gain = lanes.iter().fold(0.0, |a: f32, &b| if b > a { b } else { a });
                if gain > best {
                    (best, best_block) = (gain, Some(first));
                }
            }
            let Some(first) = best_block else { return };
            let mut gains = [0.0; BLOCK + MOST_LANES];
            let count = BLOCK.min(n - first);
            let whole = count / L::N * L::N;
            for t in (0..whole).step_by(L::N) {
                self.gains::<L>(first + t).store(gains.as_mut_ptr().add(t));
            }
            if whole < count {
                self.last_gains::<L>(first + whole).store(gains.as_mut_ptr().add(whole));
            }
            *self.found = gains[..count].iter().position(|&gain| gain >= best).map(|at| first + at);
        }
    }
}

impl Partner<'_> {
    /// The gains of the N rows from t on.
    #[inline(always)]
    unsafe fn gains<L: Lanes<Elem = f32>>(&self, t: usize) -> L {
        unsafe {
            let (row, diagonal) = (self.row.as_ptr().add(t), self.diagonal.as_ptr().add(t));
            self.gain::<L>([row, diagonal, self.low.as_ptr().add(t)], self.errors.as_ptr().add(t))
        }
    }

    /// The gains of the rows from t to the end, fewer than N.
    #[inline(always)]
    unsafe fn last_gains<L: Lanes<Elem = f32>>(&self, t: usize) -> L {
        let (row, diagonal) = (padded(&self.row[t..], 0.0), padded(&self.diagonal[t..], 0.0));
        let low = padded(&self.low[t..], f32::INFINITY);
        let mut errors = [0.0; MOST_LANES];
        errors[..self.errors.len() - t].copy_from_slice(&self.errors[t..]);
        unsafe { self.gain::<L>([row.as_ptr(), diagonal.as_ptr(), low.as_ptr()], errors.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn gain<L: Lanes<Elem = f32>>(&self, parts: [*const f32; 3], errors: *const f64) -> L {
        unsafe {
            let (row, diagonal) = (L::load(parts[0]), L::load(parts[1]));
            let (low, high) = L::load(parts[2]).widen();
            let top = L::Wide::constant(self.top);
            let first = top.sub(L::Wide::load(errors).add(low));
            let two = L::N > L::Wide::N;
            let second = if two { top.sub(L::Wide::load(errors.add(L::Wide::N)).add(high)) } else { first };
            let short = L::narrow(first, second).max(L::constant(0.0));
            let curvature = L::splat(self.own).add(diagonal).sub(row.add(row)).max(L::splat(self.least));
            short.mul(short).div(curvature)
        }
    }
}

/// Fewer elements than a vector has, and what does no harm.
#[inline(always)]
fn padded(part: &[f32], fill: f32) -> [f32; MOST_LANES] {
    let mut buffer = [fill; MOST_LANES];
    buffer[..part.len()].copy_from_slice(part);
    buffer
}
