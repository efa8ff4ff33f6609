package supervisor

// The supervisor reads requests from its standard input and writes answers to
// its standard output, one JSON document a line.

type request struct {
	Op string `json:"op"` // start, signal, engine
	ID int    `json:"id,omitempty"`

	Args   []string `json:"args,omitempty"`
	Env    []string `json:"env,omitempty"`
	Dir    string   `json:"dir,omitempty"`
	Log    string   `json:"log,omitempty"`
	Signal int      `json:"signal,omitempty"`
	Engine string   `json:"engine,omitempty"`
}

type answer struct {
	ID    int    `json:"id"`
	Op    string `json:"op"` // started, failed, exited
	PID   int    `json:"pid,omitempty"`
	Error string `json:"error,omitempty"`
	Exit  string `json:"exit,omitempty"` // empty: exit status 0
}

const (
	opStart   = "start"
	opSignal  = "signal"
	opEngine  = "engine"
	opStarted = "started"
	opFailed  = "failed"
	opExited  = "exited"
)
