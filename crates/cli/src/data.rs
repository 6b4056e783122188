//! Data files as commands want them: which column is what, and what to do when a cell is not a number.

use std::path::Path;

use bochner::encode::Columns;
use bochner::table::{Column, ColumnInfo, ColumnKind, Table, TableSource, position};
use bochner::{Error, Kernel, Model};
use bochner_io::Options;

use crate::args::ReadArgs;
use crate::cached::Cached;
use crate::exit::Failure;
use crate::text;

/// Rows that are looked at for a hint.
const LOOKED_AT: usize = 1000;

/// What was typed about reading.
pub(crate) fn options(read: &ReadArgs) -> Options {
    Options { format: read.format, delimiter: read.delimiter, header: !read.no_header, ..Options::default() }
}

/// The name of the target's column: a target named like an array is a file of its own, whose column stands beside the others.
pub(crate) fn target_column(target: Option<String>, options: &mut Options) -> Option<String> {
    let is_array = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.ends_with(".npy") || name.ends_with(".npy.gz")
    };
    match target {
        Some(name) if is_array(&name) => {
            options.targets = Some(name.into());
            Some(bochner_io::TARGET.to_owned())
        }
        column => column,
    }
}

/// What is learnt from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// Columns not to learn from.
    pub(crate) ignored: &'a [String],
    /// Columns that are texts.
    pub(crate) texts: &'a [String],
    /// The columns that the kernel looks at, where it names all of them: others need not be numbers.
    pub(crate) named: Option<&'a [String]>,
}

/// Opens a file to learn from: target and texts as text, some columns left out, all others numbers. Gives the target's name.
pub(crate) fn open_to_learn(
    path: &Path,
    options: &mut Options,
    target: Option<&str>,
    wanted: Wanted<'_>,
) -> Result<(Cached, String), Failure> {
    let source = bochner_io::open(path, options)?;
    let target = match target {
        Some(target) => target,
        None if is_sparse(source.columns()) => LABEL,
        None => return Err(no_target(path, source.columns())),
    };
    Ok((open_chosen(source, path, options, Some(target), wanted)?, target.to_owned()))
}

/// Opens a file to make features of: as [`open_to_learn`], but that there need not be a target. The label of a sparse file is one where `keeps_label` says so.
pub(crate) fn open_to_map(
    path: &Path,
    options: &mut Options,
    target: Option<&str>,
    keeps_label: bool,
    wanted: Wanted<'_>,
) -> Result<(Cached, Option<String>), Failure> {
    let source = bochner_io::open(path, options)?;
    let label = (keeps_label && is_sparse(source.columns())).then_some(LABEL);
    let target = target.or(label);
    Ok((open_chosen(source, path, options, target, wanted)?, target.map(str::to_owned)))
}

/// The name of the label of a LIBSVM file.
const LABEL: &str = bochner_io::TARGET;

/// Whether rows come as one wide column.
pub(crate) fn is_sparse(columns: &[ColumnInfo]) -> bool {
    columns.iter().any(|column| matches!(column.kind, ColumnKind::Sparse { .. }))
}

/// The columns that are wanted of a file that was looked at, each read as what it is for.
fn open_chosen(
    source: Box<dyn TableSource>,
    path: &Path,
    options: &mut Options,
    target: Option<&str>,
    wanted: Wanted<'_>,
) -> Result<Cached, Failure> {
    let Wanted { ignored, texts, named } = wanted;
    let columns = source.columns();
    for name in ignored.iter().chain(texts).map(String::as_str).chain(target) {
        let found = position(columns, name).map_err(Failure::about(path))?;
        if let ColumnKind::Sparse { .. } = columns[found].kind {
            return Err(Failure::Usage(format!("\"{name}\" is all there is to learn from in a LIBSVM file")));
        }
    }
    if let Some(target) = target.filter(|target| ignored.iter().any(|name| name == target)) {
        return Err(Failure::Usage(format!("\"{target}\" is both the target and ignored")));
    }
    for name in texts {
        if Some(name.as_str()) == target {
            return Err(Failure::Usage(format!("\"{name}\" is both the target and a text to learn from")));
        }
        if ignored.contains(name) {
            return Err(Failure::Usage(format!("\"{name}\" is both ignored and a text to learn from")));
        }
    }
    if is_sparse(columns) {
        return Ok(Cached::new(source, ignored));
    }
    let mut left_out = ignored.to_vec();
    if let Some(named) = named {
        for name in named {
            position(columns, name).map_err(Failure::about(path))?;
        }
        let names = columns.iter().map(|column| &column.name);
        let is_unused = |name: &&String| {
            Some(name.as_str()) != target && !named.contains(name) && !ignored.contains(name)
        };
        left_out.extend(names.filter(is_unused).cloned());
    }
    options.text =
        left_out.iter().cloned().chain(target.map(str::to_owned)).chain(texts.iter().cloned()).collect();
    Ok(Cached::new(bochner_io::open(path, options)?, &left_out))
}

