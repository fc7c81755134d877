//! What is done after failures: the numbers, the order, and that it always ends.

use std::time::Duration;

use hermes_llm::classify::{Fault, Pace, Reason};
use hermes_llm::failover::{
    ATTEMPTS, Attempt, COMPACTIONS, Delivered, Fix, Health, RENEWALS, Renewal, STALLS, Step,
    next_step,
};
use proptest::prelude::*;

/// The steps after the same fault again and again, as a caller takes them.
fn run(fault: &Fault, mut health: Health, mut attempt: Attempt) -> Vec<Step> {
    let mut steps = Vec::new();
    loop {
        let step = next_step(fault, &health, &attempt, 0.0);
        attempt.record(&step);
        steps.push(step);
        match step {
            Step::NextCredential => health.other_credentials -= 1,
            Step::NextRoute => health.other_routes -= 1,
            Step::Fail | Step::KeepPartial => return steps,
            _ => {}
        }
        assert!(steps.len() < 100, "no end: {steps:?}");
    }
}

fn fault(reason: Reason) -> Fault {
    Fault::new(reason, "no")
}

fn secs(seconds: u64) -> Step {
    Step::Wait(Duration::from_secs(seconds))
}

fn alone(reason: Reason) -> Vec<Step> {
    run(&fault(reason), Health::default(), Attempt::default())
}

// AG-11
#[test]
fn three_attempts_with_doubling_waits() {
    assert_eq!(ATTEMPTS, 3);
    assert_eq!(alone(Reason::ServerError), [secs(2), secs(4), Step::Fail]);
    let many = Health {
        attempts: 8,
        ..Health::default()
    };
    assert_eq!(
        run(&fault(Reason::ServerError), many, Attempt::default()),
        [
            secs(2),
            secs(4),
            secs(8),
            secs(16),
            secs(32),
            secs(60),
            secs(60),
            Step::Fail
        ]
    );
    let none = Health {
        attempts: 0,
        ..Health::default()
    };
    assert_eq!(
        run(&fault(Reason::ServerError), none, Attempt::default()),
        [Step::Fail]
    );
}

// AG-11
#[test]
fn chance_adds_at_most_half() {
    let wait = |jitter| {
        next_step(
            &fault(Reason::ServerError),
            &Health::default(),
            &Attempt::default(),
            jitter,
        )
    };
    assert_eq!(wait(0.0), secs(2));
    assert_eq!(wait(0.5), Step::Wait(Duration::from_millis(2_500)));
    assert_eq!(wait(1.0), secs(3));
    assert_eq!(wait(7.0), secs(3));
}

// AG-11
#[test]
fn a_stated_wait_is_honoured_for_limits_only_and_has_a_bound() {
    let asked = |reason, seconds| {
        let fault = Fault {
            retry_after: Some(Duration::from_secs(seconds)),
            ..fault(reason)
        };
        next_step(&fault, &Health::default(), &Attempt::default(), 1.0)
    };
    assert_eq!(asked(Reason::RateLimit, 17), secs(17));
    assert_eq!(asked(Reason::UpstreamRateLimit, 17), secs(17));
    assert_eq!(asked(Reason::RateLimit, 86_400), secs(600));
    assert_eq!(asked(Reason::ServerError, 17), secs(3));
    assert_eq!(asked(Reason::UsageLimit, 17), secs(17));
    assert_eq!(asked(Reason::UsageLimit, 86_400), Step::Fail);
}

// AG-11
#[test]
fn answers_that_are_none_are_waited_for_longer() {
    assert_eq!(
        alone(Reason::InvalidAnswer),
        [secs(5), secs(10), Step::Fail]
    );
    let many = Health {
        attempts: 7,
        ..Health::default()
    };
    let steps = run(&fault(Reason::InvalidAnswer), many, Attempt::default());
    assert_eq!(steps[5], secs(120));
    let route = Health {
        other_routes: 1,
        ..Health::default()
    };
    assert_eq!(
        run(&fault(Reason::InvalidAnswer), route, Attempt::default())[0],
        Step::NextRoute
    );
}

// AG-11
#[test]
fn a_model_that_is_busy_for_long_gets_eight_attempts() {
    let busy = Fault {
        pace: Pace::Patient,
        ..fault(Reason::Overloaded)
    };
    assert_eq!(
        run(&busy, Health::default(), Attempt::default()),
        [
            secs(2),
            secs(4),
            secs(8),
            secs(30),
            secs(60),
            secs(90),
            secs(120),
            Step::Fail
        ]
    );
}

// AG-12
#[test]
fn a_limited_key_is_tried_twice_then_the_next_then_the_next_route() {
    let pool = Health {
        other_credentials: 1,
        other_routes: 1,
        ..Health::default()
    };
    assert_eq!(
        run(&fault(Reason::RateLimit), pool, Attempt::default()),
        [
            secs(2),
            Step::NextCredential,
            Step::NextRoute,
            secs(2),
            secs(4),
            Step::Fail
        ]
    );
}

