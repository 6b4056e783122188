//! Data files as commands want them: which column is what, and what is said of cells that are something else.

use std::path::{Path, PathBuf};

use bochner::encode::{Columns, Remark, identifiers};
use bochner::table::{CellFormat, Column, ColumnInfo, ColumnKind, Table, TableReader, TableSource, position};
use bochner::{Engine, Error, Kernel, Model};
use bochner_io::{Files, Known, Once, Options};

use crate::args::ReadArgs;
use crate::cached::Cached;
use crate::exit::Failure;
use crate::progress::Progress;
use crate::schema::Roles;
use crate::text;

/// The files that are meant, what they are called together, and what was typed about reading them. What can be read only
/// once is kept in an unnamed file.
pub(crate) fn find(paths: &[PathBuf], read: &ReadArgs) -> Result<(PathBuf, Options), Failure> {
    found(paths, read, |folder| Once::Keep(folder))
}

/// The same for one pass over the rows: what can be read only once is streamed.
pub(crate) fn find_for_one_pass(paths: &[PathBuf], read: &ReadArgs) -> Result<(PathBuf, Options), Failure> {
    found(paths, read, |folder| Once::Stream(folder))
}

fn found(
    paths: &[PathBuf],
    read: &ReadArgs,
    once: fn(&Path) -> Once<'_>,
) -> Result<(PathBuf, Options), Failure> {
    let options = options(read);
    let folder = read.tmp_dir.clone().unwrap_or_else(std::env::temp_dir);
    let files = Files::find(paths, once(&folder))?;
    Ok((files.name().to_owned(), Options { files: Some(files), ..options }))
}

/// What was typed about reading.
fn options(read: &ReadArgs) -> Options {
    let header = match (read.header, read.no_header) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    let ReadArgs { format, encoding, delimiter, strict, ref tmp_dir, .. } = *read;
    Options { format, encoding, delimiter, header, strict, temporary: tmp_dir.clone(), ..Options::default() }
}

/// The paths of the files that are read, those of targets too.
pub(crate) fn inputs(options: &Options) -> Vec<&Path> {
    let files = options.files.iter().flat_map(Files::paths);
    files.chain(options.targets.as_deref()).collect()
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

/// What is learned from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// What was said of the columns.
    pub(crate) roles: &'a Roles,
    /// Columns that are texts.
    pub(crate) texts: &'a [String],
    /// The kernel, where one was given. Where it names all columns that it looks at, others are not read.
    pub(crate) kernel: Option<&'a Kernel>,
}

/// A file that was looked at.
pub(crate) struct Opened {
    /// The columns that are wanted.
    pub(crate) tables: Cached,
    /// What was noticed.
    pub(crate) remarks: Vec<Remark>,
    /// Columns that are left out because they look like identifiers.
    pub(crate) identifiers: Vec<String>,
}

/// Opens a file to learn from. Gives the target's name, too.
pub(crate) fn open_to_learn(
    engine: &Engine,
    path: &Path,
    options: &mut Options,
    wanted: Wanted<'_>,
) -> Result<(Opened, String), Failure> {
    let columns = columns_of(engine, path, options)?;
    let target = match wanted.roles.target.as_deref() {
        Some(target) => target,
        None if is_sparse(&columns) => LABEL,
        None => return Err(no_target(path, &columns)),
    };
    Ok((open_chosen(engine, &columns, path, options, Some(target), wanted)?, target.to_owned()))
}

/// Opens a file to make features of: as [`open_to_learn`], but that there need not be a target. The label of a sparse file is one where `keeps_label` says so.
pub(crate) fn open_to_map(
    engine: &Engine,
    path: &Path,
    options: &mut Options,
    keeps_label: bool,
    wanted: Wanted<'_>,
) -> Result<(Opened, Option<String>), Failure> {
    let columns = columns_of(engine, path, options)?;
    let label = (keeps_label && is_sparse(&columns)).then_some(LABEL);
    let target = wanted.roles.target.as_deref().or(label);
    Ok((open_chosen(engine, &columns, path, options, target, wanted)?, target.map(str::to_owned)))
}

/// The columns of a file, by its header alone.
fn columns_of(engine: &Engine, path: &Path, options: &Options) -> bochner::Result<Vec<ColumnInfo>> {
    let options = Options { infer: false, ..options.clone() };
    Ok(bochner_io::open(engine, path, &options)?.columns().to_vec())
}

