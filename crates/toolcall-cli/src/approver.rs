//! Answers questions about calls: a person at the terminal, or nobody but a flag.
//! Whoever answers is named on the screen.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;
use toolcall::{Answer, Approver, BoxFuture, Question};

use crate::pace::Pace;
use crate::screen::Screen;
use crate::view::{DIM, INDENT, painted, width, wrapped};

const TIME_TO_READ: u64 = 800;

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answering {
    /// A person at the terminal.
    ByPerson,
    /// Yes to every question, for this reason.
    Yes(&'static str),
    /// Yes to the first and always to the others, so that both can be seen.
    YesThenAlways(&'static str),
    /// No to every question, for this reason.
    No(&'static str),
}

/// Whether people see what is said beside the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    Aloud,
    Silent,
}

/// Answers questions.
pub(crate) struct ScreenApprover {
    answering: Answering,
    voice: Voice,
    screen: Screen,
    pace: Pace,
    has_answered: AtomicBool,
}

impl ScreenApprover {
    /// Asks on this screen.
    pub(crate) fn new(answering: Answering, voice: Voice, screen: Screen, pace: Pace) -> Self {
        Self {
            answering,
            voice,
            screen,
            pace,
            has_answered: AtomicBool::new(false),
        }
    }

    async fn answer_itself(&self, question: &Question, why: &str) -> Answer {
        self.pace.pause(TIME_TO_READ).await;
        let is_first = !self.has_answered.swap(true, Ordering::Relaxed);
        match question.offers.first() {
            Some(rule) if !is_first => {
                self.say(&format!("{why}: always {}", rule.text));
                Answer::AllowAlways(rule.clone())
            }
            Some(_) | None => self.say_yes(why),
        }
    }

    fn say_yes(&self, why: &str) -> Answer {
        self.say(&format!("{why}: yes, this once"));
        Answer::AllowOnce
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
                None => return Answer::unanswered("nobody answered"),
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
        match self.voice {
            Voice::Aloud => {
                for line in wrapped(text, width()) {
                    self.screen.line(&painted(DIM, &line));
                }
            }
            Voice::Silent => {}
        }
    }
}

impl Approver for ScreenApprover {
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            match self.answering {
                Answering::ByPerson => self.ask_person(question).await,
                Answering::Yes(why) => self.say_yes(why),
                Answering::YesThenAlways(why) => self.answer_itself(question, why).await,
                Answering::No(why) => Answer::unanswered(why),
            }
        })
    }
}
