//! The supervisor of commands as a program of its own, for programs that cannot be started again.
//! It does nothing unless toolcall starts it.

#[cfg(unix)]
fn main() {
    // Started by toolcall, it does not return.
    drop(toolcall_tools::command::Supervisor::enter());
    eprintln!("this program supervises commands; toolcall starts it");
    std::process::exit(2);
}

#[cfg(not(unix))]
fn main() {
    eprintln!("commands cannot be supervised on this system yet");
    std::process::exit(2);
}
