//! What can be typed. Names are a contract with scripts: add, never rename.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Zhiku (知库): answers from your documents, each with its source.
#[derive(Parser, Debug)]
#[command(name = "zhiku", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args, Debug)]
pub(crate) struct Global {
    /// Act as this profile; everything is limited to what it may see.
    #[arg(long = "as", global = true, value_name = "PROFILE")]
    pub(crate) as_profile: Option<String>,
    /// Application data.
    #[arg(long, global = true, env = "ZHIKU_HOME", value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// The vault, by name or folder.
    #[arg(long, global = true, value_name = "NAME|DIR")]
    pub(crate) vault: Option<String>,
    /// One JSON object (or JSON lines) on standard output and nothing else.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say more; twice says all.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Check versions, models, keychain and disk.
    Doctor,
    /// The models and how to get them.
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Read one file without a vault.
    Parse {
        file: PathBuf,
        /// The file's password is the first line of standard input.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Write down what is said in a sound or video file, with times.
    Transcribe { file: PathBuf },
    /// Bring files and folders into the vault.
    Import {
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Return as soon as words can be searched; vectors follow at the next import.
        #[arg(long)]
        lexical_only: bool,
        /// The first line of standard input opens the files that need a password; it is not kept.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Documents with their state.
    List,
    /// One document in full.
    Show { document: String },
    /// The versions of one document.
    Versions { document: String },
    /// Vaults.
    #[command(subcommand)]
    Vault(VaultCommand),
    /// Local users.
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// Who belongs to the vault.
    #[command(subcommand)]
    Member(MemberCommand),
    /// Who sees a document.
    #[command(subcommand)]
    Rule(RuleCommand),
    /// Remove a document and everything made from it.
    Remove {
        document: String,
        /// Only this one of several places it was imported from; the document stays.
        #[arg(long)]
        place: Option<PathBuf>,
    },
    /// The import queue.
    #[command(subcommand)]
    Jobs(JobsCommand),
    /// How much of the machine imports may use; without options, as it is.
    Governor(GovernorArgs),
    /// Folders whose files are taken in as they come and change.
    #[command(subcommand)]
    Watch(WatchCommand),
    /// Prove that nothing of a removed document is left.
    VerifyRemoved { document: String },
    /// Find passages.
    Search {
        query: String,
        #[arg(short, default_value_t = 10)]
        k: usize,
        #[arg(long, value_enum, default_value_t = Mode::Rerank)]
        mode: Mode,
    },
    /// Ask a question.
    Ask {
        question: String,
        /// A stored provider's name, or `extractive`.
        #[arg(long, default_value = "extractive")]
        model: String,
        /// JSON lines, one per event, as they come.
        #[arg(long)]
        stream: bool,
        /// Ask within this conversation.
        #[arg(long)]
        conversation: Option<String>,
    },
    /// Past questions.
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Measure.
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Model providers; keys go to the system's keychain only.
    #[command(subcommand)]
    Provider(ProviderCommand),
}

#[derive(Subcommand, Debug)]
pub(crate) enum JobsCommand {
    List,
    /// Stop after the step at hand, until resumed.
    Pause,
    /// Go on, and wait until all is done.
    Resume,
    /// Take one document's import back, or all.
    Cancel {
        document: Option<String>,
    },
    /// Try one document again, or all that failed and may be tried again.
    Retry {
        document: Option<String>,
    },
    /// Do this document before all others.
    First {
        document: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct GovernorArgs {
    /// Threads of one inference; 0 leaves it to the machine.
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Fewer threads, and way for other programs.
    #[arg(long, value_enum)]
    pub(crate) keep_usable: Option<Switch>,
    /// Megabytes of memory above which only one lane works; 0 leaves it to the machine.
    #[arg(long)]
    pub(crate) memory_ceiling_mb: Option<u64>,
    /// Megabytes of free disk below which imports wait.
    #[arg(long)]
    pub(crate) disk_reserve_mb: Option<u64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

#[derive(Subcommand, Debug)]
pub(crate) enum WatchCommand {
    List,
    /// Watch a folder, or change what is left out of it; takes in what is there.
    Add {
        folder: PathBuf,
        /// A pattern as in .gitignore of what is left out.
        #[arg(long = "ignore")]
        ignore: Vec<String>,
    },
    /// Watch a folder no more; its documents stay.
    Remove {
        folder: PathBuf,
    },
    /// Look at each folder once.
    Check,
    /// Watch until interrupted.
    Run,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ModelsCommand {
    List,
    Fetch {
        /// Only these; all that are missing by default.
        ids: Vec<String>,
    },
    Verify,
}

#[derive(Subcommand, Debug)]
pub(crate) enum VaultCommand {
    Create {
        name: String,
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    List,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ProfileCommand {
    Add { name: String },
    List,
}

#[derive(Subcommand, Debug)]
pub(crate) enum MemberCommand {
    List,
    /// Make a profile a member.
    Add {
        profile: String,
        #[arg(long, default_value = "reader")]
        role: String,
        #[arg(long = "department")]
        departments: Vec<String>,
    },
    /// Change role or departments.
    Set {
        profile: String,
        #[arg(long)]
        role: Option<String>,
        #[arg(long = "department")]
        departments: Vec<String>,
    },
    Remove {
        profile: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum RuleCommand {
    List {
        document: String,
    },
    Set {
        document: String,
        /// owner_only, departments or all_members
        #[arg(long)]
        visibility: Option<String>,
        /// The departments that see it, with `--visibility departments`.
        #[arg(long = "department")]
        departments: Vec<String>,
        /// Profiles or `department:NAME` that always see it.
        #[arg(long)]
        allow: Vec<String>,
        /// Profiles or `department:NAME` that never see it.
        #[arg(long)]
        deny: Vec<String>,
        /// Profiles or `department:NAME` whose explicit rule is taken back.
        #[arg(long)]
        clear: Vec<String>,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum RunsCommand {
    List,
    Show { id: String },
}

#[derive(Subcommand, Debug)]
pub(crate) enum EvalCommand {
    /// Ranking over a data set in BEIR's layout.
    Retrieval {
        #[arg(long)]
        beir: PathBuf,
        /// The questions of another set against this corpus.
        #[arg(long)]
        queries: Option<PathBuf>,
        /// Distractor passages (corpus.jsonl).
        #[arg(long)]
        extra: Vec<PathBuf>,
        #[arg(long, value_enum, default_value_t = Mode::Rerank)]
        mode: Mode,
        #[arg(long)]
        limit: Option<usize>,
    },
    /// The share of questions whose page is found.
    Pages {
        #[arg(long)]
        pdf: PathBuf,
        #[arg(long)]
        questions: PathBuf,
        #[arg(short, default_value_t = 10)]
        k: usize,
    },
    /// Answers to a fixed set of questions.
    Answers {
        #[arg(long)]
        questions: PathBuf,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum ProviderCommand {
    List,
    /// Store an endpoint; the key is read from standard input and kept in the keychain.
    Set {
        id: String,
        /// openai_compatible or anthropic
        #[arg(long)]
        kind: String,
        #[arg(long)]
        base_url: String,
        #[arg(long)]
        model: String,
        #[arg(long)]
        key_from_stdin: bool,
    },
    /// Ask the endpoint for one word.
    Test {
        id: String,
    },
    Remove {
        id: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Mode {
    Lexical,
    Dense,
    Hybrid,
    Rerank,
}

impl From<Mode> for zhiku_core::SearchMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Lexical => Self::Lexical,
            Mode::Dense => Self::Dense,
            Mode::Hybrid => Self::Hybrid,
            Mode::Rerank => Self::Rerank,
        }
    }
}
