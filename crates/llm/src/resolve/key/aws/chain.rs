//! What profiles and the surroundings offer when no key pair is set.

use std::fmt::Write as _;
use std::path::PathBuf;

use hermes_config::Variable;
use hermes_http::BaseUrl;
use hermes_secrets::{Origin, Secret, SecretName};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use url::Url;

use super::{Pair, in_variables, usable};
use crate::cloud::aws::files::{AwsFiles, Section};
use crate::cloud::aws::{AwsSource, ContainerToken, Role};
use crate::cloud::program::Program;
use crate::oauth::is_private;
use crate::resolve::address::{is_local, region};
use crate::resolve::error::ResolveError;
use crate::resolve::key::passed_on::passed_on;
use crate::resolve::{CloudMachine, KeySource, Request};

/// The profile that is meant when none is named.
const USUAL: &str = "default";
/// Roles may be taken on with roles so many times.
const DEEPEST: usize = 5;
/// What a role's use is called in the records of AWS when nobody says.
const SESSION_NAME: &str = "hermes";
/// Where containers and machines are told their roles.
const CONTAINER: &str = "http://169.254.170.2";
const MACHINE: &str = "http://169.254.169.254";

/// A way to a key pair.
pub(super) enum Way {
    Pair(Pair),
    Made { source: AwsSource, from: String },
}

/// The places to look in.
pub(super) struct Chain<'a> {
    request: &'a Request<'a>,
    files: AwsFiles,
    named: Option<&'a str>,
    /// The file that is named in explanations.
    shown: PathBuf,
}

impl<'a> Chain<'a> {
    pub(super) fn new(request: &'a Request<'a>) -> Self {
        let credentials =
            request.own_file(&Variable::AWS_SHARED_CREDENTIALS_FILE, ".aws/credentials");
        let config = request.own_file(&Variable::AWS_CONFIG_FILE, ".aws/config");
        Self {
            files: AwsFiles::read(credentials.as_deref(), config.as_deref()),
            named: request.variable(&Variable::AWS_PROFILE),
            shown: credentials.unwrap_or_else(|| ".aws/credentials".into()),
            request,
        }
    }

    /// The first way there is.
    pub(super) fn find(&self) -> Result<Option<Way>, ResolveError> {
        match self.set_up()? {
            Some(way) => Ok(Some(way)),
            None => self.machine(),
        }
    }

    /// The first way that somebody has set up.
    pub(super) fn set_up(&self) -> Result<Option<Way>, ResolveError> {
        if self.named.is_none()
            && let Some(way) = self.web_identity()?
        {
            return Ok(Some(way));
        }
        if let Some(way) = self.profile(self.named.unwrap_or(USUAL), DEEPEST)? {
            return Ok(Some(way));
        }
        if let Some(named) = self.named {
            return Err(self.without_keys(named));
        }
        self.container()
    }

    fn without_keys(&self, profile: &str) -> ResolveError {
        ResolveError::NoAwsKeys {
            profile: profile.to_owned(),
            file: self.shown.clone(),
        }
    }

    fn web_identity(&self) -> Result<Option<Way>, ResolveError> {
        let (Some(token), Some(arn)) = (
            self.request
                .variable(&Variable::AWS_WEB_IDENTITY_TOKEN_FILE),
            self.request.variable(&Variable::AWS_ROLE_ARN),
        ) else {
            return Ok(None);
        };
        let session = self.request.variable(&Variable::AWS_ROLE_SESSION_NAME);
        Ok(Some(Way::Made {
            source: AwsSource::WebIdentity {
                sts: self.service(
                    &Variable::AWS_ENDPOINT_URL_STS,
                    "sts",
                    &region(self.request),
                )?,
                arn: arn.to_owned(),
                session: session.unwrap_or(SESSION_NAME).to_owned(),
                token: token.into(),
            },
            from: self
                .request
                .variable_origin(Variable::AWS_WEB_IDENTITY_TOKEN_FILE.name),
        }))
    }

