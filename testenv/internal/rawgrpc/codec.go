package rawgrpc

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// Codec takes gRPC's messages, *[]byte, as they are. It calls itself proto,
// for that is what is in them.
type Codec struct{}

// Name is the content's subtype.
func (Codec) Name() string { return "proto" }

// Marshal hands on the bytes.
func (Codec) Marshal(v any) (mem.BufferSlice, error) {
	b, is := v.(*[]byte)
	if !is {
		return nil, fmt.Errorf("encode %T: it is no *[]byte", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(*b)}, nil
}

// Unmarshal copies the bytes, which belong to the connection.
func (Codec) Unmarshal(data mem.BufferSlice, v any) error {
	b, is := v.(*[]byte)
	if !is {
		return fmt.Errorf("decode into %T: it is no *[]byte", v)
	}
	*b = data.Materialize()
	return nil
}
