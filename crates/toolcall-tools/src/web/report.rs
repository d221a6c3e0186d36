//! An answer as a result: a line that says what came, and the thing itself as far as it can be shown.
//! It cuts and says so; nothing binary is dumped, nothing hidden stays hidden.

use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};
use toolcall::text::{clean_block, clean_line};
use toolcall::{Content, ToolError, ToolResult};

use super::body::{Body, Extent};
use super::charset::{self, Fit};
use super::follow::Answer;
use super::media::Media;
use super::readable::readable;
use super::target::Target;

/// Editors and models take no larger images.
const LARGEST_IMAGE: usize = 5 * 1024 * 1024;
const MOST_HEADERS: usize = 64;

/// What text is wanted of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// What a person would read.
    Readable,
    /// The page's own text.
    Raw,
}

/// Everything about an answer but its body.
#[derive(Debug)]
pub(crate) struct Report {
    target: Target,
    status: StatusCode,
    followed: usize,
    elsewhere: Option<Target>,
    content_type: String,
    /// The size that was told.
    told: Option<u64>,
    media: Media,
}

/// A body made fit to be shown.
struct Shown {
    content: Content,
    /// Remarks about it.
    notes: Vec<String>,
    /// Bytes of text or image that are shown.
    bytes: usize,
}

impl Report {
    pub(crate) fn of(answer: &Answer) -> Self {
        let response = &answer.response;
        let content_type = header(response.headers(), CONTENT_TYPE.as_str());
        // What could be decoded has lost this header on the way.
        let encoding = header(response.headers(), CONTENT_ENCODING.as_str());
        let media = match &*encoding {
            "" | "identity" => Media::declared(&content_type),
            encoding => Media::Binary(format!("encoded as {encoding}")),
        };
        Self {
            target: answer.target.clone(),
            status: response.status(),
            followed: answer.followed,
            elsewhere: answer.elsewhere.clone(),
            media,
            told: response.content_length(),
            content_type,
        }
    }

    /// How many bytes are worth downloading.
    pub(crate) fn worth(&self, most: usize) -> usize {
        match self.media {
            Media::Image(_) => most.min(LARGEST_IMAGE),
            Media::Binary(_) => 0,
            Media::Html | Media::Text | Media::Untold => most,
        }
    }

    /// A redirect that was not followed.
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

    /// The answer to `HEAD`.
    pub(crate) fn heads(&self, headers: &HeaderMap) -> Result<ToolResult, ToolError> {
        let mut lines = vec![format!("{}: {}", self.status_line(), self.target)];
        let shown = headers.keys().take(MOST_HEADERS);
        lines.extend(shown.map(|name| format!("{name}: {}", header(headers, name.as_str()))));
        self.judged(ToolResult::from(lines.join("\n")).structured(self.structured(0, 0)))
    }

    /// The answer with its body. It takes a while where a page is long.
    pub(crate) fn whole(
        mut self,
        body: Body,
        format: Format,
        most: usize,
    ) -> Result<ToolResult, ToolError> {
        self.media = self.media.guessed(&body.bytes);
        let shown = self.show(&body, format, most);
        let mut head = format!("{}: {}", self.status_line(), self.target);
        for note in self.size(&body).into_iter().chain(shown.notes) {
            head.push_str("\n- ");
            head.push_str(&note);
        }
        let result = ToolResult::from(head)
            .with(shown.content)
            .structured(self.structured(body.bytes.len(), shown.bytes));
        if let Extent::Broken(why) = &body.extent {
            let bytes = body.bytes.len();
            let reason =
                format!("the answer broke off after {bytes} bytes: {why}; what came is shown");
            return Err(ToolError::new(reason).with(result));
        }
        self.judged(result)
    }

    /// An answer that says that it failed is a failure, with all that it says.
    fn judged(&self, result: ToolResult) -> Result<ToolResult, ToolError> {
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

    fn size(&self, body: &Body) -> Vec<String> {
        let kind = if self.content_type.is_empty() {
            "no type given"
        } else {
            &self.content_type
        };
        let bytes = body.bytes.len();
        let size = match (&body.extent, &self.media) {
            // Nothing of it was read.
            (Extent::Cut, Media::Binary(_)) if bytes == 0 => match self.told {
                Some(told) => format!("{told} bytes"),
                None => "of a size that was not told".to_owned(),
            },
            (Extent::Whole | Extent::Broken(_), _) => format!("{bytes} bytes"),
            (Extent::Cut, _) => format!("over {bytes} bytes; the rest was not read"),
        };
        let mut notes = vec![format!("{kind}, {size}")];
        match self.followed {
            0 => {}
            1 => notes.push("after 1 redirect".to_owned()),
            more => notes.push(format!("after {more} redirects")),
        }
        notes
    }

    fn show(&self, body: &Body, format: Format, most: usize) -> Shown {
        let said = |text: &str| Shown {
            content: Content::text(text),
            notes: Vec::new(),
            bytes: 0,
        };
        match &self.media {
            _ if body.bytes.is_empty() && body.extent != Extent::Cut => said("(nothing)"),
            Media::Image(_) if body.extent != Extent::Whole => {
                said("(the image is not shown: it is not whole, or over 5 MiB)")
            }
            Media::Image(mime) => Shown {
                content: Content::image(&**mime, &body.bytes),
                notes: Vec::new(),
                bytes: body.bytes.len(),
            },
            Media::Binary(what) => said(&format!("(not shown: {what})")),
            Media::Html | Media::Text | Media::Untold => self.show_text(body, format, most),
        }
    }

    fn show_text(&self, body: &Body, format: Format, most: usize) -> Shown {
        let decoded = charset::decode(&body.bytes, &self.content_type);
        let mut notes = Vec::new();
        if decoded.fit == Fit::Replaced {
            let charset = decoded.charset;
            notes.push(format!(
                "some bytes are not {charset} and are shown as \u{fffd}"
            ));
        }
        let text = match (self.media == Media::Html, format) {
            (true, Format::Readable) => readable(&decoded.text, &self.target, most + 1),
            (false, Format::Readable) | (_, Format::Raw) => decoded.text,
        };
        let (text, is_cut) = fitted(text, most);
        if is_cut == Cut::Yes {
            let bytes = text.len();
            notes.push(format!(
                "only the first {bytes} bytes of its text are shown"
            ));
        }
        Shown {
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
            "size": self.told,
            "bytes": bytes,
            "shownBytes": shown,
            "redirects": self.followed,
        })
    }
}

#[derive(PartialEq, Eq)]
enum Cut {
    Yes,
    No,
}

/// Clean text of at most so many bytes. Cleaning makes text longer, so it is cut on both sides of it.
fn fitted(mut text: String, most: usize) -> (String, Cut) {
    let before = text.len();
    text.truncate(text.floor_char_boundary(most));
    let mut clean = clean_block(&text);
    let is_cut = text.len() < before || clean.len() > most;
    clean.truncate(clean.floor_char_boundary(most));
    (clean, if is_cut { Cut::Yes } else { Cut::No })
}

/// A header as one clean line; nothing where it is not there.
fn header(headers: &HeaderMap, name: &str) -> String {
    let value = headers.get(name).map(|value| value.as_bytes());
    clean_line(&String::from_utf8_lossy(value.unwrap_or_default()), 300)
}
