use plan::Schema;

/// Any bytes as a server's service descriptions: descriptors or an error, and no panic.
pub fn grpc_described(input: &[u8]) {
    // Files, each with its length before it.
    let (mut files, mut rest) = (Vec::new(), input);
    while let Some((head, tail)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_be_bytes(*head)).min(tail.len());
        files.push(tail[..length].to_vec());
        rest = &tail[length..];
    }
    let _ = plan::missing_imports(&files);
    let Ok(schema) = Schema::from_files(&files) else { return };
    for service in schema.services() {
        schema.describe(&service).expect("a service that is listed");
        for method in schema.methods(&service).expect("a service that is listed") {
            let _ = schema.describe(&method);
        }
    }
}
