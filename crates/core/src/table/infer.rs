//! What a column of cells is, found in one pass.
//!
//! The rules, in their order; n is the number of cells that are not missing:
//!
//! ```text
//! 1  boolean     all n are true/false, yes/no, t/f or y/n
//! 2  category    all n are whole numbers, and one has a leading zero: 01234 is a code
//! 3  number      at least 0.9·n are numbers (or all n, with the same sign of percent or currency); others count as missing
//! 4  date        at least 0.95·n are dates, the day first or the month first, whichever reads more; others count as missing
//! 5  text        three words or 40 characters on average, and more than 0.01·n different ones
//! 6  identifier  20 cells or more, 0.99·n of them different: left out
//! 7  category    anything else
//! ```
//! A scan looks at cells only, not at where they stand: scans of parts of a column merge, in any order.

use std::fmt;

use super::distinct::Distinct;
use super::number::{Decimal, Sign};
use super::{ColumnKind, date, number};

/// What people write where a cell is missing, in any case and with spaces around it.
pub const MISSING: [&str; 20] = [
    "", "?", "-", "--", "...", "na", "n/a", "#n/a", "n.a.", "nan", "-nan", "null", "none", "<na>", "#na",
    "\\n", "#n/a n/a", "1.#ind", "-1.#ind", "1.#qnan",
];

/// The longest of them.
const LONGEST_MISSING: usize = 8;

/// Whether a cell is missing.
pub fn is_missing(cell: &str) -> bool {
    let cell = cell.trim();
    if cell.len() > LONGEST_MISSING {
        return false;
    }
    // A word that begins like none of them is told apart by its first byte.
    let Some(&first) = cell.as_bytes().first() else { return true };
    matches!(first, b'?' | b'-' | b'.' | b'n' | b'N' | b'#' | b'<' | b'\\' | b'1')
        && MISSING.iter().any(|missing| missing.eq_ignore_ascii_case(cell))
}

/// Whether a cell of a column of classes is missing: `-` and `none` are classes.
pub fn is_missing_label(cell: &str) -> bool {
    let cell = cell.trim();
    is_missing(cell) && !(cell.starts_with(['-', '.']) || cell.eq_ignore_ascii_case("none"))
}

/// True or false, as people write it; none for anything else.
pub fn boolean(cell: &str) -> Option<bool> {
    let cell = cell.trim();
    let is = |word: &str| cell.eq_ignore_ascii_case(word);
    match cell.len() {
        1 if is("t") || is("y") => Some(true),
        1 if is("f") || is("n") => Some(false),
        2 if is("no") => Some(false),
        3 if is("yes") => Some(true),
        4 if is("true") => Some(true),
        5 if is("false") => Some(false),
        _ => None,
    }
}

/// The same of a cell of a column that is known to hold true and false: 0 and 1 are, however they are written.
pub fn boolean_or_bit(cell: &str) -> Option<bool> {
    boolean(cell).or_else(|| number::parse(cell, false).and_then(|(value, _)| bit(value)))
}

/// False for 0, true for 1; none for any other number.
pub fn bit(value: f64) -> Option<bool> {
    match value {
        0.0 => Some(false),
        1.0 => Some(true),
        _ => None,
    }
}

/// How the cells of a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellFormat {
    /// What they are.
    pub kind: ColumnKind,
    /// Numbers have a decimal comma.
    pub decimal_comma: bool,
    /// In dates of three numbers the day stands first.
    pub day_first: bool,
}

impl From<ColumnKind> for CellFormat {
    fn from(kind: ColumnKind) -> Self {
        CellFormat { kind, decimal_comma: false, day_first: false }
    }
}

/// What a column was found to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferred {
    /// How its cells are read.
    pub format: CellFormat,
    /// Whether it looks like an identifier, of which nothing can be learnt.
    pub is_identifier: bool,
    /// Cells that are missing.
    pub missing: u64,
    /// Cells that are neither missing nor of this kind.
    pub unreadable: u64,
    /// The line and the cell of the first of these.
    pub first: Option<(u64, String)>,
    /// Different cells, of many an estimate.
    pub distinct: f64,
    /// Whether its cells are the whole numbers from the smallest to the largest, each once.
    pub counts_rows: bool,
    /// Of a column of numbers, whole ones beyond 2⁵³: the nearest number is taken for them.
    pub beyond: u64,
}

/// Cells to judge from that each is different.
const FEWEST: u64 = 20;

