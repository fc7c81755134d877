//! `honcho.json`: the block of this host over the keys at the root.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use hermes_config::Variable;
use serde_json::{Map, Value as Json, json};

use super::super::catalog::Setup;
use super::super::error::ProviderError;
use super::super::fields::{Fields, object};
use super::NAME;
use super::names::fitting;

const CLOUD: &str = "https://api.honcho.dev";
const LOCAL: &str = "http://localhost:8000";
/// How hard Honcho may think, least first.
pub(super) const LEVELS: [&str; 5] = ["minimal", "low", "medium", "high", "max"];

/// What reaches the model, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Hybrid,
    Context,
    Tools,
}

/// How conversations are joined to sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    Directory,
    Repository,
    Session,
    Global,
}

const MODES: [(&str, Mode); 3] = [
    ("hybrid", Mode::Hybrid),
    ("context", Mode::Context),
    ("tools", Mode::Tools),
];
const FIRST_TURN_ONLY: [(&str, bool); 2] = [("every-turn", false), ("first-turn", true)];
const STRATEGIES: [(&str, Strategy); 4] = [
    ("per-directory", Strategy::Directory),
    ("per-repo", Strategy::Repository),
    ("per-session", Strategy::Session),
    ("global", Strategy::Global),
];

/// Asking Honcho about the user.
#[derive(Debug, Clone)]
pub(super) struct Dialectic {
    /// Turns between two questions.
    pub(super) cadence: u64,
    /// Rounds of one question.
    pub(super) depth: usize,
    pub(super) levels: Vec<usize>,
    pub(super) level: usize,
    pub(super) cap: usize,
    /// Longer messages are thought about harder.
    pub(super) heuristic: bool,
    /// The model may say how hard to think.
    pub(super) dynamic: bool,
    pub(super) most: usize,
    pub(super) most_asked: usize,
}

impl Dialectic {
    fn read(fields: &Fields) -> Result<Self, ProviderError> {
        Ok(Self {
            cadence: whole(fields, "dialecticCadence", 1).max(1),
            depth: chars(fields, "dialecticDepth", 1).min(3),
            levels: levels(fields),
            level: level(fields.text(&["dialecticReasoningLevel"], ""), "low")?,
            cap: level(fields.text(&["reasoningLevelCap"], ""), "high")?,
            heuristic: fields.flag("reasoningHeuristic", true),
            dynamic: fields.flag("dialecticDynamic", true),
            most: chars(fields, "dialecticMaxChars", 600),
            most_asked: chars(fields, "dialecticMaxInputChars", 10_000),
        })
    }
}

/// All of it.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) address: String,
    pub(super) key: Option<String>,
    pub(super) timeout: Duration,
    pub(super) workspace: String,
    pub(super) user: String,
    /// Everybody who speaks is that one.
    pub(super) pinned: bool,
    /// Names of people by the id their surface knows them by.
    pub(super) aliases: BTreeMap<String, String>,
    /// Stands before the ids of people without such a name.
    pub(super) user_prefix: String,
    pub(super) agent: String,
    pub(super) saves: bool,
    pub(super) hold: u64,
    pub(super) most_of_message: usize,
    pub(super) mode: Mode,
    /// A session is made when a conversation begins, also where only tools need it.
    pub(super) begins: bool,
    pub(super) context_tokens: Option<u64>,
    pub(super) first_turn_only: bool,
    pub(super) context_cadence: u64,
    pub(super) first_waits: [Duration; 2],
    /// A model puts messages into other words before they are asked about.
    pub(super) rewrites: bool,
    pub(super) dialectic: Dialectic,
    /// Who observes whom: of the user, of the agent.
    pub(super) observed: [Json; 2],
    /// Whether the file says so: a session that is there already has to be told.
    pub(super) observed_as_said: bool,
    pub(super) strategy: Strategy,
    pub(super) prefixed: bool,
    pub(super) sessions: BTreeMap<String, String>,
}

impl Settings {
    pub(super) fn read(setup: &Setup<'_>) -> Result<Self, ProviderError> {
        let host = setup.environment.filled(&Variable::HERMES_HONCHO_HOST);
        let host = host.map_or_else(|| setup.own("hermes"), str::to_owned);
        let said = merged(file(setup)?, &host);
        let fields = Fields::of(said, setup.environment);
        if !fields.flag("enabled", true) {
            return Err(wrong("honcho.json says enabled: false"));
        }
        let key = fields.text(&["apiKey"], "HONCHO_API_KEY");
        let address = address(&fields, key.as_deref())?;
        Ok(Self {
            address,
            key,
            timeout: seconds(fields.number(&["timeout"], "HONCHO_TIMEOUT"), 30.0),
            workspace: named(&fields, "workspace", &host),
            user: named(&fields, "peerName", "user"),
            pinned: fields.flag("pinUserPeer", false),
            aliases: map(&fields, "userPeerAliases"),
            user_prefix: fields.text(&["runtimePeerPrefix"], "").unwrap_or_default(),
            agent: named(&fields, "aiPeer", &host),
            saves: fields.flag("saveMessages", true),
            hold: hold(&fields)?,
            most_of_message: chars(&fields, "messageMaxChars", 25_000),
            mode: choice(&fields, "recallMode", &MODES)?,
            begins: fields.flag("initOnSessionStart", false),
            context_tokens: fields
                .number(&["contextTokens"], "")
                .map(|number| number as u64),
            first_turn_only: choice(&fields, "injectionFrequency", &FIRST_TURN_ONLY)?,
            context_cadence: whole(&fields, "contextCadence", 1).max(1),
            first_waits: [
                seconds(fields.number(&["firstTurnBaseWait"], ""), 3.0),
                seconds(fields.number(&["firstTurnDialecticWait"], ""), 2.0),
            ],
            rewrites: fields.flag("queryRewrite", false),
            dialectic: Dialectic::read(&fields)?,
            observed: observed(&fields)?,
            observed_as_said: ["observationMode", "observation"]
                .iter()
                .any(|name| fields.value(name).is_some()),
            strategy: choice(&fields, "sessionStrategy", &STRATEGIES)?,
            prefixed: fields.flag("sessionPeerPrefix", false),
            sessions: map(&fields, "sessions"),
        })
    }
}

