//! Every package in the tree may be shipped.

use std::path::Path;

use super::manifest::{entries, strings};
use super::metadata::Metadata;
use super::spdx::covered;
use super::{assert_none, read};

#[test]
fn licences_are_on_the_allow_list() {
    let deny = read(Path::new("deny.toml"));
    let all = entries(&deny);
    let list = all
        .iter()
        .find(|entry| entry.section == "licenses" && entry.key == "allow");
    let allowed = strings(&list.unwrap().value);
    let metadata = Metadata::read();
    let refused = metadata.packages.iter().filter(|package| {
        let licence = package.license.as_deref().unwrap_or_default();
        !covered(licence, &allowed)
    });
    let offences: Vec<String> = refused
        .map(|package| {
            let licence = package.license.as_deref().unwrap_or("no licence");
            format!("{} {}: {licence}", package.name, package.version)
        })
        .collect();
    assert_none("licences outside deny.toml", &offences);
}
