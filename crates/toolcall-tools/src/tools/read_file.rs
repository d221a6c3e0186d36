//! `read_file`: reads a text file or a part of it, or an image.
//! It reads only the path that it stated, and spilled output of its own session.

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

use super::naming::{counted, display_path};
use crate::local::{FilePart, Files, Spills};
use crate::window::Window;

/// The limits of one result: about as much as a call may hold.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 48 * 1024;
/// A larger file is read in chunks, and only a part of it is returned.
const LARGEST_WHOLE: u64 = 8 * 1024 * 1024;
const CHUNK: u64 = 1024 * 1024;
const LARGEST_IMAGE: u64 = 5 * 1024 * 1024;
/// Enough bytes to recognize an image.
const SNIFF_BYTES: u64 = 16;

/// Reads a text file or an image.
#[derive(Clone, Debug)]
pub struct ReadFile {
    files: Arc<Files>,
    spills: Arc<Spills>,
}

/// Which part of which file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFileInput {
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

impl ReadFileInput {
    /// Returns the path. Models get spilled output as `file:` URLs.
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
    /// Creates the tool for the roots of `files` and the spilled output of `spills`.
    pub fn new(files: Arc<Files>, spills: Arc<Spills>) -> Self {
        Self { files, spills }
    }

    async fn part(
        &self,
        source: &ReadSource,
        from: u64,
        limit: u64,
    ) -> Result<FilePart, ToolError> {
        let (this, source) = (self.clone(), source.clone());
        let read = move || match &source {
            ReadSource::File(path) => this.files.read_part(path, from, limit),
            ReadSource::Spill(path) => this.spills.read_spill(path, from, limit),
        };
        Ok(spawn_blocking(read).await??)
    }

    async fn image(
        &self,
        source: &ReadSource,
        mime: &'static str,
        input: &ReadFileInput,
    ) -> Result<ToolResult, ToolError> {
        let FilePart { bytes, size } = self.part(source, 0, LARGEST_IMAGE).await?;
        let name = display_path(&input.path);
        if size > LARGEST_IMAGE {
            let reason = format!("`{name}` is an image of {size} bytes, more than can be shown");
            return Err(ToolError::new(reason));
        }
        let said = format!("`{name}`: {mime}, {size} bytes");
        let structured = json!({"path": source.path(), "mime": mime, "bytes": size});
        let result = ToolResult::from(Content::image(mime, &bytes)).with(said);
        Ok(result.structured(structured))
    }

    /// Reads lines of a large file without reading all of it.
    async fn stream(
        &self,
        source: &ReadSource,
        input: &ReadFileInput,
        scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let mut window = input.window();
        let mut from = 0;
        loop {
            let FilePart { bytes, size } = self.part(source, from, CHUNK).await?;
            from += bytes.len() as u64;
            let is_end = bytes.is_empty() || from >= size;
            if window.take(&bytes).is_full() || is_end {
                let total = is_end.then(|| window.lines_seen());
                return read_result(&window, source.path(), input, size, total);
            }
            let progress = Progress::at(from as f64).of(size as f64);
            scope.progress(progress.saying("bytes read"));
        }
    }

    async fn text(
        &self,
        path: &Path,
        input: &ReadFileInput,
        scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let text = scope.read_text(path).await?;
        let mut window = input.window();
        window.take(text.as_bytes());
        let total = text.lines().count();
        read_result(&window, path, input, text.len() as u64, Some(total))
    }
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a text file, or lines of it with `line` and `limit`, \
        as it is in the editor where that has it open. Images come back as images. At most 2,000 \
        lines or 48 KiB come at once; the answer says how to read on.";
    const KIND: Option<Kind> = Some(Kind::Read);
    type Input = ReadFileInput;
    type Output = ToolResult;

    async fn prepare(
        &self,
        input: &ReadFileInput,
        look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let path = input.path();
        let title = title::infer(Self::NAME, Kind::Read, Some(look.input()));
        let intent = Intent::new(Kind::Read, title);
        if self.spills.owns(&path) {
            return Ok(intent.at(Location::file(path)));
        }
        let source = look.resolve(&path).await?;
        let line = input.line.and_then(|line| u32::try_from(line).ok());
        let mut intent = intent.reading(&source);
        if let (Some(line), Some(location)) = (line, intent.locations.first_mut()) {
            location.line = Some(line);
        }
        Ok(intent)
    }

    async fn run(&self, input: ReadFileInput, scope: &RunContext) -> Result<ToolResult, ToolError> {
        let path = input.path();
        if self.spills.owns(&path) {
            return self.stream(&ReadSource::Spill(path), &input, scope).await;
        }
        let source = ReadSource::File(scope.resolve(&path).await?);
        // A file may exist in the editor only; its text is read through the host below.
        let head = self.part(&source, 0, SNIFF_BYTES).await.ok();
        let head = head.unwrap_or(FilePart {
            bytes: Vec::new(),
            size: 0,
        });
        if let Some(mime) = image_type(&head.bytes) {
            return self.image(&source, mime, &input).await;
        }
        if head.size <= LARGEST_WHOLE {
            return self.text(source.path(), &input, scope).await;
        }
        if input.is_part() {
            return self.stream(&source, &input, scope).await;
        }
        Err(ToolError::new(format!(
            "`{}` has {} bytes; give `line` and `limit` to read a part of it, or search it",
            display_path(&input.path),
            head.size
        )))
    }
}

/// What to read.
#[derive(Clone, Debug)]
enum ReadSource {
    File(PathBuf),
    Spill(PathBuf),
}

impl ReadSource {
    fn path(&self) -> &Path {
        match self {
            ReadSource::File(path) | ReadSource::Spill(path) => path,
        }
    }
}

/// Returns the text that was read, with a line that says which part it is and how to read on.
fn read_result(
    window: &Window,
    path: &Path,
    input: &ReadFileInput,
    bytes: u64,
    total: Option<usize>,
) -> Result<ToolResult, ToolError> {
    let name = display_path(&input.path);
    let of = total.map_or(String::new(), |total| format!(" of {total}"));
    let size = counted(bytes, "byte", "bytes");
    let (first, last) = (window.first(), window.last());
    let structured = json!({
        "path": path, "firstLine": first, "lastLine": last, "totalLines": total, "bytes": bytes,
    });
    let text = String::from_utf8_lossy(window.bytes());
    if text.contains('\0') {
        let reason = format!("`{name}` is not text; it has {size}");
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
            format!("`{name}`: line {first}{of}, {size} in all")
        }
        Some(_) | None => format!("`{name}`: lines {first} to {last}{of}, {size} in all"),
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
