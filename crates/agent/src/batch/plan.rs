//! Which calls may run side by side.

use std::path::{Component, Path, PathBuf};

use hermes_core::Beside;

use super::Ready;

/// Most calls that run at once.
pub(crate) const MOST_AT_ONCE: usize = 8;

/// Cuts a batch into segments: calls of one segment run side by side, segments one after the other.
pub(crate) fn segments(calls: &[Ready], directory: &Path) -> Vec<Vec<usize>> {
    let mut segments: Vec<Vec<usize>> = Vec::new();
    let mut open: Vec<Option<PathBuf>> = Vec::new();
    for (index, ready) in calls.iter().enumerate() {
        let (alone, path) = match ready.tool.handling().beside {
            Beside::Nothing => (true, None),
            Beside::Anything => (false, None),
            Beside::OtherPaths => match path_of(ready, directory) {
                Some(path) => (false, Some(path)),
                // Without a path nothing is known about what it touches.
                None => (true, None),
            },
        };
        let collides = path.as_ref().is_some_and(|path| {
            open.iter()
                .flatten()
                .any(|other| path.starts_with(other) || other.starts_with(path))
        });
        if alone {
            segments.push(vec![index]);
            segments.push(Vec::new());
            open.clear();
            continue;
        }
        if collides {
            segments.push(Vec::new());
            open.clear();
        }
        match segments.last_mut() {
            Some(segment) => segment.push(index),
            None => segments.push(vec![index]),
        }
        open.push(path);
    }
    segments.retain(|segment| !segment.is_empty());
    segments
}

fn path_of(ready: &Ready, directory: &Path) -> Option<PathBuf> {
    let path = ready.call.arguments.get("path")?.as_str()?;
    let whole = directory.join(path);
    // A link may lead two names to one file; what does not exist yet is compared by name.
    Some(whole.canonicalize().unwrap_or_else(|_| lexical(&whole)))
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
        let nameless = ready(Beside::OtherPaths, json!({}));
        assert_eq!(segments(&[nameless, at("a")], here), [vec![0], vec![1]]);
    }
}
