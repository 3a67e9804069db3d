package gpu

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/sim"
)

func TestSetupFaults(t *testing.T) {
	minute := sim.Minute
	tiny := withModel(roundSetup(t, "Llama-3.1-8B", 1, BF16, BF16, "skewed"), dense("Tiny", [6]int64{200, 128, 1, 1, 128, 100}))
	skewed := tiny.Profile.Engine["skewed"]
	skewed.LayerS = -100e-6
	tiny.Profile.Engine["skewed"] = skewed
	for _, c := range []struct {
		name string
		s    Setup
		want string
	}{
		{"tp 3", mustSetup(t, "h100", "Llama-3.1-8B", 3, BF16, BF16, "vllm"),
			"tensor_parallel_size is 3; want one of 1, 2, 4, 8\nprofile h100 has no all-reduce \"tp3\"; it has tp2, tp4, tp8"},
		{"tp that does not divide", withModel(mustSetup(t, "h100", "Llama-3.1-8B", 8, BF16, BF16, "vllm"), dense("Odd", [6]int64{28, 3584, 28, 4, 18942, 152064})),
			"tensor_parallel_size 8 does not divide num_attention_heads 28 of Odd\ntensor_parallel_size 8 does not divide intermediate_size 18942 of Odd"},
		{"kv heads", withModel(mustSetup(t, "h100", "Llama-3.1-8B", 8, BF16, BF16, "vllm"), dense("Odd", [6]int64{28, 3072, 24, 3, 8192, 152064})),
			"tensor_parallel_size 8 neither divides num_key_value_heads 3 of Odd nor is a multiple of it"},
		{"fp4 on H100", mustSetup(t, "h100", "Llama-3.1-8B", 1, FP4, BF16, "vllm"),
			"profile h100 has no weight format \"fp4\"; it has bf16, fp8"},
		{"mxfp4 dense", mustSetup(t, "b200", "Llama-3.1-8B", 1, MXFP4, BF16, "vllm"),
			"weights are mxfp4, a format of experts, and Llama-3.1-8B has none; want bf16, fp8 or fp4"},
		{"engine and host at once", Setup{Profile: mustSetup(t, "b200", "Qwen3-8B", 1, BF16, FP4, "orca").Profile,
			Model: mustSetup(t, "b200", "Qwen3-8B", 1, BF16, FP4, "orca").Model, TP: 1, Weights: BF16, KV: FP4, Engine: "orca", Host: Host{PerSeq: &minute}},
			"profile b200 has no engine \"orca\"; it has generic, trtllm, vllm, vllm-0.10, vllm-mxfp8\nhost overhead per sequence is 60s; want 0s to 1s"},
		{"KV format", mustSetup(t, "b200", "Qwen3-8B", 1, BF16, FP4, "vllm"), "profile b200 has no KV format \"fp4\"; it has bf16, fp8"},
		{"no model", Setup{Profile: mustSetup(t, "b200", "Qwen3-8B", 1, BF16, FP4, "vllm").Profile}, "a cost model needs a GPU profile and a model"},
		{"tiny model", tiny, "layer_s of engine skewed in profile round is -100us, so a step of Tiny, which has small layers, would take -17.243847852ms; that engine was fitted on larger models"},
	} {
		_, err := NewCost(c.s)
		if err == nil {
			t.Errorf("%s: no error", c.name)
		} else if d := cmp.Diff(c.want, err.Error()); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func withModel(s Setup, m *Model) Setup {
	s.Model = m
	return s
}

// Host time by hand: 100 us + 3·10 us + 500·1 us + 1 ms of a mixed step are 1.63
// ms, which a synchronous step adds to GPU time and an asynchronous one hides.
func TestHostTimeByHand(t *testing.T) {
	s := mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "generic")
	zero, base, perSeq, perToken, mixed := sim.Duration(0), 100*sim.Microsecond, 10*sim.Microsecond, sim.Microsecond, sim.Millisecond
	w := Work{PrefillTokens: 500, PrefillSeqs: 1, PrefillPairs: 500 * 501 / 2, DecodeSeqs: 2, DecodeKV: 1000, Samples: 3}
	s.Host = Host{Base: &zero, PerSeq: &zero, PerPromptToken: &zero}
	gpuOnly := mustCost(t, s).Step(w)
	s.Host = Host{Base: &base, PerSeq: &perSeq, PerPromptToken: &perToken, MixedStep: &mixed}
	if got, want := mustCost(t, s).Step(w), gpuOnly+1630*sim.Microsecond; got != want {
		t.Errorf("synchronous step takes %v, want %v", got, want)
	}
	s.Async = true
	if got := mustCost(t, s).Step(w); got != gpuOnly {
		t.Errorf("asynchronous step takes %v, want %v", got, gpuOnly)
	}
	slow := sim.Second / 2
	s.Host = Host{Base: &slow, PerSeq: &zero, PerPromptToken: &zero}
	if got := mustCost(t, s).Step(w); got != slow {
		t.Errorf("step with a slow host takes %v, want %v", got, slow)
	}
}

// An asynchronous host of 8 ms hides a batch whose GPU time is 7 ms until its
// context has grown by as much; Decode stops there, and then goes on affinely.
func TestDecodeBendsWhereTheHostIsOvertaken(t *testing.T) {
	s := mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "generic")
	host, zero := 8*sim.Millisecond, sim.Duration(0)
	s.Host, s.Async = Host{Base: &host, PerSeq: &zero}, true
	c := mustCost(t, s)
	flat := c.Decode(4, 4000)
	if flat.First != host || flat.Inc != 0 || flat.Steps < 2 || flat.Steps > 1<<20 {
		t.Fatalf("flat piece: %+v", flat)
	}
	last := c.Step(Work{DecodeSeqs: 4, DecodeKV: 4000 + 4*(flat.Steps-1), Samples: 4})
	rising := c.Decode(4, 4000+4*flat.Steps)
	if last != host || rising.First <= host || rising.Inc == 0 {
		t.Errorf("last flat step takes %v, then %+v", last, rising)
	}
}

