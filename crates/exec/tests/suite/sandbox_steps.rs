//! What one confined command prepares and the next one, in a sandbox of its own, must not achieve by it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hermes_policy::{Mode, Network};

use super::sandbox::{Cell, OWN, Ran, cells};

/// Lets whoever the commands of a cell run as write what a test made for them.
fn lend(path: &Path) -> Result<()> {
    let lent = std::process::Command::new("chmod")
        .args(["-R", "a+rwX"])
        .arg(path)
        .status()?;
    ensure!(lent.success(), "chmod");
    Ok(())
}

/// Runs the commands one after the other, each in a sandbox that is made for it. What they say together.
fn run(cell: &Cell, steps: &[&str]) -> Result<String> {
    let mut said = String::new();
    for step in steps {
        said.push_str(&cell.run(step)?.text);
    }
    Ok(said)
}

// EX-68: a link by the name of a protected place shows nothing of what it leads to.
#[test]
fn links_named_like_protected_places_open_nothing() -> Result<()> {
    const READ: &str = "cat ~/.ssh/id_test ~/.hermes/.env .hermes .hermes/id_test .git/config .git/hooks/id_test; true";
    for plant in [
        "ln -s ~/.ssh/id_test .hermes",
        "ln -s ../home/.ssh .hermes",
        "rm -rf .git; mkdir .git; ln -s ~/.hermes/.env .git/config; ln -s ~/.ssh .git/hooks",
        "mv .git kept; ln -s ~/.ssh .git; mkdir sub; ln -s ~/.hermes .hermes",
    ] {
        for cell in cells()? {
            let text = run(&cell, &[plant, READ])?;
            let mechanism = cell.mechanism();
            assert!(!text.contains("CREDENTIAL"), "{mechanism}: {plant}: {text}");
            for mode in [Mode::WorkspaceWrite, Mode::ReadOnly] {
                let ran = cell.run_with(mode, Network::On, &["bash", "-c", READ])?;
                let text = ran.text;
                assert!(!text.contains("CREDENTIAL"), "{mechanism}: {plant}: {text}");
            }
        }
    }
    Ok(())
}

// EX-68: a repository may bring such a link along.
#[test]
fn a_repository_that_brings_links_along_opens_nothing() -> Result<()> {
    for cell in cells()? {
        let work = cell.root.join("work");
        symlink("../home/.ssh/id_test", work.join(".hermes"))?;
        let ran = cell.run("cat .hermes ~/.ssh/id_test; true")?;
        let (mechanism, text) = (cell.mechanism(), ran.text);
        assert!(!text.contains("CREDENTIAL"), "{mechanism}: {text}");
    }
    Ok(())
}

// EX-68: what may be written is not what a command put a link to.
#[test]
fn a_link_is_no_writable_root() -> Result<()> {
    const GRANTED: &str = "temporary/x/p/granted";
    for mut cell in cells()? {
        for folder in [GRANTED, "work/seen", "outside/granted"] {
            fs::create_dir_all(cell.root.join(folder))?;
        }
        for lent in ["temporary", "work", "outside"] {
            lend(&cell.root.join(lent))?;
        }
        let granted = [GRANTED, "work/out"].map(|path| cell.root.join(path));
        cell.surroundings.writable.extend(granted);
        let text = run(
            &cell,
            &[
                "cd $ROOT/temporary && mv x/p x/q; mv x y; mkdir -p x; ln -s $ROOT/outside x/p; \
                 ln -s $ROOT/outside $ROOT/work/out",
                "for place in outside outside/granted outside/out; do echo bad > $ROOT/$place/planted; done; true",
                "echo bad > $ROOT/work/out/planted; echo bad > $ROOT/temporary/x/p/granted/planted; true",
            ],
        )?;
        let mechanism = cell.mechanism();
        for place in ["outside/planted", "outside/granted/planted"] {
            let planted = cell.root.join(place).exists();
            assert!(!planted, "{mechanism}: {place}: {text}");
        }
    }
    Ok(())
}

