//! A tool that reads a file, or a part of it: text, or an image.
//! It reads the one path that it stated, and spills of its own session.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::task::spawn_blocking;
use toolcall::{
    Content, Intent, Kind, Location, PrepareContext, Progress, RunContext, Tool, ToolError,
    ToolResult, title,
};

use super::naming::{counted, named};
use crate::local::{FilePart, Files, Spills};
use crate::window::Window;

/// What is read at once where nothing is said: about as much as a call may hold.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 48 * 1024;
/// Larger files are read piece by piece, and only in part.
const WHOLE: u64 = 8 * 1024 * 1024;
const PIECE: u64 = 1024 * 1024;
const LARGEST_IMAGE: u64 = 5 * 1024 * 1024;
/// As much as tells what a file is.
const SNIFF: u64 = 16;

/// Reads a file.
#[derive(Clone, Debug)]
pub struct ReadFile {
    files: Arc<Files>,
    spills: Arc<Spills>,
}

/// Which part of which file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file, relative to the session's folder or absolute; or the address of output that an
    /// earlier call left.
    path: String,
    /// The line to begin with, from 1.
    #[schemars(range(min = 1))]
    line: Option<usize>,
    /// How many lines to read at most.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

impl Input {
    /// Addresses of spills come as `file:` addresses.
    fn path(&self) -> PathBuf {
        match self.path.strip_prefix("file://") {
            Some(path) => PathBuf::from(&*percent_decode_str(path).decode_utf8_lossy()),
            None => PathBuf::from(&self.path),
        }
    }

    fn window(&self) -> Window {
        let limit = self.limit.unwrap_or(MOST_LINES).min(MOST_LINES);
        Window::new(self.line.unwrap_or(1), limit, MOST_BYTES)
    }

    fn is_part(&self) -> bool {
        self.line.is_some() || self.limit.is_some()
    }
}

impl ReadFile {
    /// Reads beneath these roots, and these spills.
    pub fn new(files: Arc<Files>, spills: Arc<Spills>) -> Self {
        Self { files, spills }
    }

    async fn part(&self, place: &Place, from: u64, limit: u64) -> Result<FilePart, ToolError> {
        let (this, place) = (self.clone(), place.clone());
        let read = move || match &place {
            Place::File(path) => this.files.read_part(path, from, limit),
            Place::Spill(path) => this.spills.read_spill(path, from, limit),
        };
        Ok(spawn_blocking(read).await??)
    }

    async fn image(
        &self,
        place: &Place,
        mime: &'static str,
        input: &Input,
    ) -> Result<ToolResult, ToolError> {
        let FilePart { bytes, size } = self.part(place, 0, LARGEST_IMAGE).await?;
        let name = named(&input.path);
        if size > LARGEST_IMAGE {
            let reason = format!("`{name}` is an image of {size} bytes, more than can be shown");
            return Err(ToolError::new(reason));
        }
        let said = format!("`{name}`: {mime}, {size} bytes");
        let structured = json!({"path": place.path(), "mime": mime, "bytes": size});
        let result = ToolResult::from(Content::image(mime, &bytes)).with(said);
        Ok(result.structured(structured))
    }

    /// A part of what is too large to be read as a whole.
    async fn stream(
        &self,
        place: &Place,
        input: &Input,
        scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let mut window = input.window();
        let mut from = 0;
        loop {
            let FilePart { bytes, size } = self.part(place, from, PIECE).await?;
            from += bytes.len() as u64;
            let is_end = bytes.is_empty() || from >= size;
            if window.take(&bytes).is_full() || is_end {
                let total = is_end.then(|| window.lines_seen());
                return told(&window, place.path(), input, size, total);
            }
            let progress = Progress::at(from as f64).of(size as f64);
            scope.progress(progress.saying("bytes read"));
        }
    }

