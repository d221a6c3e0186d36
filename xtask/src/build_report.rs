//! `cargo xtask build-report`: what a first release build of the program costs, by crate.
//! It builds in a target folder of its own, which is empty before and gone after; it touches no other.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::step::{Step, cargo};

/// What `cargo xtask build-report --help` ends with.
pub(crate) const ABOUT: &str = "\
It builds what `cargo run --release -- demo` builds, in `target/build-report`, which is removed
before and after. CPU seconds are user and system time of cargo and everything it started. For a
crate they are those of its compilers. The C of SQLite and ring is compiled by build scripts, which
have a line of their own.";

/// The target folder of the report, below the root of the workspace.
const FOLDER: &str = "target/build-report";
/// Names the file that compilers are noted in. Set, this program is cargo's `RUSTC_WRAPPER`.
const LOG: &str = "XTASK_BUILD_REPORT";
/// How many crates are listed.
const LISTED: usize = 10;
/// What `/proc` counts CPU time in.
const TICK: Duration = Duration::from_millis(10);

/// Builds the program from nothing and prints what it cost.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let folder = root.join(FOLDER);
    remove(&folder)?;
    let report = measure(root, &folder);
    remove(&folder)?;
    print!("{}", report?.to_text());
    Ok(())
}

/// Compiles as the wrapper that [`run`] asks cargo to use. Returns `None` in any other process.
pub(crate) fn compile_as_wrapper() -> Option<ExitCode> {
    let log = std::env::var_os(LOG)?;
    let mut args = std::env::args_os().skip(1);
    let status = Command::new(args.next()?).args(args).status();
    let code = status.ok().and_then(|status| status.code()).unwrap_or(1);
    let noted = note(&log);
    if let Err(error) = &noted {
        eprintln!("error: the compiler's time cannot be noted: {error}");
    }
    let code = if noted.is_ok() { code } else { 1 };
    Some(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// Appends a line for the package that was compiled. Cargo's questions to the compiler have none.
fn note(log: &OsStr) -> io::Result<()> {
    let variable = |name| std::env::var(name).ok();
    let package = (variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION"));
    let (Some(name), Some(version)) = package else {
        return Ok(());
    };
    let line = format!("{name} {version} {}\n", children_cpu()?.as_millis());
    let mut log = OpenOptions::new().create(true).append(true).open(log)?;
    log.write_all(line.as_bytes())
}

fn measure(root: &Path, folder: &Path) -> Result<Report, String> {
    let log = folder.join("rustc.log");
    let wrapper = std::env::current_exe().map_err(|error| error.to_string())?;
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let mut command = cargo(root, ["build", "--release", "--quiet", "--bin", "toolcall"]);
    command
        .args(["--target-dir", FOLDER])
        .env("RUSTC_WRAPPER", wrapper)
        .env(LOG, &log);
    let cpu = || children_cpu().map_err(|error| format!("no CPU times here: {error}"));
    let (before, begin) = (cpu()?, Instant::now());
    Step::new("build", command).run()?;
    let (wall, cpu) = (begin.elapsed(), cpu()?.saturating_sub(before));
    let read = |error| format!("the report cannot be made: {error}");
    let program = folder
        .join("release")
        .join(crate::step::program("toolcall"));
    Ok(Report {
        crates: parse(&fs::read_to_string(log).map_err(read)?),
        cpu,
        wall,
        bytes: fs::metadata(program).map_err(read)?.len(),
    })
}

fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("`{}` cannot be removed: {error}", folder.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The CPU time of all ended children of this process, and of theirs.
fn children_cpu() -> io::Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    parse_children_cpu(&stat).ok_or_else(|| io::Error::other("`/proc/self/stat` is not understood"))
}

/// Reads `cutime` and `cstime`, fields 16 and 17 of `proc(5)`. The name before may hold spaces.
fn parse_children_cpu(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(13).map(str::parse::<u32>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some(TICK * (user + system))
}

/// What the log says of each crate, the most expensive first.
fn parse(log: &str) -> Vec<(String, Duration)> {
    let mut crates: HashMap<String, Duration> = HashMap::new();
    for line in log.lines() {
        let Some((package, millis)) = line.rsplit_once(' ') else {
            continue;
        };
        let millis = millis.parse().unwrap_or_default();
        *crates.entry(package.to_owned()).or_default() += Duration::from_millis(millis);
    }
    let mut crates: Vec<_> = crates.into_iter().collect();
    crates.sort_by(|(a, cost_a), (b, cost_b)| cost_b.cmp(cost_a).then(a.cmp(b)));
    crates
}

/// What a build cost.
struct Report {
    crates: Vec<(String, Duration)>,
    cpu: Duration,
    wall: Duration,
    bytes: u64,
}

impl Report {
    fn to_text(&self) -> String {
        let compilers: Duration = self.crates.iter().map(|(_, cost)| cost).sum();
        let rest = self.cpu.saturating_sub(compilers);
        let mut rows = vec![
            ("crates compiled".to_owned(), self.crates.len().to_string()),
            ("CPU seconds".to_owned(), seconds(self.cpu)),
            ("wall seconds".to_owned(), seconds(self.wall)),
            ("binary, MB".to_owned(), megabytes(self.bytes)),
            (String::new(), String::new()),
            ("CPU seconds of".to_owned(), String::new()),
        ];
        let listed = self.crates.iter().take(LISTED);
        rows.extend(listed.map(|(name, cost)| (format!("  {name}"), seconds(*cost))));
        let others = self.crates.iter().skip(LISTED).map(|(_, cost)| *cost);
        rows.push(("  all other crates".to_owned(), seconds(others.sum())));
        rows.push(("  build scripts, C and cargo".to_owned(), seconds(rest)));
        let line = |(name, value): &(String, String)| format!("{name:<40}{value:>8}");
        let lines = rows.iter().map(line).map(|line| line.trim_end().to_owned());
        lines.map(|line| line + "\n").collect()
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{}", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_children_are_read_after_a_name_with_spaces_and_brackets() {
        let stat = "7 (a b) c) R 1 7 7 0 -1 4194304 9 8 0 0 1 2 250 30 20 0 1 0 5 6 7";
        let expected = Some(Duration::from_millis(2800));
        assert_eq!(parse_children_cpu(stat), expected);
        assert_eq!(parse_children_cpu("7 (a) R 1"), None);
    }

    #[test]
    fn compilers_of_one_crate_are_summed_and_the_dearest_comes_first() {
        let report = Report {
            crates: parse("libc 0.2.1 40\nrmcp 3.8.0 9000\nlibc 0.2.1 960\n"),
            cpu: Duration::from_secs(15),
            wall: Duration::from_secs(8),
            bytes: 28_360_000,
        };
        let text = report.to_text();
        let values = text.lines().map(|line| line.split_whitespace().last());
        let values: Vec<_> = values.collect();
        let rows = ["2", "15.0", "8.0", "28.3"].map(Some);
        assert_eq!(values[..4], rows, "{text}");
        let costs = ["9.0", "1.0", "0.0", "5.0"].map(Some);
        assert_eq!(values[6..], costs, "{text}");
        assert!(text.lines().nth(6).unwrap().starts_with("  rmcp 3.8.0 "));
    }
}