/// Those of some columns that a file has.
pub(crate) fn present(
    engine: &Engine,
    path: &Path,
    options: &Options,
    names: &[String],
) -> Result<Vec<String>, Failure> {
    let columns = columns_of(engine, path, options)?;
    let is_there = |name: &&String| columns.iter().any(|column| column.name == **name);
    Ok(names.iter().filter(is_there).cloned().collect())
}

/// The name of the label of a LIBSVM file.
const LABEL: &str = bochner_io::TARGET;

/// Whether rows come as one wide column.
pub(crate) fn is_sparse(columns: &[ColumnInfo]) -> bool {
    columns.iter().any(|column| matches!(column.kind, ColumnKind::Sparse { .. }))
}

/// The columns that are wanted of a file that was looked at, each read as what it is.
fn open_chosen(
    engine: &Engine,
    columns: &[ColumnInfo],
    path: &Path,
    options: &mut Options,
    target: Option<&str>,
    wanted: Wanted<'_>,
) -> Result<Opened, Failure> {
    let Wanted { roles: Roles { weight, group, ids, kinds, .. }, texts, kernel } = wanted;
    let (weight, group) = (weight.as_deref(), group.as_deref());
    let ignored = ignored(columns, &wanted.roles.ignored).map_err(Failure::about(path))?;
    let said = kinds.iter().map(|(name, _)| name);
    // What a column is for, if it is not learned from.
    let roles = [(target, "the target"), (weight, "the weight"), (group, "the group")];
    let roles: Vec<(&str, &str)> = roles.into_iter().filter_map(|(name, role)| Some((name?, role))).collect();
    let has_role = |name: &str| roles.iter().any(|(column, _)| *column == name);
    let in_a_role = roles.iter().map(|(name, _)| *name);
    let names = ignored.iter().chain(ids).chain(texts).chain(said).map(String::as_str);
    for name in names.chain(in_a_role) {
        let found = position(columns, name).map_err(Failure::about(path))?;
        if let ColumnKind::Sparse { .. } = columns[found].kind {
            return Err(Failure::Usage(format!("\"{name}\" is all there is to learn from in a LIBSVM file")));
        }
    }
    let both = |name: &str, one: &str, other: &str| {
        Err(Failure::Usage(format!("\"{name}\" is both {one} and {other}")))
    };
    for (at, (name, role)) in roles.iter().enumerate() {
        if ignored.iter().any(|ignored| ignored == name) {
            return both(name, role, "ignored");
        }
        if texts.iter().any(|text| text == name) {
            return both(name, role, "a text to learn from");
        }
        if let Some((_, other)) = roles[..at].iter().find(|(column, _)| column == name) {
            return both(name, other, role);
        }
    }
    for (name, _) in kinds {
        let refused = |role: &str| {
            let text = format!("what \"{name}\" holds cannot be said: it is {role}");
            Err(Failure::Usage(text).hint("--kind is for columns to learn from, --task for the target"))
        };
        if let Some((_, role)) = roles.iter().find(|(column, _)| column == name) {
            return refused(role);
        }
        if ids.contains(name) || ignored.contains(name) {
            return refused(if ids.contains(name) { "an id" } else { "ignored" });
        }
    }
    if let Some(name) = texts.iter().find(|name| ignored.contains(name)) {
        return both(name, "ignored", "a text to learn from");
    }
    if let Some(name) = texts.iter().find(|name| ids.contains(name)) {
        return both(name, "an id", "a text to learn from");
    }
    if is_sparse(columns) {
        return Ok(Opened {
            tables: Cached::new(bochner_io::open(engine, path, options)?, &ignored),
            remarks: Vec::new(),
            identifiers: Vec::new(),
        });
    }
    let mut left_out = ignored;
    // A group may name the rows, too.
    left_out.extend(ids.iter().filter(|name| !has_role(name)).cloned());
    left_out.sort();
    left_out.dedup();
    if let Some(named) = kernel.and_then(Kernel::names_only) {
        for name in &named {
            position(columns, name).map_err(Failure::about(path))?;
        }
        let names = columns.iter().map(|column| &column.name);
        let is_unused = |name: &&String| !has_role(name) && !named.contains(name) && !left_out.contains(name);
        let unused: Vec<String> = names.filter(is_unused).cloned().collect();
        left_out.extend(unused);
    }
    options.kinds =
        weight.map(|name| (name.to_owned(), Known::Kind(ColumnKind::Number))).into_iter().collect();
    options.kinds.extend_from_slice(kinds);
    options.ignored.clone_from(&left_out);
    *options =
        std::mem::take(options).with_texts(texts.iter().map(String::as_str).chain(target).chain(group));
    let source = bochner_io::open(engine, path, options)?;
    let mut remarks: Vec<Remark> = warnings(source.as_ref()).into_iter().map(Remark::Other).collect();
    let identifiers = identifiers(source.as_ref(), kernel, columns.len() - left_out.len() - roles.len());
    if !identifiers.is_empty() {
        left_out.extend_from_slice(&identifiers);
        remarks.push(Remark::Identifier { columns: identifiers.clone() });
    }
    let is_left_out = |name: &str| left_out.iter().any(|other| other == name);
    remarks.extend(Remark::of_counters(source.as_ref(), &is_left_out));
    Ok(Opened { tables: Cached::new(source, &left_out), remarks, identifiers })
}

