package rawgrpc

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Call is a call that came to the relay.
type Call struct {
	// Method is the last part of its name: "ReceiveMessage".
	Method string
	// Request is the client's first message.
	Request []byte
	// Answers are the server's, the first hundred.
	Answers [][]byte
	// Err is how the server ended the call; nil is OK, or not yet.
	Err error
	// Began and Ended are when it came and when the server's last answer was there.
	// Ended is zero before.
	Began, Ended time.Time
}

// Rule is what the relay does to calls of a method, instead of just handing them
// on. It is for methods with one request. The first of Swallow, Fail and Answer
// that is set is done; with none of them the answer comes after Delay.
type Rule struct {
	// Method is the last part of its name.
	Method string
	// Matches says which calls; nil is every one. Unless the rule is Unmade, the
	// call has its answers by then.
	Matches func(Call) bool
	// Skip is how many matching calls go by before it begins.
	Skip int
	// Times is how many calls it is done to; zero is 1, and -1 every one.
	Times int
	// Unmade keeps the call from the server.
	Unmade bool

	// Swallow never answers: the client waits until its deadline.
	Swallow bool
	// Fail ends the call with this error, a gRPC status.
	Fail error
	// Answer is given in place of the server's answers.
	Answer []byte
	// Delay comes before whatever is answered.
	Delay time.Duration

	seen, touched atomic.Int64
}

// Touched is how many calls the rule was done to.
func (r *Rule) Touched() int { return int(r.touched.Load()) }

// Bites succeeds once the rule was done to a call.
func (r *Rule) Bites(context.Context) error {
	if r.Touched() == 0 {
		return fmt.Errorf("no call of %s was touched, %d matched", r.Method, r.seen.Load())
	}
	return nil
}

func (r *Rule) limit() int64 {
	if r.Times == 0 {
		return 1
	}
	return int64(r.Times)
}

func (r *Rule) spent() bool { return r.limit() > 0 && r.touched.Load() >= r.limit() }

// take says whether the rule is done to this call. The relay's lock is held.
func (r *Rule) take(c Call) bool {
	if r.spent() || r.Matches != nil && !r.Matches(c) {
		return false
	}
	if r.seen.Add(1) <= int64(r.Skip) {
		return false
	}
	r.touched.Add(1)
	return true
}
