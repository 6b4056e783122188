//! As much of the library as its dense linear algebra leans on.

/// What went wrong.
#[derive(Debug)]
pub enum Error {
    /// A pivot is not positive.
    NotPositiveDefinite {
        /// The pivot.
        index: usize,
        /// The rows of the matrix.
        size: usize,
    },
    /// A result is not finite.
    Overflow {
        /// Which.
        what: &'static str,
    },
    /// Iterations that did not end.
    NotConverged {
        /// Of what.
        what: &'static str,
        /// How many were made.
        iterations: usize,
    },
    /// Stopped by the caller.
    Interrupted,
}

/// A result, or what went wrong.
pub type Result<T> = std::result::Result<T, Error>;

/// A dense row-major matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    rows: usize,
    columns: usize,
    data: Vec<T>,
}

impl<T: Copy + Default> Matrix<T> {
    pub fn new(rows: usize, columns: usize, data: Vec<T>) -> Result<Self> {
        assert_eq!(data.len(), rows * columns);
        Ok(Matrix { rows, columns, data })
    }

    pub fn zeros(rows: usize, columns: usize) -> Self {
        let data = vec![T::default(); rows * columns];
        bochner_simd::ask_for_huge_pages(&data);
        Matrix { rows, columns, data }
    }

    pub fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> T) -> Self {
        let mut data = Vec::with_capacity(rows * columns);
        bochner_simd::ask_for_huge_pages(data.spare_capacity_mut());
        for i in 0..rows {
            data.extend((0..columns).map(|j| entry(i, j)));
        }
        Matrix { rows, columns, data }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    pub fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }

    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.data[i * self.columns..(i + 1) * self.columns]
    }

    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }

    pub fn into_vec(self) -> Vec<T> {
        self.data
    }
}

pub mod engine {
    pub(crate) type Check<'a> = &'a (dyn Fn(f64) -> super::Result<()> + Sync);
}

/// Threads and an instruction set, as the library's engine has them.
pub struct Engine {
    threads: usize,
    pool: rayon::ThreadPool,
}

impl Engine {
    pub fn new(threads: usize) -> Engine {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        Engine { threads, pool: pool.expect("a pool of threads") }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) fn isa(&self) -> bochner_simd::Isa {
        bochner_simd::Isa::default()
    }

    pub(crate) fn for_each_chunk<T: Send>(
        &self,
        data: &mut [T],
        size: usize,
        job: &(dyn Fn(usize, &mut [T]) + Sync),
    ) {
        use rayon::prelude::*;
        if self.threads == 1 {
            return data.chunks_mut(size.max(1)).enumerate().for_each(|(i, chunk)| job(i, chunk));
        }
        let chunks = data.par_chunks_mut(size.max(1)).enumerate().with_max_len(1);
        self.pool.install(|| chunks.for_each(|(i, chunk)| job(i, chunk)));
    }

    pub(crate) fn for_each_mut<T: Send>(&self, items: &mut [T], job: &(dyn Fn(usize, &mut T) + Sync)) {
        self.for_each_chunk(items, 1, &|i, item| job(i, &mut item[0]));
    }
}
