package gpu

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// An all-reduce by hand: of 8192 hidden elements in bf16 a token has 16 KiB, so that
// algorithms from 256 KiB and from 8 MiB on take over at 16 and at 512 tokens.
func TestReduceAlgorithmsByHand(t *testing.T) {
	small := AllReduce{FixedS: 5e-6, BytesPerS: 100e9}
	a := small.of(8192, 1e-6, []ReduceAlgorithm{{262144, 12e-6, 128e9}, {8388608, 90e-6, 256e9}})
	for _, c := range []struct{ tokens, want float64 }{
		{15, 2 * (6e-6 + 15*16384/100e9)},
		{16, 2 * (13e-6 + 16*16384/128e9)},
		{511, 2 * (13e-6 + 511*16384/128e9)},
		{512, 2 * (91e-6 + 512*16384/256e9)},
	} {
		if got := a.seconds(c.tokens); got < c.want*(1-1e-12) || got > c.want*(1+1e-12) {
			t.Errorf("%.0f tokens take %g s, want %g", c.tokens, got, c.want)
		}
	}
}

// Law: the all-reduces of every shipped engine take no less time for more tokens, also
// where one algorithm takes over from another, and never less than the link.
func TestReduceAlgorithmsGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := LoadProfile(rapid.SampledFrom(ProfileNames()).Draw(t, "profile"))
		if err != nil {
			t.Fatal(err)
		}
		e := p.Engine[rapid.SampledFrom(sortedKeys(p.Engine)).Draw(t, "engine")]
		gpus := rapid.SampledFrom([]int64{2, 4, 8}).Draw(t, "gpus")
		hidden := rapid.Int64Range(1, 1<<15).Draw(t, "hidden")
		a := p.kernels(e).AllReduce[map[int64]string{2: "tp2", 4: "tp4", 8: "tp8"}[gpus]].of(hidden, e.AllReduceSkewS, p.ReduceAlgorithms[e.ReduceAlgorithms].of(gpus))
		m := float64(rapid.Int64Range(1, 1<<16).Draw(t, "tokens"))
		more := m + float64(rapid.Int64Range(0, 1<<12).Draw(t, "more"))
		if a.seconds(more) < a.seconds(m) {
			t.Fatalf("%.0f tokens take %g s, %.0f take %g", m, a.seconds(m), more, a.seconds(more))
		}
		if least := 2 * 2 * float64(hidden) * m / p.Datasheet.LinkBytesPerS(); a.seconds(m) < least {
			t.Fatalf("%.0f tokens take %g s, less than the %g of the link", m, a.seconds(m), least)
		}
	})
}

// A profile whose algorithms stand out of order, are faster than those before them or
// than the link, or are of a name that nothing has, is refused with the key at fault.
func TestReduceAlgorithmsAreChecked(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"order":   {"from_bytes = 262144, fixed_s = 11.5e-6", "from_bytes = 8388608, fixed_s = 53e-6", "from_bytes is 8388608; must be more than that of the algorithm before"},
		"faster":  {"fixed_s = 11.5e-6, bytes_per_s = 169.0e9", "fixed_s = 1e-6, bytes_per_s = 169.0e9", "must be at least what the algorithm before takes"},
		"link":    {"fixed_s = 11.5e-6, bytes_per_s = 169.0e9", "fixed_s = 21.5e-6, bytes_per_s = 469.0e9", "nvlink_bytes_per_s"},
		"missing": {`reduce_algorithms = "vllm-0.10"`, `reduce_algorithms = "vllm-0.9"`, `found "vllm-0.9"; must be one of`},
	} {
		_, err := readProfile("h100.toml", shipped(t, "h100", c.from, c.to))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

// Constants that were fitted with asynchronous scheduling are what it leaves in the
// open: the host adds to the GPU either way.
func TestOverlappedHostIsNotHiddenTwice(t *testing.T) {
	s := mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "vllm")
	if !s.Profile.Engine["vllm"].Overlapped {
		t.Fatal("vllm of h100 was fitted with asynchronous scheduling, and doesn't say so")
	}
	w := Work{DecodeSeqs: 2, DecodeKV: 1000, Samples: 2}
	open := mustCost(t, s).Step(w)
	s.Async = true
	if got := mustCost(t, s).Step(w); got != open {
		t.Errorf("asynchronous step takes %v, synchronous %v", got, open)
	}
	s.Engine = "generic"
	hidden := mustCost(t, s).Step(w)
	s.Async = false
	if got := mustCost(t, s).Step(w); got <= hidden {
		t.Errorf("generic: synchronous step takes %v, asynchronous %v", got, hidden)
	}
}
