//! Commands that use a real `sudo`, as a user who needs a password for it.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_core::future::BoxFuture;
use hermes_core::{Answer, AnsweredBy, Asker, Question, QuestionKind, Reply, Tool};
use hermes_testkit::Sshd;
use hermes_tools::Terminal;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::away;
use super::fixture::context;

const USER: &str = "hermes-sudoer";
const PASSWORD: &str = "correct horse's \"battery\"";

/// Somebody who types these passwords, one after the other.
struct Typist {
    passwords: Mutex<Vec<&'static str>>,
    asked: AtomicUsize,
}

impl Asker for Typist {
    fn ask(&self, question: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        assert!(matches!(question.kind, QuestionKind::Secret { .. }));
        self.asked.fetch_add(1, Ordering::Relaxed);
        let typed = self.passwords.lock().unwrap().remove(0).to_owned();
        Box::pin(async {
            Reply {
                answer: Answer::Text(typed),
                by: AnsweredBy::Person("tester".to_owned()),
            }
        })
    }
}

// EX-11
#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_asked_for_kept_and_forgotten_when_it_is_wrong() {
    let server = Sshd::start_with_sudoer(USER, PASSWORD).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let backend = away::ssh(&server, USER);
    let place = Arc::new(away::workplace(&backend, "/tmp", folder.path()));
    let terminal = Terminal::new(place);
    let typist = Arc::new(Typist {
        passwords: Mutex::new(vec!["wrong", PASSWORD]),
        asked: AtomicUsize::new(0),
    });
    let mut context = context("one", Path::new("/"));
    context.asker = typist.clone();
    let run = async |command: &str| -> Json {
        let result = terminal.call(json!({ "command": command }), &context).await;
        serde_json::from_str(&result.unwrap().content).unwrap()
    };
    assert_ne!(run("id -u").await["output"], "0");
    assert_eq!(typist.asked.load(Ordering::Relaxed), 0);
    let wrong = run("sudo id -u").await;
    assert_eq!(wrong["sudo_auth_failed"], true, "{wrong}");
    assert_eq!(wrong["sudo_cache_cleared"], true, "{wrong}");
    // Each of them gets its line, and the program behind it nothing of it.
    let right = run("sudo id -u; sudo cat; echo end").await;
    assert_eq!(right["output"], "0\nend", "{right}");
    assert!(right.get("sudo_auth_failed").is_none());
    // Kept for the session: nobody is asked again, and nothing shows it.
    let again = run("sudo sh -c 'id -u'").await;
    assert_eq!(again["output"], "0", "{again}");
    assert_eq!(typist.asked.load(Ordering::Relaxed), 2);
    let shown = run(&format!("echo '{}'", PASSWORD.replace('\'', "'\\''"))).await;
    assert!(
        !shown["output"].as_str().unwrap().contains("battery"),
        "{shown}"
    );
    backend.close().await.unwrap();
}
