//! Converts a prompt to text, with links written as paths.
//! Other content is left out, since no line can use it.

use std::borrow::Cow;

use toolcall::Content;
use url::Url;

/// Returns the prompt as text. A file that is mentioned within a line becomes its path; a file that is
/// only attached is left out.
pub(super) fn text(prompt: &[Content]) -> String {
    let mut text = String::new();
    let mut flow = TextFlow::OwnLine;
    for content in prompt {
        match content {
            Content::Text(more) => {
                flow.separate(&mut text, more);
                text.push_str(more);
                flow = TextFlow::OwnLine;
            }
            Content::Link(link) => flow = mention(&mut text, &link.uri).unwrap_or(flow),
            Content::Resource(resource) => {
                flow = mention(&mut text, &resource.uri).unwrap_or(flow);
            }
            Content::Image(_) | Content::Audio(_) | Content::Edit(_) | Content::Terminal(_) => {}
        }
    }
    text
}

/// Where the next text goes.
#[derive(Clone, Copy)]
enum TextFlow {
    OwnLine,
    /// Behind a mention.
    SameLine,
}

impl TextFlow {
    fn separate(self, text: &mut String, more: &str) {
        let is_apart = text.ends_with(char::is_whitespace) || more.starts_with(char::is_whitespace);
        match self {
            TextFlow::OwnLine if !text.is_empty() && !text.ends_with('\n') => text.push('\n'),
            TextFlow::SameLine if !is_apart => text.push(' '),
            TextFlow::OwnLine | TextFlow::SameLine => {}
        }
    }
}

/// Writes a path into the line, if one can stand there. Then the line goes on.
fn mention(text: &mut String, uri: &str) -> Option<TextFlow> {
    let line = text.rsplit('\n').next().unwrap_or_default();
    let awaits_path = line.ends_with(char::is_whitespace) || line.split_whitespace().count() == 1;
    let path = path(uri).filter(|_| awaits_path && !line.trim().is_empty())?;
    if !text.ends_with(char::is_whitespace) {
        text.push(' ');
    }
    text.push_str(&as_word(&path));
    Some(TextFlow::SameLine)
}

fn path(uri: &str) -> Option<String> {
    let url = Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()?.into_os_string().into_string().ok()
}

/// Quoted as a shell would have it, too, since the line may be a command.
fn as_word(path: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@%,:".contains(c);
    if path.chars().all(is_plain) {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(format!("'{}'", path.replace('\'', r#"'"'"'"#)))
    }
}

#[cfg(test)]
mod tests {
    use toolcall::{Link, Resource, ResourceBody};

    use super::*;

    fn link(uri: &str) -> Content {
        Content::Link(Link {
            uri: uri.into(),
            ..Link::default()
        })
    }

    fn embedded(uri: &str) -> Content {
        Content::Resource(Resource {
            uri: uri.into(),
            mime: None,
            body: ResourceBody::Text("body".into()),
        })
    }

    #[test]
    fn a_link_within_a_line_is_its_path() {
        assert_eq!(
            text(&["read ".into(), link("file:///a/b.txt")]),
            "read /a/b.txt"
        );
        assert_eq!(text(&["read".into(), link("file:///x")]), "read /x");
        assert_eq!(
            text(&[
                "move ".into(),
                link("file:///a%20b"),
                "to ".into(),
                embedded("file:///c'd#L3")
            ]),
            r#"move '/a b' to '/c'"'"'d'"#
        );
    }

    #[test]
    fn what_is_attached_is_no_part_of_a_line() {
        assert_eq!(text(&["read a".into(), link("file:///x")]), "read a");
        assert_eq!(text(&["list\n".into(), link("file:///x")]), "list\n");
        assert_eq!(text(&[link("file:///x"), "list".into()]), "list");
        assert_eq!(
            text(&["fetch ".into(), link("https://example.org/")]),
            "fetch "
        );
        assert_eq!(text(&["read ".into(), link("no address")]), "read ");
    }

    #[test]
    fn texts_are_lines_of_their_own() {
        assert_eq!(
            text(&["list".into(), "read a\n".into(), "list b".into()]),
            "list\nread a\nlist b"
        );
        let image = Content::image("image/png", b"x");
        assert_eq!(
            text(&["list".into(), image, "list b".into()]),
            "list\nlist b"
        );
    }
}
