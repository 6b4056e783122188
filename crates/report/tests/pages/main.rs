//! Pages, as text and in a browser, in one binary.

#[path = "../../examples/gallery.rs"]
#[allow(dead_code, reason = "the example's own main is not called here")]
mod gallery;

mod browser;
mod page;
