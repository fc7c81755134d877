//! The time zone people read times in.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path};

use jiff::tz::TimeZone;

use crate::environment::{Environment, Variable};
use crate::setting::{Reader, Setting};
use crate::shape::Shape;
use crate::value::{Node, Value};

/// Where the rules of time zones lie, by name. jiff would list all there are before it looks for one, which takes
/// longer than opening the store.
const RULES: [&str; 3] = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"];
/// The rules of this machine's zone; a link to the file of that name.
const OWN: &str = "/etc/localtime";
/// No file of rules comes near it.
const MOST_BYTES: u64 = 1 << 20;

/// A time zone as the settings name it; empty for that of the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Zone {
    name: String,
    rules: Option<TimeZone>,
}

impl Zone {
    /// The name that was set; empty for the zone of the machine.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The zone in force: the one that was set, else that of `TZ`, else that of the machine.
    pub fn in_force(&self, environment: &Environment) -> TimeZone {
        if let Some(rules) = &self.rules {
            return rules.clone();
        }
        match environment.get(&Variable::TZ) {
            // Programs read what they do not understand here as UTC, and times have to be the same in all of them.
            Some(written) => of_variable(written).unwrap_or(TimeZone::UTC),
            None => of_machine().unwrap_or(TimeZone::UTC),
        }
    }
}

impl Setting for Zone {
    fn shape() -> Shape {
        Shape::Text
    }

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let name = String::read(node, reader)?.trim().to_owned();
        if name.is_empty() {
            return Some(Self::default());
        }
        let rules = named(&name);
        if rules.is_none() {
            reader.refuse(node, expected());
        }
        rules.map(|rules| Self {
            name,
            rules: Some(rules),
        })
    }

    fn to_value(&self) -> Value {
        Value::Text(self.name.clone())
    }
}

fn expected() -> String {
    let known = RULES.iter().any(|folder| Path::new(folder).is_dir());
    match known {
        true => "the name of a time zone, such as `Europe/Vienna`",
        false => "`UTC`, the one time zone known here until the system's tzdata is installed",
    }
    .to_owned()
}

/// The zone of a name such as `Europe/Vienna`.
fn named(name: &str) -> Option<TimeZone> {
    if name == "UTC" {
        return Some(TimeZone::UTC);
    }
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(name).components().all(plain) {
        return None;
    }
    RULES
        .iter()
        .find_map(|folder| in_file(name, &Path::new(folder).join(name)))
}

/// The zone that `TZ` means: a name, a file, or rules such as `EST5EDT,M3.2.0,M11.1.0`.
fn of_variable(written: &str) -> Option<TimeZone> {
    let written = written.strip_prefix(':').unwrap_or(written);
    if let Some(zone) = named(written) {
        return Some(zone);
    }
    match written.starts_with('/') {
        true => in_file(name_in(Path::new(written))?, Path::new(written)),
        false => TimeZone::posix(written).ok(),
    }
}

fn of_machine() -> Option<TimeZone> {
    let link = fs::read_link(OWN).ok();
    let name = link.as_deref().and_then(name_in);
    in_file(name.unwrap_or_default(), Path::new(OWN))
}

/// The name of a zone by where its rules lie.
fn name_in(path: &Path) -> Option<&str> {
    let path = path.to_str()?;
    Some(path.split_once("zoneinfo/").map_or(path, |(_, name)| name))
}

fn in_file(name: &str, path: &Path) -> Option<TimeZone> {
    let mut rules = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MOST_BYTES).read_to_end(&mut rules).ok()?;
    TimeZone::tzif(name, &rules).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hours from UTC in winter.
    #[track_caller]
    fn check(variable: Option<&str>, hours: i8) {
        let environment: Environment = variable.map(|zone| ("TZ", zone)).into_iter().collect();
        let zone = Zone::default().in_force(&environment);
        let winter = "2026-01-01T12:00:00Z".parse().unwrap();
        assert_eq!(
            zone.to_offset(winter),
            jiff::tz::offset(hours),
            "{variable:?}"
        );
    }

    #[test]
    fn the_variable_is_a_name_a_file_or_rules() {
        check(Some("America/Los_Angeles"), -8);
        check(Some(":Asia/Tokyo"), 9);
        check(Some("/usr/share/zoneinfo/Asia/Tokyo"), 9);
        check(Some("EST5EDT,M3.2.0,M11.1.0"), -5);
        for other in ["", "UTC", "Nowhere/Land", "../../etc/passwd"] {
            check(Some(other), 0);
        }
    }
}
