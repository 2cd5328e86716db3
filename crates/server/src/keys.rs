//! Key files: the servers' authority, each server's certificate, the lobby's signing key. Missing ones are made.

use anyhow::Context as _;
use net::tls::{Authority, MeshIdentity};
use ring::rand::{SecureRandom as _, SystemRandom};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// A folder of key files.
#[derive(Clone, Debug)]
pub struct KeyFolder(PathBuf);

impl KeyFolder {
    /// The folder `keys` in a data folder.
    pub fn of(data: &Path) -> Self {
        Self(data.join("keys"))
    }

    /// The certificate of the server with this name. It is issued if it is missing and the authority's key is here; on
    /// other computers the files must be copied.
    pub fn mesh_identity(&self, name: &str) -> anyhow::Result<MeshIdentity> {
        let (certificate, key) = (self.0.join(format!("{name}.pem")), self.0.join(format!("{name}.key")));
        let authority = self.0.join("authority.pem");
        if !certificate.exists() || !key.exists() {
            let issued = self.authority()?.issue(name)?;
            write_secret(&key, issued.key.as_bytes())?;
            write_secret(&certificate, issued.certificate.as_bytes())?;
        }
        Ok(MeshIdentity::of_pem(&read(&authority)?, &read(&certificate)?, &read(&key)?)?)
    }

    fn authority(&self) -> anyhow::Result<Authority> {
        let (certificate, key) = (self.0.join("authority.pem"), self.0.join("authority.key"));
        if certificate.exists() {
            let authority = Authority { certificate: read(&certificate)?, key: read(&key)? };
            return Ok(authority);
        }
        let authority = Authority::new()?;
        write_secret(&key, authority.key.as_bytes())?;
        // The certificate last: where it exists, its key exists, too.
        write_secret(&certificate, authority.certificate.as_bytes())?;
        Ok(authority)
    }

    /// The lobby's signing key, made if it is missing.
    pub fn lobby(&self) -> anyhow::Result<lobby::Keys> {
        let path = self.0.join("lobby.key");
        if let Ok(bytes) = fs::read(&path) {
            let bytes = bytes.try_into().ok().context("the lobby's key has the wrong length")?;
            return lobby::Keys::from_bytes(&bytes).with_context(|| path.display().to_string());
        }
        let keys = lobby::Keys::generate(random())?;
        write_secret(&path, &keys.to_bytes())?;
        Ok(keys)
    }
}

/// Random bytes for keys and tokens, from the operating system.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system gives random bytes");
    bytes
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| {
        format!("cannot read {}; `ecumene keys` makes the keys of a new world", path.display())
    })
}

/// Writes a file that only its owner can read, whole or not at all.
fn write_secret(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().context("a key needs a folder")?;
    fs::create_dir_all(folder)?;
    // A name of its own per process: two processes that start at once must not mix their bytes.
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    let mut file = fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&fresh, path).with_context(|| format!("cannot write {}", path.display()))
}
