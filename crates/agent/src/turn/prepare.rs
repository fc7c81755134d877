//! The beginning of a turn: the rows are loaded, mended where a crash tore them, and the message is
//! written down before anything else happens.

use std::sync::Arc;

use hermes_core::{CallId, Event, Media, Message, Part, Role, TurnEnd, TurnId, Usage};
use hermes_memory::scrubbed;
use hermes_secrets::Scope;
use hermes_store::{NewSession, OwnTurn, StoreError};

use super::counted::Counted;
use super::finish::CUT_OFF;
use super::skills::first_said;
use super::system::system_prompt;
use super::{
    CompactFor, Compacting, Entry, Input, Said, Scale, Step, Surroundings, Tries, Turn, scene,
};
use crate::batch::guard::Guard;
use crate::compaction::summary::is_summary;
use crate::engine::SessionFacts;
use crate::references::{self, References};
use crate::toolbox::Toolbox;
use crate::typed::{ABOUT_TOOLS, typed};
use crate::{prefill, prompt, toolsets};

/// What the model is told about a call that a crash or a kill cut off.
const INTERRUPTED: &str = "[TOOL_ERROR] the program ended while this call was running; it is not known whether it took effect";

/// Loads the session and takes the input in. What was typed is a row before anybody is asked about anything: a
/// server nearby that has to load its model takes minutes for it.
pub(super) async fn begin(
    around: Surroundings<'_>,
    own: OwnTurn,
    input: Input,
) -> Result<(Turn<'_>, Step), StoreError> {
    let mut turn = load(around, own).await?;
    turn.say(Event::TurnStarted { turn: turn.id }).await;
    let first = first(&turn.history, &input);
    turn.close_cut_off().await?;
    if !turn.write_down(&input).await? {
        let step = nothing(
            "what waited was said elsewhere already",
            "open the conversation again to see it",
        );
        return Ok((turn, step));
    }
    // Taking back asks no model.
    if !matches!(input, Input::Undo { .. }) {
        turn.measure().await;
        turn.wait_for_tools().await;
    }
    turn.prefer().await;
    let remarks = turn.equip(&input, &first).await?;
    let asked = match &input {
        Input::Message { text, .. } => Some(typed(text).to_owned()),
        Input::Skills(wish) => Some(wish.said()),
        Input::Retry => {
            let last = turn.last_said().map(|(_, last)| last.plain_text());
            // Files and skills that were added to it are nobody's words.
            last.map(|last| typed(&last).trim().to_owned())
        }
        Input::Undo { .. } | Input::Compact { .. } | Input::PreviewCompact { .. } | Input::News => {
            None
        }
    };
    let step = turn.take_in(input, remarks).await?;
    // A picture alone asks for nothing that could be looked for.
    let asked = asked.filter(|asked| !asked.trim().is_empty());
    if let (Some(asked), Step::CallModel) = (asked, &step) {
        turn.recall(asked).await;
    }
    Ok((turn, step))
}

