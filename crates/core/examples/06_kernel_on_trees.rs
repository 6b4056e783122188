//! A kernel on trees: features of objects that are no rows of numbers, and a linear model that tells two kinds apart.
//!
//! `cargo run --example 06_kernel_on_trees`

#![allow(clippy::print_stdout, reason = "an example prints")]

use bochner::kernel::{Own, Similarity, definiteness};
use bochner::map::ObjectMap;
use bochner::random::{Draws, Stream};
use bochner::{Choice, Engine, Kernel, MapSpec, Result, Ridge, Rows};

#[derive(Clone, Debug)]
struct Tree {
    label: char,
    children: Vec<Tree>,
}

impl Tree {
    /// A binary tree with so many inner nodes; a child has its parent's label with probability `repeat`.
    fn grow(label: char, inner: u64, repeat: f64, draws: &mut Draws) -> Tree {
        if inner == 0 {
            return Tree { label: if draws.uniform() < 0.5 { 'a' } else { 'b' }, children: vec![] };
        }
        let left = draws.below(inner);
        let mut child = |inner: u64| {
            let same = draws.uniform() < repeat;
            Tree::grow(if same == (label == '+') { '+' } else { '*' }, inner, repeat, draws)
        };
        let children = vec![child(left), child(inner - 1 - left)];
        Tree { label, children }
    }

    fn inner_nodes(&self) -> Vec<&Tree> {
        let own = (!self.children.is_empty()).then_some(self);
        own.into_iter().chain(self.children.iter().flat_map(Tree::inner_nodes)).collect()
    }
}

/// Common subtrees that start at these two nodes, one of s productions counted 2⁻ˢ (Collins & Duffy 2001).
fn rooted(a: &Tree, b: &Tree) -> f64 {
    let same = |(a, b): (&Tree, &Tree)| a.label == b.label;
    if a.children.is_empty() || a.label != b.label || !a.children.iter().zip(&b.children).all(same) {
        return 0.0;
    }
    0.5 * a.children.iter().zip(&b.children).map(|(a, b)| 1.0 + rooted(a, b)).product::<f64>()
}

/// Σ over pairs of inner nodes: an inner product of counts, hence a kernel.
fn pairs(a: &Tree, b: &Tree, of: impl Fn(&Tree, &Tree) -> f64) -> f64 {
    a.inner_nodes().iter().map(|a| b.inner_nodes().iter().map(|b| of(a, b)).sum::<f64>()).sum()
}

pub(crate) fn main() -> Result<()> {
    let (engine, n) = (Engine::default(), 200);
    // In one kind a node mostly repeats its parent's label, in the other it mostly does not.
    let kind = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let tree = |i: usize| {
        let mut draws = Draws::new(3, Stream::Sample, i as u64);
        let label = if draws.uniform() < 0.5 { '+' } else { '*' };
        Tree::grow(label, 8, 0.5 + 0.25 * kind(i), &mut draws)
    };
    let (train, test) = ((0..n).map(tree).collect::<Vec<_>>(), (n..2 * n).map(tree).collect::<Vec<_>>());
    let y: Vec<f64> = (0..n).map(kind).collect();
    let labels = || Own::new(|a: &Tree, b: &Tree| pairs(a, b, |a, b| f64::from(a.label == b.label)));
    let subtrees = || Own::new(|a: &Tree, b: &Tree| pairs(a, b, rooted)).normalised();
    let some: Vec<&Tree> = train[..60].iter().collect();
    println!("60 trees: {}", definiteness(&engine, &subtrees().gram(&some, &some)?)?);
    println!("{:>10} {:>10} {:>10} {:>10} {:>8}", "kernel", "landmarks", "kept", "mean r", "correct");
    for (name, asked) in [("labels", n), ("subtrees", 10), ("subtrees", 50), ("subtrees", n)] {
        let kernel = if name == "labels" { labels() } else { subtrees() };
        let map = ObjectMap::fit(&engine, kernel, &train, asked, Choice::Cholesky, 1)?;
        let (z, new) = (map.transform(&engine, &train)?, map.transform(&engine, &test)?);
        let r = map.residuals(&engine, &test)?.iter().sum::<f64>() / n as f64;
        let model = Ridge::new(MapSpec::auto(Kernel::Linear)).fit(&engine, &(&z, &y))?;
        let scores = model.decide(&engine, Rows::from(&new))?;
        let share = (0..n).filter(|&i| scores.row(i)[0] * kind(i) > 0.0).count() as f64 / n as f64 * 100.0;
        println!("{name:>10} {asked:>10} {:>10} {r:>10.4} {share:>6.1} %", map.output_dim());
    }
    Ok(())
}
