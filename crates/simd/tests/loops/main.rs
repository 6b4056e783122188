//! Every loop on every instruction set against plain definitions, in one binary.

mod loops;
mod sketches;
mod structured;
