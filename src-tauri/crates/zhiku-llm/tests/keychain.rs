//! Stores, uses and deletes a key in a real secret service that lives for this test alone.
//!
//! This program runs itself again inside the session that `virtual_keychain.sh` makes: the service is found through
//! variables of the process, which a running test must not change.

use std::process::{Command, ExitCode};

use anyhow::{Context, ensure};
use zhiku_core::ErrorCode;
use zhiku_llm::Secret;
use zhiku_llm::keychain::{KeyStatus, Keychain};

/// Tells the second run that it is inside. Not an argument: test runners pass those on.
const INSIDE: &str = "ZHIKU_KEYCHAIN_TEST";

const SKIPPED: i32 = 77;

fn main() -> anyhow::Result<ExitCode> {
    match std::env::var(INSIDE).ok().as_deref() {
        Some("service") => round_trip()?,
        Some("nothing") => no_service()?,
        _ => return outside(),
    }
    Ok(ExitCode::SUCCESS)
}

fn outside() -> anyhow::Result<ExitCode> {
    if !cfg!(target_os = "linux") {
        eprintln!("keychain: skipped: there is a throw-away secret service only for Linux");
        return Ok(ExitCode::SUCCESS);
    }
    let this = std::env::current_exe()?;
    let status = Command::new(&this)
        .env(INSIDE, "nothing")
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
        .status()?;
    ensure!(status.success(), "without a secret service: {status}");

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/virtual_keychain.sh");
    let status = Command::new(script).arg(&this).env(INSIDE, "service").status()?;
    if status.code() == Some(SKIPPED) {
        eprintln!("keychain: skipped: no secret service can be started here");
        return Ok(ExitCode::SUCCESS);
    }
    ensure!(status.success(), "with a secret service: {status}");
    eprintln!("keychain: ok");
    Ok(ExitCode::SUCCESS)
}

fn no_service() -> anyhow::Result<()> {
    let error = Keychain::open().err().context("opened a keychain that is not there")?;
    ensure!(error.code() == ErrorCode::KeychainUnavailable, "{error}");
    ensure!(error.hint().is_some_and(|hint| hint.contains("gnome-keyring")), "{error}");
    Ok(())
}

fn round_trip() -> anyhow::Result<()> {
    let keychain = Keychain::open()?;
    let key = "sk-test-zhiku-0123456789abcdef";
    ensure!(keychain.status("openai")? == KeyStatus::Missing);
    ensure!(keychain.get("openai")?.is_none());
    ensure!(keychain.delete("openai")? == KeyStatus::Missing);

    keychain.set("openai", &Secret::new("sk-an-older-key"))?;
    keychain.set("openai", &Secret::new(key))?;
    keychain.set("my-server", &Secret::new("钥匙 with spaces"))?;
    let read = |provider: &str| anyhow::Ok(keychain.get(provider)?.map(|secret| secret.expose().to_owned()));
    ensure!(read("openai")?.as_deref() == Some(key));
    ensure!(read("my-server")?.as_deref() == Some("钥匙 with spaces"));
    ensure!(keychain.status("openai")? == KeyStatus::Stored);
    not_in_plain_text(key)?;

    let second = Keychain::open()?;
    ensure!(second.delete("openai")? == KeyStatus::Stored);
    ensure!(keychain.status("openai")? == KeyStatus::Missing);
    ensure!(read("openai")?.is_none());
    ensure!(read("my-server")?.is_some());

    let refused =
        |result: Result<(), zhiku_llm::keychain::KeychainError>| result.err().map(|error| error.code());
    ensure!(refused(keychain.set("Open AI", &Secret::new(key))) == Some(ErrorCode::InvalidInput));
    ensure!(refused(keychain.set("openai", &Secret::new(" \n"))) == Some(ErrorCode::InvalidInput));
    Ok(())
}

fn not_in_plain_text(key: &str) -> anyhow::Result<()> {
    let root = std::env::var_os("ZHIKU_KEYRING_DIR").context("ZHIKU_KEYRING_DIR is not set")?;
    let mut folders = vec![std::path::PathBuf::from(root)];
    let mut n_files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            n_files += 1;
            let bytes = std::fs::read(&path)?;
            ensure!(
                !bytes.windows(key.len()).any(|window| window == key.as_bytes()),
                "{} holds the key",
                path.display()
            );
        }
    }
    ensure!(n_files > 0, "the secret service wrote no file");
    Ok(())
}
