//! Searches, the same everywhere but for what the place has to search with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_exec::{FilesError, FoundLine, Search, SearchFor, SearchFound, SearchedBy};
use tokio_util::sync::CancellationToken;

use super::Case;

impl Case {
    async fn search(&self, what: SearchFor, pattern: &str) -> SearchFound {
        self.files.search(self.query(what, pattern)).await.unwrap()
    }

    fn query(&self, what: SearchFor, pattern: &str) -> Search {
        Search {
            root: self.there.join("tree"),
            pattern: pattern.to_owned(),
            what,
            file_glob: None,
            offset: 0,
            limit: 50,
            context: 0,
            time: Duration::from_secs(60),
            may_see: Arc::new(|path| !path.ends_with("secret.txt")),
            cancel: CancellationToken::new(),
        }
    }

    pub(super) async fn searches(&self, by: SearchedBy) {
        self.put(
            "tree/src/one.rs",
            "fn main() {\n    needle(1);\n    end();\n}\n",
        );
        self.put("tree/src/two.rs", "needle\n\n\nother needle");
        self.put("tree/-odd: 7 é.txt", "-needle");
        self.put("tree/secret.txt", "needle");
        self.put("tree/binary", "needle\0");
        self.put("tree/.hidden/x", "needle");
        let root = self.there.join("tree");
        let told = |found: &[FoundLine]| -> Vec<(PathBuf, u64, String)> {
            let lines = found.iter();
            lines
                .map(|one| (one.path.clone(), one.line, one.content.clone()))
                .collect()
        };
        let found = self.search(SearchFor::Lines, "needle").await;
        let all = [
            (root.join("-odd: 7 é.txt"), 1, "-needle".to_owned()),
            (root.join("src/one.rs"), 2, "    needle(1);".to_owned()),
            (root.join("src/two.rs"), 1, "needle".to_owned()),
            (root.join("src/two.rs"), 4, "other needle".to_owned()),
        ];
        assert_eq!(told(&found.lines), all);
        assert_eq!(
            (found.total, found.omitted, found.incomplete),
            (4, 1, false)
        );
        assert_eq!(found.by, by);
        let page = Search {
            offset: 2,
            limit: 2,
            context: 1,
            file_glob: Some("src/*.{rs,py}".to_owned()),
            ..self.query(SearchFor::Lines, "needle")
        };
        let found = self.files.search(page).await.unwrap();
        assert_eq!(told(&found.lines), all[3..]);
        assert_eq!((found.total, found.lines[0].before.len()), (3, 1));
        let found = self.search(SearchFor::Lines, "-needle").await;
        assert_eq!(told(&found.lines), all[..1]);
        let found = self.search(SearchFor::Counts, "need[l]e|end").await;
        let counts: Vec<_> = found.files.iter().map(|file| file.count).collect();
        assert_eq!(counts, [1, 2, 2]);
        let found = self.search(SearchFor::Files, "^fn").await;
        assert_eq!(found.files[0].path, root.join("src/one.rs"));
        if by.note().is_none() {
            self.put("tree/.ignore", "ignored.rs\n");
            self.put("tree/ignored.rs", "needle");
        }
        self.put("tree/.own.rs", "needle");
        let rust = Search {
            file_glob: Some("*.rs".to_owned()),
            ..self.query(SearchFor::Counts, "needle")
        };
        // A glob brings back nothing that is hidden or ignored.
        let found = self.files.search(rust).await.unwrap();
        assert_eq!((found.total, found.files.len()), (3, 2), "{found:?}");
        let old = std::fs::File::open(self.here.join("tree/src/two.rs")).unwrap();
        old.set_modified(std::time::UNIX_EPOCH).unwrap();
        let found = self.search(SearchFor::Names, "*.rs").await;
        let names: Vec<_> = found.files.iter().map(|file| file.path.clone()).collect();
        assert_eq!(names, [root.join("src/one.rs"), root.join("src/two.rs")]);
        let found = self.search(SearchFor::Names, "e.r").await;
        assert_eq!(found.files.len(), 1, "{found:?}");
        let found = self.search(SearchFor::Names, "src/t").await;
        assert_eq!(found.files.len(), 1);
        let single = Search {
            root: root.join("src/two.rs"),
            ..self.query(SearchFor::Lines, "other")
        };
        let found = self.files.search(single).await.unwrap();
        assert_eq!(told(&found.lines), all[3..]);
        let bad = self.files.search(self.query(SearchFor::Lines, "(")).await;
        assert!(matches!(bad, Err(FilesError::Pattern(_))), "{bad:?}");
    }
}
