//! One turn at a time in a conversation, whichever program runs it: what another one has under way is neither lost nor
//! closed, and its rows are not torn apart.

use std::time::Duration;

use hermes_core::{Event, InboxId, Op, TurnEnd};
use hermes_store::{OwnTurn, StoreError, TurnTaken};

use super::{Input, Surroundings};

/// How often somebody who waits looks whether it is his turn.
const LOOK: Duration = Duration::from_millis(50);
/// Who waits no longer than this says nothing about it.
const IN_SILENCE: Duration = Duration::from_millis(300);
/// Who waits longer than this gives up.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// Takes the turn, and waits for it while another program has one under way. What was typed is a row before it is said
/// that it waits. `Err` says how a turn ends that never began.
pub(super) async fn wait(
    around: &mut Surroundings<'_>,
    input: &Input,
) -> Result<Result<OwnTurn, TurnEnd>, StoreError> {
    let services = around.services;
    let store = &services.store;
    let mut waited = Duration::ZERO;
    let mut own_rows = Vec::new();
    let mut is_told = false;
    loop {
        let process = match store.take_turn(&around.spec.id) {
            TurnTaken::Ours(turn) if waited.is_zero() => return Ok(Ok(turn)),
            TurnTaken::Ours(turn) => {
                // It may go on elsewhere by now.
                let tip = store.resolve(around.spec.id.as_str()).await;
                let Some(session) = tip.ok().filter(|tip| *tip != around.spec.id) else {
                    return Ok(Ok(turn));
                };
                around.spec.id = session.clone();
                around.events.send(Event::SessionChanged { session }).await;
                continue;
            }
            TurnTaken::Theirs { process } => process,
        };
        if waited >= LONGEST {
            store.withdraw(own_rows).await?;
            return Ok(Err(too_long(process)));
        }
        if waited >= IN_SILENCE && !is_told {
            is_told = true;
            own_rows = line_up(around, input).await?;
            let text = format!(
                "{} is working in this conversation; waiting for it …",
                who(process)
            );
            around.events.send(Event::Notice { text }).await;
        }
        tokio::select! {
            biased;
            () = around.cancel.cancelled() => {
                give_up(around, input).await?;
                return Ok(Err(TurnEnd::Interrupted));
            }
            () = tokio::time::sleep(LOOK) => waited += LOOK,
        }
    }
}

/// Has what was typed wait where a kill cannot reach it, unless it does already.
async fn line_up(around: &mut Surroundings<'_>, input: &Input) -> Result<Vec<InboxId>, StoreError> {
    let Some(op) = op(input).filter(|_| around.rows.is_empty()) else {
        return Ok(Vec::new());
    };
    let store = &around.services.store;
    match store.enqueue(&around.spec.id, &op).await {
        Ok(row) => {
            around.rows = vec![row];
            Ok(vec![row])
        }
        // Whoever has the turn is about to make it.
        Err(StoreError::NoSuchSession { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Stop means stop: what waited starts nothing, and is not lost without a word. Where the session ends, it waits for
/// the next one.
async fn give_up(around: &mut Surroundings<'_>, input: &Input) -> Result<(), StoreError> {
    if around.stop.is_cancelled() {
        return Ok(());
    }
    let rows = std::mem::take(&mut around.rows);
    around.services.store.withdraw(rows).await?;
    let said = match input {
        Input::Message { text, .. } => text.clone(),
        Input::Skills(wish) => wish.said(),
        Input::Retry
        | Input::Undo { .. }
        | Input::Compact { .. }
        | Input::PreviewCompact { .. }
        | Input::News => return Ok(()),
    };
    let text = format!("Not delivered, because you stopped: {said}");
    around.events.send(Event::Notice { text }).await;
    Ok(())
}

fn op(input: &Input) -> Option<Op> {
    match input {
        Input::Message { text, media } => Some(Op::UserMessage {
            text: text.clone(),
            media: media.clone(),
        }),
        Input::Skills(wish) => Some(Op::UseSkills {
            skills: wish.skills.clone(),
            instruction: wish.instruction.clone(),
            text: wish.text.clone(),
            media: wish.media.clone(),
        }),
        Input::Retry
        | Input::Undo { .. }
        | Input::Compact { .. }
        | Input::PreviewCompact { .. }
        | Input::News => None,
    }
}

fn who(process: Option<u32>) -> String {
    match process {
        Some(process) => format!("Another program (process {process})"),
        None => "Another program".to_owned(),
    }
}

fn too_long(process: Option<u32>) -> TurnEnd {
    let minutes = LONGEST.as_secs() / 60;
    TurnEnd::Failed {
        message: format!(
            "{} has been working in this conversation for {minutes} minutes",
            who(process).to_lowercase()
        ),
        hint: Some("stop it there, or say it in a new conversation".to_owned()),
    }
}
