//! The system's allocator, asked how much of it a thread has had at a time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// See the module.
pub(crate) struct Watched;

thread_local! {
    /// Bytes that are allocated and not given back, and the most that they were.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// What no file may hold, whatever it is: it ends the process.
const MOST: isize = 2 << 30;

/// The result, and the most bytes that this thread held at a time while it was made.
pub(crate) fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    LIVE.set(0);
    PEAK.set(0);
    let result = work();
    (result, PEAK.get() as usize)
}

/// Notes that so many bytes are about to be taken; false if those are too many.
fn take(bytes: isize) -> bool {
    // At the end of a thread there is nobody to tell.
    let live = LIVE.try_with(|live| live.get().saturating_add(bytes)).unwrap_or(0);
    if bytes > 0 && live > MOST {
        return false;
    }
    let _ = LIVE.try_with(|all| all.set(live));
    let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live)));
    true
}

/// The result of an allocation that was noted, which may have failed.
fn taken(place: *mut u8, bytes: isize) -> *mut u8 {
    if place.is_null() {
        take(-bytes);
    }
    place
}

// SAFETY: every call goes to the system's allocator as it came, or gives none.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size() as isize;
        if take(size) { taken(unsafe { System.alloc(layout) }, size) } else { std::ptr::null_mut() }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let size = layout.size() as isize;
        if take(size) { taken(unsafe { System.alloc_zeroed(layout) }, size) } else { std::ptr::null_mut() }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) }
        take(-(layout.size() as isize));
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let grown = size as isize - layout.size() as isize;
        if take(grown) {
            taken(unsafe { System.realloc(place, layout, size) }, grown)
        } else {
            std::ptr::null_mut()
        }
    }
}
