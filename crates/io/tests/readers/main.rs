//! Files, messages and laws of the readers, in one binary.

mod arrow;
mod compression;
mod content;
mod encoding;
mod file;
mod hostile;
mod ipc;
mod json;
mod many;
mod message;
mod parquet;
mod property;
mod threads;

use std::sync::LazyLock;

use bochner::Engine;

/// What readers run on.
static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::default);

#[global_allocator]
static ALLOCATOR: hostile::allocator::Watched = hostile::allocator::Watched;
