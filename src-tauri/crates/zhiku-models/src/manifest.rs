//! The list of models, read from `models/manifest.toml`.

use std::collections::HashSet;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use crate::error::ModelsError;

const BUILT_IN: &str = include_str!("../../../../models/manifest.toml");
const SCHEMA: u32 = 1;

/// What an entry is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Embedding,
    OnnxRuntime,
    Pdfium,
    LanguageMeans,
    /// Words in pictures.
    Ocr,
    SpeechRecognition,
    VoiceActivity,
    SpeechSynthesis,
    /// Dictionaries that say how words sound.
    Pronunciation,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::OnnxRuntime => "onnx_runtime",
            Self::Pdfium => "pdfium",
            Self::LanguageMeans => "language_means",
            Self::Ocr => "ocr",
            Self::SpeechRecognition => "speech_recognition",
            Self::VoiceActivity => "voice_activity",
            Self::SpeechSynthesis => "speech_synthesis",
            Self::Pronunciation => "pronunciation",
        }
    }
}

/// All entries, in the order of preference per role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    schema: u32,
    #[serde(rename = "entry")]
    pub entries: Vec<Entry>,
}

/// A folder of the store and what belongs into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub role: Role,
    /// Also the name of the folder; changes with the content.
    pub id: String,
    pub title: String,
    pub licence: String,
    /// `<os>-<architecture>`; `None` fits everywhere.
    pub platform: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    pub dims: Option<u32>,
    pub max_tokens: Option<u32>,
    /// What loading adds to the process.
    pub memory_mb: Option<u32>,
    #[serde(rename = "file")]
    pub files: Vec<FileSpec>,
    /// Tried in this order.
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
}

impl Entry {
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Part of the program: nothing to fetch.
    pub fn is_bundled(&self) -> bool {
        self.sources.contains(&Source::Bundled)
    }

    fn fits(&self, platform: &str) -> bool {
        self.platform.as_deref().is_none_or(|own| own == platform)
    }
}

/// One file as it must be in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    pub name: String,
    pub bytes: u64,
    /// Lower-case hexadecimal.
    pub sha256: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    Package(PackageSource),
    /// `<hub>/<repository>/resolve/<revision>/<file>`; the files have the names they have in the store.
    Hub {
        repository: String,
        revision: String,
    },
    Bundled,
}

/// Where packages come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Registry {
    /// Wheels, fetched by pip.
    #[default]
    Python,
    /// Archives, fetched by npm.
    Npm,
}

/// Members of one package or of several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageSource {
    /// Of every member that names none of its own.
    pub package: String,
    pub version: String,
    /// Platform tag of the wheels; an npm package fits every platform.
    pub platform: Option<String>,
    /// Python version the wheels are for.
    pub python: Option<String>,
    #[serde(rename = "member")]
    pub members: Vec<Member>,
    /// Program that makes the entry's files out of the members, which it is given in order, one path per
    /// [`Member::target`]; without it the members are the files.
    pub convert: Option<String>,
}

/// One file inside a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Path inside the package.
    pub file: String,
    #[serde(default)]
    pub registry: Registry,
    pub package: Option<String>,
    pub version: Option<String>,
    /// Where it need not be the sum of one of the entry's files.
    pub sha256: Option<String>,
    /// The file it becomes, or a part of: members with the same name are joined in order. The last part of the path if not
    /// given.
    #[serde(rename = "as")]
    pub becomes: Option<String>,
}

impl Member {
    /// Name of the file that this is, or is a part of.
    pub fn target(&self) -> &str {
        let last = || self.file.rsplit('/').next().unwrap_or(&self.file);
        self.becomes.as_deref().unwrap_or_else(last)
    }
}

impl PackageSource {
    /// Package and version of a member.
    pub fn package_of<'a>(&'a self, member: &'a Member) -> (&'a str, &'a str) {
        (
            member.package.as_deref().unwrap_or(&self.package),
            member.version.as_deref().unwrap_or(&self.version),
        )
    }
}

impl Manifest {
    /// The manifest that was compiled in.
    pub fn built_in() -> Result<Self, ModelsError> {
        Self::parse(BUILT_IN)
    }

