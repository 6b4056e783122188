//! Files, messages and laws of the readers, in one binary.

mod file;
mod message;
mod property;
