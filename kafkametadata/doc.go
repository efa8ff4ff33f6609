// Package kafkametadata tests what a Kafka client does when a topic's name is
// illegal, unknown, deleted or made anew, and when metadata comes late or not at all.
//
// # The incident
//
// A broker of 0.8.2.1 with auto.create.topics.enable answers a metadata request that
// names one illegal topic (a space, parentheses, what is not ASCII) with an error for
// every topic in it and with no brokers (KAFKA-1884, KAFKA-2393; mended in 0.9.0.0). A
// client asks for all its topics at once, so one record to such a name cuts it off from
// the good ones. franz-go v1.22.3 then fails every record to them at once, with
// INVALID_TOPIC_EXCEPTION, for as long as it keeps the name; a fresh client sends all
// the while. Because the answer names no brokers the client also drops its connection,
// and a record on its way then may be stored twice: 0.8 has no idempotent producer.
//
// # The remedies on 0.8.2.1
//
//   - Auto-creation off at the broker helps: the bad name fails alone.
//   - A client of its own for names that nobody has checked helps: the other one never
//     pauses.
//   - Purging the name (PurgeTopicsFromClient) heals the poisoned client, here within a
//     second; the records that failed before are lost unless they are sent again.
//   - The client's own AllowAutoTopicCreation does not help: it is off by default, but the
//     old request cannot carry it, and the broker creates what it is asked for.
//   - A broker from 1.0.0 on helps: bad names fail alone, within milliseconds.
//
// # What else is to be known of the client
//
//   - Without auto-creation 0.8.2.1 calls an illegal name unknown, which franz-go retries:
//     with its default settings (UnknownTopicRetries 4, MetadataMinAge 5 s) such a record
//     fails after 20 s. The same goes for a topic that was deleted.
//   - From v1.22.0 on a topic that was deleted and made anew stays lost to the client, with
//     UNKNOWN_TOPIC_ID, until it is purged and, by a consumer, added again. v1.21.5 is
//     silent, and stores offsets of the old topic for the new one. So does v1.22.3 on
//     brokers whose offset commits name the topic only (seen on 3.9.2, not on 4.4.0), as
//     long as nothing has told it: while the topic is paused, and for a moment always.
//   - With RecordRetries(0), v1.15.4 to v1.17.1 fail every record, known topic or not, with
//     "record failed after being retried too many times"; v1.20.0 and v1.22.3 do not.
//   - While metadata answers are swallowed the client waits for each as long as its
//     RequestTimeoutOverhead, 10 s by default.
//
// # Limits
//
// The client under test is franz-go; its log and the counts of metadata requests, taken
// at the link, are in the evidence. Topics have one partition, so that order can be
// compared. Short timeouts stand in for the client's defaults where a test would wait
// for minutes; BROKERFAULT_PROFILE=full takes the defaults.
package kafkametadata
