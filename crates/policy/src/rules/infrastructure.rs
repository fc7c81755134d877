//! Containers, clusters, clouds and databases.

use super::sql::{destroys_rows, is_sql_client, texts};
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
            "docker compose --project-directory d down",
            "docker --log-level debug stop x",
            "podman pod stop x",
        ],
        passes: &[
            "docker ps",
            "docker compose up -d",
            "docker rm x",
            "docker logs stop",
            "docker run --rm x ls",
            "docker images",
            "docker --log-level debug ps",
            "podman pod ps",
        ],
    },
    Rule {
        category: "container-host-access",
        severity: Severity::Ask,
        reason: "gives a container the whole machine",
        looks: Looks::Program(opens_machine),
        catches: &[
            "docker run -v /:/host alpine sh",
            "docker run --privileged x",
            "docker run --pid host x",
            "docker run --cap-add=SYS_ADMIN x",
            "docker run -v /var/run/docker.sock:/s x",
        ],
        passes: &[
            "docker run -v $PWD:/app node npm test",
            "docker run --rm x",
            "docker run --cap-add=NET_BIND_SERVICE --network host x",
        ],
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
        looks: Looks::Program(|one, _| is_sql_client(one) && destroys_rows(one)),
        catches: &[
            "psql -c 'DROP TABLE t'",
            "mysql -e 'DELETE FROM t'",
            "sqlite3 a.db 'delete from t;'",
            "echo 'truncate table t' | psql",
            "psql <<EOF\ndrop schema public cascade;\nEOF",
            "docker exec db psql -c 'drop database x'",
            "mysql -e \"DROP DATABASE x\"",
            "psql --command='drop table x'",
            "mysql -uroot -e'drop database x'",
            "psql -c 'DELETE FROM users /* where */'",
            "mysql -e 'DELETE t FROM t'",
            "psql -c 'DROP MATERIALIZED VIEW v'",
            "psql -c \"select '--'; drop table t\"",
            "mysql -e '/*! drop table t */'",
        ],
        passes: &[
            "psql -c 'select 1'",
            "mysql -e 'delete from t where id = 1'",
            "echo 'DROP TABLE t'",
            "grep 'DROP TABLE' a.sql",
            "sqlite3 a.db 'update t set a=1 where b=2'",
            "psql --command='select 1 -- drop table t'",
            "psql -c 'select 1 /* drop table t */'",
            "mysql -e 'delete t from t join u where t.id = u.id'",
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
                let drops = |text: &str| text.contains("dropDatabase") || text.contains(".drop(");
                texts(one).iter().any(|text| drops(text))
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
    let mut words = one.words(CONTAINER_VALUED);
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
                | "pod"
                | "kube"
                | "machine"
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

fn opens_machine(one: &Invocation, _: &Surroundings) -> bool {
    let given = |option: &str, values: &[&str]| {
        let found = one.values(&[option]);
        let mut found = found.iter().map(|field| field.text.to_ascii_lowercase());
        found.any(|value| values.contains(&value.as_str()))
    };
    let rights = given("--cap-add", &["all", "sys_admin", "cap_sys_admin"]);
    let runs = one.is(&["docker", "podman", "nerdctl"]) && (one.has("run") || one.has("create"));
    let mut arguments = one.arguments().iter().map(|field| field.text.as_str());
    let opens = |text: &str| {
        let mount = text
            .trim_start_matches("--volume=")
            .trim_start_matches("-v");
        text == "--privileged"
            || text.contains("docker.sock")
            || mount.starts_with("/:")
            || text.contains("source=/,")
            || text.contains("src=/,")
    };
    runs && (rights || given("--pid", &["host"]) || arguments.any(opens))
}

/// Options with a value that may stand before the verb of a program for containers.
const CONTAINER_VALUED: &[&str] = &[
    "-f",
    "--file",
    "-p",
    "--project-name",
    "--project-directory",
    "-H",
    "--host",
    "--context",
    "--profile",
    "-c",
    "--config",
    "--env-file",
    "-l",
    "--log-level",
    "--ansi",
    "--progress",
    "--parallel",
    "--tlscacert",
    "--tlscert",
    "--tlskey",
    "--connection",
    "--url",
    "--identity",
    "--root",
    "--runroot",
    "--storage-driver",
    "--storage-opt",
    "--cgroup-manager",
    "--runtime",
    "-n",
    "--namespace",
    "-a",
    "--address",
    "--data-root",
];

fn destroys(one: &Invocation, _: &Surroundings) -> bool {
    let mut words = one.words(&[
        "-n",
        "--namespace",
        "--context",
        "--profile",
        "--region",
        "-f",
        "--kubeconfig",
        "--project",
    ]);
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
