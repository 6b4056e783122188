//! Files, messages and laws of the readers, in one binary.

mod arrow;
mod compression;
mod content;
mod encoding;
mod file;
mod many;
mod message;
mod property;

use std::sync::LazyLock;

use bochner::Engine;

/// What readers run on.
static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::default);
