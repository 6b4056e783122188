//! Six ways to run the same stochastic gradient descent, and what each costs.
//!
//! ```text
//!    features or values               time, T steps     memory beyond the data
//! ①  exact           on the fly       T·d·D             D
//! ②  exact-cached    once a row       n·d·D + T·D       n·D            D: features of the kernel's own map, if it has finitely many
//! ③  kernel          on the fly       T·n·d             n
//! ④  kernel-cached   once a pair      n²·d + T·n        n²
//! ⑤  map             on the fly       T·d·D             d·D            D: features of the map that approximates
//! ⑥  map-cached      once a row       n·d·D + T·D       n·D + d·D
//! ```
//! ① to ④ give one model, up to rounding; ⑤ and ⑥ another. Figures are counts, not orders: [`Workload::figures`] is what [`Sgd`](crate::Sgd) counts while it
//! works, to the last multiply-add. A feature counts as one multiply-add for each stored entry of its row, a kernel value as one for each stored entry of one of its
//! two rows, whatever a map or kernel makes of them afterwards. Reading and sorting the rows is not counted. `docs/book/strategies.md`.

mod table;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use self::table::StrategyTable;
use crate::{Error, Kernel, MapSpec, Method, Result};

/// Rows that share one read of a map, or of all rows: as many as a register tile of kernel values is wide.
pub(crate) const TOGETHER: usize = 16;

/// Visits whose features or values are made at once where they are not kept. The visits to come are known, being drawn by their numbers.
pub(crate) const ROUND: usize = 4 * TOGETHER;

/// Where features or kernel values come from while weights are learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// ① Features of the kernel's own finite map, made at each visit.
    Exact,
    /// ② The same, made once for each row and kept.
    ExactCached,
    /// ③ Kernel values with all rows, made at each visit.
    Kernel,
    /// ④ The same, made once for each row and kept: the Gram matrix.
    KernelCached,
    /// ⑤ Features of a map that approximates the kernel, made at each visit.
    Map,
    /// ⑥ The same, made once for each row and kept.
    MapCached,
}

impl Strategy {
    /// In the order of the notes.
    pub const ALL: [Strategy; 6] = [
        Strategy::Exact,
        Strategy::ExactCached,
        Strategy::Kernel,
        Strategy::KernelCached,
        Strategy::Map,
        Strategy::MapCached,
    ];

