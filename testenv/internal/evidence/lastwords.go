package evidence

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// complaint is a line of a Java program's log that tells what went wrong.
var complaint = regexp.MustCompile(`\b(ERROR|FATAL)\b|^Caused by: |^Exception in thread |^([a-z]\w*\.)+[\w$]*(Exception|Error)\b`)

// LastWords returns the last lines of a file, or a line that says why there
// are none. A broker that gives up says why and then shuts down at length, so
// as many of its latest complaints come first if they are further up.
func LastWords(path string, lines int) string {
	const most = 256 << 10
	f, err := os.Open(path)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		_, _ = f.Seek(-most, io.SeekEnd)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	end := max(0, len(all)-lines)
	var words []string
	for _, line := range slices.Backward(all[:end]) {
		if len(words) < lines && complaint.MatchString(line) && !slices.Contains(words, line) {
			words = append(words, line)
		}
	}
	slices.Reverse(words)
	if len(words) > 0 {
		words = append(words, "...")
	}
	return strings.Join(append(words, all[end:]...), "\n")
}
