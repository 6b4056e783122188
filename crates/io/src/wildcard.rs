//! Patterns that stand for names.

/// Whether a pattern stands for a name: `*` for any characters, `?` for one.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            // The last star takes one character more.
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, n) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_names() {
        for (pattern, name) in [
            ("a*", "a"),
            ("a*", "abc"),
            ("*", ""),
            ("*_id", "user_id"),
            ("x?", "x1"),
            ("a*b*c", "aXbYbZc"),
            ("é?", "éé"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a*", "ba"), ("x?", "x"), ("a*b", "abc"), ("", "a"), ("a", "A")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
