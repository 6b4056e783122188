//! The values of a page, in the order in which they stand there, whatever their encoding.

use arrow_buffer::MutableBuffer;

use crate::fault::{Fault, Outcome};

use super::delta::Delta;
use super::hybrid::Hybrid;
use super::page::{DataPage, Encoding};
use super::schema::Physical;
use super::text::{Dictionary, Texts};

/// Where the values of a page are read.
pub(super) enum Values {
    /// The next byte.
    Plain(usize, Physical),
    Keys(Hybrid),
    Truths(Hybrid),
    Delta(Delta),
    Texts {
        lengths: Delta,
        at: usize,
    },
    Suffixes {
        prefixes: Delta,
        lengths: Delta,
        at: usize,
        last: Vec<u8>,
    },
    /// Values read, and values in all.
    Split {
        at: usize,
        count: usize,
    },
}

fn cut() -> Fault {
    Fault::damaged("fewer values in a page than it announces")
}

impl Values {
    pub(super) fn new(page: &DataPage, physical: Physical) -> Outcome<Values> {
        use Physical as P;
        let (bytes, start, end) = (page.bytes.as_slice(), page.start, page.bytes.len());
        Ok(match (page.encoding, physical) {
            (Encoding::Plain, P::Boolean) => Values::Truths(Hybrid::packed(1, start, end)),
            (Encoding::Runs, P::Boolean) => {
                let length = bytes[start..].first_chunk::<4>().ok_or_else(cut)?;
                let end = (start + 4).checked_add(u32::from_le_bytes(*length) as usize);
                Values::Truths(Hybrid::new(
                    1,
                    start + 4,
                    end.filter(|end| *end <= bytes.len()).ok_or_else(cut)?,
                )?)
            }
            (Encoding::Plain, _) => Values::Plain(start, physical),
            (Encoding::Dictionary, P::Boolean) => return Err(unusual(page.encoding, physical)),
            (Encoding::Dictionary, _) => match bytes.get(start) {
                // All cells are missing.
                None => Values::Keys(Hybrid::new(0, end, end)?),
                Some(width) => Values::Keys(Hybrid::new(*width, start + 1, end)?),
            },
            (Encoding::Delta, P::Int32 | P::Int64) => Values::Delta(Delta::new(bytes, start, end)?),
            (Encoding::DeltaLengths, P::Bytes) => {
                let lengths = Delta::new(bytes, start, end)?;
                let at = lengths.after(bytes)?;
                Values::Texts { lengths, at }
            }
            (Encoding::DeltaBytes, P::Bytes | P::Fixed(_)) => {
                let prefixes = Delta::new(bytes, start, end)?;
                let lengths = Delta::new(bytes, prefixes.after(bytes)?, end)?;
                let at = lengths.after(bytes)?;
                Values::Suffixes { prefixes, lengths, at, last: Vec::new() }
            }
            (Encoding::Split, P::Int32 | P::Float) => Values::split(end - start, 4)?,
            (Encoding::Split, P::Int64 | P::Double) => Values::split(end - start, 8)?,
            (Encoding::Split, P::Fixed(width @ 1..)) => Values::split(end - start, width)?,
            _ => return Err(unusual(page.encoding, physical)),
        })
    }

    /// Bytes of values of this width, first the first of each.
    fn split(bytes: usize, width: usize) -> Outcome<Values> {
        if !bytes.is_multiple_of(width) {
            return Err(Fault::damaged(format!("{bytes} bytes of values of {width}")));
        }
        Ok(Values::Split { at: 0, count: bytes / width })
    }

    /// Appends truth values as 0 and 1.
    pub(super) fn truths(&mut self, page: &DataPage, count: usize, to: &mut Vec<u32>) -> Outcome<()> {
        match self {
            Values::Truths(runs) => runs.append(&page.bytes, count, to),
            _ => Err(cut()),
        }
    }

    /// Appends values of `W` bytes each; `dictionary` holds such values.
    pub(super) fn fixed<const W: usize>(
        &mut self,
        page: &DataPage,
        count: usize,
        dictionary: Option<&[u8]>,
        to: &mut MutableBuffer,
        keys: &mut Vec<u32>,
    ) -> Outcome<()> {
        let bytes = page.bytes.as_slice();
        match self {
            Values::Plain(at, _) => {
                let end = at.checked_add(count * W).ok_or_else(cut)?;
                to.extend_from_slice(bytes.get(*at..end).ok_or_else(cut)?);
                *at = end;
            }
            Values::Keys(runs) => {
                let values = dictionary.ok_or_else(|| Fault::damaged("a page without its dictionary"))?;
                let (values, _) = values.as_chunks::<W>();
                keys.clear();
                runs.append(bytes, count, keys)?;
                let start = to.len();
                to.resize(start + count * W, 0);
                let (places, _) = to.as_slice_mut()[start..].as_chunks_mut::<W>();
                for (place, key) in places.iter_mut().zip(keys.iter()) {
                    *place = *values.get(*key as usize).ok_or_else(|| beyond(*key, values.len()))?;
                }
            }
            Values::Delta(delta) => delta.each(bytes, count, |value| {
                to.extend_from_slice(&value.to_le_bytes()[..W.min(8)]);
                Ok(())
            })?,
            Values::Split { at, count: all } => {
                if count > *all - *at {
                    return Err(cut());
                }
                let start = to.len();
                to.resize(start + count * W, 0);
                let (places, _) = to.as_slice_mut()[start..].as_chunks_mut::<W>();
                for k in 0..W {
                    let stream = &bytes[page.start + k * *all + *at..][..count];
                    places.iter_mut().zip(stream).for_each(|(place, byte)| place[k] = *byte);
                }
                *at += count;
            }
            Values::Truths(_) | Values::Texts { .. } | Values::Suffixes { .. } => return Err(cut()),
        }
        Ok(())
    }

