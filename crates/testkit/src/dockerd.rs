//! A real container engine of the test's own, with one small image and no network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::eventually::eventually;

const START: Duration = Duration::from_secs(60);
/// The image: busybox, and bash from this machine with what it is linked to.
const IMAGE: &str = "hermes-test:1";

/// Runs the engine until its standard input ends, which also happens when the test is killed.
const KEEPER: &str = r#"
dockerd --storage-driver=vfs --iptables=false --ip6tables=false --bridge=none \
    --data-root="$1/data" --exec-root="$1/exec" --pidfile="$1/pid" -H "unix://$1/sock" >"$1/log" 2>&1 </dev/null &
engine=$!
read -r _
kill "$engine"
wait "$engine"
umount "$1"/exec/netns/*
rm -rf "$1"
"#;

const MAKE_IMAGE: &str = r#"
set -e
root=$1/rootfs
mkdir -p "$root"/bin "$root"/tmp "$root"/root "$root"/etc "$root"/home "$root"/var/tmp "$root"/run
chmod 1777 "$root"/tmp "$root"/var/tmp
echo 'root:x:0:0:root:/root:/bin/sh' >"$root"/etc/passwd
cp "$(command -v busybox)" "$root"/bin/busybox
for name in $(busybox --list); do [ "$name" = busybox ] || ln -s busybox "$root/bin/$name"; done
bash=$(command -v bash)
cp --parents -L "$bash" "$root"
[ -e "$root/bin/bash" ] || ln -s "$bash" "$root/bin/bash"
for library in $(ldd "$bash" | grep -o '/[^ ]*'); do cp --parents -L "$library" "$root"; done
if [ "$3" = python ]; then
    python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
    library=$(python3 -c 'import os; print(os.path.dirname(os.__file__))')
    # It looks for its library beside itself, so it can be anywhere; homes are mounted over.
    mkdir -p "$root"/opt/python/bin "$root"/opt/python/lib "$root"/usr/lib
    cp -L "$python" "$root"/opt/python/bin/python3
    ln -s /opt/python/bin/python3 "$root"/bin/python3
    tar -C "${library%/*}" --exclude=site-packages --exclude=dist-packages --exclude=test --exclude=tests \
        --exclude=__pycache__ --exclude='config-*' --exclude=idlelib --exclude=ensurepip -c "${library##*/}" |
        tar -C "$root"/opt/python/lib -x
    for program in "$python" "$library"/lib-dynload/*.so; do
        for needed in $(ldd "$program" | grep -o '/[^ ]*'); do
            case $needed in
            /lib*|/usr/*) [ -e "$root$needed" ] || cp --parents -L "$needed" "$root" ;;
            *) cp -L "$needed" "$root"/usr/lib ;;
            esac
        done
    done
fi
tar -C "$root" -c . | docker -H "unix://$1/sock" import - "$2" >/dev/null
"#;

/// A running engine, ended with all its containers when dropped or when the test dies.
#[derive(Debug)]
pub struct Dockerd {
    folder: PathBuf,
    keeper: Child,
}

impl Dockerd {
    /// Starts one and makes its image.
    pub fn start() -> anyhow::Result<Self> {
        Self::with_image("")
    }

    /// The same, with this machine's Python in the image.
    pub fn start_with_python() -> anyhow::Result<Self> {
        Self::with_image("python")
    }

    fn with_image(more: &str) -> anyhow::Result<Self> {
        // The path is short because the engine puts sockets below it; the keeper removes it.
        let folder = tempfile::Builder::new().prefix("dockerd").tempdir()?.keep();
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("sh")?;
        let engine = Self { folder, keeper };
        eventually(START, "the engine answers", || {
            engine.docker(&["version"]).ok()
        })
        .with_context(|| fs::read_to_string(engine.folder.join("log")).unwrap_or_default())?;
        let made = Command::new("sh")
            .args(["-c", MAKE_IMAGE, "image"])
            .arg(&engine.folder)
            .arg(IMAGE)
            .arg(more)
            .output()?;
        ensure!(
            made.status.success(),
            "no image: {}",
            String::from_utf8_lossy(&made.stderr)
        );
        Ok(engine)
    }

    /// Its address, as in `DOCKER_HOST`.
    pub fn address(&self) -> String {
        format!("unix://{}/sock", self.folder.display())
    }

    /// The image it has.
    pub fn image(&self) -> &'static str {
        IMAGE
    }

    /// Where its files are.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Asks it with the `docker` command line, and returns what that prints.
    pub fn docker(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let answer = Command::new("docker")
            .arg("-H")
            .arg(self.address())
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .context("docker")?;
        ensure!(
            answer.status.success(),
            "docker {arguments:?}: {}",
            String::from_utf8_lossy(&answer.stderr)
        );
        Ok(String::from_utf8(answer.stdout)?.trim().to_owned())
    }
}

impl Drop for Dockerd {
    fn drop(&mut self) {
        let names = self.docker(&["ps", "-aq"]).unwrap_or_default();
        let mut remove = vec!["rm", "-f"];
        remove.extend(names.lines());
        if remove.len() > 2 {
            let _ = self.docker(&remove);
        }
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
