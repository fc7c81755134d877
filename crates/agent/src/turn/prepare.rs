//! The beginning of a turn: the rows are loaded, mended where a crash tore them, and the message is
//! written down before anything else happens.

use std::sync::Arc;

use hermes_core::{CallId, Event, Media, Message, Part, Role, TurnEnd, TurnId, Usage};
use hermes_secrets::Scope;
use hermes_store::{NewSession, StoreError};

use super::{CompactFor, Compacting, Entry, Input, Scale, Step, Surroundings, Tries, Turn};
use crate::batch::guard::Guard;
use crate::compaction;
use crate::compaction::summary::is_summary;
use crate::engine::SessionFacts;
use crate::references::{self, References};
use crate::toolbox::Toolbox;
use crate::{prefill, prompt, toolsets};

/// What the model is told about a call that a crash or a kill cut off.
const INTERRUPTED: &str = "[TOOL_ERROR] the program ended while this call was running; it is not known whether it took effect";

/// Closes a turn that a crash or a failure ended before its answer.
const CUT_OFF: &str = "[This was cut off before an answer.]";

/// Loads the session and takes the input in.
pub(super) async fn begin(
    around: Surroundings<'_>,
    input: Input,
) -> Result<(Turn<'_>, Step), StoreError> {
    let services = around.services;
    if around.spec.course.begin_turn(services.clock.now()) {
        let route = around.spec.course.route().clone();
        let event = Event::RouteChanged {
            provider: route.provider.clone(),
            model: route.model.clone(),
            reason: "the preferred model is used again".to_owned(),
        };
        around.events.send(event).await;
    }
    let rows = services.store.history(&around.spec.id).await?;
    let history: Vec<Entry> = rows
        .iter()
        .map(|row| Entry::new(row.id, row.to_message()))
        .collect();
    let messages: Vec<Arc<Message>> = history.iter().map(|entry| entry.message.clone()).collect();
    let said = messages
        .iter()
        .filter(|message| message.role == Role::User && !is_summary(message))
        .count();
    let id = TurnId(said as u64 + 1);
    let facts = SessionFacts {
        session: &around.spec.id,
        surface: &around.spec.surface,
        directory: &around.spec.directory,
        toolsets: around.spec.toolsets.as_deref(),
        history: &messages,
    };
    let chosen = toolsets::chosen(
        &services.config,
        &around.spec.surface,
        around.spec.toolsets.as_deref(),
    );
    // A tiny model is confused by tools.
    let small = around.spec.course.route().is_embedded();
    let toolbox = Toolbox::new(
        services.tools.tools(&facts),
        |name| !small && chosen.has(name),
        &services.config.tools.tool_search,
        around.spec.course.window(),
    );
    let remarks = match (&input, small) {
        (Input::Message { .. }, false) => services.tools.remarks(&facts),
        _ => Vec::new(),
    };
    let system = system_prompt(&around, &toolbox).await?;
    let guard = Guard::new(services.config.tool_loop_guardrails.clone());
    let file = &services.config.prefill_messages_file;
    let (prefill, complaint) = match prefill::load(file, &services.home) {
        Ok(messages) => (messages, None),
        Err(complaint) => (Vec::new(), Some(complaint)),
    };
    let mut turn = Turn {
        around,
        id,
        system,
        prefill,
        history,
        unsettled: None,
        aside: Vec::new(),
        toolbox: Arc::new(toolbox),
        guard,
        hints: prompt::Hints::default(),
        usage: Usage::default(),
        tries: Tries::default(),
        scale: Scale::default(),
        fragments: String::new(),
        held: String::new(),
        output_limit: None,
        spoke: false,
        compacting: Compacting::default(),
    };
    turn.say(Event::TurnStarted { turn: id }).await;
    if let Some(text) = complaint {
        turn.say(Event::Notice { text }).await;
    }
    turn.close_open_calls().await?;
    let step = match input {
        Input::Message { text, media } => {
            turn.take_news().await?;
            let text = turn.remarked(text, remarks).await;
            turn.take_message(text, media).await?
        }
        Input::News => match turn.take_news().await? {
            true => Step::CallModel,
            // Somebody else heard it in the meantime.
            false => Step::Finish(TurnEnd::Done),
        },
        Input::Retry => match turn.take_back().await? {
            Some(message) => {
                turn.keep(Message::clone(&message)).await?;
                Step::CallModel
            }
            None => nothing("there is no message to answer again"),
        },
        Input::Undo => match turn.take_back().await? {
            Some(message) => {
                let text = format!("Taken back: {}", first_line(&message.plain_text()));
                turn.say(Event::Notice { text }).await;
                Step::Finish(TurnEnd::Done)
            }
            None => nothing("there is no message to take back"),
        },
        Input::Compact { focus } => Step::Compact(CompactFor::User { focus }),
    };
    Ok((turn, step))
}

fn nothing(message: &str) -> Step {
    Step::Finish(TurnEnd::Failed {
        message: message.to_owned(),
        hint: None,
    })
}

fn first_line(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(80)
        .collect()
}

