//! Stopping while pictures are made smaller.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Instant;

use hermes_core::MediaReader;
use hermes_llm::Quirks;
use tokio::sync::Notify;

use super::*;
use crate::suite::lab::PROTOCOLS;

/// A picture that takes forever to read from a certain time on.
struct Slow {
    /// How often it is read at once.
    quick: u32,
    read: AtomicU32,
    reached: Notify,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Slow {
    fn after(quick: u32) -> Arc<Self> {
        Arc::new(Self {
            quick,
            read: AtomicU32::new(0),
            reached: Notify::new(),
            open: Mutex::new(false),
            opened: Condvar::new(),
        })
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

impl MediaReader for Slow {
    fn read(&self, hash: &str) -> Option<Vec<u8>> {
        if self.read.fetch_add(1, Ordering::SeqCst) >= self.quick {
            self.reached.notify_one();
            let open = self.open.lock().unwrap();
            let _open = self.opened.wait_while(open, |open| !*open).unwrap();
        }
        (hash == "picture").then(|| b"png".to_vec())
    }
}

async fn is_stopped(lab: &mut Lab, route: &Route, slow: Arc<Slow>) {
    lab.caller.transport.media = slow.clone();
    let mut message = user("What is this?");
    message.parts.push(picture());
    let request = request(vec![message]);
    let ask = Ask {
        request: &request,
        tokens: 100,
        compactable: true,
        addressed: None,
    };
    let (cancel, mut heard) = (CancellationToken::new(), Heard::default());
    let mut course = course(route);
    let call = lab.caller.call(&mut course, &ask, &mut heard, &cancel);
    let stop = async {
        slow.reached.notified().await;
        cancel.cancel();
        Instant::now()
    };
    let (end, since) = tokio::join!(call, stop);
    let took = since.elapsed();
    slow.open();
    assert!(matches!(end, CallEnd::Stopped(_)), "{end:?}");
    assert!(took < Duration::from_millis(300), "{took:?}");
}

// AG-8
#[tokio::test]
async fn a_stop_is_heard_while_pictures_are_made_smaller() {
    let server = serve([]);
    let mut lab = Lab::new();
    let mut route = lab.route(PROTOCOLS[0], &server);
    route.quirks = Arc::new(Quirks {
        picture_edge: Some(1_000),
        ..Quirks::default()
    });
    is_stopped(&mut lab, &route, Slow::after(0)).await;
    assert!(server.requests().is_empty());
}

// AG-8
#[tokio::test]
async fn a_stop_is_heard_while_it_is_looked_whether_a_refused_request_has_changed() {
    let message = "image exceeds 5 MB maximum: 9000000 bytes > 5242880 bytes";
    let body = json!({"error": {"type": "invalid_request_error", "message": message}});
    let server = serve([error(400).body(body).into()]);
    let mut lab = Lab::new();
    let route = lab.route(PROTOCOLS[0], &server);
    // Read for the request and for its print; then for the smaller one.
    is_stopped(&mut lab, &route, Slow::after(2)).await;
    assert_eq!(server.requests().len(), 1);
}
