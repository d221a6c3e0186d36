//! Escapes foreign text for Markdown.
//! Escaped text cannot leave its cell or line, nor become a heading, a link or an image.

use toolcall::text::{clean_block, clean_line};

/// The length limit of a cell or a code span, in characters.
const LONGEST: usize = 80;

/// The length limit of a text in a sentence, in characters.
const LONGEST_LINE: usize = 1_000;

/// Escapes a text for one line; text between backticks stays as it is.
pub(crate) fn line(text: &str) -> String {
    let text = clean_line(text, LONGEST_LINE);
    let parts: Vec<&str> = text.split('`').collect();
    // With an odd number of backticks the last one has no partner.
    let paired = parts.len() - usize::from(parts.len().is_multiple_of(2));
    let shown = parts.iter().enumerate().map(|(at, part)| match at {
        code if code % 2 == 1 && code < paired => format!("`{part}`"),
        lone if lone >= paired => format!("\\`{}", escaped(part)),
        _ => escaped(part),
    });
    shown.collect()
}

/// Formats a table cell.
pub(crate) fn cell(text: &str) -> String {
    escaped(&clean_line(text, LONGEST)).replace('`', "\\`")
}

/// Formats a code span.
pub(crate) fn code(text: &str) -> String {
    let text = clean_line(text, LONGEST);
    let ticks = "`".repeat(longest_run(&text) + 1);
    match ticks.len() {
        1 => format!("`{text}`"),
        _ => format!("{ticks} {text} {ticks}"),
    }
}

/// Formats a code block.
pub(crate) fn block(text: &str, language: &str) -> String {
    let text = clean_block(text);
    let fence = "`".repeat((longest_run(&text) + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// Formats a table with this header.
pub(crate) fn table<const N: usize>(
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let mut said = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(N));
    for row in rows {
        said += &format!("| {} |\n", row.map(|text| cell(&text)).join(" | "));
    }
    said
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or_default()
}

fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\|[]<>!*#~".contains(c) {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_its_cell_or_becomes_an_image() {
        assert_eq!(cell("a|b\n# c"), "a\\|b \\# c");
        assert_eq!(cell("\\|"), "\\\\\\|");
        assert_eq!(
            cell("![i](http://x/p.png) <img>"),
            "\\!\\[i\\](http://x/p.png) \\<img\\>"
        );
        assert_eq!(cell("`x`"), "\\`x\\`");
        assert_eq!(cell("read_file"), "read_file");
    }

    #[test]
    fn code_is_wider_than_what_is_in_it() {
        assert_eq!(code("ls"), "`ls`");
        assert_eq!(code("a ```` b"), "````` a ```` b `````");
        assert_eq!(
            block("# a\n````\nb\n", "text"),
            "`````text\n# a\n````\nb\n`````\n"
        );
    }

    #[test]
    fn a_line_keeps_its_code_and_nothing_else() {
        assert_eq!(
            line("the server `a_b` is **gone**"),
            "the server `a_b` is \\*\\*gone\\*\\*"
        );
        assert_eq!(
            line("`a`\n\n# b` **Note:** c"),
            "`a` \\# b\\` \\*\\*Note:\\*\\* c"
        );
    }
}