    /// What a profile offers: a role before keys, because keys beside a role are there to take it on.
    fn profile(&self, name: &str, depth: usize) -> Result<Option<Way>, ResolveError> {
        let Some(section) = self.files.profile(name) else {
            return Ok(None);
        };
        let from = format!("the AWS profile {name}");
        if let Some(arn) = section.get("role_arn") {
            let source = self.role(name, section, arn, depth)?;
            return Ok(Some(Way::Made { source, from }));
        }
        if let Some(source) = self.single_sign_on(section)? {
            return Ok(Some(Way::Made { source, from }));
        }
        if let Some(pair) = self.keys(name, section) {
            return Ok(Some(Way::Pair(pair)));
        }
        let Some(line) = section.get("credential_process") else {
            return Ok(None);
        };
        let program = Program::parse(line, passed_on(self.request, Some("AWS_")));
        let source = AwsSource::Program(program.ok_or_else(|| self.without_keys(name))?);
        Ok(Some(Way::Made { source, from }))
    }

    fn keys(&self, name: &str, section: &Section) -> Option<Pair> {
        let value = |key| {
            section
                .get(key)
                .and_then(|value| usable(value))
                .map(str::to_owned)
        };
        Some(Pair {
            id: value("aws_access_key_id")?,
            secret: value("aws_secret_access_key")?,
            session: value("aws_session_token"),
            source: KeySource::Setting(format!("aws:{name}")),
            from: format!("{}: [{name}]", self.shown.display()),
        })
    }

    fn role(
        &self,
        name: &str,
        section: &Section,
        arn: &str,
        depth: usize,
    ) -> Result<AwsSource, ResolveError> {
        let usual = || region(self.request);
        let place = section.get("region").cloned().unwrap_or_else(usual);
        let sts = self.service(&Variable::AWS_ENDPOINT_URL_STS, "sts", &place)?;
        let said = section.get("role_session_name").map(String::as_str);
        let session = said.unwrap_or(SESSION_NAME).to_owned();
        if let Some(token) = section.get("web_identity_token_file") {
            return Ok(AwsSource::WebIdentity {
                sts,
                arn: arn.to_owned(),
                session,
                token: token.into(),
            });
        }
        let missing = || self.without_keys(name);
        let left = depth
            .checked_sub(1)
            .filter(|left| *left > 0)
            .ok_or_else(missing)?;
        let with = match (
            section.get("source_profile"),
            section.get("credential_source"),
        ) {
            // A profile may take its role on with its own keys.
            (Some(source), _) if source == name => Some(self.keys(name, section).map(Way::Pair)),
            (Some(source), _) => Some(self.profile(source, left)?),
            (None, Some(source)) => match source.as_str() {
                "Environment" => Some(in_variables(self.request).map(Way::Pair)),
                "EcsContainer" => Some(self.container()?),
                "Ec2InstanceMetadata" => Some(Some(Way::Made {
                    source: self.instance()?,
                    from: String::new(),
                })),
                _ => None,
            },
            (None, None) => None,
        };
        let with = match with.flatten().ok_or_else(missing)? {
            Way::Made { source, .. } => source,
            Way::Pair(pair) => AwsSource::Keys(secret(pair.value(), &sts.join(""))?),
        };
        let seconds = section.get("duration_seconds");
        Ok(AwsSource::Role(Box::new(Role {
            sts,
            region: place,
            arn: arn.to_owned(),
            session,
            external_id: section.get("external_id").cloned(),
            seconds: seconds.and_then(|seconds| seconds.parse().ok()),
            with,
        })))
    }

