//! The few colours in use.
//! Whether they reach the terminal is decided where text is written, not here.

use anstyle::{AnsiColor, Style};

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = colour(AnsiColor::Green);
pub(crate) const BAD: Style = colour(AnsiColor::Red);
pub(crate) const ATTENTION: Style = colour(AnsiColor::Yellow);
pub(crate) const BUSY: Style = colour(AnsiColor::Cyan);

/// Text in a style, if there is any text.
pub(crate) fn painted(style: Style, text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!("{style}{text}{style:#}"),
    }
}

const fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(colour)))
}
