//! The supervisor of commands as a separate program, for agents that cannot start themselves again.
//! It does nothing unless toolcall starts it.

#[cfg(unix)]
fn main() {
    // Does not return if toolcall started this process.
    drop(toolcall_tools::command::Supervisor::enter());
    eprintln!("this program supervises commands; toolcall starts it");
    std::process::exit(2);
}

#[cfg(not(unix))]
fn main() {
    eprintln!("commands cannot be supervised on this system yet");
    std::process::exit(2);
}
