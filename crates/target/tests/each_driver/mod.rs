//! A test is written once and runs on each driver; it takes the driver's `Kind`.

macro_rules! on_each_driver {
    ($($test:ident)*) => {
        mod poll {
            $(#[test] fn $test() { super::$test(super::Kind::Poll); })*
        }

        #[cfg(target_os = "linux")]
        mod uring {
            $(#[test] fn $test() { super::$test(super::Kind::Uring); })*
        }
    };
}
