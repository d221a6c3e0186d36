//! What a verdict costs: judging a typical command by many rules, against reading its text once.
//! It measures verdicts only; the reading that they judge was made before.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use toolcall::{Command, Intent, Kind, Policy, SessionContext, SessionId, Touch, Verdict};
use toolcall_policy::{Layer, LayerSource, PolicyText, RuleContext, Rules, Trust};

use crate::{Case, Options, Row, Target};

const COMMAND: &str = "cd crates/toolcall && cargo test parse 2>&1 | tail -20";
const ASKED: &str = "cargo publish --dry-run";
const ROOT: &str = "/w/proj";
const VERDICTS: u32 = 2_000;
const USUAL_RULES: usize = 200;

/// Runs all cases.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let mut rows = vec![
        against_parse(options, "p50", Percentile(50)),
        against_parse(options, "p99", Percentile(99)),
        asked(options),
        file(options),
    ];
    let sizes = [100, 1_000, 10_000];
    rows.extend(sizes.map(|size| grown(options, "a command", size, &command(COMMAND))));
    let write = Intent::new(Kind::Edit, "a write")
        .touching(Touch::Writes(Path::new(ROOT).join("src/module7/lib.rs")));
    rows.extend(sizes.map(|size| grown(options, "a write", size, &write)));
    rows
}

#[derive(Clone, Copy)]
struct Percentile(usize);

/// For information: a verdict looks at every word, a reading at every byte.
fn against_parse(options: &Options, name: &str, percentile: Percentile) -> Row {
    let (rules, intent, setting) = (rules(USUAL_RULES), command(COMMAND), setting());
    assert!(matches!(
        rules.judge(&intent, &setting),
        Verdict::Allow { .. }
    ));
    Case::new(
        format!("{name} of a verdict with {USUAL_RULES} rules, against reading the text"),
        options,
    )
    .compare_measured(
        || percentile.of(|| rules.judge(&intent, &setting)),
        || percentile.of(|| toolcall_shell::read(COMMAND, Path::new(ROOT))),
    )
}

/// For information: a question tries every rule that it offers.
fn asked(options: &Options) -> Row {
    let (rules, intent, setting) = (rules(USUAL_RULES), command(ASKED), setting());
    assert!(matches!(
        rules.judge(&intent, &setting),
        Verdict::Ask { .. }
    ));
    Case::new(
        "a question with its offers, against reading the text",
        options,
    )
    .operations(VERDICTS)
    .compare(
        || rules.judge(&intent, &setting),
        || toolcall_shell::read(ASKED, Path::new(ROOT)),
    )
}

fn file(options: &Options) -> Row {
    let (rules, setting) = (rules(USUAL_RULES), setting());
    let write = Intent::new(Kind::Edit, "a write")
        .touching(Touch::Writes(Path::new(ROOT).join("src/module7/lib.rs")));
    assert!(matches!(
        rules.judge(&write, &setting),
        Verdict::Allow { .. }
    ));
    Case::new("a verdict on a write, against reading a command", options)
        .operations(VERDICTS)
        .compare(
            || rules.judge(&write, &setting),
            || toolcall_shell::read(COMMAND, Path::new(ROOT)),
        )
}

/// The same verdict with many rules, against ten.
fn grown(options: &Options, what: &str, size: usize, intent: &Intent) -> Row {
    let (many, few, setting) = (rules(size), rules(10), setting());
    Case::new(format!("{what} with {size} rules, against 10"), options)
        .operations(VERDICTS)
        .target(Target::AtMost(2.0))
        .compare(
            || many.judge(intent, &setting),
            || few.judge(intent, &setting),
        )
}

impl Percentile {
    /// So many of all operations took no longer than this.
    fn of<T>(self, mut work: impl FnMut() -> T) -> Duration {
        let mut times: Vec<Duration> = (0..VERDICTS)
            .map(|_| {
                let began = Instant::now();
                black_box(work());
                began.elapsed()
            })
            .collect();
        times.sort_unstable();
        times[(times.len() - 1) * self.0 / 100]
    }
}

/// A policy of so many rules: half of them allow, half deny; half are about commands, half about paths.
fn rules(size: usize) -> Rules {
    let mut text = String::from(
        "[[allow]]\nrun = ['cargo test', 'tail']\nwrite = 'src/module7/'\n[[deny]]\nrun = 'sudo'\n",
    );
    for number in 2..size {
        let rule = match number % 4 {
            0 => format!("[[allow]]\nrun = 'program{number} check'\n"),
            1 => format!("[[deny]]\nrun = 'program{number} push'\n"),
            2 => format!("[[allow]]\nwrite = 'lib/module{number}/'\n"),
            _ => format!("[[deny]]\nread = 'lib/module{number}/*.key'\n"),
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "{rule}");
    }
    let layer = Layer::parse(PolicyText {
        file: "policy.toml",
        text: &text,
        scope: LayerSource::User,
        trust: Trust::Trusted,
        home: None,
    });
    let layer = layer.unwrap_or_else(|error| panic!("{error}"));
    Rules::new([layer], RuleContext::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn command(text: &str) -> Intent {
    let reading = toolcall_shell::read(text, Path::new(ROOT));
    Intent::new(Kind::Execute, text).running(Command::new(text, ROOT, reading))
}

fn setting() -> SessionContext {
    SessionContext::new(SessionId::new("bench"), ROOT)
}
