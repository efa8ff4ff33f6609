// Package kafkametadata tests what a Kafka client does when a topic's name is
// illegal, unknown, deleted or made anew, and when metadata comes late or not at all.
//
// # The incident
//
// A broker of 0.8.2.1 with auto.create.topics.enable answers a metadata request that
// names one illegal topic (a space, parentheses, what is not ASCII) with an error for
// every topic in it and with no brokers (KAFKA-1884, KAFKA-2393; mended in 0.9). A client
// asks for all its topics at once, so one such record cuts it off from the good ones.
package kafkametadata
