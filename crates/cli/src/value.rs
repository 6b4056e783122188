//! The texts of options as values.

use bochner::encode::Declared;
use bochner::table::ColumnKind;
use bochner::{Family, Kernel, KernelChoice, Nonzeros};
use bochner_io::{Encoding, FeatureFormat, Format};

use crate::text;

/// An encoding by any of its usual names.
pub(crate) fn encoding(text: &str) -> Result<Encoding, String> {
    text.parse().map_err(|error: bochner_io::Error| error.to_string())
}

/// `csv`, `parquet`, `arrow`, `libsvm` or `npy`.
pub(crate) fn format(text: &str) -> Result<Format, String> {
    text.parse().map_err(|error: bochner_io::Error| error.to_string())
}

/// `csv`, `npy` or `libsvm`.
pub(crate) fn feature_format(text: &str) -> Result<FeatureFormat, String> {
    text.parse().map_err(|error: bochner_io::Error| error.to_string())
}

/// A family whose width is to be tuned, or a kernel with all its parameters.
pub(crate) fn kernel(text: &str) -> Result<KernelChoice, String> {
    text.parse().map_err(|error: bochner::Error| error.to_string())
}

/// A kernel with all its parameters.
pub(crate) fn whole_kernel(text: &str) -> Result<Kernel, String> {
    text.parse().map_err(|error: bochner::Error| error.to_string())
}

/// A kernel where there is no target to tune its width for.
pub(crate) fn given_kernel(text: &str) -> Result<Kernel, String> {
    let example = match kernel(text)? {
        KernelChoice::Given(kernel) => return Ok(kernel),
        KernelChoice::Tuned(Family::Gaussian) => "gaussian(sigma=2)",
        KernelChoice::Tuned(Family::Laplace) => "laplace(scale=2)",
        KernelChoice::Tuned(Family::Exponential) => "exponential(scale=2)",
        KernelChoice::Any => "gaussian(sigma=2)",
    };
    Err(format!("expected a kernel with its width, as in '{example}': only fit has a target to tune it for"))
}

/// A part of all, or a probability.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        Ok(percent) if percent > 1.0 && percent < 100.0 => {
            Err(format!("expected a number between 0 and 1, such as {}", percent / 100.0))
        }
        _ => Err("expected a number between 0 and 1, such as 0.9".to_owned()),
    }
}

/// How many, or the word `theorem`.
pub(crate) fn nonzeros(text: &str) -> Result<Nonzeros, String> {
    match (text, text.parse()) {
        ("theorem", _) => Ok(Nonzeros::Theorem),
        (_, Ok(count)) if count > 0 => Ok(Nonzeros::Count { count }),
        _ => Err("expected a number above 0, or the word theorem".to_owned()),
    }
}

/// A column and how its texts become numbers: `message=words(from=1,to=2)`.
pub(crate) fn sequence(text: &str) -> Result<Declared, String> {
    let expected = || "expected a column and a sequence kernel, such as dna=spectrum(k=5)".to_owned();
    let (column, kernel) =
        text.split_once('=').filter(|(column, _)| !column.trim().is_empty()).ok_or_else(expected)?;
    let sequence = kernel.parse().map_err(|error: bochner::Error| {
        // A kernel alone has its first "=" inside.
        if column.contains('(') {
            return expected();
        }
        match kernel.parse() {
            Ok(Kernel::Restricted { kernel, .. }) if matches!(*kernel, Kernel::Sequence { .. }) => {
                let columns = text.rfind('[').map_or("", |at| &text[at..]);
                format!("the column stands before the =; leave {columns} out")
            }
            _ => error.to_string(),
        }
    })?;
    Ok(Declared { column: column.trim().to_owned(), sequence })
}

/// A column and what it holds.
pub(crate) fn kind(text: &str) -> Result<(String, ColumnKind), String> {
    // The name may have a "=" inside, the kind has none.
    let (column, kind) =
        text.rsplit_once('=').ok_or("expected a column and what it holds, such as zip=category")?;
    Ok((column.trim().to_owned(), column_kind(kind)?))
}

/// A kind of column by its name.
pub(crate) fn column_kind(name: &str) -> Result<ColumnKind, String> {
    name.parse().map_err(|error: bochner::Error| match error {
        bochner::Error::Parameter { expected, found, .. } => {
            format!("expected {expected}, found \"{}\"", text::shortened(&found, 20))
        }
        other => other.to_string(),
    })
}

