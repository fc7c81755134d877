//! Zip files byte by byte, with everything in them that a proper program would not write.

/// One entry, stored without compression.
pub(crate) struct RawEntry {
    pub(crate) name: Vec<u8>,
    pub(crate) content: Vec<u8>,
    /// Unix mode with the kind of file.
    pub(crate) mode: u32,
    /// The size the table of contents claims, when it lies.
    pub(crate) claimed: Option<u32>,
    pub(crate) encrypted: bool,
}

impl RawEntry {
    pub(crate) fn new(name: &str, content: &str) -> Self {
        Self {
            name: name.as_bytes().to_vec(),
            content: content.as_bytes().to_vec(),
            mode: 0o100_644,
            claimed: None,
            encrypted: false,
        }
    }

    pub(crate) fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    pub(crate) fn claiming(mut self, size: u32) -> Self {
        self.claimed = Some(size);
        self
    }

    pub(crate) fn encrypted(mut self) -> Self {
        self.encrypted = true;
        self
    }

    /// The fields that both headers have in common, from the flags on.
    fn common(&self) -> Vec<u8> {
        let flags: u16 = 0x0800 | u16::from(self.encrypted);
        let size = self.claimed.unwrap_or(self.content.len() as u32);
        let mut out = Vec::new();
        out.extend(flags.to_le_bytes());
        out.extend([0, 0, 0, 0, 0x21, 0x00]);
        out.extend(crc32(&self.content).to_le_bytes());
        out.extend((self.content.len() as u32).to_le_bytes());
        out.extend(size.to_le_bytes());
        out.extend((self.name.len() as u16).to_le_bytes());
        out.extend([0, 0]);
        out
    }
}

/// The bytes of a zip file with these entries.
pub(crate) fn raw_zip(entries: &[RawEntry]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut table = Vec::new();
    for entry in entries {
        let offset = out.len() as u32;
        out.extend(b"PK\x03\x04\x14\x00");
        out.extend(entry.common());
        out.extend(&entry.name);
        out.extend(&entry.content);
        table.extend(b"PK\x01\x02\x14\x03\x14\x00");
        table.extend(entry.common());
        // No comment, first disk, no internal attributes.
        table.extend([0; 6]);
        table.extend((entry.mode << 16).to_le_bytes());
        table.extend(offset.to_le_bytes());
        table.extend(&entry.name);
    }
    let count = (entries.len() as u16).to_le_bytes();
    let (start, length) = (out.len() as u32, table.len() as u32);
    out.extend(table);
    out.extend(b"PK\x05\x06\x00\x00\x00\x00");
    out.extend(count);
    out.extend(count);
    out.extend(length.to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 {
                (crc >> 1) ^ 0xedb8_8320
            } else {
                crc >> 1
            }
        })
    })
}
