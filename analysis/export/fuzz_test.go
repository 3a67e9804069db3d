package export

import (
	"errors"
	"testing"

	"servesim/analysis/transcript"
	"servesim/internal/infile"
)

// fuzzReader checks of any bytes that begin like a file of a format that nothing
// panics, that an error is a Fault of the file, and that a file without one has
// the calls that it was said to have, which all can be.
func fuzzReader(f *testing.F, format string) {
	text := samples()[format]
	f.Add([]byte(text))
	for _, c := range badFiles {
		if fm, fault := detect([]byte(c.text)); fault == nil && fm.Name == format {
			f.Add([]byte(c.text))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, calls, err := readAll(textSource("f", string(data)))
		if err != nil {
			var fault *infile.Fault
			if !errors.As(err, &fault) || fault.File != "f" || err.Error() == "" {
				t.Fatalf("%#v is no fault of the file", err)
			}
			return
		}
		for i, run := range file.Runs {
			if int64(len(calls[i])) != run.Calls || run.Completed > run.Calls {
				t.Errorf("%d calls of %+v", len(calls[i]), run)
			}
			for k := range calls[i] {
				checkKnown(t, run.Facts, &calls[i][k])
			}
		}
	})
}

// checkKnown checks that c has what the facts say of it.
func checkKnown(t *testing.T, f transcript.Facts, c *transcript.Call) {
	if c.Outcome != 0 {
		return
	}
	if f.First && len(c.Chunks) == 0 && c.Output != 0 || f.Prompts && c.Prompt < 0 || f.Outputs && c.Output < 0 || f.Cached && c.Cached < 0 || !f.Clock && c.Sent != 0 {
		t.Errorf("%+v doesn't know what it should: %+v", c, f)
	}
}

func FuzzVLLM(f *testing.F)          { fuzzReader(f, "vllm") }
func FuzzSGLang(f *testing.F)        { fuzzReader(f, "sglang") }
func FuzzGenAIPerf(f *testing.F)     { fuzzReader(f, "genai-perf") }
func FuzzAIPerf(f *testing.F)        { fuzzReader(f, "aiperf") }
func FuzzLLMPerf(f *testing.F)       { fuzzReader(f, "llmperf") }
func FuzzGuideLLM(f *testing.F)      { fuzzReader(f, "guidellm") }
func FuzzInferencePerf(f *testing.F) { fuzzReader(f, "inference-perf") }
func FuzzLLMServingSim(f *testing.F) { fuzzReader(f, "llmservingsim") }
func FuzzRecords(f *testing.F)       { fuzzReader(f, "servesim-records") }
