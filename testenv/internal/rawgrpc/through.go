package rawgrpc

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
)

// through hands messages on in both directions, as they come.
func (r *Relay) through(ctx context.Context, method string, call *Call, client grpc.ServerStream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the server's side, whatever ended this one
	server, err := r.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		r.ended(call, err)
		return err
	}
	if err := server.SendMsg(&call.Request); err != nil && !errors.Is(err, io.EOF) {
		r.ended(call, err)
		return err
	}
	// It ends with the client's stream, which gRPC ends when the handler returns.
	go upstream(client, server)
	for {
		var answer []byte
		if err := server.RecvMsg(&answer); err != nil {
			r.ended(call, unlessEOF(err))
			return unlessEOF(err)
		}
		r.heard(call, answer)
		if err := client.SendMsg(&answer); err != nil {
			r.ended(call, err)
			return err
		}
	}
}

// upstream hands on what the client says after its first message.
func upstream(client grpc.ServerStream, server grpc.ClientStream) {
	for {
		var message []byte
		if err := client.RecvMsg(&message); err != nil {
			if errors.Is(err, io.EOF) {
				_ = server.CloseSend()
			}
			return
		}
		if server.SendMsg(&message) != nil {
			return // the reason comes with the server's answers
		}
	}
}

func unlessEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
