use metrics::Failure;

use super::*;

const TRACED: RequestRecord = RequestRecord {
    intended_ns: 1_500_000_000,
    response_ns: 2_000_000,
    lateness_ns: 10,
    wait_ns: Some(20),
    service_ns: Some(1_999_970),
    first_byte_ns: Some(1_000_000),
    body_bytes: 7,
    step: 1,
    shard: 0,
    status: 200,
    end: RequestRecordEnd::Succeeded,
    is_connection_new: true,
    trace: 0,
};

fn lines(is_csv: bool, traced: &[RequestRecord]) -> String {
    let style = LogStyle {
        is_csv,
        steps: ["GET /", "GET /a,\"b\""].map(|step| StepName { scenario: "main".into(), step: step.into() }).into(),
    };
    let mut text = String::new();
    traced.iter().for_each(|traced| style.line(traced, Duration::from_secs(1_700_000_000), &mut text));
    text
}

#[test]
fn instants_are_those_of_the_calendar() {
    for (seconds, meant) in [
        (0, "1970-01-01T00:00:00.000000Z"),
        (951_782_399, "2000-02-28T23:59:59.000000Z"),
        (951_782_400, "2000-02-29T00:00:00.000000Z"),
        (951_868_800, "2000-03-01T00:00:00.000000Z"),
        (1_700_000_000, "2023-11-14T22:13:20.000000Z"),
        (1_709_164_800, "2024-02-29T00:00:00.000000Z"),
        (4_102_444_799, "2099-12-31T23:59:59.000000Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
    ] {
        assert_eq!(utc(Duration::from_secs(seconds)), meant);
    }
    assert!(utc(Duration::from_nanos(1_999_999_999)).ends_with("00:00:01.999999Z"));
}

#[test]
fn a_line_is_json_and_has_all_columns() {
    let failed = RequestRecord {
        end: RequestRecordEnd::Failed(Failure::Timeout),
        first_byte_ns: None,
        status: 0,
        is_connection_new: false,
        ..TRACED
    };
    let unsent = RequestRecord { end: RequestRecordEnd::Dropped, wait_ns: None, service_ns: None, step: 9, ..failed };
    let text = lines(false, &[TRACED, failed, unsent]);
    let values: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for value in &values {
        let columns: Vec<&str> = LOG_COLUMNS.split(',').collect();
        let keys = value.as_object().expect("an object");
        assert!(keys.len() == columns.len() && columns.iter().all(|column| keys.contains_key(*column)), "{value}");
    }
    assert_eq!(values[0]["time"], "2023-11-14T22:13:21.500000Z");
    assert_eq!((&values[0]["at_s"], &values[0]["step"]), (&1.5.into(), &"GET /a,\"b\"".into()));
    assert_eq!((&values[0]["status"], &values[0]["connection"]), (&200.into(), &"new".into()));
    assert_eq!((&values[1]["reason"], &values[1]["connection"]), (&"timeout".into(), &"kept".into()));
    assert!(values[1]["status"].is_null() && values[1]["first_byte_ns"].is_null());
    assert_eq!((&values[2]["outcome"], &values[2]["connection"]), (&"dropped".into(), &"none".into()));
}

#[test]
fn a_line_of_csv_has_as_many_fields() {
    let plain = RequestRecord { step: 0, ..TRACED };
    let text = lines(true, &[plain, TRACED]);
    let mut rows = text.lines();
    let first = rows.next().expect("a line");
    assert_eq!(first.split(',').count(), LOG_COLUMNS.split(',').count());
    assert_eq!(
        first,
        "1.500000000,2023-11-14T22:13:21.500000Z,GET /,succeeded,,200,2000000,10,20,1999970,1000000,7,new,1,main,"
    );
    assert!(rows.next().expect("a line").contains(",\"GET /a,\"\"b\"\"\","));
}