/// The stored prompt, byte for byte, unless another model answers now.
async fn system_prompt(
    around: &Surroundings<'_>,
    toolbox: &Toolbox,
) -> Result<Arc<str>, StoreError> {
    let services = around.services;
    let (store, id) = (&services.store, &around.spec.id);
    let route = around.spec.course.route();
    let stored = store.system_prompt(id).await?;
    if let Some(stored) = &stored
        && prompt::is_for(stored, &route.model, &route.provider)
    {
        return Ok(stored.as_str().into());
    }
    let made = prompt::build(&prompt::Facts {
        config: &services.config,
        home: &services.home,
        directory: &around.spec.directory,
        surface: &around.spec.surface,
        model: &route.model,
        provider: &route.provider,
        window: around.spec.course.window(),
        tools: &toolbox.names().collect::<Vec<_>>(),
        programs: &services.programs,
        ignore_rules: around.spec.ignore_rules,
        small: route.is_embedded(),
        now: services.clock.now(),
    });
    let raised = compaction::raised(route, &services.config.compression);
    for text in made.warnings.into_iter().chain(raised) {
        around.events.send(Event::Notice { text }).await;
    }
    let redactor = services.redactor.snapshot();
    let text: Arc<str> = redactor.redact_in(Scope::Known, &made.text).as_ref().into();
    if stored.is_some() || store.session(id).await?.is_some() {
        store
            .set_system_prompt(id, text.to_string(), route.model.clone())
            .await?;
    } else {
        let session = NewSession {
            model: Some(route.model.clone()),
            system_prompt: Some(text.to_string()),
            cwd: Some(around.spec.directory.display().to_string()),
            ..NewSession::new(id.clone(), around.spec.surface.clone())
        };
        store.create_session(session).await?;
    }
    Ok(text)
}

impl Turn<'_> {
    /// Tells the user what there is to know about the tools, and gives it to the model along with the message:
    /// what stands in front of it stays as it is.
    async fn remarked(&mut self, text: String, remarks: Vec<String>) -> String {
        if remarks.is_empty() {
            return text;
        }
        let said = format!("{text}\n\n[About your tools: {}]", remarks.join("; "));
        for text in remarks {
            self.say(Event::Notice { text }).await;
        }
        said
    }

    /// Takes a message in, with what it refers to. What was typed is a row before files and pages are read,
    /// which may take long: a kill or a stop in between loses nothing.
    async fn take_message(&mut self, text: String, media: Vec<Media>) -> Result<Step, StoreError> {
        let typed = self.user_message(text.clone(), media.clone());
        self.keep(typed.clone()).await?;
        let prepared = tokio::select! {
            biased;
            () = self.around.cancel.cancelled() => None,
            prepared = self.with_references(&text, &media) => Some(prepared),
        };
        let Some((text, media)) = prepared else {
            return Ok(Step::Finish(TurnEnd::Interrupted));
        };
        let whole = self.user_message(text, media);
        if whole != typed {
            self.keep_instead(whole).await?;
        }
        Ok(Step::CallModel)
    }

    /// A message with what it refers to, and with words in place of pictures where the model needs them.
    async fn with_references(&self, text: &str, media: &[Media]) -> (String, Vec<Media>) {
        let expanded = references::expand(
            text,
            &References {
                directory: &self.around.spec.directory,
                home: &self.around.services.home,
                window: self.around.spec.course.window(),
                pages: &*self.around.services.pages,
            },
        )
        .await;
        for text in expanded.warnings {
            self.say(Event::Notice { text }).await;
        }
        if let Some(text) = expanded.refused {
            self.say(Event::Notice { text }).await;
        }
        self.seen(expanded.text, media.to_vec()).await
    }

    /// Known secrets are masked before the message goes anywhere: a key stays home.
    fn user_message(&self, text: String, media: Vec<Media>) -> Message {
        let redactor = self.around.services.redactor.snapshot();
        let text = redactor.redact_in(Scope::Known, &text).into_owned();
        let mut parts = vec![Part::Text { text }];
        parts.extend(media.into_iter().map(Part::Media));
        Message {
            role: Role::User,
            parts,
            raw: None,
        }
    }

    /// Gives calls that lost their result one that says so.
    async fn close_open_calls(&mut self) -> Result<(), StoreError> {
        let Some(last) = self
            .history
            .iter()
            .rposition(|entry| entry.message.role == Role::Assistant)
        else {
            return Ok(());
        };
        let answered: Vec<&CallId> = self.history[last..]
            .iter()
            .flat_map(|entry| &entry.message.parts)
            .filter_map(|part| match part {
                Part::ToolResult { call, .. } => Some(call),
                _ => None,
            })
            .collect();
        let open: Vec<Message> = self.history[last]
            .message
            .tool_calls()
            .filter(|call| !answered.contains(&&call.id))
            .map(|call| Message {
                role: Role::Tool,
                parts: vec![Part::ToolResult {
                    call: call.id.clone(),
                    name: call.name.clone(),
                    content: INTERRUPTED.to_owned(),
                    failed: true,
                }],
                raw: None,
            })
            .collect();
        for message in open {
            self.keep(message).await?;
        }
        // A message must not follow results directly: some providers refuse that.
        if self
            .history
            .last()
            .is_some_and(|entry| entry.message.role == Role::Tool)
        {
            self.keep(Message::text(Role::Assistant, CUT_OFF)).await?;
        }
        Ok(())
    }

    /// Takes the last message of the user and everything behind it back.
    async fn take_back(&mut self) -> Result<Option<Arc<Message>>, StoreError> {
        let Some(at) = self
            .history
            .iter()
            .rposition(|entry| entry.message.role == Role::User)
            .filter(|at| !is_summary(&self.history[*at].message))
        else {
            return Ok(None);
        };
        let (row, message) = (self.history[at].row, self.history[at].message.clone());
        let store = &self.around.services.store;
        store.rewind(&self.around.spec.id, row).await?;
        self.history.truncate(at);
        Ok(Some(message))
    }
}
