package testenv

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv/internal/link/kafkawire"
)

// KafkaFrames says which requests or answers at the links of a Kafka a fault is for.
// They are counted over all its brokers and connections, from the fault's injection on.
type KafkaFrames struct {
	// Key is the API key of the requests, as kmsg.Metadata.Int16(). Zero is Produce.
	Key int16
	// Answers picks the answers to these requests; false is the requests themselves.
	Answers bool
	// Nth picks the n-th one only, counted from 1. Zero is every one.
	Nth int
}

// Hold keeps frames back; what follows one in its direction of its connection waits
// behind it. It bites when one is held, and heals by letting them go on.
func (k *Kafka) Hold(f KafkaFrames) Fault { return k.frames(f, "held", kafkawire.Hold()) }

// Delay hands frames on d after they have arrived; what follows one in its direction of
// its connection waits behind it. It bites when one is delayed. The heal lets go what is
// still kept back.
func (k *Kafka) Delay(f KafkaFrames, d time.Duration) Fault {
	return k.frames(f, fmt.Sprintf("delayed by %v", d), kafkawire.Delay(d))
}

// Drop swallows frames; those that follow pass on the same connection. It bites when one
// was swallowed. The heal lets later ones pass.
func (k *Kafka) Drop(f KafkaFrames) Fault { return k.frames(f, "dropped", kafkawire.Drop()) }

// Lose swallows frames and resets the connection of each. It bites when one was lost. The
// heal lets later ones pass.
func (k *Kafka) Lose(f KafkaFrames) Fault { return k.frames(f, "lost", kafkawire.Lose()) }

// Requests is how many requests with this API key have come to the links since the
// start, those of the harness's own metadata probes included: readiness, and the proofs
// of a kill, a pause, a cut and a restart.
func (k *Kafka) Requests(key int16) int { return int(k.wire.Requests(key)) }

// Answers is how many answers to requests with this API key have come to the links
// since the start, those to the harness's own probes included.
func (k *Kafka) Answers(key int16) int { return int(k.wire.Responses(key)) }

func (k *Kafka) frames(f KafkaFrames, become string, action kafkawire.Action) Fault {
	var rule *kafkawire.Rule
	name := f.String() + " are " + become
	if f.Nth > 0 {
		name = f.String() + " is " + become
	}
	return Fault{
		Name: name,
		Apply: func(context.Context) error {
			if f.Key < 0 || f.Nth < 0 {
				return fmt.Errorf("frames of key %d, number %d: neither can be negative", f.Key, f.Nth)
			}
			rule = k.wire.Add(kafkawire.Match{Key: f.Key, Responses: f.Answers, Nth: int64(f.Nth)}, action)
			return nil
		},
		Bites: func(context.Context) error {
			if rule.Acted() == 0 {
				return fmt.Errorf("%d of these frames were seen, and none was %s", rule.Matched(), become)
			}
			return nil
		},
		Heal: func(context.Context) error {
			if rule != nil { // it is not, if it could not be applied
				rule.Remove()
			}
			return nil
		},
	}
}

// String says it in words: "answer 2 to Metadata".
func (f KafkaFrames) String() string {
	api := kmsg.NameForKey(f.Key)
	switch {
	case f.Answers && f.Nth > 0:
		return fmt.Sprintf("answer %d to %s", f.Nth, api)
	case f.Answers:
		return "answers to " + api
	case f.Nth > 0:
		return fmt.Sprintf("%s request %d", api, f.Nth)
	}
	return api + " requests"
}
