//! Containers, clusters, clouds and databases.

use std::sync::LazyLock;

use regex::Regex;

use super::{Looks, Rule, Severity};
use crate::Surroundings;
use crate::shell::Invocation;

pub(super) const RULES: &[Rule] = &[
    Rule {
        category: "container-control",
        severity: Severity::Ask,
        reason: "stops or deletes containers, images or volumes",
        looks: Looks::Program(containers),
        catches: &[
            "docker stop x",
            "docker compose down",
            "docker-compose restart",
            "docker rm -f x",
            "podman kill x",
            "docker system prune -af",
            "docker volume rm v",
            "docker container rm --force x",
            "docker compose -f a.yml down -v",
        ],
        passes: &[
            "docker ps",
            "docker compose up -d",
            "docker rm x",
            "docker logs stop",
            "docker run --rm x ls",
            "docker images",
        ],
    },
    Rule {
        category: "container-host-access",
        severity: Severity::Ask,
        reason: "gives a container the whole machine",
        looks: Looks::Program(|one, _| {
            let runs =
                one.is(&["docker", "podman", "nerdctl"]) && (one.has("run") || one.has("create"));
            runs && one.arguments().iter().any(|field| {
                let text = field.text.as_str();
                let mount = text
                    .trim_start_matches("--volume=")
                    .trim_start_matches("-v");
                text == "--privileged"
                    || text == "--pid=host"
                    || text.contains("docker.sock")
                    || mount.starts_with("/:")
                    || text.contains("source=/,")
                    || text.contains("src=/,")
            })
        }),
        catches: &[
            "docker run -v /:/host alpine sh",
            "docker run --privileged x",
            "docker run -v /var/run/docker.sock:/s x",
        ],
        passes: &["docker run -v $PWD:/app node npm test", "docker run --rm x"],
    },
    Rule {
        category: "infrastructure-destroy",
        severity: Severity::Ask,
        reason: "deletes machines, clusters or stored data",
        looks: Looks::Program(destroys),
        catches: &[
            "terraform destroy",
            "terraform apply -destroy",
            "kubectl delete pod x",
            "helm uninstall x",
            "pulumi destroy --yes",
            "aws s3 rm s3://b --recursive",
            "aws ec2 terminate-instances --instance-ids i",
            "gcloud compute instances delete x",
            "tofu destroy -auto-approve",
            "az group delete -n x",
            "gh repo delete x",
            "kubectl -n prod delete ns x",
            "vagrant destroy",
            "gsutil rm -r gs://x",
            "kubectl drain n1",
            "cdk destroy",
            "heroku apps:destroy x",
            "rclone purge r:x",
            "npm unpublish x",
        ],
        passes: &[
            "terraform plan",
            "kubectl get pods",
            "helm list",
            "aws s3 ls",
            "gh repo view",
            "terraform plan -destroy",
            "kubectl describe pod delete",
        ],
    },
    Rule {
        category: "sql-destructive",
        severity: Severity::Ask,
        reason: "drops, empties or deletes from tables without a condition",
        looks: Looks::Program(|one, _| is_sql_client(one) && texts(one).any(destroys_rows)),
        catches: &[
            "psql -c 'DROP TABLE t'",
            "mysql -e 'DELETE FROM t'",
            "sqlite3 a.db 'delete from t;'",
            "echo 'truncate table t' | psql",
            "psql <<EOF\ndrop schema public cascade;\nEOF",
            "docker exec db psql -c 'drop database x'",
            "mysql -e \"DROP DATABASE x\"",
        ],
        passes: &[
            "psql -c 'select 1'",
            "mysql -e 'delete from t where id = 1'",
            "echo 'DROP TABLE t'",
            "grep 'DROP TABLE' a.sql",
            "sqlite3 a.db 'update t set a=1 where b=2'",
        ],
    },
    Rule {
        category: "drop-database",
        severity: Severity::Ask,
        reason: "deletes a whole database",
        looks: Looks::Program(|one, _| match one.name.as_str() {
            "dropdb" | "dropuser" => true,
            "mysqladmin" => one.has("drop"),
            "redis-cli" | "valkey-cli" => one.arguments().iter().any(|field| {
                matches!(
                    field.text.to_ascii_lowercase().as_str(),
                    "flushall" | "flushdb"
                )
            }),
            "mongo" | "mongosh" => {
                texts(one).any(|text| text.contains("dropDatabase") || text.contains(".drop("))
            }
            "rails" | "rake" => one
                .arguments()
                .iter()
                .any(|field| matches!(field.text.as_str(), "db:drop" | "db:reset" | "db:drop:all")),
            "prisma" => one.argument(0) == "migrate" && one.argument(1) == "reset",
            "manage.py" => one.argument(0) == "flush",
            "etcdctl" => one.argument(0) == "del" && one.long("--prefix"),
            "bundle" | "npx" => {
                one.has("db:drop") || one.has("prisma") && one.has("migrate") && one.has("reset")
            }
            _ => false,
        }),
        catches: &[
            "dropdb x",
            "redis-cli FLUSHALL",
            "mongosh --eval 'db.dropDatabase()'",
            "rails db:drop",
            "npx prisma migrate reset",
        ],
        passes: &[
            "createdb x",
            "redis-cli get x",
            "rails db:migrate",
            "npx prisma migrate dev",
        ],
    },
];

