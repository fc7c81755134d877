//! The profiles that are part of the program.

/// Every built-in provider with the text of its file, in the order `auto` tries them.
pub(super) const BUILT_IN: &[(&str, &str)] = &[
    ("openrouter", include_str!("../../profiles/openrouter.yaml")),
    ("openai-api", include_str!("../../profiles/openai-api.yaml")),
    ("anthropic", include_str!("../../profiles/anthropic.yaml")),
    ("gemini", include_str!("../../profiles/gemini.yaml")),
    ("vertex", include_str!("../../profiles/vertex.yaml")),
    ("deepseek", include_str!("../../profiles/deepseek.yaml")),
    ("xai", include_str!("../../profiles/xai.yaml")),
    ("zai", include_str!("../../profiles/zai.yaml")),
    (
        "kimi-coding",
        include_str!("../../profiles/kimi-coding.yaml"),
    ),
    (
        "kimi-coding-cn",
        include_str!("../../profiles/kimi-coding-cn.yaml"),
    ),
    ("minimax", include_str!("../../profiles/minimax.yaml")),
    ("minimax-cn", include_str!("../../profiles/minimax-cn.yaml")),
    ("alibaba", include_str!("../../profiles/alibaba.yaml")),
    (
        "alibaba-coding-plan",
        include_str!("../../profiles/alibaba-coding-plan.yaml"),
    ),
    ("fireworks", include_str!("../../profiles/fireworks.yaml")),
    ("novita", include_str!("../../profiles/novita.yaml")),
    ("xiaomi", include_str!("../../profiles/xiaomi.yaml")),
    (
        "tencent-tokenhub",
        include_str!("../../profiles/tencent-tokenhub.yaml"),
    ),
    ("nvidia", include_str!("../../profiles/nvidia.yaml")),
    ("stepfun", include_str!("../../profiles/stepfun.yaml")),
    (
        "ollama-cloud",
        include_str!("../../profiles/ollama-cloud.yaml"),
    ),
    ("arcee", include_str!("../../profiles/arcee.yaml")),
    ("gmi", include_str!("../../profiles/gmi.yaml")),
    ("kilocode", include_str!("../../profiles/kilocode.yaml")),
    (
        "opencode-zen",
        include_str!("../../profiles/opencode-zen.yaml"),
    ),
    (
        "opencode-go",
        include_str!("../../profiles/opencode-go.yaml"),
    ),
    ("deepinfra", include_str!("../../profiles/deepinfra.yaml")),
    ("upstage", include_str!("../../profiles/upstage.yaml")),
    (
        "azure-foundry",
        include_str!("../../profiles/azure-foundry.yaml"),
    ),
    (
        "huggingface",
        include_str!("../../profiles/huggingface.yaml"),
    ),
    ("nous", include_str!("../../profiles/nous.yaml")),
    ("bedrock", include_str!("../../profiles/bedrock.yaml")),
    ("lmstudio", include_str!("../../profiles/lmstudio.yaml")),
    ("custom", include_str!("../../profiles/custom.yaml")),
    ("local", include_str!("../../profiles/local.yaml")),
];
