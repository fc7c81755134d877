//! Changes of memory that waited for a yes.

use hermes_core::SessionId;
use hermes_memory::{
    Action, Changed, Entries, External, Footing, Memory, MemoryError, Operation, Scene, Target,
};
use serde::{Deserialize, Serialize};

use crate::staging::{Staged, Staging, StagingError, Subsystem};

/// A change as it waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Payload")]
pub struct StagedChange {
    /// The file.
    pub target: Target,
    /// The steps.
    pub operations: Vec<Operation>,
    /// The conversation it came from.
    #[serde(flatten)]
    pub scene: Option<Scene>,
}

/// The same as it is read: with its steps, or with the one step of a change that waits since the reference ran.
#[derive(Deserialize)]
#[serde(untagged)]
enum Payload {
    Steps {
        target: Target,
        operations: Vec<Operation>,
        #[serde(flatten)]
        scene: Option<Scene>,
    },
    Step {
        target: Target,
        action: Action,
        content: Option<String>,
        old_text: Option<String>,
    },
}

impl From<Payload> for StagedChange {
    fn from(payload: Payload) -> Self {
        match payload {
            Payload::Steps {
                target,
                operations,
                scene,
            } => Self {
                target,
                operations,
                scene,
            },
            Payload::Step {
                target,
                action,
                content,
                old_text,
            } => Self {
                target,
                operations: vec![Operation {
                    action,
                    content,
                    old_text,
                }],
                scene: None,
            },
        }
    }
}

impl StagedChange {
    fn session(&self) -> Option<&str> {
        self.scene.as_ref().map(|scene| scene.session.as_str())
    }

    /// What it brings into the file.
    pub(super) fn contents(&self) -> Vec<String> {
        let contents = self.operations.iter();
        contents.filter_map(|one| one.content.clone()).collect()
    }
}

/// The steps of the changes of a file that wait from the conversation of a change, the oldest first; only those before
/// `until`, if that is named.
pub(super) fn waiting(
    staging: &Staging,
    change: &StagedChange,
    until: Option<&Staged>,
) -> Vec<Vec<Operation>> {
    let Some(session) = change.session() else {
        return Vec::new();
    };
    let all = staging.list(Subsystem::Memory).into_iter();
    all.take_while(|one| until.is_none_or(|until| one.id != until.id))
        .filter_map(|one| serde_json::from_value::<StagedChange>(one.payload).ok())
        .filter(|one| one.target == change.target && one.session() == Some(session))
        .map(|one| one.operations)
        .collect()
}

/// Why a change that waited was not made. It goes on waiting.
#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    /// It is none that we wrote.
    #[error("{id} does not hold a change of memory")]
    Unreadable {
        id: String,
        #[source]
        source: serde_json::Error,
    },
    /// It cannot be made now.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// It cannot be made before another one that waits.
    #[error(transparent)]
    Early(MemoryError),
    /// It was made and could not be let go.
    #[error(transparent)]
    Staging(#[from] StagingError),
}

impl ApproveError {
    /// The next step.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { id, .. } => format!("hermes memory reject {id} lets it go"),
            Self::Memory(error) => error.hint(),
            Self::Early(_) => {
                "approve what it builds on first: hermes memory pending lists it".to_owned()
            }
            Self::Staging(error) => error.hint(),
        }
    }
}

/// Makes a change that waited, and lets it go. The external memory hears of it with the next conversation. Blocks
/// while another process writes.
pub fn approve_memory(
    memory: &Memory,
    external: Option<&External>,
    staging: &Staging,
    staged: &Staged,
) -> Result<Changed, ApproveError> {
    let change: StagedChange =
        serde_json::from_value(staged.payload.clone()).map_err(|source| {
            let id = staged.id.clone();
            ApproveError::Unreadable { id, source }
        })?;
    let scene = change.scene.as_ref();
    let session = scene.and_then(|scene| SessionId::try_from(scene.session.clone()).ok());
    let (target, steps) = (change.target, &change.operations);
    let changed = memory
        .change(target, steps, staged.origin, session.as_ref())
        .map_err(|error| {
            let before = waiting(staging, &change, Some(staged));
            match memory.rehearse(target, &before, steps) {
                Ok(Footing::Waiting) => ApproveError::Early(error),
                Ok(Footing::File) | Err(_) => error.into(),
            }
        })?;
    if let (Some(external), Some(scene), Some(_)) = (external, scene, changed.id) {
        let entries = Entries {
            new: change.contents(),
            gone: changed.gone.clone(),
        };
        external.leave_written(scene, target.word(), entries);
    }
    staging.remove(staged)?;
    Ok(changed)
}
