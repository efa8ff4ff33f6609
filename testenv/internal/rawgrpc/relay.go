package rawgrpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// maxAnswers bounds what is kept of a call.
const maxAnswers = 100

// Relay is a gRPC server on loopback, without TLS, that hands on calls of any
// service, with their metadata and deadline.
//
// The answers to a call are handed on when the server has ended it, so that a
// rule can be done to a call that was under way when it was added.
type Relay struct {
	streams  []string
	listener net.Listener
	server   *grpc.Server
	conn     *grpc.ClientConn
	serving  sync.WaitGroup

	mu    sync.Mutex
	rules []*Rule
	calls []*Call
}

// Listen opens a relay to a server at host:port. streams are the methods in which
// the client says more than one message: theirs go through as they come, and no
// rule is for them.
func Listen(target string, streams ...string) (*Relay, error) {
	conn, err := grpc.NewClient("passthrough:///"+target,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(Codec{})))
	if err != nil {
		return nil, fmt.Errorf("make the relay's connection: %w", err)
	}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen for the relay: %w", err), conn.Close())
	}
	r := &Relay{streams: streams, listener: listener, conn: conn}
	r.server = grpc.NewServer(grpc.ForceServerCodecV2(Codec{}), grpc.UnknownServiceHandler(r.handle))
	r.serving.Go(func() { _ = r.server.Serve(listener) })
	return r, nil
}

// Address is host:port.
func (r *Relay) Address() string { return r.listener.Addr().String() }

// Close ends every call and stops listening.
func (r *Relay) Close() error {
	r.server.Stop()
	r.serving.Wait()
	return r.conn.Close()
}

// Add makes a rule hold from now on, for calls that have no answer yet.
func (r *Relay) Add(rule *Rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rules = append(r.rules, rule)
}

// Remove ends a rule.
func (r *Relay) Remove(rule *Rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rules = slices.DeleteFunc(r.rules, func(other *Rule) bool { return other == rule })
}

// Calls are those of a method so far, in the order in which they came.
func (r *Relay) Calls(method string) []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Call
	for _, c := range r.calls {
		if c.Method == method {
			all = append(all, *c)
		}
	}
	return all
}

func (r *Relay) handle(_ any, client grpc.ServerStream) error {
	full, _ := grpc.MethodFromServerStream(client)
	var request []byte
	if err := client.RecvMsg(&request); err != nil {
		return err
	}
	call := &Call{Method: path.Base(full), Request: request, Began: time.Now()}
	r.book(call)
	ctx := client.Context()
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, md)
	}
	if slices.Contains(r.streams, call.Method) {
		return r.through(ctx, full, call, client)
	}
	sent := r.rewrite(call)
	if rule := r.rule(call, true); rule != nil {
		r.ended(call, nil)
		return rule.answer(ctx, client, call)
	}
	r.ended(call, r.ask(ctx, full, call, sent))
	if rule := r.rule(call, false); rule != nil {
		return rule.answer(ctx, client, call)
	}
	return call.answer(client)
}

func (r *Relay) book(call *Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

// rule is the first rule that is done to the call, before it is made or after it.
func (r *Relay) rule(call *Call, before bool) *Rule {
	for _, rule := range r.rulesOf(call.Method) {
		if rule.Rewrite == nil && rule.Unmade == before && rule.take(*call) {
			return rule
		}
	}
	return nil
}

// rewrite is the request that goes to the server. The one that is kept stays.
func (r *Relay) rewrite(call *Call) []byte {
	sent := call.Request
	for _, rule := range r.rulesOf(call.Method) {
		if rule.Rewrite != nil && rule.take(*call) {
			sent = rule.Rewrite(sent)
		}
	}
	return sent
}

// rulesOf are the rules for a method. They may ask the relay for its calls, so
// they are not asked under its lock.
func (r *Relay) rulesOf(method string) []*Rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*Rule
	for _, rule := range r.rules {
		if rule.Method == method {
			found = append(found, rule)
		}
	}
	return found
}

func (r *Relay) ended(call *Call, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	call.Err, call.Ended = err, time.Now()
}

func (r *Relay) heard(call *Call, answer []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(call.Answers) < maxAnswers {
		call.Answers = append(call.Answers, answer)
	}
}

// ask makes the call with the request that is to be sent, and waits for its end.
func (r *Relay) ask(ctx context.Context, method string, call *Call, sent []byte) error {
	server, err := r.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return err
	}
	if err := errors.Join(server.SendMsg(&sent), server.CloseSend()); err != nil {
		return err
	}
	for {
		var answer []byte
		if err := server.RecvMsg(&answer); err != nil {
			return unlessEOF(err)
		}
		r.heard(call, answer)
	}
}

// answer gives the client what the server answered.
func (c *Call) answer(client grpc.ServerStream) error {
	for _, answer := range c.Answers {
		if err := client.SendMsg(&answer); err != nil {
			return err
		}
	}
	return c.Err
}

func (r *Rule) answer(ctx context.Context, client grpc.ServerStream, call *Call) error {
	if r.Swallow {
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	select {
	case <-time.After(r.Delay):
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
	switch {
	case r.Fail != nil:
		return r.Fail
	case r.Answer != nil:
		return client.SendMsg(&r.Answer)
	case r.Unmade:
		return status.Error(codes.Internal, "the relay has nothing to answer")
	}
	return call.answer(client)
}
