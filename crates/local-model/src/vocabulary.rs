//! Text to tokens and back, from the vocabulary inside the file.

use std::collections::{HashMap, HashSet};

use candle_core::quantized::gguf_file::Value;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::{NormalizerWrapper, Prepend, Replace, Sequence as Normalizers};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;
use tokenizers::{AddedToken, Tokenizer};

use crate::LocalError;
use crate::gguf::{Gguf, number};

/// Kinds of tokens, as numbered in the file.
const CONTROL: usize = 3;
const USER_DEFINED: usize = 4;
const BYTE: usize = 6;

/// Control tokens that end a turn in one family or another; files name only one of them.
const TURN_ENDS: [&str; 6] = [
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "</s>",
];

/// The space of the older vocabularies.
const LOW_LINE: char = '\u{2581}';

/// How the bytes of a token are written in the vocabulary.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// Every byte as one printable character.
    Bytes,
    /// As text with a mark for the space; single bytes as `<0x0A>`.
    Pieces,
}

/// The vocabulary of a model.
pub(crate) struct Vocabulary {
    tokenizer: Tokenizer,
    tokens: Vec<String>,
    kinds: Vec<usize>,
    spelling: Spelling,
    bytes: HashMap<char, u8>,
    stops: HashSet<u32>,
    begin: Option<u32>,
    add_begin: bool,
    /// The token that is put behind a text, where the file asks for one.
    end: Option<u32>,
}

impl Vocabulary {
    pub(crate) fn read(file: &Gguf) -> Result<Self, LocalError> {
        let damaged = |detail: &str| LocalError::damaged(file.path(), detail);
        let tokens = texts(file.array("tokenizer.ggml.tokens"))
            .ok_or_else(|| damaged("it has no vocabulary"))?;
        let kinds = file.array("tokenizer.ggml.token_type").unwrap_or_default();
        let kinds: Vec<usize> = kinds.iter().map(|kind| number(kind).unwrap_or(1)).collect();
        let (spelling, model) = match file.text("tokenizer.ggml.model") {
            Some("gpt2") => (Spelling::Bytes, byte_pairs(file, &tokens)?),
            Some("llama") => (Spelling::Pieces, scored_pieces(file, &tokens)?),
            other => {
                let kind = other.unwrap_or("unnamed");
                let needs = format!("its vocabulary is of kind `{kind}`, known are gpt2 and llama");
                return Err(LocalError::unsupported(file.path(), needs));
            }
        };
        let mut tokenizer = Tokenizer::new(model);
        prepare(&mut tokenizer, file, spelling)?;
        for (token, kind) in tokens.iter().zip(&kinds) {
            let added = AddedToken::from(token.clone(), *kind == CONTROL).normalized(false);
            let outcome = match *kind {
                CONTROL => tokenizer.add_special_tokens([added]),
                USER_DEFINED => tokenizer.add_tokens([added]),
                _ => continue,
            };
            outcome.map_err(|error| LocalError::damaged(file.path(), error))?;
        }
        let token_id = |key: &str| file.number(key).and_then(|id| u32::try_from(id).ok());
        let mut stops: HashSet<u32> = ["eos_token_id", "eot_token_id", "eom_token_id"]
            .iter()
            .filter_map(|name| token_id(&format!("tokenizer.ggml.{name}")))
            .collect();
        stops.extend(TURN_ENDS.iter().filter_map(|text| {
            let id = tokenizer.token_to_id(text)?;
            let control = kinds.get(usize::try_from(id).ok()?) == Some(&CONTROL);
            control.then_some(id)
        }));
        Ok(Self {
            tokenizer,
            kinds,
            spelling,
            bytes: printable_bytes()
                .map(|(byte, letter)| (letter, byte))
                .collect(),
            stops,
            begin: token_id("tokenizer.ggml.bos_token_id"),
            add_begin: file
                .flag("tokenizer.ggml.add_bos_token")
                .unwrap_or(spelling == Spelling::Pieces),
            end: token_id("tokenizer.ggml.eos_token_id")
                .filter(|_| file.flag("tokenizer.ggml.add_eos_token") == Some(true)),
            tokens,
        })
    }

