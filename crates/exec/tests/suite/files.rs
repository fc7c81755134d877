//! Files on every kind of backend: the same questions, the same answers.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_core::SystemRandom;
use hermes_exec::{
    Backend, Content, Expect, FileHash, FileKind, Files, FilesError, FramedFiles, NativeFiles,
};
use hermes_testkit::{Dockerd, Sshd};
use sha2::{Digest, Sha256};
use tokio::io::AsyncReadExt;

use super::local::Local;
use super::{docker, ssh};

/// Files, with the same directory as seen there and as seen here.
struct Case {
    files: Box<dyn Files>,
    there: PathBuf,
    here: PathBuf,
}

impl Case {
    fn framed(backend: Arc<dyn Backend>, there: &str, here: &Path) -> Self {
        Self {
            files: Box::new(FramedFiles::new(backend, Arc::new(SystemRandom))),
            there: PathBuf::from(there),
            here: here.to_owned(),
        }
    }

    async fn read(&self, name: &str, offset: u64, limit: u64) -> Result<Vec<u8>, FilesError> {
        let mut reader = self
            .files
            .read(&self.there.join(name), offset, limit)
            .await?;
        let mut bytes = Vec::new();
        reader.bytes.read_to_end(&mut bytes).await.unwrap();
        Ok(bytes)
    }

    async fn write(
        &self,
        name: &str,
        bytes: &[u8],
        expect: Expect,
    ) -> Result<FileHash, FilesError> {
        let path = self.there.join(name);
        self.files.write(&path, Content::of(bytes), expect).await
    }

    async fn check(&self) {
        self.reads().await;
        self.writes().await;
        self.moves().await;
        self.is_big().await;
        let left = std::fs::read_dir(&self.here).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert!(
            !left
                .iter()
                .any(|name| name.to_string_lossy().contains(".tmp")),
            "{left:?}"
        );
    }

    async fn reads(&self) {
        let odd = "it's odd\n$name -é";
        let bytes: Vec<u8> = (0..=255).chain([0, 10, 13, 10]).collect();
        std::fs::write(self.here.join(odd), &bytes).unwrap();
        assert_eq!(self.read(odd, 0, 1 << 20).await.unwrap(), bytes);
        assert_eq!(self.read(odd, 250, 8).await.unwrap(), bytes[250..258]);
        assert_eq!(self.read(odd, 9_999, 8).await.unwrap(), b"");
        let stat = self.files.stat(&self.there.join(odd)).await.unwrap();
        assert_eq!((stat.kind, stat.size, stat.links), (FileKind::File, 260, 1));
        let modified = std::fs::metadata(self.here.join(odd)).unwrap().mtime();
        assert_eq!(stat.modified_at, modified);
        let hash = self.files.hash(&self.there.join(odd)).await.unwrap();
        assert_eq!(hash, FileHash(Sha256::digest(&bytes).into()));
        assert!(matches!(
            self.read("none", 0, 1).await,
            Err(FilesError::Missing(_))
        ));
        assert!(matches!(
            self.read("", 0, 1).await,
            Err(FilesError::Kind(_))
        ));

        std::fs::create_dir(self.here.join("folder")).unwrap();
        std::os::unix::fs::symlink("none", self.here.join(".link")).unwrap();
        let list = self.files.list(&self.there, 100).await.unwrap();
        let names: Vec<_> = list
            .iter()
            .map(|one| (one.name.to_str().unwrap(), one.stat.kind))
            .collect();
        assert_eq!(
            names,
            [
                (".link", FileKind::Link),
                ("folder", FileKind::Directory),
                (odd, FileKind::File)
            ]
        );
        assert_eq!(self.files.list(&self.there, 1).await.unwrap().len(), 1);
        assert_eq!(
            self.files
                .list(&self.there.join("folder"), 9)
                .await
                .unwrap(),
            []
        );
        for name in [odd, "folder", ".link"] {
            self.files.remove(&self.there.join(name)).await.unwrap();
        }
        assert!(matches!(
            self.files.remove(&self.there.join(odd)).await,
            Err(FilesError::Missing(_))
        ));
        assert_eq!(self.files.list(&self.there, 9).await.unwrap(), []);
    }