/// The cells of a column as they are read.
#[derive(Clone, Debug, Default)]
pub struct KindScan {
    rows: u64,
    missing: u64,
    booleans: u64,
    /// Numbers that are 0 or 1.
    bits: u64,
    /// Numbers by the way in which they are written: with a decimal point, with a comma.
    numbers: [Numbers; 2],
    /// Dates: month first, day first.
    dates: [u64; 2],
    /// Whole numbers that begin with a zero, and cells of digits alone.
    codes: u64,
    digits: u64,
    characters: u64,
    words: u64,
    distinct: Distinct,
    /// The first cells, with their lines, that cannot be read: as numbers and dates in each way, as booleans.
    others: [Option<(u64, String)>; 5],
    /// The smallest and the largest of the cells of digits alone.
    range: Option<[f64; 2]>,
    /// Whole numbers beyond 2⁵³.
    beyond: u64,
    lately: Lately,
}

/// What a cell may be that is not digits with a point at most.
#[derive(Clone, Copy, Debug, Default)]
struct Readings {
    /// A number, with a decimal point and with a comma.
    numbers: [Option<Sign>; 2],
    is_boolean: bool,
    /// A number that is 0 or 1.
    is_bit: bool,
    dates: [bool; 2],
    characters: u64,
    words: u64,
}

/// What cells were that were read lately, by their hashes: levels, days and words come again and again.
#[derive(Clone, Default)]
struct Lately(Vec<(u64, Readings)>);

/// Cells that are remembered.
const REMEMBERED: usize = 256;

impl Lately {
    fn of(&mut self, hash: u64, cell: &str) -> Readings {
        if self.0.is_empty() {
            self.0 = vec![(0, Readings::default()); REMEMBERED]; // no hash is 0
        }
        let place = &mut self.0[hash as usize % REMEMBERED];
        if place.0 != hash {
            *place = (hash, readings(cell));
        }
        place.1
    }
}

/// Nothing: it changes no answer.
impl fmt::Debug for Lately {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lately")
    }
}

/// What a cell may be.
fn readings(cell: &str) -> Readings {
    let bytes = cell.as_bytes();
    let point = number::parse(cell, false);
    let has_comma = match point {
        // A word that is none with a point is none with a comma.
        None => !bytes[0].is_ascii_alphabetic(),
        Some(_) => bytes.iter().any(|byte| matches!(byte, b'.' | b',')),
    };
    let comma = if has_comma { number::parse(cell, true) } else { point };
    let is_boolean = point.is_none() && boolean(cell).is_some();
    let may_be_date = (point.is_none() || bytes.contains(&b'.')) && !is_boolean && date::may_be(cell);
    Readings {
        numbers: [point, comma].map(|number| number.map(|(_, sign)| sign)),
        is_boolean,
        is_bit: !is_boolean && is_bit(cell),
        dates: if may_be_date { date::ways(cell) } else { [false; 2] },
        characters: cell.chars().count() as u64,
        words: if point.is_some() { 1 } else { words(cell) },
    }
}

/// Whether a cell that is no word for true or false is a number for it.
fn is_bit(cell: &str) -> bool {
    matches!(cell.as_bytes()[0], b'0' | b'1' | b'+' | b'-' | b'.') && boolean_or_bit(cell).is_some()
}

/// Digits that no number beyond 2⁵³ has fewer of.
const BEYOND: usize = 16;

/// Cells that are numbers in one way of writing.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    plain: u64,
    percent: u64,
    currency: u64,
}

impl Numbers {
    fn all(self) -> u64 {
        self.plain + self.percent + self.currency
    }

    /// Whether all of n cells are numbers with the same sign, or with none.
    fn has_one_sign(self, n: u64) -> bool {
        [self.plain, self.percent, self.currency].contains(&n)
    }

    fn add(&mut self, sign: Sign) {
        match sign {
            Sign::None => self.plain += 1,
            Sign::Percent => self.percent += 1,
            Sign::Currency => self.currency += 1,
        }
    }
}

/// Places in `others`: of numbers with a decimal point, dates with the month first, booleans. The other way of writing follows.
const NUMBER: usize = 0;
const DATE: usize = 2;
const BOOLEAN: usize = 4;

/// Words between spaces.
fn words(cell: &str) -> u64 {
    if !cell.is_ascii() {
        return cell.split_whitespace().count() as u64;
    }
    // What char::is_whitespace is of ASCII.
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let (mut count, mut after_space) = (0, true);
    for byte in cell.bytes() {
        count += u64::from(after_space && !is_space(byte));
        after_space = is_space(byte);
    }
    count
}

