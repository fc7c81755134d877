//! Every transition, and that no path leads to a place without a way back.

use proptest::prelude::*;

use super::*;

fn policy() -> RecoveryPolicy {
    RecoveryPolicy::default()
}

fn after(state: State, events: &[Event]) -> State {
    events
        .iter()
        .fold(state, |state, event| step(state, *event, &policy()).0)
}

#[test]
fn the_first_connect_is_tried_four_times_and_then_parked() {
    let mut state = State::Connecting { failures: 0 };
    let mut waits = Vec::new();
    for _ in 0..3 {
        let (next, effects) = step(state, Event::Failed(Setback::Passing), &policy());
        let [Effect::Connect { after }] = effects[..] else {
            panic!("{effects:?}");
        };
        waits.push(after.as_secs());
        state = next;
    }
    assert_eq!(waits, [1, 2, 4]);
    let (state, effects) = step(state, Event::Failed(Setback::Passing), &policy());
    assert_eq!(state, State::Parked);
    assert!(effects.contains(&Effect::Withdraw));
}

#[test]
fn the_sixth_failure_in_a_row_parks() {
    let mut state = State::Reconnecting { failures: 0 };
    for failures in 1..=5 {
        state = after(state, &[Event::Failed(Setback::Passing)]);
        assert_eq!(state, State::Reconnecting { failures });
    }
    assert_eq!(
        after(state, &[Event::Failed(Setback::Passing)]),
        State::Parked
    );
}

#[test]
fn an_asked_reconnect_is_no_failure_and_a_lost_session_is_one() {
    assert_eq!(
        after(State::Ready, &[Event::Wanted]),
        State::Reconnecting { failures: 0 }
    );
    assert_eq!(
        after(State::Ready, &[Event::Lost { brief: 1 }]),
        State::Reconnecting { failures: 1 }
    );
}

#[test]
fn a_session_is_closed_before_the_next_one_is_made() {
    for event in [Event::Wanted, Event::Urged, Event::Lost { brief: 1 }] {
        let (_, effects) = step(State::Ready, event, &policy());
        assert_eq!(effects.first(), Some(&Effect::Close), "{event:?}");
    }
}

#[test]
fn success_brings_the_whole_budget_back() {
    let worn = State::Reconnecting { failures: 5 };
    let ready = after(worn, &[Event::Connected]);
    assert_eq!(ready, State::Ready);
    let five = [Event::Failed(Setback::Passing); 5];
    let state = after(after(ready, &[Event::Wanted]), &five);
    assert_eq!(state, State::Reconnecting { failures: 5 });
}

#[test]
fn a_parked_server_gets_one_attempt_for_each_wake() {
    for event in [Event::Wanted, Event::Urged, Event::Due] {
        let trying = after(State::Parked, &[event]);
        assert!(trying.is_on_its_way(), "{event:?}");
        assert_eq!(
            after(trying, &[Event::Failed(Setback::Passing)]),
            State::Parked
        );
    }
}

#[test]
fn a_refused_login_waits_and_can_be_woken() {
    for from in [
        State::Connecting { failures: 0 },
        State::Reconnecting { failures: 0 },
    ] {
        let waiting = after(from, &[Event::Failed(Setback::Auth)]);
        assert_eq!(waiting, State::NeedsAuth);
        assert_eq!(
            after(waiting, &[Event::Urged, Event::Connected]),
            State::Ready
        );
    }
}

#[test]
fn what_cannot_work_is_not_tried_again_at_once() {
    let (state, effects) = step(
        State::Connecting { failures: 0 },
        Event::Failed(Setback::Lasting),
        &policy(),
    );
    assert_eq!(state, State::Parked);
    assert!(
        !effects
            .iter()
            .any(|effect| matches!(effect, Effect::Connect { .. }))
    );
}

#[test]
fn what_worked_before_is_tried_again_whatever_it_answers() {
    let lasting = Event::Failed(Setback::Lasting);
    let state = after(State::Reconnecting { failures: 0 }, &[lasting]);
    assert_eq!(state, State::Reconnecting { failures: 1 });
}

#[test]
fn a_recycled_server_keeps_its_tools_and_wakes_for_a_call() {
    let (state, effects) = step(State::Ready, Event::Unused, &policy());
    assert_eq!(state, State::Recycled);
    assert_eq!(effects, [Effect::Close]);
    assert_eq!(
        after(state, &[Event::Wanted]),
        State::Reconnecting { failures: 0 }
    );
}

fn states() -> impl Strategy<Value = State> {
    prop_oneof![
        (0u32..9).prop_map(|failures| State::Connecting { failures }),
        (0u32..9).prop_map(|failures| State::Reconnecting { failures }),
        Just(State::Ready),
        Just(State::Recycled),
        Just(State::Parked),
        Just(State::NeedsAuth),
    ]
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        Just(Event::Connected),
        Just(Event::Failed(Setback::Passing)),
        Just(Event::Failed(Setback::Lasting)),
        Just(Event::Failed(Setback::Auth)),
        Just(Event::Lost { brief: 1 }),
        Just(Event::Wanted),
        Just(Event::Urged),
        Just(Event::Unused),
        Just(Event::Due),
        Just(Event::Closed),
    ]
}

proptest! {
    /// Whatever happened, short of a shutdown, asking for the server leads to an attempt, and an attempt
    /// that works makes it ready.
    #[test]
    fn every_server_that_was_not_stopped_can_come_back(
        start in states(),
        past in proptest::collection::vec(events(), 0..40),
    ) {
        let state = after(start, &past);
        prop_assert!(state.is_alive());
        let asked = after(state, &[Event::Urged]);
        prop_assert!(asked.is_on_its_way(), "{state:?} -> {asked:?}");
        prop_assert_eq!(after(asked, &[Event::Connected]), State::Ready);
    }

    /// Whoever waits for nobody is called by a timer: no state without a session is left alone for ever,
    /// except a recycled one, which waits for a call.
    #[test]
    fn every_state_without_a_session_has_something_under_way(
        start in states(),
        past in proptest::collection::vec(events(), 0..40),
    ) {
        let mut state = start;
        let mut pending = start.is_on_its_way() || matches!(start, State::Parked | State::NeedsAuth);
        for event in past {
            let (next, effects) = step(state, event, &policy());
            if next != state || matches!(event, Event::Failed(_) | Event::Due) {
                pending = effects.iter().any(|effect| {
                    matches!(effect, Effect::Connect { .. } | Effect::Timer { .. })
                }) || (next.is_on_its_way() && state.is_on_its_way() && pending);
            }
            if matches!(event, Event::Failed(_)) && next == state && !state.is_on_its_way() {
                pending = true;
            }
            state = next;
            if !matches!(state, State::Ready | State::Recycled) {
                prop_assert!(pending, "{state:?} after {event:?} waits for nothing");
            }
        }
    }

    #[test]
    fn shutdown_wins_over_everything(
        start in states(),
        past in proptest::collection::vec(events(), 0..20),
    ) {
        let stopping = after(start, &[Event::Shutdown]);
        prop_assert_eq!(stopping, State::Stopping);
        let still = past
            .iter()
            .filter(|event| **event != Event::Closed)
            .fold(stopping, |state, event| step(state, *event, &policy()).0);
        prop_assert_eq!(still, State::Stopping);
        prop_assert_eq!(after(still, &[Event::Closed]), State::Stopped);
    }
}
