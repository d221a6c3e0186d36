//! Converts HTML to readable text: headings, lists, links and tables, without scripts and styles.
//! It builds no tree, so deep nesting costs nothing extra, and broken markup never fails.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::target::WebTarget;

const DEEPEST_LIST: usize = 16;
const LONGEST_LINK: usize = 2 * 1024;

/// Returns the text of a page, cut soon after `most` bytes. Links are resolved against `base`.
pub(crate) fn readable(html: &str, base: &WebTarget, most: usize) -> String {
    let mut page = HtmlText::new(base, most);
    let mut emitter =
        CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| page.take(event));
    emitter.naively_switch_states(true);
    // The tokenizer yields only when the limit is reached, or ends.
    let _enough = Tokenizer::new_with_emitter(html, emitter).next();
    page.end_link();
    page.out
}

/// The text has reached its limit.
struct LimitReached;

/// Collects the text of a page.
struct HtmlText<'a> {
    base: &'a WebTarget,
    most: usize,
    out: String,
    /// The tag whose attributes are being read.
    tag: OpenTag,
    attribute: Attribute,
    gap: Separator,
    /// A prefix for the next text: a bullet, or the `#` of a heading.
    mark: String,
    link: Option<OpenLink>,
    /// The next numbers of the open lists; 0 for a bullet list.
    lists: Vec<u32>,
    flow: TextMode,
}

#[derive(Default)]
struct OpenTag {
    name: Vec<u8>,
    href: String,
    alt: String,
}

#[derive(Clone, Copy)]
enum Attribute {
    Href,
    Alt,
    Other,
}

/// What to write between two texts; the greatest one wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Separator {
    None,
    Space,
    Cell,
    Line,
    Blank,
}

/// How to write text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextMode {
    /// Collapses white space.
    Folded,
    /// Keeps white space, within `pre`.
    Kept,
    /// Skips text, within scripts and styles.
    Skipped,
}

struct OpenLink {
    to: String,
    /// Where its text starts in the output.
    start: Option<usize>,
}

impl<'a> HtmlText<'a> {
    fn new(base: &'a WebTarget, most: usize) -> Self {
        Self {
            base,
            most,
            out: String::new(),
            tag: OpenTag::default(),
            attribute: Attribute::Other,
            gap: Separator::None,
            mark: String::new(),
            link: None,
            lists: Vec::new(),
            flow: TextMode::Folded,
        }
    }

