//! Features → file: CSV, NPY and LIBSVM, block by block.
//!
//! ```text
//! csv      f0,f1,…[,target]            numbers with as many digits as it takes to read them back exactly
//! npy      NumPy's format 1.0          little-endian, rows one after the other; the number of rows is written last, over the header
//! libsvm   label index:value …         indices from 1, zeros left out; label 0 where there is none
//! ```

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use bochner::encode::Precision;
use bochner::table::TextColumn;
use bochner::{AnyRows, Rows, Scalar};

use crate::Error;
use crate::options::extension;

/// The formats that features are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureFormat {
    /// `.csv`
    Csv,
    /// `.npy`
    Npy,
    /// `.libsvm`, `.svm`, `.svmlight`
    Libsvm,
}

impl FeatureFormat {
    /// What a name says.
    pub fn of(file: &Path) -> Result<Self, Error> {
        let extension = extension(file);
        match extension.as_str() {
            "csv" => Ok(FeatureFormat::Csv),
            "npy" => Ok(FeatureFormat::Npy),
            "libsvm" | "svm" | "svmlight" => Ok(FeatureFormat::Libsvm),
            _ => Err(Error::UnknownFeatureExtension { file: file.to_owned(), found: extension }),
        }
    }
}

impl FromStr for FeatureFormat {
    type Err = Error;

    /// `csv`, `npy` or `libsvm`.
    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "csv" => Ok(FeatureFormat::Csv),
            "npy" => Ok(FeatureFormat::Npy),
            "libsvm" => Ok(FeatureFormat::Libsvm),
            _ => Err(Error::UnknownFeatureFormat { found: name.to_owned() }),
        }
    }
}

/// The bytes of a header with room for any number of rows.
const NPY_HEADER: usize = 128;

/// Writes features to whatever takes bytes.
#[derive(Debug)]
pub struct FeatureWriter {
    format: FeatureFormat,
    columns: usize,
    precision: Precision,
    has_target: bool,
    rows: u64,
    line: Vec<u8>,
}

impl FeatureWriter {
    /// Writes what stands before the first row. `target` is the name of a last column of CSV; LIBSVM has labels without a name.
    pub fn new(
        format: FeatureFormat,
        columns: usize,
        precision: Precision,
        target: Option<&str>,
        to: &mut dyn Write,
    ) -> io::Result<Self> {
        let writer = FeatureWriter {
            format,
            columns,
            precision,
            has_target: target.is_some(),
            rows: 0,
            line: Vec::new(),
        };
        match format {
            FeatureFormat::Csv => {
                let names =
                    (0..columns).map(|j| format!("f{j}")).chain(target.map(|name| field(name).into_owned()));
                writeln!(to, "{}", names.collect::<Vec<_>>().join(","))?;
            }
            FeatureFormat::Npy => to.write_all(&writer.npy_header())?,
            FeatureFormat::Libsvm => {}
        }
        Ok(writer)
    }

    /// Writes a block of rows with their targets, where there are any.
    pub fn write(
        &mut self,
        features: AnyRows<'_>,
        targets: Option<&TextColumn>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        debug_assert_eq!(targets.is_some(), self.has_target);
        debug_assert_eq!(features.columns(), self.columns);
        match features {
            AnyRows::F32(rows) => self.write_rows(&rows, f32::to_le_bytes, targets, to),
            AnyRows::F64(rows) => self.write_rows(&rows, f64::to_le_bytes, targets, to),
        }
    }

    fn write_rows<T: Scalar + Display, const N: usize>(
        &mut self,
        rows: &Rows<'_, T>,
        bytes: fn(T) -> [u8; N],
        targets: Option<&TextColumn>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let mut row = vec![T::default(); self.columns];
        for i in 0..rows.count() {
            let line = &mut self.line;
            line.clear();
            match self.format {
                FeatureFormat::Npy => {
                    rows.densify(i, &mut row);
                    row.iter().for_each(|x| line.extend(bytes(*x)));
                }
                FeatureFormat::Csv => {
                    rows.densify(i, &mut row);
                    for (j, x) in row.iter().enumerate() {
                        write!(line, "{}{x}", if j > 0 { "," } else { "" })?;
                    }
                    if let Some(targets) = targets {
                        write!(line, ",{}", field(targets.get(i)))?;
                    }
                    line.push(b'\n');
                }
                FeatureFormat::Libsvm => {
                    write!(line, "{}", targets.map_or("0", |targets| targets.get(i)))?;
                    for (j, x) in rows.entries(i).filter(|(_, x)| *x != T::default()) {
                        write!(line, " {}:{x}", u64::from(j) + 1)?;
                    }
                    line.push(b'\n');
                }
            }
            to.write_all(line)?;
        }
        self.rows += rows.count() as u64;
        Ok(())
    }

