//! Answers permission questions and forms: asks the user at the terminal, or answers by a flag.
//! If a flag answers, the screen shows that.

mod form;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;
use toolcall::{Answer, Approver, BoxFuture, FormAnswer, FormQuestion, Question, QuestionOption};

use crate::pace::Pace;
use crate::screen::Screen;
use crate::view::{DIM, INDENT, one_line, paint, width, wrap};
use form::Console;

const READING_TIME_MS: u64 = 800;

/// How questions are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerMode {
    /// Asks the user at the terminal.
    AskUser,
    /// Yes to every question, for this reason.
    Yes(&'static str),
    /// Yes to the first question and "always" to the others, so that the demo shows both.
    YesThenAlways(&'static str),
    /// No to every question, for this reason.
    No(&'static str),
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UserChoice {
    Yes,
    No {
        reason: Option<String>,
    },
    /// One of the offered rules, by its index.
    Offer(usize),
    /// No answer, for this reason.
    Unanswered(&'static str),
}

/// Whether prompts and notes are shown beside the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commentary {
    Shown,
    Hidden,
}

/// An approver that asks on the screen.
pub(crate) struct ScreenApprover {
    answer_mode: AnswerMode,
    commentary: Commentary,
    screen: Screen,
    pace: Pace,
    has_answered: AtomicBool,
}

impl ScreenApprover {
    /// Creates an approver that asks on this screen.
    pub(crate) fn new(
        answer_mode: AnswerMode,
        commentary: Commentary,
        screen: Screen,
        pace: Pace,
    ) -> Self {
        Self {
            answer_mode,
            commentary,
            screen,
            pace,
            has_answered: AtomicBool::new(false),
        }
    }

    /// Asks whether a call may run. Besides yes and no, the user may choose one of these offers;
    /// [`AnswerMode::YesThenAlways`] takes the first.
    pub(crate) async fn choose(&self, offers: &[String]) -> UserChoice {
        match self.answer_mode {
            AnswerMode::AskUser => self.dialog().ask_user(offers).await,
            AnswerMode::Yes(why) => self.dialog().answer_yes(why),
            AnswerMode::YesThenAlways(why) => self.answer_automatically(offers, why).await,
            AnswerMode::No(why) => UserChoice::Unanswered(why),
        }
    }

    async fn answer_automatically(&self, offers: &[String], why: &str) -> UserChoice {
        let dialog = self.dialog();
        self.pace.pause(READING_TIME_MS).await;
        let is_first = !self.has_answered.swap(true, Ordering::Relaxed);
        match offers.first() {
            Some(offer) if !is_first => {
                dialog.say(&format!("{why}: {offer}"));
                UserChoice::Offer(0)
            }
            Some(_) | None => dialog.answer_yes(why),
        }
    }

    /// Begins a dialog. Output of other tasks is shown after it ends.
    fn dialog(&self) -> Dialog {
        Dialog {
            commentary: self.commentary,
            screen: self.screen.begin_dialog(),
        }
    }
}

/// A dialog on the screen, until it is dropped.
struct Dialog {
    commentary: Commentary,
    screen: Screen,
}

impl Dialog {
    fn answer_yes(&self, why: &str) -> UserChoice {
        self.say(&format!("{why}: yes, this once"));
        UserChoice::Yes
    }

    async fn ask_user(&self, offers: &[String]) -> UserChoice {
        for (number, offer) in (1..).zip(offers) {
            self.say(&format!("{number}  {offer}"));
        }
        loop {
            let typed = self.prompt(&prompt_text(offers.len())).await;
            match typed.as_deref().map(str::trim) {
                None => return UserChoice::Unanswered("nobody answered"),
                Some("y" | "yes") => return UserChoice::Yes,
                Some("n" | "no") => return UserChoice::No { reason: None },
                Some("r") => return self.ask_reason().await,
                Some(typed) => match offer_index(offers.len(), typed) {
                    Some(index) => return UserChoice::Offer(index),
                    None => self.say("please type one of the letters or numbers"),
                },
            }
        }
    }

    async fn ask_reason(&self) -> UserChoice {
        let typed = self.prompt("why not: ").await;
        let reason = typed.map(|reason| reason.trim().to_owned());
        UserChoice::No { reason }
    }
}

impl Console for Dialog {
    fn say(&self, text: &str) {
        if self.commentary == Commentary::Shown {
            for line in wrap(text, width()) {
                self.screen.line(&paint(DIM, &line));
            }
        }
    }

    /// Reads one line; `None` at the end of the input. The thread that reads may outlive the
    /// question, and ends with the program.
    async fn prompt(&self, prompt: &str) -> Option<String> {
        self.screen.text(format!("{INDENT}{prompt}"));
        let mut line = OpenLine(Some(&self.screen));
        let (sender, typed) = oneshot::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = std::io::stdin().read_line(&mut line);
            let has_line = read.is_ok_and(|bytes| bytes > 0);
            let _nobody_waits = sender.send(has_line.then_some(line));
        });
        let typed = typed.await.ok().flatten()?;
        line.0 = None;
        Some(typed)
    }
}

/// The line of a prompt, which the user ends with Enter. If it is dropped before, it is ended here.
struct OpenLine<'a>(Option<&'a Screen>);

impl Drop for OpenLine<'_> {
    fn drop(&mut self) {
        if let Some(screen) = self.0 {
            screen.line("");
        }
    }
}

/// Returns the options that are chosen by a number, with their labels. The others have a letter.
pub(crate) fn numbered_options(question: &Question) -> Vec<(QuestionOption<'_>, String)> {
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

fn answer(choice: UserChoice, numbered: &[(QuestionOption<'_>, String)]) -> Answer {
    match choice {
        UserChoice::Yes => QuestionOption::AllowOnce.answer(None),
        UserChoice::No { reason } => QuestionOption::RejectOnce.answer(reason.map(Arc::from)),
        UserChoice::Offer(index) => match numbered.get(index) {
            Some((option, _)) => option.answer(None),
            None => Answer::unanswered("the chosen rule was not offered"),
        },
        UserChoice::Unanswered(why) => Answer::unanswered(why),
    }
}

/// Returns the prompt, with everything that may be typed.
fn prompt_text(offers: usize) -> String {
    let always = match offers {
        0 => String::new(),
        1 => "   1 always".to_owned(),
        many => format!("   1-{many} always"),
    };
    format!("y yes   n no{always}   r no, and say why: ")
}

/// Returns the index of the offer with this number.
fn offer_index(offers: usize, typed: &str) -> Option<usize> {
    let number: usize = typed.parse().ok()?;
    number.checked_sub(1).filter(|index| *index < offers)
}

impl Approver for ScreenApprover {
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let numbered = numbered_options(question);
            let labels: Vec<String> = numbered.iter().map(|(_, label)| label.clone()).collect();
            answer(self.choose(&labels).await, &numbered)
        })
    }

    /// A flag answers permission questions only: it has no values for a form.
    fn fill<'a>(&'a self, question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        Box::pin(async move {
            match self.answer_mode {
                AnswerMode::AskUser if self.commentary == Commentary::Hidden => {
                    FormAnswer::declined_because("forms are not shown with --events")
                }
                AnswerMode::AskUser => form::fill(&question.form, &self.dialog()).await,
                AnswerMode::Yes(_) | AnswerMode::YesThenAlways(_) => {
                    FormAnswer::declined_because("there is no user to fill in a form")
                }
                AnswerMode::No(why) => FormAnswer::declined_because(why),
            }
        })
    }
}
