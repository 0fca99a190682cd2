use plan::EncodedPlan;

/// Any bytes as an encoded plan from another process: either it is written as it was read, or an error is reported.
pub fn carried(input: &[u8]) {
    match EncodedPlan::from_bytes(input) {
        Ok(plan) => {
            let bytes = plan.to_bytes().expect("what was read can be written");
            let again = EncodedPlan::from_bytes(&bytes).expect("what was written can be read");
            assert_eq!(again.to_bytes().as_ref(), Ok(&bytes));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
