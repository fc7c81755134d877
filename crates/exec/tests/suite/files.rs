//! Files on every kind of backend: the same questions, the same answers.

mod searching;

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::SystemRandom;
use hermes_exec::{
    Backend, Edit, FileKind, Files, FilesError, FramedFiles, LineWindow, Loaded, NativeFiles,
    SearchedBy,
};
use hermes_testkit::clouds::{Daytona, Modal, ModalGateway};
use hermes_testkit::{Dockerd, Sshd};
use tokio_util::sync::CancellationToken;

use super::local::Local;
use super::{daytona, docker, modal, modal_managed, ssh};

const LIMIT: u64 = 64 << 20;

/// Files, with the same directory as seen there and as seen here.
struct Case {
    files: Arc<dyn Files>,
    there: PathBuf,
    here: PathBuf,
    /// How large a large file is.
    large: u64,
}

const LARGE: u64 = 40 << 20;

fn is_text(head: &[u8]) -> bool {
    !head.contains(&0)
}

impl Case {
    fn framed(backend: Arc<dyn Backend>, there: &str, here: &Path) -> Self {
        Self {
            files: Arc::new(FramedFiles::new(backend, Arc::new(SystemRandom))),
            there: PathBuf::from(there),
            here: here.to_owned(),
            large: LARGE,
        }
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.here.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.here.join(name)).unwrap()
    }

    async fn load(&self, name: &str) -> Result<Loaded, FilesError> {
        self.files.load(&self.there.join(name), LIMIT).await
    }

    async fn replace(&self, name: &str, bytes: &[u8]) -> Edit {
        Edit::Replace {
            path: self.there.join(name),
            bytes: bytes.to_vec(),
            state: self.load(name).await.unwrap().state,
        }
    }

    async fn remove(&self, name: &str) -> Edit {
        Edit::Remove {
            path: self.there.join(name),
            state: self.load(name).await.unwrap().state,
        }
    }

    fn create(&self, name: &str, bytes: &[u8], like: Option<&str>) -> Edit {
        Edit::Create {
            path: self.there.join(name),
            bytes: bytes.to_vec(),
            like: like.map(|name| self.there.join(name)),
        }
    }

    async fn check(&self, by: SearchedBy) {
        self.finds_its_way().await;
        self.reads().await;
        self.changes().await;
        self.changes_all_or_nothing().await;
        self.is_big().await;
        self.searches(by).await;
        assert_eq!(self.leftovers(), Vec::<PathBuf>::new());
    }

    fn leftovers(&self) -> Vec<PathBuf> {
        let mut left = Vec::new();
        let mut open = vec![self.here.clone()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    open.push(path);
                } else if path.to_string_lossy().contains(".hermes-tmp") {
                    left.push(path);
                }
            }
        }
        left
    }

    async fn finds_its_way(&self) {
        self.put("real/file", "12345");
        symlink("real", self.here.join("folder")).unwrap();
        symlink("folder/file", self.here.join("link")).unwrap();
        symlink("circle", self.here.join("circle")).unwrap();
        let found = self.files.locate(&self.there, "./link").await.unwrap();
        assert_eq!(found.real, self.there.join("real/file"));
        assert_eq!(found.hops.len(), 2, "{:?}", found.hops);
        assert_eq!(found.hops[1], self.there.join("folder/file"));
        // Whether something can be there is asked by whoever wants to write it.
        let below = self.files.locate(&self.there, "folder/file/x").await;
        assert_eq!(below.unwrap().real, self.there.join("real/file/x"));
        assert_eq!(found.stat.unwrap().stamp.size, 5);
        let new = self.files.locate(&self.there, "folder//a b/c");
        let new = new.await.unwrap();
        assert_eq!(new.real, self.there.join("real/a b/c"));
        assert_eq!(new.stat, None);
        let absolute = self.there.join("real").display().to_string();
        let found = self.files.locate(Path::new("/none"), &absolute).await;
        assert_eq!(found.unwrap().stat.unwrap().kind, FileKind::Directory);
        let found = self.files.locate(&self.there, "circle").await;
        assert!(matches!(found, Err(FilesError::Circle(_))), "{found:?}");
        // What is not there has nothing above it: no name may hide behind it.
        let hidden = self.files.locate(&self.there, "none/../../etc/x").await;
        assert!(matches!(hidden, Err(FilesError::Missing(_))), "{hidden:?}");
        for name in ["link", "folder", "circle", "real/file"] {
            std::fs::remove_file(self.here.join(name)).unwrap();
        }
        std::fs::remove_dir(self.here.join("real")).unwrap();
    }

    async fn reads(&self) {
        let odd = "it's odd\n$name -é";
        let bytes: Vec<u8> = (0..=255).chain([0, 10, 13, 10]).collect();
        self.put(odd, &bytes);
        let loaded = self.load(odd).await.unwrap();
        assert_eq!(loaded.bytes, bytes);
        let stat = self.files.stat(&self.there.join(odd)).await.unwrap();
        assert_eq!(stat.stamp, loaded.state.stamp);
        let data = std::fs::metadata(self.here.join(odd)).unwrap();
        assert_eq!((stat.kind, stat.links), (FileKind::File, 1));
        assert_eq!(stat.stamp.size, 260);
        assert_eq!(
            (stat.stamp.modified_at, stat.stamp.inode),
            (data.mtime(), data.ino())
        );
        let few = self.files.load(&self.there.join(odd), 10).await;
        assert!(
            matches!(few, Err(FilesError::TooLarge { limit: 10, .. })),
            "{few:?}"
        );
        assert!(matches!(
            self.load("none").await,
            Err(FilesError::Missing(_))
        ));
        assert!(matches!(self.load("").await, Err(FilesError::Directory(_))));

        self.put("lines", "one\ntwo é\r\n\n4444444444\nfive");
        let cancel = CancellationToken::new();
        let window = LineWindow {
            first: 2,
            count: 3,
            keep: 6,
            is_text,
        };
        let path = self.there.join("lines");
        let lines = self.files.lines(&path, window, &cancel).await.unwrap();
        assert_eq!((lines.total, lines.lines.len()), (5, 3));
        assert_eq!(lines.lines[0].bytes, "two é".as_bytes());
        assert_eq!((lines.lines[2].length, lines.lines[2].bytes.len()), (10, 6));
        assert!(lines.head.starts_with(b"one\n"));
        let late = LineWindow { first: 9, ..window };
        let late = self.files.lines(&path, late, &cancel).await.unwrap();
        assert_eq!((late.total, late.lines.len()), (5, 0));
        let path = self.there.join(odd);
        let binary = self.files.lines(&path, window, &cancel).await.unwrap();
        assert_eq!((binary.head, binary.total), (bytes, 0));

        std::fs::create_dir(self.here.join("folder")).unwrap();
        symlink("none", self.here.join(".link")).unwrap();
        let list = self.files.list(&self.there, 100).await.unwrap();
        let names: Vec<_> = list
            .iter()
            .map(|one| (one.name.to_str().unwrap(), one.stat.kind))
            .collect();
        let all = [
            (".link", FileKind::Link),
            ("folder", FileKind::Directory),
            (odd, FileKind::File),
            ("lines", FileKind::File),
        ];
        assert_eq!(names, all);
        assert_eq!(self.files.list(&self.there, 1).await.unwrap().len(), 1);
        let empty = self.files.list(&self.there.join("folder"), 9).await;
        assert_eq!(empty.unwrap(), []);
        std::fs::remove_dir(self.here.join("folder")).unwrap();
        for name in [odd, ".link", "lines"] {
            std::fs::remove_file(self.here.join(name)).unwrap();
        }
    }

    async fn changes(&self) {
        let name = "new/deep/file";
        let edit = self.create(name, b"one\0\xff", None);
        let applied = self.files.apply(vec![edit.clone()]).await.unwrap();
        assert!(applied.made_directories);
        assert_eq!(self.bytes(name), b"one\0\xff");
        let path = self.here.join(name);
        let data = std::fs::metadata(&path).unwrap();
        assert_eq!(data.mode() & 0o777, 0o644);
        assert_eq!(applied.stamps[0].unwrap().inode, data.ino());
        let again = self.files.apply(vec![edit]).await;
        assert!(matches!(again, Err(FilesError::Exists(_))), "{again:?}");

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
        chown(&path, Some(1234), Some(1235)).unwrap();
        let (edit, stale) = (
            self.replace(name, b"two").await,
            self.replace(name, b"3").await,
        );
        self.files.apply(vec![edit]).await.unwrap();
        let data = std::fs::metadata(&path).unwrap();
        let kept = (data.mode() & 0o7777, data.uid(), data.gid());
        assert_eq!(kept, (0o751, 1234, 1235));
        assert_ne!(
            data.ino(),
            applied.stamps[0].unwrap().inode,
            "not replaced at once"
        );
        let stale = self.files.apply(vec![stale]).await;
        assert!(matches!(stale, Err(FilesError::Changed(_))), "{stale:?}");
        assert_eq!(self.bytes(name), b"two");

        std::fs::hard_link(&path, self.here.join("second")).unwrap();
        let linked = self.replace(name, b"four").await;
        let linked = self.files.apply(vec![linked]).await;
        assert!(
            matches!(linked, Err(FilesError::HardLinked(_))),
            "{linked:?}"
        );
        std::fs::remove_file(self.here.join("second")).unwrap();
        let over = self.create("new/deep", b"x", None);
        let over = self.files.apply(vec![over]).await;
        assert!(matches!(over, Err(FilesError::Exists(_))), "{over:?}");
        let below = self.create("new/deep/file/x/y", b"x", None);
        let below = self.files.apply(vec![below]).await;
        assert!(matches!(below, Err(FilesError::BelowFile(_))), "{below:?}");
        // Nobody makes a file there, not even root.
        let unwritable = self.create("/sys/hermes-test", b"x", None);
        let unwritable = self.files.apply(vec![unwritable]).await;
        assert!(
            matches!(unwritable, Err(FilesError::Denied(_))),
            "{unwritable:?}"
        );
    }

    async fn changes_all_or_nothing(&self) {
        for name in ["a", "b", "c"] {
            self.put(name, format!("old {name}"));
        }
        std::fs::set_permissions(self.here.join("c"), std::fs::Permissions::from_mode(0o700))
            .unwrap();
        let edits = vec![
            self.replace("a", b"new a\xff").await,
            self.create("sub/x/new", b"", None),
            self.remove("c").await,
            self.create("moved", b"old c", Some("c")),
            self.replace("b", b"new b").await,
        ];
        // Somebody else writes the last file in between.
        self.put("b", "theirs");
        let failed = self.files.apply(edits.clone()).await;
        assert!(
            matches!(&failed, Err(FilesError::Changed(path)) if path.ends_with("b")),
            "{failed:?}"
        );
        assert_eq!(
            (self.bytes("a"), self.bytes("c")),
            (b"old a".to_vec(), b"old c".to_vec())
        );
        assert_eq!(self.bytes("b"), b"theirs");
        assert!(!self.here.join("sub").exists() && !self.here.join("moved").exists());

        let mut edits = edits;
        edits[4] = self.replace("b", b"new b").await;
        let applied = self.files.apply(edits).await.unwrap();
        assert_eq!(applied.stamps[2], None);
        assert_eq!(applied.stamps[4].unwrap().size, 5);
        assert_eq!(
            (self.bytes("a"), self.bytes("b")),
            (b"new a\xff".to_vec(), b"new b".to_vec())
        );
        assert_eq!(
            (self.bytes("sub/x/new"), self.bytes("moved")),
            (Vec::new(), b"old c".to_vec())
        );
        assert_eq!(
            std::fs::metadata(self.here.join("moved")).unwrap().mode() & 0o777,
            0o700
        );
        assert!(!self.here.join("c").exists());
    }

    async fn is_big(&self) {
        let bytes: Vec<u8> = (0..self.large).map(|index| (index % 251) as u8).collect();
        let edits = vec![
            self.create("big", &bytes, None),
            self.create("small", b"s", None),
        ];
        self.files.apply(edits).await.unwrap();
        assert!(self.bytes("big") == bytes);
        assert!(self.load("big").await.unwrap().bytes == bytes);
        std::fs::remove_file(self.here.join("big")).unwrap();
    }
}

