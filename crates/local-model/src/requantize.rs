//! Rewriting a model file in the form that is fastest here.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use candle_core::Device;
use candle_core::quantized::gguf_file;
use candle_core::quantized::{GgmlDType, QTensor};

use crate::LocalError;
use crate::gguf::Gguf;

/// Eight bits for each weight: no loss that can be noticed, and a fast product on every processor.
const TARGET: GgmlDType = GgmlDType::Q8_0;

/// Rewrites the weights of `source` with eight bits each and puts the result at `target`.
///
/// Weights that are in that form already, and single vectors, are copied. `progress` is told the
/// finished share of the work, from 0 to 1; it answers whether to go on. The target appears complete,
/// read back and compared, or not at all.
///
/// # Errors
///
/// When a file cannot be read or written, or `progress` stops the work.
pub fn requantize(
    source: &Path,
    target: &Path,
    mut progress: impl FnMut(f64) -> bool,
) -> Result<(), LocalError> {
    let mut file = Gguf::open(source)?;
    let names = file.tensors_by_place();
    let mut tensors = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        if !progress(index as f64 / names.len() as f64) {
            return Err(LocalError::Cancelled);
        }
        tensors.push(converted(file.tensor(name)?)?);
    }
    let mut metadata: Vec<_> = file.metadata().collect();
    // The order of a map differs from run to run; the file should not.
    metadata.sort_by_key(|(key, _)| *key);
    let pairs: Vec<(&str, &QTensor)> = names.iter().map(String::as_str).zip(&tensors).collect();

    let failed = |error| LocalError::file(target, error);
    let folder = target.parent().unwrap_or(Path::new("."));
    let mut written = tempfile::Builder::new()
        .prefix(".requantize-")
        .tempfile_in(folder)
        .map_err(failed)?;
    let mut writer = BufWriter::new(written.as_file_mut());
    gguf_file::write(&mut writer, &metadata, &pairs).map_err(|error| storage(target, error))?;
    writer.flush().map_err(failed)?;
    drop(writer);
    written.as_file().sync_all().map_err(failed)?;
    verify(written.path(), &pairs)?;
    written
        .persist(target)
        .map_err(|error| failed(error.error))?;
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(failed)?;
    progress(1.0);
    Ok(())
}

fn converted(tensor: QTensor) -> Result<QTensor, LocalError> {
    let row = tensor.shape().dims().last().copied().unwrap_or_default();
    let fits = tensor.rank() == 2 && row.is_multiple_of(TARGET.block_size());
    if !fits || tensor.dtype() == TARGET {
        return Ok(tensor);
    }
    let floats = tensor.dequantize(&Device::Cpu)?;
    Ok(QTensor::quantize(&floats, TARGET)?)
}

/// Reads the written file back: what was meant must be there, byte for byte.
fn verify(path: &Path, expected: &[(&str, &QTensor)]) -> Result<(), LocalError> {
    let mut file = Gguf::open(path)?;
    if file.tensor_names().count() != expected.len() {
        return Err(LocalError::damaged(
            path,
            "tensors are missing after writing",
        ));
    }
    for (name, tensor) in expected {
        let read = file.tensor(name)?;
        let same = read.dtype() == tensor.dtype()
            && read.shape() == tensor.shape()
            && read.data()? == tensor.data()?;
        if !same {
            return Err(LocalError::damaged(
                path,
                format!("`{name}` differs after writing"),
            ));
        }
    }
    Ok(())
}

/// Keeps the system's own error, so that a full disk is recognised as one.
fn storage(target: &Path, error: candle_core::Error) -> LocalError {
    match error {
        candle_core::Error::Io(error) => LocalError::file(target, error),
        candle_core::Error::WithBacktrace { inner, .. } => storage(target, *inner),
        other => LocalError::Compute(other),
    }
}
