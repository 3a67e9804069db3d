package conform

import (
	_ "embed"
	"strconv"
	"strings"
)

// recordings says what there is of recorded schedules, a line for each engine
// version. A test counts again and rewrites it with -update.
//
//go:embed recordings.txt
var recordings string

// Recordings counts the public recordings of the schedules of one engine version.
type Recordings struct {
	// Recorded are all, Exact those that its policy reproduces in every step.
	Recorded, Exact int
	// Skipped says of the others what they need that isn't modelled.
	Skipped string
}

// RecordingsOf returns what there is of preset; ok is false if nothing was counted.
func RecordingsOf(preset string) (r Recordings, ok bool) {
	for line := range strings.Lines(recordings) {
		part := strings.Split(line, "|")
		if len(part) != 4 || strings.TrimSpace(part[0]) != preset {
			continue
		}
		r.Skipped = strings.Trim(part[3], " -\n")
		var bad, worse error
		r.Recorded, bad = strconv.Atoi(strings.TrimSpace(part[1]))
		r.Exact, worse = strconv.Atoi(strings.TrimSpace(part[2]))
		return r, bad == nil && worse == nil
	}
	return r, false
}
