//! Reading a GGUF file: typed access to what it says about itself, and its tensors.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use candle_core::Device;
use candle_core::quantized::QTensor;
use candle_core::quantized::gguf_file::{Content, Value};

use crate::LocalError;

const MAGIC: &[u8; 4] = b"GGUF";
const READ_BUFFER: usize = 1 << 20;

/// An open model file.
pub(crate) struct Gguf {
    path: PathBuf,
    reader: BufReader<File>,
    content: Content,
}

impl Gguf {
    /// Opens a file and reads its header.
    pub(crate) fn open(path: &Path) -> Result<Self, LocalError> {
        let failed = |error| LocalError::file(path, error);
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(failed(ErrorKind::IsADirectory.into()));
        }
        let mut reader = BufReader::with_capacity(READ_BUFFER, file);
        let mut magic = [0; MAGIC.len()];
        match reader.read_exact(&mut magic) {
            Ok(()) if magic == *MAGIC => {}
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(failed(error)),
            Ok(()) | Err(_) => return Err(LocalError::NotGguf(path.to_owned())),
        }
        reader.seek(SeekFrom::Start(0)).map_err(failed)?;
        let content =
            Content::read(&mut reader).map_err(|error| LocalError::damaged(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            reader,
            content,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn metadata(&self) -> impl Iterator<Item = (&str, &Value)> {
        let entries = self.content.metadata.iter();
        entries.map(|(key, value)| (key.as_str(), value))
    }

    pub(crate) fn tensor_names(&self) -> impl Iterator<Item = &str> {
        self.content.tensor_infos.keys().map(String::as_str)
    }

    /// Tensors in the order of the file, so that reading them all is one pass.
    pub(crate) fn tensors_by_place(&self) -> Vec<String> {
        let mut names: Vec<_> = self.content.tensor_infos.iter().collect();
        names.sort_by_key(|(_, info)| info.offset);
        names.into_iter().map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn has(&self, tensor: &str) -> bool {
        self.content.tensor_infos.contains_key(tensor)
    }

    pub(crate) fn tensor(&mut self, name: &str) -> Result<QTensor, LocalError> {
        self.content
            .tensor(&mut self.reader, name, &Device::Cpu)
            .map_err(|error| LocalError::damaged(&self.path, error))
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.content.metadata.get(key)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn number(&self, key: &str) -> Option<usize> {
        self.content.metadata.get(key).and_then(number)
    }

    pub(crate) fn float(&self, key: &str) -> Option<f32> {
        match self.content.metadata.get(key)? {
            Value::F32(number) => Some(*number),
            Value::F64(number) => Some(*number as f32),
            other => number(other).map(|whole| whole as f32),
        }
    }

    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match self.content.metadata.get(key)? {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    pub(crate) fn array(&self, key: &str) -> Option<&[Value]> {
        match self.content.metadata.get(key)? {
            Value::Array(values) => Some(values),
            _ => None,
        }
    }

    /// A number the model cannot run without.
    pub(crate) fn required(&self, key: &str) -> Result<usize, LocalError> {
        self.number(key)
            .ok_or_else(|| LocalError::damaged(&self.path, format!("it does not say `{key}`")))
    }
}

/// A whole number of any width.
pub(crate) fn number(value: &Value) -> Option<usize> {
    match value {
        Value::U8(number) => Some(usize::from(*number)),
        Value::U16(number) => Some(usize::from(*number)),
        Value::U32(number) => usize::try_from(*number).ok(),
        Value::U64(number) => usize::try_from(*number).ok(),
        Value::I8(number) => usize::try_from(*number).ok(),
        Value::I16(number) => usize::try_from(*number).ok(),
        Value::I32(number) => usize::try_from(*number).ok(),
        Value::I64(number) => usize::try_from(*number).ok(),
        Value::F32(_) | Value::F64(_) | Value::Bool(_) | Value::String(_) | Value::Array(_) => None,
    }
}
