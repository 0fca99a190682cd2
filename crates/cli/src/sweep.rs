use crate::args::SweepArgs; use crate::exit::Exit;
pub(crate) fn sweep(_args: &SweepArgs) -> Exit { Exit::Usage }