impl KindScan {
    /// Of one of so many columns, which share the memory for distinct cells.
    pub fn with_budget(columns: usize) -> KindScan {
        KindScan { distinct: Distinct::among(columns), ..KindScan::default() }
    }

    /// Reads a cell, in which line it stands.
    pub fn absorb(&mut self, cell: &str, line: u64) {
        self.rows += 1;
        if is_missing(cell) {
            self.missing += 1;
            return;
        }
        let cell = cell.trim();
        let hash = Distinct::hash(cell.as_bytes());
        self.distinct.add_hash(hash);
        match number::decimal(cell.as_bytes()) {
            Some(decimal) => self.absorb_decimal(&decimal, cell, line),
            None => self.absorb_other(hash, cell, line),
        }
    }

    /// Reads a cell that is there so many times, in this line first.
    pub fn absorb_times(&mut self, cell: &str, line: u64, count: u64) {
        let mut once = KindScan::default();
        once.absorb(cell, line);
        let KindScan { rows, missing, booleans, bits, codes, digits, characters, words, beyond, .. } =
            &mut once;
        for counted in [rows, missing, booleans, bits, codes, digits, characters, words, beyond] {
            *counted = counted.saturating_mul(count);
        }
        for Numbers { plain, percent, currency } in &mut once.numbers {
            [plain, percent, currency].into_iter().for_each(|counted| *counted *= count);
        }
        once.dates.iter_mut().for_each(|counted| *counted *= count);
        self.merge(&once);
    }

    /// Reads some cells that are missing.
    pub fn absorb_missing(&mut self, count: u64) {
        self.rows += count;
        self.missing += count;
    }

    /// What [`KindScan::absorb_other`] would do with the commonest numbers, without asking whether they are anything else.
    fn absorb_decimal(&mut self, decimal: &Decimal, cell: &str, line: u64) {
        self.numbers[0].plain += 1;
        if decimal.has_groups() {
            self.numbers[1].plain += 1;
        } else {
            self.other(NUMBER + 1, cell, line);
        }
        if decimal.fraction.is_none() {
            if decimal.whole >= BEYOND {
                let size = cell.trim_start_matches('-').parse::<u64>();
                self.beyond += u64::from(size.map_or(true, |size| size > 1 << 53));
            }
            if !decimal.is_negative {
                self.digits += 1;
                self.codes += u64::from(decimal.whole > 1 && cell.starts_with('0'));
                let value =
                    cell.parse::<u64>().map_or_else(|_| cell.parse().ok(), |value| Some(value as f64));
                value.into_iter().for_each(|value: f64| self.extend([value; 2]));
            }
        }
        if is_bit(cell) {
            self.bits += 1;
        } else {
            self.other(BOOLEAN, cell, line);
        }
        [DATE, DATE + 1].into_iter().for_each(|at| self.other(at, cell, line));
        self.characters += cell.len() as u64;
        self.words += 1;
    }

    /// Reads a cell that is neither missing nor digits with a point at most.
    fn absorb_other(&mut self, hash: u64, cell: &str, line: u64) {
        let found = self.lately.of(hash, cell);
        for (way, number) in found.numbers.into_iter().enumerate() {
            match number {
                Some(sign) => self.numbers[way].add(sign),
                None => self.other(NUMBER + way, cell, line),
            }
        }
        self.booleans += u64::from(found.is_boolean);
        self.bits += u64::from(found.is_bit);
        if !found.is_boolean && !found.is_bit {
            self.other(BOOLEAN, cell, line);
        }
        for (way, is_date) in found.dates.into_iter().enumerate() {
            if is_date {
                self.dates[way] += 1;
            } else {
                self.other(DATE + way, cell, line);
            }
        }
        self.characters += found.characters;
        self.words += found.words;
    }

    /// Adds what another has read.
    pub fn merge(&mut self, other: &KindScan) {
        self.rows += other.rows;
        self.missing += other.missing;
        self.booleans += other.booleans;
        self.bits += other.bits;
        for (own, theirs) in self.numbers.iter_mut().zip(other.numbers) {
            own.plain += theirs.plain;
            own.percent += theirs.percent;
            own.currency += theirs.currency;
        }
        self.dates.iter_mut().zip(other.dates).for_each(|(own, theirs)| *own += theirs);
        self.codes += other.codes;
        self.digits += other.digits;
        self.characters += other.characters;
        self.words += other.words;
        self.distinct.merge(&other.distinct);
        for (at, theirs) in other.others.iter().enumerate() {
            theirs.iter().for_each(|(line, cell)| self.other(at, cell, *line));
        }
        other.range.into_iter().for_each(|range| self.extend(range));
        self.beyond += other.beyond;
    }

