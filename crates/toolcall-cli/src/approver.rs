//! Answers questions about calls, and forms: a person at the terminal, or nobody but a flag.
//! Whoever answers is named on the screen.

mod fill;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;
use toolcall::{Answer, Approver, BoxFuture, FormAnswer, FormQuestion, Question, Rule};

use crate::pace::Pace;
use crate::screen::Screen;
use crate::view::{DIM, INDENT, lifetime, one_line, painted, width, wrapped};

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
                self.say(&format!(
                    "{why}: always, {}: {}",
                    lifetime(rule.lifetime),
                    rule.text
                ));
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
        self.show_offers(&question.offers);
        loop {
            let typed = self.prompt(&choices(&question.offers)).await;
            match typed.as_deref().map(str::trim) {
                None => return Answer::unanswered("nobody answered"),
                Some("y" | "yes") => return Answer::AllowOnce,
                Some("n" | "no") => return Answer::reject(),
                Some("r") => return self.ask_reason().await,
                Some(typed) => match offered(&question.offers, typed) {
                    Some(rule) => return Answer::AllowAlways(rule.clone()),
                    None => self.say("please type one of the letters or numbers"),
                },
            }
        }
    }

    /// The exact rules that may be kept, each with how long it holds.
    fn show_offers(&self, offers: &[Rule]) {
        for (number, rule) in offers.iter().enumerate() {
            let (number, text) = (number + 1, one_line(&rule.text));
            self.say(&format!(
                "{number}  always, {}: {text}",
                lifetime(rule.lifetime)
            ));
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

/// What may be typed.
fn choices(offers: &[Rule]) -> String {
    let always = match offers.len() {
        0 => String::new(),
        1 => "   1 always".to_owned(),
        many => format!("   1-{many} always"),
    };
    format!("y yes   n no{always}   r no, and say why: ")
}

/// The rule that a number stands for.
fn offered<'o>(offers: &'o [Rule], typed: &str) -> Option<&'o Rule> {
    let number: usize = typed.parse().ok()?;
    offers.get(number.checked_sub(1)?)
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

    /// A flag answers questions about permission and nothing else: it has no values to give.
    fn fill<'a>(&'a self, question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        Box::pin(async move {
            match self.answering {
                Answering::ByPerson if self.voice == Voice::Silent => {
                    FormAnswer::declined_because("no form is shown among events for programs")
                }
                Answering::ByPerson => fill::fill(&question.form, self).await,
                Answering::Yes(_) | Answering::YesThenAlways(_) => {
                    FormAnswer::declined_because("nobody is there to fill in a form")
                }
                Answering::No(why) => FormAnswer::declined_because(why),
            }
        })
    }
}

impl fill::Console for ScreenApprover {
    fn say(&self, text: &str) {
        ScreenApprover::say(self, text);
    }

    async fn prompt(&self, prompt: &str) -> Option<String> {
        ScreenApprover::prompt(self, prompt).await
    }
}
