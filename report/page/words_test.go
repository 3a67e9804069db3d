package page

import (
	"testing"

	"servesim/report"

	"github.com/google/go-cmp/cmp"
)

// TestTextBlocks holds how text for people is cut: items with their names, folded lines
// joined, columns as they are, and sentences as sentences.
func TestTextBlocks(t *testing.T) {
	text := report.Item("Load", "drawn at each rate, 4 requests/s today, and so on until the line is folded, because it is longer than a line can be") +
		report.Item("", "a second text") + "\nRanked by goodput,\n  the first 2 points\n\npoint  gpu   rate_per_s\n    1  h100           2\n    2  b200           4\n\n" +
		report.Item("Power", "an upper bound")
	want := []report.Block{
		{Item: true, Name: "Load", Text: "drawn at each rate, 4 requests/s today, and so on until the line is folded, because it is longer than a line can be a second text"},
		{Text: "Ranked by goodput, the first 2 points"},
		{Text: "point  gpu   rate_per_s\n    1  h100           2\n    2  b200           4"},
		{Item: true, Name: "Power", Text: "an upper bound"},
	}
	if d := cmp.Diff(want, TextBlocks(text)); d != "" {
		t.Error(d)
	}
}
