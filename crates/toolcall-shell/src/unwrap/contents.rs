//! What a single wrapper would run directly, judged by its name and arguments.
//! It does not unwrap what it finds; the caller does that level by level.

use toolcall::text::clean_line;

use super::options::{CommandStart, command_start};
use super::table::{self, CommandForm, Wrapper};

/// The commands that a program would run directly.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WrapperContents {
    pub(super) commands: Vec<WrappedCommand>,
    /// Why the list may be incomplete, if so.
    pub(super) ambiguity: Option<String>,
}

/// A command in the arguments of a wrapper.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WrappedCommand {
    Program(Vec<String>),
    /// A text that a shell would run.
    Text(String),
}

/// Returns what a program would run; nothing for a program that is not known to run others.
pub(super) fn contents(argv: &[String]) -> WrapperContents {
    let Some((path, arguments)) = argv.split_first() else {
        return WrapperContents::default();
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    if table::SHELLS.contains(&name) {
        return shell(arguments);
    }
    if table::FINDERS.contains(&name) {
        return finder(name, arguments);
    }
    if table::CARRIERS.contains(&name) || name.starts_with("ld-") || name.starts_with("ld.so") {
        return carrier(name, arguments);
    }
    if table::OPAQUE.contains(&name) {
        return WrapperContents::unclear(format!("`{name}` may run anything"));
    }
    if table::is_interpreter(name) {
        return interpreter(name, arguments);
    }
    if let Some(option) = table::running_option(name, arguments) {
        let option = clean_line(option, 40);
        return WrapperContents::unclear(format!("`{option}` makes `{name}` run something"));
    }
    let wrapper = table::WRAPPERS.iter().find(|wrapper| wrapper.name == name);
    wrapper.map_or_else(WrapperContents::default, |wrapper| {
        wrapped(wrapper, arguments)
    })
}

impl WrapperContents {
    fn unclear(why: impl Into<String>) -> Self {
        Self {
            commands: Vec::new(),
            ambiguity: Some(why.into()),
        }
    }

    fn program(argv: &[String]) -> Self {
        let commands = if argv.is_empty() {
            Vec::new()
        } else {
            vec![WrappedCommand::Program(argv.to_vec())]
        };
        Self {
            commands,
            ambiguity: None,
        }
    }
}

fn wrapped(wrapper: &Wrapper, arguments: &[String]) -> WrapperContents {
    let CommandStart {
        from,
        mut ambiguity,
    } = command_start(wrapper, arguments);
    let rest = arguments.get(from..).unwrap_or_default();
    let name = wrapper.name;
    let contents = match wrapper.form {
        CommandForm::Program => WrapperContents::program(rest),
        CommandForm::ProgramAndMore => {
            ambiguity.get_or_insert_with(|| format!("`{name}` adds arguments of its own"));
            WrapperContents::program(rest)
        }
        CommandForm::Text if rest.is_empty() => WrapperContents::default(),
        CommandForm::Text => WrapperContents {
            commands: vec![WrappedCommand::Text(rest.join(" "))],
            ambiguity: None,
        },
    };
    WrapperContents {
        ambiguity,
        ..contents
    }
}

/// Handles `sh -c TEXT`, with options that do not change what runs.
fn shell(arguments: &[String]) -> WrapperContents {
    let is_option = |argument: &&String| argument.starts_with(['-', '+']) && argument.len() > 1;
    let options: Vec<_> = arguments.iter().take_while(is_option).collect();
    let is_known = |option: &&String| {
        let letters = option.strip_prefix('-').unwrap_or("?");
        letters.chars().all(|c| "cleux".contains(c)) || option.as_str() == "--login"
    };
    if !options.iter().all(is_known) {
        return WrapperContents::unclear("a shell with options that are not understood");
    }
    let has_text = options
        .iter()
        .any(|option| !option.starts_with("--") && option.contains('c'));
    match arguments.get(options.len()) {
        Some(text) if has_text => WrapperContents {
            commands: vec![WrappedCommand::Text(text.clone())],
            ambiguity: None,
        },
        Some(_) | None => WrapperContents::unclear("a shell that runs a script or its input"),
    }
}

/// Handles `find … -exec PROGRAM … ;` and `fd -x PROGRAM …`.
fn finder(name: &str, arguments: &[String]) -> WrapperContents {
    let mut commands = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest.iter().position(|word| table::is_action(name, word)) {
        let after = &rest[at + 1..];
        let is_end = |word: &String| word == ";" || word == "+";
        let end = after.iter().position(is_end).unwrap_or(after.len());
        commands.push(WrappedCommand::Program(after[..end].to_vec()));
        rest = &after[end..];
    }
    let ambiguity = (!commands.is_empty()).then(|| format!("`{name}` adds arguments of its own"));
    commands.retain(|command| *command != WrappedCommand::Program(Vec::new()));
    WrapperContents {
        commands,
        ambiguity,
    }
}

/// Handles `busybox PROGRAM …` and `ld.so PROGRAM …`, whose first argument is the program.
fn carrier(name: &str, arguments: &[String]) -> WrapperContents {
    match arguments.first() {
        Some(first) if first.starts_with('-') => {
            WrapperContents::unclear(format!("an option of `{name}` that is not understood"))
        }
        Some(_) | None => WrapperContents::program(arguments),
    }
}

/// Handles interpreters, which run code from their arguments or standard input.
fn interpreter(name: &str, arguments: &[String]) -> WrapperContents {
    let is_code = |argument: &String| {
        table::CODE_OPTIONS
            .iter()
            .any(|option| argument.starts_with(option))
    };
    let has_code = arguments.iter().any(is_code);
    if has_code || arguments.is_empty() {
        WrapperContents::unclear(format!("`{name}` runs code that is not read"))
    } else {
        WrapperContents::default()
    }
}
