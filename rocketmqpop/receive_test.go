package rocketmqpop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/proto"

	"github.com/brokerfault/brokerfault/testenv"
)

// received decodes the messages in the answer to a receive.
func received(c testenv.RelayCall) []*v2.Message {
	var all []*v2.Message
	for _, answer := range c.Answers {
		var r v2.ReceiveMessageResponse
		if proto.Unmarshal(answer, &r) == nil && r.GetMessage() != nil {
			all = append(all, r.GetMessage())
		}
	}
	return all
}

// hasMessages says of a receive that its answer is worth losing.
func hasMessages(c testenv.RelayCall) bool { return len(received(c)) > 0 }

func attemptOf(c testenv.RelayCall) string {
	var r v2.ReceiveMessageRequest
	if proto.Unmarshal(c.Request, &r) != nil {
		return ""
	}
	return r.GetAttemptId()
}

const receiveMethod = "ReceiveMessage"

// loseAnswer is the fault of a receive whose answer gets lost although it had
// messages, these numbers.
func (s *scene) loseAnswer(relay *testenv.Relay, sender *popper, numbers ...int) testenv.Fault {
	rule := &testenv.RelayRule{Method: receiveMethod, Matches: hasMessages, Swallow: true}
	return relay.Fault("the answer to a receive is lost", rule, func(ctx context.Context) error {
		return sender.send(ctx, numbers...)
	})
}

// lostAttempt is the attempt ID of the receive whose answer began with this
// number and got lost, or empty if there was none.
func lostAttempt(relay *testenv.Relay, number int) string {
	if i := lostCall(relay.Calls(receiveMethod), number); i >= 0 {
		return attemptOf(relay.Calls(receiveMethod)[i])
	}
	return ""
}

func lostCall(calls []testenv.RelayCall, number int) int {
	return slices.IndexFunc(calls, func(c testenv.RelayCall) bool {
		got := numbers(received(c))
		return len(got) > 0 && got[0] == number
	})
}

// retried succeeds once the receive whose answer began with this number, and got
// lost, was made again, with the same attempt ID.
func retried(relay *testenv.Relay, number int) testenv.Probe {
	return func(context.Context) error {
		calls := relay.Calls(receiveMethod)
		i := lostCall(calls, number)
		if i < 0 {
			return fmt.Errorf("no receive of %d was answered with message %d", len(calls), number)
		}
		if i+1 == len(calls) {
			return errors.New("there was no retry yet")
		}
		if lost, retry := attemptOf(calls[i]), attemptOf(calls[i+1]); lost != retry {
			return testenv.Stop(fmt.Errorf("the retry carries the attempt ID %q, the lost one carried %q", retry, lost))
		}
		return nil
	}
}
