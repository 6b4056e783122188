//! AVX-512 (F, DQ, VL, BW): 16 × f32, 8 × f64.

use std::arch::x86_64::*;

use super::{Lanes, WholeLanes};

/// Sixteen f32.
#[derive(Clone, Copy)]
pub struct F32x16(__m512);

/// Eight f64.
#[derive(Clone, Copy)]
pub struct F64x8(__m512d);

/// Round to nearest with no fraction bits kept, for `roundscale`.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

/// The smaller of two absolute values with the sign of the first, for `range`.
const SMALLER: i32 = 0b0010;

impl Lanes for F32x16 {
    type Elem = f32;
    type Wide = F64x8;
    const N: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        F32x16(unsafe { _mm512_loadu_ps(from) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        unsafe { _mm512_storeu_ps(to, self.0) }
    }
    #[inline(always)]
    unsafe fn stream(self, to: *mut f32) {
        unsafe { _mm512_stream_ps(to, self.0) }
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
        F32x16(unsafe { _mm512_set1_ps(value) })
    }
    #[inline(always)]
    unsafe fn constant(value: f64) -> Self {
        F32x16(unsafe { _mm512_set1_ps(value as f32) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        F32x16(unsafe { _mm512_add_ps(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        F32x16(unsafe { _mm512_sub_ps(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        F32x16(unsafe { _mm512_mul_ps(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        F32x16(unsafe { _mm512_div_ps(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
        F32x16(unsafe { _mm512_fmadd_ps(self.0, factor.0, addend.0) })
    }
    #[inline(always)]
    unsafe fn mul_sub_from(self, factor: Self, minuend: Self) -> Self {
        F32x16(unsafe { _mm512_fnmadd_ps(self.0, factor.0, minuend.0) })
    }
    #[inline(always)]
    unsafe fn abs(self) -> Self {
        F32x16(unsafe { _mm512_abs_ps(self.0) })
    }
    #[inline(always)]
    unsafe fn min(self, bound: Self) -> Self {
        F32x16(unsafe { _mm512_min_ps(self.0, bound.0) })
    }
    #[inline(always)]
    unsafe fn max(self, bound: Self) -> Self {
        F32x16(unsafe { _mm512_max_ps(self.0, bound.0) })
    }
    #[inline(always)]
    unsafe fn with_sign_of(self, sign: Self) -> Self {
        F32x16(unsafe { _mm512_or_ps(self.0, _mm512_and_ps(_mm512_set1_ps(-0.0), sign.0)) })
    }
    #[inline(always)]
    unsafe fn where_positive(self, other: Self) -> Self {
        unsafe {
            let positive = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(other.0, _mm512_setzero_ps());
            F32x16(_mm512_maskz_mov_ps(positive, self.0))
        }
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        F32x16(unsafe { _mm512_roundscale_ps::<NEAREST>(self.0) })
    }
    #[inline(always)]
    unsafe fn fraction(self) -> Self {
        F32x16(unsafe { _mm512_reduce_ps::<NEAREST>(self.0) })
    }
    #[inline(always)]
    unsafe fn within(self, bound: Self) -> Self {
        F32x16(unsafe { _mm512_range_ps::<SMALLER>(self.0, bound.0) })
    }
    #[inline(always)]
    unsafe fn power_of_two(n: Self) -> Self {
        F32x16(unsafe { _mm512_scalef_ps(_mm512_set1_ps(1.0), n.0) })
    }
    #[inline(always)]
    unsafe fn all_below(self, limit: Self) -> bool {
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.abs().0, limit.0) == 0xffff }
    }
    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        unsafe {
            let first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let second = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            let low = _mm512_permutex2var_ps(self.0, first, other.0);
            (F32x16(low), F32x16(_mm512_permutex2var_ps(self.0, second, other.0)))
        }
    }
    #[inline(always)]
    unsafe fn widen(self) -> (F64x8, F64x8) {
        unsafe {
            let low = _mm512_cvtps_pd(_mm512_castps512_ps256(self.0));
            (F64x8(low), F64x8(_mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(self.0))))
        }
    }
    #[inline(always)]
    unsafe fn narrow(low: F64x8, high: F64x8) -> Self {
        unsafe {
            let low = _mm512_castps256_ps512(_mm512_cvtpd_ps(low.0));
            F32x16(_mm512_insertf32x8::<1>(low, _mm512_cvtpd_ps(high.0)))
        }
    }
    #[inline(always)]
    unsafe fn sum(self) -> f32 {
        unsafe { _mm512_reduce_add_ps(self.0) }
    }
    #[inline(always)]
    unsafe fn walsh_hadamard(self) -> Self {
        unsafe {
            // Each half gets the other's elements, and its own with the sign of the half.
            let (plus, minus) = (_mm512_set1_ps(1.0), _mm512_set1_ps(-1.0));
            let one = _mm512_mask_blend_ps(0b1010_1010_1010_1010, plus, minus);
            let two = _mm512_mask_blend_ps(0b1100_1100_1100_1100, plus, minus);
            let four = _mm512_mask_blend_ps(0b1111_0000_1111_0000, plus, minus);
            let eight = _mm512_mask_blend_ps(0b1111_1111_0000_0000, plus, minus);
            let v = self.0;
            let v = _mm512_fmadd_ps(v, one, _mm512_permute_ps::<0b10_11_00_01>(v));
            let v = _mm512_fmadd_ps(v, two, _mm512_permute_ps::<0b01_00_11_10>(v));
            let v = _mm512_fmadd_ps(v, four, _mm512_shuffle_f32x4::<0b10_11_00_01>(v, v));
            F32x16(_mm512_fmadd_ps(v, eight, _mm512_shuffle_f32x4::<0b01_00_11_10>(v, v)))
        }
    }
}

impl Lanes for F64x8 {
    type Elem = f64;
    type Wide = F64x8;
    const N: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        F64x8(unsafe { _mm512_loadu_pd(from) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        unsafe { _mm512_storeu_pd(to, self.0) }
    }
    #[inline(always)]
    unsafe fn stream(self, to: *mut f64) {
        unsafe { _mm512_stream_pd(to, self.0) }
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
        F64x8(unsafe { _mm512_set1_pd(value) })
    }
    #[inline(always)]
    unsafe fn constant(value: f64) -> Self {
        F64x8(unsafe { _mm512_set1_pd(value) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        F64x8(unsafe { _mm512_add_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        F64x8(unsafe { _mm512_sub_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        F64x8(unsafe { _mm512_mul_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        F64x8(unsafe { _mm512_div_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
        F64x8(unsafe { _mm512_fmadd_pd(self.0, factor.0, addend.0) })
    }
    #[inline(always)]
    unsafe fn mul_sub_from(self, factor: Self, minuend: Self) -> Self {
        F64x8(unsafe { _mm512_fnmadd_pd(self.0, factor.0, minuend.0) })
    }
    #[inline(always)]
    unsafe fn abs(self) -> Self {
        F64x8(unsafe { _mm512_abs_pd(self.0) })
    }
    #[inline(always)]
    unsafe fn min(self, bound: Self) -> Self {
        F64x8(unsafe { _mm512_min_pd(self.0, bound.0) })
    }
    #[inline(always)]
    unsafe fn max(self, bound: Self) -> Self {
        F64x8(unsafe { _mm512_max_pd(self.0, bound.0) })
    }
    #[inline(always)]
    unsafe fn with_sign_of(self, sign: Self) -> Self {
        F64x8(unsafe { _mm512_or_pd(self.0, _mm512_and_pd(_mm512_set1_pd(-0.0), sign.0)) })
    }
    #[inline(always)]
    unsafe fn where_positive(self, other: Self) -> Self {
        unsafe {
            let positive = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(other.0, _mm512_setzero_pd());
            F64x8(_mm512_maskz_mov_pd(positive, self.0))
        }
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        F64x8(unsafe { _mm512_roundscale_pd::<NEAREST>(self.0) })
    }
    #[inline(always)]
    unsafe fn fraction(self) -> Self {
        F64x8(unsafe { _mm512_reduce_pd::<NEAREST>(self.0) })
    }
    #[inline(always)]
    unsafe fn within(self, bound: Self) -> Self {
        F64x8(unsafe { _mm512_range_pd::<SMALLER>(self.0, bound.0) })
    }
    #[inline(always)]
    unsafe fn power_of_two(n: Self) -> Self {
        F64x8(unsafe { _mm512_scalef_pd(_mm512_set1_pd(1.0), n.0) })
    }
    #[inline(always)]
    unsafe fn all_below(self, limit: Self) -> bool {
        unsafe { _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.abs().0, limit.0) == 0xff }
    }
    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        unsafe {
            let first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
            let second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
            let low = _mm512_permutex2var_pd(self.0, first, other.0);
            (F64x8(low), F64x8(_mm512_permutex2var_pd(self.0, second, other.0)))
        }
    }
    #[inline(always)]
    unsafe fn widen(self) -> (F64x8, F64x8) {
        (self, self)
    }
    #[inline(always)]
    unsafe fn narrow(low: F64x8, _: F64x8) -> Self {
        low
    }
    #[inline(always)]
    unsafe fn sum(self) -> f64 {
        unsafe { _mm512_reduce_add_pd(self.0) }
    }
    #[inline(always)]
    unsafe fn walsh_hadamard(self) -> Self {
        unsafe {
            // Each half gets the other's elements, and its own with the sign of the half.
            let (plus, minus) = (_mm512_set1_pd(1.0), _mm512_set1_pd(-1.0));
            let one = _mm512_mask_blend_pd(0b1010_1010, plus, minus);
            let two = _mm512_mask_blend_pd(0b1100_1100, plus, minus);
            let four = _mm512_mask_blend_pd(0b1111_0000, plus, minus);
            let v = self.0;
            let v = _mm512_fmadd_pd(v, one, _mm512_permute_pd::<0b0101_0101>(v));
            let v = _mm512_fmadd_pd(v, two, _mm512_permutex_pd::<0b01_00_11_10>(v));
            F64x8(_mm512_fmadd_pd(v, four, _mm512_shuffle_f64x2::<0b01_00_11_10>(v, v)))
        }
    }
}

/// Down, for conversions.
const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

impl WholeLanes for F64x8 {
    type Whole = __m512i;

    #[inline(always)]
    unsafe fn splat_whole(value: u64) -> __m512i {
        unsafe { _mm512_set1_epi64(value as i64) }
    }
    #[inline(always)]
    unsafe fn load_whole(from: *const u32) -> __m512i {
        unsafe { _mm512_cvtepu32_epi64(_mm256_loadu_si256(from.cast())) }
    }
    #[inline(always)]
    unsafe fn floor_mul_add(self, factor: __m512i, sum: __m512i) -> __m512i {
        unsafe { _mm512_add_epi64(sum, _mm512_mul_epi32(_mm512_cvt_roundpd_epi64::<DOWN>(self.0), factor)) }
    }
    #[inline(always)]
    unsafe fn store_rests(whole: __m512i, to: *mut u32) {
        unsafe {
            let prime = _mm512_set1_epi64((1 << 31) - 1);
            // 2³¹ ≡ 1: the digits to the base 2³¹ are added, twice, which leaves less than 2³¹ + 4.
            let fold = |x| _mm512_add_epi64(_mm512_and_si512(x, prime), _mm512_srli_epi64::<31>(x));
            let sum = fold(fold(whole));
            // Below the prime the difference wraps round and is the larger.
            let rest = _mm512_min_epu32(sum, _mm512_sub_epi64(sum, prime));
            _mm256_storeu_si256(to.cast(), _mm512_cvtepi64_epi32(rest));
        }
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        F64x8(unsafe { _mm512_sqrt_pd(self.0) })
    }
    #[inline(always)]
    unsafe fn exponent(self) -> Self {
        F64x8(unsafe { _mm512_getexp_pd(self.0) })
    }
}
