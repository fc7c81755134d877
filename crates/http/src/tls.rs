//! Trust: which servers we believe to be who they say.

use std::sync::Arc;

use hermes_secrets::Origin;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::{BuildError, ClientSettings, Identity, Roots, Trust};

/// Builds the TLS settings of all connections, or of those to one server that is believed in its own way. The crypto
/// provider is passed explicitly, so nothing global is installed.
pub(crate) fn config(
    settings: &ClientSettings,
    server: Option<&Origin>,
) -> Result<ClientConfig, BuildError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = |store: RootCertStore| {
        WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone())
            .build()
            .map_err(|error| BuildError::CaBundle(Some(Box::new(error))))
    };
    let usual = verifier(store(&settings.roots)?)?;
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| BuildError::Client(Box::new(error)))?;
    let special = server.and_then(|server| Some((server, settings.trust.get(server)?)));
    let builder = match special {
        None => builder.with_webpki_verifier(usual),
        Some((server, trust)) => {
            let own = match trust {
                Trust::Unchecked => {
                    tracing::warn!(%server, "the certificate of this server is not checked, as configured");
                    None
                }
                Trust::Also(bundle) => {
                    let mut store = store(&settings.roots)?;
                    add(&mut store, bundle)?;
                    Some(verifier(store)?)
                }
            };
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(ServerVerifier {
                    host: server.host().trim_matches(['[', ']']).to_owned(),
                    own,
                    usual,
                    provider,
                }))
        }
    };
    let mut config = match &settings.identity {
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

fn store(roots: &Roots) -> Result<RootCertStore, BuildError> {
    let mut store = RootCertStore::empty();
    let bundle = match roots {
        Roots::BuiltIn => None,
        Roots::BuiltInAnd(pem) | Roots::Only(pem) => Some(pem),
    };
    if !matches!(roots, Roots::Only(_)) {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    if let Some(pem) = bundle {
        add(&mut store, pem)?;
    }
    Ok(store)
}

/// Whether a bundle, the content of a PEM file, names an authority. Who reads one from a file knows which file it is.
pub fn check_bundle(pem: &[u8]) -> Result<(), BuildError> {
    add(&mut RootCertStore::empty(), pem)
}

/// Adds the authorities of a bundle.
fn add(store: &mut RootCertStore, pem: &[u8]) -> Result<(), BuildError> {
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
        Ok(())
    }
}

/// Checks the certificate of one server in its own way, and those of others on the way to it, such as a proxy, as
/// usual.
#[derive(Debug)]
struct ServerVerifier {
    host: String,
    /// Absent where the user said that nothing is to be checked.
    own: Option<Arc<WebPkiServerVerifier>>,
    usual: Arc<WebPkiServerVerifier>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let name = server_name.to_str();
        let is_it = name.trim_end_matches('.').eq_ignore_ascii_case(&self.host);
        let verifier = match (is_it, &self.own) {
            (true, None) => return Ok(ServerCertVerified::assertion()),
            (true, Some(own)) => own,
            (false, _) => &self.usual,
        };
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
