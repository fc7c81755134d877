//! How single processes of this machine's backend come to their end.

use hermes_exec::{Ending, Exit, Input, Launch, RunId};
use hermes_testkit::process;
use tokio::io::AsyncReadExt;

use super::local::{Local, PATIENCE};

fn launch(argv: &[&str], input: Input) -> Launch {
    Launch {
        id: RunId::new("ending"),
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        directory: None,
        environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        input,
        confinement: None,
    }
}

// EX-5
#[tokio::test]
async fn what_was_killed_is_gone_when_the_answer_comes() {
    // So much memory takes a while to be given back, and until then the process is there.
    let big = "import mmap, time\n\
               m = mmap.mmap(-1, 1 << 28)\n\
               m.madvise(mmap.MADV_NOHUGEPAGE)\n\
               for place in range(0, 1 << 28, 4096): m[place] = 1\n\
               print('up', flush=True)\n\
               time.sleep(999)";
    let local = Local::new();
    let mut running = local
        .backend
        .spawn(launch(&["python3", "-c", big], Input::None))
        .await
        .unwrap();
    let mut said = [0; 3];
    let read = running.output.read_exact(&mut said);
    tokio::time::timeout(PATIENCE, read).await.unwrap().unwrap();
    let pid = running.pid.unwrap().cast_signed();
    assert!(process::alive(pid));
    running.control.end(Ending::Kill).await.unwrap();
    assert!(!process::alive(pid));
}

// EX-15
#[tokio::test]
async fn input_that_is_dropped_at_once_ends_on_a_terminal_too() {
    let size = Input::Terminal {
        rows: 24,
        columns: 80,
    };
    let local = Local::new();
    let mut running = local.backend.spawn(launch(&["cat"], size)).await.unwrap();
    // Nobody has written to it, so nobody knows yet that it could be written to.
    drop(running.input.take());
    let exit = tokio::time::timeout(PATIENCE, running.exit).await;
    assert_eq!(exit.unwrap().unwrap(), Exit::Code(0));
}
