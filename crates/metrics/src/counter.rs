//! Plain counters: one table for each kind names them, and one array holds them, so that an operation on all is a loop.

/// Generates, from a table with one row for each counter, an enum of them and an array of their values that is
/// accessible by name, by index and as a whole.
macro_rules! counters {
    (
        $(#[$about_counter:meta])* $counter:ident;
        $(#[$about_counters:meta])* $counters:ident;
        $($(#[doc = $doc:literal])+ $name:ident = $read:ident;)+
    ) => {
        $(#[$about_counter])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $counter {
            $($(#[doc = $doc])+ $name,)+
        }

        impl $counter {
            /// All counters, in the order of their index.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// A stable name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($read),)+
                }
            }
        }

        $(#[$about_counters])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $counters {
            values: [u64; $counter::ALL.len()],
        }

        impl $counters {
            $(
                $(#[doc = $doc])+
                #[inline]
                pub fn $read(&self) -> u64 {
                    self.values[$counter::$name as usize]
                }
            )+

            /// All values, in the order of the counters.
            pub fn values(&self) -> &[u64] {
                &self.values
            }

            /// All values, mutable.
            pub fn values_mut(&mut self) -> &mut [u64] {
                &mut self.values
            }

            /// Adds all of `other`.
            pub fn merge(&mut self, other: &Self) {
                $crate::counter::add_each(&mut self.values, &other.values);
            }

            /// Sets all to zero.
            pub fn clear(&mut self) {
                self.values.fill(0);
            }

            /// Whether nothing was counted.
            pub fn is_empty(&self) -> bool {
                $crate::counter::are_zero(&self.values)
            }
        }

        impl Default for $counters {
            fn default() -> Self {
                Self { values: [0; $counter::ALL.len()] }
            }
        }

        impl std::ops::Index<$counter> for $counters {
            type Output = u64;

            #[inline]
            fn index(&self, counter: $counter) -> &u64 {
                &self.values[counter as usize]
            }
        }

        impl std::ops::IndexMut<$counter> for $counters {
            #[inline]
            fn index_mut(&mut self, counter: $counter) -> &mut u64 {
                &mut self.values[counter as usize]
            }
        }

        // A failing test shows the counts by name, and not a row of zeros.
        impl std::fmt::Debug for $counters {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let counted = $counter::ALL.iter().map(|&counter| (counter.name(), self[counter]));
                formatter.debug_map().entries(counted.filter(|(_, value)| *value > 0)).finish()
            }
        }
    };
}

/// Adds each of `more` to its sum.
pub(crate) fn add_each(sums: &mut [u64], more: &[u64]) {
    for (sum, number) in sums.iter_mut().zip(more) {
        *sum += number;
    }
}

/// Whether all are zero.
pub(crate) fn are_zero(values: &[u64]) -> bool {
    values.iter().all(|value| *value == 0)
}

counters! {
    /// A counted event of exchanges, their connections and their bytes.
    Counter;
    /// The values of all [`Counter`]s.
    Counters;
    /// Exchanges whose intended start has come.
    Started = started;
    /// Exchanges that succeeded.
    Succeeded = succeeded;
    /// Exchanges that could not be started in time.
    Dropped = dropped;
    /// Dropped exchanges that were too late when the generator got to them: not the target's doing.
    DroppedByGenerator = dropped_by_generator;
    /// Exchanges in flight when the run was stopped.
    Unfinished = unfinished;
    /// Unfinished exchanges without grace: the run was aborted.
    Cut = cut;
    /// Exchanges that completed after the last start.
    Drained = drained;
    /// Drained exchanges that succeeded.
    DrainedSucceeded = drained_succeeded;
    /// In a scenario with several steps: iterations that completed.
    Iterations = iterations;
    /// Iterations that began and did not reach their last step.
    IterationsCut = iterations_cut;
    /// Iterations that ended at a failure.
    IterationsFailed = iterations_failed;
    /// Successes whose response time contains a stall of the generator.
    StallAffectedResponses = stall_affected_responses;
    /// Attempts, at least one for each exchange that was taken up.
    Attempts = attempts;
    /// Requests that were handed to the socket.
    Sent = sent;
    /// Complete responses.
    Responses = responses;
    /// Responses after which the connection stayed open.
    Kept = kept;
    /// Redirects that were followed: each made one more start.
    Redirects = redirects;
    /// Requests that were sent again: the outcome of the first time is unknown, or the server had not processed it.
    Reconnects = reconnects;
    /// Bytes that arrived, heads and framing included.
    BytesReceived = bytes_received;
    /// Bytes of bodies that arrived, framing removed.
    BodyBytes = body_bytes;
    /// Bytes that were handed to sockets.
    BytesQueued = bytes_queued;
    /// Queued bytes that the kernel never took.
    BytesUnsent = bytes_unsent;
    /// Connection attempts.
    ConnectionsTried = connections_tried;
    /// Connections that were established.
    ConnectionsEstablished = connections_established;
    /// TLS handshakes that resumed an earlier session.
    TlsResumed = tls_resumed;
    /// New connections that the peer closed before it sent a byte.
    CutOff = cut_off;
    /// Connections that were closed because bytes arrived that belong to no request.
    Unsolicited = unsolicited;
    /// Messages that were handed to a socket, each once, however often its exchange was tried.
    MessagesSent = messages_sent;
    /// Messages that the kernel did not take as a whole, known when their connection ended.
    MessagesUntaken = messages_untaken;
    /// Messages received, solicited or not.
    MessagesReceived = messages_received;
    /// WebSocket messages that answer none of ours.
    UnsolicitedMessages = unsolicited_messages;
    /// Exchanges that began in the warm-up and were in flight at its end.
    Carried = carried;
    /// Exchanges that completed in the warm-up: they are in no other figure.
    WarmedUp = warmed_up;
    /// Requests sent again that the server may have begun to process the first time.
    BegunBefore = begun_before;
    /// Users that left because their program says so at a failure; those of the warm-up too.
    UsersLeft = users_left;
    /// Users that skipped their `on_stop` steps, since the budget of the run had no request left for them.
    UsersWithoutStop = users_without_stop;
    /// Exchanges in flight at a worker when it was lost: their outcome is unknown.
    LostWithWorker = lost;
}

counters! {
    /// A counted event of held connections.
    HeldCounter;
    /// The values of all [`HeldCounter`]s.
    HeldCounters;
    /// Connection attempts, retries included.
    Tried = tried;
    /// Established connections, repeated ones included.
    Established = established;
    /// Connections that we closed, and whose peers confirmed it.
    Closed = closed;
    /// Connections that we closed, and whose peers did not confirm it in time.
    CloseTimedOut = close_timed_out;
    /// Connections that were being established at the end.
    Abandoned = abandoned;
    /// Attempts after a connection was lost, or could not be established before.
    Retries = retries;
    /// Messages that were due.
    Due = due;
    /// Due messages that our own loop handled too late.
    Late = late;
    /// Messages that were due while their connections were lost.
    Missed = missed;
    /// Due messages that were never sent: the one before them was not answered in time.
    Unsent = unsent;
    /// Messages that were sent.
    Sent = sent;
    /// Messages that were answered.
    Answered = answered;
    /// Messages that were not answered within their timeout, or before their connections ended.
    Unanswered = unanswered;
    /// Responses that failed a check.
    Refused = refused;
    /// Unsolicited messages.
    Pushed = pushed;
    /// Bytes that were handed to sockets.
    BytesQueued = bytes_queued;
    /// Queued bytes that the kernel had not taken when their connections ended.
    BytesUnsent = bytes_unsent;
    /// Bytes received from sockets.
    BytesReceived = bytes_received;
    /// CPU time of the shards, in nanoseconds.
    CpuNs = cpu_ns;
    /// TLS sessions that resumed an earlier one.
    TlsResumed = tls_resumed;
    /// Sent messages that the kernel had not taken as a whole when their connections ended.
    MessagesUntaken = messages_untaken;
}

impl Counters {
    /// Bytes that the kernel took. What it never took is known when a socket ends, perhaps in a later snapshot: over
    /// all snapshots together this is exact.
    pub fn bytes_sent(&self) -> u64 {
        self.bytes_queued().saturating_sub(self.bytes_unsent())
    }

    /// Messages that were sent as a whole; as exact as [`Counters::bytes_sent`].
    pub fn messages_left(&self) -> u64 {
        self.messages_sent().saturating_sub(self.messages_untaken())
    }

    /// Exchanges that end in one way or another: the started ones, and those in flight when measuring began.
    pub fn all_started(&self) -> u64 {
        self.started() + self.carried()
    }

    /// Exchanges whose end is known, whatever it was.
    pub fn all_ended(&self, failed: u64) -> u64 {
        self.succeeded() + failed + self.dropped() + self.unfinished() + self.lost()
    }

    /// The share of starts that succeeded, aborted starts left out; `None` without any.
    pub fn success_ratio(&self) -> Option<f64> {
        let whole = self.all_started().saturating_sub(self.cut());
        (whole > 0).then(|| self.succeeded() as f64 / whole as f64)
    }
}

impl HeldCounters {
    /// Messages that were sent as a whole. What a kernel never took is known when its connection ends, perhaps in a
    /// later snapshot: over all snapshots together this is exact.
    pub fn messages_left(&self) -> u64 {
        self.sent().saturating_sub(self.messages_untaken())
    }

    /// Bytes that the kernel took.
    pub fn bytes_sent(&self) -> u64 {
        self.bytes_queued().saturating_sub(self.bytes_unsent())
    }
}
