//! AVX2 with fused multiply-add: 8 × f32, 4 × f64.

use std::arch::{asm, x86_64::*};

use super::{Lanes, VECTORS, WholeLanes};

/// Eight f32.
#[derive(Clone, Copy)]
pub struct F32x8(__m256);

/// Four f64.
#[derive(Clone, Copy)]
pub struct F64x4(__m256d);

const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

impl Lanes for F32x8 {
    type Elem = f32;
    type Wide = F64x4;
    const N: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        F32x8(unsafe { _mm256_loadu_ps(from) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        unsafe { _mm256_storeu_ps(to, self.0) }
    }
    #[inline(always)]
    unsafe fn stream(self, to: *mut f32) {
        unsafe { _mm256_stream_ps(to, self.0) }
    }
    #[inline(always)]
    unsafe fn end_of_stream() {
        unsafe { _mm_sfence() }
    }
    #[inline(always)]
    unsafe fn prefetch(from: *const f32) {
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from.cast()) }
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        F32x8(unsafe { _mm256_set1_ps(value) })
    }
    #[inline(always)]
    unsafe fn constant(value: f64) -> Self {
        F32x8(unsafe { _mm256_set1_ps(value as f32) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        F32x8(unsafe { _mm256_add_ps(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        F32x8(unsafe { _mm256_sub_ps(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        F32x8(unsafe { _mm256_mul_ps(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        F32x8(unsafe { _mm256_div_ps(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
        F32x8(unsafe { _mm256_fmadd_ps(self.0, factor.0, addend.0) })
    }
    #[inline(always)]
    unsafe fn mul_sub_from(self, factor: Self, minuend: Self) -> Self {
        F32x8(unsafe { _mm256_fnmadd_ps(self.0, factor.0, minuend.0) })
    }
    #[inline(always)]
    unsafe fn end_of_row(sums: &[Self; VECTORS]) {
        // Nothing is executed. The compiler does not move reads past it, and the sums come before.
        unsafe {
            let [a, b, c] = *sums;
            let [a, b, c] =
                [_mm256_castps256_ps128(a.0), _mm256_castps256_ps128(b.0), _mm256_castps256_ps128(c.0)];
            asm!("/* {0} {1} {2} */", in(xmm_reg) a, in(xmm_reg) b, in(xmm_reg) c, options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    unsafe fn abs(self) -> Self {
        F32x8(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
    }
    #[inline(always)]
    unsafe fn min(self, bound: Self) -> Self {
        F32x8(unsafe { _mm256_min_ps(self.0, bound.0) })
    }
    #[inline(always)]
    unsafe fn max(self, bound: Self) -> Self {
        F32x8(unsafe { _mm256_max_ps(self.0, bound.0) })
    }
    #[inline(always)]
    unsafe fn with_sign_of(self, sign: Self) -> Self {
        F32x8(unsafe { _mm256_or_ps(self.0, _mm256_and_ps(_mm256_set1_ps(-0.0), sign.0)) })
    }
    #[inline(always)]
    unsafe fn where_positive(self, other: Self) -> Self {
        unsafe {
            let positive = _mm256_cmp_ps::<_CMP_GT_OQ>(other.0, _mm256_setzero_ps());
            F32x8(_mm256_and_ps(self.0, positive))
        }
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        F32x8(unsafe { _mm256_round_ps::<NEAREST>(self.0) })
    }
    #[inline(always)]
    unsafe fn power_of_two(n: Self) -> Self {
        unsafe {
            let biased = _mm256_add_epi32(_mm256_cvtps_epi32(n.0), _mm256_set1_epi32(127));
            F32x8(_mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased)))
        }
    }
    #[inline(always)]
    unsafe fn all_below(self, limit: Self) -> bool {
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.abs().0, limit.0)) == 0xff }
    }
    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        unsafe {
            let low = _mm256_unpacklo_ps(self.0, other.0); // a0 b0 a1 b1 | a4 b4 a5 b5
            let high = _mm256_unpackhi_ps(self.0, other.0);
            let first = _mm256_permute2f128_ps::<0x20>(low, high);
            (F32x8(first), F32x8(_mm256_permute2f128_ps::<0x31>(low, high)))
        }
    }
    #[inline(always)]
    unsafe fn widen(self) -> (F64x4, F64x4) {
        unsafe {
            let low = _mm256_cvtps_pd(_mm256_castps256_ps128(self.0));
            (F64x4(low), F64x4(_mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self.0))))
        }
    }
    #[inline(always)]
    unsafe fn narrow(low: F64x4, high: F64x4) -> Self {
        F32x8(unsafe { _mm256_set_m128(_mm256_cvtpd_ps(high.0), _mm256_cvtpd_ps(low.0)) })
    }
    #[inline(always)]
    unsafe fn sum(self) -> f32 {
        unsafe {
            let four = _mm_add_ps(_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
        }
    }
    #[inline(always)]
    unsafe fn walsh_hadamard(self) -> Self {
        unsafe {
            // Each half gets the other's elements, and its own with the sign of the half.
            let one = _mm256_setr_ps(1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0);
            let two = _mm256_setr_ps(1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0);
            let four = _mm256_setr_ps(1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0);
            let v = self.0;
            let v = _mm256_fmadd_ps(v, one, _mm256_permute_ps::<0b10_11_00_01>(v));
            let v = _mm256_fmadd_ps(v, two, _mm256_permute_ps::<0b01_00_11_10>(v));
            F32x8(_mm256_fmadd_ps(v, four, _mm256_permute2f128_ps::<0x01>(v, v)))
        }
    }
}

impl Lanes for F64x4 {
    type Elem = f64;
    type Wide = F64x4;
    const N: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        F64x4(unsafe { _mm256_loadu_pd(from) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        unsafe { _mm256_storeu_pd(to, self.0) }
    }
    #[inline(always)]
    unsafe fn stream(self, to: *mut f64) {
        unsafe { _mm256_stream_pd(to, self.0) }
    }
    #[inline(always)]
    unsafe fn end_of_stream() {
        unsafe { _mm_sfence() }
    }
    #[inline(always)]
    unsafe fn prefetch(from: *const f64) {
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from.cast()) }
    }
    #[inline(always)]
    unsafe fn splat(value: f64) -> Self {
        F64x4(unsafe { _mm256_set1_pd(value) })
    }
    #[inline(always)]
    unsafe fn constant(value: f64) -> Self {
        F64x4(unsafe { _mm256_set1_pd(value) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        F64x4(unsafe { _mm256_add_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        F64x4(unsafe { _mm256_sub_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        F64x4(unsafe { _mm256_mul_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        F64x4(unsafe { _mm256_div_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
        F64x4(unsafe { _mm256_fmadd_pd(self.0, factor.0, addend.0) })
    }
    #[inline(always)]
    unsafe fn mul_sub_from(self, factor: Self, minuend: Self) -> Self {
        F64x4(unsafe { _mm256_fnmadd_pd(self.0, factor.0, minuend.0) })
    }
    #[inline(always)]
    unsafe fn end_of_row(sums: &[Self; VECTORS]) {
        // Nothing is executed. The compiler does not move reads past it, and the sums come before.
        unsafe {
            let [a, b, c] = *sums;
            let [a, b, c] =
                [_mm256_castpd256_pd128(a.0), _mm256_castpd256_pd128(b.0), _mm256_castpd256_pd128(c.0)];
            asm!("/* {0} {1} {2} */", in(xmm_reg) a, in(xmm_reg) b, in(xmm_reg) c, options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    unsafe fn abs(self) -> Self {
        F64x4(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
    }
    #[inline(always)]
    unsafe fn min(self, bound: Self) -> Self {
        F64x4(unsafe { _mm256_min_pd(self.0, bound.0) })
    }
    #[inline(always)]
    unsafe fn max(self, bound: Self) -> Self {
        F64x4(unsafe { _mm256_max_pd(self.0, bound.0) })
    }
    #[inline(always)]
    unsafe fn with_sign_of(self, sign: Self) -> Self {
        F64x4(unsafe { _mm256_or_pd(self.0, _mm256_and_pd(_mm256_set1_pd(-0.0), sign.0)) })
    }
    #[inline(always)]
    unsafe fn where_positive(self, other: Self) -> Self {
        unsafe {
            let positive = _mm256_cmp_pd::<_CMP_GT_OQ>(other.0, _mm256_setzero_pd());
            F64x4(_mm256_and_pd(self.0, positive))
        }
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        F64x4(unsafe { _mm256_round_pd::<NEAREST>(self.0) })
    }
    #[inline(always)]
    unsafe fn power_of_two(n: Self) -> Self {
        unsafe {
            let biased = _mm_add_epi32(_mm256_cvtpd_epi32(n.0), _mm_set1_epi32(1023));
            F64x4(_mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_cvtepi32_epi64(biased))))
        }
    }
    #[inline(always)]
    unsafe fn all_below(self, limit: Self) -> bool {
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(self.abs().0, limit.0)) == 0xf }
    }
    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        unsafe {
            let low = _mm256_unpacklo_pd(self.0, other.0); // a0 b0 | a2 b2
            let high = _mm256_unpackhi_pd(self.0, other.0);
            let first = _mm256_permute2f128_pd::<0x20>(low, high);
            (F64x4(first), F64x4(_mm256_permute2f128_pd::<0x31>(low, high)))
        }
    }
    #[inline(always)]
    unsafe fn widen(self) -> (F64x4, F64x4) {
        (self, self)
    }
    #[inline(always)]
    unsafe fn narrow(low: F64x4, _: F64x4) -> Self {
        low
    }
    #[inline(always)]
    unsafe fn sum(self) -> f64 {
        unsafe {
            let two = _mm_add_pd(_mm256_castpd256_pd128(self.0), _mm256_extractf128_pd::<1>(self.0));
            _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
        }
    }
    #[inline(always)]
    unsafe fn walsh_hadamard(self) -> Self {
        unsafe {
            // Each half gets the other's elements, and its own with the sign of the half.
            let one = _mm256_setr_pd(1.0, -1.0, 1.0, -1.0);
            let two = _mm256_setr_pd(1.0, 1.0, -1.0, -1.0);
            let v = _mm256_fmadd_pd(self.0, one, _mm256_permute_pd::<0b0101>(self.0));
            F64x4(_mm256_fmadd_pd(v, two, _mm256_permute2f128_pd::<0x01>(v, v)))
        }
    }
}

/// Adding this to a whole number below 2⁵¹ writes the number into the low bits.
const WRITE: f64 = (3u64 << 51) as f64;

impl WholeLanes for F64x4 {
    type Whole = __m256i;

    #[inline(always)]
    unsafe fn splat_whole(value: u64) -> __m256i {
        unsafe { _mm256_set1_epi64x(value as i64) }
    }
    #[inline(always)]
    unsafe fn load_whole(from: *const u32) -> __m256i {
        unsafe { _mm256_cvtepu32_epi64(_mm_loadu_si128(from.cast())) }
    }
    #[inline(always)]
    unsafe fn floor_mul_add(self, factor: __m256i, sum: __m256i) -> __m256i {
        unsafe {
            let floor = _mm256_add_pd(_mm256_floor_pd(self.0), _mm256_set1_pd(WRITE));
            // The product takes the low 32 bits of each lane, with their sign.
            _mm256_add_epi64(sum, _mm256_mul_epi32(_mm256_castpd_si256(floor), factor))
        }
    }
    #[inline(always)]
    unsafe fn store_rests(whole: __m256i, to: *mut u32) {
        unsafe {
            let prime = _mm256_set1_epi64x((1 << 31) - 1);
            // 2³¹ ≡ 1: the digits to the base 2³¹ are added, twice, which leaves less than 2³¹ + 4.
            let fold = |x| _mm256_add_epi64(_mm256_and_si256(x, prime), _mm256_srli_epi64::<31>(x));
            let sum = fold(fold(whole));
            // Below the prime the difference wraps round and is the larger.
            let rest = _mm256_min_epu32(sum, _mm256_sub_epi64(sum, prime));
            let low_halves = _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0);
            _mm_storeu_si128(
                to.cast(),
                _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(rest, low_halves)),
            );
        }
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        F64x4(unsafe { _mm256_sqrt_pd(self.0) })
    }
    #[inline(always)]
    unsafe fn exponent(self) -> Self {
        unsafe {
            // The biased exponent written into the low bits of 2⁵².
            let shift = (1u64 << 52) as f64;
            let biased = _mm256_srli_epi64::<52>(_mm256_castpd_si256(self.0));
            let written = _mm256_or_pd(_mm256_castsi256_pd(biased), _mm256_set1_pd(shift));
            F64x4(_mm256_sub_pd(written, _mm256_set1_pd(shift + 1023.0)))
        }
    }
}
