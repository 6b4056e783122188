//! Values of any length: as positions in the chunk's dictionary as long as all of a batch are that, otherwise one after another.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use crate::arrow::build::check_text;
use crate::budget::Share;
use crate::fault::{Fault, Outcome, at_most};

use super::schema::Physical;
use super::values::{beyond, next_value};

/// The values of a dictionary page.
pub(super) struct Dictionary {
    offsets: OffsetBuffer<i32>,
    bytes: Buffer,
    /// The same as texts, if they are.
    texts: Option<Arc<StringArray>>,
}

impl Dictionary {
    pub(super) fn new(
        page: &[u8],
        values: usize,
        physical: Physical,
        are_texts: bool,
    ) -> Outcome<Dictionary> {
        // Each value has a byte at least; a text has four that say how long it is.
        if values > page.len() {
            return Err(Fault::damaged(format!("a dictionary of {values} values in {} bytes", page.len())));
        }
        let (mut offsets, mut bytes) = (Vec::with_capacity(values + 1), Vec::with_capacity(page.len()));
        offsets.push(0);
        let mut at = 0;
        for _ in 0..values {
            let value = next_value(page, &mut at, physical)?;
            check_text(value.len())?;
            bytes.extend_from_slice(value);
            offsets.push(bytes.len() as i32); // a page is smaller than that
        }
        let (offsets, bytes) = (ends(offsets), Buffer::from_vec(bytes));
        let texts = match are_texts {
            true => Some(Arc::new(strings(offsets.clone(), bytes.clone(), None)?)),
            false => None,
        };
        Ok(Dictionary { offsets, bytes, texts })
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn get(&self, key: u32) -> Outcome<&[u8]> {
        let ends = self.offsets.get(key as usize..).and_then(|rest| rest.first_chunk::<2>());
        let [start, end] = ends.ok_or_else(|| beyond(key, self.len()))?;
        Ok(&self.bytes[*start as usize..*end as usize])
    }
}

/// Values that grow.
pub(super) struct Texts<'a> {
    /// What they take of the budget.
    share: &'a mut Share,
    keys: Vec<u32>,
    /// Empty as long as there are only keys.
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(share: &'a mut Share) -> Texts<'a> {
        Texts { share, keys: Vec::new(), offsets: Vec::new(), bytes: Vec::new() }
    }

    /// Whether they are enough for a batch, however few rows they are.
    pub(super) fn are_many(&self) -> bool {
        const MANY: usize = 16 << 20;
        self.bytes.len() >= MANY
    }

    /// Appends a value; the keys before it are of this dictionary.
    pub(super) fn push(&mut self, value: &[u8], dictionary: Option<&Dictionary>) -> Outcome<()> {
        if self.offsets.is_empty() {
            self.offsets.push(0);
            match dictionary {
                Some(dictionary) => self.spell(dictionary)?,
                None if self.keys.is_empty() => {}
                None => return Err(Fault::damaged("a page without its dictionary")),
            }
        }
        self.append(value)
    }

    /// Appends the values of keys.
    pub(super) fn push_keys(
        &mut self,
        dictionary: &Dictionary,
        read: impl FnOnce(&mut Vec<u32>) -> Outcome<()>,
    ) -> Outcome<()> {
        read(&mut self.keys)?;
        if self.offsets.is_empty() { Ok(()) } else { self.spell(dictionary) }
    }

    /// Replaces keys by their values.
    fn spell(&mut self, dictionary: &Dictionary) -> Outcome<()> {
        let keys = std::mem::take(&mut self.keys);
        keys.iter().try_for_each(|key| self.append(dictionary.get(*key)?))
    }

    fn append(&mut self, value: &[u8]) -> Outcome<()> {
        check_text(value.len())?;
        self.share.grow(value.len())?;
        self.bytes.extend_from_slice(value);
        at_most("bytes of text in a batch of rows", self.bytes.len() as u64, i32::MAX as u64)?;
        self.offsets.push(self.bytes.len() as i32);
        Ok(())
    }

    /// An array of texts, a dictionary where that is smaller.
    pub(super) fn finish(
        mut self,
        rows: usize,
        nulls: Option<NullBuffer>,
        dictionary: Option<&Dictionary>,
    ) -> Outcome<ArrayRef> {
        /// A dictionary of so few values is always handed over.
        const FEW: usize = 1024;
        let wrong = |error| Fault::damaged(error);
        if let (true, Some(dictionary)) = (self.offsets.is_empty(), dictionary) {
            if let (true, Some(texts)) = (dictionary.len() <= rows.max(FEW), &dictionary.texts) {
                if let Some(key) = self.keys.iter().find(|key| **key as usize >= dictionary.len()) {
                    return Err(beyond(*key, dictionary.len()));
                }
                let keys = self.keys.iter().map(|key| *key as i32);
                let keys: Vec<i32> = match &nulls {
                    None => keys.collect(),
                    Some(nulls) => spread(nulls, keys, |_| 0),
                };
                let keys = Int32Array::try_new(keys.into(), nulls).map_err(wrong)?;
                let texts = Arc::clone(texts);
                return Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, texts).map_err(wrong)?));
            }
            self.offsets.push(0);
            self.spell(dictionary)?;
        }
        let (offsets, bytes) = self.plain(nulls.as_ref())?;
        Ok(Arc::new(strings(ends(offsets), bytes.into(), nulls)?))
    }

    /// Values that are no texts, and where each ends; a missing one is empty.
    pub(super) fn spelled(
        mut self,
        nulls: Option<&NullBuffer>,
        dictionary: Option<&Dictionary>,
    ) -> Outcome<(Vec<i32>, Vec<u8>)> {
        if let (true, Some(dictionary)) = (self.offsets.is_empty(), dictionary) {
            self.offsets.push(0);
            self.spell(dictionary)?;
        }
        self.plain(nulls)
    }

    fn plain(mut self, nulls: Option<&NullBuffer>) -> Outcome<(Vec<i32>, Vec<u8>)> {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        let offsets = match nulls {
            None => self.offsets,
            Some(nulls) => {
                let mut all = vec![0];
                let ends = self.offsets.iter().skip(1).copied();
                all.extend(spread(nulls, ends, |last| last));
                all
            }
        };
        Ok((offsets, self.bytes))
    }
}

