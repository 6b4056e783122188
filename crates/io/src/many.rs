//! Several files as one table, one after another.
//!
//! All have the columns of the first, by name, in any order. What the columns hold is found from the cells of all of them, and so is the width of
//! sparse rows. Folders `key=value` add columns that are the same in all rows of a file.

use std::collections::HashSet;

use bochner::Engine;
use bochner::table::infer::{Inferred, KindScan};
use bochner::table::{
    CellFormat, Column, ColumnInfo, ColumnKind, Table, TableReader, TableSource, Unreadable,
};

use crate::error::{Error, expected, shortened};
use crate::files::Part;
use crate::names::Positions;
use crate::options::{Known, Options};
use crate::text;

/// Files whose columns have been compared.
pub(crate) struct Many {
    parts: Vec<Opened>,
    columns: Vec<ColumnInfo>,
    formats: Vec<CellFormat>,
    inferred: Vec<Option<Inferred>>,
    warnings: Vec<String>,
    /// Bytes of all files, where they are known.
    size: Option<u64>,
}

/// One of the files.
struct Opened {
    source: Box<dyn TableSource>,
    /// Where the columns of the table are in this file.
    places: Vec<usize>,
    /// The columns that its folders give: one row, and how its cells were read.
    given: Vec<(Column, CellFormat)>,
    size: Option<u64>,
}

impl Many {
    pub(crate) fn open(engine: &Engine, parts: &[Part], options: &Options) -> bochner::Result<Many> {
        let headers = Options { infer: false, kinds: Vec::new(), ignored: Vec::new(), ..options.clone() };
        let (mut parts, mut columns, mut width) = (parts.to_vec(), Vec::new(), None);
        let mut headed = Vec::with_capacity(parts.len());
        for at in 0..parts.len() {
            let found = columns_of(engine, &mut parts[at], &headers)?;
            if at == 0 {
                columns.clone_from(&found);
            }
            check_names(&parts[0], &columns, &parts[at], &found)?;
            width = width.max(sparse_width(&found));
            headed.push(found);
        }
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let positions = Positions::of(&names);
        let said = options.kinds.iter().map(|(name, _)| name);
        said.chain(&options.ignored).try_for_each(|name| positions.find(name, &names).map(|_| ()))?;
        let parts = parts.as_slice();
        let inferred = if options.infer {
            inferred(engine, parts, &headed, (&names, &positions), options)?
        } else {
            vec![None; names.len()]
        };
        let found = |(name, found): (&String, &Option<Found>)| {
            Some((name.clone(), Known::Format(found.as_ref()?.inferred.format)))
        };
        let is_fixed = |(name, known): &'_ (String, Known)| match known {
            Known::Format(_) => Some(name.clone()),
            Known::Kind(_) => None,
        };
        let fixed: HashSet<String> = options.kinds.iter().filter_map(is_fixed).collect();
        // What was said counts, but for the way of writing, which is that of all files.
        let mut kinds = options.kinds.clone();
        kinds.extend(names.iter().zip(&inferred).filter_map(found).filter(|(name, _)| !fixed.contains(name)));
        let options = Options { kinds, width: width.or(options.width), ..options.clone() };
        let opened = parts.iter().map(|part| Opened::new(engine, part, &names, &options));
        let opened = opened.collect::<bochner::Result<Vec<_>>>()?;
        let columns = kinds_of(parts, &opened, &names)?;
        let formats = (0..names.len()).map(|j| opened[0].format(j)).collect();
        let mut warnings: Vec<String> = Vec::new();
        for text in opened.iter().flat_map(|part| part.source.warnings()) {
            if !warnings.contains(&text) {
                warnings.push(text);
            }
        }
        let size = opened.iter().map(|part| part.size).sum();
        let inferred = inferred.into_iter().map(|found| found.filter(|found| !found.is_said));
        let inferred = inferred.map(|found| found.map(|found| found.inferred)).collect();
        Ok(Many { parts: opened, columns, formats, inferred, warnings, size })
    }
}

