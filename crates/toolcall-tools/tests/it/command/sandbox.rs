//! What a sandbox refuses and what it permits, on kernels that support it.
//! On other kernels a command that is to run in a sandbox must not run.

use std::fs;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};

use toolcall::Exit;
use toolcall_testkit::process::{ROLE, role};
use toolcall_tools::command::{Commands, Network, Sandbox};

use crate::command::fixture::{CommandFixture, RecordingConsole};
use crate::command::trees::supervisor_of;

/// Returns a sandboxed runner, or `None` if this kernel has no sandbox.
async fn sandboxed(fixture: &CommandFixture, sandbox: Sandbox) -> Option<Commands> {
    let commands = fixture.commands().with_sandbox(sandbox);
    let (ended, _) = fixture.run_with(&commands, "true").await;
    match ended {
        Ok(exit) => {
            assert_eq!(exit, Exit::Code(0));
            Some(commands)
        }
        Err(error) => {
            println!("skipped: {error}");
            let error = error.to_string();
            assert!(error.contains("the sandbox cannot be built"), "{error}");
            None
        }
    }
}

#[tokio::test]
async fn only_what_is_listed_can_be_written() {
    let fixture = CommandFixture::new();
    let (extra, file) = (fixture.at("extra"), fixture.at("file"));
    fs::create_dir(&extra).unwrap();
    fs::write(&file, "old").unwrap();
    fs::write(fixture.at("outside/canary"), "CANARY").unwrap();
    let sandbox = Sandbox::new(Network::Refused)
        .with_writable(&extra)
        .with_writable(&file);
    let Some(commands) = sandboxed(&fixture, sandbox).await else {
        return;
    };
    for (text, is_fine) in [
        ("echo a > made && mkdir d && mv made d/ && rm -r d", true),
        ("echo a > /dev/null", true),
        ("echo a > ../extra/made && rm ../extra/made", true),
        ("echo a > ../file", true),
        ("cat ../outside/canary", true),
        ("echo a > ../outside/made", false),
        ("echo a > ../outside/canary", false),
        ("truncate -s 0 ../outside/canary", false),
        ("rm ../outside/canary", false),
        ("mv ../outside/canary .", false),
        ("ln ../outside/canary hard && echo a > hard", false),
        ("mkdir ../outside/made", false),
        ("ln -s a ../outside/made", false),
        ("rm ../file", false),
        ("ln -s ../outside/canary link; echo a > link", false),
        ("touch /tmp/toolcall-made-outside", false),
    ] {
        let (ended, printed) = fixture.run_with(&commands, text).await;
        let is_zero = ended == Ok(Exit::Code(0));
        assert_eq!(is_zero, is_fine, "{text}: {ended:?} {printed}");
    }
    let canary = fs::read_to_string(fixture.at("outside/canary")).unwrap();
    assert_eq!(canary, "CANARY");
    assert_eq!(fs::read_dir(fixture.at("outside")).unwrap().count(), 1);
}

#[tokio::test]
async fn the_folder_for_temporary_files_is_private_and_goes() {
    let fixture = CommandFixture::new();
    let sandbox = Sandbox::new(Network::Refused);
    let Some(commands) = sandboxed(&fixture, sandbox).await else {
        return;
    };
    let text = "stat -c %a \"$TMPDIR\"; mktemp -d > /dev/null && mkdir -p \"$TMPDIR/a/b\" && \
                echo a > \"$TMPDIR/a/b/c\" && echo \"$TMPDIR\"";
    let (ended, printed) = fixture.run_with(&commands, text).await;
    assert_eq!(ended, Ok(Exit::Code(0)));
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines[0], "700");
    assert!(lines[1].starts_with(std::env::temp_dir().to_str().unwrap()));
    assert!(!fs::exists(lines[1]).unwrap(), "it goes with the command");
    let (_, again) = fixture.run_with(&commands, "echo \"$TMPDIR\"").await;
    assert_ne!(again.trim(), lines[1], "every command has its own");
}

