//! From text to a kernel, by descent.

use super::super::columns::is_word;
use super::super::{Column, Function, FunctionName, Kernel, MOST_LEVELS};
use super::atom::{self, Arguments, Value};
use crate::error::edits;
use crate::{Error, Result};

pub(super) struct Reader<'a> {
    text: &'a str,
    /// Byte position.
    at: usize,
    /// Of parentheses around this place.
    level: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Reader { text, at: 0, level: 0 }
    }

    pub(super) fn whole(mut self) -> Result<Kernel> {
        let kernel = self.kernel()?;
        self.skip_space();
        if !self.rest().is_empty() {
            return Err(self.expected("\"+\", \"*\" or the end"));
        }
        kernel.validate()?;
        Ok(kernel)
    }

    fn kernel(&mut self) -> Result<Kernel> {
        if self.level >= MOST_LEVELS {
            return Err(self.expected("at most 64 levels of parentheses"));
        }
        self.level += 1;
        let mut terms = vec![self.term()?];
        while self.take("+") {
            terms.push(self.term()?);
        }
        self.level -= 1;
        self.skip_space();
        if self.rest().starts_with(['-', '−']) {
            return Err(self
                .expected("\"+\": a difference of kernels is no kernel, as φ would have negative squares"));
        }
        Ok(Kernel::sum(terms))
    }

    fn term(&mut self) -> Result<Kernel> {
        self.skip_space();
        let start = self.at;
        let (mut factor, mut kernels) = (1.0, Vec::new());
        loop {
            self.skip_space();
            if self.rest().starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+')) {
                let at = self.at;
                let number = self.number()?;
                if !(number > 0.0 && number <= 1e18) {
                    self.at = at;
                    return Err(
                        self.expected("a factor above 0 and at most 1e18: kernels are not subtracted")
                    );
                }
                factor *= number;
            } else {
                kernels.push(self.factor()?);
            }
            if !self.take("*") {
                break;
            }
        }
        if kernels.is_empty() {
            self.at = start;
            return Err(self.expected("a kernel (\"constant\" is the one that is 1 everywhere)"));
        }
        Ok(Kernel::product(kernels).scaled(factor))
    }

    fn factor(&mut self) -> Result<Kernel> {
        let mut kernel = self.primary()?;
        loop {
            self.skip_space();
            let start = self.at;
            if !self.take("[") {
                return Ok(kernel);
            }
            let columns = self.columns()?;
            kernel = kernel.on(columns).map_err(|error| {
                self.at = start;
                match error {
                    Error::Unsupported { .. } => self.expected("columns once for each kernel"),
                    error => error,
                }
            })?;
        }
    }

    fn primary(&mut self) -> Result<Kernel> {
        self.skip_space();
        let start = self.at;
        if self.take("(") {
            let kernel = self.kernel()?;
            self.close()?;
            return Ok(kernel);
        }
        let name = self.word();
        let one = |reader: &mut Self| {
            reader.open()?;
            let kernel = reader.kernel()?;
            reader.close()?;
            Ok::<_, Error>(kernel)
        };
        match name {
            "exp" => Ok(one(self)?.exp()),
            "normalised" | "normalized" => Ok(one(self)?.normalised()),
            "weighted" => {
                self.open()?;
                let function = self.function()?;
                if !self.take(",") {
                    return Err(self.expected("\",\" and a kernel"));
                }
                let kernel = self.kernel()?;
                self.close()?;
                Ok(kernel.weighted(function))
            }
            _ => {
                let Some(atom) = atom::find(name) else {
                    self.at = start;
                    return Err(self.unknown(name, atom::names()));
                };
                let mut arguments = self.arguments(atom.parameters)?;
                let end = self.at;
                let kernel = (atom.make)(&mut arguments);
                kernel.map_err(|expected| {
                    self.at = end;
                    match expected {
                        atom::Wrong::Missing(expected) => {
                            // Where a further parameter would stand.
                            if self.text[..end].ends_with(')') {
                                self.at = end - 1;
                            }
                            self.expected(&expected)
                        }
                        atom::Wrong::Value(error) => error,
                    }
                })
            }
        }
    }

    fn function(&mut self) -> Result<Function> {
        self.skip_space();
        let start = self.at;
        let name = self.word();
        let Some(found) = FunctionName::ALL.into_iter().find(|function| function.text() == name) else {
            self.at = start;
            return Err(
                self.unknown(name, FunctionName::ALL.iter().map(|function| function.text()).collect())
            );
        };
        let columns = if self.take("[") { Some(self.columns()?) } else { None };
        Ok(Function { name: found, columns })
    }

    /// After the bracket.
    fn columns(&mut self) -> Result<Vec<Column>> {
        let mut columns = Vec::new();
        loop {
            columns.push(self.column()?);
            if self.take("]") {
                return Ok(columns);
            }
            if !self.take(",") {
                return Err(self.expected("\",\" or \"]\""));
            }
        }
    }

    fn column(&mut self) -> Result<Column> {
        self.skip_space();
        if self.rest().starts_with('"') {
            return self.quoted().map(Column::Name);
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            let from = self.integer()?;
            return Ok(if self.take("..") { Column::Range(from, self.integer()?) } else { Column::At(from) });
        }
        let start = self.at;
        let name = self.word();
        if is_word(name) {
            return Ok(Column::Name(name.to_owned()));
        }
        self.at = start;
        Err(self.expected("a column: its name, its number from 0, or a range such as 3..9"))
    }

    fn quoted(&mut self) -> Result<String> {
        let mut name = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(name);
                }
                '\\' => name.extend(characters.next().map(|(_, c)| c)),
                c => name.push(c),
            }
        }
        self.at = self.text.len();
        Err(self.expected("a quotation mark"))
    }

    /// The values of the named parameters, each at most once.
    fn arguments(&mut self, names: &[&'static str]) -> Result<Arguments> {
        let mut arguments = Arguments::default();
        if !self.take("(") || self.take(")") {
            return Ok(arguments);
        }
        loop {
            self.skip_space();
            let start = self.at;
            let word = self.word();
            let Some(name) = names.iter().find(|name| **name == word) else {
                self.at = start;
                let known = if names.is_empty() { "\")\"".to_owned() } else { names.join(" or ") };
                return Err(self.expected(&known));
            };
            if arguments.has(name) {
                self.at = start;
                return Err(self.expected("each parameter once"));
            }
            if !self.take("=") {
                return Err(self.expected("\"=\""));
            }
            let value = if *name == "alphabet" { self.letters()? } else { self.value()? };
            arguments.add(name, value);
            if self.take(")") {
                return Ok(arguments);
            }
            if !self.take(",") {
                return Err(self.expected("\",\" or \")\""));
            }
        }
    }

    /// A value that is meant to be a text.
    fn letters(&mut self) -> Result<Value> {
        self.skip_space();
        if self.rest().starts_with(char::is_alphabetic) {
            return Err(self.expected("a text in quotation marks, as in alphabet=\"AC\""));
        }
        self.value()
    }

    fn value(&mut self) -> Result<Value> {
        self.skip_space();
        if self.rest().starts_with('"') {
            return self.quoted().map(Value::Text);
        }
        if !self.take("[") {
            return self.number().map(Value::Number);
        }
        self.skip_space();
        if !self.rest().starts_with('[') {
            return self.list().map(Value::List);
        }
        let mut rows = Vec::new();
        loop {
            if !self.take("[") {
                return Err(self.expected("\"[\""));
            }
            rows.push(self.list()?);
            if self.take("]") {
                return Ok(Value::Matrix(rows));
            }
            if !self.take(",") {
                return Err(self.expected("\",\" or \"]\""));
            }
        }
    }

    /// Numbers, after the bracket.
    fn list(&mut self) -> Result<Vec<f64>> {
        let mut numbers = Vec::new();
        loop {
            numbers.push(self.number()?);
            if self.take("]") {
                return Ok(numbers);
            }
            if !self.take(",") {
                return Err(self.expected("\",\" or \"]\""));
            }
        }
    }

    fn number(&mut self) -> Result<f64> {
        self.skip_space();
        let bytes = self.rest().as_bytes();
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
        let mut length = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
        while digit(length) || bytes.get(length) == Some(&b'.') {
            // A sign belongs to the number after an e only.
            let exponent =
                matches!(bytes[length], b'e' | b'E') && matches!(bytes.get(length + 1), Some(b'+' | b'-'));
            length += 1 + usize::from(exponent);
        }
        match self.rest()[..length].parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at += length;
                Ok(value)
            }
            _ => Err(self.expected("a number")),
        }
    }

    fn integer(&mut self) -> Result<usize> {
        self.skip_space();
        let length = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        match self.rest()[..length].parse() {
            Ok(value) => {
                self.at += length;
                Ok(value)
            }
            Err(_) => Err(self.expected("the number of a column")),
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn open(&mut self) -> Result<()> {
        if self.take("(") { Ok(()) } else { Err(self.expected("\"(\"")) }
    }

    fn close(&mut self) -> Result<()> {
        if self.take(")") { Ok(()) } else { Err(self.expected("\"+\", \"*\" or \")\"")) }
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn unknown(&self, name: &str, names: Vec<&str>) -> Error {
        let nearest = names.iter().min_by_key(|known| edits(name, known)).unwrap_or(&"");
        let hint = if name.is_empty() { String::new() } else { format!(" (did you mean {nearest}?)") };
        self.expected(&format!("one of {}{hint}", names.join(", ")))
    }

    fn expected(&self, what: &str) -> Error {
        let found: String = self.rest().chars().take(20).collect();
        Error::KernelText {
            text: self.text.to_owned(),
            at: self.text[..self.at].chars().count() + 1,
            expected: what.to_owned(),
            found: if found.is_empty() { "the end".to_owned() } else { format!("\"{found}\"") },
        }
    }
}