/// The columns of a file and of its folders, less those that it has itself. Sparse rows have no others.
fn columns_of(engine: &Engine, part: &mut Part, options: &Options) -> bochner::Result<Vec<ColumnInfo>> {
    let mut columns = crate::source(engine, part.origin.clone(), options)?.columns().to_vec();
    let own: HashSet<String> = columns.iter().map(|column| column.name.clone()).collect();
    let is_dense = sparse_width(&columns).is_none();
    // Of folders inside one another the innermost counts.
    let mut seen = HashSet::new();
    part.given.reverse();
    part.given.retain(|(name, _)| is_dense && !own.contains(name) && seen.insert(name.clone()));
    part.given.reverse();
    let given = |(name, _): &(String, _)| ColumnInfo { name: name.clone(), kind: ColumnKind::Category };
    columns.extend(part.given.iter().map(given));
    Ok(columns)
}

fn sparse_width(columns: &[ColumnInfo]) -> Option<usize> {
    columns.iter().find_map(|column| match column.kind {
        ColumnKind::Sparse { width } => Some(width),
        _ => None,
    })
}

/// Both files have the same columns.
fn check_names(first: &Part, names: &[ColumnInfo], part: &Part, found: &[ColumnInfo]) -> Result<(), Error> {
    let lacking = |of: &[ColumnInfo], others: &[ColumnInfo]| {
        let others: HashSet<&str> = others.iter().map(|column| column.name.as_str()).collect();
        of.iter().find(|column| !others.contains(column.name.as_str())).map(|column| shortened(&column.name))
    };
    let (file, other) = (part.origin.file.clone(), first.origin.file.clone());
    if let Some(column) = lacking(names, found) {
        return Err(Error::FileLacksColumn { file, other, column });
    }
    match lacking(found, names) {
        Some(column) => Err(Error::FileHasColumn { file, other, column }),
        None => Ok(()),
    }
}

/// What the cells of a column in all files say.
#[derive(Clone)]
struct Found {
    inferred: Inferred,
    /// Whether its kind was said, and only the way of writing was found.
    is_said: bool,
}

/// What the columns are, from the cells of all files, where these are texts in at least one; `headed` are the columns of each file by their types.
fn inferred(
    engine: &Engine,
    parts: &[Part],
    headed: &[Vec<ColumnInfo>],
    (names, positions): (&[String], &Positions),
    options: &Options,
) -> bochner::Result<Vec<Option<Found>>> {
    let mut said: Vec<Option<Known>> = vec![None; names.len()];
    for (name, known) in &options.kinds {
        said[positions.find(name, names)?] = Some(*known);
    }
    // Ways of writing are found where a kind is said.
    let is_open = |known: &Known| matches!(known, Known::Kind(kind) if kind.has_ways_of_writing());
    let kinds: Vec<(String, Known)> =
        options.kinds.iter().filter(|(_, known)| !is_open(known)).cloned().collect();
    let mut scans: Vec<Option<KindScan>> = vec![None; names.len()];
    // What a type says of a column that is text in another file.
    let mut typed: Vec<Option<ColumnKind>> = vec![None; names.len()];
    for (part, columns) in parts.iter().zip(headed) {
        let is_own = |name: &String| !part.given.iter().any(|(given, _)| given == name);
        let kinds = kinds.iter().filter(|(name, _)| is_own(name)).cloned().collect();
        let ignored = options.ignored.iter().filter(|name| is_own(name)).cloned().collect();
        let options = Options { kinds, ignored, ..options.clone() };
        let found = crate::scan(engine, part.origin.clone(), &options)?;
        let mut is_text = HashSet::new();
        for (name, scan) in found {
            match &mut scans[positions.find(&name, names)?] {
                Some(known) => known.merge(&scan),
                none => *none = Some(scan),
            }
            is_text.insert(name);
        }
        for column in columns.iter().filter(|column| is_own(&column.name) && !is_text.contains(&column.name))
        {
            typed[positions.find(&column.name, names)?] = Some(column.kind);
        }
    }
    let decided = |(j, scan): (usize, Option<KindScan>)| {
        let scan = scan?;
        let (inferred, is_said) = match (said[j], typed[j]) {
            (Some(Known::Kind(kind)), _) => (scan.decide_as(kind), true),
            (_, Some(kind)) => (scan.decide_as(kind), false),
            _ => (scan.decide(), false),
        };
        Some(Found { inferred, is_said })
    };
    // Cells that folders give count, too.
    let ignored: HashSet<&String> = options.ignored.iter().collect();
    for (name, cell) in parts.iter().flat_map(|part| &part.given) {
        if let Some(scan) = &mut scans[positions.find(name, names)?] {
            scan.absorb(cell.as_deref().unwrap_or_default(), 0);
        }
    }
    let mut found: Vec<Option<Found>> = scans.into_iter().enumerate().map(decided).collect();
    let folders: HashSet<&str> =
        parts.iter().flat_map(|part| &part.given).map(|(name, _)| name.as_str()).collect();
    for (j, name) in names.iter().enumerate() {
        if found[j].is_some() || ignored.contains(name) || !folders.contains(name.as_str()) {
            continue;
        }
        found[j] = match said[j] {
            None => Some(Found { inferred: of_folders(parts, name), is_said: false }),
            Some(Known::Kind(kind)) => {
                Some(Found { inferred: scan_of_folders(parts, name).decide_as(kind), is_said: true })
            }
            Some(Known::Format(_)) => None,
        };
    }
    Ok(found)
}

