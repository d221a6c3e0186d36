//! A first look at a line's bytes: how deep it nests, and whether it needs a second look.
//! It does not recurse and is no parser: on what is not JSON it may say anything but never fails.

/// More digits than this may be more than a number can hold.
const MANY_DIGITS: usize = 300;

/// What a reader that only skips over values cannot be trusted to notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Nothing of the kind.
    None,
    /// An escape or a number that may be none.
    Some,
}

/// The line nests deeper than allowed, first at this byte (counted from one).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooDeep {
    pub(super) at: usize,
}

/// Looks over a line.
pub(super) fn scan(line: &str, deepest: usize) -> Result<Doubt, TooDeep> {
    let mut scan = Scan {
        rest: line.as_bytes().iter(),
        digits: 0,
        doubt: Doubt::None,
    };
    let mut depth = 0_usize;
    while let Some(&byte) = scan.rest.next() {
        match byte {
            b'"' => scan.skip_string(),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > deepest {
            let at = line.len() - scan.rest.len();
            return Err(TooDeep { at });
        }
        scan.count_digits(byte);
    }
    Ok(scan.doubt)
}

struct Scan<'a> {
    rest: std::slice::Iter<'a, u8>,
    /// In a row, up to here.
    digits: usize,
    doubt: Doubt,
}

impl Scan<'_> {
    fn skip_string(&mut self) {
        while let Some(&byte) = self.rest.next() {
            match byte {
                b'"' => return,
                b'\\' => self.skip_escape(),
                _ => {}
            }
        }
    }

    fn skip_escape(&mut self) {
        let is_unicode = self.rest.next() == Some(&b'u');
        if is_unicode && is_doubtful(self.rest.as_slice()) {
            self.doubt = Doubt::Some;
        }
    }

    fn count_digits(&mut self, byte: u8) {
        let is_exponent = matches!(byte, b'e' | b'E') && self.digits > 0;
        if is_exponent || self.digits > MANY_DIGITS {
            self.doubt = Doubt::Some;
        }
        self.digits = match byte.is_ascii_digit() {
            true => self.digits + 1,
            false => 0,
        };
    }
}

/// Half a pair of surrogates, perhaps; or a plain character that somebody preferred to hide.
fn is_doubtful(escape: &[u8]) -> bool {
    matches!(
        escape,
        [b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..] | [b'0', b'0', b'2'..=b'7', ..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, deepest: usize, expected: Result<Doubt, usize>) {
        let scanned = scan(line, deepest).map_err(|deep| deep.at);
        assert_eq!(scanned, expected, "{line}");
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        check(r#"{"a":[1,{"b":2}]}"#, 3, Ok(Doubt::None));
        check(r#"{"a":[1,{"b":2}]}"#, 2, Err(9));
        check(r#"["[[[[","\"[[[","\\",[]]"#, 2, Ok(Doubt::None));
        check("[][][][]", 1, Ok(Doubt::None));
        check("]]]][[", 2, Ok(Doubt::None));
        check("\"[[[[", 1, Ok(Doubt::None));
    }

    #[test]
    fn a_million_brackets_need_no_stack() {
        check(&"[".repeat(1_000_000), 999_999, Err(1_000_000));
    }

    #[test]
    fn escapes_and_numbers_that_may_be_none_are_doubted() {
        check(
            r#"["\u00e9\n\u2028",1.5,12345,true,false]"#,
            9,
            Ok(Doubt::None),
        );
        check(r#"["\\u0041"]"#, 9, Ok(Doubt::None));
        check(r#"["\ud83d\ude00"]"#, 9, Ok(Doubt::Some));
        check(r#"["\uDC00"]"#, 9, Ok(Doubt::Some));
        check(r#"["\u0041"]"#, 9, Ok(Doubt::Some));
        check("[1e5]", 9, Ok(Doubt::Some));
        check("[1.5E999]", 9, Ok(Doubt::Some));
        check(&format!("[{}]", "1".repeat(301)), 9, Ok(Doubt::Some));
    }
}