// EX-40, EX-41, EX-44, EX-46, EX-69
#[tokio::test(flavor = "multi_thread")]
async fn files_of_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let case = Case {
        files: Arc::new(NativeFiles::new(None)),
        there: root.clone(),
        here: root,
        large: LARGE,
    };
    case.check(SearchedBy::Library).await;
    // A pipe that nobody writes to does not hold anybody up.
    nix::unistd::mkfifo(&folder.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(
        case.load("pipe").await,
        Err(FilesError::NotPlain(_))
    ));
}

// EX-40, EX-41, EX-44, EX-46, EX-69
#[tokio::test(flavor = "multi_thread")]
async fn files_by_requests_to_this_machine() {
    let local = Local::new();
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().to_str().unwrap();
    let case = Case::framed(Arc::clone(&local.backend), there, folder.path());
    case.check(SearchedBy::Ripgrep).await;
    nix::unistd::mkfifo(&folder.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(
        case.load("pipe").await,
        Err(FilesError::NotPlain(_))
    ));
}

// EX-40, EX-41, EX-44, EX-46, EX-69
#[tokio::test(flavor = "multi_thread")]
async fn files_over_ssh() {
    let server = Sshd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let backend = ssh::backend(ssh::config(&server));
    let there = folder.path().to_str().unwrap();
    Case::framed(Arc::clone(&backend), there, folder.path())
        .check(SearchedBy::Ripgrep)
        .await;
    assert_eq!(server.logins(), 1);
    backend.close().await.unwrap();
}

