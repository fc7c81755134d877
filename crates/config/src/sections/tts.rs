//! `tts`: speaking.

use std::collections::BTreeMap;

use super::command_provider::CommandProvider;
use crate::macros::{section, text};
use crate::value::Value;

section! {
    /// Turning text into speech.
    pub struct Tts [..rest: Value] {
        /// Service that speaks: one of the sections below, or a name in `providers`.
        provider: String = text("edge");
        /// Microsoft Edge, free of charge.
        edge: EdgeVoice = EdgeVoice::default();
        /// ElevenLabs.
        elevenlabs: ElevenLabsVoice = ElevenLabsVoice::default();
        /// OpenAI.
        openai: OpenAiVoice = OpenAiVoice::default();
        /// Google Gemini.
        gemini: GeminiVoice = GeminiVoice::default();
        /// xAI.
        xai: XaiVoice = XaiVoice::default();
        /// Mistral.
        mistral: MistralVoice = MistralVoice::default();
        /// MiniMax.
        minimax: MiniMaxVoice = MiniMaxVoice::default();
        /// KittenTTS on this machine.
        kittentts: KittenVoice = KittenVoice::default();
        /// NeuTTS on this machine.
        neutts: NeuVoice = NeuVoice::default();
        /// Piper on this machine.
        piper: PiperVoice = PiperVoice::default();
        /// DeepInfra.
        deepinfra: DeepInfraVoice = DeepInfraVoice::default();
        /// Programs of yours that speak.
        @unlisted providers: BTreeMap<String, CommandProvider> = BTreeMap::new();
    }
}

section! {
    /// Speech by Microsoft Edge.
    pub struct EdgeVoice [..rest: Value] {
        /// Name of the voice.
        voice: String = text("en-US-AriaNeural");
    }
}

section! {
    /// Speech by ElevenLabs.
    pub struct ElevenLabsVoice [..rest: Value] {
        /// Id of the voice.
        voice_id: String = text("pNInz6obpgDQGcFmaJgB");
        /// Model that speaks.
        model_id: String = text("eleven_multilingual_v2");
    }
}

section! {
    /// Speech by OpenAI.
    pub struct OpenAiVoice [..rest: Value] {
        /// Model that speaks.
        model: String = text("gpt-4o-mini-tts");
        /// Name of the voice.
        voice: String = text("alloy");
        /// Address of the API, in place of OpenAI's own.
        @unlisted base_url: String = String::new();
    }
}

section! {
    /// Speech by Google Gemini.
    pub struct GeminiVoice [..rest: Value] {
        /// Model that speaks.
        model: String = text("gemini-2.5-flash-preview-tts");
        /// Name of the voice.
        voice: String = text("Kore");
        /// Lets a model mark the text up for more expression first.
        audio_tags: bool = false;
        /// File that describes how the voice should sound.
        persona_prompt_file: String = String::new();
    }
}

section! {
    /// Speech by xAI.
    pub struct XaiVoice [..rest: Value] {
        /// Name of the voice.
        voice_id: String = text("eve");
        /// Language of the text.
        language: String = text("en");
        /// Speed, 1 being the usual one.
        speed: f64 = 1.0, in 0.1..=10.0;
        /// Lets a model mark the text up for more expression first.
        auto_speech_tags: bool = false;
        /// From 0 for quality to 2 for an early start.
        optimize_streaming_latency: u32 = 0, in 0..=4;
        /// Samples a second.
        sample_rate: u32 = 24_000, in 1_000..=384_000;
        /// Bits a second.
        bit_rate: u32 = 128_000, in 1_000..=10_000_000;
    }
}

section! {
    /// Speech by Mistral.
    pub struct MistralVoice [..rest: Value] {
        /// Model that speaks.
        model: String = text("voxtral-mini-tts-2603");
        /// Id of the voice.
        voice_id: String = text("c69964a6-ab8b-4f8a-9465-ec0925096ec8");
    }
}

section! {
    /// Speech by MiniMax.
    pub struct MiniMaxVoice [..rest: Value] {
        /// Model that speaks.
        model: String = text("speech-02-hd");
        /// Name of the voice.
        voice_id: String = text("English_expressive_narrator");
    }
}

section! {
    /// Speech by KittenTTS on this machine.
    pub struct KittenVoice [..rest: Value] {
        /// Model that speaks.
        model: String = text("KittenML/kitten-tts-nano-0.8-int8");
        /// Name of the voice.
        voice: String = text("Jasper");
    }
}

section! {
    /// Speech by NeuTTS on this machine.
    pub struct NeuVoice [..rest: Value] {
        /// Recording of the voice to imitate; a built-in one when empty.
        ref_audio: String = String::new();
        /// What is said in the recording.
        ref_text: String = String::new();
        /// Model that speaks.
        model: String = text("neuphonic/neutts-air-q4-gguf");
        /// Processor it runs on.
        device: String = text("cpu");
    }
}

section! {
    /// Speech by Piper on this machine.
    pub struct PiperVoice [..rest: Value] {
        /// Name of the voice.
        voice: String = text("en_US-lessac-medium");
    }
}

section! {
    /// Speech by DeepInfra.
    pub struct DeepInfraVoice [..rest: Value] {
        /// Model that speaks; a recommended one when empty.
        model: String = String::new();
        /// Name of the voice.
        voice: String = text("default");
    }
}
