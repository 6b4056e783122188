//! The examples of the library: each runs and checks what it says.

#[path = "../../../core/examples/09_balls.rs"]
mod balls;
#[path = "../../../core/examples/05_certificate.rs"]
mod certificate;
#[path = "../../../core/examples/07_distances_kept.rs"]
mod distances_kept;
#[path = "../../../core/examples/08_dna.rs"]
mod dna;
#[path = "../../../core/examples/04_expression_compiled.rs"]
mod expression_compiled;
#[path = "../../../core/examples/02_fit_certify_save.rs"]
mod fit_certify_save;
#[path = "../../../core/examples/11_hidden_direction.rs"]
mod hidden_direction;
#[path = "../../../core/examples/01_kernel_and_features.rs"]
mod kernel_and_features;
#[path = "../../../core/examples/06_kernel_on_trees.rs"]
mod kernel_on_trees;
#[path = "../../../core/examples/03_rows_that_do_not_fit.rs"]
mod rows_that_do_not_fit;
#[path = "../../../core/examples/10_strategies.rs"]
mod strategies;

macro_rules! runs {
    ($($example:ident)*) => {
        mod run {$(
            #[test]
            fn $example() {
                super::$example::main().unwrap();
            }
        )*}
    };
}

runs! {
    kernel_and_features fit_certify_save rows_that_do_not_fit expression_compiled certificate kernel_on_trees distances_kept dna balls
    strategies hidden_direction
}
