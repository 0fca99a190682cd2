//! Plain counters: one table for each kind says their names, and one array holds them, so that whatever is done to all is a loop.

/// Makes, of a table with one row for each counter: an enum of them, and an array of their values that is read by name, by index and
/// as a whole.
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
            /// All of them, in the order of their index.
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

            /// Each value, in the order of the counters.
            pub fn values(&self) -> &[u64] {
                &self.values
            }

            /// The same, to be set.
            pub fn values_mut(&mut self) -> &mut [u64] {
                &mut self.values
            }

            /// Adds all of `other`.
            pub fn merge(&mut self, other: &Self) {
                $crate::counter::add_each(&mut self.values, &other.values);
            }

            /// All are zero again.
            pub fn clear(&mut self) {
                self.values.fill(0);
            }

            /// Nothing was counted.
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

        // A failing test shows what was counted, by name, and not a row of zeros.
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

/// None of them is more than zero.
pub(crate) fn are_zero(values: &[u64]) -> bool {
    values.iter().all(|value| *value == 0)
}

counters! {
    /// Something that happens to exchanges, their connections and their bytes, and is counted.
    Counter;
    /// How often each [`Counter`] was counted.
    Counters;
    /// Exchanges whose intended start has come.
    Started = started;
    /// Exchanges that ended well.
    Succeeded = succeeded;
    /// Exchanges that could not be started in time.
    Dropped = dropped;
    /// Those of them that were too late when the generator got to them: not the target's doing.
    DroppedByGenerator = dropped_by_generator;
    /// Exchanges in flight when the run was stopped.
    Unfinished = unfinished;
    /// Those of them that had no grace: the run was ended at once.
    Cut = cut;
    /// Exchanges that ended after nothing was started any more.
    Drained = drained;
    /// What of that succeeded.
    DrainedSucceeded = drained_succeeded;
    /// Of a scenario with several steps: rounds that came to their end.
    Iterations = iterations;
    /// Rounds that began and did not come to their last step.
    IterationsCut = iterations_cut;
    /// Rounds that ended where something in them failed.
    IterationsFailed = iterations_failed;
    /// Successes whose response time contains a stall of ours.
    StallAffectedResponses = stall_affected_responses;
    /// Tries, at least one for each exchange that was taken up.
    Attempts = attempts;
    /// Requests that were handed to the socket.
    Sent = sent;
    /// Complete answers.
    Responses = responses;
    /// Answers after which the connection stayed.
    Kept = kept;
    /// Redirects that were followed: each made one start more.
    Redirects = redirects;
    /// Requests that went out again: what became of the first time is not known, or the server had not taken it.
    Reconnects = reconnects;
    /// Bytes that arrived, heads and framing included.
    BytesReceived = bytes_received;
    /// Bytes of bodies that arrived, framing removed.
    BodyBytes = body_bytes;
    /// Bytes that were handed to the socket.
    BytesQueued = bytes_queued;
    /// Those of them that the kernel never took.
    BytesUnsent = bytes_unsent;
    /// Connections that were tried.
    ConnectionsTried = connections_tried;
    /// Connections that were established.
    ConnectionsEstablished = connections_established;
    /// TLS handshakes that took up an earlier session.
    TlsResumed = tls_resumed;
    /// New connections that the peer ended before it sent a byte.
    CutOff = cut_off;
    /// Connections that were closed because bytes came which belong to no request.
    Unsolicited = unsolicited;
    /// Messages that were handed to a socket, each once, however often its exchange was tried.
    MessagesSent = messages_sent;
    /// Those of them of which the kernel has not taken all, known when their connection ended.
    MessagesUntaken = messages_untaken;
    /// Messages that came, asked for or not.
    MessagesReceived = messages_received;
    /// Messages of WebSocket that answer none of ours.
    UnsolicitedMessages = unsolicited_messages;
    /// Exchanges that had begun in the warm-up and were in flight when it was over.
    Carried = carried;
    /// Exchanges that ended in the warm-up: they are in no other figure.
    WarmedUp = warmed_up;
    /// Of the requests that went out again, those that the server may have begun the first time.
    BegunBefore = begun_before;
    /// Users that left because their program says so where something fails; those of the warm-up too.
    UsersLeft = users_left;
    /// Users that have not done what comes behind their last iteration, since the budget of the run had no request left for it.
    UsersWithoutStop = users_without_stop;
    /// Exchanges that a worker had in flight when it was lost: nobody knows what became of them.
    GoalMisses = lost;
}

