//! The states of documents and the roles of people. Persisted: changes need a migration.

use serde::{Deserialize, Serialize};

use crate::Reason;

/// Milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UtcMs(pub i64);

macro_rules! text_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// The stored and displayed spelling.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Reads the spelling of [`Self::as_str`].
            pub fn from_text(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

text_enum!(
    /// What kind of source a document is.
    DocumentKind {
        Pdf = "pdf",
        Docx = "docx",
        Markdown = "markdown",
        Html = "html",
        Text = "text",
        Csv = "csv",
        Pptx = "pptx",
        Xlsx = "xlsx",
        Xls = "xls",
        Odt = "odt",
        Ods = "ods",
        Odp = "odp",
        Doc = "doc",
        Ppt = "ppt",
        Rtf = "rtf",
        Epub = "epub",
        Email = "email",
        Archive = "archive",
        Json = "json",
        Code = "code",
        Subtitles = "subtitles",
        Image = "image",
        Audio = "audio",
        Video = "video",
    }
);

impl DocumentKind {
    /// The extensions that name a file of this kind, the usual one first; none for what has many.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Pdf => &["pdf"],
            Self::Docx => &["docx"],
            Self::Markdown => &["md", "markdown"],
            Self::Html => &["html", "htm", "xhtml"],
            Self::Text => &["txt"],
            Self::Csv => &["csv", "tsv"],
            Self::Pptx => &["pptx"],
            Self::Xlsx => &["xlsx", "xlsm"],
            Self::Xls => &["xls"],
            Self::Odt => &["odt"],
            Self::Ods => &["ods"],
            Self::Odp => &["odp"],
            Self::Doc => &["doc"],
            Self::Ppt => &["ppt"],
            Self::Rtf => &["rtf"],
            Self::Epub => &["epub"],
            Self::Email => &["eml", "msg"],
            Self::Archive => &["zip"],
            Self::Json => &["json", "jsonl"],
            Self::Subtitles => &["srt", "vtt"],
            Self::Image => &["png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp", "gif"],
            Self::Audio => &["wav", "mp3", "m4a", "flac", "ogg"],
            Self::Video => &["mp4", "mkv", "webm", "mov"],
            Self::Code => &[],
        }
    }
}

text_enum!(
    /// The life cycle of a version.
    DocumentState {
        Queued = "queued",
        Parsing = "parsing",
        Indexing = "indexing",
        Ready = "ready",
        Published = "published",
        Failed = "failed",
        Superseded = "superseded",
        Deleted = "deleted",
    }
);

text_enum!(
    /// How a published version can be found.
    Searchable {
        /// Words only: the vectors are still being made.
        Lexical = "lexical",
        /// Words and vectors.
        Hybrid = "hybrid",
    }
);

text_enum!(
    /// The stages of an import, in order.
    JobStage {
        Detect = "detect",
        Parse = "parse",
        /// Words in pictures and sound.
        Recognize = "recognize",
        Chunk = "chunk",
        PublishLexical = "publish_lexical",
        Embed = "embed",
        Publish = "publish",
        Done = "done",
    }
);

text_enum!(
    /// What a member may do in a vault.
    Role {
        Owner = "owner",
        Editor = "editor",
        Reader = "reader",
    }
);

text_enum!(
    /// Who sees a document before explicit rules are applied.
    DocumentVisibility {
        OwnerOnly = "owner_only",
        Departments = "departments",
        AllMembers = "all_members",
    }
);

text_enum!(
    /// An explicit rule for one person or department. `deny` beats `allow`.
    AclEffect { Allow = "allow", Deny = "deny" }
);

/// Why a version could not be processed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    pub stage: JobStage,
    pub reason: Reason,
    pub retryable: bool,
}