    /// Its word.
    pub fn text(self) -> &'static str {
        match self {
            Strategy::Exact => "exact",
            Strategy::ExactCached => "exact-cached",
            Strategy::Kernel => "kernel",
            Strategy::KernelCached => "kernel-cached",
            Strategy::Map => "map",
            Strategy::MapCached => "map-cached",
        }
    }

    /// Its sign in the notes.
    pub fn sign(self) -> char {
        match self {
            Strategy::Exact => '①',
            Strategy::ExactCached => '②',
            Strategy::Kernel => '③',
            Strategy::KernelCached => '④',
            Strategy::Map => '⑤',
            Strategy::MapCached => '⑥',
        }
    }

    /// Whether what is made of a row is kept.
    pub fn is_cached(self) -> bool {
        matches!(self, Strategy::ExactCached | Strategy::KernelCached | Strategy::MapCached)
    }

    /// Whether the model is that of the kernel itself.
    pub fn is_exact(self) -> bool {
        !self.uses_map()
    }

    /// Whether it needs a finite map of the kernel's own.
    pub fn uses_exact_features(self) -> bool {
        matches!(self, Strategy::Exact | Strategy::ExactCached)
    }

    /// Whether it works with kernel values.
    pub fn uses_kernel(self) -> bool {
        matches!(self, Strategy::Kernel | Strategy::KernelCached)
    }

    /// Whether it works with a map that approximates.
    pub fn uses_map(self) -> bool {
        matches!(self, Strategy::Map | Strategy::MapCached)
    }

    /// Time and memory as the notes have them.
    fn orders(self) -> (&'static str, &'static str) {
        match self {
            Strategy::Exact => ("T·d·D", "D"),
            Strategy::ExactCached => ("n·d·D + T·D", "n·D"),
            Strategy::Kernel => ("T·n·d", "n"),
            Strategy::KernelCached => ("n²·d + T·n", "n²"),
            Strategy::Map => ("T·d·D", "d·D"),
            Strategy::MapCached => ("n·d·D + T·D", "n·D + d·D"),
        }
    }

    /// What is said where the kernel's own features are infinitely many.
    pub(crate) fn refused(self, kernel: Option<&Kernel>) -> Error {
        let of = kernel.map_or_else(|| "this kernel".to_owned(), Kernel::to_string);
        Error::Unsupported {
            what: format!("strategy {self} of {of}"),
            reason: "its own features are infinitely many",
            instead: "take its values (kernel, kernel-cached) or a map that approximates it (map, map-cached)",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl FromStr for Strategy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Strategy> {
        let word = text.trim().replace('_', "-");
        Strategy::ALL.into_iter().find(|strategy| strategy.text() == word).ok_or_else(|| Error::Parameter {
            name: "strategy",
            expected: "exact, exact-cached, kernel, kernel-cached, map or map-cached",
            found: text.to_owned(),
        })
    }
}

/// The number of features of the kernel's own map for rows of so many columns; none if they are infinitely many.
pub fn exact_features(kernel: &Kernel, inputs: usize) -> Result<Option<u64>> {
    let spec = MapSpec { kernel: kernel.clone(), method: Method::Exact, features: 1, seed: 0 };
    spec.kernel.validate()?;
    match spec.recipe(inputs) {
        Ok(recipe) => Ok(recipe.map(|recipe| recipe.features as u64)),
        Err(Error::Unsupported { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The shape of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// n: distinct rows.
    pub rows: u64,
    /// d: columns.
    pub inputs: u64,
    /// Stored entries of all rows: n·d where they are dense.
    pub entries: u64,
    /// D of the map that approximates.
    pub features: u64,
    /// D of the kernel's own map; none if that is infinite.
    pub exact_features: Option<u64>,
    /// T: rows visited, one after another.
    pub steps: u64,
    /// Numbers learned for each row: targets, or classes if there are more than two.
    pub outputs: u64,
    /// Of an entry, a feature and a kernel value: 4 or 8. Weights have 8 in any case.
    pub scalar_bytes: u64,
    /// Stored entries of the rows visited, a row counting as often as it is visited; none for the mean, T·entries/n.
    pub visited: Option<u64>,
    /// How often the scale of the weights is multiplied out before the end: never with a decreasing rate.
    pub rescalings: u64,
}

/// What a strategy does and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Products that are added to a sum.
    pub multiply_adds: u128,
    /// Read and written: each pass over an array counts.
    pub bytes_moved: u128,
    /// Weights, what is kept of rows or made in a round, and the matrix of a map as if it had all its entries; the data themselves, and
    /// copies of the rows of a round, aside.
    pub memory_bytes: u128,
}

/// What a strategy costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// To the last one.
    #[serde(flatten)]
    pub counts: Counts,
    /// The order of the time, as the notes have it.
    pub asymptotic_time: &'static str,
    /// The order of the memory beyond the data.
    pub asymptotic_memory: &'static str,
}

/// What a machine does in a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speed {
    /// Products that are added to a sum.
    pub multiply_adds_per_second: f64,
    /// Bytes between memory and processor.
    pub bytes_per_second: f64,
}

impl Default for Speed {
    /// A nominal processor: 4·10⁹ multiply-adds and 10¹⁰ bytes a second, about one core. Not measured: it orders strategies better than it foretells seconds.
    fn default() -> Self {
        Speed { multiply_adds_per_second: 4e9, bytes_per_second: 1e10 }
    }
}

impl Figures {
    /// The longer of arithmetic and memory traffic.
    pub fn seconds(&self, speed: Speed) -> f64 {
        let arithmetic = self.counts.multiply_adds as f64 / speed.multiply_adds_per_second;
        arithmetic.max(self.counts.bytes_moved as f64 / speed.bytes_per_second)
    }
}

/// Saturates instead of overflowing, so that absurd shapes are refused, not wrapped.
fn times(factors: &[u128]) -> u128 {
    factors.iter().fold(1, |product, &factor| product.saturating_mul(factor))
}

fn sum(terms: &[u128]) -> u128 {
    terms.iter().fold(0, |sum: u128, &term| sum.saturating_add(term))
}

impl Workload {
    /// Dense rows of 8-byte numbers, one target, ten visits a row, [`MapSpec::FEATURES`] features of a kernel that has infinitely many.
    pub fn dense(rows: u64, inputs: u64) -> Workload {
        Workload {
            rows,
            inputs,
            entries: rows.saturating_mul(inputs),
            features: MapSpec::FEATURES as u64,
            exact_features: None,
            steps: rows.saturating_mul(10),
            outputs: 1,
            scalar_bytes: 8,
            visited: None,
            rescalings: 0,
        }
    }

    /// There is such a job.
    pub fn validate(&self) -> Result<()> {
        let wrong =
            |name, expected, found: u64| Err(Error::Parameter { name, expected, found: found.to_string() });
        for (name, value) in [
            ("rows", self.rows),
            ("columns", self.inputs),
            ("features", self.features),
            ("steps", self.steps),
            ("outputs", self.outputs),
        ] {
            if value == 0 {
                return wrong(name, "at least 1", value);
            }
        }
        if u128::from(self.entries) > times(&[self.rows.into(), self.inputs.into()]) {
            return wrong("entries", "at most rows × columns", self.entries);
        }
        if !matches!(self.scalar_bytes, 4 | 8) {
            return wrong("scalar_bytes", "4 or 8", self.scalar_bytes);
        }
        Ok(())
    }

    /// Entries of the rows visited: as known, or as many as are expected.
    fn visited(&self) -> u128 {
        let expected = || times(&[self.steps.into(), self.entries.into()]) / u128::from(self.rows);
        self.visited.map_or_else(expected, u128::from)
    }

    /// What a strategy costs; an error where there is no such map.
    pub fn figures(&self, strategy: Strategy) -> Result<Figures> {
        self.validate()?;
        // What is made of a row: so many features, or values with all rows.
        let width = match strategy {
            Strategy::Exact | Strategy::ExactCached => {
                self.exact_features.ok_or_else(|| strategy.refused(None))?
            }
            Strategy::Kernel | Strategy::KernelCached => self.rows,
            Strategy::Map | Strategy::MapCached => self.features,
        };
        let [n, d, width, steps] = [self.rows, self.inputs, width, self.steps].map(u128::from);
        let [entries, outputs, scalar] = [self.entries, self.outputs, self.scalar_bytes].map(u128::from);
        let (is_kernel, is_cached) = (strategy.uses_kernel(), strategy.is_cached());
        // How many are made, and the entries of the rows they are made of.
        let (made, of) = if is_cached { (n, entries) } else { (steps, self.visited()) };
        let groups = made.div_ceil(TOGETHER as u128);
        let matrix = if strategy.uses_map() { times(&[d, width]) } else { 0 };
        // Each group reads the map's matrix, or all rows.
        let (products, beside) =
            if is_kernel { (times(&[made, entries]), entries) } else { (times(&[of, width]), matrix) };
        let making = times(&[scalar, sum(&[of, times(&[groups, beside]), times(&[made, width])])]);
        // A step: the score of each output, then a move of its weights; a kernel has one weight for the row visited.
        let moved = if is_kernel { 1 } else { width };
        let a_step = times(&[outputs, sum(&[width, moved])]);
        let again = if is_kernel { 0 } else { width };
        let a_step_moves = sum(&[
            times(&[scalar, sum(&[width, again])]),
            times(&[8, outputs, sum(&[width, times(&[2, moved])])]),
        ]);
        // All weights are multiplied with their scale now and then, and at the end.
        let scaled = times(&[u128::from(self.rescalings) + 1, outputs, width]);
        let kept = if is_cached { n } else { steps.min(ROUND as u128) };
        let counts = Counts {
            multiply_adds: sum(&[products, times(&[steps, a_step]), scaled]),
            bytes_moved: sum(&[making, times(&[steps, a_step_moves]), times(&[16, scaled])]),
            memory_bytes: sum(&[
                times(&[8, outputs, width]),
                times(&[scalar, sum(&[times(&[kept, width]), matrix])]),
            ]),
        };
        let (asymptotic_time, asymptotic_memory) = strategy.orders();
        Ok(Figures { counts, asymptotic_time, asymptotic_memory })
    }

    /// All six, beside each other; those that need more memory than may be used are refused.
    pub fn table(&self, speed: Speed, memory_limit: Option<u64>) -> StrategyTable {
        let row = |strategy: Strategy| {
            let figures = self.figures(strategy).and_then(|figures| {
                let needed = u64::try_from(figures.counts.memory_bytes).unwrap_or(u64::MAX);
                match memory_limit {
                    Some(limit) if needed > limit => {
                        Err(Error::Memory { what: format!("strategy {strategy}"), needed, limit })
                    }
                    _ => Ok(figures),
                }
            });
            (strategy, figures)
        };
        StrategyTable { workload: *self, speed, rows: Strategy::ALL.map(row) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The leading terms are the notes': with one output, few visits of few entries drop out beside them.
    #[test]
    fn counts_grow_as_the_notes_say() {
        let job = Workload {
            features: 1 << 10,
            exact_features: Some(1 << 9),
            steps: 1 << 20,
            ..Workload::dense(1 << 14, 1 << 12)
        };
        let (n, d, t) = (2f64.powi(14), 2f64.powi(12), 2f64.powi(20));
        let (exact, map) = (2f64.powi(9), 2f64.powi(10));
        let expected = [
            (t * d * exact, exact),
            (n * d * exact + 2.0 * t * exact, n * exact),
            (t * n * d, n),
            (n * n * d + t * n, n * n),
            (t * d * map, d * map),
            (n * d * map + 2.0 * t * map, n * map + d * map),
        ];
        for (strategy, (time, memory)) in Strategy::ALL.into_iter().zip(expected) {
            let Counts { multiply_adds, memory_bytes, .. } = job.figures(strategy).unwrap().counts;
            assert!(
                (multiply_adds as f64 / time - 1.0).abs() < 1e-3,
                "{strategy}: {multiply_adds} and {time}"
            );
            // What is made in a round is 64 times what the notes keep of one visit.
            let most = if strategy.is_cached() { 1.02 } else { 1.0 + ROUND as f64 };
            let ratio = memory_bytes as f64 / (8.0 * memory);
            assert!((1.0..=most).contains(&ratio), "{strategy}: {memory_bytes}, {ratio} times {memory}");
        }
    }

    /// In n, ① and ② depend on rows least and ③ and ④ most: the notes print "best" where they mean "worst".
    #[test]
    fn kernel_values_depend_worst_on_rows() {
        // The same steps on ten times the rows.
        let growth = |strategy: Strategy| {
            let seconds = |rows| {
                let job = Workload {
                    steps: 100_000,
                    exact_features: Some(500),
                    features: 500,
                    ..Workload::dense(rows, 30)
                };
                job.figures(strategy).unwrap().seconds(Speed::default())
            };
            seconds(100_000) / seconds(10_000)
        };
        let [exact, cached, kernel, gram, map, map_cached] = Strategy::ALL.map(growth);
        assert!((exact - 1.0).abs() < 1e-9 && (map - 1.0).abs() < 1e-9, "no dependence: {exact} {map}");
        assert!(kernel > 9.9 && gram > 9.9, "linear, and beyond: {kernel} {gram}");
        assert!(cached < 10.0 && map_cached < 10.0 && cached < kernel.min(gram), "{cached} {map_cached}");
    }

    #[test]
    fn words_are_read_and_shapes_checked() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse::<Strategy>().unwrap(), strategy);
        }
        assert_eq!("kernel_cached".parse::<Strategy>().unwrap(), Strategy::KernelCached);
        let text = "gram".parse::<Strategy>().unwrap_err().to_string();
        assert!(text.contains("kernel-cached, map or map-cached, found gram"), "{text}");
        let job = Workload::dense(10, 3);
        for wrong in [
            Workload { rows: 0, ..job },
            Workload { entries: 31, ..job },
            Workload { scalar_bytes: 2, ..job },
            Workload { steps: 0, ..job },
        ] {
            assert!(matches!(wrong.figures(Strategy::Map), Err(Error::Parameter { .. })), "{wrong:?}");
        }
        let refused = job.figures(Strategy::ExactCached).unwrap_err().to_string();
        assert!(refused.contains("infinitely many") && refused.contains("(map, map-cached)"), "{refused}");
        let huge = Workload { features: u64::MAX, steps: u64::MAX, ..Workload::dense(u64::MAX, u64::MAX) };
        assert_eq!(huge.figures(Strategy::KernelCached).unwrap().counts.bytes_moved, u128::MAX);
    }

    #[test]
    fn kernels_have_as_many_features_as_they_have() {
        let features = |text: &str, inputs| exact_features(&text.parse().unwrap(), inputs).unwrap();
        assert_eq!(features("linear", 7), Some(7));
        assert_eq!(features("poly(degree=2,c=1)", 7), Some(36), "C(7 + 2, 2)");
        assert_eq!(features("linear + parabolic", 3), Some(7));
        assert_eq!(features("gaussian(sigma=1) + linear", 7), None);
        assert!(exact_features(&"linear[9]".parse().unwrap(), 3).is_err(), "no such column");
    }
}
