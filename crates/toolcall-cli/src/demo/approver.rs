//! Answers the demo's questions: a person at the terminal, or the demo itself.
//! Whoever answers is named on the screen.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;
use toolcall::{Answer, Approver, BoxFuture, Question};

use super::Format;
use super::pace::Pace;
use crate::screen::Screen;
use crate::view::{DIM, INDENT, painted, width, wrapped};

const TIME_TO_READ: u64 = 800;

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answering {
    /// A person at the terminal.
    ByPerson,
    /// The demo: it was told to say yes.
    ByFlag,
    /// The demo: there is no terminal to ask at.
    Unattended,
}

/// Answers the demo's questions.
pub(crate) struct DemoApprover {
    format: Format,
    answering: Answering,
    screen: Screen,
    pace: Pace,
    has_answered: AtomicBool,
}

impl DemoApprover {
    /// Asks on this screen.
    pub(crate) fn new(format: Format, answering: Answering, screen: Screen, pace: Pace) -> Self {
        Self {
            format,
            answering,
            screen,
            pace,
            has_answered: AtomicBool::new(false),
        }
    }

    /// Yes once, then always, so that both can be seen.
    async fn answer_itself(&self, question: &Question, why: &str) -> Answer {
        self.pace.pause(TIME_TO_READ).await;
        let is_first = !self.has_answered.swap(true, Ordering::Relaxed);
        match question.offers.first() {
            Some(rule) if !is_first => {
                self.say(&format!("{why}: always {}", rule.text));
                Answer::AllowAlways(rule.clone())
            }
            Some(_) | None => {
                self.say(&format!("{why}: yes, this once"));
                Answer::AllowOnce
            }
        }
    }

    async fn ask_person(&self, question: &Question) -> Answer {
        for rule in question.offers.iter().take(1) {
            self.say(&format!("always would allow: {}", rule.text));
        }
        loop {
            let typed = self
                .prompt("y yes   n no   a always   r no, and say why: ")
                .await;
            match typed.as_deref().map(str::trim) {
                None => return Answer::reject_because("nobody answered"),
                Some("y" | "yes") => return Answer::AllowOnce,
                Some("n" | "no") => return Answer::reject(),
                Some("a" | "always") => match question.offers.first() {
                    Some(rule) => return Answer::AllowAlways(rule.clone()),
                    None => self.say("there is no rule to keep; answer y or n"),
                },
                Some("r") => return self.ask_reason().await,
                Some(_) => self.say("please type y, n, a or r"),
            }
        }
    }

    async fn ask_reason(&self) -> Answer {
        match self.prompt("why not: ").await {
            Some(reason) => Answer::reject_because(reason.trim()),
            None => Answer::reject(),
        }
    }

    /// One line of what is typed; nothing if the input is at its end. The thread that waits for
    /// it may outlive the question, and ends with the program.
    async fn prompt(&self, prompt: &str) -> Option<String> {
        self.screen.text(format!("{INDENT}{prompt}"));
        let (sender, typed) = oneshot::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = std::io::stdin().read_line(&mut line);
            let is_there = read.is_ok_and(|bytes| bytes > 0);
            let _nobody_waits = sender.send(is_there.then_some(line));
        });
        typed.await.ok().flatten()
    }

    fn say(&self, text: &str) {
        if self.format == Format::Text {
            for line in wrapped(text, width()) {
                self.screen.line(&painted(DIM, &line));
            }
        }
    }
}

impl Approver for DemoApprover {
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            match self.answering {
                Answering::ByPerson => self.ask_person(question).await,
                Answering::ByFlag => self.answer_itself(question, "answered by --yes").await,
                Answering::Unattended => {
                    let why = "no terminal to ask at, so the demo answers";
                    self.answer_itself(question, why).await
                }
            }
        })
    }
}
