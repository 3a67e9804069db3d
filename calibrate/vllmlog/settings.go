package vllmlog

import (
	"fmt"
	"regexp"
	"strings"
)

// settingPatterns returns the lines about how the server was started: the
// configuration that the engine prints, the arguments that differ from the
// defaults, and lines about single options.
func (d *reader) settingPatterns() []pattern {
	s := &d.log.Settings
	return []pattern{
		{"Initializing a", regexp.MustCompile(`^(.*)Initializing an? (?:V[01] )?LLM engine \(v([^)]*)\) with config: (.*)$`),
			"Initializing a V1 LLM engine (v0.11.0) with config: model='...'", d.configured},
		{"non-default args:", regexp.MustCompile(`non-default args: \{(.*)`), "non-default args: {'max_model_len': 8192}", d.arguments},
		{"Chunked prefill is enabled with", regexp.MustCompile(`max_num_batched_tokens=([0-9]+)`), "Chunked prefill is enabled with max_num_batched_tokens=8192.",
			func(m []string, line int) { d.figure(&s.MaxNumBatchedTokens, m[1], line) }},
		{"Asynchronous scheduling is", regexp.MustCompile(`Asynchronous scheduling is (enabled|disabled)`), "Asynchronous scheduling is enabled.",
			func(m []string, line int) {
				s.AsyncScheduling = Word{map[string]string{"enabled": "True", "disabled": "False"}[m[1]], line}
			}},
	}
}

// configured takes the engine's configuration. One process prints it once.
func (d *reader) configured(m []string, line int) {
	who := process(m[1])
	if at, ok := d.starts[who]; ok {
		d.fault(line, "", fmt.Sprintf("the engine's second start, after that on line %d", at), "the log of one start", "give what is from here on, or what is before")
		return
	}
	d.starts[who] = line
	s := &d.log.Settings
	s.Version = Word{m[2], line}
	for _, w := range []struct {
		name string
		into *Word
	}{{"model", &s.Model}, {"kv_cache_dtype", &s.KVCacheDtype}, {"quantization", &s.Quantization}, {"enforce_eager", &s.EnforceEager}} {
		if text, ok := assigned(m[3], w.name); ok {
			*w.into = Word{text, line}
		}
	}
	for _, f := range []named{
		{"tensor_parallel_size", &s.TensorParallelSize}, {"pipeline_parallel_size", &s.PipelineParallelSize}, {"max_seq_len", &s.MaxModelLen},
	} {
		if text, ok := assigned(m[3], f.name); ok {
			d.figure(f.into, text, line)
		}
	}
}

// assigned returns the value of name=value in a list with commas, without quotes.
func assigned(list, name string) (value string, ok bool) {
	for rest := list; ; {
		i := strings.Index(rest, name+"=")
		if i < 0 {
			return "", false
		}
		if before := rest[:i]; before == "" || strings.HasSuffix(before, " ") || strings.HasSuffix(before, ",") || strings.HasSuffix(before, "(") {
			value, _, _ = strings.Cut(rest[i+len(name)+1:], ",")
			return strings.Trim(strings.TrimSpace(value), `'")`), true
		}
		rest = rest[i+len(name):]
	}
}

// arguments takes the options that a server was given, a Python dictionary.
func (d *reader) arguments(m []string, line int) {
	s := &d.log.Settings
	for _, f := range []named{
		{"gpu_memory_utilization", &s.GPUMemoryUtilization}, {"max_num_seqs", &s.MaxNumSeqs}, {"max_num_batched_tokens", &s.MaxNumBatchedTokens},
		{"block_size", &s.BlockSize}, {"num_gpu_blocks_override", &d.log.Start.Override},
	} {
		if _, after, ok := strings.Cut(m[1], "'"+f.name+"': "); ok {
			text := after[:strings.IndexAny(after+",", ",}")]
			d.figure(f.into, strings.Trim(text, "'"), line)
		}
	}
}

// A named figure is an option and where its value goes.
type named struct {
	name string
	into *Figure
}

// figure adds the number that text is to f. None is no number, and no fault.
func (d *reader) figure(f *Figure, text string, line int) {
	if text == "None" {
		return
	}
	v, err := number(text)
	if err != nil || !(v >= 0 && v < 1e12) {
		d.fault(line, "", quote(text), "a number", "")
		return
	}
	f.add(v, line)
}