    fn take(&mut self, event: CallbackEvent<'_>) -> Option<LimitReached> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = OpenTag {
                    name: name.to_vec(),
                    ..OpenTag::default()
                }
            }
            CallbackEvent::AttributeName { name } => self.attribute = attribute(name),
            CallbackEvent::AttributeValue { value } => self.keep(&String::from_utf8_lossy(value)),
            CallbackEvent::CloseStartTag { .. } => self.open(),
            CallbackEvent::EndTag { name } => self.close(name),
            CallbackEvent::String { value } => self.text(&String::from_utf8_lossy(value)),
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
        (self.out.len() >= self.most).then_some(LimitReached)
    }

    fn keep(&mut self, value: &str) {
        match self.attribute {
            Attribute::Href => self.tag.href = value.to_owned(),
            Attribute::Alt => self.tag.alt = value.to_owned(),
            Attribute::Other => {}
        }
    }

    fn open(&mut self) {
        let tag = std::mem::take(&mut self.tag);
        self.space(&tag.name);
        match &*tag.name {
            b"script" | b"style" | b"noscript" | b"iframe" | b"noembed" | b"noframe" => {
                self.flow = TextMode::Skipped;
            }
            b"a" => self.begin_link(&tag.href),
            b"img" if !tag.alt.trim().is_empty() => self.text(&format!("[image: {}]", tag.alt)),
            b"ul" => self.begin_list(0),
            b"ol" => self.begin_list(1),
            b"li" => self.mark = self.bullet(),
            b"hr" => self.text("---\n"),
            b"title" => self.mark = "Title: ".to_owned(),
            b"pre" => {
                self.mark = "```\n".to_owned();
                self.flow = TextMode::Kept;
            }
            [b'h', level @ b'1'..=b'6'] => {
                self.mark = "#".repeat(usize::from(level - b'0')) + " ";
            }
            _plain => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        match name {
            b"script" | b"style" | b"noscript" | b"iframe" | b"noembed" | b"noframe" => {
                self.flow = TextMode::Folded;
            }
            b"a" => self.end_link(),
            b"ul" | b"ol" => drop(self.lists.pop()),
            b"pre" if self.flow == TextMode::Kept => self.end_pre(),
            _plain => {}
        }
        self.space(name);
        self.mark.clear();
    }

    /// Sets the separator before and after a tag.
    fn space(&mut self, name: &[u8]) {
        let gap = match name {
            b"p" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"table" | b"blockquote"
            | b"pre" | b"hr" | b"title" | b"dl" | b"section" | b"article" => Separator::Blank,
            b"ul" | b"ol" if self.lists.is_empty() => Separator::Blank,
            b"div" | b"br" | b"li" | b"ul" | b"ol" | b"tr" | b"dt" | b"dd" | b"header"
            | b"footer" | b"main" | b"nav" | b"aside" | b"form" | b"figure" | b"figcaption"
            | b"details" | b"summary" | b"address" | b"option" | b"fieldset" | b"caption"
            | b"body" | b"head" | b"textarea" | b"legend" => Separator::Line,
            b"td" | b"th" => Separator::Cell,
            _inline => Separator::None,
        };
        self.gap = self.gap.max(gap);
    }

    fn text(&mut self, text: &str) {
        match self.flow {
            TextMode::Skipped => {}
            TextMode::Kept => self.push(text),
            TextMode::Folded => self.fold(text),
        }
    }

    fn fold(&mut self, text: &str) {
        let mut word = String::new();
        for c in text.chars() {
            match c {
                // Invisible characters at which a word may be broken.
                '\u{ad}' | '\u{200b}' => {}
                c if c.is_whitespace() => {
                    self.push(&std::mem::take(&mut word));
                    self.gap = self.gap.max(Separator::Space);
                }
                c => word.push(c),
            }
        }
        self.push(&word);
    }

    /// Writes the separator and the prefix, then the text.
    fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let gap = std::mem::replace(&mut self.gap, Separator::None);
        if !self.out.is_empty() {
            self.out.push_str(match gap {
                Separator::None => "",
                Separator::Space => " ",
                Separator::Cell if self.out.ends_with('\n') => "",
                Separator::Cell => " | ",
                Separator::Line => "\n",
                Separator::Blank => "\n\n",
            });
        }
        self.out.push_str(&std::mem::take(&mut self.mark));
        if let Some(link) = &mut self.link
            && link.start.is_none()
        {
            link.start = Some(self.out.len());
            self.out.push('[');
        }
        self.out.push_str(text);
    }

    fn begin_link(&mut self, href: &str) {
        self.end_link();
        let here = href.is_empty() || href.starts_with('#');
        let to = self.base.join(href).ok().filter(|_| !here);
        let to = to.map(|to| to.to_string());
        self.link = to
            .filter(|to| to.len() <= LONGEST_LINK)
            .map(|to| OpenLink { to, start: None });
    }

    fn end_link(&mut self) {
        if let Some(OpenLink { to, start: Some(_) }) = self.link.take() {
            self.out.push_str("](");
            self.out.push_str(&to);
            self.out.push(')');
        }
    }

    fn begin_list(&mut self, first: u32) {
        // Deeper lists are shown at the deepest level; only their indentation would differ.
        if self.lists.len() < DEEPEST_LIST {
            self.lists.push(first);
        }
    }

    fn bullet(&mut self) -> String {
        let indent = "  ".repeat(self.lists.len().saturating_sub(1));
        match self.lists.last_mut() {
            None | Some(0) => format!("{indent}- "),
            Some(number) => {
                let bullet = format!("{indent}{number}. ");
                *number = number.saturating_add(1);
                bullet
            }
        }
    }

    fn end_pre(&mut self) {
        self.flow = TextMode::Folded;
        if self.mark.is_empty() {
            let end = self.out.trim_end_matches('\n').len();
            self.out.truncate(end);
            self.out.push_str("\n```");
        }
    }
}

