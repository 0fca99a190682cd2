//! Name servers that others wrote: their counts of questions are compared with ours; and ones that break the protocol.

mod answers;
mod books;
mod hostile;
mod messages;
mod names;
mod resent;
mod served;
mod server;
mod sockets;
