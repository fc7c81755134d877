//! `hermes profile …`

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ProfileCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a profile the one that is used when none is named
    Use {
        /// The profile
        name: String,
    },
    /// Make a profile
    Create(CreateArgs),
    /// Delete a profile with all it holds
    Delete {
        /// The profile
        name: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Show or set what a profile is for
    Describe(DescribeArgs),
    /// Show one profile
    Show {
        /// The profile; without it, the one in use
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write or remove the program that runs a profile by its name
    Alias {
        /// The profile
        name: String,
        /// Call the program this instead
        #[arg(long = "name", value_name = "ALIAS")]
        alias: Option<String>,
        /// Remove it
        #[arg(long)]
        remove: bool,
    },
    /// Give a profile another name
    Rename {
        /// The profile
        old: String,
        /// Its new name
        new: String,
    },
    /// Pack a profile, without secrets and history
    Export {
        /// The profile
        name: String,
        /// The file to write; without it, NAME.tar.gz here
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Unpack a profile that was exported
    Import {
        /// A .tar.gz written by export
        archive: PathBuf,
        /// Call the profile this instead
        #[arg(long)]
        name: Option<String>,
    },
    /// Install a profile that somebody publishes
    Install(InstallArgs),
    /// Bring an installed profile up to date
    Update {
        /// The profile
        name: String,
        /// Replace its config.yaml too
        #[arg(long)]
        force_config: bool,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Show where an installed profile comes from and what it needs
    Info {
        /// The profile; without it, the one in use
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Lower-case letters, digits, - and _
    pub(crate) name: String,
    /// Take over settings, keys, persona, skills and memories
    #[arg(long)]
    pub(crate) clone: bool,
    /// Take over everything but the history
    #[arg(long)]
    pub(crate) clone_all: bool,
    /// Take over from this profile instead of the one in use
    #[arg(long, value_name = "PROFILE")]
    pub(crate) clone_from: Option<String>,
    /// Write no program that runs it by its name
    #[arg(long)]
    pub(crate) no_alias: bool,
    /// Without the skills that come with Hermes
    #[arg(long)]
    pub(crate) no_skills: bool,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// The profile; without it, the one in use
    pub(crate) name: Option<String>,
    /// The new description; an empty one removes it
    #[arg(long)]
    pub(crate) text: Option<String>,
    /// Let a model write it
    #[arg(long)]
    pub(crate) auto: bool,
    /// Every profile
    #[arg(long)]
    pub(crate) all: bool,
    /// Also where there is a description
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// A directory or a git address with a distribution.yaml
    pub(crate) source: String,
    /// Call the profile this instead
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Write a program that runs it by its name
    #[arg(long)]
    pub(crate) alias: bool,
    /// Install over a profile that is there; what the user made stays
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}
