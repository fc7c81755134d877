//! Tests of the built-in model, with the real small model wherever one is needed.

#[cfg(test)]
mod suite {
    mod answers;
    mod files;
    mod fixture;
    mod pulling;
    mod requantizing;
}