/// Values where they are not missing, what `fill` makes of the one before where they are.
fn spread(nulls: &NullBuffer, values: impl Iterator<Item = i32>, fill: impl Fn(i32) -> i32) -> Vec<i32> {
    let (mut values, mut last) = (values, 0);
    let place = |is_there| {
        last = if is_there { values.next().unwrap_or(last) } else { fill(last) };
        last
    };
    nulls.iter().map(place).collect()
}

/// Where each value ends, in ascending order.
fn ends(offsets: Vec<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

/// An array of texts, which all have to be in UTF-8.
fn strings(offsets: OffsetBuffer<i32>, bytes: Buffer, nulls: Option<NullBuffer>) -> Outcome<StringArray> {
    let found = StringArray::try_new(offsets, bytes, nulls);
    found.map_err(|_| Fault::damaged("a text that is not in UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use arrow_array::cast::AsArray;

    fn page(texts: &[&str]) -> Vec<u8> {
        let mut page = Vec::new();
        for text in texts {
            page.extend((text.len() as u32).to_le_bytes());
            page.extend(text.as_bytes());
        }
        page
    }

    #[test]
    fn keys_are_spelled_where_other_values_follow() {
        let dictionary = Dictionary::new(&page(&["a", "", "ccc"]), 3, Physical::Bytes, true).unwrap();
        let mut share = Budget::new(1 << 20).take(0).unwrap();
        let mut texts = Texts::new(&mut share);
        texts
            .push_keys(&dictionary, |keys| {
                keys.extend([2, 0]);
                Ok(())
            })
            .unwrap();
        texts.push(b"plain", Some(&dictionary)).unwrap();
        texts
            .push_keys(&dictionary, |keys| {
                keys.push(1);
                Ok(())
            })
            .unwrap();
        let nulls = NullBuffer::from(vec![true, false, true, true, false, true]);
        let array = texts.finish(6, Some(nulls), Some(&dictionary)).unwrap();
        let found: Vec<Option<&str>> = array.as_string::<i32>().iter().collect();
        assert_eq!(found, [Some("ccc"), None, Some("a"), Some("plain"), None, Some("")]);
    }

    #[test]
    fn dictionaries_are_handed_over_and_keys_beyond_them_refused() {
        let dictionary = Dictionary::new(&page(&["a", "b"]), 2, Physical::Bytes, true).unwrap();
        let array = |keys: &[u32]| {
            let mut share = Budget::new(1 << 20).take(0).unwrap();
            let mut texts = Texts::new(&mut share);
            texts.push_keys(&dictionary, |to| {
                to.extend(keys);
                Ok(())
            })?;
            texts.finish(3, Some(NullBuffer::from(vec![true, false, true])), Some(&dictionary))
        };
        let found = array(&[1, 0]).unwrap();
        let found = found.as_dictionary::<Int32Type>();
        let texts: Vec<Option<&str>> = found.downcast_dict::<StringArray>().unwrap().into_iter().collect();
        assert_eq!(texts, [Some("b"), None, Some("a")]);
        assert!(array(&[1, 2]).is_err());
        assert!(Dictionary::new(&page(&["a"]), 2, Physical::Bytes, true).is_err());
        assert!(Dictionary::new(&page(&["a"]), usize::MAX, Physical::Bytes, true).is_err());
        assert!(Dictionary::new(b"\x01\0\0\0\xff", 1, Physical::Bytes, true).is_err());
        assert!(Dictionary::new(b"\x01\0\0\0\xff", 1, Physical::Bytes, false).is_ok());
    }
}