// AG-12
#[test]
fn billing_rotates_at_once_and_upstream_limits_never_do() {
    let pool = Health {
        other_credentials: 2,
        other_routes: 1,
        ..Health::default()
    };
    assert_eq!(
        run(&fault(Reason::Billing), pool, Attempt::default()),
        [
            Step::NextCredential,
            Step::NextCredential,
            Step::NextRoute,
            Step::Fail
        ]
    );
    let upstream = run(&fault(Reason::UpstreamRateLimit), pool, Attempt::default());
    assert_eq!(upstream[0], Step::NextRoute);
    assert!(!upstream.contains(&Step::NextCredential));
}

// AG-12
#[test]
fn a_refused_credential_is_renewed_twice_then_left() {
    let pool = Health {
        other_credentials: 1,
        renewal: Renewal::OnAuth,
        ..Health::default()
    };
    assert_eq!(RENEWALS, 2);
    assert_eq!(
        run(&fault(Reason::Auth), pool, Attempt::default()),
        [
            Step::RefreshCredential,
            Step::RefreshCredential,
            Step::NextCredential,
            Step::RefreshCredential,
            Step::RefreshCredential,
            Step::Fail
        ]
    );
    assert_eq!(alone(Reason::Auth), [Step::Fail]);
    let paid = Health {
        renewal: Renewal::OnAuthAndBilling,
        ..Health::default()
    };
    assert_eq!(
        run(&fault(Reason::Billing), paid, Attempt::default()),
        [Step::RefreshCredential, Step::Fail]
    );
}

// AG-12
#[test]
fn silence_and_overload_fall_back_from_the_second_failure() {
    let route = Health {
        other_routes: 1,
        ..Health::default()
    };
    for reason in [Reason::Timeout, Reason::Overloaded] {
        let steps = run(&fault(reason), route, Attempt::default());
        assert_eq!(steps[..2], [secs(2), Step::NextRoute]);
    }
    assert_eq!(
        run(&fault(Reason::ServerError), route, Attempt::default())[..3],
        [secs(2), secs(4), Step::NextRoute]
    );
    assert_eq!(
        alone(Reason::Timeout),
        [
            secs(2),
            secs(4),
            Step::Reconnect(Duration::from_secs(6)),
            Step::Fail
        ]
    );
    let stalled = Health {
        stalls: STALLS,
        ..route
    };
    assert_eq!(
        run(&fault(Reason::Timeout), stalled, Attempt::default()),
        [Step::NextRoute, Step::Fail]
    );
}

// AG-13
#[test]
fn too_large_is_compacted_three_times_and_then_goes_elsewhere() {
    let compact = Step::Compact { window: None };
    let said = |reason, status| Fault {
        status: Some(status),
        ..fault(reason)
    };
    let overflow = said(Reason::ContextOverflow, 400);
    let alone = |fault: &Fault| run(fault, Health::default(), Attempt::default());
    assert_eq!(COMPACTIONS, 3);
    assert_eq!(alone(&overflow), [compact, compact, compact, Step::Fail]);
    assert_eq!(
        alone(&said(Reason::PayloadTooLarge, 413)),
        [
            compact,
            compact,
            compact,
            Step::Fix(Fix::DropToolImages),
            Step::Fail
        ]
    );
    let off = Health {
        compactable: false,
        other_routes: 1,
        ..Health::default()
    };
    assert_eq!(
        run(&overflow, off, Attempt::default()),
        [Step::NextRoute, Step::Fail]
    );
    // Nobody said that it is too long: the server hung up, which may have other reasons.
    let hung_up = fault(Reason::ContextOverflow);
    assert_eq!(
        run(&hung_up, off, Attempt::default()),
        [Step::NextRoute, secs(2), secs(4), Step::Fail]
    );
}

// AG-13
#[test]
fn an_answer_that_does_not_fit_is_asked_for_shorter_before_anything_is_compacted() {
    let overflow = Fault {
        stated_output_left: Some(10_000),
        stated_window: Some(100_000),
        ..fault(Reason::ContextOverflow)
    };
    let steps = run(&overflow, Health::default(), Attempt::default());
    assert_eq!(
        steps[..2],
        [
            Step::Fix(Fix::ShrinkOutput(9_936)),
            Step::Compact {
                window: Some(100_000)
            }
        ]
    );
    let cap = Fault {
        stated_output_left: Some(8_192),
        ..fault(Reason::OutputCap)
    };
    assert_eq!(
        run(&cap, Health::default(), Attempt::default()),
        [Step::Fix(Fix::ShrinkOutput(8_192)), Step::Fail]
    );
    assert_eq!(alone(Reason::OutputCap), [Step::Fail]);
}

