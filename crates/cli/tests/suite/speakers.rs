//! One server that is spoken to in each of the five protocols.

use hermes_testkit::model_server::ModelServer;

use super::program::Program;

/// Who speaks each of the protocols: the protocol of an own endpoint, or a provider with its variables.
pub(crate) enum Speaker {
    Own(&'static str, &'static str),
    Provider(&'static str, &'static str, &'static str),
}

pub(crate) const SPEAKERS: [Speaker; 5] = [
    Speaker::Own("chat_completions", "/v1"),
    Speaker::Own("codex_responses", "/v1"),
    Speaker::Own("anthropic_messages", "/anthropic"),
    Speaker::Provider(
        "gemini",
        "gemini-3.5-flash",
        "GEMINI_API_KEY=key-1234567890\nGEMINI_BASE_URL=",
    ),
    Speaker::Provider(
        "bedrock",
        "amazon.nova-pro-v1:0",
        "AWS_BEARER_TOKEN_BEDROCK=key-1234567890\nBEDROCK_BASE_URL=",
    ),
];

/// Writes the settings for one of them and a window of so many tokens; says who it is.
pub(crate) fn configure(
    program: &Program,
    server: &ModelServer,
    speaker: &Speaker,
    window: u32,
) -> &'static str {
    let origin = server.origin();
    let (mode, config) = match speaker {
        Speaker::Own(mode, path) => (
            *mode,
            format!(
                "custom_providers:\n  - name: lab\n    base_url: {origin}{path}\n    api_mode: {mode}\n    model: scripted\n    context_length: {window}\n\
                 model: {{provider: 'custom:lab', default: scripted}}\n"
            ),
        ),
        Speaker::Provider(id, model, variables) => {
            program
                .home
                .write_env(&format!("{variables}{origin}\n"))
                .unwrap();
            let config = format!(
                "model: {{provider: {id}, default: '{model}', context_length: {window}}}\n"
            );
            (*id, config)
        }
    };
    program.home.write_config(&config).unwrap();
    mode
}