    pub fn read(path: &Path) -> Result<Self, ModelsError> {
        let text = std::fs::read_to_string(path).map_err(|error| ModelsError::io("read", path, error))?;
        Self::parse(&text)
    }

    /// Reads and validates: whatever passes can be fetched without surprises.
    pub fn parse(text: &str) -> Result<Self, ModelsError> {
        let refuse = |detail: String| ModelsError::Manifest { detail };
        let manifest: Self = toml::from_str(text).map_err(|error| refuse(error.to_string()))?;
        if manifest.schema != SCHEMA {
            return Err(refuse(format!("schema {} is not known, only {SCHEMA}", manifest.schema)));
        }
        let mut ids = HashSet::new();
        for entry in &manifest.entries {
            fault_of(entry).map_or(Ok(()), |fault| Err(refuse(format!("entry {}: {fault}", entry.id))))?;
            if !ids.insert(&entry.id) {
                return Err(refuse(format!("entry {} appears twice", entry.id)));
            }
        }
        Ok(manifest)
    }

    /// `<os>-<architecture>` of this program.
    pub fn this_platform() -> String {
        format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
    }

    /// What this platform can use.
    pub fn usable(&self) -> impl Iterator<Item = &Entry> {
        let platform = Self::this_platform();
        self.entries.iter().filter(move |entry| entry.fits(&platform))
    }

    /// The preferred entry for a role.
    pub fn by_role(&self, role: Role) -> Result<&Entry, ModelsError> {
        self.usable().find(|entry| entry.role == role).ok_or_else(|| unknown(role.as_str()))
    }

    /// By id, or by the name of a role.
    pub fn by_name(&self, name: &str) -> Result<&Entry, ModelsError> {
        self.usable()
            .find(|entry| entry.id == name)
            .or_else(|| self.usable().find(|entry| entry.role.as_str() == name))
            .ok_or_else(|| unknown(name))
    }
}

fn unknown(name: &str) -> ModelsError {
    ModelsError::Unknown { name: name.to_owned(), platform: Manifest::this_platform() }
}

fn fault_of(entry: &Entry) -> Option<String> {
    if !is_plain_name(&entry.id) {
        return Some("the id is not a plain file name".to_owned());
    }
    if entry.files.is_empty() || entry.sources.is_empty() {
        return Some("it needs a file and a source".to_owned());
    }
    for file in &entry.files {
        if !is_plain_name(&file.name) {
            return Some(format!("{:?} is not a plain file name", file.name));
        }
        if !is_sha256(&file.sha256) {
            return Some(format!("the sha256 of {} is not 64 lower-case hexadecimal digits", file.name));
        }
    }
    entry.sources.iter().find_map(|source| match source {
        Source::Package(package) => fault_of_package(entry, package),
        Source::Hub { .. } | Source::Bundled => None,
    })
}

fn fault_of_package(entry: &Entry, source: &PackageSource) -> Option<String> {
    if source.members.is_empty() {
        return Some(format!("{} needs a member", source.package));
    }
    if let Some(fault) = source.members.iter().find_map(|member| fault_of_member(source, member)) {
        return Some(fault);
    }
    let made = |name: &str| source.members.iter().any(|member| member.target() == name);
    let missing = entry.files.iter().find(|file| source.convert.is_none() && !made(&file.name));
    missing.map(|file| format!("{} gives no {} without a conversion", source.package, file.name))
}

fn fault_of_member(source: &PackageSource, member: &Member) -> Option<String> {
    if !is_plain_name(member.target()) {
        return Some(format!("{:?} is not a plain file name", member.target()));
    }
    if member.registry == Registry::Python && (source.platform.is_none() || source.python.is_none()) {
        return Some(format!("{} is a wheel, so it needs a platform and a version of Python", member.file));
    }
    match &member.sha256 {
        Some(sum) if !is_sha256(sum) => {
            Some(format!("the sha256 of {} is not 64 lower-case hexadecimal digits", member.file))
        }
        None if source.convert.is_some() => {
            Some(format!("{} is converted, so it needs a sha256 of its own", member.file))
        }
        _ => None,
    }
}

/// One ordinary path component that cannot be taken for one of the store's own files.
fn is_plain_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(only)), None) if only == name)
        && !name.starts_with('.')
        && !name.contains('\\')
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