// EX-68: whoever works in their home lends out no more than that.
#[test]
fn a_link_in_a_home_that_is_the_workspace_is_no_cache() -> Result<()> {
    for mut cell in cells()? {
        cell.surroundings.workspace = cell.root.join("home");
        for folder in ["home/.cargo", "home/.hermes/hooks", "outside"] {
            fs::create_dir_all(cell.root.join(folder))?;
            lend(&cell.root.join(folder))?;
        }
        let text = run(
            &cell,
            &[
                "ln -s $ROOT/outside ~/.cargo/git; ln -s ~/.hermes/hooks ~/.cargo/registry",
                "echo bad > $ROOT/outside/planted; echo bad > ~/.cargo/git/planted; \
                 echo bad > ~/.hermes/hooks/planted; echo bad > ~/.cargo/registry/planted; true",
            ],
        )?;
        let mechanism = cell.mechanism();
        for place in ["outside/planted", "home/.hermes/hooks/planted"] {
            let planted = cell.root.join(place).exists();
            assert!(!planted, "{mechanism}: {place}: {text}");
        }
        if cell.has_mounts() {
            // Nor is it left for a session that works elsewhere.
            let left = cell.root.join("home/.cargo/git").is_symlink();
            assert!(!left, "{mechanism}: {text}");
        }
    }
    Ok(())
}

// EX-68: what is hidden stays where it is, with all that it lies in.
#[test]
fn hidden_places_are_not_moved_with_a_parent() -> Result<()> {
    for mut cell in cells()? {
        let secret = cell.root.join("work/a/b/secret");
        fs::create_dir_all(&secret)?;
        fs::write(secret.join("k"), "CREDENTIAL")?;
        let own = cell.root.join("work/agents/h/.hermes");
        fs::create_dir_all(own.join("skills"))?;
        fs::write(own.join("auth.json"), "CREDENTIAL")?;
        lend(&cell.root.join("work"))?;
        cell.surroundings.hidden.push(secret);
        cell.surroundings.product_home = own;
        let text = run(
            &cell,
            &[
                "mv a z; mv agents y; mkdir -p a/b/secret",
                "cat z/b/secret/k a/b/secret/k y/h/.hermes/auth.json agents/h/.hermes/auth.json; true",
            ],
        )?;
        assert!(!text.contains("CREDENTIAL"), "{}: {text}", cell.mechanism());
    }
    Ok(())
}

// EX-68: a sandbox shows what was looked up before it was made, or no command starts in it.
#[test]
fn what_is_swapped_before_the_mounts_is_not_opened() -> Result<()> {
    const GRANTED: &str = "temporary/x/granted";
    for mut cell in cells()? {
        for folder in [GRANTED, "outside/granted"] {
            fs::create_dir_all(cell.root.join(folder))?;
        }
        for lent in ["temporary", "outside"] {
            lend(&cell.root.join(lent))?;
        }
        cell.surroundings.writable.push(cell.root.join(GRANTED));
        let script = "echo started; echo bad > $ROOT/outside/granted/planted";
        let argv = ["bash", "-c", script];
        let mut command = cell.command(Mode::WorkspaceWrite, Network::On, &argv)?;
        // It has been looked up by now, and is mounted when the command starts.
        let at = cell.root.join("temporary/x");
        fs::rename(&at, cell.root.join("temporary/y"))?;
        symlink("../outside", &at)?;
        let ran = Ran::from(command.output()?);
        let (mechanism, text) = (cell.mechanism(), &ran.text);
        let planted = cell.root.join("outside/granted/planted").exists();
        assert!(!planted, "{mechanism}: {text}");
        // Landlock alone opens what lies deeper with what is above it, and looks at no name of its own.
        if cell.has_mounts() {
            assert!(!text.contains("started\n"), "{mechanism}: {text}");
            let told = text.contains("changed while the sandbox was made");
            assert!(told, "{mechanism}: {text}");
        }
        // The next one finds things as they are.
        let ran = cell.run("echo started")?;
        assert_eq!(ran.text, "started\n", "{mechanism}");
    }
    Ok(())
}

// EX-68
#[test]
fn a_directory_that_takes_the_name_of_another_is_not_opened() -> Result<()> {
    for cell in cells()?.into_iter().filter(Cell::has_mounts) {
        let own = cell.root.join(OWN);
        let argv = ["echo", "started"];
        let mut command = cell.command(Mode::WorkspaceWrite, Network::On, &argv)?;
        let beside = own.parent().context("a parent")?.join("moved");
        fs::rename(&own, &beside)?;
        fs::create_dir(&own)?;
        let ran = Ran::from(command.output()?);
        let (mechanism, text) = (cell.mechanism(), ran.text);
        assert!(!text.contains("started\n"), "{mechanism}: {text}");
        assert!(text.contains("changed while"), "{mechanism}: {text}");
    }
    Ok(())
}
