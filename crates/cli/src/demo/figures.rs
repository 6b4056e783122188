//! The figures of the digits experiment, drawn from the maps and models themselves.

use bochner::learn::Pca;
use bochner::stat::Sample;
use bochner::{
    Bins, Engine, ExactSvm, FourierForm, FrequencyDraw, Kernel, MapSpec, Matrix, Method, Model, Rows,
};
use bochner_report::{
    Anchor, Axis, Chart, ClassPoint, Drawing, Figure, Image, Images, Level, Matrix as Cells, Paint, Panel,
    Raster, Series, Style,
};

use super::digits::{CLASSES, Digits};
use super::experiment::{Curve, Experiment, FEATURES, fourier, gaussian, mean, svm};
use crate::exit::Failure;

/// Points on the line of Figure 1.
const BEADS: usize = 9;

/// Figure 1: what a frequency does to a line.
pub(super) fn circle(engine: &Engine) -> Result<Figure, Failure> {
    let frequencies = 3;
    let kernel = Kernel::gaussian(1.0);
    let method = fourier(FourierForm::Pairs, FrequencyDraw::Independent);
    let map = MapSpec { kernel, method, features: 2 * frequencies, seed: 3 }.build(1)?;
    let beads = Matrix::from_fn(BEADS, 1, |i, _| i as f64 / 3.0);
    let z = map.transform(engine, &Rows::from(&beads))?;
    let mut line = Drawing::new((-0.4, 3.1), (-1.0, 1.0));
    line.description = "Nine points on a line.".to_owned();
    line.arrow((-0.3, 0.0), (3.0, 0.0), Style::stroke(Paint::Muted));
    for i in 0..BEADS {
        line.dot((beads.row(i)[0], 0.0), Paint::Colour(i));
    }
    for i in [0, 3, 6] {
        line.text((beads.row(i)[0], -0.35), beads.row(i)[0].to_string(), Anchor::Middle, Paint::Muted);
    }
    let mut panels = vec![Panel::new("the line x", line)];
    // A feature is 1/√m times a coordinate of the circle.
    let size = (frequencies as f64).sqrt();
    for f in 0..frequencies {
        let mut circle = Drawing::new((-1.35, 1.35), (-1.35, 1.35));
        circle.description = "The same points on a circle.".to_owned();
        circle.circle((0.0, 0.0), 1.0, Style::stroke(Paint::Muted));
        for i in 0..BEADS {
            let at = (size * z.row(i)[2 * f], size * z.row(i)[2 * f + 1]);
            circle.dot(at, Paint::Colour(i));
        }
        panels.push(Panel::new(["wrapped by ω₁", "by ω₂", "by ω₃"][f], circle));
    }
    let caption = "A frequency ω wraps the line around a circle: x ↦ (cos ωx, sin ωx). Points that are near on the line are near on every \
                   circle; points that are far apart are near on some. The mean of the inner products over random frequencies is the kernel.";
    Ok(Figure::panels(caption, panels))
}

/// Points of Figure 2.
const POINTS: usize = 14;

/// Figure 2: grids over points on a line, and who shares a cell.
pub(super) fn grids(engine: &Engine) -> Result<Figure, Failure> {
    let kernel = Kernel::laplace(1.5);
    // Unevenly spread, in order.
    let place = |i: usize| 0.25 * i as f64 + 0.5 * (1.7 * i as f64).sin() / 2.0 + 0.3;
    let points = Matrix::from_fn(POINTS, 1, |i, _| place(i));
    let fine = Matrix::from_fn(721, 1, |i, _| i as f64 / 180.0);
    let bins = |grids: usize| -> Result<_, Failure> {
        let method = Method::Binning { bins: Bins::Fitted };
        let spec = MapSpec { kernel: kernel.clone(), method, features: grids, seed: 1 };
        let none = vec![0.0; fine.rows()];
        let sample = Sample::of(engine, &(&fine, &none), fine.rows() + 1, 0)?;
        Ok(spec.fit(engine, &sample)?)
    };
    let few = bins(4)?;
    let cells = few.transform_sparse(engine, &Rows::from(&fine))?;
    let mut drawing = Drawing::new((-0.25, 4.05), (-0.6, 4.6));
    drawing.ratio = Some(0.8);
    drawing.description = "Four random grids over points on a line.".to_owned();
    for g in 0..4 {
        let y = 3.9 - g as f64;
        drawing.line((0.0, y), (4.0, y), Style::stroke(Paint::Muted));
        let cell = |i: usize| cells.view().row(i).0[g];
        for i in 1..fine.rows() {
            if cell(i) != cell(i - 1) {
                let x = fine.row(i)[0];
                drawing.line((x, y - 0.25), (x, y + 0.25), Style { width: 1.5, ..Style::stroke(Paint::Ink) });
            }
        }
        for i in 0..POINTS {
            let at = (points.row(i)[0] * 180.0).round() as usize;
            let colour = cell(at.min(720)) as usize % 8;
            drawing.dot((points.row(i)[0], y), Paint::Colour(colour));
        }
        drawing.text((-0.1, y - 0.08), ["1", "2", "3", "4"][g], Anchor::End, Paint::Muted);
    }
    drawing.text((2.0, 0.0), "points in one cell of a grid have one colour", Anchor::Middle, Paint::Muted);
    let shared = |grids: usize| -> Result<Cells, Failure> {
        let z = bins(grids)?.transform_sparse(engine, &Rows::from(&points))?;
        let rows = Rows::from(&z);
        let value = |i: usize| Kernel::Linear.eval(&rows, i / POINTS, &rows, i % POINTS);
        Ok(matrix((0..POINTS * POINTS).map(value).collect()))
    };
    let exact = kernel.gram(engine, &Rows::from(&points), &Rows::from(&points))?;
    let panels = [
        Panel::new("four grids", drawing),
        Panel::new("share of 4 grids", shared(4)?),
        Panel::new("share of 400", shared(400)?),
        Panel::new("the kernel", matrix(exact.into_vec())),
    ];
    let caption = "Random grids over 14 points on a line, with pitches from a Gamma law and uniform shifts; beside them, for each pair of points, \
                   the share of grids in which both lie in one cell. With more grids the shares become the Laplace kernel exp(−|x − y|/1.5).";
    Ok(Figure::panels(caption, panels))
}

