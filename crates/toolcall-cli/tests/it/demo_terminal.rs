//! The demo at a terminal: the user answers, then interrupts it.
//! The test types when a prompt is on the screen; it never sleeps.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Child;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use toolcall_testkit::dir::isolated;

use crate::PROGRAM;

/// A program at a terminal.
struct PseudoTerminal {
    keys: File,
    shown: String,
    child: Child,
}

impl PseudoTerminal {
    fn run(args: &[&str]) -> Self {
        let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&near).unwrap();
        unlockpt(&near).unwrap();
        let name = ptsname(&near, Vec::new()).unwrap();
        let far = || File::from(open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap());
        let mut command = isolated(PROGRAM, args);
        command.env("TERM", "xterm");
        let child = command.stdin(far()).stdout(far()).spawn().unwrap();
        Self {
            keys: File::from(near),
            shown: String::new(),
            child,
        }
    }

    /// Reads until this text is on the screen, after the one that was waited for before.
    fn wait_for(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.shown.find(text) {
                let rest = self.shown.split_off(at + text.len());
                return std::mem::replace(&mut self.shown, rest);
            }
            assert!(self.read() > 0, "`{text}` never came:\n{}", self.shown);
        }
    }

    fn read(&mut self) -> usize {
        let mut bytes = [0; 4096];
        // The terminal of a program that has ended is an error on Linux.
        let read = self.keys.read(&mut bytes).unwrap_or(0);
        self.shown += &String::from_utf8_lossy(&bytes[..read]);
        read
    }

    fn type_in(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn interrupt(&mut self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    /// Returns the rest of the output, and the exit code.
    fn end(mut self) -> (String, Option<i32>) {
        while self.read() > 0 {}
        let status = self.child.wait().unwrap();
        (self.shown, status.code())
    }
}

const PROMPT: &str = "y yes   n no   1-3 always   r no, and say why: ";

#[test]
fn a_user_answers_and_interrupts() {
    let mut terminal = PseudoTerminal::run(&["demo"]);
    let question = terminal.wait_for(PROMPT);
    assert!(question.contains("Hello, $1!"), "{question}");
    assert!(question.contains("\u{1b}["), "{question}");
    terminal.type_in("maybe\n");
    let again = terminal.wait_for(PROMPT);
    assert!(again.contains("please type one of"), "{again}");
    terminal.type_in("r\n");
    terminal.wait_for("why not: ");
    terminal.type_in("not on a Friday\n");
    let second = terminal.wait_for(PROMPT);
    let said = "the user rejected it and said: not on a Friday";
    assert!(second.contains(said), "{second}");
    terminal.interrupt();
    let (rest, code) = terminal.end();
    let plain = anstream::adapter::strip_str(&rest).to_string();
    for shown in [
        "call-4 ✗ denied     Edit src/greet.sh",
        "call-5 ■ cancelled  Edit src/greet.sh",
        "░ waiting for you",
        "\nedit_file ",
    ] {
        assert!(plain.contains(shown), "`{shown}` is not in:\n{plain}");
    }
    assert_eq!(code, Some(130), "{plain}");
}
