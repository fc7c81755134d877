//! Documents that are shown as text.

use std::io::{Cursor, Write};

use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::fixture::Bench;

pub(super) fn packed(parts: &[(&str, String)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

// EX-39
#[tokio::test]
async fn notebooks_show_cells_and_outputs() {
    let bench = Bench::new();
    let notebook = json!({"cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "source": "print(1)", "outputs": [
            {"output_type": "stream", "text": ["1\n"]},
            {"output_type": "execute_result", "data": {"text/plain": "2", "image/png": "AAAA"}},
            {"output_type": "error", "ename": "ValueError", "evalue": "bad"},
        ]},
    ]});
    bench.put("n.ipynb", notebook.to_string());
    let answer = bench.done("read_file", json!({"path": "n.ipynb"})).await;
    assert_eq!(answer["extracted_document"], "ipynb");
    assert_eq!(
        answer["content"],
        "1|[cell 1: markdown]\n2|# Title\n3|text\n4|[cell 2: code]\n5|print(1)\n6|[output]\n7|1\n8|[output]\n9|2\n\
         10|[output]\n11|ValueError: bad\n"
    );
    bench.put("broken.ipynb", "{");
    assert!(
        bench
            .error("read_file", json!({"path": "broken.ipynb"}))
            .await
            .contains("binary")
    );
}

// EX-39
#[tokio::test]
async fn word_documents_show_paragraphs_and_tables() {
    let bench = Bench::new();
    let xml = r#"<?xml version="1.0"?><w:document xmlns:w="x"><w:body>
        <w:p><w:r><w:t>Fish &amp; </w:t></w:r><w:r><w:t>chips&#33;</w:t><w:tab/><w:t>x</w:t></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
        <w:p><w:r><w:t>end</w:t></w:r></w:p></w:body></w:document>"#;
    bench.put("d.docx", packed(&[("word/document.xml", xml.to_owned())]));
    let answer = bench.done("read_file", json!({"path": "d.docx"})).await;
    assert_eq!(
        answer["content"],
        "1|Fish & chips!\tx\n2|a | b\n3|\n4|end\n"
    );
    bench.put("broken.docx", "not a document");
    assert!(
        bench
            .error("read_file", json!({"path": "broken.docx"}))
            .await
            .contains("binary")
    );
}

// EX-39
#[tokio::test]
async fn workbooks_show_visible_sheets() {
    let bench = Bench::new();
    let rows: String = (1..=6_000)
        .map(|row| format!(r#"<row r="{row}"><c r="A{row}" t="s"><v>0</v></c><c r="C{row}"><v>{row}</v></c><c r="D{row}" t="b"><v>1</v></c></row>"#))
        .collect();
    bench.put(
        "w.xlsx",
        packed(&[
            (
                "xl/workbook.xml",
                r#"<workbook xmlns:r="r"><sheets><sheet name="Sales &amp; more" sheetId="1" r:id="rId1"/>
                   <sheet name="Secret" state="hidden" sheetId="2" r:id="rId2"/></sheets></workbook>"#
                    .to_owned(),
            ),
            (
                "xl/_rels/workbook.xml.rels",
                r#"<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/>
                   <Relationship Id="rId2" Target="/xl/worksheets/sheet2.xml"/></Relationships>"#
                    .to_owned(),
            ),
            ("xl/sharedStrings.xml", "<sst><si><r><t>na</t></r><r><t>me</t></r></si></sst>".to_owned()),
            ("xl/worksheets/sheet1.xml", format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")),
            ("xl/worksheets/sheet2.xml", "<worksheet><sheetData><row><c><v>hidden value</v></c></row></sheetData></worksheet>".to_owned()),
        ]),
    );
    let answer = bench
        .done("read_file", json!({"path": "w.xlsx", "limit": 3}))
        .await;
    assert_eq!(
        answer["content"],
        "1|## Sales & more\n2|name\t\t1\tTRUE\n3|name\t\t2\tTRUE\n"
    );
    assert_eq!(answer["total_lines"], 5_002);
    let end = bench
        .done("read_file", json!({"path": "w.xlsx", "offset": 5_001}))
        .await;
    assert!(
        end["content"]
            .as_str()
            .unwrap()
            .ends_with("[only the first 5000 rows are shown]\n")
    );
    assert!(!end.to_string().contains("hidden value"));
}
