//! The tests of the library's claims, in a package of their own: they are compiled quickly, and
//! what they call at full speed.
//!
//! `tests/suite` has one module for each kind of claim and runs the examples of
//! `crates/core/examples`; `tests/memory.rs` measures the memory of processes of its own.
