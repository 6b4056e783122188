//! A page with every kind of figure. The numbers are from formulas, for show only.
//!
//! `cargo run -p bochner-report --example gallery -- gallery.html`

use std::f64::consts::TAU;

use bochner_report::{
    Anchor, Axis, Bar, Bars, Block, Chart, ClassPoint, Column, Drawing, Figure, Image, Images, Level, Matrix,
    Page, Paint, Panel, Raster, Series, Style, Table, Text,
};

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "gallery.html".to_owned());
    std::fs::write(path, page().html())
}

/// The page.
pub(crate) fn page() -> Page {
    let mut page = Page::new("A gallery of figures");
    page.subtitle = "Every kind of figure and table that a report can hold".to_owned();
    page.intro = vec![
        "Kernels compare things; features make them cheap. The figures below show how the error of a feature map \
         falls, what a classifier has learned, and how a random grid becomes a kernel."
            .into(),
        Text::from("Every number here comes from a formula. ").strong("Nothing was measured."),
    ];
    page.heading("Lines, bands and bounds");
    page.paragraph(
        Text::from("The error of ")
            .code("gaussian(sigma=2)")
            .plain(" falls as 1/√")
            .emphasis("D")
            .plain(". Bands hold nine of ten seeds; the dashed line is the bound that holds before looking."),
    );
    page.figure(Figure::of(
        "Largest kernel error over all pairs of 200 rows, against the number of features D.",
        errors(),
    ));
    page.table(table());
    page.figure(Figure::panels(
        "What a fit costs. Linear and logarithmic axes may be mixed; each panel has its own legend if they differ.",
        [Panel::new("Time on two cores", times()), Panel::new("Three kernels", kernels())],
    ));
    page.figure(Figure::of("A fit of forty noisy values, with its interval of nine in ten.", regression()));
    page.heading("Decision surfaces");
    page.paragraph("A raster shows which class wins where. Panels that share a legend show it once.");
    page.figure(Figure::panels(
        "The same points under three widths of the kernel: too narrow, chosen, too wide.",
        [("σ = 0.1", 0.12), ("σ = 0.5", 0.5), ("σ = 3", 2.2)]
            .map(|(title, width)| Panel::new(title, moons(width))),
    ));
    page.figure(Figure::of("Nine classes on a grid of 120 by 80.", mosaic()));
    page.heading("Images");
    page.figure(Figure::of(
        "Digits of eight by eight pixels and what was read; misread ones are framed.",
        digits(),
    ));
    page.heading("Illustrations");
    page.figure(Figure::panels(
        "From a line to a kernel. A frequency wraps the line around a circle; a shifted grid cuts it into bins; \
         points in one bin are joined in the matrix.",
        [
            Panel::new("A line wrapped around a circle", wrapped()),
            Panel::new("Three shifted grids", grids()),
            Panel::new("How often points share a bin", shared()),
        ],
    ));
    page.heading("Amounts and signs");
    page.figure(Figure::of("What each column adds.", importances()));
    page.figure(Figure::of(
        "Three directions: orange where a column adds, blue where it takes away.",
        directions(),
    ));
    page.subheading("Listings");
    page.list(["A list item.".into(), Text::from("Another, with ").code("code").plain(".")]);
    page.preformatted("$ bochner fit waves.csv --target y --features 2048 --report waves.html\nkernel error   bound 0.11, measured 0.018 ± 0.002\n");
    page.made = vec![
        Block::Paragraph(
            "Written by the example gallery of bochner-report; the same input gives the same bytes.".into(),
        ),
        Block::Preformatted("cargo run -p bochner-report --example gallery".to_owned()),
    ];
    page
}

/// Numbers that look random and are always the same.
fn noise(i: usize) -> f64 {
    let x = (i as f64 * 12.9898 + 4.1414).sin() * 43_758.545_3;
    2.0 * (x - x.floor()) - 1.0
}

