package broker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJSONObjectWritesNumbersAndBooleansBare(t *testing.T) {
	got := jsonObject(
		map[string]string{"port": "8081", "name": "proxy", "tls": "true", "gone": "1"},
		map[string]string{"name": `a "b"`, "gone": "", "ratio": "0.5"},
	)
	require.JSONEq(t, `{"port": 8081, "name": "a \"b\"", "tls": true, "ratio": "0.5"}`, got)
}