/// A turn over the rows of its session, without tools and a prompt yet.
async fn load(around: Surroundings<'_>, own: OwnTurn) -> Result<Turn<'_>, StoreError> {
    let services = around.services;
    let rows = services.store.history(&around.spec.id).await?;
    let history = around.recollections.attach(&rows);
    let said = history
        .iter()
        .map(|entry| &entry.message)
        .filter(|message| message.role == Role::User && !is_summary(message))
        .count();
    let tools = &services.config.tools.tool_search;
    let toolbox = Toolbox::new([], |_| false, tools, around.spec.course.window());
    Ok(Turn {
        around,
        own: Some(own),
        id: TurnId(said as u64 + 1),
        system: Arc::default(),
        prefill: Vec::new(),
        history,
        unsettled: None,
        described: None,
        aside: Vec::new(),
        toolbox: Arc::new(toolbox),
        guard: Guard::new(services.config.tool_loop_guardrails.clone()),
        hints: prompt::Hints::default(),
        usage: Usage::default(),
        tries: Tries::default(),
        scale: Scale::default(),
        counted: Counted::default(),
        said: Said::default(),
        spoke: false,
        broke_off: None,
        asked: None,
        recalled: None,
        compacting: Compacting::default(),
    })
}

/// What the conversation began with, which says what it is about.
fn first(history: &[Entry], input: &Input) -> String {
    let messages = history.iter().map(|entry| &entry.message);
    first_said(messages).unwrap_or_else(|| match input {
        Input::Message { text, .. } => text.clone(),
        Input::Skills(wish) => format!("{} {}", wish.skills.join(" "), wish.text),
        Input::Retry
        | Input::Undo { .. }
        | Input::Compact { .. }
        | Input::PreviewCompact { .. }
        | Input::News => String::new(),
    })
}

fn nothing(message: &str, hint: &str) -> Step {
    Step::Finish(TurnEnd::Failed {
        message: message.to_owned(),
        hint: Some(hint.to_owned()),
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

impl Turn<'_> {
    /// Writes what was typed down, in a session that is made for it if there is none yet. Says whether there is
    /// anything to go on with: what waited may have been said by somebody else.
    async fn write_down(&mut self, input: &Input) -> Result<bool, StoreError> {
        let (text, media) = match input {
            Input::Message { text, media } => (text.clone(), media.clone()),
            Input::Skills(wish) => (wish.said(), wish.media.clone()),
            Input::Retry
            | Input::Undo { .. }
            | Input::Compact { .. }
            | Input::PreviewCompact { .. }
            | Input::News => return Ok(true),
        };
        let (spec, store) = (&self.around.spec, &self.around.services.store);
        let is_new = self.history.is_empty() && store.session(&spec.id).await?.is_none();
        // Both share the step to the disk.
        let created = is_new.then(|| {
            store.create_session(NewSession {
                model: Some(spec.course.route().model.clone()),
                cwd: Some(spec.directory.display().to_string()),
                user_id: spec.user.clone(),
                ..NewSession::new(spec.id.clone(), spec.source.clone())
            })
        });
        // Nothing can have happened in a session that is only now being made.
        if !is_new {
            self.take_news().await?;
        }
        let typed = self.user_message(text, media);
        let rows = std::mem::take(&mut self.around.rows);
        let kept = self.keep_from(rows, typed).await?;
        if let Some(created) = created {
            created.await?;
        }
        Ok(kept)
    }

    /// Has servers asked about the models, unless the user stops it.
    async fn measure(&mut self) {
        let around = &mut self.around;
        let measured = tokio::select! {
            biased;
            () = around.cancel.cancelled() => None,
            measured = around.services.routes.measured(&around.spec.course) => measured,
        };
        if let Some(course) = measured {
            around.spec.course = course;
        }
    }

    /// Lets those come up who bring tools, unless the user stops it or the model uses none.
    async fn wait_for_tools(&self) {
        let spec = &self.around.spec;
        if !spec.gives_tools() {
            return;
        }
        let audience = spec.audience();
        tokio::select! {
            biased;
            () = self.around.cancel.cancelled() => {}
            () = self.around.services.tools.ready(audience) => {}
        }
    }

    /// Goes back to the model that is preferred, if another one answered lately.
    async fn prefer(&mut self) {
        let now = self.around.services.clock.now();
        if self.around.spec.course.begin_turn(now) {
            let reason = "the preferred model is used again".to_owned();
            self.tell_route(reason).await;
        }
    }

    /// Finds tools and makes the prompt. Answers what there is to say about the tools.
    async fn equip(&mut self, input: &Input, first: &str) -> Result<Vec<String>, StoreError> {
        let services = self.around.services;
        let extent = self.around.spec.extent();
        if !extent.is_full() {
            self.around.recollections.forget();
            let bare = |entry: Entry| Entry::new(entry.row, entry.message);
            self.history = std::mem::take(&mut self.history)
                .into_iter()
                .map(bare)
                .collect();
        }
        let messages: Vec<Arc<Message>> = self
            .history
            .iter()
            .map(|entry| entry.message.clone())
            .collect();
        let spec = &self.around.spec;
        let named = spec.toolsets.as_deref();
        let facts = SessionFacts {
            session: &spec.id,
            surface: &spec.surface,
            user: spec.user.as_deref(),
            directory: &spec.directory,
            toolsets: named,
            route: spec.course.route(),
            history: &messages,
        };
        let chosen = toolsets::chosen(&services.config, &spec.surface, named);
        let with_tools = spec.gives_tools();
        let toolbox = Toolbox::new(
            services.tools.tools(&facts),
            |name| with_tools && extent.offers(name, named.is_some()) && chosen.has(name),
            &services.config.tools.tool_search,
            spec.course.window(),
        );
        let remarks = match input {
            Input::Message { .. } | Input::Skills(_) if with_tools => {
                services.tools.remarks(&facts)
            }
            _ => Vec::new(),
        };
        (self.system, self.described) = system_prompt(&self.around, &toolbox, first).await?;
        self.toolbox = Arc::new(toolbox);
        match prefill::load(&services.config.prefill_messages_file, &services.home) {
            Ok(messages) => self.prefill = messages,
            Err(text) => self.say(Event::Notice { text }).await,
        }
        Ok(remarks)
    }

    /// Does what is asked for, up to the first call of the model.
    async fn take_in(&mut self, input: Input, remarks: Vec<String>) -> Result<Step, StoreError> {
        Ok(match input {
            Input::Message { text, media } => {
                let text = self.remarked(text, remarks).await;
                self.take_message(text, media).await?
            }
            Input::Skills(wish) => {
                let text = self.remarked(wish.said(), remarks).await;
                self.take_skills(&wish, text).await?
            }
            Input::News => match self.take_news().await? {
                true => Step::CallModel,
                // Somebody else heard it in the meantime.
                false => Step::Finish(TurnEnd::Done),
            },
            Input::Retry => match self.say_again().await? {
                true => Step::CallModel,
                false => nothing("there is no message to answer again", "say something first"),
            },
            Input::Undo { turns } => match self.take_back_several(turns).await? {
                Some(message) => {
                    let text = format!("Taken back: {}", first_line(&message.plain_text()));
                    self.say(Event::Notice { text }).await;
                    Step::Finish(TurnEnd::Done)
                }
                None => nothing(
                    "there is no message to take back",
                    "say something first, or go to an earlier conversation",
                ),
            },
            Input::Compact { focus, exchanges } => {
                Step::Compact(CompactFor::User { focus, exchanges })
            }
            Input::PreviewCompact { exchanges } => self.preview_compact(exchanges).await,
        })
    }

    /// Tells the user what there is to know about the tools, and gives it to the model along with the message:
    /// what stands in front of it stays as it is.
    async fn remarked(&mut self, text: String, remarks: Vec<String>) -> String {
        if remarks.is_empty() {
            return text;
        }
        let said = format!("{text}{ABOUT_TOOLS}{}]", remarks.join("; "));
        for text in remarks {
            self.say(Event::Notice { text }).await;
        }
        said
    }

    /// Takes the message that was written down in with what it refers to. Files and pages are read for that, which
    /// may take long: a stop in between loses nothing.
    async fn take_message(&mut self, text: String, media: Vec<Media>) -> Result<Step, StoreError> {
        let prepared = tokio::select! {
            biased;
            () = self.around.cancel.cancelled() => None,
            prepared = self.with_references(&text, &media) => Some(prepared),
        };
        let next = match prepared {
            Some(_) => Step::CallModel,
            None => Step::Finish(TurnEnd::Interrupted),
        };
        let (text, media) = prepared.unwrap_or((text, media));
        self.complete(text, media).await?;
        Ok(next)
    }

    /// Puts a message in the place of what was written down of it, if it says more.
    pub(super) async fn complete(
        &mut self,
        text: String,
        media: Vec<Media>,
    ) -> Result<(), StoreError> {
        let whole = self.user_message(text, media);
        match self
            .history
            .last()
            .is_some_and(|last| *last.message == whole)
        {
            true => Ok(()),
            false => self.keep_instead(whole).await,
        }
    }

    /// A message with what it refers to, and with words in place of pictures where the model needs them.
    pub(super) async fn with_references(
        &self,
        text: &str,
        media: &[Media],
    ) -> (String, Vec<Media>) {
        let expanded = references::expand(
            text,
            &References {
                directory: &self.around.spec.directory,
                rules: &self.around.services.rules,
                window: self.around.spec.course.window(),
                pages: &*self.around.services.pages,
                git: &*self.around.services.git,
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
    pub(super) fn user_message(&self, text: String, media: Vec<Media>) -> Message {
        let redactor = self.around.services.redactor.snapshot();
        let text = redactor.redact_in(Scope::Known, &text);
        // Nobody but us says what was recalled.
        let text = scrubbed(&text).into_owned();
        let mut parts = vec![Part::Text { text }];
        parts.extend(media.into_iter().map(Part::Media));
        Message {
            role: Role::User,
            parts,
            raw: None,
        }
    }

    /// Gives calls that lost their result one that says so, and a turn that lost its answer an end. Whoever ran it is
    /// gone: nobody else has the turn.
    async fn close_cut_off(&mut self) -> Result<(), StoreError> {
        let asking = self
            .history
            .iter()
            .rposition(|entry| entry.message.role == Role::Assistant);
        let behind = asking.map_or(&[][..], |asking| &self.history[asking..]);
        let answered: Vec<&CallId> = behind
            .iter()
            .flat_map(|entry| &entry.message.parts)
            .filter_map(|part| match part {
                Part::ToolResult { call, .. } => Some(call),
                _ => None,
            })
            .collect();
        let open: Vec<Message> = behind
            .first()
            .into_iter()
            .flat_map(|asking| asking.message.tool_calls())
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
        // Some providers refuse a message behind results, and two in a row would be sent as one that grew.
        match self.is_unanswered() {
            true => self.keep(Message::text(Role::Assistant, CUT_OFF)).await,
            false => Ok(()),
        }
    }

    /// Takes so many messages of the user and everything behind the earliest of them back.
    async fn take_back_several(&mut self, turns: u32) -> Result<Option<Arc<Message>>, StoreError> {
        let mut earliest = None;
        for _ in 0..turns {
            match self.take_back().await? {
                Some(message) => earliest = Some(message),
                None => break,
            }
        }
        Ok(earliest)
    }

    /// Takes the last message of the user and everything behind it back.
    async fn take_back(&mut self) -> Result<Option<Arc<Message>>, StoreError> {
        let Some((at, message)) = self.last_said() else {
            return Ok(None);
        };
        let row = self.history[at].row;
        let told = self.about_to_go(at);
        let store = &self.around.services.store;
        store.rewind(&self.around.spec.id, row).await?;
        if let Some((external, exchange)) = told {
            external.taken_back(scene(self.around.spec), exchange).await;
        }
        self.around.recollections.forget_from(row);
        self.history.truncate(at);
        Ok(Some(message))
    }

    /// Takes what came behind the last message of the user back, and has that answered again. Says whether there is
    /// one.
    async fn say_again(&mut self) -> Result<bool, StoreError> {
        let Some((at, message)) = self.last_said() else {
            return Ok(false);
        };
        let row = self.history[at].row;
        let (session, store) = (&self.around.spec.id, &self.around.services.store);
        let rows = store.say_again(session, row, (&*message).into()).await?;
        self.around.recollections.forget_from(row);
        self.history.truncate(at);
        let again = rows.first().map(|row| Entry::new(*row, message));
        self.history.extend(again);
        Ok(true)
    }

    /// The last message of the user and its place, unless a summary stands for it.
    fn last_said(&self) -> Option<(usize, Arc<Message>)> {
        let is_said = |entry: &Entry| entry.message.role == Role::User;
        let at = self.history.iter().rposition(is_said)?;
        let message = &self.history[at].message;
        (!is_summary(message)).then(|| (at, message.clone()))
    }
}