fn errors() -> Chart {
    let features = [64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0];
    let falling = |scale: f64, seed: usize| -> Vec<(f64, f64)> {
        features
            .iter()
            .enumerate()
            .map(|(i, &d): (usize, &f64)| (d, scale / d.sqrt() * (1.0 + 0.06 * noise(seed + i))))
            .collect()
    };
    let banded = |label, scale, seed| {
        let line = Series::line(label, falling(scale, seed));
        let band = line.points.iter().map(|&(_, y)| (0.8 * y, 1.27 * y)).collect();
        Series { band, ..line }
    };
    let bound: Vec<_> = features.iter().map(|&d: &f64| (d, 6.0 / d.sqrt())).collect();
    Chart {
        x: Axis::log("features D", ""),
        y: Axis::log("largest kernel error", ""),
        series: vec![
            banded("independent frequencies", 1.9, 1),
            banded("orthogonal frequencies", 1.05, 20),
            Series::line("landmarks", features.map(|d| (d, 9.0 / d))),
            Series { colour: Some(0), ..Series::dashed("bound, independent", bound) },
        ],
        levels: vec![Level::new("asked for: 0.02", 0.02)],
    }
}

fn times() -> Chart {
    let rows = [1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6];
    Chart {
        x: Axis::log("rows", ""),
        y: Axis::log("time of a fit", "s"),
        series: vec![
            Series::line(
                "exact",
                rows[..4].iter().map(|n| (*n, 2e-10 * n * n * n + 0.01)).collect::<Vec<_>>(),
            ),
            Series::line("2,048 features", rows.map(|n| (n, 0.05 + 1.1e-5 * n))),
            Series::line("512 features", rows.map(|n| (n, 0.01 + 1.4e-6 * n))),
        ],
        levels: vec![Level::new("one minute", 60.0)],
    }
}

fn kernels() -> Chart {
    let curve =
        |f: fn(f64) -> f64| (0..=120).map(|i| f64::from(i) / 30.0).map(|r| (r, f(r))).collect::<Vec<_>>();
    Chart {
        x: Axis::linear("distance ‖x − y‖", "").between(0.0, 4.0),
        y: Axis::linear("kernel", "").between(0.0, 1.0),
        series: vec![
            Series::curve("Gaussian", curve(|r| (-0.5 * r * r).exp())),
            Series::curve("Matérn 3/2", curve(|r| (1.0 + 3f64.sqrt() * r) * (-(3f64.sqrt()) * r).exp())),
            Series::curve("Laplace", curve(|r| (-r).exp())),
        ],
        ..Chart::default()
    }
}

fn regression() -> Chart {
    let truth = |x: f64| (2.2 * x).sin() * (-0.15 * x).exp() + 0.2 * x;
    let spread = |x: f64| 0.16 + 0.05 * (x - 3.0).powi(2) / 3.0;
    let grid: Vec<f64> = (0..=160).map(|i| f64::from(i) * 0.0375).collect();
    let points = (0..40).map(|i| {
        let x = 0.15 * i as f64 + 0.07 * noise(i + 300);
        (x, truth(x) + 0.16 * noise(i + 80))
    });
    let fit =
        Series::curve("prediction and interval", grid.iter().map(|&x| (x, truth(x))).collect::<Vec<_>>());
    let band = grid.iter().map(|&x| (truth(x) - spread(x), truth(x) + spread(x))).collect();
    Chart {
        x: Axis::linear("time", "days"),
        y: Axis::linear("temperature above the mean", "°C"),
        series: vec![
            Series { band, ..fit },
            Series { colour: Some(6), ..Series::scatter("measured", points.collect::<Vec<_>>()) },
        ],
        levels: vec![Level::new("mean", 0.0)],
    }
}

fn moon(i: usize) -> ClassPoint {
    let (class, t) = (i % 2, 0.5 * TAU * (i as f64 / 60.0));
    let (dx, dy) = (0.16 * noise(i + 7), 0.16 * noise(i + 500));
    match class {
        0 => ClassPoint { x: t.cos() + dx, y: t.sin() + dy, class: 0 },
        _ => ClassPoint { x: 1.0 - t.cos() + dx, y: 0.5 - t.sin() + dy, class: 1 },
    }
}

fn moons(width: f64) -> Raster {
    let points: Vec<ClassPoint> = (0..60).map(moon).collect();
    let score = |x: f64, y: f64| -> f64 {
        let near = |p: &ClassPoint| (-((p.x - x).powi(2) + (p.y - y).powi(2)) / (2.0 * width * width)).exp();
        points.iter().map(|p| if p.class == 0 { near(p) } else { -near(p) }).sum()
    };
    let (x, y) = (Axis::linear("x₁", "").between(-1.5, 2.5), Axis::linear("x₂", "").between(-1.2, 1.8));
    let surface = Raster::sample(x, y, (120, 90), |x, y| u8::from(score(x, y) < 0.0));
    Raster { classes: vec!["upper moon".to_owned(), "lower moon".to_owned()], points, ..surface }
}

