//! Where ffmpeg is, and how it is called so that a foreign file cannot make it read anything else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::MediaError;

/// Formats that hold sound or pictures themselves. Play lists, which name other files and addresses, are not among them.
const FORMATS: &str = "aac,ac3,aiff,amr,ape,asf,au,avi,caf,dts,dv,eac3,flac,flv,gsm,h264,hevc,ivf,m4v,matroska,mov,mp3,mpeg,\
                       mpegts,mpegvideo,mxf,nut,ogg,rm,tta,w64,wav,webm,wv";
/// A single allocation of more is a damaged file, not a big one.
const MAX_ALLOCATION: &str = "536870912";

/// The programs that do what this crate does not do itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MediaTools {
    ffmpeg: Option<PathBuf>,
}

impl MediaTools {
    /// `ZHIKU_FFMPEG`, or ffmpeg on the search path.
    pub fn find() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let Some(chosen) = set("ZHIKU_FFMPEG") {
            return Self::at(chosen);
        }
        let folders = set("PATH").unwrap_or_default();
        let found = std::env::split_paths(&folders).map(|folder| folder.join(file_name("ffmpeg")));
        Self { ffmpeg: found.filter(|path| path.is_file()).find(|path| path.is_absolute()) }
    }

    /// The given ffmpeg, with ffprobe beside it; as if there were none when it is not a file.
    pub fn at(ffmpeg: impl Into<PathBuf>) -> Self {
        Self { ffmpeg: Some(ffmpeg.into()).filter(|path| path.is_file()) }
    }

    /// No ffmpeg: what this crate can do alone.
    pub fn none() -> Self {
        Self::default()
    }

    pub fn ffmpeg(&self) -> Option<&Path> {
        self.ffmpeg.as_deref()
    }

    /// Beside ffmpeg.
    pub(crate) fn ffprobe(&self) -> Option<PathBuf> {
        Some(self.ffmpeg.as_ref()?.with_file_name(file_name("ffprobe"))).filter(|path| path.is_file())
    }

    /// ffmpeg with `options` before the input, for `what`.
    pub(crate) fn command(&self, input: &Path, options: &[&str], what: &str) -> Result<Command, MediaError> {
        let Some(ffmpeg) = &self.ffmpeg else {
            return Err(MediaError::NeedsFfmpeg { path: input.to_owned(), what: what.to_owned() });
        };
        let mut command = Command::new(ffmpeg);
        command.args(["-nostdin", "-hide_banner", "-max_alloc", MAX_ALLOCATION]);
        command.args(options);
        add_input(&mut command, input);
        Ok(command)
    }
}

/// The input by its path alone, and only in a format that names nothing else.
pub(crate) fn add_input(command: &mut Command, input: &Path) {
    let mut named = OsString::from("file:");
    named.push(input);
    command.args(["-protocol_whitelist", "file,pipe", "-format_whitelist", FORMATS, "-i"]).arg(named);
}

fn file_name(program: &str) -> String {
    format!("{program}{}", std::env::consts::EXE_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_no_file_counts_as_no_ffmpeg() {
        let tools =
            MediaTools::from_variables(|name| (name == "ZHIKU_FFMPEG").then(|| "/no/such/ffmpeg".into()));
        assert_eq!(tools, MediaTools::none());
        let error = tools.command(Path::new("a.wma"), &[], "wma").expect_err("missing");
        assert_eq!(error.reason_code(), "needs_ffmpeg");
        assert!(error.hint().is_some_and(|hint| hint.contains("apt install ffmpeg")));
    }
}