// EX-40, EX-41, EX-44, EX-46, EX-69
#[tokio::test(flavor = "multi_thread")]
async fn files_in_a_container_without_gnu_tools() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = docker::backend(docker::config(&engine, folder.path()));
    super::away::run(&backend, "mkdir /workspace/files").await;
    let here = folder
        .path()
        .join("sandboxes/docker/default/workspace/files");
    Case::framed(Arc::clone(&backend), "/workspace/files", &here)
        .check(SearchedBy::PlainGrep)
        .await;
    backend.close().await.unwrap();
}

// EX-40: the connection is cut while the content of several files is on its way.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_drops_leaves_every_file_as_it_was() {
    let server = Sshd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let backend = ssh::backend(ssh::config(&server));
    let there = folder.path().to_str().unwrap();
    let case = Case::framed(Arc::clone(&backend), there, folder.path());
    case.put("a", "old a");
    case.put("b", "old b");
    let big = vec![b'x'; 256 << 20];
    let edits = vec![
        case.replace("a", b"new a").await,
        case.replace("b", &big).await,
    ];
    let cut = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        backend.close().await.unwrap();
    };
    let (changed, ()) = tokio::join!(case.files.apply(edits), cut);
    match changed {
        Err(_) => {
            assert_eq!(
                (case.bytes("a"), case.bytes("b")),
                (b"old a".to_vec(), b"old b".to_vec())
            );
        }
        // A machine that was faster than the cut has changed both.
        Ok(_) => assert!(case.bytes("a") == b"new a" && case.bytes("b") == big),
    }
    super::away::wait_for("drafts are gone", {
        let folder = folder.path().to_owned();
        move || {
            std::fs::read_dir(&folder).unwrap().all(|entry| {
                !entry
                    .unwrap()
                    .file_name()
                    .to_string_lossy()
                    .starts_with(".hermes")
            })
        }
    })
    .await;
}

