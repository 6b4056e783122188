//! Memory that starts on a cache line: a vector that straddles two lines is read at half speed.
//!
//! Large buffers start on a huge page and ask for huge pages: walking hundreds of megabytes in 4 KiB pages misses the processor's
//! table of pages at every other step (measured: a quarter of a Gram pass), and faulting them in costs as much as a pass.

use crate::Element;

/// Bytes of a cache line, and of the widest vector.
const LINE: usize = 64;

/// Bytes of a huge page.
const HUGE: usize = 1 << 21;

/// Buffers of at least this many bytes start on a huge page.
const LARGE: usize = 8 * HUGE;

/// Memory of at least this many bytes is given huge pages, where it is asked.
const ENOUGH: usize = 2 * HUGE;

/// A buffer whose first element lies on a cache line. What it holds is not kept when it grows.
#[derive(Debug, Default)]
pub struct Aligned<T> {
    data: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Element> PartialEq for Aligned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

/// The copy has a start of its own.
impl<T: Element> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        let mut copy = Aligned::zeros(self.length);
        copy.as_mut_slice().copy_from_slice(self.as_slice());
        copy
    }
}

impl<T: Element> Aligned<T> {
    /// `length` zeros.
    pub fn zeros(length: usize) -> Self {
        let bytes = length.saturating_mul(size_of::<T>());
        let line = if bytes < LARGE { LINE } else { HUGE };
        let data = vec![T::default(); length + line / size_of::<T>()];
        let start = data.as_ptr().align_offset(line).min(line / size_of::<T>());
        ask_for_huge_pages(&data);
        Aligned { data, start, length }
    }

    /// At least `length` elements to write to, of any value, and exactly those.
    pub fn sized(&mut self, length: usize) -> &mut [T] {
        if self.data.len() < self.start + length {
            *self = Aligned::zeros(length);
        }
        self.length = length;
        self.as_mut_slice()
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        &self.data[self.start..self.start + self.length]
    }

    /// The elements, to write to.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data[self.start..self.start + self.length]
    }
}

/// Uninitialised scratch memory, aligned to a cache line: callers write before they read.
pub(crate) struct Unwritten<T>(Vec<std::mem::MaybeUninit<T>>);

impl<T: Element> Unwritten<T> {
    /// For `length` elements.
    pub(crate) fn of(length: usize) -> Self {
        Unwritten(Vec::with_capacity(length + LINE / size_of::<T>()))
    }

    /// The first of them.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut T {
        let memory = self.0.spare_capacity_mut();
        let start = memory.as_ptr().align_offset(LINE).min(LINE / size_of::<T>());
        memory[start..].as_mut_ptr().cast()
    }
}

/// Asks for huge pages wherever they fit into some memory, if that is large and the system offers them on request. Memory that was not touched yet gets them at the first touch.
pub fn ask_for_huge_pages<T>(memory: &[T]) {
    let bytes = size_of_val(memory);
    if bytes < ENOUGH {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        let before = memory.as_ptr().cast::<u8>().align_offset(HUGE);
        let whole = bytes.saturating_sub(before) / HUGE * HUGE;
        if whole > 0 {
            // SAFETY: the range is whole huge pages inside one live allocation, and the advice changes no content. It may be refused, which is as good as not asking.
            unsafe {
                let start = memory.as_ptr().cast::<u8>().add(before);
                libc::madvise(start.cast_mut().cast(), whole, libc::MADV_HUGEPAGE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_start_on_a_line_and_have_the_length_asked() {
        let mut buffer = Aligned::<f32>::default();
        for length in [5, 0, 1000, 7, 100_000, LARGE / 4 - 1, LARGE / 4, LARGE, 3] {
            assert_eq!(buffer.sized(length).len(), length);
            assert_eq!(buffer.as_slice().as_ptr() as usize % LINE, 0);
            buffer.as_mut_slice().fill(1.0);
        }
        assert_eq!(Aligned::<f32>::zeros(LARGE / 4).as_slice().as_ptr() as usize % HUGE, 0);
        assert!(Aligned::<f64>::default().as_slice().is_empty());
    }

    #[test]
    fn copies_hold_the_same_wherever_they_lie() {
        let mut kept = Vec::new();
        for length in 1..200 {
            let mut buffer = Aligned::<f32>::zeros(length);
            (0..length).for_each(|i| buffer.as_mut_slice()[i] = i as f32);
            let copy = buffer.clone();
            assert_eq!(copy.as_slice(), buffer.as_slice());
            kept.push((buffer, copy)); // so that later buffers lie elsewhere
        }
    }
}
