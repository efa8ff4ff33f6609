// Package supervisor starts processes that do not outlive this one.
//
// They are children of a supervisor, this same program executed anew, that
// watches a pipe to this process. When the pipe breaks, whatever the reason
// (an end, a panic, kill -9), the supervisor kills every process group that
// it started, removes the session's containers and its directory, and ends.
package supervisor
