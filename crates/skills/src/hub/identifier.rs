//! How a skill of others is named.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use url::Url;

use super::error::HubError;
use super::sources::SourceName;
use crate::library::SKILL_FILE;

/// Longest identifier that is looked at.
const LONGEST: usize = 1_000;
/// How a packed folder ends.
pub(super) const PACKED: &str = ".zip";
const WELL_KNOWN: &str = "/.well-known/skills";

/// A repository on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Repository {
    owner: String,
    name: String,
}

impl Repository {
    pub fn owner(&self) -> &str {
        &self.owner
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for Repository {
    type Err = HubError;

    fn from_str(text: &str) -> Result<Self, HubError> {
        let bad = || HubError::BadRepository {
            text: text.to_owned(),
        };
        let plain = |part: &str| {
            let fits = part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
            fits && (1..=100).contains(&part.len()) && !part.chars().all(|c| c == '.')
        };
        let (owner, name) = text.split_once('/').ok_or_else(bad)?;
        let name = name.strip_suffix(".git").unwrap_or(name);
        if !plain(owner) || !plain(name) {
            return Err(bad());
        }
        Ok(Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// A skill of others, by where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identifier {
    /// On the shelf of official ones: `official/CATEGORY/NAME`.
    Official { path: String },
    /// In a repository: `owner/repository/path`, with a branch or tag when an address named one.
    Github {
        repository: Repository,
        path: String,
        reference: Option<String>,
    },
    /// `skills-sh/owner/repository/skill`.
    SkillsSh {
        repository: Repository,
        skill: String,
    },
    /// `well-known:https://host/NAME`.
    WellKnown { base: Url, name: String },
    /// The address of a Markdown file.
    Url(Url),
    /// `clawhub/SLUG`.
    Clawhub { slug: String },
    /// `claude-marketplace/owner/repository/plugin`.
    Marketplace {
        repository: Repository,
        plugin: String,
    },
    /// `lobehub/ID`.
    Lobehub { id: String },
    /// `browse-sh/HOST/TASK`.
    BrowseSh { slug: String },
    /// A folder of this machine or a packed one, by its whole path. Only a person names one: no list of a place does.
    Folder { path: String },
}

impl Identifier {
    /// One that stands in a list of what is installed, beside the name of its place. The reference leaves the place out
    /// of those of ClawHub, and one with a slash would pass for a repository.
    pub fn of_list(source: &str, text: &str) -> Result<Self, HubError> {
        if source == SourceName::Folder.word() {
            return Self::folder(Path::new(text));
        }
        let place = SourceName::Clawhub.to_string();
        match source == place && !text.starts_with(&format!("{place}/")) {
            true => format!("{place}/{text}").parse(),
            false => text.parse(),
        }
    }

    /// A folder of this machine, a packed one, or the `SKILL.md` of one.
    pub fn folder(path: &Path) -> Result<Self, HubError> {
        let skill = path.file_name().is_some_and(|name| name == SKILL_FILE);
        let folder = match path.parent() {
            Some(above) if skill => above,
            _ => path,
        };
        let text = folder.to_str().filter(|_| path.is_absolute());
        let bad = || HubError::BadIdentifier {
            text: path.display().to_string(),
        };
        let path = text.ok_or_else(bad)?.to_owned();
        Ok(Self::Folder { path })
    }

    /// The place it is asked for.
    pub fn source(&self) -> SourceName {
        match self {
            Self::Official { .. } => SourceName::Official,
            Self::Github { .. } => SourceName::Github,
            Self::SkillsSh { .. } => SourceName::SkillsSh,
            Self::WellKnown { .. } => SourceName::WellKnown,
            Self::Url(_) => SourceName::Url,
            Self::Clawhub { .. } => SourceName::Clawhub,
            Self::Marketplace { .. } => SourceName::Marketplace,
            Self::Lobehub { .. } => SourceName::Lobehub,
            Self::BrowseSh { .. } => SourceName::BrowseSh,
            Self::Folder { .. } => SourceName::Folder,
        }
    }

    /// The last part, which is most often the name of the skill.
    pub fn last_part(&self) -> &str {
        let last = |text: &str| -> usize { text.rfind('/').map_or(0, |at| at + 1) };
        match self {
            Self::Official { path } => path.get(last(path)..).unwrap_or(path),
            Self::Github {
                path, repository, ..
            } if path.is_empty() => repository.name(),
            Self::Github { path, .. } => path.get(last(path)..).unwrap_or(path),
            Self::SkillsSh { skill, .. } => skill.get(last(skill)..).unwrap_or(skill),
            Self::WellKnown { name, .. } => name,
            Self::Url(url) => of_address(url),
            Self::Clawhub { slug } | Self::BrowseSh { slug } => {
                slug.get(last(slug)..).unwrap_or(slug)
            }
            Self::Marketplace { plugin, .. } => plugin.get(last(plugin)..).unwrap_or(plugin),
            Self::Lobehub { id } => id,
            Self::Folder { path } => {
                let name = path.get(last(path)..).unwrap_or(path);
                name.strip_suffix(PACKED).unwrap_or(name)
            }
        }
    }
}

/// The directory a `SKILL.md` is in, or the name of any other file.
fn of_address(url: &Url) -> &str {
    let path = url.path().trim_end_matches('/');
    let (before, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    if stem.eq_ignore_ascii_case("skill") {
        before.rsplit('/').next().unwrap_or_default()
    } else {
        stem
    }
}

impl FromStr for Identifier {
    type Err = HubError;

    fn from_str(text: &str) -> Result<Self, HubError> {
        let text = text.trim();
        let bad = || HubError::BadIdentifier {
            text: text.chars().take(200).collect(),
        };
        if text.is_empty() || text.len() > LONGEST || text.chars().any(char::is_control) {
            return Err(bad());
        }
        if let Some(rest) = text.strip_prefix("well-known:") {
            return well_known(rest).ok_or_else(bad);
        }
        if text.starts_with("https://") || text.starts_with("http://") {
            return address(text).ok_or_else(bad);
        }
        let (head, rest) = text.split_once('/').ok_or_else(bad)?;
        let read = match head {
            "official" => plain_path(rest).map(|path| Self::Official { path }),
            "skills-sh" | "skills.sh" => in_repository(rest)
                .filter(|(_, skill)| !skill.is_empty())
                .map(|(repository, skill)| Self::SkillsSh { repository, skill }),
            "clawhub" => plain_path(rest).map(|slug| Self::Clawhub { slug }),
            "claude-marketplace" => in_repository(rest)
                .filter(|(_, plugin)| !plugin.is_empty())
                .map(|(repository, plugin)| Self::Marketplace { repository, plugin }),
            "lobehub" => plain_path(rest)
                .filter(|id| !id.contains('/'))
                .map(|id| Self::Lobehub { id }),
            "browse-sh" => plain_path(rest).map(|slug| Self::BrowseSh { slug }),
            "github" if rest.matches('/').count() >= 1 => in_repository(rest).map(github),
            _ => in_repository(text).map(github),
        };
        read.ok_or_else(bad)
    }
}

fn github((repository, path): (Repository, String)) -> Identifier {
    Identifier::Github {
        repository,
        path,
        reference: None,
    }
}

/// `owner/repository` and the path behind it, which may be empty.
fn in_repository(text: &str) -> Option<(Repository, String)> {
    let mut parts = text.splitn(3, '/');
    let repository = format!("{}/{}", parts.next()?, parts.next()?)
        .parse()
        .ok()?;
    let path = match parts.next().unwrap_or_default().trim_matches('/') {
        "" => String::new(),
        path => plain_path(path)?,
    };
    Some((repository, path))
}

/// A path without anything that could mean another one.
fn plain_path(text: &str) -> Option<String> {
    let text = text.trim_matches('/');
    let text = text.strip_suffix("/SKILL.md").unwrap_or(text);
    let fits = !text.is_empty()
        && !text.contains(['\\', '?', '#', '%'])
        && text.split('/').all(|part| !matches!(part, "" | "." | ".."));
    fits.then(|| text.to_owned())
}

/// A site and the name of one of its skills, with or without the directory both live in.
fn well_known(text: &str) -> Option<Identifier> {
    let url = Url::parse(text).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/SKILL.md").unwrap_or(path);
    let (before, name) = path.rsplit_once('/')?;
    let before = before.strip_suffix(WELL_KNOWN).unwrap_or(before);
    let name = plain_path(name)?;
    let mut base = url.clone();
    base.set_path(before);
    base.set_query(None);
    base.set_fragment(None);
    Some(Identifier::WellKnown { base, name })
}

fn address(text: &str) -> Option<Identifier> {
    let url = Url::parse(text).ok()?;
    let host = url.host_str()?.trim_start_matches("www.");
    let path = url.path().trim_matches('/');
    if host == "github.com" {
        let (repository, rest) = in_repository(path)?;
        let mut parts = rest.splitn(3, '/');
        return match (parts.next(), parts.next(), parts.next()) {
            (Some("tree" | "blob"), Some(reference), path) => Some(Identifier::Github {
                repository,
                path: path.unwrap_or_default().to_owned(),
                reference: Some(reference.to_owned()),
            }),
            (Some(""), None, None) => Some(github((repository, String::new()))),
            _ => None,
        };
    }
    if host == "skills.sh" && path.matches('/').count() >= 2 {
        let (repository, skill) = in_repository(path)?;
        return Some(Identifier::SkillsSh { repository, skill });
    }
    if url.path().contains(WELL_KNOWN) {
        return well_known(text);
    }
    let is_markdown = url.path().to_ascii_lowercase().ends_with(".md");
    is_markdown.then_some(Identifier::Url(url))
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Official { path } => write!(f, "official/{path}"),
            Self::Github {
                repository,
                path,
                reference,
            } => match (reference, path.as_str()) {
                (Some(reference), "") => {
                    write!(f, "https://github.com/{repository}/tree/{reference}")
                }
                (Some(reference), path) => {
                    write!(f, "https://github.com/{repository}/tree/{reference}/{path}")
                }
                (None, "") => write!(f, "{repository}"),
                (None, path) => write!(f, "{repository}/{path}"),
            },
            Self::SkillsSh { repository, skill } => write!(f, "skills-sh/{repository}/{skill}"),
            Self::WellKnown { base, name } => {
                write!(
                    f,
                    "well-known:{}/{name}",
                    base.as_str().trim_end_matches('/')
                )
            }
            Self::Url(url) => f.write_str(url.as_str()),
            Self::Clawhub { slug } => write!(f, "clawhub/{slug}"),
            Self::Marketplace { repository, plugin } => {
                write!(f, "claude-marketplace/{repository}/{plugin}")
            }
            Self::Lobehub { id } => write!(f, "lobehub/{id}"),
            Self::BrowseSh { slug } => write!(f, "browse-sh/{slug}"),
            Self::Folder { path } => f.write_str(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written_again() {
        for (text, source, last) in [
            ("official/security/one", SourceName::Official, "one"),
            (
                "openai/skills/skills/.curated/pdf",
                SourceName::Github,
                "pdf",
            ),
            ("garrytan/gstack", SourceName::Github, "gstack"),
            ("skills-sh/a/b/c", SourceName::SkillsSh, "c"),
            (
                "well-known:https://x.test/docs/greet",
                SourceName::WellKnown,
                "greet",
            ),
            ("https://x.test/tools/SKILL.md", SourceName::Url, "tools"),
            ("https://x.test/notes.md", SourceName::Url, "notes"),
            ("clawhub/gifgrep", SourceName::Clawhub, "gifgrep"),
            (
                "claude-marketplace/a/b/docs",
                SourceName::Marketplace,
                "docs",
            ),
            ("lobehub/writer", SourceName::Lobehub, "writer"),
            (
                "browse-sh/shop.test/buy-abc",
                SourceName::BrowseSh,
                "buy-abc",
            ),
            (
                "https://github.com/a/b/tree/v1/skills/c",
                SourceName::Github,
                "c",
            ),
        ] {
            let read: Identifier = text.parse().unwrap();
            assert_eq!(read.source(), source, "{text}");
            assert_eq!(read.last_part(), last, "{text}");
            assert_eq!(read.to_string(), text);
        }
    }

    #[test]
    fn other_spellings_mean_the_same() {
        for (text, written) in [
            ("https://skills.sh/a/b/c", "skills-sh/a/b/c"),
            ("skills.sh/a/b/c", "skills-sh/a/b/c"),
            (
                "https://x.test/.well-known/skills/greet/SKILL.md",
                "well-known:https://x.test/greet",
            ),
            (
                "well-known:https://x.test/.well-known/skills/greet",
                "well-known:https://x.test/greet",
            ),
            ("https://github.com/a/b", "a/b"),
            ("github/a/b/c", "a/b/c"),
            ("a/b/c/SKILL.md", "a/b/c"),
        ] {
            let read: Identifier = text.parse().unwrap();
            assert_eq!(read.to_string(), written, "{text}");
        }
    }

    #[test]
    fn what_could_lead_elsewhere_is_refused() {
        for bad in [
            "",
            "word",
            "a/b/../c",
            "a/..",
            "clawhub/../x",
            "clawhub/a?b",
            "lobehub/a/b",
            "ftp://x.test/a.md",
            "https://x.test/page",
            "well-known:file:///etc/passwd",
            "a b/c",
            "a/b\nc",
            "skills-sh/a/b",
            "https://x.test/",
            "/srv/skills/tea",
            "./tea",
        ] {
            assert!(bad.parse::<Identifier>().is_err(), "{bad:?}");
        }
    }
}