/// The first file there is: of the profile, of the default profile, of all programs that use Honcho.
fn file(setup: &Setup<'_>) -> Result<Map<String, Json>, ProviderError> {
    let mut places: Vec<PathBuf> = vec![
        setup.home.join("honcho.json"),
        setup.root.join("honcho.json"),
    ];
    places.extend(setup.user_home.map(|home| home.join(".honcho/config.json")));
    for place in places {
        if let Some(found) = object(NAME, &place)? {
            return Ok(found);
        }
    }
    Ok(Map::new())
}

/// The keys of the root with those of the host above them.
fn merged(mut said: Map<String, Json>, host: &str) -> Map<String, Json> {
    if let Some(Json::Object(mut hosts)) = said.remove("hosts")
        && let Some(Json::Object(block)) = hosts.remove(host)
    {
        said.extend(block);
    }
    said
}

fn wrong(what: impl Into<String>) -> ProviderError {
    ProviderError::Setup {
        provider: NAME,
        what: what.into(),
    }
}

/// Where Honcho is: the cloud needs a key, a server of one's own does not.
fn address(fields: &Fields, key: Option<&str>) -> Result<String, ProviderError> {
    let environment = fields.text(&["environment"], "HONCHO_ENVIRONMENT");
    let own = fields.text(&["baseUrl", "environmentUrl"], "HONCHO_BASE_URL");
    match (own, environment.as_deref()) {
        (Some(own), _) => Ok(own),
        (None, Some("local")) => Ok(LOCAL.to_owned()),
        (None, _) if key.is_none() => Err(wrong("HONCHO_API_KEY is missing")),
        (None, _) => Ok(CLOUD.to_owned()),
    }
}

/// A time of a sensible length.
fn seconds(given: Option<f64>, otherwise: f64) -> Duration {
    Duration::from_secs_f64(given.unwrap_or(otherwise).clamp(0.1, 600.0))
}

fn whole(fields: &Fields, name: &str, otherwise: u64) -> u64 {
    match fields.number(&[name], "") {
        Some(number) => number as u64,
        None => otherwise,
    }
}

fn chars(fields: &Fields, name: &str, otherwise: u64) -> usize {
    usize::try_from(whole(fields, name, otherwise).max(1)).unwrap_or(usize::MAX)
}

fn named(fields: &Fields, name: &str, otherwise: &str) -> String {
    let text = fields.text(&[name], "");
    fitting(text.as_deref().unwrap_or(otherwise))
}

/// One of several words; the first is meant when nothing is said.
fn choice<T: Copy>(fields: &Fields, name: &str, words: &[(&str, T)]) -> Result<T, ProviderError> {
    let said = fields.text(&[name], "");
    let found = match said.as_deref() {
        None => words.first(),
        Some(said) => words.iter().find(|(word, _)| *word == said),
    };
    let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| wrong(format!("{name} is one of {}", all.join(", "))))
}

/// After how many turns what was said is sent.
fn hold(fields: &Fields) -> Result<u64, ProviderError> {
    match fields.text(&["writeFrequency"], "").as_deref() {
        None | Some("async" | "turn") => Ok(1),
        Some("session") => Ok(u64::MAX),
        Some(number) => number
            .parse()
            .map_err(|_| wrong("writeFrequency is async, turn, session or a number")),
    }
}

fn level(said: Option<String>, otherwise: &str) -> Result<usize, ProviderError> {
    let said = said.unwrap_or_else(|| otherwise.to_owned());
    LEVELS
        .iter()
        .position(|level| *level == said)
        .ok_or_else(|| wrong(format!("a reasoning level is one of {}", LEVELS.join(", "))))
}

fn levels(fields: &Fields) -> Vec<usize> {
    let listed = fields
        .value("dialecticDepthLevels")
        .and_then(Json::as_array);
    listed
        .into_iter()
        .flatten()
        .filter_map(|word| LEVELS.iter().position(|level| word == level))
        .collect()
}

fn observed(fields: &Fields) -> Result<[Json; 2], ProviderError> {
    let both = |me: bool, others: bool| json!({"observe_me": me, "observe_others": others});
    let mut observed = choice(
        fields,
        "observationMode",
        &[("directional", false), ("unified", true)],
    )
    .map(|unified| match unified {
        false => [both(true, true), both(true, true)],
        true => [both(true, false), both(false, true)],
    })?;
    for (who, of) in ["user", "ai"].iter().zip(&mut observed) {
        let said = fields.value("observation").and_then(|all| all.get(who));
        for (name, key) in [
            ("observeMe", "observe_me"),
            ("observeOthers", "observe_others"),
        ] {
            if let Some(Json::Bool(flag)) = said.and_then(|said| said.get(name)) {
                of[key] = Json::Bool(*flag);
            }
        }
    }
    Ok(observed)
}

/// Names by what they stand for.
fn map(fields: &Fields, key: &str) -> BTreeMap<String, String> {
    let named = fields.value(key).and_then(Json::as_object);
    named
        .into_iter()
        .flatten()
        .filter_map(|(of, name)| Some((of.clone(), name.as_str()?.to_owned())))
        .filter(|(_, name)| !name.trim().is_empty())
        .collect()
}
