//! What must hold of anything that is written.

use super::{Author, ManageError, standard};
use crate::catalog::CatalogEntry;
use crate::frontmatter::{Form, Frontmatter};
use crate::library::{Library, is_passed_over};
use crate::skill::{LONGEST_DESCRIPTION, LONGEST_NAME};
use crate::view::is_support;

/// Most characters of a text.
pub const LONGEST_TEXT: usize = 100_000;
/// Most bytes of a file beside it.
pub const LARGEST_FILE: usize = 1024 * 1024;
/// Skills that work in the background never changes.
pub const PROTECTED: [&str; 1] = ["plan"];

/// Lower-case letters, digits, dots, dashes and underscores, beginning with a letter or a digit.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() <= LONGEST_NAME
        && name.bytes().next().is_some_and(plain)
        && name
            .bytes()
            .all(|byte| plain(byte) || matches!(byte, b'.' | b'_' | b'-'))
        && !is_passed_over(name)
}

/// A name for a new skill. Those that are there keep theirs, whatever it is.
pub fn check_name(name: &str) -> Result<(), ManageError> {
    match standard::is_name(name) && !is_passed_over(name) {
        true => Ok(()),
        false => Err(ManageError::Name {
            name: name.to_owned(),
        }),
    }
}

pub(super) fn check_category(category: &str) -> Result<(), ManageError> {
    match is_name(category) {
        true => Ok(()),
        false => Err(ManageError::Category {
            category: category.to_owned(),
        }),
    }
}

/// A `SKILL.md` that others can read too: YAML with name and description, and a text.
pub fn check_text(text: &str, name: &str) -> Result<(), ManageError> {
    let refuse = |why: String| Err(ManageError::Text { why });
    let length = text.chars().count();
    if length > LONGEST_TEXT {
        return Err(ManageError::TooLong { length });
    }
    let read = Frontmatter::parse(text);
    match read.form {
        Form::Absent => return refuse("it has no fields at its head".to_owned()),
        Form::Lines => return refuse("its fields are not YAML".to_owned()),
        Form::Yaml => {}
    }
    match read.text("name") {
        None => return refuse("the field name is missing".to_owned()),
        Some(given) if given != name => {
            return refuse(format!("its name is {given} and not {name}"));
        }
        Some(_) => {}
    }
    match read.text("description") {
        None => return refuse("the field description is missing".to_owned()),
        Some(about) if about.chars().count() > LONGEST_DESCRIPTION => {
            let why = format!("its description is longer than {LONGEST_DESCRIPTION} characters");
            return refuse(why);
        }
        Some(_) => {}
    }
    if read.body.trim().is_empty() {
        return refuse("it has no instructions".to_owned());
    }
    Ok(())
}

/// Whether others can read the head of a text, unless it stood there before.
pub(super) fn check_standard(text: &str, before: Option<&str>) -> Result<(), ManageError> {
    let head = |text| Frontmatter::parse(text).head;
    if before.map(head) == Some(head(text)) {
        return Ok(());
    }
    match standard::fault(text) {
        None => Ok(()),
        Some(why) => Err(ManageError::Standard { why }),
    }
}

pub fn check_support_path(path: &str) -> Result<(), ManageError> {
    match is_support(path) {
        true => Ok(()),
        false => Err(ManageError::Place {
            path: path.to_owned(),
        }),
    }
}

pub(super) fn check_support_text(text: &str) -> Result<(), ManageError> {
    let length = text.chars().count();
    if text.len() > LARGEST_FILE {
        Err(ManageError::TooLarge { length: text.len() })
    } else if length > LONGEST_TEXT {
        Err(ManageError::TooLong { length })
    } else {
        Ok(())
    }
}

/// Whether an author may change a skill at all.
pub(super) fn check_author(
    library: &Library,
    entry: &CatalogEntry,
    author: Author,
    has_read: bool,
) -> Result<(), ManageError> {
    if author == Author::Conversation {
        return Ok(());
    }
    let name = entry.name.clone();
    let record = library.usage().record(&entry.name);
    if record.pinned {
        return Err(ManageError::Pinned { name });
    }
    let why = if PROTECTED.contains(&name.as_str()) {
        Some("it is protected")
    } else if !library.is_own(entry) {
        Some("it lies in a directory of somebody else")
    } else if library.is_installed(entry) {
        Some("it was installed from elsewhere")
    } else if library.is_shipped(&name) {
        Some("it came with the program")
    } else if !record.is_agents() {
        Some("the agent did not make it")
    } else {
        None
    };
    match why {
        Some(why) => Err(ManageError::Foreign { name, why }),
        None if !has_read => Err(ManageError::Unread { name }),
        None => Ok(()),
    }
}