fn mosaic() -> Raster {
    let centres: Vec<(f64, f64)> =
        (0..27).map(|i| (6.0 * (0.5 + 0.5 * noise(i)), 4.0 * (0.5 + 0.5 * noise(i + 40)))).collect();
    let nearest = |x: f64, y: f64| {
        let distance =
            |i: usize| (centres[i].0 - x).hypot(centres[i].1 - y) + 0.12 * (5.0 * x + i as f64).sin();
        let best = (0..centres.len()).min_by(|&i, &j| distance(i).total_cmp(&distance(j)));
        (best.unwrap_or(0) % 9) as u8
    };
    let points = (0..90).map(|i| {
        let (x, y) = (3.0 + 2.95 * noise(i + 900), 2.0 + 1.95 * noise(i + 1300));
        ClassPoint { x, y, class: nearest(x, y) }
    });
    let points = points.collect();
    let (x, y) =
        (Axis::linear("length", "cm").between(0.0, 6.0), Axis::linear("width", "cm").between(0.0, 4.0));
    let names = ["oak", "beech", "birch", "alder", "elm", "ash", "lime", "maple", "hazel"];
    Raster { classes: names.map(str::to_owned).to_vec(), points, ..Raster::sample(x, y, (120, 80), nearest) }
}

/// Strokes of the digits on a board of 8×8, blurred a little.
fn digits() -> Images {
    let rows: [[u8; 8]; 5] = [
        [0x3c, 0x66, 0x42, 0x42, 0x42, 0x42, 0x66, 0x3c],
        [0x08, 0x18, 0x38, 0x08, 0x08, 0x08, 0x08, 0x1c],
        [0x3c, 0x46, 0x06, 0x0c, 0x18, 0x30, 0x60, 0x7e],
        [0x3c, 0x46, 0x06, 0x1c, 0x06, 0x06, 0x46, 0x3c],
        [0x0c, 0x1c, 0x2c, 0x4c, 0x7e, 0x0c, 0x0c, 0x0c],
    ];
    let pixel = |digit: usize, i: i32, j: i32| -> f64 {
        let inside = (0..8).contains(&i) && (0..8).contains(&j);
        if inside && rows[digit][i as usize] >> (7 - j) & 1 == 1 { 16.0 } else { 0.0 }
    };
    let image = |k: usize| {
        let digit = k % 5;
        let values = (0..64).map(|p| {
            let (i, j) = (p / 8, p % 8);
            let around = pixel(digit, i - 1, j)
                + pixel(digit, i + 1, j)
                + pixel(digit, i, j - 1)
                + pixel(digit, i, j + 1);
            (0.7 * pixel(digit, i, j) + 0.09 * around + 1.5 * noise(64 * k + p as usize))
                .clamp(0.0, 16.0)
                .round()
        });
        let marked = k == 8 || k == 12;
        let label = if marked { format!("{digit} as {}", (digit + 5) % 10) } else { digit.to_string() };
        Image { columns: 8, values: values.collect(), label, marked }
    };
    Images { images: (0..20).map(image).collect(), range: (0.0, 16.0) }
}

fn wrapped() -> Drawing {
    let mut drawing = Drawing::new((-1.9, 1.9), (-1.7, 1.75));
    drawing.description = "A spiral line around a circle with four points on it.".to_owned();
    drawing.circle((0.0, 0.0), 1.0, Style { width: 1.0, ..Style::stroke(Paint::Muted) });
    let spiral = |t: f64| (TAU * t).sin_cos();
    let line = (0..=200).map(|i| f64::from(i) / 80.0).map(|t| {
        let ((sin, cos), r) = (spiral(t), 1.12 + 0.13 * t);
        (r * cos, r * sin)
    });
    drawing.polyline(line.collect::<Vec<_>>(), Style { width: 1.8, ..Style::stroke(Paint::Colour(0)) });
    for (t, name) in [(0.08, "x"), (0.3, "y")] {
        let (sin, cos) = spiral(t);
        drawing.line(
            (0.0, 0.0),
            (cos, sin),
            Style { dashed: true, width: 1.0, ..Style::stroke(Paint::Muted) },
        );
        drawing.dot((cos, sin), Paint::Colour(1));
        drawing.text(
            (0.8 * cos + 0.12 * sin, 0.8 * sin - 0.18 * cos.abs()),
            name,
            Anchor::Middle,
            Paint::Ink,
        );
    }
    drawing.arrow((-0.25, -0.45), (0.35, -0.45), Style::stroke(Paint::Ink));
    drawing.text((0.05, -0.65), "ω", Anchor::Middle, Paint::Ink);
    drawing
}

