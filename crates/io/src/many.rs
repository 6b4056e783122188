//! Several files as one table, one after another.
//!
//! All have the columns of the first, by name, in any order. What the columns hold is found from the cells of all of them, and so is the width of
//! sparse rows. Folders `key=value` add columns that are the same in all rows of a file.

use bochner::Engine;
use bochner::table::infer::{Inferred, KindScan};
use bochner::table::{
    CellFormat, Column, ColumnInfo, ColumnKind, Table, TableReader, TableSource, Unreadable, position,
};

use crate::csv;
use crate::error::{Error, shortened};
use crate::files::Part;
use crate::options::{Format, Options};
use crate::sniff;

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
    /// The columns that its folders give: one row.
    given: Vec<Column>,
    size: Option<u64>,
}

impl Many {
    pub(crate) fn open(parts: &[Part], options: &Options) -> bochner::Result<Many> {
        let headers = Options { infer: false, kinds: Vec::new(), ..options.clone() };
        let (mut parts, mut names, mut width) = (parts.to_vec(), Vec::new(), None);
        for at in 0..parts.len() {
            let found = columns(&mut parts[at], &headers)?;
            if at == 0 {
                names = found.clone();
            }
            check_names(&parts[0], &names, &parts[at], &found)?;
            width = width.max(sparse_width(&found));
        }
        let parts = parts.as_slice();
        for (name, _) in &options.kinds {
            position(&names, name)?;
        }
        let inferred =
            if options.infer { inferred(parts, &names, options)? } else { vec![None; names.len()] };
        let known = |(info, found): (&ColumnInfo, &Option<Inferred>)| {
            Some((info.name.clone(), found.as_ref()?.format))
        };
        // What was said comes last, and counts.
        let kinds = names.iter().zip(&inferred).filter_map(known).chain(options.kinds.iter().cloned());
        let options = Options { kinds: kinds.collect(), width: width.or(options.width), ..options.clone() };
        let opened = parts.iter().map(|part| Opened::new(part, &names, &options));
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
        Ok(Many { parts: opened, columns, formats, inferred, warnings, size })
    }
}

