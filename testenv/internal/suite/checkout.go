package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Checkout is the directory of the suite's module, which has to be one to write into.
func (s *Suite) Checkout(ctx context.Context) (string, error) {
	if err := s.Locate(ctx); err != nil {
		return "", err
	}
	text, err := s.goCommand(ctx, "env", "-json", "GOMOD", "GOMODCACHE")
	if err != nil {
		return "", err
	}
	var at struct{ GOMOD, GOMODCACHE string }
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return "", fmt.Errorf("read what go env says: %w", err)
	}
	if at.GOMOD == "" || at.GOMOD == os.DevNull {
		return "", errors.New("there is no go.mod here or above: run this in a clone of the suite's repository")
	}
	root := filepath.Dir(at.GOMOD)
	if strings.HasPrefix(root, at.GOMODCACHE+string(filepath.Separator)) {
		return "", fmt.Errorf("%s is in the module cache, which is read-only: run this in a clone of the suite's repository", root)
	}
	return root, nil
}
