//! Pages as text that can be read: headings, lists, links, tables; no scripts, no styles.
//! It builds no tree, so no depth of nesting costs more than its bytes; broken markup never fails.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::target::Target;

const DEEPEST_LIST: usize = 16;
const LONGEST_LINK: usize = 2 * 1024;

/// The text of a page, which ends soon after `most` bytes. Links are resolved against `base`.
pub(crate) fn readable(html: &str, base: &Target, most: usize) -> String {
    let mut page = Page::new(base, most);
    let mut emitter =
        CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| page.take(event));
    emitter.naively_switch_states(true);
    // The first thing that it yields says that there is enough.
    let _enough = Tokenizer::new_with_emitter(html, emitter).next();
    page.end_link();
    page.out
}

/// There is enough text.
struct Enough;

struct Page<'a> {
    base: &'a Target,
    most: usize,
    out: String,
    /// The tag whose attributes are being read.
    tag: Tag,
    attribute: Attribute,
    gap: Gap,
    /// What stands before the next text: a bullet, the marks of a heading.
    mark: String,
    link: Option<OpenLink>,
    /// Numbers of the open lists; 0 is a list of bullets.
    lists: Vec<u32>,
    flow: Flow,
}

#[derive(Default)]
struct Tag {
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

/// What separates the next text from the last; the greater wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Cell,
    Line,
    Blank,
}

/// How text is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// White space is folded.
    Folded,
    /// Kept as it is, within `pre`.
    Kept,
    /// Not for people: a script, a style.
    Skipped,
}

struct OpenLink {
    to: String,
    /// Where its text begins in what was written.
    start: Option<usize>,
}

impl<'a> Page<'a> {
    fn new(base: &'a Target, most: usize) -> Self {
        Self {
            base,
            most,
            out: String::new(),
            tag: Tag::default(),
            attribute: Attribute::Other,
            gap: Gap::None,
            mark: String::new(),
            link: None,
            lists: Vec::new(),
            flow: Flow::Folded,
        }
    }

    fn take(&mut self, event: CallbackEvent<'_>) -> Option<Enough> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = Tag {
                    name: name.to_vec(),
                    ..Tag::default()
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
        (self.out.len() >= self.most).then_some(Enough)
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
                self.flow = Flow::Skipped;
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
                self.flow = Flow::Kept;
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
                self.flow = Flow::Folded;
            }
            b"a" => self.end_link(),
            b"ul" | b"ol" => drop(self.lists.pop()),
            b"pre" if self.flow == Flow::Kept => self.end_pre(),
            _plain => {}
        }
        self.space(name);
        self.mark.clear();
    }

    /// The gap that a tag makes, on either side.
    fn space(&mut self, name: &[u8]) {
        let gap = match name {
            b"p" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"table" | b"blockquote"
            | b"pre" | b"hr" | b"title" | b"dl" | b"section" | b"article" => Gap::Blank,
            b"ul" | b"ol" if self.lists.is_empty() => Gap::Blank,
            b"div" | b"br" | b"li" | b"ul" | b"ol" | b"tr" | b"dt" | b"dd" | b"header"
            | b"footer" | b"main" | b"nav" | b"aside" | b"form" | b"figure" | b"figcaption"
            | b"details" | b"summary" | b"address" | b"option" | b"fieldset" | b"caption"
            | b"body" | b"head" | b"textarea" | b"legend" => Gap::Line,
            b"td" | b"th" => Gap::Cell,
            _inline => Gap::None,
        };
        self.gap = self.gap.max(gap);
    }

    fn text(&mut self, text: &str) {
        match self.flow {
            Flow::Skipped => {}
            Flow::Kept => self.push(text),
            Flow::Folded => self.fold(text),
        }
    }

    fn fold(&mut self, text: &str) {
        let mut word = String::new();
        for c in text.chars() {
            match c {
                // Where a word may be broken: nothing to read.
                '\u{ad}' | '\u{200b}' => {}
                c if c.is_whitespace() => {
                    self.push(&std::mem::take(&mut word));
                    self.gap = self.gap.max(Gap::Space);
                }
                c => word.push(c),
            }
        }
        self.push(&word);
    }

    /// Writes what stands between, then the text.
    fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        if !self.out.is_empty() {
            self.out.push_str(match gap {
                Gap::None => "",
                Gap::Space => " ",
                Gap::Cell if self.out.ends_with('\n') => "",
                Gap::Cell => " | ",
                Gap::Line => "\n",
                Gap::Blank => "\n\n",
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
        // Deeper ones are shown as the deepest: only their indentation would differ.
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
        self.flow = Flow::Folded;
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
        let base = Target::parse("https://example.com/docs/page").expect("an address");
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
        let base = Target::parse("https://example.com/").expect("an address");
        let links = "<a href=x>y</a> ".repeat(100_000);
        let text = readable(&links, &base, 1000);
        assert!((1000..1100).contains(&text.len()), "{}", text.len());
    }
}
