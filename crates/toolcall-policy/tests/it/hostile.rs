//! Known attacks on permission systems, judged by rules as policy files would state them.
//! No case is skipped silently: those that other modules handle are counted, with the reason.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use toolcall::{
    Command, Intent, Kind, Origin, Policy, SessionContext, SessionId, Timestamp, ToolIdentity,
    Touch, Verdict,
};
use toolcall_policy::{
    Layer, LayerSource, PolicyError, PolicyStore, PolicyText, Project, RuleContext, Rules, Trust,
    TrustStore, find_git_helpers,
};
use toolcall_testkit::dir::TestDir;

use crate::store::fixture::config_in;

const CASES: &str = include_str!("hostile/cases.jsonl");
const ROOT: &str = "/w/proj";

/// The result of a case.
enum CaseResult {
    Judged(&'static str),
    Skipped(&'static str),
}

#[test]
fn hostile_cases() {
    let (mut passed, mut skipped, mut failed) = (0, BTreeMap::<_, Vec<String>>::new(), Vec::new());
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let id = case["id"].as_str().expect("an id").to_owned();
        let expected = case["expected"]["decision"].as_str().expect("a decision");
        match outcome(&case) {
            CaseResult::Skipped(why) => skipped.entry(why).or_default().push(id),
            CaseResult::Judged(got) if fits(expected, got) => passed += 1,
            CaseResult::Judged(got) => failed.push(format!("{id}: expected {expected}, got {got}")),
        }
    }
    println!("passed {passed}, failed {}", failed.len());
    for (why, ids) in &skipped {
        println!("skipped {} ({why}): {}", ids.len(), ids.join(" "));
    }
    assert_eq!(failed, Vec::<String>::new());
    let skipped: usize = skipped.values().map(Vec::len).sum();
    assert_eq!((passed, skipped), (105, 16));
}

fn fits(expected: &str, got: &str) -> bool {
    match expected {
        "not_auto" => got != "allow",
        _ => expected == got,
    }
}

fn outcome(case: &Value) -> CaseResult {
    let setup = &case["setup"];
    if let Some(why) = handled_elsewhere(case) {
        return CaseResult::Skipped(why);
    }
    if setup["policy_file"].is_string() {
        return CaseResult::Judged(example_that_is_wrong());
    }
    if let Some(mode) = setup["policy_file_mode"].as_str() {
        return CaseResult::Judged(file_of_mode(mode));
    }
    if setup["workspace_policy_hash"].is_string() {
        return CaseResult::Judged(project_changed_since(&case["input"]["args"]));
    }
    let Some(intent) = intent(&case["input"]) else {
        return CaseResult::Judged("error");
    };
    let rules = rules(setup);
    let verdict = rules.judge(&intent, &context());
    if let Verdict::Ask { offers, .. } = &verdict {
        let is_banned = setup["user"]
            .as_str()
            .is_some_and(|user| user.contains("always"));
        assert!(!is_banned || offers.is_empty(), "{offers:?}");
    }
    CaseResult::Judged(name(&verdict))
}

/// Returns why rules alone do not decide a case, if so.
fn handled_elsewhere(case: &Value) -> Option<&'static str> {
    let (setup, input) = (&case["setup"], &case["input"]);
    let has = |key: &str| !setup[key].is_null();
    let asks_agent = |text: &str| {
        input["agent"]
            .as_str()
            .is_some_and(|agent| agent.contains(text))
    };
    if has("grant") {
        return Some("no grant ends by the clock: there are none with a time");
    }
    if has("history") {
        return Some("the history");
    }
    if has("hook") || has("interactive") {
        return Some("the engine");
    }
    if has("user")
        && !setup["user"]
            .as_str()
            .is_some_and(|user| user.starts_with("allow_always"))
    {
        return Some("the engine and the approver");
    }
    if input["args"]
        .as_object()
        .is_some_and(|args| args.contains_key("requires_approval"))
    {
        return Some("the registry checks inputs");
    }
    let is_about_options = ["option", "requests in"]
        .iter()
        .any(|text| asks_agent(text));
    is_about_options.then_some("the wire's permission requests")
}

/// Judges with a home and a project on disk.
fn with_store(judge: impl Fn(&Path, &dyn Fn() -> PolicyStore) -> &'static str) -> &'static str {
    let dir = TestDir::create();
    for name in ["config", "proj/.toolcall"] {
        dir.mkdir(name);
    }
    judge(dir.path(), &|| PolicyStore::open(config_in(dir.path())))
}

fn file_of_mode(mode: &str) -> &'static str {
    with_store(|base, open| {
        let path = base.join("config/policy.toml");
        fs::write(&path, "[[allow]]\nrun = 'ls'\n").expect("written");
        let mode = u32::from_str_radix(mode, 8).expect("a mode");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        match open().problem() {
            Some(_) => "error",
            None => "allow",
        }
    })
}

fn project_changed_since(args: &Value) -> &'static str {
    with_store(|base, open| {
        let (root, path) = (base.join("proj"), base.join("proj/.toolcall/policy.toml"));
        let text = args["command"].as_str().expect("a command");
        let judged = || {
            let reading = toolcall_shell::read(text, &root);
            let intent =
                Intent::new(Kind::Execute, text).running(Command::new(text, &root, reading));
            name(
                &open()
                    .rules()
                    .judge(&intent, &SessionContext::new(SessionId::new("s"), &root)),
            )
        };
        fs::write(&path, "[[allow]]\nrun = 'ls'\n").expect("written");
        let project = Project::read(&root).expect("a project");
        let trusts = TrustStore::new(&config_in(base).places);
        trusts
            .trust(&project, Timestamp::default())
            .expect("trusted");
        assert_eq!(judged(), "allow", "what was trusted holds");
        fs::write(&path, "[[allow]]\nrun = ['ls', 'curl']\n").expect("written");
        judged()
    })
}

