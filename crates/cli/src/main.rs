//! The command `bochner`.

#![forbid(unsafe_code)]

fn main() {
    std::process::exit(bochner_cli::main(std::env::args_os()));
}
