//! Discrete Fourier transforms of many rows at a time, a row in each lane.
//!
//! ```text
//! X(k) = Σₙ x(n)·wₘ^(n·k),     wₘ = exp(−2πi/m),     m a power of two
//! real x:   X(4k + 1) = Σ_{n < m/4} ((x₀ − x₂) − i·(x₁ − x₃))·wₘⁿ · w_{m/4}^(n·k),     x_q = x(n + q·m/4)
//!           X(2k)     = the same of x(n) + x(n + m/2), of half the length
//! ```
//! The odd frequencies of a real row are those of 4k + 1 and their conjugates, hence one complex transform of a quarter of the length; the
//! even ones are a real transform of half of it. Nothing is computed twice and no frequency needs its partner. Results stay in the
//! order of the last pass, bits reversed: X(2^s·(4·rev(i) + 1)) for i = 0, 1, …, for s = 0, then 1 and so on, then X(0) and X(m/2).
//!
//! A complex transform is passes of radix 8 (4 where there are 16 registers) in registers, the first of them over all of it and, from the
//! first-level cache's size on down, all passes over one part before the next.

use crate::Element;
use crate::lanes::Lanes;

/// Positions that share the first-level cache: 32 KiB of the widest vectors.
const NEAR: usize = 256;

/// The roots of unity of all transforms up to a length, rounded from f64.
#[derive(Clone, Debug)]
pub struct Fft<T> {
    /// Real and imaginary part of wₙʲ at n + j, for n = 1, 2, 4, … and j below n.
    roots: Vec<[T; 2]>,
}

impl<T: Element> Fft<T> {
    /// # Panics
    /// If `length` is not a power of two.
    #[inline(never)]
    pub fn new(length: usize) -> Fft<T> {
        assert!(length.is_power_of_two(), "expected a power of two, found {length}");
        let mut roots = vec![[T::default(); 2]; 2 * length];
        let mut n = length;
        for j in 0..n {
            roots[n + j] = root(j, n).map(T::from_f64);
        }
        while n > 1 {
            n /= 2;
            for j in 0..n {
                roots[n + j] = roots[2 * (n + j)];
            }
        }
        Fft { roots }
    }

    /// The longest transform that it has roots for.
    pub fn length(&self) -> usize {
        self.roots.len() / 2
    }

    /// wₙ⁰, wₙ¹, …
    #[inline(always)]
    pub(crate) fn roots(&self, n: usize) -> &[[T; 2]] {
        &self.roots[n..2 * n]
    }
}

/// exp(−2πi·j/n) by the sine and cosine of at most an eighth of a turn, so that roots which mirror each other do so exactly.
fn root(j: usize, n: usize) -> [f64; 2] {
    let (eighths, rest) = (8 * j / n, 8 * j % n);
    let odd = eighths % 2 == 1;
    let (sin, cos) =
        libm::sincos(std::f64::consts::FRAC_PI_4 * (if odd { n - rest } else { rest }) as f64 / n as f64);
    let (sin, cos) = if odd { (cos, sin) } else { (sin, cos) };
    match eighths / 2 {
        0 => [cos, -sin],
        1 => [-sin, -cos],
        2 => [-cos, sin],
        _ => [sin, cos],
    }
}

/// A complex number in each lane.
#[derive(Clone, Copy)]
pub(crate) struct Complex<L> {
    pub(crate) re: L,
    pub(crate) im: L,
}

impl<L: Lanes> Complex<L> {
    #[inline(always)]
    pub(crate) unsafe fn load(from: *const L::Elem) -> Self {
        unsafe { Complex { re: L::load(from), im: L::load(from.add(L::N)) } }
    }

