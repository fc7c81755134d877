//! Models and how to reach them.
//!
//! | module | holds |
//! |---|---|
//! | [`wire`] | the five protocols: pure encoders and decoders |
//! | `schema` | tool schemas in the form each provider accepts |
//! | `quirks` | how a provider differs from its protocol, as data |
//! | `error` | how a call can fail |
//! | [`classify`] | what a failure means |
//! | [`failover`] | what to do about it |
//! | [`profile`] | the providers, one data file each |
//! | [`alias`] | what people type to name a model |
//! | [`resolve`] | from settings, keys and flags to a route |
//! | [`metadata`] | windows, limits and prices |
//! | `cloud` | credentials that are made for a while: Google, Microsoft, AWS roles |
//! | [`bedrock`] | which models an account of AWS may use |
//! | [`detect`] | servers on this machine |
//! | [`nearby`] | their windows: looked up, and asked for |
//!
//! An encoder turns a [`hermes_core::ModelRequest`] into a body, a decoder turns frames into
//! [`hermes_core::ModelEvent`]s; neither does IO, waits or retries. One transport sends the bodies.
//! What to do after a failure is decided by one pure function. What is said, which tools are offered and how a turn
//! goes on are decided by the engine.

pub mod alias;
mod allowance;
mod answer;
pub mod bedrock;
mod caller;
pub mod classify;
mod cloud;
mod course;
mod delivered;
pub mod detect;
#[cfg(feature = "local-model")]
mod embedded;
#[cfg(not(feature = "local-model"))]
#[path = "embedded_absent.rs"]
mod embedded;
mod error;
pub mod failover;
pub mod keys;
mod lessons;
pub mod metadata;
mod model;
pub mod nearby;
pub mod oauth;
mod patience;
mod picture;
pub mod profile;
mod quiet;
mod quirks;
mod refused;
pub mod resolve;
mod route;
mod schema;
mod transport;
pub mod wire;

pub use allowance::{Allowance, Allowances, Credits, Limit};
pub use answer::{Answer, AskedCall};
pub use caller::{Addressed, Ask, CallEnd, CallEvent, CallFailure, CallSink, Caller};
pub use cloud::Mint;
pub use course::Course;
pub use embedded::LocalModels;
pub use error::{ModelError, VendorError};
pub use failover::COMPACTIONS;
pub use lessons::Learned;
pub use patience::{PatienceSettings, patience};
pub use picture::Pictures;
pub use quirks::{
    Beta, CacheStyle, MaxTokensKey, Quirks, ReasoningReplay, ReasoningStyle, SchemaTarget,
    Temperature,
};
pub use route::{Address, Auth, Endpoint, Limits, Route, SetPatience, Why, WindowSource};
pub use schema::{Schemas, sanitize};
pub use transport::{HttpModel, Transport};

/// The file name of the small model that `model pull` fetches.
pub const SMALL_MODEL: &str = "smollm2-135m-instruct-q8_0.gguf";
