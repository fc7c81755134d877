//! What a rule is.

use std::fmt;

use serde::Serialize;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look by whoever reads the report anyway.
    Low,
    /// Common in harmless skills too.
    Medium,
    /// Seldom needed; a person should have seen it.
    High,
    /// No skill has a good reason for it.
    Critical,
}

impl Severity {
    /// One step less.
    pub(super) fn lowered(self) -> Self {
        match self {
            Self::Critical => Self::High,
            Self::High => Self::Medium,
            Self::Medium | Self::Low => Self::Low,
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Secrets or conversations leave the machine.
    Exfiltration,
    /// The text tries to take the agent over.
    Injection,
    /// Data is destroyed.
    Destructive,
    /// Something stays behind and starts again.
    Persistence,
    /// Doors are opened to the network.
    Network,
    /// What the code does is hidden.
    Obfuscation,
    /// Other programs are started.
    Execution,
    /// Files outside the task are reached for.
    Traversal,
    /// The machine computes for somebody else.
    Mining,
    /// Code comes from elsewhere at run time.
    SupplyChain,
    /// More rights are taken.
    PrivilegeEscalation,
    /// A key stands in the open.
    CredentialExposure,
    /// The skill is built in a way no skill should be.
    Structural,
}

impl Category {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exfiltration => "exfiltration",
            Self::Injection => "injection",
            Self::Destructive => "destructive",
            Self::Persistence => "persistence",
            Self::Network => "network",
            Self::Obfuscation => "obfuscation",
            Self::Execution => "execution",
            Self::Traversal => "traversal",
            Self::Mining => "mining",
            Self::SupplyChain => "supply_chain",
            Self::PrivilegeEscalation => "privilege_escalation",
            Self::CredentialExposure => "credential_exposure",
            Self::Structural => "structural",
        }
    }

    /// Whether an example in a code fence weighs less than the same line in a script. What is aimed at
    /// the reader, what cannot be undone and what is bad wherever it stands does not.
    pub(super) fn is_milder_in_fences(self) -> bool {
        match self {
            Self::Exfiltration
            | Self::Persistence
            | Self::Obfuscation
            | Self::Execution
            | Self::Traversal
            | Self::SupplyChain
            | Self::PrivilegeEscalation => true,
            Self::Injection
            | Self::Destructive
            | Self::Network
            | Self::Mining
            | Self::CredentialExposure
            | Self::Structural => false,
        }
    }
}

/// Where a rule looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    Everywhere,
    /// In Markdown only: elsewhere the same is ordinary.
    InMarkdown,
}

/// One thing that is looked for, with a line that has it and one that looks similar and does not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) category: Category,
    pub(super) severity: Severity,
    pub(super) pattern: &'static str,
    /// What makes the line harmless after all; nothing when empty.
    pub(super) unless: &'static str,
    pub(super) looks: Looks,
    /// Whether the finding is about reading a variable the skill may have asked for openly.
    pub(super) reads_variable: bool,
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "read by the tests of the rules")
    )]
    pub(super) hostile: &'static str,
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "read by the tests of the rules")
    )]
    pub(super) benign: &'static str,
}

impl Rule {
    pub(super) const fn new(
        category: Category,
        severity: Severity,
        id: &'static str,
        pattern: &'static str,
        [hostile, benign]: [&'static str; 2],
    ) -> Self {
        Self {
            id,
            category,
            severity,
            pattern,
            unless: "",
            looks: Looks::Everywhere,
            reads_variable: false,
            hostile,
            benign,
        }
    }

    pub(super) const fn unless(mut self, pattern: &'static str) -> Self {
        self.unless = pattern;
        self
    }

    pub(super) const fn in_markdown(mut self) -> Self {
        self.looks = Looks::InMarkdown;
        self
    }

    pub(super) const fn reads_variable(mut self) -> Self {
        self.reads_variable = true;
        self
    }
}