/// The cells of a column that folders give.
fn scan_of_folders(parts: &[Part], name: &str) -> KindScan {
    let mut scan = KindScan::default();
    for (_, cell) in parts.iter().flat_map(|part| &part.given).filter(|(given, _)| given == name) {
        scan.absorb(cell.as_deref().unwrap_or_default(), 0);
    }
    scan
}

/// What a column that folders give is: numbers, dates and truth values only if all are, and never a text or an identifier.
fn of_folders(parts: &[Part], name: &str) -> Inferred {
    let found = scan_of_folders(parts, name).decide();
    let is_category = found.unreadable > 0 || found.format.kind == ColumnKind::Text;
    let format = if is_category { CellFormat::from(ColumnKind::Category) } else { found.format };
    Inferred { format, is_identifier: false, unreadable: 0, first: None, counts_rows: false, ..found }
}

/// The columns of the table; they are of the same kind in every file.
fn kinds_of(parts: &[Part], opened: &[Opened], names: &[String]) -> bochner::Result<Vec<ColumnInfo>> {
    let of = |part: &Opened| (0..names.len()).map(|j| part.kind(j)).collect::<Vec<ColumnKind>>();
    let kinds = of(&opened[0]);
    for (part, opened) in parts.iter().zip(opened) {
        if let Some(j) = of(opened).iter().zip(&kinds).position(|(one, other)| one != other) {
            let (file, other) = (part.origin.file.clone(), parts[0].origin.file.clone());
            return Err(Error::FileHasOtherKind { file, other, column: shortened(&names[j]) }.into());
        }
    }
    let info = |(name, kind): (&String, ColumnKind)| ColumnInfo { name: name.clone(), kind };
    Ok(names.iter().zip(kinds).map(info).collect())
}

impl Opened {
    fn new(engine: &Engine, part: &Part, names: &[String], options: &Options) -> bochner::Result<Opened> {
        let is_given = |name: &String| part.given.iter().any(|(given, _)| given == name);
        let (given, own): (Vec<_>, Vec<_>) =
            options.kinds.iter().cloned().partition(|(name, _)| is_given(name));
        let ignored = options.ignored.iter().filter(|name| !is_given(name)).cloned().collect();
        let of_part = Options { kinds: own, ignored, ..options.clone() };
        let source = crate::source(engine, part.origin.clone(), &of_part)?;
        let mut order: Vec<String> = source.columns().iter().map(|column| column.name.clone()).collect();
        order.extend(part.given.iter().map(|(name, _)| name.clone()));
        let positions = Positions::of(&order);
        let places: Vec<usize> = names.iter().filter_map(|name| positions.get(name)).collect();
        if places.len() < names.len() {
            return Err(Error::Changed { file: part.origin.file.clone() }.into());
        }
        let is_ignored = |name: &str| options.ignored.iter().any(|ignored| ignored == name);
        let format = |name: &str| match given.iter().rfind(|(said, _)| said == name) {
            _ if is_ignored(name) => CellFormat::from(ColumnKind::Text),
            Some((_, Known::Format(format))) => *format,
            Some((_, Known::Kind(kind))) => CellFormat::from(*kind),
            None => CellFormat::from(ColumnKind::Number),
        };
        let column = |(name, cell): &(String, Option<String>)| {
            let (file, format) = (&part.origin.file, format(name));
            let cell = cell.as_deref().unwrap_or_default();
            match text::one_cell(file, format, cell)? {
                (_, false) if options.strict => Err(Error::WrongCell {
                    file: file.clone(),
                    line: 0,
                    column: 0,
                    expected: expected(format.kind),
                    found: shortened(cell),
                    name: Some(shortened(name)),
                }),
                (column, _) => Ok((column, format)),
            }
        };
        let given = part.given.iter().map(column).collect::<Result<_, Error>>()?;
        Ok(Opened { source, places, given, size: part.origin.size })
    }

