//! Converts a response to a tool result: a summary line and the body, as far as it can be shown.
//! It shows no binary data, escapes hidden characters, and says what it cut.

use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};
use toolcall::text::{clean_block, clean_line};
use toolcall::{Content, ToolError, ToolResult};

use super::body::{BodyExtent, ResponseBody};
use super::charset::{self, DecodeQuality};
use super::follow::FinalResponse;
use super::media::MediaKind;
use super::readable::readable;
use super::target::WebTarget;

/// Editors and models accept no larger images.
const LARGEST_IMAGE: usize = 5 * 1024 * 1024;
const MOST_HEADERS: usize = 64;

/// How to show a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextFormat {
    /// The readable text, with links.
    Readable,
    /// The source of the page.
    Raw,
}

/// A response without its body.
#[derive(Debug)]
pub(crate) struct FetchReport {
    target: WebTarget,
    status: StatusCode,
    followed: usize,
    elsewhere: Option<WebTarget>,
    content_type: String,
    /// The size in the `content-length` header.
    declared_size: Option<u64>,
    media: MediaKind,
}

/// A body as it is shown.
struct ShownBody {
    content: Content,
    /// Remarks about it.
    notes: Vec<String>,
    /// Bytes of text or image that are shown.
    bytes: usize,
}

impl FetchReport {
    pub(crate) fn of(answer: &FinalResponse) -> Self {
        let response = &answer.response;
        let content_type = header(response.headers(), CONTENT_TYPE.as_str());
        // The client removes this header from bodies that it decompresses.
        let encoding = header(response.headers(), CONTENT_ENCODING.as_str());
        let media = match &*encoding {
            "" | "identity" => MediaKind::declared(&content_type),
            encoding => MediaKind::Binary(format!("encoded as {encoding}")),
        };
        Self {
            target: answer.target.clone(),
            status: response.status(),
            followed: answer.followed,
            elsewhere: answer.elsewhere.clone(),
            media,
            declared_size: response.content_length(),
            content_type,
        }
    }

    /// Returns how many bytes to download: none of what cannot be shown.
    pub(crate) fn bytes_worth_reading(&self, most: usize) -> usize {
        match self.media {
            MediaKind::Image(_) => most.min(LARGEST_IMAGE),
            MediaKind::Binary(_) => 0,
            MediaKind::Html | MediaKind::Text | MediaKind::Undeclared => most,
        }
    }

    /// Returns the result for a redirect that was not followed.
    pub(crate) fn redirect(&self) -> Option<ToolResult> {
        let elsewhere = self.elsewhere.as_ref()?;
        let text = format!(
            "{}: {} redirects to another host: {elsewhere}\nIt was not followed. To follow it, call fetch again with that address.",
            self.status_line(),
            self.target,
        );
        let mut value = self.structured(0, 0);
        value["redirect"] = json!(elsewhere.to_string());
        Some(ToolResult::from(text).structured(value))
    }

    /// Returns the result of a `HEAD` request.
    pub(crate) fn head_result(&self, headers: &HeaderMap) -> Result<ToolResult, ToolError> {
        let mut lines = vec![format!("{}: {}", self.status_line(), self.target)];
        let shown = headers.keys().take(MOST_HEADERS);
        lines.extend(shown.map(|name| format!("{name}: {}", header(headers, name.as_str()))));
        self.check_status(ToolResult::from(lines.join("\n")).structured(self.structured(0, 0)))
    }

    /// Returns the result with the body. Slow for long pages, so run it on a blocking thread.
    pub(crate) fn full_result(
        mut self,
        body: ResponseBody,
        format: TextFormat,
        most: usize,
    ) -> Result<ToolResult, ToolError> {
        self.media = self.media.or_sniffed(&body.bytes);
        let shown = self.show(&body, format, most);
        let mut head = format!("{}: {}", self.status_line(), self.target);
        for note in self.size(&body).into_iter().chain(shown.notes) {
            head.push_str("\n- ");
            head.push_str(&note);
        }
        let result = ToolResult::from(head)
            .with(shown.content)
            .structured(self.structured(body.bytes.len(), shown.bytes));
        if let BodyExtent::Broken(why) = &body.extent {
            let bytes = body.bytes.len();
            let reason =
                format!("the answer broke off after {bytes} bytes: {why}; what came is shown");
            return Err(ToolError::new(reason).with(result));
        }
        self.check_status(result)
    }

