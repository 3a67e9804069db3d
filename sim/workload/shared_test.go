package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/sim"
)

// The figures here are those that the README beside the public traces states,
// and sums made from the same bytes with another program.
func TestPublicTraces(t *testing.T) {
	for _, c := range []struct {
		file, format   string
		kept           int64
		span           string
		prompt, output int64
	}{
		{"azure/AzureLLMInferenceTrace_conv.csv", "azure", 19366, "3501.721937s", 22361870, 4088665},
		{"azure/AzureLLMInferenceTrace_code.csv", "azure", 8819, "3435.948056s", 18059974, 245896},
		{"azure/azure2024_conv_1week-notebook-rows.csv", "azure", 10, "604799.994297s", 12767, 856},
		{"azure/azure2025_multimodal-notebook-rows.csv", "azure", 10, "604799.695s", 12859, 1395},
		{"misc/inference-perf-azure-trace.csv", "azure", 20, "13.025088s", 11540, 1674},
		{"mooncake/conversation_trace.jsonl", "mooncake", 12031, "3536.999s", 144793823, 4122048},
		{"mooncake/synthetic_trace.jsonl", "mooncake", 3993, "1022.025s", 61194628, 595432},
		{"mooncake/toolagent-like-midtrace-20rows.jsonl", "mooncake", 20, "3.053s", 111164, 5946},
		{"burstgpt/BurstGPT_1-first30.csv", "burstgpt", 29, "2288s", 17722, 10280},
		{"vidur/splitwise_code.csv", "vidur", 8819, "3435.948056s", 18059974, 245896},
		{"misc/splitwise-sim-test_trace.csv", "splitwise", 3, "3s", 8192, 56},
	} {
		t.Run(c.file, func(t *testing.T) {
			all, report := openShared(t, c.file, Options{})
			if fault := contract(all); fault != "" {
				t.Error(fault)
			}
			if all[0].Arrival != 0 {
				t.Errorf("the first request arrives at %v", all[0].Arrival)
			}
			if report.Format != c.format || report.Kept != c.kept || report.Span.String() != c.span ||
				report.PromptTokens != c.prompt || report.OutputTokens != c.output {
				t.Errorf("%+v", report)
			}
		})
	}
}

// Vidur's file is the Azure trace, converted by other people.
func TestAzureEqualsVidur(t *testing.T) {
	for _, name := range []string{"conv", "code"} {
		azure, _ := openShared(t, "azure/AzureLLMInferenceTrace_"+name+".csv", Options{})
		vidur, _ := openShared(t, "vidur/splitwise_"+name+".csv", Options{})
		if diff := cmp.Diff(vidur, azure); diff != "" {
			t.Errorf("%s: %s", name, diff[:min(len(diff), 400)])
		}
	}
}

func TestMooncakeGzipEqualsPlain(t *testing.T) {
	plain, report := openShared(t, "mooncake/conversation_trace.jsonl", Options{})
	packed, other := openShared(t, "mooncake/conversation_trace.jsonl.gz", Options{})
	if diff := cmp.Diff(plain, packed); diff != "" {
		t.Error(diff[:min(len(diff), 400)])
	}
	if report.Compression != "" || other.Compression != "gzip" {
		t.Errorf("compression %q and %q", report.Compression, other.Compression)
	}
	if report.Hashed != 12031 || report.BlockTokens != 512 {
		t.Errorf("%d requests with hashes of %d tokens", report.Hashed, report.BlockTokens)
	}
	ids := map[uint64]bool{}
	for _, r := range plain {
		for _, id := range r.Blocks {
			ids[id] = true
		}
	}
	if len(ids) != 182790 {
		t.Errorf("%d different hashes, want 182790", len(ids))
	}
}

func TestBurstFailuresAreCounted(t *testing.T) {
	all, report := openShared(t, "burstgpt/BurstGPT_1-first30.csv", Options{})
	if diff := cmp.Diff([]Count{{"0 Request tokens", 1}}, report.Dropped); diff != "" || report.Rows != 30 {
		t.Errorf("%+v %s", report, diff)
	}
	want := Request{ID: 2, Line: 4, Arrival: sim.Time(113 * sim.Second), Prompt: 417, Output: 276, Class: "GPT-4"}
	if diff := cmp.Diff(want, all[2]); diff != "" {
		t.Error(diff)
	}
}

func TestPublicFilesThatAreRefused(t *testing.T) {
	for file, want := range map[string]string{
		"vidur/arxiv_summarization_stats_llama2_tokenizer_filtered_v2.csv": "lengths without arrivals",
		"bailian/qwen_thinking_first-row.jsonl":                            "chat_id, which marks a Qwen Bailian trace (seconds, 16-token blocks)",
		"servegen/language-m-large-chunk-106-trace.csv":                    "the columns 0, 0, 0, , 0 and 0",
		"otel/simple_chain.json":                                           `a line that is no JSON object by itself: "{"`,
		"llmservingsim/sharegpt-llama-3.1-8b-300-sps10.jsonl.gz":           "the keys input_toks, output_toks, arrival_time_ns, input_tok_ids and output_tok_ids",
	} {
		_, err := Open(sharedTrace(t, file), Options{})
		fault, ok := err.(*Fault)
		if !ok || len(fault.Found) < len(want) || fault.Found[:len(want)] != want {
			t.Errorf("%s: %v", file, err)
		}
	}
}
