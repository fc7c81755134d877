//! Files of this machine that a service takes in.

use std::os::unix::fs::symlink;

use hermes_memory::{Provider, ProviderError};
use hermes_testkit::memory_service::MemoryService;
use serde_json::{Value as Json, json};

use super::external::{Place, scene};

const HANDED: &str = "POST /api/v1/resources/temp_upload";
const ADDED: &str = "POST /api/v1/resources";

async fn add(place: &Place, memory: &dyn Provider, file: &str) -> Result<Json, ProviderError> {
    let at = scene(&place.path("work"));
    let arguments = json!({"url": file, "reason": "the user asked"});
    memory.call(&at, "viking_add_resource", &arguments).await
}

fn openviking(place: &Place, service: &MemoryService) -> std::sync::Arc<dyn Provider> {
    let url = service.url();
    let variables = [("OPENVIKING_ENDPOINT", url.as_str())];
    place.provider("openviking", "default", &variables).unwrap()
}

// LN-39
#[tokio::test]
async fn openviking_takes_a_file_of_the_folder_one_works_in() {
    let (place, service) = (Place::new(), MemoryService::start(None).unwrap());
    service
        .on(
            HANDED,
            json!({"status": "ok", "result": {"temp_file_id": "upload_1.md"}}),
        )
        .on(
            ADDED,
            json!({"result": {"root_uri": "viking://resources/tea"}}),
        );
    place.write("work/notes/tea \"no. 1\".md", "Earl Grey.\r\n");
    let memory = openviking(&place, &service);
    let added = add(&place, &*memory, "notes/tea \"no. 1\".md")
        .await
        .unwrap();
    assert_eq!(added["uri"], "viking://resources/tea");
    let handed = service.to(HANDED).remove(0);
    let kind = handed.header("content-type").unwrap().to_owned();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    let body = String::from_utf8(handed.raw.clone()).unwrap();
    assert_eq!(
        body,
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"tea _no. 1_.md\"\r\n\
             Content-Type: application/octet-stream\r\n\r\nEarl Grey.\r\n\r\n--{boundary}--\r\n"
        )
    );
    assert_eq!(
        service.to(ADDED)[0].body,
        json!({"temp_file_id": "upload_1.md", "source_name": "tea \"no. 1\".md", "reason": "the user asked"})
    );
    // A server of an earlier version, and one that says nothing.
    service.on(HANDED, json!({"result": {"temp_path": "/tmp/x"}}));
    add(&place, &*memory, "notes/tea \"no. 1\".md")
        .await
        .unwrap();
    assert_eq!(service.to(ADDED)[1].body["temp_path"], "/tmp/x");
    service.on(HANDED, json!({}));
    let told = add(&place, &*memory, "notes/tea \"no. 1\".md").await;
    assert!(told.unwrap_err().to_string().contains("where it put"));
    assert_eq!(service.to(ADDED).len(), 2);
}

// LN-39
#[tokio::test]
async fn what_lies_elsewhere_or_holds_secrets_does_not_leave_the_machine() {
    let (place, service) = (Place::new(), MemoryService::start(None).unwrap());
    place.write("work/.env", "KEY=secret");
    place.write("work/sub/a.md", "fine");
    place.write("other/b.md", "not of this folder");
    place.write("work/large.bin", &"x".repeat((16 << 20) + 1));
    symlink(place.path("other/b.md"), place.path("work/link.md")).unwrap();
    symlink(place.path("work/.env"), place.path("work/harmless.md")).unwrap();
    let memory = openviking(&place, &service);
    for (file, words) in [
        (".env", "holds secrets"),
        ("harmless.md", "holds secrets"),
        ("../other/b.md", "does not lie below"),
        ("link.md", "does not lie below"),
        ("/etc/hostname", "does not lie below"),
        ("sub", "is no file"),
        ("gone.md", "is not there"),
        ("large.bin", "larger than 16 MiB"),
    ] {
        let told = add(&place, &*memory, file).await.unwrap_err();
        assert!(matches!(told, ProviderError::Arguments { .. }), "{told}");
        assert!(told.to_string().contains(words), "{file}: {told}");
    }
    assert_eq!(service.lines(), Vec::<String>::new());
}