fn name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

fn context() -> SessionContext {
    SessionContext::new(SessionId::new("s"), ROOT)
}

/// Returns the intent that our tools would state, or `None` if they reject the input.
fn intent(input: &Value) -> Option<Intent> {
    let args = &input["args"];
    if let Some(said) = input["agent"].as_str() {
        if said.contains("set_mode 'bypass'") {
            let touch = Touch::Reaches("mode:allow-all".into());
            return Some(Intent::new(Kind::SwitchMode, said).touching(touch));
        }
        let command = said
            .split("'command':'")
            .nth(1)
            .and_then(|rest| rest.split('\'').next());
        let intent = Intent::new(Kind::Read, said);
        return Some(match command {
            Some(text) => intent.running(command_of(text)),
            None => foreign(intent.touching(Touch::Unknown)),
        });
    }
    if input["mcp_tool"].is_string() {
        return Some(foreign(
            Intent::new(Kind::Other, "send").touching(Touch::Reaches("mcp:s/send".into())),
        ));
    }
    if let Some(address) = args["url"].as_str() {
        let url = url::Url::parse(address.split(' ').next()?).ok()?;
        let host = url.host_str()?.to_owned();
        return Some(Intent::new(Kind::Fetch, address).touching(Touch::Reaches(host.into())));
    }
    let text = args["command"].as_str()?;
    Some(Intent::new(Kind::Execute, text).running(command_of(text)))
}

fn command_of(text: &str) -> Command {
    Command::new(text, ROOT, toolcall_shell::read(text, ROOT.as_ref()))
}

fn foreign(mut intent: Intent) -> Intent {
    intent.tool = ToolIdentity {
        name: "send".into(),
        origin: Origin::Mcp("s".into()),
        provider: "".into(),
        digest: "d1".into(),
    };
    intent
}

/// Returns the rules of a case. A rule with an error denies everything; a rule that could never match is
/// left out, as a user would do after reading the error.
fn rules(setup: &Value) -> Rules {
    let listed =
        ["rules", "rules_in_order"].map(|key| setup[key].as_array().cloned().unwrap_or_default());
    let mut layers = Vec::new();
    for rule in listed.concat() {
        match parse(&toml(&rule), Trust::Trusted) {
            Ok(layer) => layers.push(layer),
            Err(error) if is_dead(&error) => {}
            Err(error) => return Rules::denying_all(&error),
        }
    }
    if !setup["workspace_policy"].is_null() {
        let text = "mode = 'allow-all'\n[[allow]]\nrun = ['ls']\nread = '**'\nwrite = '**'\ndelete = '**'\n";
        layers.push(parse(text, Trust::Untrusted).expect("a policy"));
    }
    Rules::new(layers, facts(setup)).expect("layers go together")
}

fn facts(setup: &Value) -> RuleContext {
    let files = setup["fs"].as_array().cloned().unwrap_or_default();
    let configured = files
        .iter()
        .filter_map(|file| file["gitconfig"].as_array())
        .map(|pair| {
            let (key, value) = (
                pair[0].as_str().expect("a key"),
                pair[1].as_str().expect("a value"),
            );
            let (section, name) = key.rsplit_once('.').expect("a section");
            format!("[{section}]\n\t{name} = {value}\n")
        });
    RuleContext {
        git_helpers: find_git_helpers(&configured.collect::<String>()),
        ..RuleContext::default()
    }
}

/// Converts a rule of a case to the text of a policy file.
fn toml(rule: &Value) -> String {
    let effect = rule["effect"].as_str().expect("an effect");
    let key = if let Some(words) = rule["prefix"].as_array() {
        let words: Vec<_> = words
            .iter()
            .map(|word| word.as_str().expect("a word"))
            .collect();
        let text = match words.as_slice() {
            ["*"] => "*".to_owned(),
            words => toolcall_shell::quoted(words.iter().copied()),
        };
        format!("run = {text:?}")
    } else if let Some(host) = rule["host"].as_str() {
        format!("reach = {host:?}")
    } else if let Some(pattern) = rule["regex"].as_str() {
        format!("regex = {pattern:?}")
    } else {
        format!("tool = {:?}", rule["tool"].as_str().expect("a tool"))
    };
    format!("[[{effect}]]\n{key}\n")
}

fn is_dead(error: &PolicyError) -> bool {
    let problem = &error.problem;
    ["can never match", "no rule can allow", "allows every tool"]
        .iter()
        .any(|dead| problem.contains(dead))
}

fn example_that_is_wrong() -> &'static str {
    let text =
        "[[allow]]\nrun = 'git status'\nmatches = ['git status -s']\nrefuses = ['git status']\n";
    match parse(text, Trust::Trusted) {
        Ok(_) => "allow",
        Err(_) => "error",
    }
}

fn parse(text: &str, trust: Trust) -> Result<Layer, PolicyError> {
    Layer::parse(PolicyText {
        file: "policy.toml",
        text,
        scope: LayerSource::User,
        trust,
        home: None,
    })
}