counters! {
    /// Something that happens to connections that are held, and is counted.
    HeldCounter;
    /// How often each [`HeldCounter`] was counted.
    HeldCounters;
    /// Connections that were tried, each time.
    Tried = tried;
    /// Connections that were established, each time.
    Established = established;
    /// Connections that we closed, and whose peers agreed.
    Closed = closed;
    /// Connections that we closed, and whose peers did not answer that in time.
    CloseTimedOut = close_timed_out;
    /// Connections that were on their way when it was over.
    Abandoned = abandoned;
    /// Tries that were made because a connection was lost, or could not be established before.
    Retries = retries;
    /// Messages whose time had come.
    Due = due;
    /// Of those, messages that our own loop took up too late.
    Late = late;
    /// Messages whose time came while their connections were lost.
    Missed = missed;
    /// Messages that were due and never left: the one before them was not answered in time.
    Unsent = unsent;
    /// Messages that left.
    Sent = sent;
    /// Messages that were answered.
    Answered = answered;
    /// Messages that were not answered within their time, or before their connections ended.
    Unanswered = unanswered;
    /// Answers that a check refused.
    Refused = refused;
    /// Messages that came unasked.
    Pushed = pushed;
    /// Bytes that were handed to sockets.
    BytesQueued = bytes_queued;
    /// Of those, bytes that the kernel had not taken when their connections ended.
    BytesUnsent = bytes_unsent;
    /// Bytes that came from sockets.
    BytesReceived = bytes_received;
    /// CPU time of the shards, in nanoseconds.
    CpuNs = cpu_ns;
    /// TLS sessions that took up an earlier one.
    TlsResumed = tls_resumed;
    /// Of the messages that left, those of which the kernel had not taken all when their connections ended.
    MessagesUntaken = messages_untaken;
}

impl Counters {
    /// Bytes that the kernel took. What it never took is known when a socket ends, perhaps in a later snapshot: of all
    /// snapshots together this is exact.
    pub fn bytes_sent(&self) -> u64 {
        self.bytes_queued().saturating_sub(self.bytes_unsent())
    }

    /// Messages that left as a whole; as exact as [`Counters::bytes_sent`].
    pub fn messages_left(&self) -> u64 {
        self.messages_sent().saturating_sub(self.messages_untaken())
    }

    /// Exchanges that end in one way or another: those that were started, and those that were in flight when measuring began.
    pub fn all_started(&self) -> u64 {
        self.started() + self.carried()
    }

    /// Exchanges of which the end is known, whatever it was.
    pub fn all_ended(&self, failed: u64) -> u64 {
        self.succeeded() + failed + self.dropped() + self.unfinished() + self.lost()
    }

    /// The share of the starts that succeeded, of those that were not cut short; `None` without any.
    pub fn success_ratio(&self) -> Option<f64> {
        let whole = self.all_started().saturating_sub(self.cut());
        (whole > 0).then(|| self.succeeded() as f64 / whole as f64)
    }
}

impl HeldCounters {
    /// Messages that left as a whole. What a kernel never took is known when its connection ends, perhaps in a later snapshot: of all
    /// snapshots together this is exact.
    pub fn messages_left(&self) -> u64 {
        self.sent().saturating_sub(self.messages_untaken())
    }

    /// Bytes that the kernel took.
    pub fn bytes_sent(&self) -> u64 {
        self.bytes_queued().saturating_sub(self.bytes_unsent())
    }
}
