//! Python environments for the scripts that render recordings and the pipeline that the benchmark runs beside. Each is made
//! once, from pinned packages with checksums, and outlives the checkout.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::{command, run, succeeds};

/// The interpreter of an environment that holds exactly what `requirements` names. A change of that file makes a new one.
pub(crate) fn environment(requirements: &Path) -> Result<PathBuf> {
    let wanted =
        std::fs::read(requirements).with_context(|| format!("could not read {}", requirements.display()))?;
    let mut hasher = DefaultHasher::new();
    wanted.hash(&mut hasher);
    let folder = cache_dir()?.join("python").join(format!("{:016x}", hasher.finish()));
    let python = folder.join("bin/python");
    let done = folder.join("complete");
    if done.is_file() && succeeds(command(&python.to_string_lossy(), &["--version"])) {
        return Ok(python);
    }
    // What an interrupted installation left is no environment.
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("could not remove {}", folder.display()))?;
    }
    run(command("python3", &["-m", "venv", &folder.to_string_lossy()]))?;
    let (python_name, requirements) = (python.to_string_lossy(), requirements.to_string_lossy());
    let install = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", &requirements];
    run(command(&python_name, &install))
        .context("Python packages could not be installed; is the package server reachable?")?;
    std::fs::write(&done, "").with_context(|| format!("could not write {}", done.display()))?;
    Ok(python)
}

/// `zhiku` in the user's cache folder, where the models are as well.
pub(crate) fn cache_dir() -> Result<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    match base {
        Some(base) => Ok(base.join("zhiku")),
        None => bail!("neither XDG_CACHE_HOME nor HOME is set, so there is no cache folder"),
    }
}
