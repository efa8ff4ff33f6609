package rawgrpc

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// fixture is an echo server behind a relay, and a client of the relay.
type fixture struct {
	relay *Relay
	conn  *grpc.ClientConn
	// reached counts the calls that came to the server.
	reached atomic.Int64
	// metadata and deadline are the last call's.
	metadata atomic.Value
	deadline atomic.Bool
}

const service = "/some.Service/"

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	server := grpc.NewServer(grpc.ForceServerCodecV2(Codec{}), grpc.UnknownServiceHandler(f.echo))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	f.relay, err = Listen(listener.Addr().String(), "Talk")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.relay.Close()) })
	f.conn, err = grpc.NewClient("passthrough:///"+f.relay.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(Codec{})))
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.conn.Close() })
	return f
}

// echo answers each message with itself.
func (f *fixture) echo(_ any, stream grpc.ServerStream) error {
	f.reached.Add(1)
	md, _ := metadata.FromIncomingContext(stream.Context())
	f.metadata.Store(md)
	_, bounded := stream.Context().Deadline()
	f.deadline.Store(bounded)
	for {
		var message []byte
		if err := stream.RecvMsg(&message); err != nil {
			return unlessEOF(err)
		}
		if err := stream.SendMsg(&message); err != nil {
			return err
		}
	}
}

// call makes a call that may take a second.
func (f *fixture) call(method, request string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	in, out := []byte(request), []byte(nil)
	err := f.conn.Invoke(metadata.AppendToOutgoingContext(ctx, "who", "me"), service+method, &in, &out)
	return string(out), err
}

func TestRelayHandsOnWithMetadataAndDeadline(t *testing.T) {
	f := newFixture(t)
	got, err := f.call("Ask", "hello")
	require.NoError(t, err)
	require.Equal(t, "hello", got)
	require.Equal(t, []string{"me"}, f.metadata.Load().(metadata.MD).Get("who"))
	require.True(t, f.deadline.Load())
	calls := f.relay.Calls("Ask")
	require.Len(t, calls, 1)
	require.Equal(t, "hello", string(calls[0].Request))
	require.Equal(t, [][]byte{[]byte("hello")}, calls[0].Answers)
	require.False(t, calls[0].Ended.IsZero())
}

func TestRelayKeepsStreamsOpenInBothDirections(t *testing.T) {
	f := newFixture(t)
	stream, err := f.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, service+"Talk")
	require.NoError(t, err)
	for _, word := range []string{"one", "two"} {
		in, out := []byte(word), []byte(nil)
		require.NoError(t, stream.SendMsg(&in))
		require.NoError(t, stream.RecvMsg(&out))
		require.Equal(t, word, string(out))
	}
	require.NoError(t, stream.CloseSend())
	var none []byte
	require.Error(t, stream.RecvMsg(&none))
}

func TestRuleIsDoneToTheCallsItNamesAndToNoOther(t *testing.T) {
	f := newFixture(t)
	rule := &Rule{
		Method: "Ask", Skip: 1, Times: 2, Fail: status.Error(codes.Unavailable, "away"),
		Matches: func(c Call) bool { return string(c.Request) == "this" },
	}
	f.relay.Add(rule)
	var outcomes []codes.Code
	for _, request := range []string{"this", "that", "this", "that", "this", "this"} {
		_, err := f.call("Ask", request)
		outcomes = append(outcomes, status.Code(err))
	}
	require.Equal(t, []codes.Code{codes.OK, codes.OK, codes.Unavailable, codes.OK, codes.Unavailable, codes.OK}, outcomes)
	require.Equal(t, 2, rule.Touched())
	require.NoError(t, rule.Bites(t.Context()))
	require.EqualValues(t, 6, f.reached.Load(), "a failed answer was made all the same")
	_, err := f.call("Other", "this")
	require.NoError(t, err)
}

func TestUnmadeCallDoesNotReachTheServer(t *testing.T) {
	f := newFixture(t)
	f.relay.Add(&Rule{Method: "Ask", Unmade: true, Answer: []byte("no")})
	got, err := f.call("Ask", "hello")
	require.NoError(t, err)
	require.Equal(t, "no", got)
	require.Zero(t, f.reached.Load())
}

func TestSwallowedAnswerLeavesTheClientToItsDeadline(t *testing.T) {
	f := newFixture(t)
	rule := &Rule{Method: "Ask", Swallow: true}
	f.relay.Add(rule)
	began := time.Now()
	_, err := f.call("Ask", "hello")
	require.Equal(t, codes.DeadlineExceeded, status.Code(err))
	require.GreaterOrEqual(t, time.Since(began), 900*time.Millisecond)
	require.EqualValues(t, 1, f.reached.Load())
	require.Equal(t, [][]byte{[]byte("hello")}, f.relay.Calls("Ask")[0].Answers, "what was lost is known")
}

func TestDelayedAnswerComesLate(t *testing.T) {
	f := newFixture(t)
	f.relay.Add(&Rule{Method: "Ask", Delay: 300 * time.Millisecond})
	began := time.Now()
	got, err := f.call("Ask", "hello")
	require.NoError(t, err)
	require.Equal(t, "hello", got)
	require.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)
}

func TestRewriteChangesWhatTheServerIsAsked(t *testing.T) {
	f := newFixture(t)
	f.relay.Add(&Rule{Method: "Ask", Rewrite: func([]byte) []byte { return []byte("changed") }})
	got, err := f.call("Ask", "hello")
	require.NoError(t, err)
	require.Equal(t, "changed", got)
	require.Equal(t, "hello", string(f.relay.Calls("Ask")[0].Request))
}

func TestRuleThatTouchedNothingDoesNotBite(t *testing.T) {
	f := newFixture(t)
	rule := &Rule{Method: "Ask", Matches: func(Call) bool { return false }}
	f.relay.Add(rule)
	_, err := f.call("Ask", "hello")
	require.NoError(t, err)
	require.ErrorContains(t, rule.Bites(t.Context()), "no call of Ask was touched")
	f.relay.Remove(rule)
}