/// The columns that names and patterns stand for: a name as it is, one with `*` and `?` for others, several with commas between them.
fn ignored(columns: &[ColumnInfo], patterns: &[String]) -> bochner::Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for typed in patterns {
        let is_name = |name: &str| columns.iter().any(|column| column.name == name);
        let parts: Vec<&str> =
            if is_name(typed) { vec![typed] } else { typed.split(',').map(str::trim).collect() };
        for part in parts {
            // A name may have a * inside.
            let is_meant =
                |name: &str| if is_name(part) { part == name } else { bochner_io::matches(part, name) };
            let matching = columns.iter().filter(|column| is_meant(&column.name));
            let names: Vec<String> = match matching.map(|column| column.name.clone()).collect::<Vec<_>>() {
                names if names.is_empty() => vec![columns[position(columns, part)?].name.clone()],
                names => names,
            };
            found.extend(names);
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// What places in a file are counted in.
pub(crate) const PLACE: &str = "line";

/// What was noticed when a file was opened, and the option that does something about it.
pub(crate) fn warnings(tables: &dyn TableSource) -> Vec<String> {
    let advised = |text: String| match text.as_str() {
        bochner_io::NO_HEADER => format!("{text} (--header if they are names)"),
        _ => text,
    };
    tables.warnings().into_iter().map(advised).collect()
}

/// A remark, and the option that does something about it.
pub(crate) fn advised(remark: &Remark) -> String {
    match remark {
        Remark::Identifier { columns } => {
            let first = quoted(columns.first().map_or("COLUMN", String::as_str));
            let it = if columns.len() == 1 { "it" } else { "one" };
            format!("{remark} (--kind {first}=category to learn from {it})")
        }
        Remark::CountsRows { column } => {
            format!("{remark}: --ignore {} unless the order means something", quoted(column))
        }
        Remark::ManyClasses { .. } => format!("{remark} (--task regression predicts a number)"),
        Remark::Outliers { .. } => format!("{remark}: --scaling robust squashes them"),
        Remark::Leak { column, target, .. } => {
            let target = text::shortened(target, 40);
            format!("{remark}: --ignore {} if it is not known before \"{target}\" is", quoted(column))
        }
        Remark::Unreadable { .. } => format!("{remark} (--strict to refuse)"),
        _ => remark.to_string(),
    }
}

/// A warning for each column of which a reader could not read all cells.
pub(crate) fn warn_of_unreadable(reader: &dyn TableReader, columns: &[ColumnInfo], progress: &Progress) {
    for remark in Remark::of_cells(&reader.unreadable(), columns, PLACE) {
        progress.warn(&advised(&remark));
    }
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

/// Opens a file for a model: the model's columns are what they were in training, wherever they stand; `ids` are texts; all others are not looked at.
pub(crate) fn open_for(
    engine: &Engine,
    model: &Model,
    path: &Path,
    mut options: Options,
    ids: &[String],
    truth: Option<Truth<'_>>,
) -> Result<Box<dyn TableSource>, Failure> {
    let inputs = model.encoder().columns();
    // Only sparse files have a width, and what the model does not know in them it cannot use.
    options.width = Some(inputs.count());
    options.ignore_beyond_width = true;
    let columns = columns_of(engine, path, &options)?;
    let find = |name: &str| position(&columns, name).map_err(Failure::about(path));
    let [number, text] = [ColumnKind::Number, ColumnKind::Text].map(CellFormat::from);
    // None: not looked at.
    let mut formats = vec![None; columns.len()];
    match inputs {
        Columns::Named { inputs } => {
            for input in inputs {
                formats[find(&input.name)?] = Some(input.encoding.format());
            }
        }
        Columns::Unnamed { count } => {
            formats.iter_mut().take(*count).for_each(|format| *format = Some(number));
        }
        Columns::Sparse { name, .. } => formats[find(name)?] = Some(number),
    }
    // As they are written, inputs too: texts that spell numbers, dates and so on are read as these by the encoder.
    for name in ids {
        formats[find(name)?] = Some(text);
    }
    let truths = truth.iter().map(|(Truth::Number(name) | Truth::Class(name))| *name);
    for name in truths.chain(ids.iter().map(String::as_str)) {
        // Columns without names are the first ones: another among them would be taken for an input.
        if matches!(inputs, Columns::Unnamed { count } if find(name)? < *count && columns.len() > *count) {
            let reason = format!(
                "the model's columns have no names, so \"{name}\" must stand after all {} of them",
                inputs.count()
            );
            return Err(Failure::Usage(reason));
        }
    }
    let mut inferred = None;
    match truth {
        // How its numbers are written is found out.
        Some(Truth::Number(name)) => inferred = Some(find(name)?),
        Some(Truth::Class(name)) => formats[find(name)?] = Some(text),
        None => {}
    }
    let is_dense = |info: &ColumnInfo| !matches!(info.kind, ColumnKind::Sparse { .. });
    for (at, (info, format)) in
        columns.iter().zip(formats).enumerate().filter(|(_, (info, _))| is_dense(info))
    {
        match format {
            _ if inferred == Some(at) => {}
            Some(format) => options.kinds.push((info.name.clone(), Known::Format(format))),
            None => options.ignored.push(info.name.clone()),
        }
    }
    let source = bochner_io::open(engine, path, &options)?;
    if let Some(Truth::Number(name)) = truth {
        let at = find(name)?;
        if !matches!(source.columns()[at].kind, ColumnKind::Number | ColumnKind::Text) {
            options.kinds.push((name.to_owned(), Known::Kind(ColumnKind::Number)));
            return Ok(bochner_io::open(engine, path, &options)?);
        }
    }
    Ok(source)
}

/// The same failure, with what to do about it where a cell is not what its column holds, or a text not in the encoding that was expected.
pub(crate) fn hinted(failure: Failure) -> Failure {
    let Failure::Library { error: Error::Source(source), .. } = &failure else { return failure };
    match source.downcast_ref() {
        Some(bochner_io::Error::WrongCell { .. } | bochner_io::Error::ArrayNumber { .. }) => {
            failure.hint("without --strict such cells are taken as missing")
        }
        Some(bochner_io::Error::NotUtf8 { .. }) => {
            failure.hint("say which encoding it is: --encoding latin1")
        }
        _ => failure,
    }
}

/// The option that does something about an error.
pub(crate) fn advice(error: &Error) -> Option<String> {
    match error {
        Error::ColumnKind { name, expected: "numbers", found: "texts", .. } => {
            let declared = quoted(&format!("{name}=spectrum(k=5)"));
            Some(format!("--sequence says how a text becomes numbers, as in --sequence {declared}"))
        }
        _ => no_grams(error),
    }
}

/// What to do about a row for which a sequence kernel that is normalised has no value.
fn no_grams(error: &Error) -> Option<String> {
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
    let wrong = match &error {
        Error::TargetText { expected: "a number", .. } => {
            Some((target, "fill in or remove that row, or say --task classification if these are classes"))
        }
        Error::WeightCell { column, .. } => Some((column.as_str(), "fill in or remove that row")),
        _ => None,
    };
    if let Some((column, hint)) = wrong
        && let Some(found) = first_that_is_no_number(path, options, column)
    {
        return Failure::from(found).hint(hint);
    }
    let hint = match error {
        Error::WeightCell { .. } => "fill in or remove that row".to_owned(),
        Error::OneClass { .. } => "there is nothing to tell apart; is --target the right column?".to_owned(),
        Error::NoTargets { .. } => "is --target the right column?".to_owned(),
        Error::TargetText { .. } => format!("that is column {}; fill in or remove that row", quoted(target)),
        _ => return Failure::about(path)(error),
    };
    Failure::about(path)(error).hint(hint)
}

/// Where in a file the first cell of a column is that is no number; none where the file has no such column.
fn first_that_is_no_number(path: &Path, options: &Options, column: &str) -> Option<Error> {
    let engine = Engine::single_thread();
    let columns = columns_of(&engine, path, options).ok()?;
    position(&columns, column).ok()?;
    let others = columns.into_iter().map(|info| info.name).filter(|name| name != column);
    let kinds = vec![(column.to_owned(), Known::Kind(ColumnKind::Number))];
    let options = Options { kinds, ignored: others.collect(), strict: true, ..options.clone() };
    let source = bochner_io::open(&engine, path, &options).ok()?;
    let mut reader = source.open(&engine).ok()?;
    loop {
        match reader.next(bochner::sweep::BLOCK) {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(error) => return Some(error),
        }
    }
}
