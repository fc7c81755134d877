//! `hermes sessions …`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
}

/// Which conversations can be picked.
#[derive(Debug, Args)]
pub(crate) struct BrowseArgs {
    /// Only this source, such as cli or telegram
    #[arg(long)]
    pub(crate) source: Option<String>,
    /// At most this many
    #[arg(long, default_value_t = 500)]
    pub(crate) limit: usize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List conversations, latest activity first
    List(ListArgs),
    /// Pick a conversation to go on with
    Browse(BrowseArgs),
    /// Show one conversation
    Show {
        /// An id, the start of one, or a title
        session: String,
        /// Also messages that were compacted or taken back
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Search all conversations
    Search(SearchArgs),
    /// Write conversations to files
    Export(Box<ExportArgs>),
    /// Read conversations from the reference's state.db, or from a file written by export
    Import {
        /// A .jsonl file or a state.db; without it, the state.db of the home
        file: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a conversation a title
    Rename {
        /// An id, the start of one, or a title
        session: String,
        /// The new title
        #[arg(required = true)]
        title: Vec<String>,
    },
    /// Delete one conversation
    Delete {
        /// An id, the start of one, or a title
        session: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Delete the ended conversations a filter picks
    Prune {
        #[command(flatten)]
        filter: FilterArgs,
        #[command(flatten)]
        bulk: BulkArgs,
        /// Also archived conversations
        #[arg(long)]
        include_archived: bool,
    },
    /// Put the conversations a filter picks out of sight
    Archive {
        #[command(flatten)]
        filter: FilterArgs,
        #[command(flatten)]
        bulk: BulkArgs,
    },
    /// Make the vectors that search --semantic compares, for what has none yet
    Index {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Count what is stored
    Stats {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make the database small and search fast again
    Optimize,
    /// Check the database and mend what is wrong with it
    Repair {
        /// Only check
        #[arg(long)]
        check_only: bool,
        /// Keep no copy of the database before mending it
        #[arg(long)]
        no_backup: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only this source, such as cli or telegram
    #[arg(long)]
    pub(crate) source: Option<String>,
    /// At most this many
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Only conversations begun in or below this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words, "a phrase", prefix*, AND, OR, NOT
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// At most this many
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Only this source
    #[arg(long)]
    pub(crate) source: Option<String>,
    /// Only messages of this role: user, assistant or tool
    #[arg(long)]
    pub(crate) role: Option<String>,
    /// Sort by this
    #[arg(long, value_enum, default_value_t = SortOrder::Relevance)]
    pub(crate) sort: SortOrder,
    /// Also find what means the same in other words, with sessions.embedding_model
    #[arg(long, conflicts_with = "sort")]
    pub(crate) semantic: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortOrder {
    Relevance,
    Newest,
    Oldest,
}

/// Which conversations are meant. Times are days, 5h, 2d, 1w ago, or a date.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Which conversations")]
pub(crate) struct FilterArgs {
    /// Not active since
    #[arg(long, value_name = "TIME")]
    pub(crate) older_than: Option<String>,
    /// Active since
    #[arg(long, value_name = "TIME")]
    pub(crate) newer_than: Option<String>,
    /// Last active before
    #[arg(long, value_name = "TIME")]
    pub(crate) before: Option<String>,
    /// Last active after
    #[arg(long, value_name = "TIME")]
    pub(crate) after: Option<String>,
    /// From this source
    #[arg(long)]
    pub(crate) source: Option<String>,
    /// With this in the title
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Ended for this reason
    #[arg(long)]
    pub(crate) end_reason: Option<String>,
    /// Begun in or below this directory
    #[arg(long)]
    pub(crate) cwd: Option<String>,
    /// With this in the model's name
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// With this provider
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// Of this user
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// In this chat
    #[arg(long)]
    pub(crate) chat_id: Option<String>,
    /// In this kind of chat
    #[arg(long)]
    pub(crate) chat_type: Option<String>,
    /// On this git branch
    #[arg(long)]
    pub(crate) branch: Option<String>,
    /// Only those with at least so many messages
    #[arg(long, value_name = "N")]
    pub(crate) min_messages: Option<i64>,
    /// Only those with at most so many messages
    #[arg(long, value_name = "N")]
    pub(crate) max_messages: Option<i64>,
    /// Only those with at least so many tokens
    #[arg(long, value_name = "N")]
    pub(crate) min_tokens: Option<i64>,
    /// Only those with at most so many tokens
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<i64>,
    /// Only those with at least so many US dollars spent
    #[arg(long, value_name = "USD")]
    pub(crate) min_cost: Option<f64>,
    /// Only those with at most so many US dollars spent
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost: Option<f64>,
    /// Only those with at least so many tool calls
    #[arg(long, value_name = "N")]
    pub(crate) min_tool_calls: Option<i64>,
    /// Only those with at most so many tool calls
    #[arg(long, value_name = "N")]
    pub(crate) max_tool_calls: Option<i64>,
}

#[derive(Debug, Args)]
pub(crate) struct BulkArgs {
    /// Say what would happen, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A file or directory; - for standard output
    pub(crate) output: Option<PathBuf>,
    /// How to write them
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub(crate) format: ExportFormat,
    /// Only this conversation
    #[arg(long, value_name = "SESSION")]
    pub(crate) session_id: Option<String>,
    /// Only a part of each conversation
    #[arg(long, value_enum)]
    pub(crate) only: Option<ExportPart>,
    /// One conversation a file, or its whole chain of continuations
    #[arg(long, value_enum, default_value_t = LineageArg::Single)]
    pub(crate) lineage: LineageArg,
    /// Mask secrets
    #[arg(long)]
    pub(crate) redact: bool,
    /// Delete each conversation once its file was read back and verified
    #[arg(long)]
    pub(crate) delete_after_verified: bool,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
    /// Also messages that were compacted or taken back
    #[arg(long)]
    pub(crate) all: bool,
    /// Put pictures and files into the export instead of their hashes
    #[arg(long)]
    pub(crate) with_media: bool,
    #[arg(long, hide = true)]
    pub(crate) upload: bool,
    #[arg(long, hide = true)]
    pub(crate) public: bool,
    #[arg(long, hide = true)]
    pub(crate) no_redact: bool,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) bulk: BulkArgs,
}

impl ExportArgs {
    /// One conversation into one file.
    pub(crate) fn of_one(
        session: String,
        file: PathBuf,
        format: ExportFormat,
        force: bool,
    ) -> Self {
        Self {
            output: Some(file),
            format,
            session_id: Some(session),
            only: None,
            lineage: LineageArg::Single,
            redact: false,
            delete_after_verified: false,
            force,
            all: false,
            with_media: false,
            upload: false,
            public: false,
            no_redact: false,
            filter: FilterArgs::default(),
            bulk: BulkArgs {
                dry_run: false,
                yes: true,
            },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Jsonl,
    Md,
    Qmd,
    Html,
    Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportPart {
    UserPrompts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LineageArg {
    Single,
    Logical,
}
