//! `hermes memory …`

use clap::{Args, Subcommand, ValueEnum};
use hermes_memory::Target;

#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    pub(crate) command: Option<MemoryCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Say what is switched on, how full it is and what waits
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what is remembered
    Show {
        /// Only the agent's notes or only what it knows about you
        #[arg(long, value_enum)]
        target: Option<TargetName>,
    },
    /// List entries with their ids
    List {
        /// Only the agent's notes or only what it knows about you
        #[arg(long, value_enum)]
        target: Option<TargetName>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remember something
    Add {
        /// Where: the agent's notes, or what it knows about you
        #[arg(long, value_enum, default_value = "memory")]
        target: TargetName,
        /// The words
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Forget an entry
    Remove {
        /// Where; wherever it is when left out
        #[arg(long, value_enum)]
        target: Option<TargetName>,
        /// Its id, or words that stand in no other
        #[arg(required = true)]
        which: Vec<String>,
    },
    /// Take a change back: the last one, or the one of this number
    Undo {
        /// A number of the log
        id: Option<i64>,
    },
    /// List changes, newest first
    Log {
        /// How many
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List changes that wait for your yes
    Pending {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a change that waits
    Approve {
        /// Its id, or `all`
        which: String,
    },
    /// Let a change that waits go
    Reject {
        /// Its id, or `all`
        which: String,
    },
    /// Take a file over that was edited in another form; a copy is kept
    Tidy {
        /// Which
        #[arg(value_enum, default_value = "memory")]
        target: TargetName,
    },
    /// Choose an external memory, try it and use it from now on
    Setup(SetupArgs),
    /// Stop using an external memory
    Off {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget everything; `hermes memory undo` brings it back
    Reset {
        /// What to forget
        #[arg(long, value_enum, default_value = "all")]
        target: ResetName,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// Which one; asked when left out
    pub(crate) provider: Option<String>,
    /// Where it is, for a server of your own
    #[arg(long, value_name = "URL")]
    pub(crate) address: Option<String>,
    /// Write it down without trying it
    #[arg(long)]
    pub(crate) no_test: bool,
}

/// One of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TargetName {
    /// The agent's own notes
    Memory,
    /// What it knows about you
    User,
}

impl From<TargetName> for Target {
    fn from(name: TargetName) -> Self {
        match name {
            TargetName::Memory => Self::Memory,
            TargetName::User => Self::User,
        }
    }
}

/// One of the two files, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResetName {
    /// Both
    All,
    /// The agent's own notes
    Memory,
    /// What it knows about you
    User,
}

impl ResetName {
    pub(crate) fn targets(self) -> Vec<Target> {
        match self {
            Self::All => Target::ALL.to_vec(),
            Self::Memory => vec![Target::Memory],
            Self::User => vec![Target::User],
        }
    }
}