    /// The tokens of a finished prompt, control tokens included.
    pub(crate) fn encode(&self, text: &str) -> Result<Vec<u32>, LocalError> {
        let encoded = self
            .tokenizer
            .encode_fast(text, false)
            .map_err(|error| LocalError::Template(error.to_string()))?;
        let ids = encoded.get_ids();
        let begin = self
            .begin
            .filter(|id| self.add_begin && ids.first() != Some(id));
        Ok(begin.into_iter().chain(ids.iter().copied()).collect())
    }

    /// The tokens of a text that is no prompt: at most `most`, what is behind them is left out. Control tokens
    /// in it are made harmless.
    pub(crate) fn encode_text(&self, text: &str, most: usize) -> Result<Vec<u32>, LocalError> {
        let mut tokens = self.encode(&self.defused(text))?;
        tokens.truncate(most.saturating_sub(usize::from(self.end.is_some())));
        tokens.extend(self.end);
        Ok(tokens)
    }

    /// Whether a token ends the answer.
    pub(crate) fn stops(&self, token: u32) -> bool {
        self.stops.contains(&token)
    }

    /// How many tokens there are.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The text of a token, for templates.
    pub(crate) fn begin_text(&self) -> &str {
        self.begin.map_or("", |id| self.spelled(id))
    }

    /// The text of the token that ends a turn, for templates.
    pub(crate) fn end_text(&self) -> &str {
        self.stops.iter().min().map_or("", |id| self.spelled(*id))
    }

    /// The bytes a token adds to the answer; a character may need several tokens.
    pub(crate) fn bytes_of(&self, token: u32) -> Vec<u8> {
        let text = self.spelled(token);
        match (self.kind(token), self.spelling) {
            (CONTROL, _) => Vec::new(),
            (USER_DEFINED, _) => text.as_bytes().to_vec(),
            (BYTE, Spelling::Pieces) => byte_named(text).into_iter().collect(),
            (_, Spelling::Pieces) => text.replace(LOW_LINE, " ").into_bytes(),
            (_, Spelling::Bytes) => {
                let letters = text.chars();
                letters
                    .filter_map(|letter| self.bytes.get(&letter).copied())
                    .collect()
            }
        }
    }

    /// Text in which no control token is left, so that a message cannot pretend to be another turn.
    pub(crate) fn defused(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (token, kind) in self.tokens.iter().zip(&self.kinds) {
            if *kind == CONTROL && !token.is_empty() && text.contains(token.as_str()) {
                let first = token.chars().next().map_or(0, char::len_utf8);
                let (head, tail) = token.split_at(first);
                text = text.replace(token.as_str(), &format!("{head}\u{200b}{tail}"));
            }
        }
        text
    }

    fn spelled(&self, token: u32) -> &str {
        let index = usize::try_from(token).unwrap_or(usize::MAX);
        self.tokens.get(index).map_or("", String::as_str)
    }

    fn kind(&self, token: u32) -> usize {
        let index = usize::try_from(token).unwrap_or(usize::MAX);
        self.kinds.get(index).copied().unwrap_or_default()
    }
}

/// The model of newer vocabularies: pairs of tokens in the order in which they are joined.
fn byte_pairs(file: &Gguf, tokens: &[String]) -> Result<BPE, LocalError> {
    let damaged = |detail: String| LocalError::damaged(file.path(), detail);
    let merges = texts(file.array("tokenizer.ggml.merges"))
        .ok_or_else(|| damaged("its vocabulary has no merges".to_owned()))?;
    let merges = merges.iter().map(|merge| {
        let halves = merge.split_once(' ');
        let (left, right) = halves.ok_or_else(|| damaged(format!("merge `{merge}`")))?;
        Ok((left.to_owned(), right.to_owned()))
    });
    let merges = merges.collect::<Result<Vec<_>, LocalError>>()?;
    // Llama 3 takes a word that is in the vocabulary whole, whatever the merges say.
    let whole = matches!(
        file.text("tokenizer.ggml.pre"),
        Some("llama-bpe" | "llama3")
    );
    BPE::builder()
        .vocab_and_merges(numbered(tokens), merges)
        .ignore_merges(whole)
        .build()
        .map_err(|error| damaged(error.to_string()))
}

