//! Trust: which servers we believe to be who they say.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::{BuildError, ClientSettings, Identity, Roots};

/// Builds the TLS settings. The crypto provider is passed explicitly, so nothing global is installed.
pub(crate) fn config(settings: &ClientSettings) -> Result<ClientConfig, BuildError> {
    let ClientSettings {
        roots,
        insecure_hosts,
        identity,
        ..
    } = settings;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(store(roots)?), provider.clone())
            .build()
            .map_err(|error| BuildError::CaBundle(Some(Box::new(error))))?;
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| BuildError::Client(Box::new(error)))?;
    let builder = if insecure_hosts.is_empty() {
        builder.with_webpki_verifier(verifier)
    } else {
        tracing::warn!(hosts = ?insecure_hosts, "certificates of these hosts are not checked, as configured");
        let exempt = insecure_hosts
            .iter()
            .map(|host| host.to_ascii_lowercase())
            .collect();
        let verifier = Arc::new(ExemptingVerifier {
            verifier,
            exempt,
            provider,
        });
        builder
            .dangerous()
            .with_custom_certificate_verifier(verifier)
    };
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let (certificates, key) = shown(identity)?;
            builder
                .with_client_auth_cert(certificates, key)
                .map_err(|error| BuildError::Identity(Some(Box::new(error))))?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

type Shown = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// What is shown to servers that ask who we are.
fn shown(identity: &Identity) -> Result<Shown, BuildError> {
    let unusable =
        |error: rustls::pki_types::pem::Error| BuildError::Identity(Some(Box::new(error)));
    let certificates = CertificateDer::pem_slice_iter(&identity.certificates)
        .collect::<Result<Vec<_>, _>>()
        .map_err(unusable)?;
    if certificates.is_empty() {
        return Err(BuildError::Identity(None));
    }
    let key = PrivateKeyDer::from_pem_slice(&identity.key).map_err(unusable)?;
    Ok((certificates, key))
}

pub(crate) fn store(roots: &Roots) -> Result<RootCertStore, BuildError> {
    let mut store = RootCertStore::empty();
    let bundle = match roots {
        Roots::BuiltIn => None,
        Roots::BuiltInAnd(pem) | Roots::Only(pem) => Some(pem),
    };
    if !matches!(roots, Roots::Only(_)) {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let Some(pem) = bundle else {
        return Ok(store);
    };
    let mut added = 0;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate =
            certificate.map_err(|error| BuildError::CaBundle(Some(Box::new(error))))?;
        // System bundles hold a few certificates that are no authorities; one usable one is what we need.
        added += usize::from(store.add(certificate).is_ok());
    }
    if added == 0 {
        Err(BuildError::CaBundle(None))
    } else {
        Ok(store)
    }
}

/// Checks certificates of all hosts but those that the user exempted by name.
#[derive(Debug)]
struct ExemptingVerifier {
    verifier: Arc<WebPkiServerVerifier>,
    exempt: Vec<String>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for ExemptingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self
            .exempt
            .contains(&server_name.to_str().to_ascii_lowercase())
        {
            return Ok(ServerCertVerified::assertion());
        }
        self.verifier
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
