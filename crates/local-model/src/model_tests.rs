//! Small invented networks of each family: reading tokens together or one by one must come to the same.

use std::fs::File;
use std::path::Path;

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use hermes_core::{Random, SeededRandom};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Model;
use crate::gguf::Gguf;
use crate::vocabulary::Vocabulary;
use crate::worker::Stop;

const WIDTH: usize = 64;
const INNER: usize = 96;
const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const TOKENS: usize = 32;

fn metadata(family: &str, extra: &[(&str, Value)]) -> Vec<(String, Value)> {
    let number = |count: usize| Value::U32(u32::try_from(count).unwrap());
    let mut metadata = vec![
        (
            "general.architecture".to_owned(),
            Value::String(family.to_owned()),
        ),
        (format!("{family}.block_count"), number(2)),
        (format!("{family}.context_length"), number(512)),
        (format!("{family}.embedding_length"), number(WIDTH)),
        (format!("{family}.attention.head_count"), number(HEADS)),
        (
            format!("{family}.attention.head_count_kv"),
            number(KV_HEADS),
        ),
        (
            format!("{family}.attention.layer_norm_rms_epsilon"),
            Value::F32(1e-5),
        ),
    ];
    metadata.extend(
        extra
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone())),
    );
    metadata
}

fn write(path: &Path, family: &str, extra: &[(&str, Value)]) {
    let random = SeededRandom::new(11);
    let mut tensors: Vec<(String, QTensor)> = Vec::new();
    let mut add = |name: String, rows: usize, columns: usize| {
        let numbers = std::iter::repeat_with(|| random.below(2000) as f32 / 5000.0 - 0.2);
        let numbers: Vec<f32> = numbers.take(rows * columns).collect();
        let (shape, form) = match rows {
            1 => (vec![columns], GgmlDType::F32),
            _ => (vec![rows, columns], GgmlDType::Q8_0),
        };
        let tensor = Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap();
        tensors.push((name, QTensor::quantize(&tensor, form).unwrap()));
    };
    let size = WIDTH / HEADS;
    add("token_embd.weight".into(), TOKENS, WIDTH);
    add("output_norm.weight".into(), 1, WIDTH);
    for layer in 0..2 {
        let name = |part: &str| format!("blk.{layer}.{part}");
        add(name("attn_norm.weight"), 1, WIDTH);
        add(name("ffn_norm.weight"), 1, WIDTH);
        add(name("attn_q.weight"), WIDTH, WIDTH);
        add(name("attn_k.weight"), KV_HEADS * size, WIDTH);
        add(name("attn_v.weight"), KV_HEADS * size, WIDTH);
        add(name("attn_output.weight"), WIDTH, WIDTH);
        add(name("ffn_gate.weight"), INNER, WIDTH);
        add(name("ffn_up.weight"), INNER, WIDTH);
        add(name("ffn_down.weight"), WIDTH, INNER);
        if family == "qwen2" {
            add(name("attn_q.bias"), 1, WIDTH);
            add(name("attn_k.bias"), 1, KV_HEADS * size);
            add(name("attn_v.bias"), 1, KV_HEADS * size);
        }
        if family == "qwen3" {
            add(name("attn_q_norm.weight"), 1, size);
            add(name("attn_k_norm.weight"), 1, size);
        }
    }
    let metadata = metadata(family, extra);
    let metadata: Vec<_> = metadata
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .collect();
    let tensors: Vec<_> = tensors
        .iter()
        .map(|(name, tensor)| (name.as_str(), tensor))
        .collect();
    gguf_file::write(&mut File::create(path).unwrap(), &metadata, &tensors).unwrap();
}

#[test]
fn reading_at_once_and_one_by_one_agree_in_every_family() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.gguf");
    // The reader of the answer must stay, or it counts as stopped.
    let (events, _reader) = mpsc::channel(1);
    let stop = Stop::new(CancellationToken::new(), CancellationToken::new(), events);
    let tokens: Vec<u32> = (0..40).map(|index| index * 7 % 32).collect();
    for family in ["llama", "qwen2", "qwen3"] {
        write(&path, family, &[]);
        let mut model = Model::load(&mut Gguf::open(&path).unwrap()).unwrap();
        let at_once = model.forward(&tokens, &stop).unwrap();
        assert_eq!(model.keep_common(&tokens[..10]), 10);
        model.forward(&tokens[10..25], &stop).unwrap();
        let mut one_by_one = Vec::new();
        for token in &tokens[25..] {
            one_by_one = model.forward(&[*token], &stop).unwrap();
        }
        let furthest = at_once.iter().zip(&one_by_one).map(|(a, b)| (a - b).abs());
        let furthest = furthest.fold(0.0, f32::max);
        let largest = at_once
            .iter()
            .fold(0f32, |most, score| most.max(score.abs()));
        assert!(
            furthest < largest * 0.05,
            "{family}: {furthest} of {largest}"
        );
        assert!(at_once.iter().any(|score| *score != at_once[0]));
    }
}

#[test]
fn older_vocabularies_are_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.gguf");
    let tokens = [
        "<unk>",
        "<s>",
        "</s>",
        "<0x0A>",
        "<0xC3>",
        "<0xA9>",
        "\u{2581}",
        "a",
        "b",
        "ab",
        "\u{2581}ab",
        "c",
    ];
    let kinds = [2, 3, 3, 6, 6, 6, 1, 1, 1, 1, 1, 1];
    let texts = tokens.map(|token| Value::String(token.to_owned()));
    let scores = [
        0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -9.0, -9.0, -9.0, -1.0, -2.0, -9.0,
    ];
    let extra = [
        ("tokenizer.ggml.model", Value::String("llama".to_owned())),
        ("tokenizer.ggml.tokens", Value::Array(texts.to_vec())),
        (
            "tokenizer.ggml.token_type",
            Value::Array(kinds.map(Value::I32).to_vec()),
        ),
        (
            "tokenizer.ggml.scores",
            Value::Array(scores.map(Value::F32).to_vec()),
        ),
        ("tokenizer.ggml.bos_token_id", Value::U32(1)),
        ("tokenizer.ggml.eos_token_id", Value::U32(2)),
    ];
    write(&path, "llama", &extra);
    let vocabulary = Vocabulary::read(&Gguf::open(&path).unwrap()).unwrap();
    let ids = vocabulary.encode("ab cé\n</s>").unwrap();
    assert_eq!(ids, [1, 10, 6, 11, 4, 5, 3, 2]);
    let bytes: Vec<u8> = ids.iter().flat_map(|id| vocabulary.bytes_of(*id)).collect();
    assert_eq!(String::from_utf8(bytes).unwrap(), " ab cé\n");
    assert!(vocabulary.stops(2) && !vocabulary.stops(10));
}