/// The model of older vocabularies: each token has a score, and the best pair is joined first.
fn scored_pieces(file: &Gguf, tokens: &[String]) -> Result<BPE, LocalError> {
    let damaged = |detail: &str| LocalError::damaged(file.path(), detail);
    let scores = file
        .array("tokenizer.ggml.scores")
        .ok_or_else(|| damaged("its vocabulary has no scores"))?;
    let known: HashSet<&str> = tokens.iter().map(String::as_str).collect();
    let mut merges = Vec::new();
    for (token, score) in tokens.iter().zip(scores) {
        let Value::F32(score) = score else {
            return Err(damaged("its scores are not numbers"));
        };
        for (place, _) in token.char_indices().skip(1) {
            let (left, right) = token.split_at(place);
            if known.contains(left) && known.contains(right) {
                merges.push((*score, left.to_owned(), right.to_owned()));
            }
        }
    }
    merges.sort_by(|a, b| b.0.total_cmp(&a.0));
    let merges = merges
        .into_iter()
        .map(|(_, left, right)| (left, right))
        .collect();
    let mut builder = BPE::builder()
        .vocab_and_merges(numbered(tokens), merges)
        .byte_fallback(true)
        .fuse_unk(true);
    if let Some(unknown) = tokens.iter().find(|token| *token == "<unk>") {
        builder = builder.unk_token(unknown.clone());
    }
    builder
        .build()
        .map_err(|error| LocalError::damaged(file.path(), error))
}

/// Sets what happens to text before it is looked up.
fn prepare(tokenizer: &mut Tokenizer, file: &Gguf, spelling: Spelling) -> Result<(), LocalError> {
    let failed = |error: tokenizers::Error| LocalError::damaged(file.path(), error);
    match spelling {
        Spelling::Pieces => {
            let mut steps: Vec<NormalizerWrapper> = Vec::new();
            if file.flag("tokenizer.ggml.add_space_prefix").unwrap_or(true) {
                steps.push(Prepend::new(LOW_LINE.to_string()).into());
            }
            steps.push(
                Replace::new(" ", LOW_LINE.to_string())
                    .map_err(failed)?
                    .into(),
            );
            tokenizer
                .with_normalizer(Some(Normalizers::new(steps)))
                .map_err(failed)?;
        }
        Spelling::Bytes => {
            let splitter = splitter(file.text("tokenizer.ggml.pre")).map_err(failed)?;
            tokenizer.with_pre_tokenizer(Some(splitter));
        }
    }
    Ok(())
}

/// Cuts text into words the way the model learned it; only the treatment of digits differs.
fn splitter(kind: Option<&str>) -> tokenizers::Result<PreTokenizerWrapper> {
    let digits = match kind {
        Some("llama-bpe" | "llama3" | "smaug-bpe") => r"\p{N}{1,3}",
        Some("qwen2" | "qwen35" | "deepseek-r1-qwen") => r"\p{N}",
        Some("smollm" | "starcoder" | "refact" | "codeshell") => {
            let steps = vec![
                Digits::new(true).into(),
                ByteLevel::new(false, true, true).into(),
            ];
            return Ok(Sequence::new(steps).into());
        }
        _ => return Ok(ByteLevel::new(false, true, true).into()),
    };
    let words = format!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    );
    let split = Split::new(
        SplitPattern::Regex(words),
        SplitDelimiterBehavior::Isolated,
        false,
    )?;
    let steps = vec![split.into(), ByteLevel::new(false, true, false).into()];
    Ok(Sequence::new(steps).into())
}

fn numbered(tokens: &[String]) -> Vocab {
    tokens.iter().cloned().zip(0..).collect()
}

fn texts(values: Option<&[Value]>) -> Option<Vec<String>> {
    let texts = values?.iter().map(|value| match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

/// The byte of a token such as `<0x0A>`.
fn byte_named(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(digits, 16).ok()
}

/// Each byte with the character that stands for it: itself when it can be seen, else the next free one.
fn printable_bytes() -> impl Iterator<Item = (u8, char)> {
    let mut free = '\u{100}'..;
    (0..=u8::MAX).map(move |byte| match byte {
        b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => (byte, char::from(byte)),
        _ => (byte, free.next().unwrap_or_default()),
    })
}
