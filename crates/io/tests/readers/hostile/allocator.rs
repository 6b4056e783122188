//! The system's allocator, asked what the largest allocation of a thread was.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// See the module.
pub(crate) struct Watched;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// What no file may ask for, whatever it is: there is no memory for it.
const MOST: usize = 8 << 30;

/// The result, and the largest single allocation of this thread while it was made.
pub(crate) fn largest<T>(work: impl FnOnce() -> T) -> (T, usize) {
    LARGEST.set(0);
    let result = work();
    (result, LARGEST.get())
}

fn note(size: usize) -> bool {
    // At the end of a thread there is nobody to tell.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
    size <= MOST
}

// SAFETY: every call goes to the system's allocator as it came, or gives none.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if note(layout.size()) { unsafe { System.alloc(layout) } } else { std::ptr::null_mut() }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if note(layout.size()) { unsafe { System.alloc_zeroed(layout) } } else { std::ptr::null_mut() }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if note(size) { unsafe { System.realloc(place, layout, size) } } else { std::ptr::null_mut() }
    }
}
