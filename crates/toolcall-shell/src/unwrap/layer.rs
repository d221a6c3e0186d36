//! One layer of wrapping: what a single program would run, judged by its name and arguments.
//! It does not look into what it finds; that is done layer by layer.

use toolcall::text::clean_line;

use super::options::{Rest, operands};
use super::table::{self, Way, Wrapper};

/// What stands directly behind a program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Layer {
    pub(super) inside: Vec<Inside>,
    /// Why that may not be all.
    pub(super) doubt: Option<String>,
}

/// Something that would run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inside {
    Program(Vec<String>),
    /// A text, by a shell.
    Text(String),
}

/// What a program would run, if it is known to run others.
pub(super) fn layer(argv: &[String]) -> Layer {
    let Some((path, arguments)) = argv.split_first() else {
        return Layer::default();
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
        return Layer::doubt(format!("`{name}` may run anything"));
    }
    if table::is_interpreter(name) {
        return interpreter(name, arguments);
    }
    if let Some(option) = table::running_option(name, arguments) {
        let option = clean_line(option, 40);
        return Layer::doubt(format!("`{option}` makes `{name}` run something"));
    }
    let wrapper = table::WRAPPERS.iter().find(|wrapper| wrapper.name == name);
    wrapper.map_or_else(Layer::default, |wrapper| wrapped(wrapper, arguments))
}

impl Layer {
    fn doubt(why: impl Into<String>) -> Self {
        Self {
            inside: Vec::new(),
            doubt: Some(why.into()),
        }
    }

    fn program(argv: &[String]) -> Self {
        let inside = match argv.is_empty() {
            true => Vec::new(),
            false => vec![Inside::Program(argv.to_vec())],
        };
        Self {
            inside,
            doubt: None,
        }
    }
}

fn wrapped(wrapper: &Wrapper, arguments: &[String]) -> Layer {
    let Rest { from, mut doubt } = operands(wrapper, arguments);
    let rest = arguments.get(from..).unwrap_or_default();
    let name = wrapper.name;
    let layer = match wrapper.way {
        Way::Program => Layer::program(rest),
        Way::ProgramAndMore => {
            doubt.get_or_insert_with(|| format!("`{name}` adds arguments of its own"));
            Layer::program(rest)
        }
        Way::Text if rest.is_empty() => Layer::default(),
        Way::Text => Layer {
            inside: vec![Inside::Text(rest.join(" "))],
            doubt: None,
        },
    };
    Layer { doubt, ..layer }
}

/// `sh -c TEXT`, with the options that change nothing about what runs.
fn shell(arguments: &[String]) -> Layer {
    let is_option = |argument: &&String| argument.starts_with(['-', '+']) && argument.len() > 1;
    let options: Vec<_> = arguments.iter().take_while(is_option).collect();
    let is_known = |option: &&String| {
        let letters = option.strip_prefix('-').unwrap_or("?");
        letters.chars().all(|c| "cleux".contains(c)) || option.as_str() == "--login"
    };
    if !options.iter().all(is_known) {
        return Layer::doubt("a shell with options that are not understood");
    }
    let has_text = options
        .iter()
        .any(|option| !option.starts_with("--") && option.contains('c'));
    match arguments.get(options.len()) {
        Some(text) if has_text => Layer {
            inside: vec![Inside::Text(text.clone())],
            doubt: None,
        },
        Some(_) | None => Layer::doubt("a shell that runs a script or its input"),
    }
}

/// `find … -exec PROGRAM … ;` and `fd -x PROGRAM …`
fn finder(name: &str, arguments: &[String]) -> Layer {
    let mut inside = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest.iter().position(|word| table::is_action(name, word)) {
        let after = &rest[at + 1..];
        let is_end = |word: &String| word == ";" || word == "+";
        let end = after.iter().position(is_end).unwrap_or(after.len());
        inside.push(Inside::Program(after[..end].to_vec()));
        rest = &after[end..];
    }
    let doubt = (!inside.is_empty()).then(|| format!("`{name}` adds arguments of its own"));
    inside.retain(|inside| *inside != Inside::Program(Vec::new()));
    Layer { inside, doubt }
}

/// `busybox PROGRAM …`, `ld.so PROGRAM …`: the first argument is the program.
fn carrier(name: &str, arguments: &[String]) -> Layer {
    match arguments.first() {
        Some(first) if first.starts_with('-') => {
            Layer::doubt(format!("an option of `{name}` that is not understood"))
        }
        Some(_) | None => Layer::program(arguments),
    }
}

/// A program of its own language in the arguments, or on the input.
fn interpreter(name: &str, arguments: &[String]) -> Layer {
    let is_code = |argument: &String| {
        table::CODE_OPTIONS
            .iter()
            .any(|option| argument.starts_with(option))
    };
    let has_code = arguments.iter().any(is_code);
    match has_code || arguments.is_empty() {
        true => Layer::doubt(format!("`{name}` runs code that is not read")),
        false => Layer::default(),
    }
}
