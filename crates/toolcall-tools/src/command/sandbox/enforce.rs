//! Confines the calling process and every process it will start, with Landlock and seccomp.
//! It never applies less than was requested: what cannot be enforced is an error.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus,
    Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::Network;
use crate::command::protocol::Isolation;
use crate::local::Files;

/// The first version that protects file content completely: it covers truncation, too.
const REQUIRED_ABI: ABI = ABI::V3;

type BoxError = Box<dyn std::error::Error>;

/// Confines this thread, which must be the only one of the process.
pub(in crate::command) fn enforce(isolation: &Isolation, files: &Files) -> Result<(), String> {
    let built = restrict_files(isolation, files).and_then(|()| match isolation.network {
        Network::Refused => deny_sockets(),
        Network::Allowed => Ok(()),
    });
    built.map_err(|why| format!("the sandbox cannot be built: {why}"))
}

fn restrict_files(isolation: &Isolation, files: &Files) -> Result<(), BoxError> {
    let mut rules = ruleset(isolation.network)?;
    for root in files.root_handles() {
        rules = rules.add_rule(PathBeneath::new(root, directory_rights()))?;
    }
    let listed = isolation.writable.iter().map(Path::new);
    let always = [Path::new("/dev/null"), Path::new(&isolation.temp_dir)];
    for path in listed.chain(always) {
        rules = allow_writes(rules, path).map_err(|why| format!("`{}`: {why}", path.display()))?;
    }
    let status = rules.restrict_self()?;
    if status.no_new_privs && status.ruleset != RulesetStatus::NotEnforced {
        Ok(())
    } else {
        Err("the kernel does not enforce it".into())
    }
}

/// Requires what every sandbox needs, and adds what newer kernels can restrict besides.
fn ruleset(network: Network) -> Result<RulesetCreated, BoxError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(REQUIRED_ABI))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::IoctlDev)?
        .scope(Scope::from_all(ABI::V6))?;
    if network == Network::Refused {
        // In addition to the seccomp filter, which works on every kernel that gets here.
        rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    Ok(rules.create()?)
}

fn allow_writes(rules: RulesetCreated, path: &Path) -> Result<RulesetCreated, BoxError> {
    let held = PathFd::new(path)?;
    let is_dir = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(held.as_fd())?.st_mode)
        == rustix::fs::FileType::Directory;
    let rights = if is_dir {
        directory_rights()
    } else {
        directory_rights() & AccessFs::from_file(ABI::V5)
    };
    Ok(rules.add_rule(PathBeneath::new(held, rights))?)
}

fn directory_rights() -> BitFlags<AccessFs> {
    AccessFs::from_write(REQUIRED_ABI) | AccessFs::IoctlDev
}

/// Denies every socket that is not a Unix socket, and `io_uring`, which could create sockets past
/// the filter.
fn deny_sockets() -> Result<(), BoxError> {
    let not_local = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Ne,
        u64::from(libc::AF_UNIX.unsigned_abs()),
    )?;
    let not_local = SeccompRule::new(vec![not_local])?;
    let mut rules = BTreeMap::new();
    for syscall in syscall_numbers(libc::SYS_socket).chain(syscall_numbers(libc::SYS_socketpair)) {
        rules.insert(syscall, vec![not_local.clone()]);
    }
    for syscall in syscall_numbers(libc::SYS_io_uring_setup) {
        rules.insert(syscall, Vec::new());
    }
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EACCES.unsigned_abs()),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    Ok(seccompiler::apply_filter(&BpfProgram::try_from(filter)?)?)
}

/// Returns the numbers of a system call. A call of another architecture kills the process.
fn syscall_numbers(syscall: i64) -> impl Iterator<Item = i64> {
    /// On x86-64, the bit of the x32 variants of system calls.
    const X32: i64 = 0x4000_0000;
    let short = cfg!(target_arch = "x86_64").then_some(syscall | X32);
    [syscall].into_iter().chain(short)
}