    #[inline(always)]
    pub(crate) unsafe fn store(self, to: *mut L::Elem) {
        unsafe {
            self.re.store(to);
            self.im.store(to.add(L::N));
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn splat([re, im]: [L::Elem; 2]) -> Self {
        unsafe { Complex { re: L::splat(re), im: L::splat(im) } }
    }

    #[inline(always)]
    pub(crate) unsafe fn mul(self, by: Self) -> Self {
        unsafe {
            Complex {
                re: self.im.mul_sub_from(by.im, self.re.mul(by.re)),
                im: self.im.mul_add(by.re, self.re.mul(by.im)),
            }
        }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        unsafe { Complex { re: self.re.add(other.re), im: self.im.add(other.im) } }
    }

    /// (self − other)·w₈^eighths, for less than half a turn.
    #[inline(always)]
    unsafe fn turned_difference(self, other: Self, eighths: usize) -> Self {
        unsafe {
            let (re, im) = (self.re.sub(other.re), self.im.sub(other.im));
            let half = L::constant(std::f64::consts::FRAC_1_SQRT_2);
            match eighths {
                0 => Complex { re, im },
                1 => Complex { re: im.add(re).mul(half), im: im.sub(re).mul(half) },
                2 => Complex { re: im, im: other.re.sub(self.re) },
                _ => Complex {
                    re: im.sub(re).mul(half),
                    im: im.add(re).mul(L::constant(-std::f64::consts::FRAC_1_SQRT_2)),
                },
            }
        }
    }
}

/// Replaces `length` complex positions by their transform, bits reversed; a position is N real parts, then N imaginary ones.
///
/// # Safety
/// The processor has the instructions of `L`; the length is a power of two, at most that of the roots, and `data` is valid for it.
#[inline(always)]
pub(crate) unsafe fn transform<T: Element, L: Lanes<Elem = T>, const R: usize>(
    fft: &Fft<T>,
    data: *mut T,
    length: usize,
) {
    unsafe {
        let part = passes::<T, L, R>(fft, data, length, length, NEAR);
        for first in (0..length).step_by(part) {
            passes::<T, L, R>(fft, data.add(first * 2 * L::N), part, part, 1);
        }
    }
}

/// Passes over `length` positions in parts of `part`, until parts have at most `enough` positions; their size then.
#[inline(always)]
unsafe fn passes<T: Element, L: Lanes<Elem = T>, const R: usize>(
    fft: &Fft<T>,
    data: *mut T,
    mut part: usize,
    length: usize,
    enough: usize,
) -> usize {
    while part > enough {
        let roots = fft.roots(part);
        unsafe {
            if part == 2 {
                pass::<T, L, 2>(roots, data, length);
                part /= 2;
            } else if R == 8 && part.ilog2().is_multiple_of(3) {
                pass::<T, L, 8>(roots, data, length);
                part /= 8;
            } else {
                pass::<T, L, 4>(roots, data, length);
                part /= 4;
            }
        }
    }
    part
}

/// One pass of radix K over parts as long as their roots.
#[inline(always)]
unsafe fn pass<T: Element, L: Lanes<Elem = T>, const K: usize>(
    roots: &[[T; 2]],
    data: *mut T,
    length: usize,
) {
    let (part, step) = (roots.len(), roots.len() / K);
    for first in (0..length).step_by(part) {
        for i in 0..step {
            // SAFETY: positions below the part's end; roots at i·q ≤ (step − 1)·(K − 1), below the part's length.
            unsafe {
                let at = data.add((first + i) * 2 * L::N);
                let mut group = [Complex::splat([T::default(); 2]); K];
                for k in 0..K {
                    group[k] = Complex::<L>::load(at.add(k * step * 2 * L::N));
                }
                let group = butterfly(group);
                group[0].store(at);
                for k in 1..K {
                    let q = k.reverse_bits() >> (usize::BITS - K.ilog2());
                    let turned = if step == 1 {
                        group[k]
                    } else {
                        group[k].mul(Complex::splat(*roots.get_unchecked(i * q)))
                    };
                    turned.store(at.add(k * step * 2 * L::N));
                }
            }
        }
    }
}

/// The transform of K ≤ 8 numbers, bits reversed. All loops have constant lengths, so that the group stays in registers.
#[inline(always)]
unsafe fn butterfly<L: Lanes, const K: usize>(mut group: [Complex<L>; K]) -> [Complex<L>; K] {
    for stage in 0..K.ilog2() {
        let half = K >> (stage + 1);
        for pair in 0..K / 2 {
            let low = pair / half * 2 * half + pair % half;
            let (a, b) = (group[low], group[low + half]);
            group[low] = unsafe { a.add(b) };
            group[low + half] = unsafe { a.turned_difference(b, pair % half * 4 / half) };
        }
    }
    group
}

/// Writes the transform of `length` real positions, in the order above, as many vectors as went in; `x` is worked on.
///
/// # Safety
/// As for [`transform`]; both are valid for `length` vectors and apart.
#[inline(always)]
pub(crate) unsafe fn real_transform<T: Element, L: Lanes<Elem = T>, const R: usize>(
    fft: &Fft<T>,
    x: *mut T,
    mut to: *mut T,
    mut length: usize,
) {
    unsafe {
        while length >= 4 {
            let quarter = length / 4;
            let roots = fft.roots(length);
            for n in 0..quarter {
                let at = |q: usize| x.add((n + q * quarter) * L::N);
                let [x0, x1, x2, x3] = [0, 1, 2, 3].map(|q| L::load(at(q)));
                x0.add(x2).store(at(0));
                x1.add(x3).store(at(1));
                let odd = Complex { re: x0.sub(x2), im: x3.sub(x1) };
                odd.mul(Complex::splat(*roots.get_unchecked(n))).store(to.add(n * 2 * L::N));
            }
            transform::<T, L, R>(fft, to, quarter);
            to = to.add(2 * quarter * L::N);
            length /= 2;
        }
        let first = L::load(x);
        if length == 2 {
            let second = L::load(x.add(L::N));
            first.add(second).store(to);
            first.sub(second).store(to.add(L::N));
        } else {
            first.store(to);
        }
    }
}

/// The product of complex positions, in place.
///
/// # Safety
/// The processor has the instructions of `L`.
#[inline(always)]
pub(crate) unsafe fn multiply<T: Element, L: Lanes<Elem = T>>(product: &mut [T], factor: &[T]) {
    for (product, factor) in product.chunks_exact_mut(2 * L::N).zip(factor.chunks_exact(2 * L::N)) {
        // SAFETY: both hold two vectors.
        unsafe {
            let to = product.as_mut_ptr();
            Complex::<L>::load(to).mul(Complex::load(factor.as_ptr())).store(to);
        }
    }
}
