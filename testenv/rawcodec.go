package testenv

import (
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// rawCodec takes gRPC's messages, *[]byte, as they are. It calls itself proto,
// for that is what is in them.
type rawCodec struct{}

// Name is the content's subtype.
func (rawCodec) Name() string { return "proto" }

// Marshal hands on the bytes.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	b, is := v.(*[]byte)
	if !is {
		return nil, fmt.Errorf("encode %T: it is no *[]byte", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(*b)}, nil
}

// Unmarshal copies the bytes, which belong to the connection.
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	b, is := v.(*[]byte)
	if !is {
		return fmt.Errorf("decode into %T: it is no *[]byte", v)
	}
	*b = data.Materialize()
	return nil
}

// field is the last value of a length-delimited field of a protobuf message.
func field(message []byte, want protowire.Number) (value []byte, found bool) {
	each(message, func(number protowire.Number, kind protowire.Type, raw []byte) {
		if number == want && kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(raw)
			found = true
		}
	})
	return value, found
}

// number is the last value of a varint field.
func number(message []byte, want protowire.Number) (value uint64, found bool) {
	each(message, func(number protowire.Number, kind protowire.Type, raw []byte) {
		if number == want && kind == protowire.VarintType {
			value, _ = protowire.ConsumeVarint(raw)
			found = true
		}
	})
	return value, found
}

// each walks over the fields up to the first that is malformed.
func each(message []byte, visit func(number protowire.Number, kind protowire.Type, raw []byte)) {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return
		}
		size := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if size < 0 {
			return
		}
		visit(number, kind, message[tag:tag+size])
		message = message[tag+size:]
	}
}