fn no_target(path: &Path, columns: &[ColumnInfo]) -> Failure {
    let names = text::list(columns.iter().map(|column| column.name.as_str()), 20);
    let is_array = columns.first().is_some_and(|column| column.name == "x0");
    let file = if is_array { ", or --target FILE.npy for targets of a file of their own" } else { "" };
    let text =
        format!("which column is to be predicted? Say --target COLUMN{file}; {} has {names}", path.display());
    Failure::Usage(text)
}

/// Columns of text that may be numbers.
pub(crate) struct Digits(Vec<(String, usize, bool)>);

impl Digits {
    pub(crate) fn new(columns: &[ColumnInfo], texts: &[String]) -> Digits {
        let place = |name: &String| Some((name.clone(), position(columns, name).ok()?, true));
        Digits(texts.iter().filter_map(place).collect())
    }

    /// Reads a block.
    pub(crate) fn absorb(&mut self, table: &Table) {
        for (_, at, numbers) in &mut self.0 {
            let Column::Text(texts) = &table.columns[*at] else { continue };
            *numbers = *numbers && texts.iter().all(|text| number(text).is_some());
        }
    }

    /// A warning for each column that held numbers only.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter(|(_, _, numbers)| *numbers).map(|(name, ..)| {
            format!("column \"{name}\" holds numbers, and is compared as text, character by character")
        })
    }
}

