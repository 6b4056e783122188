//! Rounds of a pass over a text: some records, where their fields stand, their cells.

use std::ops::Range;
use std::result;
use std::sync::{Mutex, PoisonError};

use bochner::Engine;

use super::records::{InHand, Records, Span, Splitter};
use super::{Cell, Field, TextFormat};
use crate::error::{Error, Place, Result};
use crate::origin::Origin;

/// Bytes of which a thread is given the fields to find at once.
const PIECE: usize = 64 << 10;

/// Pieces of a round for each thread.
const PIECES: usize = 4;

/// Fields of a round at most: rows of JSON have all of them, however few bytes they are.
const FIELDS: usize = 1 << 20;

/// Bytes of a round at most, however many threads there are.
const ROUND: usize = 64 << 20;

/// Bytes of a round.
fn round(engine: &Engine) -> usize {
    (engine.threads() * PIECES * PIECE).min(ROUND)
}

/// Records in parts of about [`PIECE`] bytes.
fn pieces(records: &[Span]) -> Vec<Range<usize>> {
    let (mut pieces, mut start, mut size) = (Vec::new(), 0, 0);
    for (at, record) in records.iter().enumerate() {
        size += record.bytes.len();
        if size >= PIECE || at + 1 == records.len() {
            pieces.push(start..at + 1);
            (start, size) = (at + 1, 0);
        }
    }
    pieces
}

/// Takes the next records in hand and gives what `job` makes of each part of them, in their order; nothing at the end.
pub(crate) fn in_pieces<S: Splitter, T: Send>(
    engine: &Engine,
    records: &mut Records<S>,
    job: &(dyn Fn(InHand<'_>) -> T + Sync),
) -> Result<Vec<T>> {
    if !records.advance(usize::MAX, round(engine))? {
        return Ok(Vec::new());
    }
    let in_hand = records.in_hand();
    let mut parts: Vec<_> =
        pieces(in_hand.records).into_iter().map(|part| (in_hand.part(part), None)).collect();
    engine.for_each_chunk(&mut parts, 1, &|_, part| part[0].1 = Some(job(part[0].0)));
    Ok(parts.into_iter().filter_map(|(_, result)| result).collect())
}

/// A pass over the rows of a text.
pub(super) struct Rounds<'a, F: TextFormat> {
    engine: &'a Engine,
    format: &'a F,
    records: Records<F::Splitter>,
    pieces: Vec<Piece>,
    /// How many of them are in use.
    count: usize,
    /// What comes after the rows in hand.
    failed: Option<Error>,
}

/// Some records of a round.
#[derive(Default)]
struct Piece {
    records: Range<usize>,
    /// Of all columns of the first record, then of the next.
    fields: Vec<Field>,
    /// Of the record after those that have fields.
    fault: Option<Error>,
}

impl<'a, F: TextFormat> Rounds<'a, F> {
    /// Starts before the first row.
    pub(super) fn new(engine: &'a Engine, format: &'a F, origin: &Origin) -> Result<Rounds<'a, F>> {
        let records = format.rows(origin)?;
        Ok(Rounds { engine, format, records, pieces: Vec::new(), count: 0, failed: None })
    }

    /// Takes the next rows in hand, at most `most`, and says how many; 0 at the end.
    pub(super) fn next(&mut self, most: usize) -> Result<usize> {
        self.count = 0;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let width = self.format.names().len().max(1);
        if most == 0 || !self.records.advance(most.min((FIELDS / width).max(1)), round(self.engine))? {
            return Ok(0);
        }
        self.count = 0;
        let in_hand = self.records.in_hand();
        for records in pieces(in_hand.records) {
            if self.pieces.len() == self.count {
                self.pieces.push(Piece::default());
            }
            self.pieces[self.count].records = records;
            self.count += 1;
        }
        let format = self.format;
        self.engine.for_each_chunk(&mut self.pieces[..self.count], 1, &|_, piece| {
            piece[0].find(format, in_hand);
        });
        // Reading line by line ends at the first fault, after the rows before it.
        let faulty = self.pieces[..self.count].iter().position(|piece| piece.fault.is_some());
        if let Some(at) = faulty {
            let piece = &mut self.pieces[at];
            piece.records.end = piece.records.start + piece.fields.len() / width;
            self.failed = piece.fault.take();
            self.count = at + 1;
        }
        let rows = self.pieces[..self.count].last().map_or(0, |last| last.records.end);
        match self.failed.take() {
            Some(error) if rows == 0 => Err(error),
            failed => {
                self.failed = failed;
                Ok(rows)
            }
        }
    }

    /// Shows the cells of the rows in hand to their columns, row by row. Gives the error of the first cell with one.
    pub(super) fn each<C: Send>(
        &self,
        columns: &mut [C],
        see: &(impl Fn(usize, &mut C, Cell<'_>, Place<'_>) -> Result<()> + Sync),
    ) -> Result<()> {
        let width = columns.len();
        // What one thread does quickly is not worth waking others for.
        let parts = if self.count > 1 { self.engine.threads() * PIECES } else { 1 };
        let size = width.div_ceil(parts).max(1);
        let first_fault: Mutex<Option<(usize, usize, Error)>> = Mutex::new(None);
        let (in_hand, pieces) = (self.records.in_hand(), &self.pieces[..self.count]);
        self.engine.for_each_chunk(columns, size, &|chunk, columns| {
            if let Err((row, j, error)) = show::<F, C>(in_hand, pieces, columns, (chunk * size, width), see) {
                let mut first = first_fault.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(r, c, _)| (row, j) < (*r, *c)) {
                    *first = Some((row, j, error));
                }
            }
        });
        let first = first_fault.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.map_or(Ok(()), |(_, _, error)| Err(error))
    }

    /// How much of the file has been read.
    pub(super) fn fraction(&self) -> Option<f64> {
        self.records.input().fraction()
    }
}

/// Shows the cells of some columns, of which the first is column `first` of `width`; gives the row and the column of the first error.
fn show<F: TextFormat, C>(
    in_hand: InHand<'_>,
    pieces: &[Piece],
    columns: &mut [C],
    (first, width): (usize, usize),
    see: &impl Fn(usize, &mut C, Cell<'_>, Place<'_>) -> Result<()>,
) -> result::Result<(), (usize, usize, Error)> {
    let mut unescaped = Vec::new();
    for piece in pieces {
        let records = &in_hand.records[piece.records.clone()];
        for (i, (record, fields)) in records.iter().zip(piece.fields.chunks_exact(width)).enumerate() {
            let place = in_hand.place(record);
            for (j, (column, field)) in columns.iter_mut().zip(&fields[first..]).enumerate() {
                let cell = field.cell(in_hand.text, F::unescape, &mut unescaped);
                see(first + j, column, cell, place)
                    .map_err(|error| (piece.records.start + i, first + j, error))?;
            }
        }
    }
    Ok(())
}

impl Piece {
    /// Finds the fields of its records, up to the first that has others.
    fn find<F: TextFormat>(&mut self, format: &F, in_hand: InHand<'_>) {
        self.fields.clear();
        self.fault = None;
        for record in &in_hand.records[self.records.clone()] {
            let found = self.fields.len();
            if let Err(error) = format.fields(in_hand.text, record, in_hand.place(record), &mut self.fields) {
                self.fields.truncate(found);
                self.fault = Some(error);
                break;
            }
        }
    }
}
