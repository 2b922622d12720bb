//! What the child gives up before it reads a foreign byte.
//!
//! Limits come first and must hold. The file system and the network are given up where the kernel has Landlock; elsewhere the
//! limits and the separate process are what there is.

/// Bounds memory, processor time and files of this process for good. `Err` names the limit that could not be set.
#[cfg(unix)]
pub(super) fn limit(memory_bytes: u64, cpu_seconds: u64) -> Result<(), String> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let set = |resource: Resource, name: &str, value: u64| {
        let value = getrlimit(resource).maximum.map_or(value, |maximum| maximum.min(value));
        setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })
            .map_err(|err| format!("{name}: {err}"))
    };
    set(Resource::Core, "core size", 0)?;
    set(Resource::Fsize, "file size", 0)?;
    set(Resource::Nofile, "open files", 16)?;
    set(Resource::Cpu, "processor time", cpu_seconds)?;
    set(Resource::As, "memory", memory_bytes)
}

#[cfg(not(unix))]
pub(super) fn limit(_memory_bytes: u64, _cpu_seconds: u64) -> Result<(), String> {
    Ok(())
}

/// Lets the kernel end this process when its parent dies.
#[cfg(target_os = "linux")]
pub(super) fn die_with_parent() {
    use rustix::process::{Signal, set_parent_process_death_signal};

    // Without it an orphan ends at its processor limit: late, but it ends.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

#[cfg(not(target_os = "linux"))]
pub(super) fn die_with_parent() {}

/// Gives up all paths and all connections, as far as the kernel can enforce it.
#[cfg(target_os = "linux")]
pub(super) fn give_up_files_and_network() {
    use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr};

    let abi = ABI::V5;
    // An old kernel refuses or enforces a part: the crate degrades by itself, and an error means the same as an old kernel.
    let _ = Ruleset::default()
        .handle_access(AccessFs::from_all(abi))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(abi)))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
}

#[cfg(not(target_os = "linux"))]
pub(super) fn give_up_files_and_network() {}
