//! What every machine for two classes asks of its rows, signs and costs.

use crate::{Error, Result, Rows, Scalar};

/// Lengths agree, rows are finite, signs are 1 or −1, costs are finite and not negative.
pub(super) fn check<T: Scalar>(rows: &Rows<'_, T>, signs: &[f64], costs: &[f64]) -> Result<()> {
    let n = rows.count();
    for (what, found) in [("signs", signs.len()), ("costs", costs.len())] {
        if found != n {
            return Err(Error::Length { what, expected: n, found });
        }
    }
    rows.check_finite(0)?;
    let wrong = |name, expected, found: f64| Error::Parameter { name, expected, found: found.to_string() };
    if let Some(&sign) = signs.iter().find(|sign| sign.abs().to_bits() != 1f64.to_bits()) {
        return Err(wrong("signs", "1 or −1", sign));
    }
    if let Some(&cost) = costs.iter().find(|&&cost| !(cost >= 0.0 && cost.is_finite())) {
        return Err(wrong("costs", "finite and not negative", cost));
    }
    Ok(())
}
