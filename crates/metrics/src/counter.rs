//! Plain counters: one table for each kind says all of them, and one array holds them, so that an operation on all is a
//! loop.

/// A place where a count stands beside the totals of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Each interval of a report.
    Intervals,
    /// The totals of an active run.
    Live,
    /// Exports of the increments of an interval: CSV and StatsD.
    Increments,
}

/// What exports say of a count.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name in Prometheus, without `_total`.
    pub name: &'static str,
    /// The unit in UCUM.
    pub unit: &'static str,
    /// What it is, in English.
    pub help: &'static str,
    /// The same in Chinese.
    pub help_zh: &'static str,
}

/// A count as it is published.
#[derive(Clone, Copy, Debug)]
pub struct CountRow<C> {
    /// Its name in intervals, live totals and exports.
    pub name: &'static str,
    /// Its section of the report and its name there, with a dot in between.
    pub json: &'static str,
    /// What it counts, as a sentence.
    pub about: &'static str,
    /// The other places where it stands.
    pub views: &'static [View],
    /// Of a count that exports have.
    pub metric: Option<Metric>,
    /// Its value.
    pub of: fn(&C) -> u64,
}

/// Generates, from a table with one row for each counter, an enum of them, an array of their values that is accessible
/// by name, by index and as a whole, and the table of those that are published.
///
/// A row: variant, number, name; `less` another counter, where that is subtracted, with a name of the rest; section and
/// name in the report, `in` other places; unit and texts of exports. Numbers are those of encoded snapshots: they never
/// change, and a new row takes the next one. The rows are in the order of reports.
macro_rules! counters {
    (@row $counters:ident [$($read:ident)+] [$($doc:literal)+] [] [] []) => { None };
    (@row $counters:ident [$($read:ident)+] [$($doc:literal)+] [$json:literal] [$($view:ident)*] [$($metric:literal)*]) => {
        Some(CountRow {
            name: counters!(@name $($read)+),
            json: $json,
            about: concat!($($doc),+),
            views: &[$(View::$view),*],
            metric: counters!(@metric $($read)+, $($metric)*),
            of: counters!(@of $counters $($read)+),
        })
    };
    (@name $read:ident) => { stringify!($read) };
    (@name $read:ident $rest:ident) => { stringify!($rest) };
    (@of $counters:ident $read:ident) => { $counters::$read };
    (@of $counters:ident $read:ident $rest:ident) => { $counters::$rest };
    (@metric $($read:ident)+,) => { None };
    (@metric $skipped:ident $read:ident, $($metric:literal)+) => { counters!(@metric $read, $($metric)+) };
    (@metric $read:ident, $unit:literal $help:literal $help_zh:literal) => {
        Some(Metric { name: concat!("onrush_", stringify!($read)), unit: $unit, help: $help, help_zh: $help_zh })
    };
    (
        $(#[$about_counter:meta])* $counter:ident;
        $(#[$about_counters:meta])* $counters:ident;
        $(
            $(#[doc = $doc:literal])+
            $name:ident = $number:literal, $read:ident $(less $less:ident as $rest:ident)?
            $(, $json:literal $(in $($view:ident)+)? $(, $unit:literal, $help:literal, $help_zh:literal)?)?;
        )+
    ) => {
        $(#[$about_counter])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $counter {
            $($(#[doc = $doc])+ $name = $number,)+
        }

        impl $counter {
            /// All counters, in the order of their numbers.
            pub const ALL: &[Self] = &{
                let rows = [$(Self::$name,)+];
                let mut all = rows;
                let mut place = 0;
                while place < rows.len() {
                    all[rows[place] as usize] = rows[place];
                    place += 1;
                }
                all
            };

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
            const ROWS: &[Option<CountRow<Self>>] = &[$(counters!(
                @row $counters [$read $($rest)?] [$($doc)+] [$($json)?] [$($($($view)+)?)?] [$($($unit $help $help_zh)?)?]
            ),)+];

            /// The counts that are published, in the order of reports.
            pub fn published() -> impl Iterator<Item = &'static CountRow<Self>> {
                Self::ROWS.iter().flatten()
            }

            $(
                $(#[doc = $doc])+
                #[inline]
                pub fn $read(&self) -> u64 {
                    self.values[$counter::$name as usize]
                }

                $(
                    /// Those that the kernel took. What it never took is known when a connection ends, perhaps in a
                    /// later snapshot: over all snapshots together this is exact.
                    #[inline]
                    pub fn $rest(&self) -> u64 {
                        self[$counter::$name].saturating_sub(self[$counter::$less])
                    }
                )?
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

impl Counters {
    /// Successes that came within the deadline of their step, or have none.
    pub fn in_deadline(&self) -> u64 {
        self.succeeded().saturating_sub(self.missed_deadline())
    }
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
    /// Exchanges whose intended start has come in the measured time. started + carried = succeeded + failed + dropped
    /// + unfinished + lost.
    Started = 0, started, "requests.started" in Intervals Live;
    /// Begun in the warm-up and in flight when measuring began; their times are from their real start.
    Carried = 31, carried, "requests.carried" in Intervals Live Increments,
        "{request}", "Requests that were in flight when measuring began.", "开始统计时仍在途的请求";
    /// Ended in the warm-up; in no other figure.
    WarmedUp = 32, warmed_up, "requests.warm_up";
    /// Exchanges that succeeded.
    Succeeded = 1, succeeded, "requests.succeeded" in Intervals Live;
    /// Of the succeeded, those that came after the deadline of their step.
    MissedDeadline = 46, missed_deadline, "requests.missed_deadline" in Intervals Live Increments,
        "{request}", "Successful requests that came after their deadline.", "成功但超过截止时间的请求";
    /// Of the failed, those whose step was tried again (on_failure); the others failed in the end.
    Retried = 49, retried, "requests.retried" in Intervals Live Increments,
        "{request}", "Failed requests whose step was tried again.", "失败后又重试的请求";
    /// Could not be sent within max_lateness_s.
    Dropped = 2, dropped, "requests.dropped" in Intervals Live Increments,
        "{request}", "Starts that were given up because they would have been too late.", "丢弃的请求";
    /// Of the dropped, those that were too late when the generator got to them.
    DroppedByGenerator = 3, dropped_by_generator, "requests.dropped_by_generator";
    /// Of the dropped, those that could not be sent before their deadline.
    DroppedByDeadline = 47, dropped_by_deadline, "requests.dropped_by_deadline";
    /// In flight, or waiting for a connection, when the run ended.
    Unfinished = 4, unfinished, "requests.unfinished" in Intervals Live,
        "{request}", "Requests that were in flight when the run ended.", "结束时仍在途的请求";
    /// In flight at a worker when that was lost: nobody knows what became of them. Percentiles take the time that
    /// they had waited as the least that they took; thresholds hold only if they hold whether these succeeded or
    /// failed.
    LostWithWorker = 36, lost, "requests.lost" in Live,
        "{request}", "Requests that a lost worker had in flight.", "失联的工作进程当时在途的请求";
    /// Of the unfinished, those that had no grace because the run was ended at once.
    Cut = 5, cut, "requests.aborted";
    /// Successes of which more than 1 ms and a tenth of the response time passed while a thread of ours stood still.
    StallAffectedResponses = 11, stall_affected_responses, "requests.stall_affected";
    /// Tries of exchanges; a stale connection makes a second.
    Attempts = 12, attempts, "requests.attempts";
    /// Attempts whose request was handed to a socket.
    Sent = 13, sent, "requests.sent";
    /// Complete answers, whatever their status.
    Responses = 14, responses, "requests.responses";
    /// Requests that went out again, each on another connection: the server said that it had not looked at them, or a
    /// kept connection ended before the first byte of their answer.
    Reconnects = 17, reconnects, "requests.reconnects";
    /// Of the requests that went out again, those that the server may have begun the first time: its log has at most
    /// that many more than responses.
    BegunBefore = 33, begun_before, "requests.begun_before";
    /// Redirects that were followed: each made one start more.
    Redirects = 16, redirects, "requests.redirects";
    /// Heads and framing included.
    BytesReceived = 18, bytes_received, "bytes.received" in Intervals Live Increments,
        "By", "Bytes that arrived, heads and framing included.", "接收的字节数，含头部和分帧";
    /// Bodies of answers, framing removed.
    BodyBytes = 19, body_bytes, "bytes.bodies";
    /// Taken by the kernel; counted when an attempt ends.
    BytesQueued = 20, bytes_queued less BytesUnsent as bytes_sent, "bytes.sent" in Live Increments,
        "By", "Bytes that were sent, heads and framing included.", "发送的字节数，含头部和分帧";
    /// Those that left as a whole, each once, however often its call was tried.
    MessagesSent = 27, messages_sent less MessagesUntaken as messages_left, "messages.sent";
    /// All that came, asked for or not.
    MessagesReceived = 29, messages_received, "messages.received";
    /// Messages of WebSocket that came while none of ours waited for an answer, or before ours had left.
    UnsolicitedMessages = 30, unsolicited_messages, "messages.unsolicited";
    /// Connections that were tried.
    ConnectionsTried = 22, connections_tried, "connections.tried";
    /// Ready to carry requests: with TLS, after the handshake.
    ConnectionsEstablished = 23, connections_established, "connections.established" in Live;
    /// Closed because bytes came that belong to no request.
    Unsolicited = 26, unsolicited, "connections.unsolicited";
    /// Closed by us at a limit: --connection-requests, --connection-age or --keepalive-idle.
    ConnectionsRetired = 37, connections_retired, "connections.retired";
    /// Handshakes that took up an earlier session.
    TlsResumed = 24, tls_resumed, "connections.tls_resumed";
    /// Requests over datagrams that were sent again on the same socket, since no response had come.
    Resent = 38, resent, "datagrams.resent" in Intervals Increments,
        "{request}", "Requests over datagrams that were sent again, since no response had come.", "未收到响应而重发的数据报请求";
    /// Responses that came after the timeout of their request.
    LateResponses = 39, late_responses, "datagrams.late" in Intervals Increments,
        "{datagram}", "Responses in datagrams that came after the timeout of their request.", "在请求超时之后才到达的数据报响应";
    /// Further responses to a request that had its response.
    DuplicateResponses = 40, duplicate_responses, "datagrams.duplicate" in Intervals Increments,
        "{datagram}", "Further datagrams to a request that had its response.", "请求已有响应后又收到的重复响应";
    /// Datagrams that match no request, or are not valid: perhaps forged. None is taken for a response.
    UnmatchedDatagrams = 41, unmatched_datagrams, "datagrams.unmatched" in Intervals Increments,
        "{datagram}", "Datagrams that match no request, or are not valid.", "与任何请求都不匹配或无效的数据报";
    /// Datagrams of which the target's host, or this one, said that they were refused.
    RefusedDatagrams = 42, refused_datagrams, "datagrams.refused" in Intervals Increments,
        "{datagram}", "Datagrams that were refused (ICMP).", "被拒绝的数据报（ICMP）";
    /// Datagrams that came and are longer than 4,096 bytes: they were not read.
    CutDatagrams = 43, cut_datagrams, "datagrams.too_long" in Intervals Increments,
        "{datagram}", "Datagrams that are longer than 4,096 bytes, and were not read.", "超过 4,096 字节而未读取的数据报";
    /// Datagrams that this machine's kernel dropped, since they were not read fast enough.
    KernelDrops = 44, kernel_drops, "datagrams.dropped_here" in Intervals Increments,
        "{datagram}", "Datagrams that the kernel of this machine dropped; known when their socket closes.",
        "本机内核丢弃的数据报；套接字关闭时才计入";
    /// Requests that went on over TCP, since their response did not fit into a datagram.
    OverStream = 45, over_stream, "datagrams.over_tcp" in Intervals Increments,
        "{request}", "Requests that went on over TCP, since their response did not fit into a datagram.",
        "响应超出数据报大小而改用 TCP 的请求";
    /// Exchanges that completed after the last start.
    Drained = 6, drained;
    /// Drained exchanges that succeeded.
    DrainedSucceeded = 7, drained_succeeded;
    /// Drained exchanges that succeeded after their deadline.
    DrainedMissed = 48, drained_missed;
    /// In a scenario with several steps: iterations that completed.
    Iterations = 8, iterations;
    /// Iterations that began and did not reach their last step.
    IterationsCut = 9, iterations_cut;
    /// Iterations that ended at a failure.
    IterationsFailed = 10, iterations_failed;
    /// Responses after which the connection stayed open.
    Kept = 15, kept;
    /// Queued bytes that the kernel never took.
    BytesUnsent = 21, bytes_unsent;
    /// New connections that the peer closed before it sent a byte.
    CutOff = 25, cut_off;
    /// Messages that the kernel did not take as a whole, known when their connection ended.
    MessagesUntaken = 28, messages_untaken;
    /// Users that left because their program says so at a failure; those of the warm-up too.
    UsersLeft = 34, users_left;
    /// Users that skipped their `on_stop` steps, since the budget of the run had no request left for them.
    UsersWithoutStop = 35, users_without_stop;
}

counters! {
    /// A counted event of held connections.
    HeldCounter;
    /// The values of all [`HeldCounter`]s.
    HeldCounters;
    /// Connection attempts, retries included.
    Tried = 0, tried;
    /// Established connections, repeated ones included.
    Established = 1, established;
    /// Connections that we closed, and whose peers confirmed it.
    Closed = 2, closed;
    /// Connections that we closed, and whose peers did not confirm it in time.
    CloseTimedOut = 3, close_timed_out;
    /// Connections that were being established at the end.
    Abandoned = 4, abandoned;
    /// Attempts after a connection was lost, or could not be established before.
    Retries = 5, retries;
    /// Messages that were due.
    Due = 6, due;
    /// Due messages that our own loop handled too late.
    Late = 7, late;
    /// Messages that were due while their connections were lost.
    Missed = 8, missed;
    /// Due messages that were never sent: the one before them was not answered in time.
    Unsent = 9, unsent;
    /// Messages that were sent.
    Sent = 10, sent less MessagesUntaken as messages_left;
    /// Messages that were answered.
    Answered = 11, answered;
    /// Messages that were not answered within their timeout, or before their connections ended.
    Unanswered = 12, unanswered;
    /// Responses that failed a check.
    Refused = 13, refused;
    /// Unsolicited messages.
    Pushed = 14, pushed;
    /// Bytes that were handed to sockets.
    BytesQueued = 15, bytes_queued less BytesUnsent as bytes_sent;
    /// Queued bytes that the kernel had not taken when their connections ended.
    BytesUnsent = 16, bytes_unsent;
    /// Bytes received from sockets.
    BytesReceived = 17, bytes_received;
    /// CPU time of the shards, in nanoseconds.
    CpuNs = 18, cpu_ns;
    /// TLS sessions that resumed an earlier one.
    TlsResumed = 19, tls_resumed;
    /// Sent messages that the kernel had not taken as a whole when their connections ended.
    MessagesUntaken = 20, messages_untaken;
}

impl Counters {
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
