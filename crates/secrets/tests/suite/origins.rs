use hermes_secrets::{Origin, OriginPattern};

#[track_caller]
fn check(pattern: &str, origin: &str, expected: bool) {
    let pattern: OriginPattern = pattern.parse().expect("a pattern");
    let origin: Origin = origin.parse().expect("an origin");
    assert_eq!(pattern.matches(&origin), expected, "{pattern} on {origin}");
}

#[test]
fn an_exact_pattern_needs_scheme_host_and_port() {
    check(
        "https://api.example.com",
        "https://API.example.com:443/v1?x",
        true,
    );
    check("api.example.com", "https://api.example.com.", true);
    check("https://api.example.com", "http://api.example.com", false);
    check(
        "https://api.example.com",
        "https://api.example.com:8443",
        false,
    );
    check(
        "https://api.example.com",
        "https://api.example.com.evil.test",
        false,
    );
    check(
        "https://api.example.com",
        "https://evil.test/?api.example.com",
        false,
    );
    check(
        "https://api.example.com",
        "https://api.example.com@evil.test",
        false,
    );
    check(
        "http://127.0.0.1:11434",
        "http://2130706433:11434/api",
        true,
    );
    check("http://[::1]:1234", "http://[0:0::1]:1234", true);
}

#[test]
fn a_wildcard_covers_sub_domains_only() {
    check("*.example.com", "https://a.example.com", true);
    check("*.example.com", "https://a.b.example.com", true);
    check("*.example.com", "https://example.com", false);
    check("*.example.com", "https://evilexample.com", false);
    check("*.example.com", "http://a.example.com", false);
    check(
        "https://*.example.com:8443",
        "https://a.example.com:8443",
        true,
    );
    check("https://*.example.com:8443", "https://a.example.com", false);
}

#[test]
fn a_wildcard_over_too_much_is_refused() {
    for text in [
        "*",
        "*.com",
        "https://*",
        "a.*.example.com",
        "*.*.example.com",
        "*.0.0.1",
        "file:///x",
    ] {
        assert!(text.parse::<OriginPattern>().is_err(), "{text}");
    }
}

#[test]
fn origins_print_without_default_ports() {
    let shown = |text: &str| text.parse::<Origin>().expect("an origin").to_string();
    assert_eq!(shown("https://A.test:443/x"), "https://a.test");
    assert_eq!(shown("http://a.test:8080"), "http://a.test:8080");
    assert_eq!(shown("postgres://u:p@db:5432/x"), "postgres://db:5432");
}
