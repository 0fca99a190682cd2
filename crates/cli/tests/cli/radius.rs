//! A real freeradius: what it accepts, rejects and accounts for is compared with ours; and servers that break the
//! protocol.

mod books;
mod hostile;
mod ids;
mod packets;
mod secrets;
mod served;
mod server;
mod swept;
mod values;
