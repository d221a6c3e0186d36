//! `cargo xtask picture`: the demo as an SVG, for the README.
//! It draws what the program prints; it adds nothing but colours for the terminal's codes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::step::{cargo, program};

/// Where the picture is written, below the root of the workspace.
const FILE: &str = "docs/demo.svg";
/// The scenes of the demo that are drawn, by the beginning of their headings.
const SCENES: [&str; 3] = ["2  ", "4  ", "5  "];
const COLUMNS: usize = 84;
const LINE_HEIGHT: usize = 18;
const MARGIN: usize = 16;

/// Runs the demo and writes the picture.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let text = demo(root)?;
    let svg = draw(&chosen(&text));
    let path = root.join(FILE);
    fs::write(&path, svg)
        .map_err(|error| format!("`{}` cannot be written: {error}", path.display()))?;
    println!("wrote {FILE}");
    Ok(())
}

/// What the demo prints on a terminal with colours.
fn demo(root: &Path) -> Result<String, String> {
    let built = cargo(root, ["build", "--quiet", "--bin", "toolcall"]).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the program cannot be built".to_owned());
    }
    let binary = root.join("target/debug").join(program("toolcall"));
    let output = std::process::Command::new(binary)
        .args(["demo", "--yes"])
        .env("CLICOLOR_FORCE", "1")
        .env("COLUMNS", COLUMNS.to_string())
        .env_remove("NO_COLOR")
        .output()
        .map_err(|error| format!("the demo cannot be run: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The lines of the chosen scenes, without the random part of the temporary directory.
fn chosen(text: &str) -> Vec<String> {
    let mut is_chosen = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("\u{1b}[1m") {
            is_chosen = SCENES.iter().any(|scene| heading.starts_with(scene));
        }
        if is_chosen {
            lines.push(without_temporary(line));
        }
    }
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

fn without_temporary(line: &str) -> String {
    let Some((head, rest)) = line.split_once("/tmp/toolcall-demo-") else {
        return line.to_owned();
    };
    let rest = rest.split_once('/').map_or("", |(_, rest)| rest);
    format!("{head}/tmp/{rest}")
}

fn draw(lines: &[String]) -> String {
    let (width, height) = (
        COLUMNS * 8 + 2 * MARGIN,
        lines.len() * LINE_HEIGHT + 2 * MARGIN,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" \
         font-size=\"13.3\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n"
    );
    for (at, line) in lines.iter().enumerate() {
        let y = MARGIN + (at + 1) * LINE_HEIGHT - 5;
        let _infallible = writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\" fill=\"#d8dee9\">{}</text>",
            spans(line)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// A line with its terminal codes as spans.
fn spans(line: &str) -> String {
    let mut pieces = line.split("\u{1b}[");
    let mut text = escaped(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (codes, rest) = piece.split_once('m').unwrap_or(("0", piece));
        let style = style(codes);
        if style.is_empty() || rest.is_empty() {
            text.push_str(&escaped(rest));
        } else {
            let _infallible = write!(text, "<tspan {style}>{}</tspan>", escaped(rest));
        }
    }
    text
}

fn style(codes: &str) -> &'static str {
    match codes {
        "1" => "font-weight=\"bold\" fill=\"#ffffff\"",
        "2" => "fill=\"#7b8494\"",
        "31" => "fill=\"#e06c75\"",
        "32" => "fill=\"#98c379\"",
        "33" => "fill=\"#e5c07b\"",
        "36" => "fill=\"#56b6c2\"",
        _ => "",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_scenes_are_drawn_with_their_colours() {
        let text = "\u{1b}[1m1  One\u{1b}[0m\na\n\u{1b}[1m2  Two\u{1b}[0m\n\u{1b}[32m+ <b>\u{1b}[0m in /tmp/toolcall-demo-x/p\n\n";
        let lines = chosen(text);
        assert_eq!(lines.len(), 2);
        let svg = draw(&lines);
        assert!(svg.contains("<tspan fill=\"#98c379\">+ &lt;b&gt;</tspan> in /tmp/p</text>"));
        assert!(!svg.contains("One"));
    }
}
