//! Providers that cannot answer now.

use super::*;

// PV-21
#[tokio::test]
async fn a_provider_that_wants_to_be_paid_comes_last_for_ten_minutes() {
    let broke = serve([error(402).into(), error(402).into(), text("paid").into()]);
    let lab = Lab::new();
    let first = Arc::new(route("broke", CHAT, &broke));
    let second = Arc::new(route("rich", CHAT, &broke));
    lab.keys("broke", &broke, &["sk-broke"]);
    let order = || -> Vec<String> {
        let routes = lab.caller.by_health(vec![first.clone(), second.clone()]);
        routes.iter().map(|route| route.provider.clone()).collect()
    };
    assert_eq!(order(), ["broke", "rich"]);
    lab.fail(&first, &question()).await;
    assert_eq!(order(), ["rich", "broke"]);
    lab.clock.advance(Duration::from_secs(599));
    assert_eq!(order(), ["rich", "broke"]);
    lab.clock.advance(Duration::from_secs(1));
    assert_eq!(order(), ["broke", "rich"]);
    // One that answers is well at once.
    lab.fail(&first, &question()).await;
    assert_eq!(order(), ["rich", "broke"]);
    lab.ask(&first, &question()).await;
    assert_eq!(order(), ["broke", "rich"]);
}
