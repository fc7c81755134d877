//! A model file whose words mean what the test says.
//!
//! The network does nothing but look its tokens up: every layer adds zero, so the state of a token is its row in
//! the table of words. Words of one group have the same row, rows of two groups have nothing in common, and all
//! other letters mean nothing. A real engine reads it like any other file.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};

/// Dimensions of a state.
const WIDTH: usize = 32;
/// Where tensors may begin.
const ALIGNMENT: usize = 32;
/// Kinds of tokens, as files number them.
const PLAIN: u32 = 1;
const WORD: u32 = 4;

/// Writes a model of the llama family in which the words of each group mean the same.
///
/// Words are found wherever they stand, also inside of longer ones, in the very case they are written in.
pub fn write_meanings(path: &Path, groups: &[&[&str]]) -> anyhow::Result<()> {
    ensure!(groups.len() <= WIDTH, "there are {WIDTH} meanings");
    let letters = letters().into_iter();
    let mut tokens: Vec<(String, u32)> = letters.map(|letter| (letter, PLAIN)).collect();
    let mut table = vec![0f32; tokens.len() * WIDTH];
    for (meaning, group) in groups.iter().enumerate() {
        for word in *group {
            tokens.push(((*word).to_owned(), WORD));
            table.extend((0..WIDTH).map(|part| f32::from(u8::from(part == meaning))));
        }
    }
    let count = tokens.len();
    let mut file = File::default();
    file.text("general.architecture", "llama");
    file.text("general.name", "meanings");
    file.number("llama.block_count", 1);
    file.number("llama.context_length", 512);
    file.number("llama.embedding_length", WIDTH);
    file.number("llama.attention.head_count", 1);
    file.number("llama.pooling_type", 1);
    file.float("llama.attention.layer_norm_rms_epsilon", 1e-5);
    file.text("tokenizer.ggml.model", "gpt2");
    file.words(&tokens);
    file.tensor("token_embd.weight", &[count, WIDTH], table);
    file.tensor("output_norm.weight", &[WIDTH], vec![1.0; WIDTH]);
    for norm in ["attn_norm", "ffn_norm"] {
        file.tensor(&format!("blk.0.{norm}.weight"), &[WIDTH], vec![1.0; WIDTH]);
    }
    for silent in [
        "attn_q",
        "attn_k",
        "attn_v",
        "attn_output",
        "ffn_gate",
        "ffn_up",
        "ffn_down",
    ] {
        let name = format!("blk.0.{silent}.weight");
        file.tensor(&name, &[WIDTH, WIDTH], vec![0.0; WIDTH * WIDTH]);
    }
    fs::write(path, file.bytes()).with_context(|| format!("could not write {}", path.display()))
}

/// The characters that stand for the bytes in such vocabularies: themselves where they can be seen.
fn letters() -> Vec<String> {
    let mut free = '\u{100}'..;
    let letters = (0u8..=255).map(|byte| match byte {
        b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => Some(char::from(byte)),
        _ => free.next(),
    });
    letters.flatten().map(String::from).collect()
}

/// A file in the making.
#[derive(Default)]
struct File {
    entries: u64,
    metadata: Vec<u8>,
    tensors: Vec<(String, Vec<usize>, Vec<f32>)>,
}

impl File {
    fn key(&mut self, key: &str, kind: u32) {
        self.entries += 1;
        put_text(&mut self.metadata, key);
        self.metadata.extend(kind.to_le_bytes());
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key, 8);
        put_text(&mut self.metadata, value);
    }

    fn number(&mut self, key: &str, value: usize) {
        self.key(key, 4);
        self.metadata.extend((value as u32).to_le_bytes());
    }

    fn float(&mut self, key: &str, value: f32) {
        self.key(key, 6);
        self.metadata.extend(value.to_le_bytes());
    }

    fn list(&mut self, key: &str, kind: u32, length: usize) {
        self.key(key, 9);
        self.metadata.extend(kind.to_le_bytes());
        self.metadata.extend((length as u64).to_le_bytes());
    }

    fn words(&mut self, tokens: &[(String, u32)]) {
        self.list("tokenizer.ggml.tokens", 8, tokens.len());
        for (token, _) in tokens {
            put_text(&mut self.metadata, token);
        }
        self.list("tokenizer.ggml.token_type", 4, tokens.len());
        for (_, kind) in tokens {
            self.metadata.extend(kind.to_le_bytes());
        }
        self.list("tokenizer.ggml.merges", 8, 0);
    }

    fn tensor(&mut self, name: &str, shape: &[usize], numbers: Vec<f32>) {
        self.tensors
            .push((name.to_owned(), shape.to_vec(), numbers));
    }

    fn bytes(self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3u32.to_le_bytes());
        bytes.extend((self.tensors.len() as u64).to_le_bytes());
        bytes.extend(self.entries.to_le_bytes());
        bytes.extend(self.metadata);
        let mut place = 0;
        for (name, shape, numbers) in &self.tensors {
            put_text(&mut bytes, name);
            bytes.extend((shape.len() as u32).to_le_bytes());
            // The innermost dimension comes first.
            for size in shape.iter().rev() {
                bytes.extend((*size as u64).to_le_bytes());
            }
            bytes.extend(0u32.to_le_bytes());
            bytes.extend((place as u64).to_le_bytes());
            place += (numbers.len() * 4).next_multiple_of(ALIGNMENT);
        }
        for (_, _, numbers) in self.tensors {
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
            bytes.extend(numbers.into_iter().flat_map(f32::to_le_bytes));
        }
        bytes
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}
