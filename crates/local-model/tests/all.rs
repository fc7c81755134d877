//! Tests of the built-in model, with the real small model wherever one is needed.

#[cfg(test)]
mod suite {
    mod answers;
    mod embedding;
    mod files;
    mod fixture;
    mod pulling;
    mod requantizing;
}
