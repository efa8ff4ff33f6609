package headstart

import (
	"encoding/json"
	"os"
	"time"
)

// sealSuffix ends the name of the file that says how another one was when it
// was kept.
const sealSuffix = ".seal"

type seal struct {
	Size  int64     `json:"size"`
	MTime time.Time `json:"mtime"`
}

// seal notes how a file is that is whole.
func (s Store) seal(name string) error {
	info, err := os.Stat(s.path(name))
	if err != nil {
		return err
	}
	text, err := json.Marshal(seal{Size: info.Size(), MTime: info.ModTime()})
	if err != nil {
		return err
	}
	return s.write(name+sealSuffix, text)
}

// sealed says that a file is there, and as it was kept.
func (s Store) sealed(name string) bool {
	text, err := os.ReadFile(s.path(name + sealSuffix))
	if err != nil {
		return false
	}
	var kept seal
	if json.Unmarshal(text, &kept) != nil {
		return false
	}
	info, err := os.Stat(s.path(name))
	return err == nil && info.Size() == kept.Size && info.ModTime().Equal(kept.MTime)
}
