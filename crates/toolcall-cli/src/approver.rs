//! Answers questions about calls, and forms: a person at the terminal, or nobody but a flag.
//! Whoever answers is named on the screen.

mod fill;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;
use toolcall::{Answer, Approver, BoxFuture, FormAnswer, FormQuestion, Question, QuestionOption};

use crate::pace::Pace;
use crate::screen::Screen;
use crate::view::{DIM, INDENT, one_line, painted, width, wrapped};
use fill::Console;

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

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    Yes,
    No {
        reason: Option<String>,
    },
    /// One of the offers, by its place.
    Offer(usize),
    /// There is nobody who could choose, for this reason.
    Nobody(&'static str),
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

    /// Asks whether something may be done. Besides yes and no these offers may be chosen; the
    /// first is the one to take for always.
    pub(crate) async fn choose(&self, offers: &[String]) -> Chosen {
        match self.answering {
            Answering::ByPerson => self.talk().ask_person(offers).await,
            Answering::Yes(why) => self.talk().say_yes(why),
            Answering::YesThenAlways(why) => self.answer_itself(offers, why).await,
            Answering::No(why) => Chosen::Nobody(why),
        }
    }

    async fn answer_itself(&self, offers: &[String], why: &str) -> Chosen {
        let talk = self.talk();
        self.pace.pause(TIME_TO_READ).await;
        let is_first = !self.has_answered.swap(true, Ordering::Relaxed);
        match offers.first() {
            Some(offer) if !is_first => {
                talk.say(&format!("{why}: {offer}"));
                Chosen::Offer(0)
            }
            Some(_) | None => talk.say_yes(why),
        }
    }

    /// What happens meanwhile is shown after it.
    fn talk(&self) -> Talk {
        Talk {
            voice: self.voice,
            screen: self.screen.hold(),
        }
    }
}

/// A conversation on the screen, until it is dropped.
struct Talk {
    voice: Voice,
    screen: Screen,
}

impl Talk {
    fn say_yes(&self, why: &str) -> Chosen {
        self.say(&format!("{why}: yes, this once"));
        Chosen::Yes
    }

    async fn ask_person(&self, offers: &[String]) -> Chosen {
        for (number, offer) in (1..).zip(offers) {
            self.say(&format!("{number}  {offer}"));
        }
        loop {
            let typed = self.prompt(&choices(offers.len())).await;
            match typed.as_deref().map(str::trim) {
                None => return Chosen::Nobody("nobody answered"),
                Some("y" | "yes") => return Chosen::Yes,
                Some("n" | "no") => return Chosen::No { reason: None },
                Some("r") => return self.ask_reason().await,
                Some(typed) => match offered(offers.len(), typed) {
                    Some(place) => return Chosen::Offer(place),
                    None => self.say("please type one of the letters or numbers"),
                },
            }
        }
    }

    async fn ask_reason(&self) -> Chosen {
        let typed = self.prompt("why not: ").await;
        let reason = typed.map(|reason| reason.trim().to_owned());
        Chosen::No { reason }
    }
}

impl Console for Talk {
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

    /// One line of what is typed; nothing if the input is at its end. The thread that waits for
    /// it may outlive the question, and ends with the program.
    async fn prompt(&self, prompt: &str) -> Option<String> {
        self.screen.text(format!("{INDENT}{prompt}"));
        let mut line = OpenLine(Some(&self.screen));
        let (sender, typed) = oneshot::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = std::io::stdin().read_line(&mut line);
            let is_there = read.is_ok_and(|bytes| bytes > 0);
            let _nobody_waits = sender.send(is_there.then_some(line));
        });
        let typed = typed.await.ok().flatten()?;
        line.0 = None;
        Some(typed)
    }
}

/// A line that whoever types ends; nobody did if it is dropped first.
struct OpenLine<'a>(Option<&'a Screen>);

impl Drop for OpenLine<'_> {
    fn drop(&mut self) {
        if let Some(screen) = self.0 {
            screen.line("");
        }
    }
}

/// The options that are chosen by a number, and how they read. The others have a letter.
pub(crate) fn numbered(question: &Question) -> Vec<(QuestionOption<'_>, String)> {
    let is_numbered = |option: &QuestionOption<'_>| match option {
        QuestionOption::AllowAlways { .. } => true,
        QuestionOption::AllowOnce
        | QuestionOption::RejectOnce
        | QuestionOption::RejectAlways(_) => false,
    };
    let options = question.options().into_iter().filter(is_numbered);
    options
        .map(|option| (option, option.label(one_line)))
        .collect()
}

fn answer(chosen: Chosen, numbered: &[(QuestionOption<'_>, String)]) -> Answer {
    match chosen {
        Chosen::Yes => QuestionOption::AllowOnce.answer(None),
        Chosen::No { reason } => QuestionOption::RejectOnce.answer(reason.map(Arc::from)),
        Chosen::Offer(place) => match numbered.get(place) {
            Some((option, _)) => option.answer(None),
            None => Answer::unanswered("a rule was chosen that was not offered"),
        },
        Chosen::Nobody(why) => Answer::unanswered(why),
    }
}

/// What may be typed.
fn choices(offers: usize) -> String {
    let always = match offers {
        0 => String::new(),
        1 => "   1 always".to_owned(),
        many => format!("   1-{many} always"),
    };
    format!("y yes   n no{always}   r no, and say why: ")
}

/// The place of the offer that a number stands for.
fn offered(offers: usize, typed: &str) -> Option<usize> {
    let number: usize = typed.parse().ok()?;
    number.checked_sub(1).filter(|place| *place < offers)
}

impl Approver for ScreenApprover {
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let numbered = numbered(question);
            let labels: Vec<String> = numbered.iter().map(|(_, label)| label.clone()).collect();
            answer(self.choose(&labels).await, &numbered)
        })
    }

    /// A flag answers questions about permission and nothing else: it has no values to give.
    fn fill<'a>(&'a self, question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        Box::pin(async move {
            match self.answering {
                Answering::ByPerson if self.voice == Voice::Silent => {
                    FormAnswer::declined_because("no form is shown among events for programs")
                }
                Answering::ByPerson => fill::fill(&question.form, &self.talk()).await,
                Answering::Yes(_) | Answering::YesThenAlways(_) => {
                    FormAnswer::declined_because("nobody is there to fill in a form")
                }
                Answering::No(why) => FormAnswer::declined_because(why),
            }
        })
    }
}
