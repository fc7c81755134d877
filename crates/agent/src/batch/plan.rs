//! Which calls may run side by side.

use std::path::{Component, Path, PathBuf};

use hermes_core::Beside;

use super::Ready;

/// Most calls that run at once.
pub(crate) const MOST_AT_ONCE: usize = 8;

/// How many calls of a batch, the first `done` of which have run, may run side by side next. What they touch is
/// asked now and not earlier, because a call before them may have changed what their words mean.
pub(crate) fn next(calls: &[Ready], done: usize, directory: &Path) -> usize {
    let mut open: Vec<PathBuf> = Vec::new();
    let mut together = 0;
    for ready in calls.iter().skip(done) {
        let paths = match ready.tool.handling().beside {
            Beside::Anything => Vec::new(),
            Beside::Nothing => return together.max(1),
            Beside::OtherPaths => match ready.tool.touches(&ready.call.arguments, directory) {
                Some(paths) => paths.iter().map(|path| canonical(path)).collect(),
                None => return together.max(1),
            },
        };
        let collides = paths.iter().any(|path| {
            open.iter()
                .any(|other| path.starts_with(other) || other.starts_with(path))
        });
        if collides {
            break;
        }
        together += 1;
        open.extend(paths);
    }
    together
}

/// A link may lead two names to one file; of what does not exist yet the part that does is followed.
fn canonical(path: &Path) -> PathBuf {
    let whole = lexical(path);
    // Where a link stands before a `..`, only the disk knows what that means.
    path.canonicalize().unwrap_or_else(|_| {
        let known = whole
            .ancestors()
            .find_map(|above| Some((above, above.canonicalize().ok()?)));
        let found =
            known.and_then(|(above, real)| Some(real.join(whole.strip_prefix(above).ok()?)));
        found.unwrap_or_else(|| whole.clone())
    })
}

fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_core::future::BoxFuture;
    use hermes_core::{
        CallId, Effect, Handling, Tool, ToolCall, ToolContext, ToolOutcome, ToolSpec,
    };
    use serde_json::{Value as Json, json};

    use super::*;

    struct Named(ToolSpec, Beside);

    impl Tool for Named {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        fn handling(&self) -> Handling {
            Handling {
                beside: self.1,
                ..Handling::default()
            }
        }
        fn touches(&self, arguments: &Json, directory: &Path) -> Option<Vec<PathBuf>> {
            Some(vec![directory.join(arguments.get("path")?.as_str()?)])
        }
        fn call<'a>(&'a self, _: Json, _: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
            unreachable!("plans do not run tools")
        }
    }

    fn ready(beside: Beside, arguments: Json) -> Ready {
        let spec = ToolSpec {
            name: "tool".into(),
            description: String::new(),
            parameters: json!({}),
            effect: Effect::ReadOnly,
        };
        Ready {
            asked: "tool".into(),
            call: ToolCall {
                id: CallId("c".into()),
                name: "tool".into(),
                arguments,
            },
            tool: Arc::new(Named(spec, beside)),
        }
    }

    fn segments(calls: &[Ready], directory: &Path) -> Vec<Vec<usize>> {
        let mut segments: Vec<Vec<usize>> = Vec::new();
        let mut done = 0;
        while done < calls.len() {
            let end = done + next(calls, done, directory);
            segments.push((done..end).collect());
            done = end;
        }
        segments
    }

    // AG-6
    #[test]
    fn barriers_and_overlapping_paths_split_a_batch() {
        let free = || ready(Beside::Anything, json!({}));
        let at = |path: &str| ready(Beside::OtherPaths, json!({"path": path}));
        let barrier = || ready(Beside::Nothing, json!({}));
        let here = Path::new("/nowhere");
        assert_eq!(segments(&[free(), free()], here), [vec![0, 1]]);
        assert_eq!(
            segments(&[free(), barrier(), free(), free()], here),
            [vec![0], vec![1], vec![2, 3]]
        );
        assert_eq!(segments(&[at("a"), at("b"), free()], here), [vec![0, 1, 2]]);
        assert_eq!(segments(&[at("a"), at("./a")], here), [vec![0], vec![1]]);
        assert_eq!(
            segments(&[at("a"), at("a/b/../c"), at("d")], here),
            [vec![0], vec![1, 2]]
        );
        assert_eq!(segments(&[barrier(), barrier()], here), [vec![0], vec![1]]);
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("link")).unwrap();
        let both = [at("new"), at("link/new")];
        assert_eq!(segments(&both, folder.path()), [vec![0], vec![1]]);
        let nameless = ready(Beside::OtherPaths, json!({}));
        assert_eq!(segments(&[nameless, at("a")], here), [vec![0], vec![1]]);
    }
}
