//! `hermes -z`, `hermes chat`

use std::path::PathBuf;

use clap::Args;

/// What every conversation can be told on the command line.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RunArgs {
    /// Use this model, as NAME or PROVIDER:NAME
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Use this provider
    #[arg(long, value_name = "ID")]
    pub(crate) provider: Option<String>,
    /// Offer only these toolsets, separated by commas
    #[arg(short, long, value_name = "SETS", value_delimiter = ',')]
    pub(crate) toolsets: Option<Vec<String>>,
    /// Begin with these skills, separated by commas
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) skills: Vec<String>,
    /// Go on with this conversation: an id, the beginning of one, or a title
    #[arg(short, long, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
    /// Go on with the latest conversation, or the latest one of this title
    #[arg(short = 'c', long = "continue", value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "resume")]
    pub(crate) go_on: Option<String>,
    /// Stay in this directory when going on with a conversation that was held in another
    #[arg(long)]
    pub(crate) no_restore_cwd: bool,
    /// Most model calls for one message
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_turns: Option<u32>,
    /// Ask for no approvals; hard blocks still hold
    #[arg(long)]
    pub(crate) yolo: bool,
    /// Leave out AGENTS.md, SOUL.md and the like
    #[arg(long)]
    pub(crate) ignore_rules: bool,
    /// Leave out config.yaml
    #[arg(long)]
    pub(crate) ignore_user_config: bool,
    /// Leave out settings, rules, plugins and MCP servers
    #[arg(long)]
    pub(crate) safe_mode: bool,
    /// Use the whole screen, with a list of sessions
    #[arg(long, conflicts_with_all = ["cli", "plain"])]
    pub(crate) tui: bool,
    /// Leave finished turns to the terminal's own history, whatever the settings say
    #[arg(long, conflicts_with = "plain")]
    pub(crate) cli: bool,
    /// No screen: a line at a time, for screen readers and simple terminals
    #[arg(long)]
    pub(crate) plain: bool,
    /// Take checkpoints of files before they are changed, whatever the settings say
    #[arg(long)]
    pub(crate) checkpoints: bool,
    /// File the conversation under this source in place of cli; tool keeps it out of lists
    #[arg(long, value_name = "TAG", value_parser = source)]
    pub(crate) source: Option<String>,
    /// Tell the model the id of the session
    #[arg(long)]
    pub(crate) pass_session_id: bool,
    /// Say on stderr what happens; on the screen it goes to agent.log
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Write what the run used to this file, as JSON, however it ends
    #[arg(long, value_name = "FILE")]
    pub(crate) usage_file: Option<PathBuf>,
}

impl RunArgs {
    /// The same, with what was said in front of the subcommand where nothing is said behind it.
    pub(crate) fn or(self, before: Self) -> Self {
        let list = |own: Vec<String>, before: Vec<String>| match own.is_empty() {
            true => before,
            false => own,
        };
        // One conversation is named, in one place.
        let (resume, go_on) = match (&self.resume, &self.go_on) {
            (None, None) => (before.resume, before.go_on),
            _ => (self.resume, self.go_on),
        };
        let mode = self.tui || self.cli || self.plain;
        Self {
            model: self.model.or(before.model),
            provider: self.provider.or(before.provider),
            toolsets: self.toolsets.or(before.toolsets),
            skills: list(self.skills, before.skills),
            resume,
            go_on,
            no_restore_cwd: self.no_restore_cwd || before.no_restore_cwd,
            max_turns: self.max_turns.or(before.max_turns),
            yolo: self.yolo || before.yolo,
            ignore_rules: self.ignore_rules || before.ignore_rules,
            ignore_user_config: self.ignore_user_config || before.ignore_user_config,
            safe_mode: self.safe_mode || before.safe_mode,
            tui: self.tui || !mode && before.tui,
            cli: self.cli || !mode && before.cli,
            plain: self.plain || !mode && before.plain,
            checkpoints: self.checkpoints || before.checkpoints,
            source: self.source.or(before.source),
            pass_session_id: self.pass_session_id || before.pass_session_id,
            verbose: self.verbose || before.verbose,
            usage_file: self.usage_file.or(before.usage_file),
        }
    }
}

/// Most characters of a source.
const LONGEST_SOURCE: usize = 40;

/// A source is a word: lists are filtered by it.
pub(crate) fn source(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    match !text.is_empty() && text.len() <= LONGEST_SOURCE && text.chars().all(legal) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "a source has 1 to {LONGEST_SOURCE} letters, digits, `-`, `_`, `.` or `:`"
        )),
    }
}

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Ask this and exit; what is piped in is asked too
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// Print only the answer; the session's id goes to stderr
    #[arg(short = 'Q', long)]
    pub(crate) quiet: bool,
    /// Show this picture along with the query
    #[arg(long, value_name = "FILE")]
    pub(crate) image: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

impl ChatArgs {
    /// A conversation at the terminal.
    pub(crate) fn of(run: RunArgs) -> Self {
        Self {
            query: None,
            quiet: false,
            image: Vec::new(),
            run,
        }
    }
}