/// The columns of a file and of its folders, less those that it has itself. Sparse rows have no others.
fn columns(part: &mut Part, options: &Options) -> bochner::Result<Vec<ColumnInfo>> {
    let mut columns = crate::source(part.origin.clone(), options)?.columns().to_vec();
    let is_new = |name: &str| !columns.iter().any(|column| column.name == name);
    let is_dense = sparse_width(&columns).is_none();
    part.given.retain(|(name, _)| is_dense && is_new(name));
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
        let is_there = |name: &str| others.iter().any(|column| column.name == name);
        of.iter().find(|column| !is_there(&column.name)).map(|column| shortened(&column.name))
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

/// What the columns are, from the cells of all files, where these are texts.
fn inferred(
    parts: &[Part],
    names: &[ColumnInfo],
    options: &Options,
) -> bochner::Result<Vec<Option<Inferred>>> {
    let is_said = |name: &str| options.kinds.iter().any(|(said, _)| said == name);
    let mut scans: Vec<Option<KindScan>> = vec![None; names.len()];
    let mut add = |name: &str, scan: &KindScan| -> bochner::Result<()> {
        let known = &mut scans[position(names, name)?];
        match known {
            Some(known) => known.merge(scan),
            None => *known = Some(scan.clone()),
        }
        Ok(())
    };
    let mut typed: Vec<(String, ColumnKind)> = Vec::new();
    for part in parts {
        if sniff::format(&part.origin, options)? == Format::Csv {
            let own = |(name, _): &&(String, CellFormat)| !part.given.iter().any(|(given, _)| given == name);
            let kinds = options.kinds.iter().filter(own).cloned().collect();
            let options = Options { kinds, ..options.clone() };
            csv::scan(&part.origin, &options)?.iter().try_for_each(|(name, scan)| add(name, scan))?;
        } else {
            let source =
                crate::source(part.origin.clone(), &Options { kinds: Vec::new(), ..options.clone() })?;
            typed.extend(source.columns().iter().map(|column| (column.name.clone(), column.kind)));
        }
    }
    let mut found: Vec<Option<Inferred>> =
        scans.iter().map(|scan| scan.as_ref().map(KindScan::decide)).collect();
    // Where one file knows what a column is, it is that in all of them.
    for (name, kind) in typed {
        if let Some(found) = &mut found[position(names, &name)?] {
            found.format = CellFormat::from(kind);
        }
    }
    for (j, column) in names.iter().enumerate() {
        let is_given = |part: &Part| part.given.iter().any(|(name, _)| *name == column.name);
        if found[j].is_none() && parts.iter().any(is_given) && !is_said(&column.name) {
            found[j] = Some(of_folders(parts, &column.name));
        }
    }
    Ok(found)
}

/// What a column that folders give is: numbers, dates and truth values only if all are, and never a text or an identifier.
fn of_folders(parts: &[Part], name: &str) -> Inferred {
    let mut scan = KindScan::default();
    for (_, cell) in parts.iter().flat_map(|part| &part.given).filter(|(given, _)| given == name) {
        scan.absorb(cell.as_deref().unwrap_or_default(), 0);
    }
    let found = scan.decide();
    let is_category = found.unreadable > 0 || found.format.kind == ColumnKind::Text;
    let format = if is_category { CellFormat::from(ColumnKind::Category) } else { found.format };
    Inferred { format, is_identifier: false, unreadable: 0, first: None, counts_rows: false, ..found }
}

/// The columns of the table; they are of the same kind in every file.
fn kinds_of(parts: &[Part], opened: &[Opened], names: &[ColumnInfo]) -> bochner::Result<Vec<ColumnInfo>> {
    let of = |part: &Opened| (0..names.len()).map(|j| part.kind(j)).collect::<Vec<ColumnKind>>();
    let kinds = of(&opened[0]);
    for (part, opened) in parts.iter().zip(opened) {
        if let Some(j) = of(opened).iter().zip(&kinds).position(|(one, other)| one != other) {
            let (file, other) = (part.origin.file.clone(), parts[0].origin.file.clone());
            return Err(Error::FileHasOtherKind { file, other, column: shortened(&names[j].name) }.into());
        }
    }
    let info = |(info, kind): (&ColumnInfo, ColumnKind)| ColumnInfo { name: info.name.clone(), kind };
    Ok(names.iter().zip(kinds).map(info).collect())
}

impl Opened {
    fn new(part: &Part, names: &[ColumnInfo], options: &Options) -> bochner::Result<Opened> {
        let is_given = |name: &str| part.given.iter().any(|(given, _)| given == name);
        let (given, own): (Vec<_>, Vec<_>) =
            options.kinds.iter().cloned().partition(|(name, _)| is_given(name));
        let source = crate::source(part.origin.clone(), &Options { kinds: own, ..options.clone() })?;
        let mut order: Vec<String> = source.columns().iter().map(|column| column.name.clone()).collect();
        order.extend(part.given.iter().map(|(name, _)| name.clone()));
        let place = |info: &ColumnInfo| order.iter().position(|name| *name == info.name);
        let places: Vec<usize> = names.iter().filter_map(place).collect();
        if places.len() < names.len() {
            return Err(Error::Changed { file: part.origin.file.clone() }.into());
        }
        let number = CellFormat::from(ColumnKind::Number);
        let format = |name: &str| given.iter().rfind(|(said, _)| said == name).map_or(number, |said| said.1);
        let column = |(name, cell): &(String, Option<String>)| {
            csv::one_cell(&part.origin.file, format(name), cell.as_deref().unwrap_or_default())
        };
        let given = part.given.iter().map(column).collect::<Result<_, Error>>()?;
        Ok(Opened { source, places, given, size: part.origin.size })
    }

    fn kind(&self, j: usize) -> ColumnKind {
        let (place, own) = (self.places[j], self.source.columns());
        own.get(place).map_or_else(|| self.given[place - own.len()].kind(), |column| column.kind)
    }

    fn format(&self, j: usize) -> CellFormat {
        let is_own = self.places[j] < self.source.columns().len();
        if is_own { self.source.format(self.places[j]) } else { CellFormat::from(self.kind(j)) }
    }

    /// The columns in the order of the table.
    fn ordered(&self, table: Table) -> Vec<Column> {
        let row = vec![0; table.rows];
        let given = self.given.iter().map(|column| column.chosen(&row));
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
