//! Four elements in an array: plain Rust that every compiler target turns into what it has.

use super::{Lanes, WholeLanes};

/// Four elements.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Four<T>([T; 4]);

macro_rules! four {
    ($t:ty, $bits:ty, $bias:expr, $mantissa:expr, widen($self:ident) $widen:block) => {
        impl Lanes for Four<$t> {
            type Elem = $t;
            type Wide = Four<f64>;
            const N: usize = 4;
            // What every x86-64 processor has holds 16 bytes.
            const REGISTERS: usize = 4 * size_of::<$t>() / 16;

            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                Four(unsafe { from.cast::<[$t; 4]>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                unsafe { to.cast::<[$t; 4]>().write_unaligned(self.0) }
            }
            #[inline(always)]
            unsafe fn stream(self, to: *mut $t) {
                unsafe { self.store(to) }
            }
            #[inline(always)]
            unsafe fn end_of_stream() {}
            #[inline(always)]
            unsafe fn splat(value: $t) -> Self {
                Four([value; 4])
            }
            #[inline(always)]
            unsafe fn constant(value: f64) -> Self {
                Four([value as $t; 4])
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                Four(std::array::from_fn(|i| self.0[i] + other.0[i]))
            }
            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                Four(std::array::from_fn(|i| self.0[i] - other.0[i]))
            }
            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                Four(std::array::from_fn(|i| self.0[i] * other.0[i]))
            }
            #[inline(always)]
            unsafe fn div(self, other: Self) -> Self {
                Four(std::array::from_fn(|i| self.0[i] / other.0[i]))
            }
            #[inline(always)]
            unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
                // Two roundings: a fused one would be a function call where the target lacks the instruction.
                Four(std::array::from_fn(|i| self.0[i] * factor.0[i] + addend.0[i]))
            }
            #[inline(always)]
            unsafe fn mul_sub_from(self, factor: Self, minuend: Self) -> Self {
                Four(std::array::from_fn(|i| minuend.0[i] - self.0[i] * factor.0[i]))
            }
            #[inline(always)]
            unsafe fn abs(self) -> Self {
                Four(self.0.map(<$t>::abs))
            }
            #[inline(always)]
            unsafe fn min(self, bound: Self) -> Self {
                Four(std::array::from_fn(|i| if self.0[i] < bound.0[i] { self.0[i] } else { bound.0[i] }))
            }
            #[inline(always)]
            unsafe fn max(self, bound: Self) -> Self {
                Four(std::array::from_fn(|i| if self.0[i] > bound.0[i] { self.0[i] } else { bound.0[i] }))
            }
            #[inline(always)]
            unsafe fn with_sign_of(self, sign: Self) -> Self {
                Four(std::array::from_fn(|i| self.0[i].copysign(sign.0[i])))
            }
            #[inline(always)]
            unsafe fn where_positive(self, other: Self) -> Self {
                Four(std::array::from_fn(|i| if other.0[i] > 0.0 { self.0[i] } else { 0.0 }))
            }
            #[inline(always)]
            unsafe fn round(self) -> Self {
                Four(self.0.map(<$t>::round_ties_even))
            }
            #[inline(always)]
            unsafe fn power_of_two(n: Self) -> Self {
                Four(n.0.map(|n| <$t>::from_bits(((n as i32 + $bias) as $bits) << $mantissa)))
            }
            #[inline(always)]
            unsafe fn all_below(self, limit: Self) -> bool {
                (0..4).all(|i| self.0[i].abs() < limit.0[i])
            }
            #[inline(always)]
            unsafe fn interleave(self, other: Self) -> (Self, Self) {
                let (a, b) = (self.0, other.0);
                (Four([a[0], b[0], a[1], b[1]]), Four([a[2], b[2], a[3], b[3]]))
            }
            #[inline(always)]
            unsafe fn widen($self) -> (Four<f64>, Four<f64>) $widen
            #[inline(always)]
            unsafe fn narrow(low: Four<f64>, _: Four<f64>) -> Self {
                Four(low.0.map(|x| x as $t))
            }
            #[inline(always)]
            unsafe fn sum(self) -> $t {
                (self.0[0] + self.0[2]) + (self.0[1] + self.0[3])
            }
            #[inline(always)]
            unsafe fn walsh_hadamard(self) -> Self {
                let [a, b, c, d] = self.0;
                let (a, b, c, d) = (a + b, a - b, c + d, c - d);
                Four([a + c, b + d, a - c, b - d])
            }
        }
    };
}

// Four f32 fill half of what two `Four<f64>` could hold: the loops ask for N/Wide::N parts, here one.
four!(f32, u32, 127, 23, widen(self) {
    (Four(self.0.map(f64::from)), Four([0.0; 4]))
});
four!(f64, u64, 1023, 52, widen(self) {
    (self, Four([0.0; 4]))
});

impl WholeLanes for Four<f64> {
    type Whole = [u64; 4];

    #[inline(always)]
    unsafe fn splat_whole(value: u64) -> [u64; 4] {
        [value; 4]
    }
    #[inline(always)]
    unsafe fn load_whole(from: *const u32) -> [u64; 4] {
        unsafe { from.cast::<[u32; 4]>().read_unaligned() }.map(u64::from)
    }
    #[inline(always)]
    unsafe fn floor_mul_add(self, factor: [u64; 4], sum: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| {
            // Towards zero, then one down where that was up: floor is a function call where the target lacks the instruction.
            // SAFETY: the caller says that it fits.
            let toward_zero: i32 = unsafe { self.0[i].to_int_unchecked() };
            let floor = i64::from(toward_zero) - i64::from(f64::from(toward_zero) > self.0[i]);
            sum[i].wrapping_add((floor as u64).wrapping_mul(factor[i]))
        })
    }
    #[inline(always)]
    unsafe fn store_rests(whole: [u64; 4], to: *mut u32) {
        let rests = whole.map(|x| (x % ((1 << 31) - 1)) as u32);
        unsafe { to.cast::<[u32; 4]>().write_unaligned(rests) }
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        Four(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    unsafe fn exponent(self) -> Self {
        Four(self.0.map(|x| f64::from((x.to_bits() >> 52) as i32 - 1023)))
    }
}
