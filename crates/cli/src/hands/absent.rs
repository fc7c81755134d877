//! Tools that are part of this version and cannot be used here as things are, for commands that tell so without a
//! conversation.

use std::sync::Arc;

use hermes_config::Loaded;
use hermes_core::{Random, SystemRandom};
use hermes_exec::Growing;
use hermes_tools::{FileServices, FileTools};
use hermes_web::ServiceError;

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
    /// The variable that would change that, where one would.
    pub(crate) variable: Option<String>,
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
            variable: None,
        });
    };
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
    absent.extend(web(context, loaded)?);
    Ok(absent)
}

/// The tools for the web that have no service.
fn web(context: &Context, loaded: &Loaded) -> Outcome<Vec<Absent>> {
    let web = Arc::new(Web::new(context, loaded, Changes::LeftOut)?);
    let services = web.services(loaded, &context.home()?.cache_dir());
    let found = [
        ("web_search", services.search),
        ("web_extract", services.extract),
    ];
    let lacks = found.into_iter().filter_map(|(tool, found)| {
        let error = found.err()?;
        Some(Absent {
            tool: tool.to_owned(),
            why: error.to_string(),
            shown: false,
            variable: match error {
                ServiceError::NotSet { missing, .. } if !missing.is_empty() => {
                    Some(missing.to_owned())
                }
                ServiceError::NotSet { .. }
                | ServiceError::Unknown { .. }
                | ServiceError::Address { .. } => None,
            },
        })
    });
    Ok(lacks.collect())
}
