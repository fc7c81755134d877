//! `hermes skills …`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct SkillsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SkillsCommand>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SkillsCommand {
    /// Page through the skills of others
    Browse(BrowseArgs),
    /// Look for skills of others
    Search(SearchArgs),
    /// Install a skill: looked at in quarantine first, and asked about
    Install(InstallArgs),
    /// Show a skill of others, its files and what the guard finds in it, without installing it
    Inspect {
        /// An identifier that search shows, a web address, a folder or .zip here, or a name
        skill: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the skills that are here
    List(ListArgs),
    /// Ask whether there is something newer of what was installed
    Check {
        /// Only this one
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Install what is newer; what it changes is shown, and the rules are those of an install
    Update(UpdateArgs),
    /// Look for dangers in skills that are here
    Audit(AuditArgs),
    /// Remove a skill that was installed
    #[command(alias = "remove", alias = "rm")]
    Uninstall {
        /// The skill
        name: String,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Take your changes to a skill of the program as its new beginning, or give them up
    Reset {
        /// The skill
        name: String,
        /// Put the one of the program in its place; yours is kept aside
        #[arg(long)]
        restore: bool,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// List the skills of the program that you changed
    ListModified {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what you changed of a skill of the program, or what a change that waits would do
    Diff {
        /// The skill, or an id that pending shows
        #[arg(value_name = "NAME|ID")]
        name: String,
    },
    /// List changes of skills that wait for your yes
    Pending {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a change that waits
    Approve {
        /// An id that pending shows, or `all`
        id: String,
    },
    /// Let a change that waits go
    Reject {
        /// An id that pending shows, or `all`
        id: String,
    },
    /// Keep the skills of the program out of this home
    OptOut {
        /// Also remove those that are here and were not changed
        #[arg(long)]
        remove: bool,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Let the skills of the program into this home again
    OptIn {
        /// Bring them in now
        #[arg(long)]
        sync: bool,
    },
    /// Mend a skill of the program that is damaged or gone
    RepairOfficial {
        /// The skill
        name: String,
        /// Also when you changed it; yours is kept aside
        #[arg(long)]
        restore: bool,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Give a skill to others
    Publish(PublishArgs),
    /// Write down what is installed, or install what was written down
    Snapshot {
        #[command(subcommand)]
        command: SnapshotCommand,
    },
    /// See and change the repositories that are searched
    Tap {
        #[command(subcommand)]
        command: Option<TapCommand>,
    },
    /// Choose which skills are offered
    Config(SkillsConfigArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct BrowseArgs {
    /// Which page
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) page: u32,
    /// Skills on a page
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) size: u32,
    /// Only this place
    #[arg(long, value_name = "PLACE")]
    pub(crate) source: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SearchArgs {
    /// Words; or the address of a website that offers skills
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Only this place
    #[arg(long, value_name = "PLACE")]
    pub(crate) source: Option<String>,
    /// Most skills to show
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct InstallArgs {
    /// An identifier that search shows, the address of a SKILL.md, a folder or .zip here, or a name
    pub(crate) skill: String,
    /// Directory it goes into
    #[arg(long)]
    pub(crate) category: Option<String>,
    /// Another name than the one it gives itself
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Accept findings that a person may accept
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// All of them
    All,
    /// Installed from elsewhere
    Hub,
    /// Came with the program
    Builtin,
    /// Yours
    Local,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// Which ones
    #[arg(long, value_enum, default_value = "all")]
    pub(crate) source: Kind,
    /// Leave out those that are switched off
    #[arg(long)]
    pub(crate) enabled_only: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct UpdateArgs {
    /// Only this one
    pub(crate) name: Option<String>,
    /// Accept findings that a person may accept
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AuditArgs {
    /// Only this one
    pub(crate) name: Option<String>,
    /// Also hint at Python that reaches for names in hidden ways
    #[arg(long)]
    pub(crate) deep: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PublishTo {
    Github,
    Clawhub,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PublishArgs {
    /// Directory of the skill
    pub(crate) path: PathBuf,
    /// Where to
    #[arg(long, value_enum)]
    pub(crate) to: PublishTo,
    /// The repository a pull request is made for
    #[arg(long, value_name = "OWNER/NAME")]
    pub(crate) repo: Option<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Write what is installed into a file; - is standard output
    Export {
        /// The file
        #[arg(default_value = "-")]
        file: String,
    },
    /// Install what a file names, each by the same rules
    Import {
        /// The file; - is standard input
        file: String,
        /// Accept findings that a person may accept
        #[arg(long)]
        force: bool,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TapCommand {
    /// List them
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Search a repository too
    Add {
        /// The repository
        #[arg(value_name = "OWNER/NAME")]
        repo: String,
        /// Only this directory of it
        #[arg(long, default_value = "")]
        path: String,
    },
    /// Search a repository no more
    Remove {
        /// The repository
        #[arg(value_name = "OWNER/NAME")]
        repo: String,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SkillsConfigArgs {
    /// Switch these off
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) disable: Vec<String>,
    /// Switch these on
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) enable: Vec<String>,
    /// Only on this platform
    #[arg(long, value_name = "PLATFORM")]
    pub(crate) platform: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
