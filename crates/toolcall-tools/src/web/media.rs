//! The kind of a response body, by its content type, or by its first bytes if there is none.
//! It decides only how the body is shown.

use toolcall::text::clean_line;

/// The kind of a response body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MediaKind {
    /// An HTML page.
    Html,
    /// Any other text.
    Text,
    /// An image that models and editors can show.
    Image(String),
    /// Data that is not shown, with its type.
    Binary(String),
    /// The response declares no type.
    Undeclared,
}

const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const TEXTS: [&str; 10] = [
    "application/json",
    "application/xml",
    "application/javascript",
    "application/ecmascript",
    "application/x-javascript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-sh",
    "application/x-www-form-urlencoded",
];

impl MediaKind {
    /// Returns the kind for a content type.
    pub(crate) fn declared(content_type: &str) -> Self {
        let mime = essence(content_type);
        match &*mime {
            "" | "application/octet-stream" => MediaKind::Undeclared,
            "text/html" | "application/xhtml+xml" => MediaKind::Html,
            image if IMAGES.contains(&image) => MediaKind::Image(mime),
            text if is_text(text) => MediaKind::Text,
            _unshown => MediaKind::Binary(clean_line(&mime, 100)),
        }
    }

    /// Returns the kind by the first bytes if none was declared, or if a declared image is not one: model
    /// providers refuse invalid images.
    pub(crate) fn or_sniffed(self, bytes: &[u8]) -> Self {
        match self {
            MediaKind::Image(mime) if !looks_like(&mime, bytes) => {
                MediaKind::Binary(format!("called {mime}, which it is not"))
            }
            MediaKind::Html | MediaKind::Text | MediaKind::Image(_) | MediaKind::Binary(_) => self,
            MediaKind::Undeclared => Self::sniffed(bytes),
        }
    }

    fn sniffed(bytes: &[u8]) -> Self {
        let start: Vec<u8> = bytes
            .trim_ascii_start()
            .iter()
            .take(16)
            .map(u8::to_ascii_lowercase)
            .collect();
        let is_page = start.starts_with(b"<!doctype html") || start.starts_with(b"<html");
        match std::str::from_utf8(bytes) {
            _ if bytes.contains(&0) => MediaKind::Binary("unknown type".to_owned()),
            _ if is_page => MediaKind::Html,
            Ok(_) => MediaKind::Text,
            // The limit may have split the last character.
            Err(error) if bytes.len() - error.valid_up_to() < 4 => MediaKind::Text,
            Err(_) => MediaKind::Binary("unknown type".to_owned()),
        }
    }
}

/// Whether the first bytes are those of this image type.
fn looks_like(mime: &str, bytes: &[u8]) -> bool {
    match mime {
        "image/png" => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => bytes.starts_with(b"\xff\xd8\xff"),
        "image/gif" => bytes.starts_with(b"GIF8"),
        "image/webp" => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        _other => false,
    }
}

/// Returns the content type without its parameters, in lower case.
fn essence(content_type: &str) -> String {
    let mime = content_type.split(';').next().unwrap_or_default();
    mime.trim().to_ascii_lowercase()
}

fn is_text(mime: &str) -> bool {
    mime.starts_with("text/")
        || TEXTS.contains(&mime)
        || mime.ends_with("+json")
        || mime.ends_with("+xml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_leniently() {
        let table = [
            ("text/html; charset=utf-8", MediaKind::Html),
            (" TEXT/HTML ", MediaKind::Html),
            ("application/ld+json", MediaKind::Text),
            ("image/svg+xml", MediaKind::Text),
            ("image/PNG", MediaKind::Image("image/png".to_owned())),
            ("image/tiff", MediaKind::Binary("image/tiff".to_owned())),
            ("", MediaKind::Undeclared),
            ("application/octet-stream", MediaKind::Undeclared),
            ("\u{202e}x", MediaKind::Binary("\\u{202e}x".to_owned())),
        ];
        for (declared, media) in table {
            assert_eq!(MediaKind::declared(declared), media, "{declared}");
        }
    }

    #[test]
    fn undeclared_types_are_guessed() {
        let table: [(&[u8], MediaKind); 5] = [
            (b"\n <!DOCTYPE HTML><p>", MediaKind::Html),
            (b"plain", MediaKind::Text),
            (b"cut \xe2\x82", MediaKind::Text),
            (b"a\0b", MediaKind::Binary("unknown type".to_owned())),
            (
                b"\xff\xfe\xfd\xfc\xfb",
                MediaKind::Binary("unknown type".to_owned()),
            ),
        ];
        for (bytes, media) in table {
            assert_eq!(MediaKind::Undeclared.or_sniffed(bytes), media);
        }
    }
}