// AG-12
#[test]
fn text_that_was_shown_is_kept_unless_a_call_had_begun() {
    let shown = |delivered| {
        let mut attempt = Attempt::default();
        attempt.succeeded();
        attempt.delivered = delivered;
        attempt
    };
    let step =
        |reason, delivered| next_step(&fault(reason), &Health::default(), &shown(delivered), 0.0);
    assert_eq!(step(Reason::Timeout, Delivered::Text), Step::KeepPartial);
    assert_eq!(step(Reason::Overloaded, Delivered::Text), Step::KeepPartial);
    assert_eq!(step(Reason::Timeout, Delivered::OpenCall), secs(2));
    assert_eq!(
        step(Reason::ContentPolicyBlocked, Delivered::Text),
        Step::Fail
    );
}

// AG-12
#[test]
fn changes_of_content_outlive_a_route_and_others_do_not() {
    let mut attempt = Attempt::default();
    attempt.record(&Step::Fix(Fix::StripImages));
    attempt.record(&Step::Fix(Fix::OmitTemperature));
    attempt.record(&Step::NextRoute);
    assert_eq!(attempt.fixes(), [Fix::StripImages]);
    attempt.record(&Step::Wait(Duration::ZERO));
    attempt.record(&Step::Compact { window: None });
    attempt.succeeded();
    assert_eq!((attempt.failures, attempt.compactions), (0, 1));
    assert!(attempt.used(Fix::StripImages));
}

fn any_fault() -> impl Strategy<Value = Fault> {
    (
        proptest::sample::select(Reason::ALL),
        proptest::option::of(0_u64..2_000),
        proptest::option::of(1_024_u32..2_000_000),
        proptest::option::of(512_u32..64_000),
        proptest::sample::select(vec![Pace::Usual, Pace::Slow, Pace::Patient]),
    )
        .prop_map(|(reason, wait, window, left, pace)| Fault {
            retry_after: wait.map(Duration::from_secs),
            stated_window: window,
            stated_output_left: left,
            pace,
            ..fault(reason)
        })
}

fn any_health() -> impl Strategy<Value = Health> {
    (
        0_u32..6,
        0_u32..4,
        0_u32..4,
        proptest::sample::select(vec![
            Renewal::Never,
            Renewal::OnAuth,
            Renewal::OnAuthAndBilling,
        ]),
        any::<bool>(),
        0_u32..7,
    )
        .prop_map(
            |(attempts, other_credentials, other_routes, renewal, compactable, stalls)| Health {
                attempts,
                other_credentials,
                other_routes,
                renewal,
                compactable,
                stalls,
                most_stalls: STALLS,
                retries: None,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // AG-11, AG-12: whatever goes wrong, in whatever order, it ends; every wait takes time, and no change is
    // made twice on a route. That a change really changes the request is the caller's business.
    #[test]
    fn any_script_of_faults_ends(
        script in proptest::collection::vec(any_fault(), 1..12),
        health in any_health(),
        jitter in 0.0_f64..1.0,
    ) {
        let mut left = health;
        let mut attempt = Attempt::default();
        let mut fixes: Vec<Fix> = Vec::new();
        let mut waited = Duration::ZERO;
        let mut ended = false;
        for fault in script.iter().cycle().take(1_000) {
            let step = next_step(fault, &left, &attempt, jitter);
            attempt.record(&step);
            match step {
                Step::Wait(wait) | Step::Reconnect(wait) => {
                    prop_assert!(wait > Duration::ZERO, "{fault:?} is repeated at once");
                    prop_assert!(wait <= Duration::from_secs(600));
                    waited += wait;
                }
                Step::NextCredential => {
                    prop_assert!(left.other_credentials > 0);
                    left.other_credentials -= 1;
                }
                Step::NextRoute => {
                    prop_assert!(left.other_routes > 0);
                    left.other_routes -= 1;
                    fixes.retain(|fix| fix.is_of_content());
                }
                Step::Fix(fix) => {
                    prop_assert!(!fixes.iter().any(|used| used.is_like(fix)), "{fix:?} twice");
                    fixes.push(fix);
                }
                Step::RefreshCredential => prop_assert!(attempt.renewals <= RENEWALS),
                Step::Compact { .. } => prop_assert!(attempt.compactions <= COMPACTIONS),
                Step::KeepPartial | Step::Fail => {
                    ended = true;
                    break;
                }
            }
        }
        prop_assert!(ended, "no end within 1000 steps");
        prop_assert!(waited <= Duration::from_secs(600 * 9 * 4));
    }
}

// AG-16
#[test]
fn what_the_user_says_about_broken_streams_is_final() {
    let broken = Fault::new(Reason::Timeout, "it broke off");
    for retries in [0, 1, 4] {
        let health = Health {
            retries: Some(retries),
            ..Health::default()
        };
        let mut attempt = Attempt::default();
        let mut again = 0;
        while let step @ Step::Wait(_) = next_step(&broken, &health, &attempt, 0.0) {
            attempt.record(&step);
            again += 1;
        }
        assert_eq!(again, retries);
        assert_eq!(next_step(&broken, &health, &attempt, 0.0), Step::Fail);
    }
}
