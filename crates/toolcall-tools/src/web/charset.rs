//! Decodes bytes as text, with the charset of the content type, the page or the byte order mark.
//! It never fails: invalid bytes become replacement characters, and the result says so.

use encoding_rs::{Encoding, UTF_8};

/// Decoded text, with its charset.
#[derive(Debug, PartialEq)]
pub(crate) struct DecodedText {
    pub(crate) text: String,
    pub(crate) charset: &'static str,
    pub(crate) quality: DecodeQuality,
}

/// Whether all bytes were valid in the charset.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DecodeQuality {
    Exact,
    Replaced,
}

/// Decodes bytes with the charset of the content type, of the page itself, or UTF-8.
pub(crate) fn decode(bytes: &[u8], content_type: &str) -> DecodedText {
    let named = label(content_type).or_else(|| label(&head_of(bytes)));
    let (text, encoding, replaced) = named.unwrap_or(UTF_8).decode(bytes);
    DecodedText {
        text: text.into_owned(),
        charset: encoding.name(),
        quality: if replaced {
            DecodeQuality::Replaced
        } else {
            DecodeQuality::Exact
        },
    }
}

/// Returns the first kilobyte of a page, where the standard expects the charset.
fn head_of(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(1024)];
    let head = String::from_utf8_lossy(head).into_owned();
    // Only markup declares a charset; plain text may mention one.
    if head.trim_start().starts_with('<') {
        head
    } else {
        String::new()
    }
}

/// Returns the encoding named after the first `charset=`.
fn label(text: &str) -> Option<&'static Encoding> {
    let at = text.to_ascii_lowercase().find("charset=")?;
    let rest = text.get(at + "charset=".len()..)?;
    let rest = rest.trim_start_matches(['"', '\'', ' ']);
    let end =
        rest.find(|c: char| !c.is_ascii_graphic() || matches!(c, '"' | '\'' | ';' | '>' | '/'));
    Encoding::for_label(&rest.as_bytes()[..end.unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(bytes: &[u8], content_type: &str, expected: Expect) {
        let DecodedText {
            text,
            charset,
            quality,
        } = decode(bytes, content_type);
        expected.assert_eq(&format!("{text:?} {charset} {quality:?}"));
    }

    #[test]
    fn charsets() {
        check(
            "ä".as_bytes(),
            "text/plain",
            expect![[r#""ä" UTF-8 Exact"#]],
        );
        check(
            b"\xe4",
            "text/plain; Charset=\"latin1\"",
            expect![[r#""ä" windows-1252 Exact"#]],
        );
        check(b"\xe4", "text/plain", expect![[r#""�" UTF-8 Replaced"#]]);
        check(
            b"\xe4",
            "text/plain; charset=no-such",
            expect![[r#""�" UTF-8 Replaced"#]],
        );
        check(
            b"<meta charset='windows-1251'>\xe4",
            "text/html",
            expect![[r#""<meta charset='windows-1251'>д" windows-1251 Exact"#]],
        );
        check(
            b"we say charset=latin1 \xe4",
            "text/html",
            expect![[r#""we say charset=latin1 �" UTF-8 Replaced"#]],
        );
        check(
            b"\xff\xfea\0",
            "text/plain; charset=utf-8",
            expect![[r#""a" UTF-16LE Exact"#]],
        );
        check(
            b"\x82\xa0",
            "text/plain;charset=shift_jis;x=y",
            expect![[r#""あ" Shift_JIS Exact"#]],
        );
        check(b"x", "charset=", expect![[r#""x" UTF-8 Exact"#]]);
    }
}
