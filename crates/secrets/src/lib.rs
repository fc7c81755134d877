//! Secrets that know where they may go, and redaction of everything else.
//!
//! A [`Secret`] carries its value together with the origins and child processes that may see it; reading it is an
//! explicit call that names the reader. A [`Redactor`] removes known values and well-known key shapes from text.
//! This crate does no IO, reads no environment and no clock. It deliberately has no way to serialise a secret:
//! whoever stores one calls [`Secret::expose_for_storage`].
#![deny(missing_docs)]

mod encodings;
mod handle;
mod known;
mod marker;
mod mask;
mod origin;
mod redactor;
mod secret;
mod shapes;
mod spans;
mod writer;

pub use handle::RedactorHandle;
pub use marker::{contains_marker, markers};
pub use mask::mask;
pub use origin::{Origin, OriginError, OriginPattern};
pub use redactor::{Redactor, Scope};
pub use secret::{
    ChildName, Secret, SecretBuilder, SecretError, SecretName, WrongChild, WrongOrigin,
};
pub use shapes::{SHAPES, Shape, ShapeClass};
pub use writer::RedactingWriter;
