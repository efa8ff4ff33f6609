package rawgrpc

import (
	"context"
	"fmt"
	"sync"
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
	// Rewrite changes the request on its way to the server. It is done to each
	// matching call, besides one of the rules that are done to its answer, and
	// Matches sees it without answers.
	Rewrite func(request []byte) []byte

	// Swallow never answers: the client waits until its deadline.
	Swallow bool
	// Fail ends the call with this error, a gRPC status.
	Fail error
	// Answer is given in place of the server's answers.
	Answer []byte
	// Delay comes before whatever is answered.
	Delay time.Duration

	mu            sync.Mutex
	seen, touched int
}

// Touched is how many calls the rule was done to.
func (r *Rule) Touched() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.touched
}

// Bites succeeds once the rule was done to a call.
func (r *Rule) Bites(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.touched == 0 {
		return fmt.Errorf("no call of %s was touched, %d matched", r.Method, r.seen)
	}
	return nil
}

// take says whether the rule is done to this call.
func (r *Rule) take(c Call) bool {
	if r.Matches != nil && !r.Matches(c) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Times >= 0 && r.touched >= max(1, r.Times) {
		return false
	}
	r.seen++
	if r.seen <= r.Skip {
		return false
	}
	r.touched++
	return true
}
