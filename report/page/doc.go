// Package page writes a report as one HTML file that needs nothing else: no network,
// no folder beside it, and no scripts to be read. With scripts its figures can be
// zoomed, asked and followed to the requests that they show.
//
// A page computes nothing: its caller gives it figures of package figure, blocks of
// package report and lives of package lives. Its scripts and styles are allowed by
// their hashes and nothing else is, by its Content-Security-Policy; texts come through
// html/template, numbers as JSON.
package page
