package testenv

import "google.golang.org/protobuf/encoding/protowire"

func appendField(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

func appendNumber(b []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), value)
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
