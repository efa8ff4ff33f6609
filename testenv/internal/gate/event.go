package gate

// event is one line of go test -json, as go doc test2json tells it. The
// Import* and FailedBuild fields are those of go doc buildjson.
type event struct {
	Action      string
	Package     string
	Test        string
	Elapsed     float64
	Output      string
	Key         string
	Value       string
	Path        string
	ImportPath  string
	FailedBuild string
}
