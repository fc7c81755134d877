//! Showing who we are by a signature (RFC 7523).

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hermes_config::read_file;
use jiff::Timestamp;
use ring::rand::SystemRandom;
use ring::rsa::KeyPair as RsaPair;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::json;

use super::error::OAuthError;
use super::pkce::unguessable;
use super::settings::{Algorithm, KeyFile};

/// How long a signed statement is good.
const LIFE: Duration = Duration::from_secs(300);

/// A statement that the client is who it says, for one audience. Reads the key: blocks.
pub(super) fn assertion(
    key: &KeyFile,
    client: &str,
    audience: &str,
    now: Timestamp,
) -> Result<String, OAuthError> {
    let signer = Signer::read(&key.path, key.algorithm)?;
    let begun = now.as_second();
    let until = begun.saturating_add(i64::try_from(LIFE.as_secs()).unwrap_or(i64::MAX));
    let head = json!({ "alg": signer.algorithm().word(), "typ": "JWT" });
    let claims = json!({
        "iss": client,
        "sub": client,
        "aud": audience,
        "jti": unguessable()?,
        "iat": begun,
        "exp": until,
    });
    let encoded = |part: &serde_json::Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let message = format!("{}.{}", encoded(&head), encoded(&claims));
    let signature = signer.sign(message.as_bytes())?;
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// A key that is ready to sign.
enum Signer {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rs256(RsaKeyPair),
}

impl Signer {
    fn read(path: &Path, wanted: Option<Algorithm>) -> Result<Self, OAuthError> {
        let unusable = |why: &str| OAuthError::Key(format!("{}: {why}", path.display()));
        let pem = read_file(path)?.ok_or_else(|| unusable("there is no such file"))?;
        let key = PrivateKeyDer::from_pem_slice(&pem)
            .map_err(|_| unusable("it holds no private key in PEM"))?;
        let found = match &key {
            PrivateKeyDer::Pkcs8(der) => Self::of_pkcs8(der.secret_pkcs8_der()),
            PrivateKeyDer::Pkcs1(der) => {
                let pair = RsaPair::from_der(der.secret_pkcs1_der());
                pair.ok().map(Self::Rs256)
            }
            _ => return Err(unusable("only PKCS#8 and PKCS#1 keys are read")),
        };
        let signer = found.ok_or_else(|| unusable("it is no P-256, Ed25519 or RSA key"))?;
        match wanted {
            Some(wanted) if wanted != signer.algorithm() => Err(unusable(
                "it is of another kind than oauth.signing_algorithm",
            )),
            Some(_) | None => Ok(signer),
        }
    }

    fn of_pkcs8(der: &[u8]) -> Option<Self> {
        let curve = &ECDSA_P256_SHA256_FIXED_SIGNING;
        EcdsaKeyPair::from_pkcs8(curve, der, &SystemRandom::new())
            .map(Self::Es256)
            .ok()
            .or_else(|| {
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der);
                pair.map(Self::EdDsa).ok()
            })
            .or_else(|| RsaPair::from_pkcs8(der).map(Self::Rs256).ok())
    }

    fn algorithm(&self) -> Algorithm {
        match self {
            Self::Es256(_) => Algorithm::Es256,
            Self::EdDsa(_) => Algorithm::EdDsa,
            Self::Rs256(_) => Algorithm::Rs256,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, OAuthError> {
        let failed = |_| OAuthError::Key("signing failed".to_owned());
        let random = SystemRandom::new();
        match self {
            Self::Es256(pair) => {
                let signature = pair.sign(&random, message).map_err(failed)?;
                Ok(signature.as_ref().to_vec())
            }
            Self::EdDsa(pair) => Ok(pair.sign(message).as_ref().to_vec()),
            Self::Rs256(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .map_err(failed)?;
                Ok(signature)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, KeyPair as _, UnparsedPublicKey};

    use super::*;

    #[test]
    fn a_statement_is_signed_by_the_key() {
        let curve = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let made = EcdsaKeyPair::generate_pkcs8(curve, &SystemRandom::new()).unwrap();
        let text = base64::engine::general_purpose::STANDARD.encode(made.as_ref());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.pem");
        std::fs::write(
            &path,
            format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n"),
        )
        .unwrap();
        let key = |algorithm| KeyFile {
            path: path.clone(),
            algorithm,
        };
        let now = Timestamp::from_second(1_000).unwrap();
        let signed = assertion(&key(None), "me", "https://as.test", now).unwrap();
        let (message, signature) = signed.rsplit_once('.').unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(curve, made.as_ref(), &SystemRandom::new()).unwrap();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref())
            .verify(
                message.as_bytes(),
                &URL_SAFE_NO_PAD.decode(signature).unwrap(),
            )
            .unwrap();
        let claims = URL_SAFE_NO_PAD
            .decode(message.split('.').nth(1).unwrap())
            .unwrap();
        let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
        assert_eq!(
            (&claims["aud"], &claims["exp"]),
            (&json!("https://as.test"), &json!(1_300))
        );
        let wrong = assertion(&key(Some(Algorithm::Rs256)), "me", "x", now).unwrap_err();
        assert!(wrong.to_string().contains("another kind"), "{wrong}");
        assert!(
            assertion(
                &KeyFile {
                    path: folder.path().join("none"),
                    algorithm: None
                },
                "me",
                "x",
                now
            )
            .is_err()
        );
    }
}