/// Starts this test itself in the sandbox, with the address of a listener as its role.
#[tokio::test]
async fn there_is_a_network_only_if_it_is_allowed() {
    if let Some(address) = role() {
        return try_the_network(&address);
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let refused = "TCP PermissionDenied, UDP PermissionDenied, here fine";
    for (network, expected) in [
        (Network::Refused, refused),
        (Network::Allowed, "TCP fine, UDP fine, here fine"),
    ] {
        let fixture = CommandFixture::new();
        let Some(commands) = sandboxed(&fixture, Sandbox::new(network)).await else {
            return;
        };
        let own = std::env::current_exe().unwrap();
        let own = toolcall_shell::quoted([own.to_str().unwrap()]);
        let text = format!("{own} there_is_a_network_only_if_it_is_allowed --nocapture");
        let console = RecordingConsole::new();
        let mut command = fixture.understood(&text);
        command.env.insert(ROLE.into(), address.as_str().into());
        let ended = commands.run(&command, &console).await;
        let printed = console.text();
        assert_eq!(ended, Ok(Exit::Code(0)), "{printed}");
        assert!(printed.contains(expected), "{network:?}: {printed}");
    }
}

fn try_the_network(address: &str) {
    fn tried<T>(tried: std::io::Result<T>) -> String {
        tried.map_or_else(|error| format!("{:?}", error.kind()), |_| "fine".into())
    }
    let tcp = tried(TcpStream::connect(address));
    let udp = tried(UdpSocket::bind("127.0.0.1:0"));
    let here = tried(UnixListener::bind("socket").and_then(|_| UnixStream::pair()));
    println!("TCP {tcp}, UDP {udp}, here {here}");
}

/// Processes outside cannot be signalled, so a command cannot kill its supervisor.
#[tokio::test]
async fn a_supervisor_is_out_of_reach() {
    let fixture = CommandFixture::new();
    let sandbox = Sandbox::new(Network::Refused);
    let Some(commands) = sandboxed(&fixture, sandbox).await else {
        return;
    };
    if !signals_are_guarded() {
        return println!("skipped: signals are guarded from Linux 6.12 on");
    }
    let text = "read pid name state supervisor rest < /proc/$PPID/stat; kill -KILL $supervisor";
    let (ended, printed) = fixture.run_with(&commands, text).await;
    assert_eq!(ended, Ok(Exit::Code(1)));
    assert!(printed.contains("not permitted"), "{printed}");
}

fn signals_are_guarded() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse().ok());
    (numbers.next().flatten(), numbers.next().flatten()) >= (Some(6), Some(12))
}

#[tokio::test]
async fn a_killed_supervisor_leaves_no_folder_behind() {
    let fixture = CommandFixture::new();
    let sandbox = Sandbox::new(Network::Refused);
    let Some(commands) = sandboxed(&fixture, sandbox).await else {
        return;
    };
    let console = RecordingConsole::approved();
    let command = fixture.unclear("mkdir \"$TMPDIR/a\"; echo \"$TMPDIR\" ready; sleep 1000");
    let run = commands.run(&command, &console);
    let kill = async {
        console.shows("ready").await;
        let supervisor = supervisor_of(&fixture);
        rustix::process::kill_process(supervisor, rustix::process::Signal::KILL).unwrap();
    };
    let (ended, ()) = tokio::join!(run, kill);
    ended.unwrap_err();
    let printed = console.text();
    let dir = printed.split(' ').next().unwrap();
    assert!(dir.starts_with('/') && !fs::exists(dir).unwrap());
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn what_is_listed_and_missing_stops_the_command() {
    let fixture = CommandFixture::new();
    let sandbox = Sandbox::new(Network::Allowed).with_writable("/no/such/folder");
    let commands = fixture.commands().with_sandbox(sandbox);
    let (ended, _) = fixture.run_with(&commands, "touch made").await;
    let error = ended.unwrap_err().to_string();
    assert!(error.contains("the sandbox cannot be built"), "{error}");
    assert!(!fixture.root().join("made").exists());
}

#[tokio::test]
async fn without_a_supervisor_there_is_no_sandbox_and_no_command() {
    let fixture = CommandFixture::new();
    let sandbox = Sandbox::new(Network::Allowed);
    let commands = fixture.alone().with_sandbox(sandbox);
    let (ended, _) = fixture.run_with(&commands, "touch made").await;
    let error = ended.unwrap_err().to_string();
    let why = "the sandbox cannot be built: it takes a supervisor, and there is none";
    assert!(error.ends_with(why), "{error}");
    assert!(!fixture.root().join("made").exists());
}

#[cfg(not(feature = "sandbox"))]
#[tokio::test]
async fn without_the_feature_a_command_in_a_sandbox_does_not_run() {
    let fixture = CommandFixture::new();
    let commands = fixture
        .commands()
        .with_sandbox(Sandbox::new(Network::Allowed));
    let (ended, _) = fixture.run_with(&commands, "touch made").await;
    let error = ended.unwrap_err().to_string();
    let why = "the sandbox cannot be built: this program was built without the feature `sandbox`";
    assert!(error.ends_with(why), "{error}");
    assert!(!fixture.root().join("made").exists());
}

/// Starting a setuid program gains no privileges.
#[tokio::test]
async fn there_are_no_new_privileges() {
    let fixture = CommandFixture::new();
    let sandbox = Sandbox::new(Network::Allowed);
    let Some(commands) = sandboxed(&fixture, sandbox).await else {
        return;
    };
    let text = "grep NoNewPrivs /proc/self/status";
    let (_, printed) = fixture.run_with(&commands, text).await;
    assert_eq!(printed, "NoNewPrivs:\t1\n");
}
