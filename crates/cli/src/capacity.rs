use crate::args::CapacityArgs; use crate::exit::Exit;
pub(crate) fn capacity(_args: &CapacityArgs) -> Exit { Exit::Usage }
