//! Shuts the calling process in, with all that it will start, by Landlock and seccomp.
//! It opens nothing for writing and never settles for less than was asked.

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

/// The least that guards content wholly: from here on, files cannot be cut short either.
const NEEDED: ABI = ABI::V3;

type Failure = Box<dyn std::error::Error>;

/// Builds the walls around this thread, which must be the only one.
pub(in crate::command) fn enforce(walls: &Isolation, files: &Files) -> Result<(), String> {
    let built = guard_files(walls, files).and_then(|()| match walls.network {
        Network::Refused => refuse_sockets(),
        Network::Allowed => Ok(()),
    });
    built.map_err(|why| format!("the sandbox cannot be built: {why}"))
}

fn guard_files(walls: &Isolation, files: &Files) -> Result<(), Failure> {
    let mut rules = ruleset(walls.network)?;
    for root in files.root_handles() {
        rules = rules.add_rule(PathBeneath::new(root, folder_rights()))?;
    }
    let listed = walls.writable.iter().map(Path::new);
    let always = [Path::new("/dev/null"), Path::new(&walls.folder)];
    for path in listed.chain(always) {
        rules = allow(rules, path).map_err(|why| format!("`{}`: {why}", path.display()))?;
    }
    let status = rules.restrict_self()?;
    match status.no_new_privs && status.ruleset != RulesetStatus::NotEnforced {
        true => Ok(()),
        false => Err("the kernel does not enforce it".into()),
    }
}

/// What is needed must be there; what newer kernels guard besides is taken where it is.
fn ruleset(network: Network) -> Result<RulesetCreated, Failure> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(NEEDED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::IoctlDev)?
        .scope(Scope::from_all(ABI::V6))?;
    if network == Network::Refused {
        // Besides the filter below, which every kernel that gets here has.
        rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    Ok(rules.create()?)
}

fn allow(rules: RulesetCreated, path: &Path) -> Result<RulesetCreated, Failure> {
    let held = PathFd::new(path)?;
    let is_folder = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(held.as_fd())?.st_mode)
        == rustix::fs::FileType::Directory;
    let rights = match is_folder {
        true => folder_rights(),
        false => folder_rights() & AccessFs::from_file(ABI::V5),
    };
    Ok(rules.add_rule(PathBeneath::new(held, rights))?)
}

fn folder_rights() -> BitFlags<AccessFs> {
    AccessFs::from_write(NEEDED) | AccessFs::IoctlDev
}

/// Refuses every socket that leads off this machine, and the one way to make sockets that a filter
/// does not see.
fn refuse_sockets() -> Result<(), Failure> {
    let elsewhere = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Ne,
        u64::from(libc::AF_UNIX.unsigned_abs()),
    )?;
    let elsewhere = SeccompRule::new(vec![elsewhere])?;
    let mut rules = BTreeMap::new();
    for call in spellings(libc::SYS_socket).chain(spellings(libc::SYS_socketpair)) {
        rules.insert(call, vec![elsewhere.clone()]);
    }
    for call in spellings(libc::SYS_io_uring_setup) {
        rules.insert(call, Vec::new());
    }
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EACCES.unsigned_abs()),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    Ok(seccompiler::apply_filter(&BpfProgram::try_from(filter)?)?)
}

/// The numbers by which a call can be made. Calls of another architecture end the process.
fn spellings(call: i64) -> impl Iterator<Item = i64> {
    /// On x86-64, the same calls with short pointers.
    const X32: i64 = 0x4000_0000;
    let short = cfg!(target_arch = "x86_64").then_some(call | X32);
    [call].into_iter().chain(short)
}