    /// Cells read.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn other(&mut self, at: usize, cell: &str, line: u64) {
        if self.others[at].as_ref().is_none_or(|(first, _)| line < *first) {
            self.others[at] = Some((line, cell.to_owned()));
        }
    }

    fn extend(&mut self, [least, most]: [f64; 2]) {
        let [a, b] = self.range.unwrap_or([least, most]);
        self.range = Some([a.min(least), b.max(most)]);
    }

    /// The number of different cells, of many an estimate.
    pub fn distinct(&self) -> f64 {
        self.distinct.count()
    }

    /// What the column is.
    pub fn decide(&self) -> Inferred {
        let n = self.rows - self.missing;
        let share = |count: u64, part: f64| count > 0 && count as f64 >= part * n as f64;
        let numbers = self.numbers[usize::from(self.has_decimal_comma())];
        let distinct = self.distinct().min(n as f64);
        let all_differ = n >= FEWEST && self.distinct.share() >= 0.99;
        let mean = |count: u64| count as f64 / n as f64;
        let is_number = numbers.has_one_sign(n) || share(numbers.plain, 0.9);
        let is_long = mean(self.words) >= 3.0 || mean(self.characters) >= 40.0;
        let kind = match () {
            _ if n == 0 => ColumnKind::Number,
            _ if self.booleans == n => ColumnKind::Boolean,
            _ if self.digits == n && self.codes > 0 => ColumnKind::Category,
            _ if is_number => ColumnKind::Number,
            _ if share(self.dates[usize::from(self.has_day_first())], 0.95) => ColumnKind::Date,
            _ if is_long && distinct > 0.01 * n as f64 => ColumnKind::Text,
            _ => ColumnKind::Category,
        };
        let [least, largest] = self.range.unwrap_or([0.0; 2]);
        let has_no_gaps = self.digits == n && (largest - least - (n as f64 - 1.0)).abs() < 0.5;
        Inferred {
            is_identifier: kind == ColumnKind::Category && all_differ,
            counts_rows: kind == ColumnKind::Number && all_differ && has_no_gaps,
            ..self.decide_as(kind)
        }
    }

    /// How a column of this kind is read: with the decimal comma, and the order of day and month, that read the most cells. It is
    /// taken for no identifier.
    pub fn decide_as(&self, kind: ColumnKind) -> Inferred {
        let n = self.rows - self.missing;
        let (decimal_comma, day_first) = (self.has_decimal_comma(), self.has_day_first());
        let (readable, at) = match kind {
            ColumnKind::Number => {
                let way = usize::from(decimal_comma);
                (self.numbers[way].all(), NUMBER + way)
            }
            ColumnKind::Date => {
                let way = usize::from(day_first);
                (self.dates[way], DATE + way)
            }
            ColumnKind::Boolean => (self.booleans + self.bits, BOOLEAN),
            ColumnKind::Category | ColumnKind::Text | ColumnKind::Sparse { .. } => (n, NUMBER),
        };
        Inferred {
            format: CellFormat { kind, decimal_comma, day_first },
            is_identifier: false,
            missing: self.missing,
            unreadable: n - readable,
            first: if readable < n { self.others[at].clone() } else { None },
            distinct: self.distinct().min(n as f64),
            counts_rows: false,
            beyond: if kind == ColumnKind::Number { self.beyond } else { 0 },
        }
    }

    /// Whether more cells are numbers with a decimal comma than with a point.
    fn has_decimal_comma(&self) -> bool {
        self.numbers[1].all() > self.numbers[0].all()
    }

    /// Whether more cells are dates with the day first than with the month first.
    fn has_day_first(&self) -> bool {
        self.dates[1] > self.dates[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan<'a>(cells: impl IntoIterator<Item = &'a str>) -> KindScan {
        let mut scan = KindScan::default();
        cells.into_iter().zip(2..).for_each(|(cell, line)| scan.absorb(cell, line));
        scan
    }

    fn kind<'a>(cells: impl IntoIterator<Item = &'a str>) -> ColumnKind {
        scan(cells).decide().format.kind
    }

    #[test]
    fn kinds_follow_the_rules() {
        use ColumnKind::{Boolean, Category, Date, Number, Text};
        assert_eq!(kind(["1", "", "NA", "2.5", "?", "inf"]), Number);
        assert_eq!(kind(["True", "false", "", "TRUE"]), Boolean);
        assert_eq!(kind(["yes", "no", "maybe"]), Category);
        assert_eq!(kind(["0", "1", "1"]), Number);
        assert_eq!(kind(["01234", "99999"]), Category);
        assert_eq!(kind(["0", "0.5"]), Number);
        assert_eq!(kind(["5%", "7 %"]), Number);
        assert_eq!(kind(["5%", "7"]), Category);
        assert_eq!(kind(["$5", "$7.50", "n/a"]), Number);
        assert_eq!(kind(["2024-01-02", "2024-01-03T10:00", ""]), Date);
        assert_eq!(kind(["red", "green", "red"]), Category);
        assert_eq!(kind(["", "NA"]), Number);
        assert_eq!(kind(["the cat sat", "on the mat today", "and slept"]), Text);
        assert_eq!(
            kind([
                "GATTACAGATTACAGATTACAGATTACAGATTACAGATTACA",
                "CATTACAGATTACAGATTACAGATTACAGATTACAGATTACA"
            ]),
            Text
        );
    }

    #[test]
    fn a_few_cells_that_are_no_numbers_are_counted() {
        let numbers: Vec<String> = (0..95).map(|i| i.to_string()).collect();
        let cells = numbers.iter().map(String::as_str).chain(["x", "unknown", "x", ""]);
        let found = scan(cells).decide();
        assert_eq!(found.format.kind, ColumnKind::Number);
        assert_eq!((found.missing, found.unreadable), (1, 3));
        assert_eq!(found.first, Some((97, "x".to_owned())));
    }

    #[test]
    fn commas_and_days_are_found_by_all_cells() {
        let found = scan(["1,5", "1.234,25", "7"]).decide();
        assert_eq!((found.format.kind, found.format.decimal_comma), (ColumnKind::Number, true));
        assert!(!scan(["1.5", "2,000", "7"]).decide().format.decimal_comma);
        // Days beyond 12 say which number is the day; without one, the month stands first.
        for (cells, day_first) in [
            (["1/2/2024", "13/2/2024"], true),
            (["1/2/2024", "2/13/2024"], false),
            (["1/2/2024", "3/4/2024"], false),
        ] {
            let found = scan(cells).decide();
            assert_eq!(
                (found.format.kind, found.format.day_first),
                (ColumnKind::Date, day_first),
                "{cells:?}"
            );
        }
    }

    /// A kind that somebody says is read in the way that reads the most cells.
    #[test]
    fn kinds_that_are_given_have_ways_of_writing() {
        let found = scan(["1,5", "1.55", "x", "2,25", ""]).decide_as(ColumnKind::Number);
        assert_eq!((found.format.kind, found.format.decimal_comma), (ColumnKind::Number, true));
        assert_eq!((found.missing, found.unreadable, found.first), (1, 2, Some((3, "1.55".to_owned()))));
        let found = scan(["1/13/2024", "13/2/2024", "14/2/2024"]).decide_as(ColumnKind::Date);
        assert!(found.format.day_first);
        assert_eq!((found.unreadable, found.first), (1, Some((2, "1/13/2024".to_owned()))));
        let found = scan(["yes", "0", "1.0", "2", "no"]).decide_as(ColumnKind::Boolean);
        assert_eq!((found.unreadable, found.first), (1, Some((5, "2".to_owned()))));
        for (cell, value) in
            [("0", Some(false)), ("1.0", Some(true)), ("-0", Some(false)), ("Yes", Some(true)), ("2", None)]
        {
            assert_eq!(boolean_or_bit(cell), value, "{cell}");
        }
        let cells: Vec<String> = (0..100).map(|i| format!("customer-{i}")).collect();
        let scanned = scan(cells.iter().map(String::as_str));
        for kind in [ColumnKind::Category, ColumnKind::Text] {
            let found = scanned.decide_as(kind);
            assert_eq!((found.format.kind, found.unreadable, found.is_identifier), (kind, 0, false));
        }
        assert!(scanned.decide().is_identifier);
        let has_ways = [ColumnKind::Number, ColumnKind::Date, ColumnKind::Boolean, ColumnKind::Text];
        assert_eq!(has_ways.map(ColumnKind::has_ways_of_writing), [true, true, false, false]);
    }

    #[test]
    fn numbers_that_count_rows_are_told() {
        let cells: Vec<String> = (0..50).map(|i| (49 - i).to_string()).collect();
        assert!(scan(cells.iter().map(String::as_str)).decide().counts_rows);
        assert!(!scan(cells.iter().map(String::as_str).chain(["51"])).decide().counts_rows);
        assert!(!scan(cells[..10].iter().map(String::as_str)).decide().counts_rows);
    }

    #[test]
    fn identifiers_are_short_and_all_different() {
        let cells: Vec<String> = (0..1000).map(|i| format!("customer-{i}")).collect();
        let found = scan(cells.iter().map(String::as_str)).decide();
        assert!(found.is_identifier && found.format.kind == ColumnKind::Category);
        let few = scan(cells[..10].iter().map(String::as_str)).decide();
        assert!(!few.is_identifier);
        // Numbers of one length are no less identifiers for their zeros.
        let padded: Vec<String> = (1..=1000).map(|i| format!("{i:06}")).collect();
        let found = scan(padded.iter().map(String::as_str)).decide();
        assert!(found.is_identifier && found.format.kind == ColumnKind::Category);
        let twice = scan(cells.iter().chain(&cells[..20]).map(String::as_str)).decide();
        assert!(!twice.is_identifier);
    }

    /// The number of distinct cells is an estimate there, whether all differ is not.
    #[test]
    fn identifiers_are_told_among_many_columns() {
        let scan = |count: u64, different: u64| {
            let mut scan = KindScan::with_budget(10_000);
            (0..count).for_each(|i| scan.absorb(&format!("customer-{}", i % different), i));
            scan.decide().is_identifier
        };
        assert!(scan(30_000, 30_000) && !scan(30_000, 27_000));
    }

    #[test]
    fn parts_in_any_order_are_the_whole() {
        let cells: Vec<String> = (0..40_000)
            .map(
                |i| if i % 7 == 0 { String::new() } else { format!("w{} 1/{}/2020", i * i % 30_011, i % 28) },
            )
            .collect();
        let whole = scan(cells.iter().map(String::as_str));
        for cut in [0, 1, 20_000, 40_000] {
            let part = |cells: &[String], first: u64| {
                let mut scan = KindScan::default();
                cells.iter().zip(first..).for_each(|(cell, line)| scan.absorb(cell, line));
                scan
            };
            let (mut a, b) = (part(&cells[cut..], 2 + cut as u64), part(&cells[..cut], 2));
            a.merge(&b);
            assert_eq!(format!("{a:?}"), format!("{whole:?}"));
        }
    }

    #[test]
    fn a_cell_that_is_there_often_is_read_once() {
        for cell in
            ["", "NA", "1.5", "007", "9007199254740993", "5%", "$7", "yes", "2024-01-02", "two words", "é"]
        {
            let (mut each, mut at_once) = (scan(["a", "1"]), scan(["a", "1"]));
            (7..12).for_each(|line| each.absorb(cell, line));
            at_once.absorb_times(cell, 7, 5);
            assert_eq!(format!("{at_once:?}"), format!("{each:?}"), "{cell}");
        }
    }

    /// The quick ways and the slow ones agree.
    #[test]
    fn words_are_counted_and_large_numbers_noticed() {
        for text in ["one", " a  b\tc\u{b}d ", "é è", "a\u{a0}b", "", "x\u{1c}y"] {
            assert_eq!(words(text), text.split_whitespace().count() as u64, "{text:?}");
        }
        let cells = ["9007199254740992", "9007199254740993", "-99999999999999999999", "0.5", "1e300", "007"];
        let found = scan(cells).decide();
        assert_eq!((found.format.kind, found.beyond), (ColumnKind::Number, 2));
        assert_eq!(scan(["9007199254740993", "x"]).decide().beyond, 0, "a category keeps all digits");
    }

    #[test]
    fn what_is_missing() {
        for cell in [
            "", "  ", "NA", "NaN", "nan", "null", "?", "-", "N/A", "None", "...", "#N/A", "<NA>", "\\N",
            "-1.#IND", "#N/A N/A",
        ] {
            assert!(is_missing(cell), "{cell}");
        }
        for cell in ["0", "nano", "north", "a", "1", "..", "n", "1.5", "---", "é", "missing values"] {
            assert!(!is_missing(cell), "{cell}");
        }
    }
}
