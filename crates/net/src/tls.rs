//! Certificates: the short-lived one of a host that players pin, and the servers' own authority.
//!
//! Players do not ask an authority: the lobby tells them the hash of the one certificate to expect. Servers trust only
//! certificates of their own authority, and know each other by the names in them.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use std::sync::Arc;
use thiserror::Error;
use time::{Duration, OffsetDateTime};

/// Browsers accept a pinned certificate only if it is valid for at most 14 days in all.
const PINNED_FOR: Duration = Duration::days(13);

/// Validity of the servers' authority and its certificates.
const MESH_FOR: Duration = Duration::days(3650);

/// Certificates are valid from a little earlier on, because clocks differ.
const EARLIER: Duration = Duration::hours(1);

/// The reason why keys or certificates are unusable.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Make(#[from] rcgen::Error),
    /// A certificate or key cannot be used.
    #[error("cannot use a certificate: {0}")]
    Use(#[from] rustls::Error),
    /// A file is no certificate or key.
    #[error("no certificate or key: {0}")]
    Read(#[from] rustls::pki_types::pem::Error),
    /// A certificate's authority cannot be used.
    #[error("cannot use the authority: {0}")]
    Authority(String),
}

/// A certificate and its key.
#[derive(Debug)]
pub struct Identity {
    /// The certificate in DER form.
    pub certificate: CertificateDer<'static>,
    /// The private key that belongs to it.
    pub key: PrivateKeyDer<'static>,
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self { certificate: self.certificate.clone(), key: self.key.clone_key() }
    }
}

impl Identity {
    /// A new self-signed certificate for players to pin.
    pub fn pinned() -> Result<Self, TlsError> {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()])?;
        valid_for(&mut params, PINNED_FOR);
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.into();
        Ok(Self { certificate, key: PrivateKeyDer::Pkcs8(key.serialize_der().into()) })
    }

    /// Reads certificate and key from the texts of two PEM files.
    pub fn of_pem(certificate: &str, key: &str) -> Result<Self, TlsError> {
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes())?;
        Ok(Self { certificate, key: PrivateKeyDer::from_pem_slice(key.as_bytes())? })
    }

    /// The hash that players pin: SHA-256 of the certificate.
    pub fn hash(&self) -> [u8; 32] {
        hash(&self.certificate)
    }
}

fn valid_for(params: &mut CertificateParams, span: Duration) {
    params.not_before = OffsetDateTime::now_utc() - EARLIER;
    params.not_after = params.not_before + span;
}

fn hash(certificate: &CertificateDer<'_>) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// The servers' own certificate authority, as the texts of two PEM files.
#[derive(Clone, Debug)]
pub struct Authority {
    /// The authority's certificate; every server has a copy.
    pub certificate: String,
    /// The authority's key; only the tool that issues certificates needs it.
    pub key: String,
}

/// A server's certificate and key, as the texts of two PEM files.
#[derive(Clone, Debug)]
pub struct IssuedCertificate {
    /// The certificate as PEM text.
    pub certificate: String,
    /// The private key as PEM text.
    pub key: String,
}

impl Authority {
    /// A new authority with a fresh key.
    pub fn new() -> Result<Self, TlsError> {
        let key = KeyPair::generate()?;
        let certificate = authority_params().self_signed(&key)?;
        Ok(Self { certificate: certificate.pem(), key: key.serialize_pem() })
    }

    /// Issues a certificate for the server of this name.
    pub fn issue(&self, name: &str) -> Result<IssuedCertificate, TlsError> {
        let issuer = Issuer::new(authority_params(), KeyPair::from_pem(&self.key)?);
        let mut params = CertificateParams::new(vec![name.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, name);
        valid_for(&mut params, MESH_FOR);
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &issuer)?;
        Ok(IssuedCertificate { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Ecumene servers");
    // It signs certificates of servers, not of other authorities.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    valid_for(&mut params, MESH_FOR);
    params
}

/// A server's own certificate, and the authority that it trusts.
#[derive(Clone, Debug)]
pub struct MeshIdentity {
    /// The server's own certificate and key.
    pub identity: Identity,
    /// The certificate of the servers' authority.
    pub authority: CertificateDer<'static>,
}

impl MeshIdentity {
    /// Reads authority, certificate and key from the texts of three PEM files.
    pub fn of_pem(authority: &str, certificate: &str, key: &str) -> Result<Self, TlsError> {
        let authority = CertificateDer::from_pem_slice(authority.as_bytes())?;
        Ok(Self { identity: Identity::of_pem(certificate, key)?, authority })
    }

    fn roots(&self) -> Result<Arc<rustls::RootCertStore>, TlsError> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.authority.clone())?;
        Ok(Arc::new(roots))
    }

    /// TLS configuration of a server to which other servers connect.
    pub fn server(&self, alpn: &[&str]) -> Result<rustls::ServerConfig, TlsError> {
        let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(self.roots()?, provider())
            .build()
            .map_err(|it| TlsError::Authority(it.to_string()))?;
        let mut config = rustls::ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![self.identity.certificate.clone()], self.identity.key.clone_key())?;
        config.alpn_protocols = names(alpn);
        Ok(config)
    }

    /// TLS configuration of a server that connects to other servers.
    pub fn client(&self, alpn: &str) -> Result<rustls::ClientConfig, TlsError> {
        let roots = self.roots()?;
        let mut config = rustls::ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![self.identity.certificate.clone()], self.identity.key.clone_key())?;
        config.alpn_protocols = names(&[alpn]);
        Ok(config)
    }
}

/// The name in a host's certificate.
pub fn host_name(host: u32) -> String {
    format!("host-{host}.ecumene")
}

/// The name in the directory's certificate.
pub const DIRECTORY_NAME: &str = "directory.ecumene";

/// Returns whether a connected server's certificate (its identity, as QUIC tells it) holds this name.
pub fn is_named(identity: Option<Box<dyn std::any::Any>>, name: &str) -> bool {
    let Some(identity) = identity else { return false };
    let Ok(chain) = identity.downcast::<Vec<CertificateDer<'static>>>() else { return false };
    // The first certificate of a chain is the server's own.
    let Some(first) = chain.first() else { return false };
    let (Ok(certificate), Ok(name)) = (webpki::EndEntityCert::try_from(first), ServerName::try_from(name))
    else {
        return false;
    };
    certificate.verify_is_valid_for_subject_name(&name).is_ok()
}

/// TLS configuration of a host to which players connect.
pub fn for_players(identity: &Identity, alpn: &[&str]) -> Result<rustls::ServerConfig, TlsError> {
    let mut config = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate.clone()], identity.key.clone_key())?;
    config.alpn_protocols = names(alpn);
    config.max_early_data_size = 0; // Early data could be replayed, and with it a token.
    Ok(config)
}

/// TLS configuration of a player who expects the certificate with this hash.
pub fn pinning(expected: [u8; 32], alpn: &str) -> Result<rustls::ClientConfig, TlsError> {
    let verifier = Arc::new(PinnedVerifier { expected, provider: provider() });
    let mut config = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous() // Rustls' name for any verifier but that of the public authorities.
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = names(&[alpn]);
    Ok(config)
}

fn names(alpn: &[&str]) -> Vec<Vec<u8>> {
    alpn.iter().map(|it| it.as_bytes().to_vec()).collect()
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Accepts the certificate with this hash and no other.
#[derive(Debug)]
struct PinnedVerifier {
    expected: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinnedVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if hash(end_entity) == self.expected {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::General("not the certificate that the lobby named".to_owned()))
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 is not supported".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
