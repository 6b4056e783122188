use super::*;
use crate::kernel::{FunctionName, Quadratic, Width};

fn read(text: &str) -> Kernel {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn message(text: &str) -> String {
    text.parse::<Kernel>().unwrap_err().to_string()
}

#[test]
fn the_other_spelling_of_a_width_is_understood() {
    for gamma in ["-1", "0", "1e40", "1e-40"] {
        let error = message(&format!("gaussian(gamma={gamma})"));
        assert!(error.contains("expected gamma to be above 0"), "{error}");
    }
    assert_eq!(read("gaussian(gamma=0.125)"), Kernel::gaussian(2.0));
    assert_eq!(read(" laplace ( gamma = 0.25 ) "), Kernel::laplace(4.0));
    assert_eq!(read("rbf(gamma=[0.125,0.5])"), Kernel::gaussian(vec![2.0, 1.0]));
    assert_eq!(read("linear()"), Kernel::Linear);
}

#[test]
fn expressions_are_trees() {
    let text = "0.7*gaussian(sigma=2)[age,income] + laplace(scale=1)*poly(degree=2,c=1)";
    let kernel = read(text);
    let by_hand = 0.7 * Kernel::gaussian(2.0).on(["age", "income"]).unwrap()
        + Kernel::laplace(1.0) * Kernel::polynomial(2, 1.0);
    assert_eq!(kernel, by_hand);
    assert_eq!(kernel.to_string(), text);
    // Numbers gather in front, sums and products are flat, columns go to each kernel.
    for (text, canonical) in [
        ("linear*2*3*linear", "6*linear*linear"),
        ("(linear + linear) + (chi2 + chi2)", "linear + linear + chi2 + chi2"),
        ("(2*linear)*(3*chi2)", "6*linear*chi2"),
        ("((linear + 1*chi2))*constant", "(linear + chi2)*constant"),
        ("(gaussian(sigma=1) + 2*linear)[3, 0..2]", "gaussian(sigma=1)[3,0..2] + 2*linear[3,0..2]"),
        ("exp(linear)[1]", "exp(linear[1])"),
        ("weighted(inverse_norm,normalized(linear))[a]", "weighted(inverse_norm[a],normalised(linear[a]))"),
        ("(constant + linear)[\"odd \\\"name\\\"\",_x]", "constant + linear[\"odd \\\"name\\\"\",_x]"),
        ("2*(linear + chi2)", "2*(linear + chi2)"),
        ("polynomial(c=0.5,degree=3,gamma=2)", "poly(degree=3,gamma=2,c=0.5)"),
        ("matern(scale=2,nu=0.7)", "matern(nu=0.7,scale=2)"),
        ("bilinear(matrix=[[2,1],[1,2]])", "bilinear(matrix=[[2,1],[1,2]])"),
        ("bilinear(factor=[[1,0.5]])", "bilinear(factor=[[1,0.5]])"),
        ("1e-300*linear", "1e-300*linear"),
        ("arc_cosine", "arc_cosine(order=1)"),
    ] {
        assert_eq!(read(text).to_string(), canonical);
        assert_eq!(read(canonical), read(text));
    }
    assert_eq!(
        read("bilinear(diagonal=[1,0.5])"),
        Kernel::Bilinear { form: Quadratic::Diagonal(vec![1.0, 0.5]) }
    );
    assert_eq!(read("weighted(decay,exp(linear))"), Kernel::Linear.exp().weighted(FunctionName::Decay));
    assert_eq!(read("laplace(scale=[1,2])"), Kernel::Laplace { scale: Width::Each(vec![1.0, 2.0]) });
}

#[test]
fn errors_point_at_the_character_and_offer_the_nearest_name() {
    for (text, expected) in [
        ("gausian(sigma=2)", "character 1: expected one of gaussian, laplace,"),
        ("gausian(sigma=2)", "did you mean gaussian?"),
        ("gaussian(sigm=2)", "character 10: expected sigma or gamma, found \"sigm=2)\""),
        ("gaussian(sigma=two)", "character 16: expected a number"),
        ("gaussian(sigma=2", "expected \",\" or \")\", found the end"),
        ("gaussian", "expected sigma=… or gamma=…, found the end"),
        ("gaussian(sigma=1,gamma=1)", "not both"),
        ("linear(c=1)", "expected \")\""),
        ("linear x", "expected \"+\", \"*\" or the end"),
        ("gaussian(sigma=-1)", "expected sigma to be between 1e-18 and 1e18, found -1"),
        ("laplace(scale=0)", "found 0"),
        (
            "mismatch(k=4,m=1,alphabet=AC)",
            "character 27: expected a text in quotation marks, as in alphabet=\"AC\", found \"AC)\"",
        ),
        ("mismatch(k=4,alphabet=7)", "a text in quotation marks"),
        ("gaussian(sigma=1e999)", "expected a number"),
        ("gaussian(sigma=[])", "expected a number"),
        ("linear - chi2", "character 8: expected \"+\": a difference of kernels is no kernel"),
        ("linear + -2*chi2", "character 10: expected a factor above 0"),
        ("0*linear", "character 1: expected a factor above 0"),
        ("2", "\"constant\" is the one that is 1 everywhere"),
        ("linear + 3", "character 10: expected a kernel"),
        ("linear[", "expected a column: its name, its number from 0, or a range such as 3..9"),
        ("linear[3..2]", "expected the columns of a kernel to be ranges that are not empty, found 3..2"),
        ("linear[1,0..2]", "each column once, found 1 twice"),
        ("linear[a][b]", "character 10: expected columns once for each kernel"),
        ("weighted(invers_norm,linear)", "did you mean inverse_norm?"),
        ("weighted(norm linear)", "expected \",\" and a kernel"),
        ("exp linear", "expected \"(\""),
        ("(linear", "expected \"+\", \"*\" or \")\""),
        ("linear[\"a", "expected a quotation mark"),
        ("poly(c=1)", "expected degree=…"),
        ("poly(degree=2.5)", "expected degree to be a whole number, found 2.5"),
        ("poly(degree=2,c=-1)", "expected c to be between 0 and 1e18, found -1"),
        ("arc_cosine(order=3)", "expected order to be 0, 1 or 2, found 3"),
        ("matern(nu=0,scale=1)", "expected nu to be between 0.05 and 100"),
        ("bilinear(matrix=[[1,2],[2,1]])", "found the eigenvalue -1e0"),
        ("bilinear(matrix=[[1,2],[0,1]])", "symmetric"),
        ("bilinear(diagonal=[1,-2])", "without negative eigenvalues, found -2"),
        ("bilinear(matrix=[[1,2],[0]])", "rows of one length"),
        ("bilinear", "expected one of diagonal=[…]"),
        ("", "expected one of gaussian"),
    ] {
        let found = message(text);
        assert!(found.contains(expected), "{text}: {found}");
    }
    let deep = format!("{}linear{}", "(".repeat(1000), ")".repeat(1000));
    assert!(message(&deep).contains("at most 64 levels"), "{}", message(&deep));
    let deep = format!("{}linear{}", "exp(".repeat(1000), ")".repeat(1000));
    assert!(message(&deep).contains("at most 64 levels"));
}
