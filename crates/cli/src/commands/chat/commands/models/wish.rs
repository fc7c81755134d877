//! What `/model` is asked for.

use crate::complaint::{Complaint, Outcome};

/// The flags there are, for whoever mistypes one.
const FLAGS: [&str; 7] = [
    "--provider",
    "--global",
    "--session",
    "--once",
    "--refresh",
    "--remove",
    "--yes",
];
const HINT: &str = "/model NAME, with --provider P, --global, --session, --once or --refresh; /model --remove ENDPOINT";

/// How long a model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HowLong {
    /// Once.
    Once,
    /// In this conversation.
    Session,
    /// From now on in all conversations.
    Always,
}

impl HowLong {
    fn flag(self) -> &'static str {
        match self {
            Self::Once => "--once",
            Self::Session => "--session",
            Self::Always => "--global",
        }
    }
}

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) model: Option<String>,
    pub(super) provider: Option<String>,
    /// How long it answers; as the settings have it when nothing is said.
    pub(super) how_long: Option<HowLong>,
    /// Providers are asked what they have.
    pub(super) refresh: bool,
    /// An endpoint of one's own is to be removed: the one that is named in place of a model.
    pub(super) remove: bool,
    /// The price, or the removal, need not be confirmed.
    pub(super) agreed: bool,
}

impl Wish {
    /// A flag that is mistyped is no part of a name: the model of that name would be asked for with every message.
    pub(super) fn parse(arguments: &str) -> Outcome<Self> {
        let mut wish = Self::default();
        let mut name = Vec::new();
        let mut words = arguments.split_whitespace();
        while let Some(word) = words.next() {
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
                _ => (word, None),
            };
            match (flag, value) {
                ("--global", None) => wish.how_long = Some(HowLong::Always),
                ("--session", None) => wish.how_long = Some(HowLong::Session),
                ("--once", None) => wish.how_long = Some(HowLong::Once),
                ("--refresh", None) => wish.refresh = true,
                ("--remove", None) => wish.remove = true,
                ("--yes" | "-y", None) => wish.agreed = true,
                ("--provider", value) => {
                    let value = value.or_else(|| words.next());
                    let named = value.filter(|id| !id.is_empty() && !id.starts_with('-'));
                    let provider = named.ok_or_else(|| {
                        Complaint::bad_request("--provider needs the id of a provider")
                            .hint("/provider lists those that are set up")
                    })?;
                    wish.provider = Some(provider.to_owned());
                }
                (flag, _) if flag.starts_with("--") => return Err(unknown(word, flag)),
                _ => name.push(word),
            }
        }
        wish.model = Some(name.join(" ")).filter(|name| !name.is_empty());
        Ok(wish)
    }

    /// The command that asks for the same and agrees to the price.
    pub(super) fn agreed_to(&self, model: &str) -> String {
        let provider = self.provider.as_ref();
        let provider = provider.map_or(String::new(), |id| format!(" --provider {id}"));
        let how_long = self
            .how_long
            .map_or(String::new(), |it| format!(" {}", it.flag()));
        format!("/model {model}{provider}{how_long} --yes")
    }
}

fn unknown(word: &str, flag: &str) -> Complaint {
    let hint = match hermes_config::nearest(flag, FLAGS) {
        Some(near) => format!("did you mean {near}?"),
        None => HINT.to_owned(),
    };
    Complaint::bad_request(format!("/model knows no {word}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_names_a_model_a_provider_and_how_long() {
        let parse = |typed: &str| Wish::parse(typed).unwrap();
        let wish = parse("gpt-5 --provider=openai --global");
        assert_eq!(wish.model.as_deref(), Some("gpt-5"));
        assert_eq!(wish.provider.as_deref(), Some("openai"));
        assert_eq!(wish.how_long, Some(HowLong::Always));
        assert!(!wish.refresh && !wish.agreed);
        let again = wish.agreed_to("gpt-5");
        assert_eq!(again, "/model gpt-5 --provider openai --global --yes");
        assert!(parse(again.strip_prefix("/model ").unwrap()).agreed);
        assert_eq!(parse("--refresh").model, None);
        for flag in ["--session", "--once", "--global"] {
            let wish = parse(&format!("a:b {flag}"));
            assert_eq!(wish.model.as_deref(), Some("a:b"));
            assert_eq!(wish.agreed_to("a:b"), format!("/model a:b {flag} --yes"));
        }
        assert_eq!(parse("a:b").how_long, None);
        assert_eq!(parse("a=b").model.as_deref(), Some("a=b"));
    }

    #[test]
    fn a_mistyped_flag_is_no_part_of_a_name() {
        for (typed, near) in [
            ("gpt-5 --globl", Some("--global")),
            ("gpt-5 --provder=openai", Some("--provider")),
            ("gpt-5 --global=yes", Some("--global")),
            ("gpt-5 --provider", None),
            ("--provider --global gpt-5", None),
            ("gpt-5 --provider=", None),
        ] {
            let Err(Complaint::Failed(failure)) = Wish::parse(typed) else {
                panic!("{typed} was taken");
            };
            let hint = failure.hint.unwrap_or_default();
            assert!(near.is_none_or(|near| hint.contains(near)), "{hint}");
        }
    }
}