    fn kind(&self, j: usize) -> ColumnKind {
        let (place, own) = (self.places[j], self.source.columns());
        own.get(place).map_or_else(|| self.given[place - own.len()].0.kind(), |column| column.kind)
    }

    fn format(&self, j: usize) -> CellFormat {
        let (place, own) = (self.places[j], self.source.columns().len());
        if place < own { self.source.format(place) } else { self.given[place - own].1 }
    }

    /// The columns in the order of the table.
    fn ordered(&self, table: Table) -> Vec<Column> {
        let row = vec![0; table.rows];
        let given = self.given.iter().map(|(column, _)| column.chosen(&row));
        let mut columns: Vec<Option<Column>> = table.columns.into_iter().chain(given).map(Some).collect();
        self.places.iter().filter_map(|&place| columns[place].take()).collect()
    }
}

impl TableSource for Many {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn open<'a>(&'a self, engine: &'a Engine) -> bochner::Result<Box<dyn TableReader + 'a>> {
        let unreadable = vec![None; self.columns.len()];
        Ok(Box::new(Reader { source: self, engine, at: 0, inner: None, first_row: 0, unreadable }))
    }

    fn format(&self, column: usize) -> CellFormat {
        self.formats[column]
    }

    fn inferred(&self, column: usize) -> Option<&Inferred> {
        self.inferred[column].as_ref()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

/// A pass over the rows.
struct Reader<'a> {
    source: &'a Many,
    engine: &'a Engine,
    /// The file that is read, or the next one.
    at: usize,
    inner: Option<Box<dyn TableReader + 'a>>,
    first_row: u64,
    /// Of the files that were read, for each column.
    unreadable: Vec<Option<Unreadable>>,
}

impl Reader<'_> {
    /// The next rows of one file; none after the last.
    fn of_one(&mut self, most: usize) -> bochner::Result<Option<Table>> {
        while let Some(part) = self.source.parts.get(self.at) {
            let inner = match &mut self.inner {
                Some(inner) => inner,
                none => none.insert(part.source.open(self.engine)?),
            };
            if let Some(table) = inner.next(most)? {
                let (rows, first_row) = (table.rows, self.first_row);
                return Ok(Some(Table { rows, columns: part.ordered(table), first_row }));
            }
            let found = inner.unreadable();
            found.into_iter().for_each(|cells| part.add(cells, &mut self.unreadable));
            self.inner = None;
            self.at += 1;
        }
        Ok(None)
    }
}

impl Opened {
    /// Adds cells of a file to those of the table; the first example stays.
    fn add(&self, cells: Unreadable, to: &mut [Option<Unreadable>]) {
        let Some(column) = self.places.iter().position(|place| *place == cells.column) else { return };
        match &mut to[column] {
            Some(known) => known.count += cells.count,
            none => *none = Some(Unreadable { column, ..cells }),
        }
    }
}

impl TableReader for Reader<'_> {
    fn next(&mut self, most: usize) -> bochner::Result<Option<Table>> {
        let Some(mut table) = (if most == 0 { None } else { self.of_one(most)? }) else { return Ok(None) };
        while table.rows < most {
            let Some(more) = self.of_one(most - table.rows)? else { break };
            table.rows += more.rows;
            // Of the same kinds: that was seen when they were opened.
            table.columns.iter_mut().zip(&more.columns).for_each(|(column, more)| {
                column.append(more);
            });
        }
        self.first_row += table.rows as u64;
        Ok(Some(table))
    }

    fn fraction(&self) -> Option<f64> {
        let part = match (&self.inner, self.source.parts.get(self.at)) {
            (Some(inner), Some(part)) => inner.fraction()? * part.size? as f64,
            _ => 0.0,
        };
        let before = self.source.parts[..self.at].iter().map(|part| part.size).sum::<Option<u64>>()?;
        let size = self.source.size?;
        Some(if size == 0 { 1.0 } else { (before as f64 + part) / size as f64 })
    }

    fn unreadable(&self) -> Vec<Unreadable> {
        let mut all = self.unreadable.clone();
        if let (Some(inner), Some(part)) = (&self.inner, self.source.parts.get(self.at)) {
            inner.unreadable().into_iter().for_each(|cells| part.add(cells, &mut all));
        }
        all.into_iter().flatten().collect()
    }
}
