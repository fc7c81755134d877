//! What comes along with a message: the context of the session, and an answer about the user.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::super::api::text_of;
use super::super::error::ProviderError;
use super::super::provider::{Question, Scene};
use super::settings::{Dialectic, LEVELS};
use super::{Honcho, MOST_SESSIONS, locked, names};

/// Empty answers stretch the cadence up to this many times.
const MOST_STRETCHED: u64 = 8;
/// Characters of a message that are put into other words, and of these.
const MOST_REWRITTEN: usize = 4_000;
const LONGEST_WORDS: usize = 320;
/// From this many characters on a message is worth one level more, and two.
const LONG: usize = 120;
const VERY_LONG: usize = 400;

/// When what was asked last, and what came of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Cadence {
    base: Part,
    answer: Part,
    /// Answers in a row with nothing in them.
    empty: u32,
}

impl Cadence {
    /// Takes in what came of asking; what failed or was not asked stays as it was.
    fn take(
        &mut self,
        turn: u64,
        base: Result<Asked, ProviderError>,
        answer: Result<Asked, ProviderError>,
    ) {
        let turn = Some(turn);
        if let Ok(Asked::Got(text)) = base {
            self.base = Part { turn, text };
        }
        if let Ok(Asked::Got(text)) = answer {
            self.empty = match &text {
                Some(_) => 0,
                None => self.empty + 1,
            };
            self.answer = Part { turn, text };
        }
    }

    /// All that is known, when anything is.
    fn found(&self) -> Option<String> {
        let parts = [&self.base.text, &self.answer.text];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        let found = parts.join("\n\n");
        (!found.is_empty()).then_some(found)
    }
}

#[derive(Debug, Clone, Default)]
struct Part {
    turn: Option<u64>,
    text: Option<String>,
}

impl Part {
    /// Whether it is time to ask again. Turns are counted anew when a history was made shorter.
    fn is_due(&self, turn: u64, every: u64) -> bool {
        self.turn
            .is_none_or(|last| turn < last || turn >= last.saturating_add(every))
    }
}

impl Honcho {
    pub(super) async fn recalled(
        &self,
        question: &Question,
    ) -> Result<Option<String>, ProviderError> {
        if self.settings.first_turn_only && question.turn > 1 {
            return Ok(None);
        }
        // What is known about one user is never sent with the message of another.
        let user = names::user(&self.settings, &question.scene);
        let conversation = (question.scene.session.clone(), user);
        let mut cadence = locked(&self.cadence)
            .get(&conversation)
            .cloned()
            .unwrap_or_default();
        let stretch = 1_u64.checked_shl(cadence.empty).unwrap_or(MOST_STRETCHED);
        let every = self.settings.dialectic.cadence * stretch.min(MOST_STRETCHED);
        let wants_base = cadence
            .base
            .is_due(question.turn, self.settings.context_cadence);
        let wants_answer = cadence.answer.is_due(question.turn, every);
        let words = match wants_base || wants_answer {
            true => self.words(question).await,
            false => String::new(),
        };
        let [base_wait, answer_wait] = self.settings.first_waits;
        let first = question.turn == 1;
        let (base, answer) = tokio::join!(
            within(
                first.then_some(base_wait),
                wants_base,
                self.context(question, &words)
            ),
            within(
                first.then_some(answer_wait),
                wants_answer,
                self.answer(question, &words)
            ),
        );
        // One of the two is better than nothing.
        let (base, answer) = match (base, answer) {
            (Err(error), Err(_) | Ok(Asked::Not)) | (Ok(Asked::Not), Err(error)) => {
                return Err(error);
            }
            both => both,
        };
        cadence.take(question.turn, base, answer);
        let found = cadence.found();
        let mut all = locked(&self.cadence);
        if all.len() >= MOST_SESSIONS {
            all.clear();
        }
        all.insert(conversation, cadence);
        Ok(found)
    }

    /// What is looked for: the message, or what a model made of it. The first message of a conversation does not wait
    /// for that; the others are asked about behind the answer before them.
    async fn words(&self, question: &Question) -> String {
        let wanted = self.settings.rewrites && question.turn > 1;
        let Some(rewriter) = question.rewriter.as_ref().filter(|_| wanted) else {
            return question.text.clone();
        };
        let message = head(&question.text, MOST_REWRITTEN);
        let rewritten = rewriter.rewritten(&message).await.unwrap_or_default();
        let rewritten: Vec<&str> = rewritten.split_whitespace().collect();
        match rewritten.is_empty() {
            true => question.text.clone(),
            false => head(&rewritten.join(" "), LONGEST_WORDS),
        }
    }

