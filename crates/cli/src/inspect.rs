//! `bochner inspect`: what is in a model or in a data file.

mod model;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::args::{InspectArgs, RunArgs, SummaryArgs};
use crate::console::Console;
use crate::exit::Failure;
use crate::summary;

/// Runs the command.
pub(crate) fn run(args: InspectArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    if is_model(&args.file) {
        return model::run(&args, console);
    }
    if args.report.is_some() {
        let (file, reason) = (args.file, "--report is the page of a model, and this is none".to_owned());
        return Err(Failure::Unfit { file, reason });
    }
    let InspectArgs { file, read, quiet, json, .. } = args;
    let run = RunArgs { threads: 0, quiet };
    let (data, kind) = (vec![file], Vec::new());
    let args = SummaryArgs { data, target: None, output: None, report: None, kind, read, run, json };
    summary::run(&args, console)
}

/// By its name, or by its first bytes: the length of a JSON header, and the brace that opens it.
fn is_model(path: &Path) -> bool {
    if path.extension().is_some_and(|extension| extension == "bochner" || extension == "safetensors") {
        return true;
    }
    let mut start = [0u8; 9];
    let Ok(size) = File::open(path).and_then(|mut file| {
        file.read_exact(&mut start)?;
        Ok(file.metadata()?.len())
    }) else {
        return false;
    };
    let [length @ .., brace] = start;
    let length = u64::from_le_bytes(length);
    brace == b'{' && length >= 2 && length <= size.saturating_sub(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_known_by_their_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("something");
        for (bytes, expected) in [
            (&b"\x02\0\0\0\0\0\0\0{}"[..], true),
            (b"\x03\0\0\0\0\0\0\0{}", false),
            (b"a,b\n1,2\n3,4\n", false),
            (b"", false),
        ] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(is_model(&path), expected);
        }
        assert!(is_model(Path::new("x.bochner")) && !is_model(Path::new("missing.csv")));
    }
}
