use super::*;

fn chosen(settings: &[(&str, &str)], job: Job, variables: &[(&str, &str)]) -> String {
    let mut web = Web::default();
    for (name, value) in settings {
        let place = match *name {
            "backend" => &mut web.backend,
            "search" => &mut web.search_backend,
            _ => &mut web.extract_backend,
        };
        *place = (*value).to_owned();
    }
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name)?;
        Some(found.1.to_owned())
    };
    match choose(&web, job, &variable) {
        Ok(account) => account.service().name().to_owned(),
        Err(error) => error.to_string(),
    }
}

// IN-4
#[test]
fn the_first_service_that_can_be_used_is_asked_and_a_named_one_before_it() {
    let keys = [
        ("TAVILY_API_KEY", "a"),
        ("EXA_API_KEY", "b"),
        ("PARALLEL_API_KEY", "c"),
        ("FIRECRAWL_API_KEY", "d"),
        ("TOOL_GATEWAY_USER_TOKEN", "e"),
        ("SEARXNG_URL", "http://s"),
        ("BRAVE_SEARCH_API_KEY", "f"),
    ];
    let order = [
        "tavily",
        "exa",
        "parallel",
        "firecrawl",
        "gateway",
        "searxng",
        "brave-free",
        "ddgs",
    ];
    for (at, name) in order.iter().enumerate() {
        assert_eq!(chosen(&[], Job::Search, &keys[at..]), *name);
        let reads = order[..5].get(at).unwrap_or(&"direct");
        assert_eq!(chosen(&[], Job::Extract, &keys[at..]), *reads);
    }
    let named = [("backend", "exa"), ("search", "brave")];
    assert_eq!(chosen(&named, Job::Search, &keys), "brave-free");
    assert_eq!(chosen(&named, Job::Extract, &keys), "exa");
    assert_eq!(
        chosen(&[("backend", "searxng")], Job::Extract, &keys),
        "tavily"
    );
    assert_eq!(
        chosen(
            &[],
            Job::Search,
            &[("FIRECRAWL_API_URL", "http://own:3002")]
        ),
        "firecrawl"
    );
    assert_eq!(
        chosen(&[("search", "xai")], Job::Search, &[("XAI_API_KEY", "x")]),
        "xai"
    );
}

// IN-4
#[test]
fn a_named_service_that_cannot_be_used_is_not_replaced() {
    assert_eq!(
        chosen(
            &[("backend", "tavily")],
            Job::Search,
            &[("EXA_API_KEY", "b")]
        ),
        "web.backend is tavily, but TAVILY_API_KEY is not set"
    );
    let unknown = chosen(&[("extract", "brave")], Job::Extract, &[]);
    assert!(
        unknown.starts_with(
            "web.extract_backend is brave, which is no web service; known are tavily, exa"
        ),
        "{unknown}"
    );
    assert_eq!(
        chosen(&[], Job::Search, &[("SEARXNG_URL", "somewhere")]),
        "SEARXNG_URL is not an address that begins with http:// or https://"
    );
}