    /// Bytes that are to be written over the start of the file, now that the number of rows is known; none where the file is whole.
    pub fn first_bytes(&self) -> Option<Vec<u8>> {
        (self.format == FeatureFormat::Npy).then(|| self.npy_header())
    }

    /// A dictionary, filled up with spaces so that the numbers begin at a multiple of 64 whatever the number of rows.
    fn npy_header(&self) -> Vec<u8> {
        let kind = match self.precision {
            Precision::Single => "<f4",
            Precision::Double => "<f8",
        };
        let mut header = b"\x93NUMPY\x01\x00".to_vec();
        header.extend(((NPY_HEADER - 10) as u16).to_le_bytes());
        let shape = format!("({}, {})", self.rows, self.columns);
        header.extend(
            format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}").into_bytes(),
        );
        header.resize(NPY_HEADER - 1, b' ');
        header.push(b'\n');
        header
    }
}

/// A field of CSV, in quotes where it has to be.
pub fn field(text: &str) -> Cow<'_, str> {
    if text.contains(['"', ',', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner::Matrix;

    #[test]
    fn fields_are_quoted_where_they_have_to_be() {
        assert_eq!(
            [field("a b"), field("a,b"), field("say \"a\""), field(" a")],
            ["a b", "\"a,b\"", "\"say \"\"a\"\"\"", "\" a\""]
        );
    }

    fn written(format: FeatureFormat, rows: &Matrix<f32>, target: Option<&TextColumn>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let name = target.map(|_| "a,b");
        let mut writer =
            FeatureWriter::new(format, rows.columns(), Precision::Single, name, &mut bytes).unwrap();
        for i in 0..rows.rows() {
            let mut one = TextColumn::default();
            let block = target.map(|target| {
                one.push(target.get(i));
                &one
            });
            let row = Rows::from(rows.view().slice(i..i + 1));
            writer.write(AnyRows::F32(row), block, &mut bytes).unwrap();
        }
        if let Some(first) = writer.first_bytes() {
            bytes[..first.len()].copy_from_slice(&first);
        }
        bytes
    }

    #[test]
    fn every_format_says_the_same_numbers() {
        let rows = Matrix::new(2, 3, vec![0.1f32, 0.0, -2.5e-8, 1.0, 3e20, 0.0]).unwrap();
        let mut target = TextColumn::default();
        ["yes", "no, thanks"].iter().for_each(|text| target.push(text));
        let csv = String::from_utf8(written(FeatureFormat::Csv, &rows, Some(&target))).unwrap();
        assert_eq!(
            csv,
            "f0,f1,f2,\"a,b\"\n0.1,0,-0.000000025,yes\n1,300000000000000000000,0,\"no, thanks\"\n"
        );
        let libsvm = String::from_utf8(written(FeatureFormat::Libsvm, &rows, None)).unwrap();
        assert_eq!(libsvm, "0 1:0.1 3:-0.000000025\n0 1:1 2:300000000000000000000\n");
        let npy = written(FeatureFormat::Npy, &rows, None);
        assert_eq!(npy.len(), NPY_HEADER + 6 * 4);
        assert!(npy.starts_with(
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
        ));
        assert_eq!(npy[NPY_HEADER - 1], b'\n');
        assert_eq!(npy[NPY_HEADER..NPY_HEADER + 4], 0.1f32.to_le_bytes());
    }

    #[test]
    fn names_say_the_format() {
        assert_eq!(FeatureFormat::of(Path::new("a.npy")).unwrap(), FeatureFormat::Npy);
        assert_eq!(FeatureFormat::of(Path::new("a.b.SVM")).unwrap(), FeatureFormat::Libsvm);
        assert_eq!("csv".parse::<FeatureFormat>().unwrap(), FeatureFormat::Csv);
        for wrong in ["a.parquet", "a", "a.csv.gz"] {
            let error = FeatureFormat::of(Path::new(wrong)).unwrap_err().to_string();
            assert!(error.contains(".csv, .npy"), "{error}");
        }
        assert!("parquet".parse::<FeatureFormat>().unwrap_err().to_string().contains("npy"));
    }
}