fn matrix(values: Vec<f64>) -> Cells {
    Cells { columns: POINTS, values, range: Some((0.0, 1.0)), ..Cells::default() }
}

/// Figure 3: two of each class.
pub(super) fn images(digits: &Digits) -> Figure {
    let of_class =
        |class: usize| (0..digits.classes.len()).filter(move |&i| digits.classes[i] == class).take(2);
    let chosen: Vec<usize> =
        (0..2).flat_map(|k| (0..CLASSES).filter_map(move |class| of_class(class).nth(k))).collect();
    let image = |i: usize| Image {
        columns: 8,
        values: digits.images.row(i).to_vec(),
        label: digits.classes[i].to_string(),
        marked: false,
    };
    let images = Images { images: chosen.into_iter().map(image).collect(), range: (0.0, 16.0) };
    Figure::of("Two digits of each class: 8 × 8 pixels with values from 0 to 16.", images)
}

/// Figure 4: accuracy and time against the number of features.
pub(super) fn accuracy(found: &Experiment) -> Figure {
    let line = |name: &str| found.table.iter().find(|line| line.name == name);
    let band = |curve: &Curve| -> Vec<(f64, f64)> {
        let ends = |values: &[f64]| {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            (100.0 * low, 100.0 * values.iter().copied().fold(0.0, f64::max))
        };
        curve.points.iter().map(|point| ends(&point.accuracies)).collect()
    };
    let accuracies = |curve: &Curve| {
        let points: Vec<(f64, f64)> =
            curve.points.iter().map(|p| (p.features as f64, 100.0 * mean(&p.accuracies))).collect();
        Series { band: band(curve), ..Series::line(curve.name, points) }
    };
    let times = |curve: &Curve| {
        let points: Vec<(f64, f64)> =
            curve.points.iter().map(|p| (p.features as f64, 1e3 * p.seconds)).collect();
        Series::line(curve.name, points)
    };
    let exact = ["exact SVM, Gaussian", "exact SVM, Laplace", "linear SVM on pixels"];
    let levels = |value: fn(&super::experiment::Line) -> f64| -> Vec<Level> {
        exact.iter().filter_map(|name| line(name)).map(|line| Level::new(line.name, value(line))).collect()
    };
    let (x, unit) = (|| Axis::log("features D, or grids P", ""), "%");
    let panels = [
        Panel::new(
            "Accuracy",
            Chart {
                x: x(),
                y: Axis::linear("accuracy on the test half", unit),
                series: found.curves.iter().map(accuracies).collect(),
                levels: levels(|line| 100.0 * line.accuracy),
            },
        ),
        Panel::new(
            "Time",
            Chart {
                x: x(),
                y: Axis::log("time to train", "ms"),
                series: found.curves.iter().map(times).collect(),
                levels: levels(|line| 1e3 * line.seconds),
            },
        ),
    ];
    let caption = format!(
        "Accuracy (mean, and from the lowest to the highest seed) and time to train against the number of features; {} seeds at {FEATURES}, at most five \
         elsewhere. The time of the exact machine grows with n², that of the others with n: with so few rows it has nothing to lose.",
        found.seeds
    );
    Figure::panels(caption, panels)
}