const POINTS: [f64; 8] = [0.4, 0.9, 1.3, 2.2, 2.5, 3.6, 4.1, 4.5];
const SHIFTS: [f64; 3] = [0.15, 0.55, 0.85];

fn grids() -> Drawing {
    let mut drawing = Drawing::new((-0.15, 5.0), (-0.45, 3.3));
    drawing.x = Axis { hidden: false, ..Axis::linear("x", "").between(-0.15, 5.0) };
    drawing.ratio = Some(0.82);
    for x in POINTS {
        drawing.line((x, -0.45), (x, 3.1), Style { width: 1.0, dashed: true, ..Style::stroke(Paint::Faint) });
    }
    for (row, shift) in SHIFTS.iter().enumerate() {
        let y = row as f64 + 0.2;
        for bin in -1..5 {
            let (left, right) = (f64::from(bin) + shift, f64::from(bin + 1) + shift);
            let style = Style { stroke: Paint::Paper, width: 2.0, ..Style::fill(Paint::Tint(2 * row)) };
            drawing.rectangle((left.max(-0.15), y), (right.min(5.0), y + 0.6), style);
        }
        for x in POINTS {
            drawing.dot((x, y + 0.3), Paint::Ink);
        }
    }
    drawing
}

fn shared() -> Matrix {
    let same = |a: f64, b: f64| {
        SHIFTS.iter().filter(|&&s| (a - s).floor().total_cmp(&(b - s).floor()).is_eq()).count()
    };
    let values = POINTS.iter().flat_map(|&a| POINTS.iter().map(move |&b| same(a, b) as f64 / 3.0)).collect();
    let names: Vec<String> = (1..=8).map(|i| i.to_string()).collect();
    Matrix {
        columns: 8,
        values,
        range: Some((0.0, 1.0)),
        row_labels: names.clone(),
        column_labels: names,
        ..Matrix::default()
    }
}

const COLUMNS: [&str; 5] =
    ["hour", "temperature", "a column with a name that is far too long to be shown", "month", "wind"];

fn importances() -> Bars {
    let bar = |(name, value): (&str, f64)| Bar {
        name: name.to_owned(),
        value,
        text: format!("{:.0} %", 100.0 * value),
    };
    Bars { bars: COLUMNS.into_iter().zip([0.55, 0.25, 0.12, 0.06, 0.02]).map(bar).collect() }
}

fn directions() -> Matrix {
    let values = vec![0.9, 0.1, 0.0, 0.4, -0.8, 0.2, -0.1, 0.5, 0.3, 0.0, 0.3, -0.9, 0.1, -0.1, 0.2];
    Matrix {
        columns: 3,
        texts: values.iter().map(|value| format!("{value:.1}").replace('-', "−")).collect(),
        values,
        row_labels: COLUMNS.map(str::to_owned).to_vec(),
        column_labels: ["first", "second", "third"].map(str::to_owned).to_vec(),
        signed: true,
        ..Matrix::default()
    }
}

fn table() -> Table {
    let row = |cells: [&str; 5]| cells.map(str::to_owned).to_vec();
    Table {
        caption: "Error, time and size of four maps on 20,000 rows.".into(),
        columns: vec![
            Column::text("map"),
            Column::number("features"),
            Column::number("largest error"),
            Column::number("time (s)"),
            Column::number("model (KiB)"),
        ],
        rows: vec![
            row(["independent frequencies", "2,048", "0.0421", "0.61", "16.4"]),
            row(["orthogonal frequencies", "2,048", "0.0233", "0.64", "16.4"]),
            row(["landmarks", "2,048", "0.0044", "1.92", "1,040.0"]),
            row(["random binning", "8,192", "0.0310", "0.35", "96.1"]),
        ],
        highlighted: vec![1],
    }
}
