//! A model that says what texts mean: the states of its tokens, made one vector.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::LocalError;
use crate::gguf::Gguf;
use crate::model::Model;
use crate::one_thread::on_one_thread;
use crate::vocabulary::Vocabulary;

/// Most tokens of a text; its beginning says what it is about.
const MOST_TOKENS: usize = 512;
/// Tokens read in one pass.
const CHUNK: usize = 128;

/// How states become one vector, as files number it.
const NOT_SAID: usize = 0;
const MEAN: usize = 1;
const LAST: usize = 3;

/// A loaded embedding model. Texts are read one after the other, each on one thread.
pub struct Embedder {
    reader: Mutex<Reader>,
}

struct Reader {
    model: Model,
    vocabulary: Vocabulary,
    pooling: Pooling,
    most: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pooling {
    /// The mean of all states.
    Mean,
    /// The state of the last token, which has seen all others.
    Last,
}

impl fmt::Debug for Embedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Embedder").finish_non_exhaustive()
    }
}

impl Embedder {
    /// Loads a model file. Blocks while it reads the file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is no sound GGUF, or needs what the engine does not have.
    pub fn load(path: &Path) -> Result<Self, LocalError> {
        let mut file = Gguf::open(path)?;
        let model = Model::load(&mut file)?;
        let vocabulary = Vocabulary::read(&file)?;
        if vocabulary.len() > model.vocabulary()? {
            let detail = "its vocabulary is larger than its network";
            return Err(LocalError::damaged(path, detail));
        }
        let pooling = match model.shape().pooling {
            None | Some(NOT_SAID | MEAN) => Pooling::Mean,
            Some(LAST) => Pooling::Last,
            Some(other) => {
                let needs = format!("it makes vectors in way {other}, known are {MEAN} and {LAST}");
                return Err(LocalError::unsupported(path, needs));
            }
        };
        Ok(Self {
            reader: Mutex::new(Reader {
                most: model.shape().window.min(MOST_TOKENS),
                model,
                vocabulary,
                pooling,
            }),
        })
    }

    /// What a text means: a vector of length one, or an empty one when the text means nothing to the model.
    /// Blocks; not for async code.
    ///
    /// # Errors
    ///
    /// [`LocalError::Cancelled`] soon after the token fires, or when the arithmetic fails.
    pub fn embed(&self, text: &str, cancel: &CancellationToken) -> Result<Vec<f32>, LocalError> {
        let mut held = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader: &mut Reader = &mut held;
        let wanted = || !cancel.is_cancelled();
        match on_one_thread(wanted, || reader.read(text, cancel)) {
            Some(vector) => vector,
            None if cancel.is_cancelled() => Err(LocalError::Cancelled),
            None => Err(LocalError::Stopped),
        }
    }
}

impl Reader {
    fn read(&mut self, text: &str, cancel: &CancellationToken) -> Result<Vec<f32>, LocalError> {
        let tokens = self.vocabulary.encode_text(text, self.most)?;
        self.model.rewind(0);
        let mut sum: Vec<f32> = Vec::new();
        for chunk in tokens.chunks(CHUNK) {
            let states = self.model.states(chunk, || cancel.is_cancelled())?;
            match self.pooling {
                Pooling::Last => sum = states.into_iter().next_back().unwrap_or_default(),
                Pooling::Mean => {
                    for state in states {
                        sum.resize(state.len(), 0.0);
                        for (sum, part) in sum.iter_mut().zip(state) {
                            *sum += part;
                        }
                    }
                }
            }
        }
        Ok(of_length_one(sum))
    }
}

/// The mean and the sum point the same way; only that counts.
fn of_length_one(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::EPSILON {
        return Vec::new();
    }
    for part in &mut vector {
        *part /= length;
    }
    vector
}
