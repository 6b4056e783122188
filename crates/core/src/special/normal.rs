//! The normal quantile.
//!
//! ```text
//! Φ⁻¹(½ + q)  = q·R₀(q²)                               |q| ≤ 0.425
//! Φ⁻¹(1 − p)  = R₁(s − 1.6)  or  R₂(s − 5),            s = √(−ln p) up to 5, or beyond
//! ```
//! R are ratios of polynomials of degree 7, the algorithm AS 241 of Wichura (1988). Odd around ½ and relative to the
//! smaller of u and 1 − u, so that neither the middle nor the tails lose digits.

/// Numerator and denominator, the highest power first, in 0.425² − q².
const CENTRE: [[f64; 8]; 2] = [
    [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    [
        5_226.495_278_852_546,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
];
/// The same in √(−ln p) − 1.6.
const SHOULDER: [[f64; 8]; 2] = [
    [
        0.000_774_545_014_278_341_4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        0.000_547_593_808_499_534_5,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
];
/// The same in √(−ln p) − 5.
const TAIL: [[f64; 8]; 2] = [
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_7e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        0.000_786_869_131_145_613_3,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_888,
        1.0,
    ],
];

/// Φ⁻¹(u), with a relative error below 2e-15; ∓∞ at 0 and 1.
pub(crate) fn normal_quantile(u: f64) -> f64 {
    if !(0.0..=1.0).contains(&u) {
        return f64::NAN;
    }
    let q = u - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&CENTRE, 0.425 * 0.425 - q * q);
    }
    let p = u.min(1.0 - u);
    if p <= 0.0 {
        return f64::INFINITY.copysign(q);
    }
    let s = (-libm::log(p)).sqrt();
    let length = if s <= 5.0 { ratio(&SHOULDER, s - 1.6) } else { ratio(&TAIL, s - 5.0) };
    length.copysign(q)
}

fn ratio(polynomials: &[[f64; 8]; 2], x: f64) -> f64 {
    let [top, bottom] = polynomials.each_ref().map(|c| c.iter().fold(0.0, |sum, c| sum * x + c));
    top / bottom
}

#[cfg(test)]
mod tests {
    use super::super::golden::{assert_relative, lines};
    use super::*;

    #[test]
    fn values_are_those_of_the_high_precision_script() {
        for [u, expected] in lines("normal_quantile") {
            assert_relative(normal_quantile(u), expected, 2e-15, &format!("quantile {u:e}"));
        }
    }

    #[test]
    fn quantiles_rise_and_are_odd() {
        let mut last = f64::NEG_INFINITY;
        for i in 0..=1 << 16 {
            let u = f64::from(i) / f64::from(1 << 16);
            let x = normal_quantile(u);
            assert!(x > last || i == 0, "{u}");
            assert!(x.to_bits() == (-normal_quantile(1.0 - u)).to_bits() || i == 1 << 15, "{u}");
            last = x;
        }
        assert!(last.is_infinite());
    }

    /// ½·erfc(−x/√2) = u, by a function that had no part in it.
    #[test]
    fn the_law_is_inverted() {
        for i in 0..1200 {
            let u = libm::exp(-0.5 * f64::from(i) - 0.7);
            if u > 1e-250 {
                let x = normal_quantile(u);
                assert_relative(0.5 * libm::erfc(-x * 0.5f64.sqrt()), u, 1e-12, &format!("{u:e}"));
            }
        }
    }

    #[test]
    fn outside_there_is_nothing() {
        for u in [f64::NAN, -1e-300, 1.0 + f64::EPSILON, f64::INFINITY] {
            assert!(normal_quantile(u).is_nan());
        }
        assert!((normal_quantile(5e-324) + 38.467).abs() < 1e-3);
    }
}