/// Figure 5: the plane of the first two principal components, as some models see it.
pub(super) fn surfaces(engine: &Engine, digits: &Digits, found: &Experiment) -> Result<Figure, Failure> {
    let (training, quiet) = (digits.training.source()?, engine.quiet());
    let plane = Pca { components: 2 }.fit(&quiet, &training)?;
    let spots = plane.coordinates(&Rows::from(&digits.training.x))?;
    let range = |k: usize| {
        let values = (0..spots.rows()).map(|i| spots.row(i)[k]);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        (low - 0.1 * (high - low), high + 0.1 * (high - low))
    };
    let (across, up) = (range(0), range(1));
    let axis = |label: &str, (low, high): (f64, f64)| Axis::linear(label, "").between(low, high);
    let laplace = Kernel::laplace(found.binning.scale);
    let approximate = |kernel, method, cost| -> Result<Model, Failure> {
        let map = MapSpec { kernel, method, features: FEATURES, seed: found.seed };
        Ok(svm(digits, map, cost).fit(&quiet, &training)?)
    };
    let exact = |kernel, cost| -> Result<Model, Failure> {
        Ok(ExactSvm { cost, ..ExactSvm::new(kernel) }.fit(&quiet, &training)?)
    };
    let orthogonal = fourier(FourierForm::Pairs, FrequencyDraw::Orthogonal);
    let binning = Method::Binning { bins: Bins::Fitted };
    let models = [
        ("exact, Gaussian", exact(gaussian(), 1.0)?),
        ("orthogonal Fourier, 270", approximate(gaussian(), orthogonal, 1.0)?),
        ("exact, Laplace", exact(laplace.clone(), found.binning.cost)?),
        ("binning, 270 grids", approximate(laplace, binning, found.binning.cost)?),
    ];
    /// Cells of a panel.
    const SIZE: (usize, usize) = (120, 90);
    let mut panels = Vec::new();
    for (name, model) in models {
        let center = |(low, high): (f64, f64), at: usize, of: usize| {
            low + (high - low) * (at as f64 + 0.5) / of as f64
        };
        let mut points = Vec::with_capacity(SIZE.0 * SIZE.1 * digits.training.x.columns());
        for row in 0..SIZE.1 {
            for column in 0..SIZE.0 {
                let at = [center(across, column, SIZE.0), center(up, SIZE.1 - 1 - row, SIZE.1)];
                points.extend(plane.point(&at));
            }
        }
        let points = Matrix::new(SIZE.0 * SIZE.1, digits.training.x.columns(), points)?;
        let classes = model.classes(&model.decide(&quiet, Rows::from(&points))?);
        let point = |i: usize| ClassPoint {
            x: spots.row(i)[0],
            y: spots.row(i)[1],
            class: digits.training.class(i) as u8,
        };
        let raster = Raster {
            columns: SIZE.0,
            cells: classes.into_iter().map(|class| class as u8).collect(),
            classes: (0..CLASSES).map(|class| class.to_string()).collect(),
            points: (0..spots.rows()).step_by(5).map(point).collect(),
            x: axis("first principal component", across),
            y: axis("second", up),
        };
        panels.push(Panel::new(name, raster));
    }
    let share = 100.0 * plane.variances.iter().sum::<f64>() / plane.total;
    let caption = format!(
        "Decisions on the plane of the first two principal components, which hold {share:.0} % of the variance. The models see all 64 pixels; \
         the plane is a cut through their space, and the points, every fifth digit of the training half, are projected on it."
    );
    Ok(Figure::panels(caption, panels))
}

/// Figure 6: kernel error and bounds against the number of features.
pub(super) fn kernel_errors(found: &Experiment) -> Figure {
    let series = |k: usize, colour: usize, value: fn(&super::approximation::ErrorPoint) -> Option<f64>| {
        let points: Vec<(f64, f64)> = found.kernel_errors[k]
            .points
            .iter()
            .filter_map(|point| Some((point.features as f64, value(point)?)))
            .collect();
        (points, Some(colour))
    };
    let with_bounds = |k: usize| {
        let (typical, colour) = series(k, 0, |p| Some(p.typical));
        let (largest, second) = series(k, 1, |p| Some(p.largest));
        let (one, third) = series(k, 2, |p| p.one_pair);
        let (all, fourth) = series(k, 3, |p| p.all_pairs);
        Chart {
            x: Axis::log("features D, or grids P", ""),
            y: Axis::log("kernel error", ""),
            series: vec![
                Series { colour, ..Series::line("typical (root of the mean square)", typical) },
                Series { colour: second, ..Series::line("largest of all pairs", largest) },
                Series { colour: third, ..Series::dashed("bound for one pair (Hoeffding), 95 %", one) },
                Series { colour: fourth, ..Series::dashed("bound for all pairs, 95 %", all) },
            ],
            levels: Vec::new(),
        }
    };
    let compared = Chart {
        x: Axis::log("features D", ""),
        y: Axis::log("typical kernel error", ""),
        series: (0..3)
            .map(|k| {
                let (points, colour) = series(k, k, |p| Some(p.typical));
                Series { colour, ..Series::line(found.kernel_errors[k].name, points) }
            })
            .collect(),
        levels: Vec::new(),
    };
    let panels = [
        Panel::new("Gaussian, Fourier pairs", with_bounds(0)),
        Panel::new("Laplace, binning", with_bounds(3)),
        Panel::new("Pairs and offsets", compared),
    ];
    let caption = "Kernel error on all pairs of 200 test digits, three seeds, under the bounds that hold for it: of one pair (Hoeffding) and of all \
                   pairs at once (finite set), each with probability 95 %. Pairs (cos, sin) vary less than offsets for the Gaussian, but by little where k is \
                   small, as it is for most digits: less than three seeds can show; orthogonal frequencies are nearer.";
    Figure::panels(caption, panels)
}