    /// What the session knows of the user.
    async fn context(
        &self,
        question: &Question,
        words: &str,
    ) -> Result<Option<String>, ProviderError> {
        let session = self.session(&question.scene).await?;
        let user = names::user(&self.settings, &question.scene);
        let tokens = self
            .settings
            .context_tokens
            .map(|tokens| tokens.to_string());
        let mut query = vec![
            self.summary(&question.scene),
            ("peer_target", user.as_str()),
            ("peer_perspective", self.settings.agent.as_str()),
        ];
        let asked = head(words, self.settings.dialectic.most_asked);
        if !asked.is_empty() {
            query.push(("search_query", &asked));
        }
        if let Some(tokens) = &tokens {
            query.push(("tokens", tokens));
        }
        let path = self.session_path(&session, "context");
        let context = self.api.get(&path, &query).await?;
        Ok(self.told(&question.scene, &context))
    }

    /// Whether the session's summary is wanted: it tells what anybody in it said.
    pub(super) fn summary(&self, scene: &Scene) -> (&'static str, &'static str) {
        match names::has_others(&self.settings, scene) {
            true => ("summary", "false"),
            false => ("summary", "true"),
        }
    }

    /// The context of a session or a peer in words; nothing when it is empty.
    pub(super) fn told(&self, scene: &Scene, context: &Json) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(card) = context["peer_card"].as_array() {
            let lines = card.iter().filter_map(Json::as_str);
            let lines: Vec<String> = lines.map(|line| format!("- {line}")).collect();
            if !lines.is_empty() {
                parts.push(format!("About the user:\n{}", lines.join("\n")));
            }
        }
        if let Some(model) = text_of(context, &["peer_representation", "representation"]) {
            parts.push(format!("What is thought of the user:\n{model}"));
        }
        let summary = text_of(&context["summary"], &["content"]);
        // A server may send it unasked.
        if let Some(summary) = summary.filter(|_| !names::has_others(&self.settings, scene)) {
            parts.push(format!("Earlier in this session:\n{summary}"));
        }
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// What Honcho answers when it is asked what matters now.
    async fn answer(
        &self,
        question: &Question,
        words: &str,
    ) -> Result<Option<String>, ProviderError> {
        let dialectic = &self.settings.dialectic;
        let message = head(words, dialectic.most_asked);
        let length = question.text.chars().count();
        let mut answer: Option<String> = None;
        for round in 0..dialectic.depth {
            let query = match &answer {
                None => format!(
                    "What do you know about the user that matters for answering their next message well? Be brief. \
                     The message: {message}"
                ),
                Some(so_far) => format!(
                    "An earlier answer about the user was: {so_far}\nWhat in it is wrong, missing or contradictory with \
                     regard to this message? Give the mended answer, briefly. The message: {message}"
                ),
            };
            let level = level(dialectic, round, length);
            let said = self.chat(question, &query, level).await?;
            match said {
                Some(said) => answer = Some(said),
                None => break,
            }
        }
        Ok(answer.map(|answer| head(&answer, dialectic.most)))
    }

    async fn chat(
        &self,
        question: &Question,
        query: &str,
        level: usize,
    ) -> Result<Option<String>, ProviderError> {
        let session = self.session(&question.scene).await?;
        let user = names::user(&self.settings, &question.scene);
        let answer = self.reason(&user, &session, query, level).await?;
        Ok(text_of(&answer, &["content"]).map(str::to_owned))
    }

    /// Asks the agent's model of a peer.
    pub(super) async fn reason(
        &self,
        about: &str,
        session: &str,
        query: &str,
        level: usize,
    ) -> Result<Json, ProviderError> {
        let agent = &self.settings.agent;
        let body = json!({
            "query": query,
            "stream": false,
            "target": (about != agent).then_some(about),
            "session_id": session,
            "reasoning_level": LEVELS.get(level).unwrap_or(&"low"),
        });
        self.api.ask(&self.peer_path(agent, "chat"), body).await
    }
}

/// What became of a question.
#[derive(Debug)]
enum Asked {
    /// It was not due, or took too long for the first turn.
    Not,
    Got(Option<String>),
}

async fn within(
    limit: Option<Duration>,
    wanted: bool,
    asking: impl Future<Output = Result<Option<String>, ProviderError>>,
) -> Result<Asked, ProviderError> {
    if !wanted {
        return Ok(Asked::Not);
    }
    let Some(limit) = limit else {
        return asking.await.map(Asked::Got);
    };
    match tokio::time::timeout(limit, asking).await {
        Ok(got) => got.map(Asked::Got),
        Err(_) => Ok(Asked::Not),
    }
}

/// How hard to think in a round about a message of this length.
fn level(dialectic: &Dialectic, round: usize, length: usize) -> usize {
    let level = dialectic
        .levels
        .get(round)
        .copied()
        .unwrap_or(dialectic.level);
    let more = match length {
        _ if !dialectic.heuristic => 0,
        VERY_LONG.. => 2,
        LONG.. => 1,
        _ => 0,
    };
    // What the user chose stands, even above the cap.
    (level + more).min(dialectic.cap.max(level))
}

/// The first so many characters.
pub(super) fn head(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
