// Package evidence keeps what a scenario leaves behind: the timeline, the
// client's log, the broker's last words and the verdict.
package evidence
