package export

import (
	"bytes"
	"slices"
	"strings"

	"servesim/internal/infile"
	"servesim/internal/jsonread"
)

// sniffBytes is how much of a file is looked at to tell its format.
const sniffBytes = 64 << 10

// Format is a layout of files that this package reads.
type Format struct {
	// Name is what flags and reports call it, Title what help texts do.
	Name, Title string
	// Dialect is the name of the dialect of the tool that writes it.
	Dialect string
	// Keys are those that make it, for help texts.
	Keys []string
}

// format is a Format and how it is read.
type format struct {
	Format
	array bool // it is an array of records
	lines bool // a record is a line
	// read reads the values of a file.
	read func(*pass)
	// records reads a file that isn't read value by value, in place of read.
	records func(*pass, *infile.Text)
}

// formats returns every format. Its keys tell it from the others.
func formats() []format {
	return []format{
		vllmFormat(), sglangFormat(), genaiPerfFormat(), aiperfFormat(), llmperfFormat(),
		guidellmFormat(), inferencePerfFormat(), llmservingsimFormat(), recordsFormat(),
	}
}

// Formats lists every format, in the order in which help texts print them.
func Formats() []Format {
	var list []Format
	for _, f := range formats() {
		list = append(list, f.Format)
	}
	return list
}

// shape is what the beginning of a file shows.
type shape struct {
	array  bool
	object bool     // there is an object, in the array or by itself
	keys   []string // its keys, as far as the beginning has them
}

// shapeOf looks at the first object of head, in an array or by itself.
func shapeOf(head []byte) (s shape) {
	var ignored infile.Faults // head may be cut off anywhere
	r := jsonread.NewBytes(bytes.TrimPrefix(head, infile.ByteOrderMark()), "", &ignored)
	object := func() {
		s.object = r.IsObject()
		r.Object(func(key []byte) {
			s.keys = append(s.keys, string(key))
			r.Skip()
		})
	}
	if s.array = r.IsArray(); s.array {
		r.Array(func(i int) {
			if i > 0 {
				r.Stop()
				return
			}
			object()
		})
		return s
	}
	object()
	return s
}

// has tells whether f can be a file of shape s.
func (f *format) has(s *shape) bool {
	return f.array == s.array && !slices.ContainsFunc(f.Keys, func(k string) bool { return !slices.Contains(s.keys, k) })
}

// detect tells the format of a file that begins with head.
func detect(head []byte) (format, *infile.Fault) {
	if fault := infile.NotText(head, "an export of a benchmark tool"); fault != nil {
		return format{}, fault
	}
	s := shapeOf(head)
	for _, f := range formats() {
		if f.has(&s) {
			return f, nil
		}
	}
	return format{}, s.unknown()
}

// Is tells whether a file that begins with head is of a format of this package.
func Is(head []byte) bool {
	_, fault := detect(head)
	return fault == nil
}

// unknown is the fault of a file of no format.
func (s *shape) unknown() *infile.Fault {
	f := &infile.Fault{Line: 1, Found: "text that is no JSON", Want: "a file of one of these tools:" + formatList()}
	switch {
	case len(s.keys) > 0:
		f.Found = "the keys " + infile.List(s.keys[:min(len(s.keys), 12)], "and")
	case s.object:
		f.Found = "an object without keys"
	case s.array:
		f.Found = "an array without an object in it"
	}
	for _, k := range knownOthers() {
		if s.array == k.array && s.has(k.keys...) {
			f.Found, f.Want, f.Fix = k.what, k.want, k.fix
			break
		}
	}
	return f
}

// has tells whether all of names are keys.
func (s *shape) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(k string) bool { return !slices.Contains(s.keys, k) })
}

// formatList lists the formats with their keys.
func formatList() string {
	var b strings.Builder
	for _, f := range formats() {
		b.WriteString("\n  " + f.Name + ": " + f.Title + " (" + strings.Join(f.Keys, ", ") + ")")
	}
	return b.String()
}

// other is a file that tools write beside the one that is wanted.
type other struct {
	array           bool
	keys            []string
	what, want, fix string
}

// knownOthers returns the files that are mistaken for the ones of formats.
func knownOthers() []other {
	return []other{
		{false, []string{"metadata", "start_perf_ns", "responses"}, "AIPerf's raw records", "its profile_export.jsonl", "give that, from the same folder"},
		{false, []string{"aiperf_version"}, "AIPerf's summary, which has no requests", "its profile_export.jsonl", "give that, from the same folder; --export-level summary leaves it out"},
		{false, []string{"time_to_first_token", "request_latency"}, "a summary of GenAI-Perf or AIPerf, which has no requests", "profile_export.json of GenAI-Perf, profile_export.jsonl of AIPerf", "give that, from the same folder"},
		{false, []string{"load_summary", "successes"}, "a summary of inference-perf, which has no requests", "its per_request_lifecycle_metrics.json", "report.request_lifecycle.per_request: true writes it"},
		{false, []string{"results_ttft_s_mean"}, "LLMPerf's summary, which has no requests", "its _individual_responses.json", "give that, from the same folder"},
		{true, []string{"benchmark", "metric"}, "vLLM's result in the format of PyTorch's benchmarks, which has no requests", "the .json beside it, written with --save-detailed", ""},
	}
}
