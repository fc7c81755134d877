//! `hermes profile export` and `import`

use std::path::{Path, PathBuf};

use hermes_config::{ProfileError, ProfileName, Renamed};

use super::create::give_wrapper;
use super::{Desk, notes, parse};
use crate::complaint::Outcome;
use crate::output::Output;

pub(super) fn export(
    desk: &Desk<'_>,
    name: &str,
    file: Option<PathBuf>,
    output: &mut Output,
) -> Outcome {
    let name = parse(name)?;
    let file = file.unwrap_or_else(|| PathBuf::from(format!("{name}.tar.gz")));
    let exported = desk.profiles.export(&name, &file)?;
    output.line(format!(
        "Packed {} files of profile {name} into {}",
        exported.files,
        exported.path.display()
    ))?;
    Ok(notes::print(&exported.notes, output)?)
}

pub(super) fn import(
    desk: &Desk<'_>,
    archive: &Path,
    name: Option<&str>,
    output: &mut Output,
) -> Outcome {
    let name = match name {
        Some(name) => Renamed::To(ProfileName::for_creation(name).map_err(ProfileError::from)?),
        None => Renamed::AsPacked,
    };
    let imported = desk.profiles.import(archive, &name)?;
    output.line(format!(
        "Unpacked {} files into profile {} at {}",
        imported.files,
        imported.home.profile(),
        imported.home.path().display()
    ))?;
    notes::print(&imported.notes, output)?;
    give_wrapper(desk, &imported.home, output)
}
