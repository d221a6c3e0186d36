//! Scans a line's bytes before it is parsed: how deep it nests, and whether every value must be parsed.
//! It does not recurse and is not a parser: for a line that is not JSON the result may be wrong.

/// A number with more digits than this may be out of range.
const MANY_DIGITS: usize = 300;

/// Whether every value of a line must be parsed. A reader that skips over values does not notice
/// bad escapes and numbers that are out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FullParse {
    /// The line has no escape or number that may be invalid.
    NotNeeded,
    /// The line has an escape or a number that may be invalid.
    Needed,
}

/// The line nests deeper than allowed, first at this byte (counted from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooDeep {
    pub(super) at: usize,
}

/// Scans a line.
pub(super) fn scan(line: &str, deepest: usize) -> Result<FullParse, TooDeep> {
    let mut scan = Scan {
        rest: line.as_bytes().iter(),
        digits: 0,
        full_parse: FullParse::NotNeeded,
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
    Ok(scan.full_parse)
}

struct Scan<'a> {
    rest: std::slice::Iter<'a, u8>,
    /// The number of consecutive digits before the current byte.
    digits: usize,
    full_parse: FullParse,
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
        if is_unicode && needs_full_parse(self.rest.as_slice()) {
            self.full_parse = FullParse::Needed;
        }
    }

    fn count_digits(&mut self, byte: u8) {
        let is_exponent = matches!(byte, b'e' | b'E') && self.digits > 0;
        if is_exponent || self.digits > MANY_DIGITS {
            self.full_parse = FullParse::Needed;
        }
        self.digits = if byte.is_ascii_digit() {
            self.digits + 1
        } else {
            0
        };
    }
}

/// Whether an escape may be half of a surrogate pair, or hides a plain ASCII character.
fn needs_full_parse(escape: &[u8]) -> bool {
    matches!(
        escape,
        [b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..] | [b'0', b'0', b'2'..=b'7', ..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, deepest: usize, expected: Result<FullParse, usize>) {
        let scanned = scan(line, deepest).map_err(|deep| deep.at);
        assert_eq!(scanned, expected, "{line}");
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        check(r#"{"a":[1,{"b":2}]}"#, 3, Ok(FullParse::NotNeeded));
        check(r#"{"a":[1,{"b":2}]}"#, 2, Err(9));
        check(r#"["[[[[","\"[[[","\\",[]]"#, 2, Ok(FullParse::NotNeeded));
        check("[][][][]", 1, Ok(FullParse::NotNeeded));
        check("]]]][[", 2, Ok(FullParse::NotNeeded));
        check("\"[[[[", 1, Ok(FullParse::NotNeeded));
    }

    #[test]
    fn a_million_brackets_need_no_stack() {
        check(&"[".repeat(1_000_000), 999_999, Err(1_000_000));
    }

    #[test]
    fn escapes_and_numbers_that_may_be_invalid_need_a_full_parse() {
        check(
            r#"["\u00e9\n\u2028",1.5,12345,true,false]"#,
            9,
            Ok(FullParse::NotNeeded),
        );
        check(r#"["\\u0041"]"#, 9, Ok(FullParse::NotNeeded));
        check(r#"["\ud83d\ude00"]"#, 9, Ok(FullParse::Needed));
        check(r#"["\uDC00"]"#, 9, Ok(FullParse::Needed));
        check(r#"["\u0041"]"#, 9, Ok(FullParse::Needed));
        check("[1e5]", 9, Ok(FullParse::Needed));
        check("[1.5E999]", 9, Ok(FullParse::Needed));
        check(&format!("[{}]", "1".repeat(301)), 9, Ok(FullParse::Needed));
    }
}
