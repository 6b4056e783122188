//! The linear kernel: the rows themselves are its features.
//!
//! ```text
//! k(x, y) = x·y
//! ```

use super::Form;

pub(super) fn form() -> Form {
    Form::Product
}