    async fn text(
        &self,
        place: &Path,
        input: &Input,
        scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let text = scope.read_text(place).await?;
        let mut window = input.window();
        window.take(text.as_bytes());
        let total = text.lines().count();
        told(&window, place, input, text.len() as u64, Some(total))
    }
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a text file, or lines of it with `line` and `limit`, \
        as it is in the editor where that has it open. Images come back as images. At most 2,000 \
        lines or 48 KiB come at once; the answer says how to read on.";
    const KIND: Option<Kind> = Some(Kind::Read);
    type Input = Input;
    type Output = ToolResult;

    async fn prepare(&self, input: &Input, look: &PrepareContext) -> Result<Intent, ToolError> {
        let path = input.path();
        let title = title::infer(Self::NAME, Kind::Read, Some(look.input()));
        let intent = Intent::new(Kind::Read, title);
        if self.spills.owns(&path) {
            return Ok(intent.at(Location::file(path)));
        }
        let place = look.resolve(&path).await?;
        let line = input.line.and_then(|line| u32::try_from(line).ok());
        let mut intent = intent.reading(&place);
        if let (Some(line), Some(location)) = (line, intent.locations.first_mut()) {
            location.line = Some(line);
        }
        Ok(intent)
    }

    async fn run(&self, input: Input, scope: &RunContext) -> Result<ToolResult, ToolError> {
        let path = input.path();
        if self.spills.owns(&path) {
            return self.stream(&Place::Spill(path), &input, scope).await;
        }
        let place = Place::File(scope.resolve(&path).await?);
        // What only the editor has is not on the disk: its text is asked for below.
        let head = self.part(&place, 0, SNIFF).await.ok();
        let head = head.unwrap_or(FilePart {
            bytes: Vec::new(),
            size: 0,
        });
        if let Some(mime) = image_type(&head.bytes) {
            return self.image(&place, mime, &input).await;
        }
        match head.size > WHOLE {
            true if input.is_part() => self.stream(&place, &input, scope).await,
            true => Err(ToolError::new(format!(
                "`{}` has {} bytes; give `line` and `limit` to read a part of it, or search it",
                named(&input.path),
                head.size
            ))),
            false => self.text(place.path(), &input, scope).await,
        }
    }
}

/// Where it is read.
#[derive(Clone, Debug)]
enum Place {
    File(PathBuf),
    Spill(PathBuf),
}

impl Place {
    fn path(&self) -> &Path {
        match self {
            Place::File(path) | Place::Spill(path) => path,
        }
    }
}

/// What was read, and where to read on.
fn told(
    window: &Window,
    path: &Path,
    input: &Input,
    bytes: u64,
    total: Option<usize>,
) -> Result<ToolResult, ToolError> {
    let name = named(&input.path);
    let of = total.map_or(String::new(), |total| format!(" of {total}"));
    let (first, last) = (window.first(), window.last());
    let structured = json!({
        "path": path, "firstLine": first, "lastLine": last, "totalLines": total, "bytes": bytes,
    });
    let text = String::from_utf8_lossy(window.bytes());
    if text.contains('\0') {
        let reason = format!("`{name}` is not text; it has {bytes} bytes");
        return Err(ToolError::new(reason));
    }
    let mut said = match total {
        Some(0) => format!("`{name}` is empty (0 bytes)"),
        Some(lines) if last < first => {
            let lines = counted(lines as u64, "line", "lines");
            let reason = format!("`{name}` has only {lines}; there is no line {first}");
            return Err(ToolError::new(reason));
        }
        Some(_) | None if first == last => {
            format!("`{name}`: line {first}{of}, {bytes} bytes in all")
        }
        Some(_) | None => format!("`{name}`: lines {first} to {last}{of}, {bytes} bytes in all"),
    };
    if window.is_cut() {
        said += "; the last of these lines is too long and was cut";
    }
    if total.is_none_or(|total| last < total) {
        said += &format!("; read on with `line` {}", last + 1);
    }
    let result = if text.is_empty() {
        ToolResult::default()
    } else {
        ToolResult::from(text.into_owned())
    };
    Ok(result.with(said).structured(structured))
}

fn image_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}
