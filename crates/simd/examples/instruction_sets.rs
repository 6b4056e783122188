//! The instruction sets that have loops here and that this processor has, slowest first.
//!
//! `cargo run -p bochner-simd --example instruction_sets`; `--besides-the-best` leaves out the one that is used where none is named.

#![allow(clippy::print_stdout, reason = "an example prints")]

use bochner_simd::Isa;

fn main() {
    let mut names: Vec<_> = Isa::available().into_iter().map(Isa::name).collect();
    if std::env::args().any(|word| word == "--besides-the-best") {
        names.pop();
    }
    names.iter().for_each(|name| println!("{name}"));
}
