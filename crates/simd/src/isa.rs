//! Which instruction set a loop is compiled for.
//!
//! Results are the same bits within one instruction set and agree to rounding between them: wider registers
//! do not change the order of sums, but portable code has no fused multiply-add.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// An instruction set that this processor supports.
///
/// The field is private and every constructor checks the processor, so holding an `Isa` is the proof that
/// its instructions may be executed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Isa(pub(crate) Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// Code that every processor runs.
    pub const PORTABLE: Isa = Isa(Level::Portable);

    /// Every instruction set of this processor that has loops here, slowest first.
    pub fn available() -> Vec<Isa> {
        let mut list = vec![Isa::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                list.push(Isa(Level::Avx2));
                if ["avx512f", "avx512dq", "avx512vl", "avx512bw"].iter().all(|f| detected(f)) {
                    list.push(Isa(Level::Avx512));
                }
            }
        }
        list
    }

    /// The fastest available instruction set, or the one named by the environment variable `BOCHNER_ISA`
    /// (`portable`, `avx2`, `avx512`) where the processor has it; decided once per process.
    ///
    /// Pinning the name makes machines of different generations agree bit for bit.
    pub fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| {
            let named = std::env::var("BOCHNER_ISA").ok().and_then(|name| name.parse().ok());
            named.or_else(|| Isa::available().pop()).unwrap_or(Isa::PORTABLE)
        })
    }

    /// The number of instruction sets that there are loops for.
    pub const COUNT: usize = 3;

    /// From 0 to [`Isa::COUNT`] − 1.
    pub fn index(self) -> usize {
        match self.0 {
            Level::Portable => 0,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => 1,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => 2,
        }
    }

    /// The name that [`Isa::from_str`] reads.
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn detected(feature: &str) -> bool {
    match feature {
        "avx512f" => is_x86_feature_detected!("avx512f"),
        "avx512dq" => is_x86_feature_detected!("avx512dq"),
        "avx512vl" => is_x86_feature_detected!("avx512vl"),
        _ => is_x86_feature_detected!("avx512bw"),
    }
}

/// The name of an instruction set that does not exist or that this processor lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownIsa {
    /// What was asked for.
    pub name: String,
}

impl fmt::Display for UnknownIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Isa::available().into_iter().map(Isa::name).collect();
        write!(f, "expected one of {}, found {:?}", names.join(", "), self.name)
    }
}

impl std::error::Error for UnknownIsa {}

impl FromStr for Isa {
    type Err = UnknownIsa;

    fn from_str(name: &str) -> Result<Self, UnknownIsa> {
        let found = Isa::available().into_iter().find(|isa| isa.name() == name);
        found.ok_or_else(|| UnknownIsa { name: name.to_owned() })
    }
}

/// [`Isa::best`].
impl Default for Isa {
    fn default() -> Self {
        Isa::best()
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_others_are_refused() {
        for isa in Isa::available() {
            assert_eq!(isa.name().parse(), Ok(isa));
        }
        let error = "sse9".parse::<Isa>().unwrap_err();
        assert!(error.to_string().contains("sse9") && error.to_string().contains("portable"), "{error}");
    }

    /// `make isa` runs this with each name: were the variable not read, its tests would all be of the best instruction set.
    #[test]
    fn the_best_is_the_one_that_is_named_or_else_the_last() {
        let available = Isa::available();
        let named = std::env::var("BOCHNER_ISA").ok();
        let found = named.and_then(|name| available.iter().find(|isa| isa.name() == name));
        assert_eq!(Some(&Isa::best()), found.or(available.last()));
    }
}
