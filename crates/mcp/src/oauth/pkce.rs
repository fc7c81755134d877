//! Values that nobody may guess.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use sha2::{Digest, Sha256};

use super::error::OAuthError;

/// Bytes of a value; 43 characters, the least that the standard allows for a verifier.
const BYTES: usize = 32;

/// A text of 256 random bits.
pub(super) fn unguessable() -> Result<String, OAuthError> {
    let mut bytes = [0; BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| OAuthError::Settings("the system gives no random numbers"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// What is shown of a verifier before it is used.
pub(super) fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

/// Compares in time that depends on the lengths only.
pub(super) fn same(own: &str, presented: &str) -> bool {
    let difference = own
        .bytes()
        .zip(presented.bytes())
        .fold(0, |found, (a, b)| found | (a ^ b));
    own.len() == presented.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_the_one_of_the_standard() {
        // From the appendix of RFC 7636.
        assert_eq!(
            challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
        let (one, other) = (unguessable().unwrap(), unguessable().unwrap());
        assert_eq!(one.len(), 43);
        assert!(same(&one, &one) && !same(&one, &other) && !same(&one, "") && !same("", "x"));
    }
}
