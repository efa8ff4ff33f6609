package dist

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Held is a distribution in a cache.
type Held struct {
	// Name is its broker and version: "kafka-3.9.2".
	Name string `json:"name"`
	Jars int    `json:"jars"`
	// Bytes is the size of the jars together.
	Bytes int64 `json:"bytes"`
}

// Contents lists what the manifests of the cache say. It does not look at the jars.
func (c *Cache) Contents() []Held {
	entries, _ := os.ReadDir(c.jarsDir())
	var all []Held
	for _, entry := range entries {
		var m manifest
		text, err := os.ReadFile(filepath.Join(c.jarsDir(), entry.Name(), manifestFile))
		if err != nil || json.Unmarshal(text, &m) != nil || strings.HasSuffix(entry.Name(), partSuffix) {
			continue // no result; the next use makes one
		}
		name := entry.Name()
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			name = name[:i]
		}
		h := Held{Name: name, Jars: len(m.Jars)}
		for _, j := range m.Jars {
			h.Bytes += j.Size
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b Held) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Has says whether a bill's jars are in the cache, whole.
func (c *Cache) Has(b Bill) bool {
	_, err := check(filepath.Join(c.jarsDir(), b.Key()))
	return err == nil
}
