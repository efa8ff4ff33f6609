// Package pulsarquota tests what a Go producer does when a Pulsar backlog
// quota stops it, and whether it comes back.
//
// # The incident
//
// A namespace has a backlog quota of 50K with the policy producer_exception
// and a subscription that nobody reads. Once the backlog is over the quota the
// broker closes the producer and refuses its return with
// ProducerBlockedQuotaExceededException. From v0.12.0 to v0.18.0 the Go client
// filed that with the errors that are final (apache/pulsar-client-go#1134):
// it logged "stop reconnecting", never tried again, and every later Send timed
// out, also after the backlog had been cleared. From v0.19.0 on (#1457) it
// logs "will retry reconnecting" at each refusal, fails the pending messages
// with ErrProducerBlockedQuotaExceeded, and comes back by itself.
//
// # What the newest client still does not do
//
// Two claims fail with v0.21.0, and are listed as known-bad that no release
// mends. A producer whose MaxReconnectToBroker ran out during the block is dead
// and does not say so: every send ends in a timeout, after the clearing too
// (apache/pulsar-client-go#458 reports the same for a broker that is away). And
// the refusal of a new producer has no type: only its text names the quota.
//
// # What a newer broker does worse
//
// Pulsar 4.2.4 with consumer_backlog_eviction and
// preciseTimeBasedBacklogQuotaCheck=true stops taking sends while it evicts: its
// thread dump shows the topic's BookKeeper worker in ManagedCursorImpl.skipEntries,
// called by BacklogQuotaManager from the completion of a read, waiting for work
// that is its own. With the setting off, as it is by default, sends go on.
//
// # Limits
//
// Fixed is not painless: sends that are pending at a refusal fail, and block,
// clear, recover goes on for as long as the backlog grows. The broker checks
// quotas at an interval, so a topic can be well over its quota before it
// refuses. It counts an open ledger as backlog whether it was read or not: a
// quota smaller than a ledger is lifted by clearing only once the ledger is
// full. The scenarios use ledgers of five messages for that reason.
package pulsarquota
