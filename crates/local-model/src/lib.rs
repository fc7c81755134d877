//! The built-in model: answers without a provider, from a GGUF file, on this machine's processor.
//!
//! [`Engine`] loads a file of the llama or qwen family and streams answers, [`Embedder`] one of the same
//! families and says what texts mean, [`requantize`] rewrites a file in the form that is fastest here, [`pull`]
//! fetches the small model everybody may use. What a file says about itself (vocabulary, chat template, stop
//! tokens, window) is taken from the file.
//!
//! Left out: graphics processors, pictures, mixtures of experts, and the mapping to `ModelClient`, which
//! belongs to the crate that knows the other models too.

#![deny(missing_docs)]

mod attention;
mod embedder;
mod engine;
mod error;
mod fit;
mod gguf;
mod layer;
mod linear;
mod model;
mod one_thread;
pub mod pull;
mod requantize;
mod sample;
mod shape;
mod template;
mod text;
mod vocabulary;
mod wide;
mod worker;

pub use embedder::Embedder;
pub use engine::{
    Answer, AnswerEvent, ChatMessage, ChatRequest, Engine, Finish, LoadOptions, ModelInfo, Reason,
    Sampling, Threads,
};
pub use error::LocalError;
pub use requantize::requantize;