// EX-28, EX-34, EX-69
#[tokio::test(flavor = "multi_thread")]
async fn files_in_a_sandbox_of_daytona() {
    let (server, folder) = (Daytona::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = daytona::backend(&server, folder.path());
    in_a_cloud(&backend, folder.path(), (1 << 20) + (100 << 10)).await;
}

// EX-28, EX-34, EX-69
#[tokio::test(flavor = "multi_thread")]
async fn files_in_a_sandbox_of_modal() {
    let (server, folder) = (Modal::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = modal::backend(&server, folder.path());
    in_a_cloud(&backend, folder.path(), 8 << 20).await;
}

// EX-28, EX-34, EX-69
#[tokio::test(flavor = "multi_thread")]
async fn files_in_a_sandbox_of_modal_through_a_gateway() {
    let (server, folder) = (ModalGateway::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = modal_managed::backend(&server, folder.path());
    in_a_cloud(&backend, folder.path(), (1 << 20) + (100 << 10)).await;
}

async fn in_a_cloud(backend: &Arc<dyn Backend>, folder: &Path, large: u64) {
    let here = folder.join("files");
    std::fs::create_dir(&here).unwrap();
    let case = Case {
        large,
        ..Case::framed(Arc::clone(backend), here.to_str().unwrap(), &here)
    };
    case.check(SearchedBy::Ripgrep).await;
    backend.close().await.unwrap();
}