fn containers(one: &Invocation, _: &Surroundings) -> bool {
    if !one.is(&[
        "docker",
        "podman",
        "nerdctl",
        "docker-compose",
        "podman-compose",
    ]) {
        return false;
    }
    let mut words = words(
        one,
        &[
            "-f",
            "--file",
            "-p",
            "--project-name",
            "-H",
            "--host",
            "--context",
            "--profile",
            "-c",
            "--env-file",
        ],
    );
    let mut verb = words.next().unwrap_or_default();
    if verb == "compose"
        || matches!(
            verb,
            "container"
                | "image"
                | "volume"
                | "network"
                | "system"
                | "builder"
                | "stack"
                | "service"
                | "swarm"
        )
    {
        let group = verb;
        verb = words.next().unwrap_or_default();
        if matches!(verb, "prune" | "rm" | "remove") {
            let forced =
                one.short("f") || one.long("--force") || !matches!(group, "container" | "compose");
            return forced || verb == "prune";
        }
    }
    match verb {
        "stop" | "restart" | "kill" | "down" | "leave" => true,
        "rm" => one.short("f") || one.long("--force"),
        "rmi" => one.short("f") || one.long("--force"),
        _ => false,
    }
}

/// Arguments that are neither options nor the values of these.
fn words<'i>(
    one: &'i Invocation,
    valued: &'static [&'static str],
) -> impl Iterator<Item = &'i str> {
    let mut skip = false;
    one.arguments()
        .iter()
        .map(|field| field.text.as_str())
        .filter(move |text| {
            if std::mem::take(&mut skip) {
                return false;
            }
            skip = valued.contains(text);
            !text.starts_with('-')
        })
}

fn destroys(one: &Invocation, _: &Surroundings) -> bool {
    let mut words = words(
        one,
        &[
            "-n",
            "--namespace",
            "--context",
            "--profile",
            "--region",
            "-f",
            "--kubeconfig",
            "--project",
        ],
    );
    let first = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(word));
    match one.name.as_str() {
        "terraform" | "tofu" | "terragrunt" => {
            first == "destroy"
                || first == "apply"
                    && one
                        .arguments()
                        .iter()
                        .any(|field| field.text.trim_start_matches('-') == "destroy")
                || first == "state" && has(&["rm"])
        }
        "pulumi" | "cdk" | "vagrant" | "cdktf" | "sst" | "serverless" | "sls" => {
            matches!(first, "destroy" | "remove")
        }
        "kubectl" | "oc" | "k" => matches!(first, "delete" | "drain"),
        "helm" => matches!(first, "uninstall" | "delete" | "rollback"),
        "aws" => match first {
            "s3" => {
                has(&["rb"])
                    || has(&["rm"]) && one.long("--recursive")
                    || has(&["sync"]) && one.long("--delete")
            }
            _ => rest
                .first()
                .is_some_and(|verb| verb.starts_with("delete-") || verb.starts_with("terminate-")),
        },
        "gcloud" | "az" | "doctl" | "flyctl" | "fly" | "linode-cli" | "hcloud" | "ibmcloud"
        | "oci" => has(&["delete", "destroy", "purge"]) || matches!(first, "destroy" | "delete"),
        "gsutil" => matches!(first, "rm" | "rb"),
        "gh" => {
            matches!(first, "repo" | "release" | "secret" | "cache")
                && rest.first() == Some(&"delete")
        }
        "heroku" => first.ends_with(":destroy") || first == "pg:reset",
        "rclone" => matches!(first, "purge" | "delete" | "sync"),
        "npm" => first == "unpublish",
        "s3cmd" | "mc" => {
            matches!(first, "rm" | "rb" | "del")
                && (one.short("r") || one.long("--recursive") || first == "rb")
        }
        _ => false,
    }
}

fn is_sql_client(one: &Invocation) -> bool {
    one.is(&[
        "psql",
        "mysql",
        "mariadb",
        "sqlite3",
        "sqlite",
        "duckdb",
        "clickhouse-client",
        "clickhouse",
        "sqlcmd",
        "cockroach",
        "pgcli",
        "mycli",
        "usql",
        "isql",
        "sqlplus",
        "bq",
        "snowsql",
    ])
}

/// Arguments and input.
fn texts(one: &Invocation) -> impl Iterator<Item = &str> {
    let arguments = one.arguments().iter().map(|field| field.text.as_str());
    arguments.chain(one.input.known())
}

static DROPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(drop\s+(table|database|schema|view|index|user|role|collection)|truncate\s+(table\s+)?[\w.`\x22]+)").ok()
});

static DELETES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(delete\s+from\s+\S+|update\s+\S+\s+set\b)").ok());

fn destroys_rows(text: &str) -> bool {
    let bare: String = text
        .lines()
        .map(|line| line.split("--").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join(" ");
    // What stands in quotes is a value.
    let bare: String = bare.split('\'').step_by(2).collect::<Vec<_>>().join(" ");
    let drops = DROPS.as_ref().is_some_and(|drops| drops.is_match(&bare));
    drops
        || bare.split(';').any(|statement| {
            let deletes = DELETES
                .as_ref()
                .is_some_and(|deletes| deletes.is_match(statement));
            deletes && !statement.to_ascii_lowercase().contains("where")
        })
}
