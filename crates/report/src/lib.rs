//! Numbers in, one HTML page out.
//!
//! A [`Page`] holds text, tables and figures as plain data; [`Page::html`] writes one file that needs no network
//! and no script. Figures are inline SVG. They follow the reader's light or dark setting, shrink to a phone with
//! their text still readable, and tell series apart by shape as well as by colour. The same page gives the same
//! bytes.
//!
//! ```
//! use bochner_report::{Axis, Chart, Figure, Page, Series};
//!
//! let chart = Chart {
//!     x: Axis::log("features", ""),
//!     y: Axis::log("kernel error", ""),
//!     series: vec![Series::line("orthogonal", [(64.0, 0.11), (256.0, 0.05), (1024.0, 0.027)])],
//!     ..Chart::default()
//! };
//! let mut page = Page::new("How the error falls");
//! page.paragraph("More features, smaller error.");
//! page.figure(Figure::of("Error of the kernel, mean over 20 seeds.", chart));
//! assert!(page.html().contains("<svg"));
//! ```
//!
//! Numbers that are not finite are left out of a figure: a line breaks there. Nothing here fails or panics.

#![forbid(unsafe_code)]

mod axis;
mod bars;
mod chart;
mod drawing;
mod figure;
mod frame;
mod image;
mod label;
mod legend;
mod marker;
mod markup;
mod matrix;
mod number;
mod page;
mod raster;
mod reference;
mod svg;
mod table;
mod text;
mod tick;

pub use axis::{Axis, Scale};
pub use bars::{Bar, Bars};
pub use chart::{Chart, Level, Mark, Series};
pub use drawing::{Anchor, Drawing, Item, Paint, Shape, Style};
pub use figure::{Figure, Graphic, Panel};
pub use image::{Image, Images};
pub use matrix::Matrix;
pub use page::{Block, Page};
pub use raster::{ClassPoint, Raster};
pub use table::{Column, Table};
pub use text::{Span, Text};