/// How the column with the truth is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Truth<'a> {
    /// As numbers, so that a wrong cell is an error that says where.
    Number(&'a str),
    /// As the names of classes.
    Class(&'a str),
}

/// Opens a file for a model: the model's columns are numbers wherever they stand, all others are not looked at.
pub(crate) fn open_for(
    model: &Model,
    path: &Path,
    mut options: Options,
    truth: Option<Truth<'_>>,
) -> Result<Box<dyn TableSource>, Failure> {
    let inputs = model.encoder().columns();
    // Only sparse files have a width, and what the model does not know in them it cannot use.
    options.width = Some(inputs.count());
    options.ignore_beyond_width = true;
    let source = bochner_io::open(path, &options)?;
    let columns = source.columns();
    let find = |name: &str| position(columns, name).map_err(Failure::about(path));
    let mut is_number = vec![false; columns.len()];
    match inputs {
        Columns::Named { names } => {
            for name in names {
                is_number[find(name)?] = true;
            }
        }
        Columns::Unnamed { count } => is_number.iter_mut().take(*count).for_each(|number| *number = true),
        Columns::Sparse { name, .. } => is_number[find(name)?] = true,
        Columns::Texts { numbers, texts } => {
            for name in numbers {
                is_number[find(name)?] = true;
            }
            for text in texts {
                find(&text.name)?;
            }
        }
    }
    match truth {
        // Columns without names are the first ones: a target among them would be taken for an input.
        Some(Truth::Number(name) | Truth::Class(name)) if matches!(inputs, Columns::Unnamed { count } if find(name)? < *count && columns.len() > *count) =>
        {
            let reason = format!(
                "the model's columns have no names, so \"{name}\" must stand after all {} of them",
                inputs.count()
            );
            return Err(Failure::Usage(reason));
        }
        Some(Truth::Number(name)) => is_number[find(name)?] = true,
        Some(Truth::Class(name)) => is_number[find(name)?] = false,
        None => {}
    }
    let is_text =
        |(column, is_number): &(&ColumnInfo, &bool)| !**is_number && column.kind == ColumnKind::Number;
    options.text =
        columns.iter().zip(&is_number).filter(is_text).map(|(column, _)| column.name.clone()).collect();
    if options.text.is_empty() { Ok(source) } else { Ok(bochner_io::open(path, &options)?) }
}

/// The same failure, with what to do about it where a cell is not a number.
pub(crate) fn hinted(failure: Failure, path: &Path, options: &Options) -> Failure {
    let Failure::Library { error: Error::Source(source), .. } = &failure else { return failure };
    let name = match source.downcast_ref() {
        Some(bochner_io::Error::NotANumber { name, column, .. }) => {
            name.clone().unwrap_or_else(|| format!("c{column}"))
        }
        Some(bochner_io::Error::ArrayNumber { column, .. }) => format!("x{column}"),
        _ => return failure,
    };
    let words = columns_of_words(path, options).unwrap_or_default();
    if words.is_empty() {
        return failure.hint(format!(
            "fill in or remove that row, or leave the column out with --ignore {}",
            quoted(&name)
        ));
    }
    let ignore = words.iter().map(|name| format!("--ignore {}", quoted(name))).collect::<Vec<_>>().join(" ");
    let many = if words.len() == 1 { "this column" } else { "these columns" };
    let example = words.first().map_or("", String::as_str);
    failure.hint(format!(
        "only numbers can be learnt from; leave {many} of text out with {ignore}, or say how texts become numbers, as in --sequence {}",
        quoted(&format!("{example}=words(from=1,to=2)"))
    ))
}

/// What to do about a row for which a sequence kernel that is normalised has no value.
pub(crate) fn no_grams(error: &Error) -> Option<String> {
    let Error::OutsideDomain { kernel, .. } = error else { return None };
    let Kernel::Normalised { kernel } = kernel.parse().ok()? else { return None };
    let texts = kernel.texts();
    let first = texts.first()?;
    let sequence = match kernel.as_ref() {
        Kernel::Restricted { kernel, .. } => kernel.to_string(),
        _ => "spectrum(k=5)".to_owned(),
    };
    let has = if texts.len() == 1 { "has" } else { "have" };
    Some(format!(
        "{} {has} no grams in that row; fit with --sequence {}, where such rows are zero, or remove the row",
        text::list(
            texts.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().iter().map(String::as_str),
            4
        ),
        quoted(&format!("{first}={sequence}")),
    ))
}

/// Columns without a single number in the first rows.
fn columns_of_words(path: &Path, options: &Options) -> bochner::Result<Vec<String>> {
    let names: Vec<String> =
        bochner_io::open(path, options)?.columns().iter().map(|c| c.name.clone()).collect();
    let source = bochner_io::open(path, &Options { text: names.clone(), ..options.clone() })?;
    let Some(table) = source.open()?.next(LOOKED_AT)? else { return Ok(Vec::new()) };
    let is_words = |column: &Column| match column {
        Column::Text(texts) => !texts.iter().any(|text| number(text).is_some()),
        _ => false,
    };
    let known = |name: &String| options.text.contains(name);
    let words =
        names.into_iter().zip(&table.columns).filter(|(name, column)| !known(name) && is_words(column));
    Ok(words.map(|(name, _)| name).collect())
}

/// The finite number that a text spells.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|value| value.is_finite())
}

/// As a shell wants it.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

/// An error about a target, with the place in the file where the format has places.
pub(crate) fn about_target(error: Error, path: &Path, options: &Options, target: &str) -> Failure {
    if let Error::TargetText { expected: "a number", .. } = error {
        let text = options.text.iter().filter(|name| *name != target).cloned().collect();
        let source = bochner_io::open(path, &Options { text, ..options.clone() });
        if let Some(found) = source.ok().and_then(|source| first_error(source.as_ref())) {
            let hint = "fill in or remove that row, or say --task classification if these are classes";
            return Failure::from(found).hint(hint);
        }
    }
    let hint = match error {
        Error::OneClass { .. } => "there is nothing to tell apart; is --target the right column?".to_owned(),
        Error::TargetText { .. } => format!("that is column {}; fill in or remove that row", quoted(target)),
        _ => return Failure::about(path)(error),
    };
    Failure::about(path)(error).hint(hint)
}

fn first_error(source: &dyn TableSource) -> Option<Error> {
    let mut reader = source.open().ok()?;
    loop {
        match reader.next(bochner::sweep::BLOCK) {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(error) => return Some(error),
        }
    }
}
