//! Memory that starts on a cache line: a vector that straddles two lines is read at half speed.

use crate::Element;

/// Bytes of a cache line, and of the widest vector.
const LINE: usize = 64;

/// A buffer whose first element lies on a cache line. What it holds is not kept when it grows.
#[derive(Debug, Default)]
pub struct Aligned<T> {
    data: Vec<T>,
    length: usize,
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
        Aligned { data: vec![T::default(); length + LINE / size_of::<T>()], length }
    }

    /// At least `length` elements to write to, of any value, and exactly those.
    pub fn sized(&mut self, length: usize) -> &mut [T] {
        if self.data.len() < length + LINE / size_of::<T>() {
            *self = Aligned::zeros(length);
        }
        self.length = length;
        self.as_mut_slice()
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        let start = self.start();
        &self.data[start..start + self.length]
    }

    /// The elements, to write to.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        let start = self.start();
        &mut self.data[start..start + self.length]
    }

    fn start(&self) -> usize {
        self.data.as_ptr().align_offset(LINE).min(self.data.len() - self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_start_on_a_line_and_have_the_length_asked() {
        let mut buffer = Aligned::<f32>::default();
        for length in [5, 0, 1000, 7, 100_000] {
            assert_eq!(buffer.sized(length).len(), length);
            assert_eq!(buffer.as_slice().as_ptr() as usize % LINE, 0);
        }
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