/// One character of ASCII, or the word `tab`.
pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [b'"' | b'\r' | b'\n'] => Err("expected something other than quotes and line ends".to_owned()),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one character, such as \";\", or the word tab".to_owned()),
    }
}

/// A number above zero.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a number above 0".to_owned()),
    }
}

/// Seconds: a number of them, or with a unit s, m or min, h.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let wrong = || "expected a time such as 60s, 5m or 1h".to_owned();
    let text = text.trim();
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    match text[..digits].trim().parse::<f64>() {
        Ok(number) if number > 0.0 && (number * unit).is_finite() => Ok(number * unit),
        _ => Err(wrong()),
    }
}

/// Powers of 1,024 for K, M, G, T with or without iB, of 1,000 for KB, MB, GB, TB; B or nothing for bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || "expected a size such as 4GiB, 500M or 2e9".to_owned();
    let text = text.trim();
    let exponent =
        |at: usize| text[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
    let digits = text
        .char_indices()
        .find(|&(at, c)| {
            !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-') || (matches!(c, 'e') && exponent(at)))
        })
        .map_or(text.len(), |(at, _)| at);
    let number: f64 = text[..digits].parse().map_err(|_| wrong())?;
    let unit = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024f64.powi(2),
        "g" | "gib" => 1024f64.powi(3),
        "t" | "tib" => 1024f64.powi(4),
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return Err(wrong()),
    };
    let size = number * unit;
    if size >= 1.0 && size.is_finite() { Ok(size as u64) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_units() {
        for (text, expected) in
            [("60", 60.0), ("60s", 60.0), ("1.5m", 90.0), ("2 min", 120.0), ("1h", 3600.0)]
        {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "-1s", "0", "5 days", "nan", "infs", "1e400"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_in_any_usual_spelling() {
        for (text, expected) in [
            ("1", 1),
            ("4GiB", 4 << 30),
            ("4g", 4 << 30),
            ("1.5 K", 1536),
            ("500MB", 500_000_000),
            ("2e9", 2_000_000_000),
            ("3tb", 3_000_000_000_000),
            ("12 B", 12),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "G", "-1G", "0", "4 apples", "1e", "nan", "4GiBs", "é"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bare_family_is_tuned() {
        assert_eq!(kernel("laplace"), Ok(KernelChoice::Tuned(Family::Laplace)));
        assert_eq!(kernel("gaussian(sigma=2)"), Ok(KernelChoice::Given(Kernel::gaussian(2.0))));
        assert_eq!(kernel("linear"), Ok(KernelChoice::Given(Kernel::Linear)));
        assert!(kernel("gausian").unwrap_err().contains("did you mean gaussian?"));
        assert_eq!(given_kernel("gaussian(sigma=2)"), Ok(Kernel::gaussian(2.0)));
        assert!(given_kernel("laplace").unwrap_err().contains("'laplace(scale=2)'"));
        assert_eq!(nonzeros("theorem"), Ok(Nonzeros::Theorem));
        assert_eq!(nonzeros("3"), Ok(Nonzeros::Count { count: 3 }));
        assert!(nonzeros("0").is_err() && nonzeros("many").is_err());
    }

    #[test]
    fn a_column_is_declared_with_its_sequence() {
        let found = sequence("first name = characters(from=2,to=3)").unwrap();
        assert_eq!((found.column.as_str(), found.sequence.normalise), ("first name", true));
        assert_eq!(found.sequence.to_string(), "characters(from=2,to=3)");
        assert!(sequence("spectrum(k=5)").unwrap_err().contains("dna=spectrum(k=5)"));
        assert!(sequence("dna").unwrap_err().contains("dna=spectrum(k=5)"));
        assert!(sequence("=spectrum(k=5)").is_err());
        assert!(sequence("dna=gaussian(sigma=1)").unwrap_err().contains("it compares numbers"));
        let error = sequence("dna=spectrum(k=5)[dna]").unwrap_err();
        assert_eq!(error, "the column stands before the =; leave [dna] out");
        assert!(sequence("dna=spectrum(k=5)[a] + words[b]").unwrap_err().contains("leave the column out"));
    }

    #[test]
    fn delimiters_are_one_character() {
        assert_eq!([delimiter(";"), delimiter("tab"), delimiter("\\t")], [Ok(b';'), Ok(b'\t'), Ok(b'\t')]);
        assert!(delimiter("").is_err() && delimiter("ab").is_err() && delimiter("\"").is_err());
        assert!(delimiter("é").is_err());
    }
}