    /// Turns a result with an HTTP error status into an error that keeps the content.
    fn check_status(&self, result: ToolResult) -> Result<ToolResult, ToolError> {
        if self.status.as_u16() < 400 {
            return Ok(result);
        }
        let advice = match self.status.as_u16() {
            401 | 403 => "it wants a permission that the request did not show",
            404 | 410 => "check the address, or search for where it went",
            429 => "wait before trying again",
            500.. => "the fault is there; try again later",
            _other => "see what it says",
        };
        let reason = format!(
            "`{}` answered {}; {advice}",
            self.target.reaches(),
            self.status_line()
        );
        Err(ToolError::new(reason).with(result))
    }

    fn status_line(&self) -> String {
        let mut line = self.status.to_string();
        if line.ends_with("<unknown status code>") {
            line = self.status.as_str().to_owned();
        }
        line
    }

    fn size(&self, body: &ResponseBody) -> Vec<String> {
        let kind = if self.content_type.is_empty() {
            "no type given"
        } else {
            &self.content_type
        };
        let bytes = body.bytes.len();
        let size = match (&body.extent, &self.media) {
            // Nothing of the body was read.
            (BodyExtent::Cut, MediaKind::Binary(_)) if bytes == 0 => match self.declared_size {
                Some(told) => format!("{told} bytes"),
                None => "of a size that was not told".to_owned(),
            },
            (BodyExtent::Whole | BodyExtent::Broken(_), _) => format!("{bytes} bytes"),
            (BodyExtent::Cut, _) => format!("over {bytes} bytes; the rest was not read"),
        };
        let mut notes = vec![format!("{kind}, {size}")];
        match self.followed {
            0 => {}
            1 => notes.push("after 1 redirect".to_owned()),
            more => notes.push(format!("after {more} redirects")),
        }
        notes
    }

    fn show(&self, body: &ResponseBody, format: TextFormat, most: usize) -> ShownBody {
        let said = |text: &str| ShownBody {
            content: Content::text(text),
            notes: Vec::new(),
            bytes: 0,
        };
        match &self.media {
            _ if body.bytes.is_empty() && body.extent != BodyExtent::Cut => said("(nothing)"),
            MediaKind::Image(_) if body.extent != BodyExtent::Whole => {
                said("(the image is not shown: it is not whole, or over 5 MiB)")
            }
            MediaKind::Image(mime) => ShownBody {
                content: Content::image(&**mime, &body.bytes),
                notes: Vec::new(),
                bytes: body.bytes.len(),
            },
            MediaKind::Binary(what) => said(&format!("(not shown: {what})")),
            MediaKind::Html | MediaKind::Text | MediaKind::Undeclared => {
                self.show_text(body, format, most)
            }
        }
    }

    fn show_text(&self, body: &ResponseBody, format: TextFormat, most: usize) -> ShownBody {
        let decoded = charset::decode(&body.bytes, &self.content_type);
        let mut notes = Vec::new();
        if decoded.quality == DecodeQuality::Replaced {
            let charset = decoded.charset;
            notes.push(format!(
                "some bytes are not {charset} and are shown as \u{fffd}"
            ));
        }
        let text = if self.media == MediaKind::Html && format == TextFormat::Readable {
            readable(&decoded.text, &self.target, most + 1)
        } else {
            decoded.text
        };
        let (text, is_cut) = fitted(text, most);
        if is_cut == Truncated::Yes {
            let bytes = text.len();
            notes.push(format!(
                "only the first {bytes} bytes of its text are shown"
            ));
        }
        ShownBody {
            bytes: text.len(),
            content: Content::text(text),
            notes,
        }
    }

    fn structured(&self, bytes: usize, shown: usize) -> Value {
        json!({
            "url": self.target.to_string(),
            "status": self.status.as_u16(),
            "contentType": self.content_type,
            "size": self.declared_size,
            "bytes": bytes,
            "shownBytes": shown,
            "redirects": self.followed,
        })
    }
}

#[derive(PartialEq, Eq)]
enum Truncated {
    Yes,
    No,
}

/// Returns at most `most` bytes of the text, with hidden characters escaped. Escaping makes it longer, so it is cut both
/// before and after.
fn fitted(mut text: String, most: usize) -> (String, Truncated) {
    let before = text.len();
    text.truncate(text.floor_char_boundary(most));
    let mut clean = clean_block(&text);
    let is_cut = text.len() < before || clean.len() > most;
    clean.truncate(clean.floor_char_boundary(most));
    (
        clean,
        if is_cut {
            Truncated::Yes
        } else {
            Truncated::No
        },
    )
}

/// Returns a header as one clean line; empty if it is missing.
fn header(headers: &HeaderMap, name: &str) -> String {
    let value = headers.get(name).map(|value| value.as_bytes());
    clean_line(&String::from_utf8_lossy(value.unwrap_or_default()), 300)
}
