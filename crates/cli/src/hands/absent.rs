//! Tools that are part of this version and cannot be used here as things are, for commands that tell so without a
//! conversation.

use std::sync::Arc;

use hermes_config::Loaded;
use hermes_core::{Availability, Random, SystemRandom};
use hermes_exec::Growing;
use hermes_tools::{FileServices, FileTools, web_tools};

use super::{Trusted, backend, memory, sandbox};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::web::{Changes, Web};

/// A tool that cannot be used, and why.
pub(crate) struct Absent {
    pub(crate) tool: String,
    pub(crate) why: String,
    /// Whether models see it all the same, to be told why when they call it.
    pub(crate) shown: bool,
}

/// The tools that a conversation would be without, as [`super::Hands`] would have them. Nothing is connected.
pub(crate) fn absent(context: &Context, loaded: &Loaded) -> Outcome<Vec<Absent>> {
    let home = context.home()?;
    let mut absent = Vec::new();
    let mut add = |tool: &str, why: &str, shown: bool| {
        absent.push(Absent {
            tool: tool.to_owned(),
            why: why.to_owned(),
            shown,
        });
    };
    let web = Arc::new(Web::new(context, loaded, Changes::LeftOut)?);
    for tool in web_tools(&Arc::new(web.services(loaded, &home.cache_dir()))) {
        if let Availability::Missing { reason } = tool.availability() {
            add(&tool.spec().name, &reason, false);
        }
    }
    if !memory::is_on(&(&loaded.config.memory).into()) {
        add("memory", "memory is switched off in the settings", false);
    }
    let config = &loaded.config;
    let guarded = Arc::new(sandbox(&Trusted::new(context, config, home)));
    let random: Arc<dyn Random> = Arc::new(SystemRandom);
    let (sources, offers) = (Growing::default(), Growing::default());
    let place = backend(context, config, home, &guarded, &random, sources, offers);
    if let Err(error) = place {
        let why = error.to_string();
        add("terminal", &why, true);
        for tool in ["process", "execute_code"] {
            add(tool, &why, false);
        }
        for tool in FileTools::new(FileServices::default()).tools() {
            add(&tool.spec().name, &why, false);
        }
    }
    Ok(absent)
}
