package container

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// fakeEngine has every image, and each is of 7 bytes.
func fakeEngine(t *testing.T) client.APIClient {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "engine")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.44")
		if !strings.HasSuffix(r.URL.Path, "/_ping") && !strings.Contains(r.URL.Path, "/images/") {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(`{"Id":"sha256:1","Size":7}`))
	})}
	go func() { _ = server.Serve(l) }()
	engine, err := client.New(client.WithHost("unix://" + socket))
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = engine.Close()
		_ = server.Close()
	})
	return engine
}

func TestImageThatIsThereIsPrepared(t *testing.T) {
	r := &Runtime{engine: fakeEngine(t), base: "base", cache: &dist.Cache{Dir: t.TempDir()}}
	bill, err := dist.Kafka("3.9.2")
	require.NoError(t, err)
	made, err := r.Prepare(t.Context(), bill, t.Logf)
	require.NoError(t, err)
	ref, err := r.image(t.Context(), bill, t.Logf)
	require.NoError(t, err)
	require.Equal(t, runtime.Prepared{Name: ref, Bytes: 7}, made)
	require.Contains(t, ref, "brokerfault/kafka:3.9.2-")
}
