//! Text to number, exactly: the nearest f64, and only finite ones.

/// The number that the bytes spell, spaces around it aside; none for anything else, NaN and infinities included.
#[inline]
pub(crate) fn parse(bytes: &[u8]) -> Option<f64> {
    match whole(bytes) {
        Some(value) => Some(value),
        None => general(bytes),
    }
}

/// The commonest case without detours: up to 18 digits and nothing else, exact in i64 and rounded once.
#[inline]
fn whole(bytes: &[u8]) -> Option<f64> {
    if bytes.is_empty() || bytes.len() > 18 {
        return None;
    }
    let mut value = 0i64;
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = 10 * value + i64::from(digit);
    }
    Some(value as f64)
}

/// Any other spelling. Kept apart, so that the common case does not pay for its stack.
#[inline(never)]
fn general(bytes: &[u8]) -> Option<f64> {
    fast_float2::parse(bytes.trim_ascii()).ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_to_the_last_bit() {
        for text in [
            "0",
            "007",
            "999999999999999",
            "9007199254740993",
            "999999999999999999",
            "9999999999999999999",
            "18446744073709551617",
            "-0",
            "+1.5",
            ".5",
            "5.",
            "1e-400",
            "4.9e-324",
        ] {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(parse(text.as_bytes()).map(f64::to_bits), Some(expected.to_bits()), "{text}");
        }
        assert_eq!(parse(b" \t12 "), Some(12.0));
    }

    #[test]
    fn what_is_not_a_finite_number_is_none() {
        for text in [
            "", " ", "nan", "NaN", "-inf", "Infinity", "1e999", "-1e999", "1,5", "0x10", "1_000", "1 2", "é",
            "--1",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