    async fn writes(&self) {
        let path = self.here.join("new/deep/file");
        let name = "new/deep/file";
        let first = self
            .write(name, b"one\0\xff", Expect::Absent)
            .await
            .unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\0\xff");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o644);
        assert!(matches!(
            self.write(name, b"x", Expect::Absent).await,
            Err(FilesError::Exists(_))
        ));

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
        std::os::unix::fs::chown(&path, Some(1234), Some(1235)).unwrap();
        let before = std::fs::metadata(&path).unwrap().ino();
        let second = self
            .write(name, b"two", Expect::Content(first))
            .await
            .unwrap();
        let data = std::fs::metadata(&path).unwrap();
        assert_eq!(
            (data.mode() & 0o7777, data.uid(), data.gid()),
            (0o751, 1234, 1235)
        );
        assert_ne!(data.ino(), before, "not replaced at once");
        let stale = self.write(name, b"three", Expect::Content(first)).await;
        assert!(matches!(stale, Err(FilesError::Changed(_))));
        assert_eq!(
            self.files.hash(&self.there.join(name)).await.unwrap(),
            second
        );

        let link = self.here.join("link");
        std::os::unix::fs::symlink("new/deep/file", &link).unwrap();
        self.write("link", b"through", Expect::Anything)
            .await
            .unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"through");
        std::fs::remove_file(link).unwrap();

        let short = Content {
            size: 10,
            ..Content::of(b"short".to_vec())
        };
        let short = self
            .files
            .write(&self.there.join(name), short, Expect::Anything)
            .await;
        assert!(matches!(short, Err(FilesError::Short(_))), "{short:?}");
        assert_eq!(std::fs::read(&path).unwrap(), b"through");
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1
        );
        assert!(matches!(
            self.write("new", b"x", Expect::Anything).await,
            Err(FilesError::Kind(_))
        ));
    }

    async fn moves(&self) {
        let (from, to) = (
            self.there.join("new/deep/file"),
            self.there.join("other/place"),
        );
        self.files.rename(&from, &to).await.unwrap();
        assert_eq!(
            std::fs::read(self.here.join("other/place")).unwrap(),
            b"through"
        );
        self.write("new/deep/file", b"again", Expect::Absent)
            .await
            .unwrap();
        assert!(
            matches!(self.files.rename(&from, &to).await, Err(FilesError::Exists(path)) if path == to)
        );
        let gone = self.files.rename(&self.there.join("none"), &from).await;
        assert!(matches!(gone, Err(FilesError::Missing(_))));
    }

    async fn is_big(&self) {
        const SIZE: u64 = 40 << 20;
        let content = Content {
            size: SIZE,
            bytes: Box::new(tokio::io::repeat(b'x').take(SIZE)),
        };
        let path = self.there.join("big");
        let written = self
            .files
            .write(&path, content, Expect::Anything)
            .await
            .unwrap();
        assert_eq!(
            std::fs::metadata(self.here.join("big")).unwrap().len(),
            SIZE
        );
        assert_eq!(self.files.hash(&path).await.unwrap(), written);
        let mut reader = self
            .files
            .read(&path, 1 << 20, u64::MAX >> 1)
            .await
            .unwrap();
        let count = tokio::io::copy(&mut reader.bytes, &mut tokio::io::sink())
            .await
            .unwrap();
        assert_eq!(count, SIZE - (1 << 20));
    }
}

// EX-69
#[tokio::test(flavor = "multi_thread")]
async fn files_of_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let case = Case {
        files: Box::new(NativeFiles::new(Arc::new(SystemRandom))),
        there: folder.path().to_owned(),
        here: folder.path().to_owned(),
    };
    case.check().await;
    // A pipe that nobody writes to does not hold anybody up.
    nix::unistd::mkfifo(&folder.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(
        case.read("pipe", 0, 1).await,
        Err(FilesError::Kind(_))
    ));
}

// EX-69
#[tokio::test(flavor = "multi_thread")]
async fn files_by_requests_to_this_machine() {
    let local = Local::new();
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().to_str().unwrap();
    Case::framed(Arc::clone(&local.backend), there, folder.path())
        .check()
        .await;
}

// EX-34, EX-69
#[tokio::test(flavor = "multi_thread")]
async fn files_over_ssh() {
    let server = Sshd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let backend = ssh::backend(ssh::config(&server));
    let there = folder.path().to_str().unwrap();
    Case::framed(Arc::clone(&backend), there, folder.path())
        .check()
        .await;
    assert_eq!(server.logins(), 1);
    backend.close().await.unwrap();
}

// EX-34, EX-69
#[tokio::test(flavor = "multi_thread")]
async fn files_in_a_container_without_gnu_tools() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = docker::backend(docker::config(&engine, folder.path()));
    super::away::run(&backend, "mkdir /workspace/files").await;
    let here = folder
        .path()
        .join("sandboxes/docker/default/workspace/files");
    Case::framed(Arc::clone(&backend), "/workspace/files", &here)
        .check()
        .await;
    backend.close().await.unwrap();
}
