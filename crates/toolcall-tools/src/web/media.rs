//! What sort of thing an answer holds, by its declared type, or by its first bytes where none is told.
//! It decides how a body is shown, and nothing else.

use toolcall::text::clean_line;

/// What sort of thing an answer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    /// A page.
    Html,
    /// Any other text.
    Text,
    /// An image that models and editors can show.
    Image(String),
    /// Something that is not shown.
    Binary(String),
    /// Nobody said.
    Untold,
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

impl Media {
    /// By the value of a content type.
    pub(crate) fn declared(content_type: &str) -> Self {
        let mime = essence(content_type);
        match &*mime {
            "" | "application/octet-stream" => Media::Untold,
            "text/html" | "application/xhtml+xml" => Media::Html,
            image if IMAGES.contains(&image) => Media::Image(mime),
            text if is_text(text) => Media::Text,
            _unshown => Media::Binary(clean_line(&mime, 100)),
        }
    }

    /// What it turns out to be, where nobody said, or where it is no image after all: one that is
    /// none would be refused by whatever the model runs on.
    pub(crate) fn guessed(self, bytes: &[u8]) -> Self {
        match self {
            Media::Image(mime) if !looks_like(&mime, bytes) => {
                Media::Binary(format!("called {mime}, which it is not"))
            }
            Media::Html | Media::Text | Media::Image(_) | Media::Binary(_) => self,
            Media::Untold => Self::sniffed(bytes),
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
            _ if bytes.contains(&0) => Media::Binary("unknown type".to_owned()),
            _ if is_page => Media::Html,
            Ok(_) => Media::Text,
            // A cut may have split the last character.
            Err(error) if bytes.len() - error.valid_up_to() < 4 => Media::Text,
            Err(_) => Media::Binary("unknown type".to_owned()),
        }
    }
}

/// Whether the first bytes are those of that image type.
fn looks_like(mime: &str, bytes: &[u8]) -> bool {
    match mime {
        "image/png" => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => bytes.starts_with(b"\xff\xd8\xff"),
        "image/gif" => bytes.starts_with(b"GIF8"),
        "image/webp" => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        _other => false,
    }
}

/// The type without its parameters, in lower case.
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
            ("text/html; charset=utf-8", Media::Html),
            (" TEXT/HTML ", Media::Html),
            ("application/ld+json", Media::Text),
            ("image/svg+xml", Media::Text),
            ("image/PNG", Media::Image("image/png".to_owned())),
            ("image/tiff", Media::Binary("image/tiff".to_owned())),
            ("", Media::Untold),
            ("application/octet-stream", Media::Untold),
            ("\u{202e}x", Media::Binary("\\u{202e}x".to_owned())),
        ];
        for (declared, media) in table {
            assert_eq!(Media::declared(declared), media, "{declared}");
        }
    }

    #[test]
    fn what_nobody_told_is_guessed() {
        let table: [(&[u8], Media); 5] = [
            (b"\n <!DOCTYPE HTML><p>", Media::Html),
            (b"plain", Media::Text),
            (b"cut \xe2\x82", Media::Text),
            (b"a\0b", Media::Binary("unknown type".to_owned())),
            (
                b"\xff\xfe\xfd\xfc\xfb",
                Media::Binary("unknown type".to_owned()),
            ),
        ];
        for (bytes, media) in table {
            assert_eq!(Media::Untold.guessed(bytes), media);
        }
    }
}
