//! `stt`: understanding speech.

use std::collections::BTreeMap;

use super::command_provider::CommandProvider;
use crate::macros::{section, text};
use crate::value::Value;

section! {
    /// Turning voice messages into text.
    pub struct Stt [..rest: Value] {
        /// Turns voice messages into text.
        enabled: bool = true;
        /// Shows the text in the chat.
        echo_transcripts: bool = true;
        /// Service that listens: one of the sections below, `groq`, `xai`, or a name in `providers`.
        provider: String = text("local");
        /// Whisper on this machine.
        local: LocalEar = LocalEar::default();
        /// OpenAI.
        openai: OpenAiEar = OpenAiEar::default();
        /// Mistral.
        mistral: MistralEar = MistralEar::default();
        /// ElevenLabs.
        elevenlabs: ElevenLabsEar = ElevenLabsEar::default();
        /// DeepInfra.
        deepinfra: DeepInfraEar = DeepInfraEar::default();
        /// Programs of yours that listen.
        @unlisted providers: BTreeMap<String, CommandProvider> = BTreeMap::new();
    }
}

section! {
    /// Whisper on this machine.
    pub struct LocalEar [..rest: Value] {
        /// Size of the model.
        model: String = text("base");
        /// Language spoken; found out when empty.
        language: String = String::new();
    }
}

section! {
    /// Transcription by OpenAI.
    pub struct OpenAiEar [..rest: Value] {
        /// Model that listens.
        model: String = text("whisper-1");
    }
}

section! {
    /// Transcription by Mistral.
    pub struct MistralEar [..rest: Value] {
        /// Model that listens.
        model: String = text("voxtral-mini-latest");
    }
}

section! {
    /// Transcription by ElevenLabs.
    pub struct ElevenLabsEar [..rest: Value] {
        /// Model that listens.
        model_id: String = text("scribe_v2");
        /// Language spoken; found out when empty.
        language_code: String = String::new();
        /// Writes down laughter and the like.
        tag_audio_events: bool = false;
        /// Tells speakers apart.
        diarize: bool = false;
    }
}

section! {
    /// Transcription by DeepInfra.
    pub struct DeepInfraEar [..rest: Value] {
        /// Model that listens; a recommended one when empty.
        model: String = String::new();
    }
}
