package testenv

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRocketMQVersions(t *testing.T) {
	tests := []struct {
		setting             string
		spec                RocketMQSpec
		wantRest, wantOwner string
	}{
		{"5.5.1", RocketMQSpec{}, "5.5.0", "5.5.1"},
		{"5.5.0", RocketMQSpec{}, "5.5.0", "5.5.0"},
		{"5.5.0-broker-5.5.1", RocketMQSpec{}, "5.5.0", "5.5.1"},
		{"5.5.1-broker-5.5.1", RocketMQSpec{}, "5.5.1", "5.5.1"},
		{"5.5.0-broker-", RocketMQSpec{}, "5.5.0", "5.5.0"},
		{"5.5.1", RocketMQSpec{Version: "5.4.0"}, "5.4.0", "5.4.0"},
		{"5.5.0", RocketMQSpec{Version: "5.5.1"}, "5.5.0", "5.5.1"},
		{"5.5.0", RocketMQSpec{Version: "5.5.1", BrokerVersion: "5.5.1"}, "5.5.1", "5.5.1"},
		{"5.5.0", RocketMQSpec{BrokerVersion: "5.5.1"}, "5.5.0", "5.5.1"},
		{"5.5.0", RocketMQSpec{Version: "5.4.0", BrokerVersion: "5.5.1"}, "5.4.0", "5.5.1"},
	}
	for _, test := range tests {
		rest, owner := test.spec.versions(test.setting)
		require.Equal(t, test.wantRest, rest, "%+v with %q", test.spec, test.setting)
		require.Equal(t, test.wantOwner, owner, "%+v with %q", test.spec, test.setting)
	}
}

func TestRemotingFrameIsReadBack(t *testing.T) {
	frame, err := remotingCommand{Code: 17, Fields: map[string]string{"topic": "orders"}, Body: []byte("body")}.frame()
	require.NoError(t, err)
	got, err := readRemoting(bytes.NewReader(frame))
	require.NoError(t, err)
	require.Equal(t, 17, got.Code)
	require.Equal(t, "orders", got.Fields["topic"])
	require.Equal(t, "body", string(got.Body))
}

func TestBrokenRemotingFramesAreRefused(t *testing.T) {
	tests := map[string]struct {
		frame []byte
		want  string
	}{
		"nothing":                  {nil, "EOF"},
		"cut short":                {[]byte{0, 0, 0, 20, 0, 0, 0, 2, '{'}, "unexpected EOF"},
		"another serialization":    {[]byte{0, 0, 0, 8, 1, 0, 0, 4, 0, 0, 0, 0}, "not JSON"},
		"a header longer than all": {[]byte{0, 0, 0, 6, 0, 0, 0, 9, '{', '}'}, "do not fit"},
		"far too long":             {[]byte{0x7f, 0, 0, 0, 0, 0, 0, 2}, "do not fit"},
		"no JSON":                  {[]byte{0, 0, 0, 6, 0, 0, 0, 2, 'h', 'i'}, "decode its header"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := readRemoting(bytes.NewReader(test.frame))
			require.ErrorContains(t, err, test.want)
		})
	}
}