    /// Appends values of any length.
    pub(super) fn texts(
        &mut self,
        page: &DataPage,
        count: usize,
        dictionary: Option<&Dictionary>,
        to: &mut Texts,
    ) -> Outcome<()> {
        let bytes = page.bytes.as_slice();
        match self {
            Values::Plain(at, physical) => {
                for _ in 0..count {
                    to.push(next_value(bytes, at, *physical)?, dictionary)?;
                }
                Ok(())
            }
            Values::Split { at, count: all } => {
                let stream = bytes[page.start..].chunks_exact((*all).max(1));
                let mut value = Vec::new();
                for i in *at..*at + count {
                    value.clear();
                    value.extend(stream.clone().filter_map(|stream| stream.get(i)));
                    if i >= *all {
                        return Err(cut());
                    }
                    to.push(&value, dictionary)?;
                }
                *at += count;
                Ok(())
            }
            Values::Keys(runs) => {
                let dictionary = dictionary.ok_or_else(|| Fault::damaged("a page without its dictionary"))?;
                to.push_keys(dictionary, |keys| runs.append(bytes, count, keys))
            }
            Values::Texts { lengths, at } => lengths.each(bytes, count, |length| {
                let end = usize::try_from(length).ok().and_then(|length| at.checked_add(length));
                let end = end.ok_or_else(cut)?;
                to.push(bytes.get(*at..end).ok_or_else(cut)?, dictionary)?;
                *at = end;
                Ok(())
            }),
            Values::Suffixes { .. } => self.suffixes(page, count, |value| to.push(value, dictionary)),
            _ => Err(cut()),
        }
    }

    /// Shows values that begin as the one before.
    fn suffixes(
        &mut self,
        page: &DataPage,
        count: usize,
        mut see: impl FnMut(&[u8]) -> Outcome<()>,
    ) -> Outcome<()> {
        let Values::Suffixes { prefixes, lengths, at, last } = self else { return Err(cut()) };
        let bytes = page.bytes.as_slice();
        let mut shared = Vec::with_capacity(count.min(bytes.len()));
        let mut done = 0;
        while done < count {
            let some = (count - done).min(1024);
            shared.clear();
            prefixes.each(bytes, some, |prefix| {
                shared.push(prefix);
                Ok(())
            })?;
            let mut prefix = shared.iter();
            lengths.each(bytes, some, |length| {
                let prefix = prefix.next().and_then(|prefix| usize::try_from(*prefix).ok());
                let prefix = prefix.filter(|prefix| *prefix <= last.len()).ok_or_else(cut)?;
                let end = usize::try_from(length).ok().and_then(|length| at.checked_add(length));
                let suffix = bytes.get(*at..end.ok_or_else(cut)?).ok_or_else(cut)?;
                last.truncate(prefix);
                last.extend_from_slice(suffix);
                *at += suffix.len();
                see(last)
            })?;
            done += some;
        }
        Ok(())
    }
}

/// The value that stands here, a text with its length before it.
pub(super) fn next_value<'a>(bytes: &'a [u8], at: &mut usize, physical: Physical) -> Outcome<&'a [u8]> {
    let rest = bytes.get(*at..).ok_or_else(cut)?;
    let (length, rest, size) = match physical {
        Physical::Fixed(width) => (width, rest, width),
        _ => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
            let length = u32::from_le_bytes(*length) as usize;
            (length, rest, length.saturating_add(4))
        }
    };
    let value = rest.get(..length).ok_or_else(cut)?;
    *at += size;
    Ok(value)
}

pub(super) fn beyond(key: u32, values: usize) -> Fault {
    Fault::damaged(format!("value {key} of a dictionary of {values}"))
}

fn unusual(encoding: Encoding, physical: Physical) -> Fault {
    Fault::damaged(format!("values of type {physical:?} in encoding {encoding:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_values_are_whole() {
        let page = |size: usize| DataPage {
            bytes: vec![0; size],
            rows: 2,
            encoding: Encoding::Split,
            levels: None,
            start: 0,
        };
        for (physical, width) in [(Physical::Float, 4), (Physical::Int64, 8), (Physical::Fixed(3), 3)] {
            assert!(Values::new(&page(2 * width), physical).is_ok());
            assert!(Values::new(&page(2 * width + 1), physical).is_err());
        }
    }
}
