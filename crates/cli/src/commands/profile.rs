//! `hermes profile …`

mod archive;
mod change;
mod create;
mod distribution;
mod facts;
mod fault;
mod git;
mod notes;
mod show;

pub(super) use git::{clone, clone_at};

use hermes_config::{Home, ProfileName, Profiles, Wrappers};
use hermes_core::FailureKind;

use crate::args::profile::{ProfileArgs, ProfileCommand};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

pub(crate) fn run(args: ProfileArgs, context: &Context, output: &mut Output) -> Outcome {
    let desk = Desk::new(context)?;
    let command = args.command.unwrap_or(ProfileCommand::List { json: false });
    if writes_settings(&command) {
        check_owner(context)?;
    }
    match command {
        ProfileCommand::List { json } => show::list(&desk, json, output),
        ProfileCommand::Show { name, json } => show::show(&desk, name.as_deref(), json, output),
        ProfileCommand::Info { name, json } => show::info(&desk, name.as_deref(), json, output),
        ProfileCommand::Use { name } => change::activate(&desk, &name, output),
        ProfileCommand::Create(args) => create::create(&desk, &args, output),
        ProfileCommand::Delete { name, yes } => change::delete(&desk, &name, yes, output),
        ProfileCommand::Describe(args) => change::describe(&desk, &args, output),
        ProfileCommand::Alias {
            name,
            alias,
            remove: true,
        } => change::remove_alias(&desk, &name, alias.as_deref(), output),
        ProfileCommand::Alias {
            name,
            alias,
            remove: false,
        } => change::write_alias(&desk, &name, alias.as_deref(), output),
        ProfileCommand::Rename { old, new } => change::rename(&desk, &old, &new, output),
        ProfileCommand::Export { name, output: file } => {
            archive::export(&desk, &name, file, output)
        }
        ProfileCommand::Import { archive, name } => {
            archive::import(&desk, &archive, name.as_deref(), output)
        }
        ProfileCommand::Install(args) => distribution::install(&desk, &args, output),
        ProfileCommand::Update {
            name,
            force_config,
            yes,
        } => distribution::update(&desk, &name, force_config, yes, output),
    }
}

/// Whether a command writes `config.yaml` or `.env` of a profile.
fn writes_settings(command: &ProfileCommand) -> bool {
    match command {
        ProfileCommand::Create(_)
        | ProfileCommand::Import { .. }
        | ProfileCommand::Install(_)
        | ProfileCommand::Update { .. } => true,
        ProfileCommand::List { .. }
        | ProfileCommand::Show { .. }
        | ProfileCommand::Info { .. }
        | ProfileCommand::Use { .. }
        | ProfileCommand::Delete { .. }
        | ProfileCommand::Describe(_)
        | ProfileCommand::Alias { .. }
        | ProfileCommand::Rename { .. }
        | ProfileCommand::Export { .. } => false,
    }
}

/// Settings that a package manager owns are not written, in no profile.
fn check_owner(context: &Context) -> Outcome {
    let owner = context.owner()?;
    if owner.allows_writing() {
        return Ok(());
    }
    let message = format!("the settings are managed by {owner}");
    Err(Complaint::new(FailureKind::Refused, message).hint(owner.hint()))
}

/// What every subcommand needs.
struct Desk<'a> {
    context: &'a Context,
    home: &'a Home,
    profiles: Profiles,
    wrappers: Wrappers,
}

impl<'a> Desk<'a> {
    fn new(context: &'a Context) -> Outcome<Self> {
        let home = context.home()?;
        let program = std::env::current_exe().map_err(|error| {
            let message = format!("the path of this program is not known: {error}");
            Complaint::new(FailureKind::Internal, message)
        })?;
        Ok(Self {
            context,
            home,
            profiles: Profiles::of(home),
            wrappers: Wrappers::new(&context.environment, program),
        })
    }

    /// The home of a profile somebody named, or of the one in use.
    fn existing(&self, name: Option<&str>) -> Outcome<Home> {
        match name {
            None => Ok(self.home.clone()),
            Some(name) => Ok(self.profiles.existing(&parse(name)?)?),
        }
    }
}

fn parse(name: &str) -> Outcome<ProfileName> {
    Ok(ProfileName::new(name).map_err(hermes_config::ProfileError::from)?)
}