// Every fault of a setup names the field that is to be changed.
func TestSetupFaultsNameTheirField(t *testing.T) {
	below := -sim.Microsecond
	for want, change := range map[string]func(*Setup){
		"TP":                  func(s *Setup) { s.TP = 3 },
		"Weights":             func(s *Setup) { s.Weights = FP4 },
		"KV":                  func(s *Setup) { s.KV = FP4 },
		"Engine":              func(s *Setup) { s.Engine = "orca" },
		"Host.Base":           func(s *Setup) { s.Host.Base = &below },
		"Host.PerSeq":         func(s *Setup) { s.Host.PerSeq = &below },
		"Host.PerPromptToken": func(s *Setup) { s.Host.PerPromptToken = &below },
		"Host.MixedStep":      func(s *Setup) { s.Host.MixedStep = &below },
	} {
		s := mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "vllm")
		change(&s)
		_, err := NewCost(s)
		var f *SetupFault
		if !errors.As(err, &f) || f.Field != want {
			t.Errorf("%s: %v names %+v", want, err, f)
		}
	}
}

// A time of mixed steps comes on top of a step with prompt tokens, and none does
// unless it is asked for.
func TestMixedStep(t *testing.T) {
	s := mustSetup(t, "b200", "Llama-3.3-70B", 8, FP8, FP8, "vllm")
	w := Work{PrefillTokens: 512, PrefillSeqs: 1, PrefillPairs: 512 * 513 / 2, Samples: 1}
	decode := Work{DecodeSeqs: 4, DecodeKV: 4000, Samples: 4}
	without := mustCost(t, s)
	mixed := 5 * sim.Millisecond
	s.Host.MixedStep = &mixed
	with := mustCost(t, s)
	if got := with.Step(w) - without.Step(w); got != mixed {
		t.Errorf("a mixed step costs %v more, want %v", got, mixed)
	}
	if got := with.Step(decode) - without.Step(decode); got != 0 {
		t.Errorf("a decode step costs %v more, want nothing", got)
	}
}

// What launching kernels one by one may add to a chunk is said wherever runs bear
// on it: that it is not applied, what is applied, or that they cannot tell.
func TestLaunchCaveats(t *testing.T) {
	yes := true
	for _, c := range []struct {
		gpu, engine string
		eager       *bool
		want        string
	}{
		{"b200", "vllm", nil, "not applied here"},
		{"b200", "vllm", &yes, "59.6 ms here"},
		{"b200", "trtllm", nil, "0 here, because the runs cannot tell"},
		{"h200", "trtllm", nil, "0 here, because the runs cannot tell"},
		{"h100", "vllm", nil, ""},
	} {
		s := mustSetup(t, c.gpu, "Llama-3.3-70B", 8, FP8, FP8, c.engine)
		s.EagerPrefill = c.eager
		said := strings.Join(mustCost(t, s).Caveats(), "\n")
		if !strings.Contains(said, c.want) || (c.want == "") != !strings.Contains(said, "launching its kernels") {
			t.Errorf("%s %s: caveats are %q, want %q among them", c.gpu, c.engine, said, c.want)
		}
	}
}

func TestExtrapolated(t *testing.T) {
	c := mustCost(t, mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "vllm"))
	for _, x := range []struct {
		w    Work
		want bool
	}{
		{Work{}, false},
		{Work{DecodeSeqs: 512, DecodeKV: 512 * 131072}, false},
		{Work{DecodeSeqs: 513, DecodeKV: 513}, true},
		{Work{DecodeSeqs: 1, DecodeKV: 131073}, true},
		{Work{PrefillTokens: 16384, PrefillPairs: 16384 * 16385 / 2}, false},
		{Work{PrefillTokens: 16385, PrefillPairs: 16385}, true},
		{Work{PrefillTokens: 512, PrefillPairs: 512 * 20000}, true},
	} {
		if got := c.Extrapolated(x.w); got != x.want {
			t.Errorf("Extrapolated(%+v) is %v", x.w, got)
		}
	}
}
