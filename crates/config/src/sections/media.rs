//! `image_gen` and `video_gen`: making pictures and films.

use crate::macros::section;
use crate::value::Value;

section! {
    /// Making pictures or films.
    pub struct MediaGeneration [..rest: Value] {
        /// Service that makes them; the first usable one when empty.
        @unlisted provider: String = String::new();
        /// Model that makes them; the service's own when empty.
        @unlisted model: String = String::new();
    }
}