    /// The role of somebody who signed in: the start page stands in the profile or in a session of its own.
    fn single_sign_on(&self, section: &Section) -> Result<Option<AwsSource>, ResolveError> {
        let (Some(account), Some(role)) =
            (section.get("sso_account_id"), section.get("sso_role_name"))
        else {
            return Ok(None);
        };
        let session = section.get("sso_session");
        let shared = session.and_then(|name| self.files.session(name));
        let said = |key| section.get(key).or_else(|| shared?.get(key));
        // The sign-in is kept under the name of its session, in older files under its start page.
        let (Some(key), Some(place)) = (
            session.or_else(|| section.get("sso_start_url")),
            said("sso_region"),
        ) else {
            return Ok(None);
        };
        let mut name = String::new();
        for byte in digest(&SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes()).as_ref() {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        let Some(folder) = self.request.below_home(".aws/sso/cache") else {
            return Ok(None);
        };
        Ok(Some(AwsSource::SingleSignOn {
            portal: self.service(&Variable::AWS_ENDPOINT_URL_SSO, "portal.sso", place)?,
            kept: folder.join(format!("{name}.json")),
            account: account.clone(),
            role: role.clone(),
        }))
    }

    fn container(&self) -> Result<Option<Way>, ResolveError> {
        const FULL: Variable = Variable::AWS_CONTAINER_CREDENTIALS_FULL_URI;
        const RELATIVE: Variable = Variable::AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
        let (url, from) = if let Some(path) = self.request.variable(&RELATIVE) {
            let base = Url::parse(CONTAINER).and_then(|base| base.join(path));
            (base.ok(), RELATIVE)
        } else if let Some(url) = self.request.variable(&FULL) {
            (Url::parse(url).ok(), FULL)
        } else {
            return Ok(None);
        };
        let url = url
            .filter(|url| url.scheme() == "https" || is_local(url))
            .ok_or_else(|| bad(from.name))?;
        let file = self
            .request
            .variable(&Variable::AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE);
        let token = match (
            file,
            self.request
                .variable(&Variable::AWS_CONTAINER_AUTHORIZATION_TOKEN),
        ) {
            (Some(file), _) => ContainerToken::File(file.into()),
            (None, Some(value)) => ContainerToken::Value(secret(value.to_owned(), &url)?),
            (None, None) => ContainerToken::None,
        };
        Ok(Some(Way::Made {
            source: AwsSource::Container { url, token },
            from: self.request.variable_origin(from.name),
        }))
    }

    /// The role of the machine, where there is reason to believe that it has one.
    fn machine(&self) -> Result<Option<Way>, ResolveError> {
        let disabled = self.request.variable(&Variable::AWS_EC2_METADATA_DISABLED);
        let moved = self
            .request
            .variable(&Variable::AWS_EC2_METADATA_SERVICE_ENDPOINT);
        if disabled.is_some_and(|word| word.eq_ignore_ascii_case("true"))
            || moved.is_none() && self.request.machine != Some(CloudMachine::Amazon)
        {
            return Ok(None);
        }
        Ok(Some(Way::Made {
            source: self.instance()?,
            from: "the role of this machine".to_owned(),
        }))
    }

    fn instance(&self) -> Result<AwsSource, ResolveError> {
        const MOVED: Variable = Variable::AWS_EC2_METADATA_SERVICE_ENDPOINT;
        let said = self.request.variable(&MOVED).unwrap_or(MACHINE);
        let url = Url::parse(said).ok();
        let url = url.filter(|url| url.scheme() == "https" || is_local(url));
        Ok(AwsSource::Instance {
            service: url.map(BaseUrl::from).ok_or_else(|| bad(MOVED.name))?,
        })
    }

    /// A service of AWS in a region, or where a variable says it is.
    fn service(
        &self,
        variable: &Variable,
        name: &str,
        place: &str,
    ) -> Result<BaseUrl, ResolveError> {
        let usual = || format!("https://{name}.{place}.amazonaws.com");
        let said = self.request.variable(variable).map(str::to_owned);
        let url = Url::parse(&said.unwrap_or_else(usual)).ok();
        url.filter(is_private)
            .map(BaseUrl::from)
            .ok_or_else(|| bad(variable.name))
    }
}

fn bad(from: &str) -> ResolveError {
    ResolveError::BadAddress {
        from: from.to_owned(),
        why: "it is neither https nor on this machine",
    }
}

fn secret(value: String, url: &Url) -> Result<Secret, ResolveError> {
    let origin = Origin::of(url).map_err(|_| bad("AWS"))?;
    SecretName::new("aws_credential")
        .and_then(|name| Secret::new(name, value, [origin.into()]))
        .map_err(|_| bad("AWS"))
}
