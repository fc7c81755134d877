//! Why there is no route, in one line and a next step.

use std::path::PathBuf;

use crate::profile::ProfileError;

/// Why there is no route.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// Nothing is configured at all.
    #[error("no model is set up")]
    NoProvider,
    /// No provider has this name.
    #[error("there is no provider `{name}`")]
    UnknownProvider {
        /// What was asked for.
        name: String,
        /// The nearest known name.
        suggestion: Option<String>,
    },
    /// A provider of the reference that is not offered here.
    #[error("the provider `{name}` is not offered: {why}")]
    LeftOut {
        /// What was asked for.
        name: String,
        /// Why not, and what to use.
        why: &'static str,
    },
    /// The settings switch it off.
    #[error("the provider `{provider}` is switched off by `{setting}`")]
    Disabled {
        /// The provider.
        provider: String,
        /// The setting that says so.
        setting: String,
    },
    /// It needs a key, and there is none.
    #[error("{name} needs a key")]
    MissingKey {
        /// The provider's name for people.
        name: String,
        /// Variables that would be read, best first.
        variables: Vec<String>,
        /// Where to get one.
        signup: Option<String>,
    },
    /// It needs a login, and there is none.
    #[error("you are not signed in to {name}")]
    MissingLogin {
        /// The provider's id.
        provider: String,
        /// Its name for people.
        name: String,
    },
    /// The key is of a kind that cannot be used.
    #[error("the key from {from} cannot be used: {why}")]
    RefusedKey {
        /// Where it was found.
        from: String,
        /// Why.
        why: String,
        /// Where to get another.
        signup: Option<String>,
    },
    /// The key belongs to another host than the address in force.
    #[error("the key in {variable} belongs to {name}, not to {host}")]
    ForeignKey {
        /// The variable, setting or file that holds the key.
        variable: String,
        /// The provider's id.
        provider: String,
        /// Its name for people.
        name: String,
        /// The host it would have gone to.
        host: String,
        /// Which setting names that host.
        from: String,
    },
    /// The address is on the right host, but not where a key is safe.
    #[error("the key in {variable} does not go to {place}")]
    UnsafePlace {
        /// The variable, setting or file that holds the key.
        variable: String,
        /// The origin it would have gone to.
        place: String,
        /// Which setting names that place.
        from: String,
    },
    /// The provider has no address of its own, and none is set.
    #[error("{name} has no address")]
    MissingAddress {
        /// The provider's id.
        provider: String,
        /// Its name for people.
        name: String,
        /// Variables that would be read.
        variables: Vec<String>,
    },
    /// The address cannot be used.
    #[error("the address from {from} cannot be used: {why}")]
    BadAddress {
        /// Where it was said.
        from: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A header cannot be sent.
    #[error("the header `{name}` cannot be sent")]
    BadHeader {
        /// Its name.
        name: String,
    },
    /// No model is named, and the provider has no usual one.
    #[error("no model is named for {name}")]
    NoModel {
        /// The provider's name for people.
        name: String,
    },
    /// The embedded model is not on this machine.
    #[error("the built-in model has not been downloaded")]
    NoModelFile,
    /// A model file was named, and there is none.
    #[error("there is no model file {}", file.display())]
    MissingModelFile {
        /// Where it was looked for.
        file: PathBuf,
    },
    /// A profile of AWS was named, and it has no key pair.
    #[error("{} has no key pair for the profile {profile}", file.display())]
    NoAwsKeys {
        /// What AWS_PROFILE says.
        profile: String,
        /// Where it was looked for.
        file: PathBuf,
    },
    /// Google Cloud is asked, and it is not known for which project.
    #[error("no project of Google Cloud is named")]
    NoProject,
    /// Something that is not built in.
    #[error("{what} is not supported")]
    Unsupported {
        /// What.
        what: &'static str,
        /// What to do in its place.
        instead: &'static str,
    },
    /// A profile cannot be read.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

impl ResolveError {
    /// The next step, in one line.
    pub fn hint(&self) -> String {
        let get = |signup: &Option<String>| match signup {
            Some(address) => format!("; get one at {address}"),
            None => String::new(),
        };
        match self {
            Self::NoProvider => {
                "set OPENROUTER_API_KEY in .env (get one at https://openrouter.ai/keys), \
                 or run `hermes model pull smollm2` for a model that needs no key"
                    .to_owned()
            }
            Self::UnknownProvider {
                suggestion: Some(near),
                ..
            } => format!("did you mean `{near}`?"),
            Self::UnknownProvider {
                suggestion: None, ..
            } => "see docs/providers.md for the known ones, or add it under `providers` in config.yaml"
                .to_owned(),
            Self::LeftOut { .. } => "see docs/providers.md for what is offered".to_owned(),
            Self::Disabled { setting, .. } => format!("set `{setting}` to true, or choose another"),
            Self::MissingKey {
                variables, signup, ..
            } => match variables.first() {
                Some(variable) => format!("set {variable} in .env{}", get(signup)),
                None => format!("set a key for it in config.yaml{}", get(signup)),
            },
            Self::MissingLogin { provider, .. } => format!("run `hermes auth add {provider}`"),
            Self::RefusedKey { signup, .. } => format!("use an API key{}", get(signup)),
            Self::ForeignKey { provider, from, .. } => format!(
                "remove {from}, or set `providers.{}.base_url` to say that the key may go there",
                provider.strip_prefix("custom:").unwrap_or(provider)
            ),
            Self::UnsafePlace { from, .. } => format!(
                "write the address from {from} with https:// and without a port, or write a key beside it \
                 (`api_key`) if that key may go there"
            ),
            Self::MissingAddress {
                provider,
                variables,
                ..
            } => match variables.first() {
                Some(variable) => format!("set {variable} in .env, or `base_url` beside the provider in config.yaml"),
                None => format!("set `providers.{provider}.base_url` in config.yaml"),
            },
            Self::BadAddress { .. } => "write it like https://host/v1".to_owned(),
            Self::BadHeader { .. } => "use letters, digits and dashes, and text on one line".to_owned(),
            Self::NoModel { .. } => "name one with --model or `model.default`".to_owned(),
            Self::NoModelFile => "run `hermes model pull smollm2`".to_owned(),
            Self::MissingModelFile { .. } => "give the whole path of a .gguf file".to_owned(),
            Self::NoAwsKeys { .. } => "give the profile keys, a role with its source, or a sign-in; or set \
                 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                .to_owned(),
            Self::NoProject => "set VERTEX_PROJECT_ID, or `vertex.project_id` in config.yaml".to_owned(),
            Self::Unsupported { instead, .. } => (*instead).to_owned(),
            Self::Profile(_) => "mend the file, or take it out of the directory".to_owned(),
        }
    }
}
