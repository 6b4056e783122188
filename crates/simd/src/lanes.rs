//! Vectors of numbers, as the loops see them: one trait, one file per instruction set.

pub(crate) mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;

/// The vectors of one register tile, side by side: a tile is `R` rows × `VECTORS·N` columns.
pub(crate) const VECTORS: usize = 3;

/// The widest vector of any instruction set, in elements; sizes buffers on the stack.
pub(crate) const MOST_LANES: usize = 16;

/// A vector of `N` elements.
///
/// # Safety
/// Every method may compile to instructions that the processor lacks: they are called only below the functions of
/// `dispatch`, which hold the [`Isa`](crate::Isa) that proves the instructions to be there. Pointers
/// given to `load` and `store` are valid for `N` elements.
pub trait Lanes: Copy {
    type Elem: Copy;
    /// The same registers seen as f64: one for f64, two for f32.
    type Wide: WholeLanes;
    const N: usize;
    /// Registers that a vector takes.
    const REGISTERS: usize = 1;

    unsafe fn load(from: *const Self::Elem) -> Self;
    unsafe fn store(self, to: *mut Self::Elem);
    /// As `store`, past the caches where the instruction set can; `to` lies on a multiple of the vector's size.
    unsafe fn stream(self, to: *mut Self::Elem);
    /// Makes what was streamed visible before whatever is written next: due before a loop that streamed returns.
    unsafe fn end_of_stream();
    /// Asks for what will be read soon; nothing depends on it.
    #[inline(always)]
    unsafe fn prefetch(_from: *const Self::Elem) {}
    unsafe fn splat(value: Self::Elem) -> Self;
    /// The constant nearest to `value`.
    unsafe fn constant(value: f64) -> Self;

    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn div(self, other: Self) -> Self;
    /// self·factor + addend, in one rounding where the instruction set has it.
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// minuend − self·factor, rounded as `mul_add`.
    unsafe fn mul_sub_from(self, factor: Self, minuend: Self) -> Self;
    /// Ends the steps of a row of a register tile: what the compiler reads for the next row, it reads after `sums` are made. Where registers are just enough it would else read early, and keep a sum in memory for it, which takes twice the time. Elsewhere nothing is done.
    #[inline(always)]
    unsafe fn end_of_row(_sums: &[Self; VECTORS]) {}
    unsafe fn abs(self) -> Self;
    /// The smaller of the two; `bound` where either is not a number.
    unsafe fn min(self, bound: Self) -> Self;
    /// The larger of the two; `bound` where either is not a number.
    unsafe fn max(self, bound: Self) -> Self;
    /// |self| with the sign of `sign`; self is not negative.
    unsafe fn with_sign_of(self, sign: Self) -> Self;
    /// `self` where `other` is above zero, zero elsewhere.
    unsafe fn where_positive(self, other: Self) -> Self;
    /// The one of `self` and `bound` that is smaller in absolute value, with the sign of `self`; neither is not a number, and `bound` is positive.
    #[inline(always)]
    unsafe fn within(self, bound: Self) -> Self {
        unsafe { self.min(bound).max(Self::constant(0.0).sub(bound)) }
    }
    /// To the nearest integer, ties to even.
    unsafe fn round(self) -> Self;
    /// What is left of a finite number without the nearest integer.
    #[inline(always)]
    unsafe fn fraction(self) -> Self {
        unsafe { self.sub(self.round()) }
    }
    /// 2ⁿ for integers n in the exponent range of the type.
    unsafe fn power_of_two(n: Self) -> Self;
    /// Whether every |element| is below `limit`; false if any is not a number.
    unsafe fn all_below(self, limit: Self) -> bool;
    /// (a₀, b₀, a₁, b₁, …) in two vectors.
    unsafe fn interleave(self, other: Self) -> (Self, Self);
    /// The elements as f64, in order; the second half means nothing where `Wide` has `N` lanes.
    unsafe fn widen(self) -> (Self::Wide, Self::Wide);
    /// The reverse of `widen`, each element rounded; `high` is not looked at where `Wide` has `N` lanes.
    unsafe fn narrow(low: Self::Wide, high: Self::Wide) -> Self;
    /// The sum of all elements, in one fixed order.
    unsafe fn sum(self) -> Self::Elem;
    /// The Walsh–Hadamard transform of the `N` elements: sums and differences of neighbours, then of those two apart, and so on.
    unsafe fn walsh_hadamard(self) -> Self;
}

/// f64 lanes that whole numbers of 64 bits stand beside, which hashing the cells of grids takes, with the roots and exponents that a
/// logarithm takes.
///
/// # Safety
/// As for [`Lanes`].
pub trait WholeLanes: Lanes<Elem = f64> {
    /// `N` whole numbers without sign.
    type Whole: Copy;

    unsafe fn splat_whole(value: u64) -> Self::Whole;
    /// `N` numbers below 2³¹.
    unsafe fn load_whole(from: *const u32) -> Self::Whole;
    /// sum + ⌊self⌋·factor mod 2⁶⁴, where |⌊self⌋| and factor are below 2³¹.
    unsafe fn floor_mul_add(self, factor: Self::Whole, sum: Self::Whole) -> Self::Whole;
    /// Writes `N` numbers mod 2³¹ − 1.
    unsafe fn store_rests(whole: Self::Whole, to: *mut u32);
    /// The square root, correctly rounded; not a number below zero.
    unsafe fn sqrt(self) -> Self;
    /// ⌊log₂ self⌋ of positive normal numbers.
    unsafe fn exponent(self) -> Self;
}
