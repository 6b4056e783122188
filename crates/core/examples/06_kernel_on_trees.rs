//! A kernel on trees: landmark features of objects that are no rows of numbers, and a linear model on them.
//!
//! Two kinds of labelled ordered trees with the same labels: in one a node mostly repeats its parent's, in the other it mostly does not.
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

    /// The inner nodes.
    fn nodes(&self) -> Vec<&Tree> {
        let own = (!self.children.is_empty()).then_some(self);
        own.into_iter().chain(self.children.iter().flat_map(Tree::nodes)).collect()
    }
}

/// Common subtrees that start at these two nodes, each step down counted with a factor ½ (Collins & Duffy 2001).
fn rooted(a: &Tree, b: &Tree) -> f64 {
    let labels = |t: &Tree| t.children.iter().map(|child| child.label).collect::<Vec<_>>();
    if a.children.is_empty() || a.label != b.label || labels(a) != labels(b) {
        return 0.0;
    }
    0.5 * a.children.iter().zip(&b.children).map(|(a, b)| 1.0 + rooted(a, b)).product::<f64>()
}

/// Σ over pairs of nodes: the inner product of counts of all subtrees, hence a kernel.
fn subtrees(a: &Tree, b: &Tree) -> f64 {
    a.nodes().iter().flat_map(|a| b.nodes().into_iter().map(|b| rooted(a, b))).sum()
}

/// Pairs of inner nodes with one label: what is left when the shape is forgotten.
fn labels(a: &Tree, b: &Tree) -> f64 {
    let count = |t: &Tree, label| t.nodes().iter().filter(|node| node.label == label).count() as f64;
    count(a, '+') * count(b, '+') + count(a, '*') * count(b, '*')
}

fn main() -> Result<()> {
    let (engine, n) = (Engine::default(), 400);
    let kind = |i: usize| if i % 2 == 0 { 1.0 } else { -1.0 };
    let tree = |i: usize| {
        let mut draws = Draws::new(3, Stream::Sample, i as u64);
        let label = if draws.uniform() < 0.5 { '+' } else { '*' };
        Tree::grow(label, 8, 0.5 + 0.2 * kind(i), &mut draws)
    };
    let trees: Vec<Tree> = (0..2 * n).map(tree).collect();
    let (train, test) = trees.split_at(n);
    let y: Vec<f64> = (0..n).map(kind).collect();

    let some: Vec<&Tree> = train[..60].iter().collect();
    println!("60 trees: {}", definiteness(&Own::new(subtrees).normalised().gram(&some, &some)?)?);
    println!("{:>10} {:>10} {:>10} {:>10} {:>8}", "kernel", "landmarks", "kept", "mean r", "correct");
    let kernels: [(&str, fn(&Tree, &Tree) -> f64); 2] = [("labels", labels), ("subtrees", subtrees)];
    for ((name, kernel), asked) in kernels.into_iter().flat_map(|kernel| [10, 50, n].map(|m| (kernel, m))) {
        let map = ObjectMap::fit(&engine, Own::new(kernel).normalised(), train, asked, Choice::Cholesky, 1)?;
        let (z, new) = (map.transform(&engine, train)?, map.transform(&engine, test)?);
        let r = map.residuals(&engine, test)?.iter().sum::<f64>() / n as f64;
        let model = Ridge::new(MapSpec::auto(Kernel::Linear)).fit(&engine, &(&z, &y))?;
        let scores = model.decide(&engine, Rows::from(&new))?;
        let right = (0..n).filter(|&i| scores.row(i)[0] * kind(i) > 0.0).count();
        let share = 100.0 * right as f64 / n as f64;
        println!("{name:>10} {asked:>10} {:>10} {r:>10.4} {share:>6.1} %", map.output_dim());
    }
    Ok(())
}
