package vllmlog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// statsMark stands in every line of statistics.
const statsMark = "Avg generation throughput:"

// stats takes a line of statistics: parts "NAME: NUMBER UNIT" with commas between.
// Those that it does not know, such as of speculative decoding, it leaves alone.
func (d *reader) stats(text string, line int) {
	s := Stats{Line: line, At: stamp(text), PromptPerS: math.NaN(), GenerationPerS: math.NaN(), KVUsage: math.NaN(), PrefixHits: math.NaN(), Running: -1, Waiting: -1}
	begin := strings.Index(text, "Avg prompt throughput:")
	if begin < 0 {
		begin = strings.Index(text, statsMark)
	}
	if head := text[:begin]; strings.Contains(head, "Engine ") {
		word, _, _ := strings.Cut(head[strings.LastIndex(head, "Engine ")+len("Engine "):], ":")
		s.Engine, _ = strconv.Atoi(strings.TrimSpace(word)) // what is no number is one engine's
	}
	good := true
	for part := range strings.SplitSeq(text[begin:], ", ") {
		name, value, ok := strings.Cut(part, ":")
		if !ok {
			continue
		}
		good = d.statistic(&s, name, strings.TrimSpace(value), line) && good
	}
	lacks := math.IsNaN(s.PromptPerS) || math.IsNaN(s.GenerationPerS) || math.IsNaN(s.KVUsage) || s.Running < 0 || s.Waiting < 0
	switch {
	case !good:
	case lacks:
		d.fault(line, "", quote(text[begin:]), "Avg prompt throughput, Avg generation throughput, Running, Waiting and GPU KV cache usage", "")
	default:
		d.log.Stats = append(d.log.Stats, s)
	}
}

// statistic puts one part of a line into s, and tells whether it could be read.
func (d *reader) statistic(s *Stats, name, value string, line int) bool {
	text := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(value, "."), "%"), " ")
	text, _, _ = strings.Cut(text, " ")
	var into *float64
	var count *int
	scale, most := 1.0, 1e9
	switch name {
	case "Avg prompt throughput":
		into = &s.PromptPerS
	case "Avg generation throughput":
		into = &s.GenerationPerS
	case "GPU KV cache usage":
		into, scale, most = &s.KVUsage, 100, 100
	case "Prefix cache hit rate":
		if strings.HasPrefix(value, "GPU") { // V0: GPU: 1.00%, CPU: 0.00%
			text = strings.TrimSpace(strings.TrimPrefix(value, "GPU:"))
			text = strings.TrimSuffix(text, "%")
		}
		into, scale, most = &s.PrefixHits, 100, 100
	case "Running":
		count = &s.Running
	case "Waiting", "Pending":
		count = &s.Waiting
	default:
		return true
	}
	v, err := number(text)
	if err != nil || !(v >= 0 && v <= most) || count != nil && v != math.Trunc(v) {
		d.fault(line, name, quote(value), fmt.Sprintf("a number from 0 to %g", most), "")
		return false
	}
	if count != nil {
		*count = int(v)
		return true
	}
	*into = v / scale
	return true
}

// stamp returns the time of a line such as "INFO 11-06 10:51:48 [loggers.py:123]" in
// seconds since the begin of its month, or NaN.
func stamp(text string) float64 {
	i := strings.Index(text, "INFO ")
	const form = "01-02 15:04:05"
	if i < 0 || len(text) < i+5+len(form) {
		return math.NaN()
	}
	at, err := time.Parse(form, text[i+5:i+5+len(form)])
	if err != nil {
		return math.NaN()
	}
	return float64(((at.Day()*24+at.Hour())*60+at.Minute())*60 + at.Second())
}
