package evidence

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Complaint is one kind of error in a Java program's log: records of the same words,
// numbers left aside, with the same exceptions.
type Complaint struct {
	// Text is the first of them, without its stack.
	Text string
	// Count is how many there are.
	Count int
	// Before is how many there were before the fault.
	Before int
}

var (
	// recordStart is the time that every record of the brokers' logs begins with.
	recordStart = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*\s+`)
	levelWord   = regexp.MustCompile(`\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b`)
	// thrown is a line that tells an exception; deadly is one that no record leads in.
	thrown = regexp.MustCompile(`^(Caused by: |Exception in thread |([a-z]\w*\.)+[\w$]*(Exception|Error)\b)`)
	deadly = regexp.MustCompile(`^(Exception in thread |Terminating due to |Aborting due to |# There is insufficient memory)`)
	number = regexp.MustCompile(`\b[0-9a-fA-F]{8,}\b|\d+`)
)

const (
	// recordLines and lineLimit bound what is kept of a record.
	recordLines = 6
	lineLimit   = 400
)

// Complaints reads a log and returns what it complains of, in the order of its first
// appearance: errors, and warnings that tell an exception. What stands in its first
// bytes, before the fault, is only counted.
func Complaints(log io.Reader, before int64) ([]Complaint, error) {
	c := complaints{seen: map[string]*Complaint{}, before: before}
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		c.line(strings.TrimRight(line, "\r\n"))
		c.at += int64(len(line))
		if err != nil {
			c.flush()
			if !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("read the log: %w", err)
			}
			break
		}
	}
	var all []Complaint
	for _, one := range c.order {
		if one.Count > 0 {
			all = append(all, *one)
		}
	}
	return all, nil
}

type complaints struct {
	seen       map[string]*Complaint
	order      []*Complaint
	at, before int64 // where in the log, and where the fault was

	level  string
	early  bool // the record stands before the fault
	record []string
	throws bool
}

func (c *complaints) line(line string) {
	switch {
	case recordStart.MatchString(line):
		c.begin(levelWord.FindString(line[:min(len(line), lineLimit)]), line)
	case deadly.MatchString(line):
		c.begin("FATAL", line)
	case thrown.MatchString(line):
		c.throws = true
		if len(c.record) > 0 && len(c.record) < recordLines {
			c.record = append(c.record, clip(line))
		}
	}
}

func (c *complaints) begin(level, line string) {
	c.flush()
	c.level, c.record, c.throws, c.early = level, []string{clip(line)}, false, c.at < c.before
}

func (c *complaints) flush() {
	bad := c.level == "ERROR" || c.level == "FATAL" || c.level == "WARN" && c.throws
	if !bad || len(c.record) == 0 {
		return
	}
	text := strings.Join(c.record, "\n")
	kind := number.ReplaceAllString(recordStart.ReplaceAllString(text, ""), "#")
	one := c.seen[kind]
	if one == nil {
		one = &Complaint{}
		c.seen[kind] = one
		c.order = append(c.order, one)
	}
	switch {
	case c.early:
		one.Before++
	case one.Count == 0:
		one.Text = text
		fallthrough
	default:
		one.Count++
	}
	c.record = nil
}

func clip(line string) string {
	if len(line) > lineLimit {
		return strings.ToValidUTF8(line[:lineLimit], "") + "..."
	}
	return line
}