fn attribute(name: &[u8]) -> Attribute {
    match name {
        b"href" => Attribute::Href,
        b"alt" => Attribute::Alt,
        _other => Attribute::Other,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn text(html: &str) -> String {
        let base = WebTarget::parse("https://example.com/docs/page").expect("an address");
        readable(html, &base, 4 * 1024 * 1024)
    }

    fn check(html: &str, expected: Expect) {
        expected.assert_eq(&text(html));
    }

    #[test]
    fn a_page_is_read_as_a_person_would() {
        check(
            "<!doctype html><html><head><title>Tea &amp; cake</title><style>p{}</style>\
             <script>if (a < b) document.write('<p>no</p>')</script></head><body>\
             <nav><a href='/'>Home</a> <a href=#top>Top</a> <a href='javascript:x()'>Go</a></nav>\
             <h1>Tea</h1><p>Two   words,\n<b>bold</b>&nbsp;and <a href=more?x=1&amp;y=2>a <i>link</i></a>.\
             <p>Sof\u{ad}t.<br>Next line.<ul><li>one<ol><li>first<li>second</ol><li>two</ul>\
             <img alt='A cup' src=data:...><img alt=''><pre>let a;\n  b\n</pre>\
             <table><tr><th>Name<th>Price<tr><td>Green<td>3</table><hr>\
             <noscript><p>no script</noscript><p>end</body></html>",
            expect![[r#"
                Title: Tea & cake

                [Home](https://example.com/) Top Go

                # Tea

                Two words, bold and [a link](https://example.com/docs/more?x=1&y=2).

                Soft.
                Next line.

                - one
                  1. first
                  2. second
                - two

                [image: A cup]

                ```
                let a;
                  b
                ```

                Name | Price
                Green | 3

                ---

                end"#]],
        );
    }

    #[test]
    fn broken_markup_is_read_all_the_same() {
        check(
            "<p>open <a href=x>link <a href=y>next",
            expect!["open [link](https://example.com/docs/x) [next](https://example.com/docs/y)"],
        );
        check("</a></ul></li></pre>text", expect!["text"]);
        check("<a href=x></a>empty <a>none</a>", expect!["empty none"]);
        check(
            "a < b && c > d &notanentity; &#x41;&#0;",
            expect!["a < b && c > d ¬anentity; A�"],
        );
        check("<p title='never closed", expect![[""]]);
        check("before<script>never closed <p>x", expect!["before"]);
        check("<!-- <p>hidden --> shown <!-- open", expect!["shown"]);
        check("", expect![[""]]);
    }

    /// No stack and no square of the depth.
    #[test]
    fn no_depth_is_too_deep() {
        assert_eq!(text(&("<div>".repeat(200_000) + "bottom")), "bottom");
        for tag in [
            "<ul><li>",
            "<a href=x>",
            "<b><p>",
            "<pre>",
            "<table><tr><td>",
        ] {
            let text = text(&(tag.repeat(20_000) + "bottom"));
            assert!(text.contains("bottom"), "{tag}: {text}");
        }
        assert_eq!(text(&"<".repeat(1 << 18)), "<".repeat(1 << 18));
        assert_eq!(text(&format!("<p {}>x", "a ".repeat(1 << 17))), "x");
        assert_eq!(text(&format!("<p a={}>x", "&amp".repeat(1 << 16))), "x");
    }

    #[test]
    fn enough_is_enough() {
        let base = WebTarget::parse("https://example.com/").expect("an address");
        let links = "<a href=x>y</a> ".repeat(100_000);
        let text = readable(&links, &base, 1000);
        assert!((1000..1100).contains(&text.len()), "{}", text.len());
    }
}
