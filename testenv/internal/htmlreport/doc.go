// Package htmlreport writes a gate's report as one HTML page that needs nothing else:
// no network, no script, no file beside it. It shows the verdicts, the grid of cases
// and versions, and for each cell what is in its artifacts: the timeline, the counts,
// the end of each log.
//
// The page is for anyone who was sent it: it is read on a phone, in the dark, with a
// keyboard, by a screen reader and on paper. What a run has said is data and shown as
// text, whatever it looks like.
package htmlreport
