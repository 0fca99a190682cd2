//! `/acc` over WebSocket: commands as JSON with a number, answered as the service that go-stress-testing is made for answers.

use serde_json::{Value, json};

/// Where it is.
pub(crate) const PATH: &str = "/acc";
/// A longer message is no command: as JSON it may take many times its bytes of memory.
const COMMAND_BYTES_MAX: usize = 64 * 1024;

/// The answer to `{"seq":"1","cmd":"ping","data":{}}`: the same number and command, with the code of a success. What is no such
/// message has none.
pub(crate) fn response(message: &[u8]) -> Option<Vec<u8>> {
    if message.len() > COMMAND_BYTES_MAX {
        return None;
    }
    let requested: Value = serde_json::from_slice(message).ok()?;
    let (seq, command) = (requested.get("seq")?.as_str()?, requested.get("cmd")?.as_str()?);
    let data = match command {
        "ping" => json!("pong"),
        _ => requested.get("data").cloned().unwrap_or(Value::Null),
    };
    let response = json!({ "code": 200, "codeMsg": "Success", "data": data });
    Some(json!({ "seq": seq, "cmd": command, "response": response }).to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_answered_with_their_number_and_a_code() {
        for (message, data) in [
            (r#"{"seq":"7_1","cmd":"ping","data":{}}"#, json!("pong")),
            (r#"{"seq":"中文","cmd":"login","data":{"userId":"a"}}"#, json!({"userId": "a"})),
            (r#"{"seq":"","cmd":"heartbeat"}"#, Value::Null),
            (r#" {"cmd":"x","seq":"1","data":[1,2],"more":1} "#, json!([1, 2])),
        ] {
            let requested: Value = serde_json::from_str(message).expect("JSON");
            let said = response(message.as_bytes()).expect("an answer");
            let said: Value = serde_json::from_slice(&said).expect("JSON");
            assert_eq!((&said["seq"], &said["cmd"]), (&requested["seq"], &requested["cmd"]), "{message}");
            assert_eq!((&said["response"]["code"], &said["response"]["data"]), (&json!(200), &data), "{message}");
        }
        for message in
            ["", "hello", "{}", "[1]", "1", r#"{"seq":1,"cmd":"ping"}"#, r#"{"seq":"1"}"#, r#"{"cmd":"ping"}"#]
        {
            assert_eq!(response(message.as_bytes()), None, "{message}");
        }
        assert_eq!(response(b"\xff{\"seq\":\"1\",\"cmd\":\"ping\"}"), None);
    }
}
