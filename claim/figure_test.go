package claim

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"servesim/scenario"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Figure{
		"15000 tok/s":                             {Quantity: Tokens, Value: 15000, Scope: Deployment},
		"15,000 tokens per second":                {Quantity: Tokens, Value: 15000, Scope: Deployment},
		"15k output tokens/sec":                   {Quantity: Tokens, Value: 15000, Scope: Deployment, Of: "output"},
		"1.5M total tok/s":                        {Quantity: Tokens, Value: 1.5e6, Scope: Deployment, Of: "total"},
		"up to 40_000 input+output tok/s":         {Quantity: Tokens, Value: 40000, Scope: Deployment, Of: "total"},
		"9000 prompt tokens/s":                    {Quantity: Tokens, Value: 9000, Scope: Deployment, Of: "input"},
		"1200tps":                                 {Quantity: Tokens, Value: 1200, Scope: Deployment},
		"2.5k output tokens/s/GPU":                {Quantity: Tokens, Value: 2500, Scope: GPU, Of: "output"},
		"2500 tokens/s per gpu":                   {Quantity: Tokens, Value: 2500, Scope: GPU},
		"70 tok/s/user":                           {Quantity: Tokens, Value: 70, Scope: User},
		"median 70 output tok/s/user":             {Quantity: Tokens, Value: 70, Scope: User, Of: "p50"},
		"12 req/s":                                {Quantity: Requests, Value: 12, Scope: Deployment},
		"600 requests/min":                        {Quantity: Requests, Value: 10, Scope: Deployment},
		"3 qps per GPU":                           {Quantity: Requests, Value: 3, Scope: GPU},
		"TTFT 200 ms":                             {Quantity: TTFT, Value: 200},
		"time to first token of 0.2 s":            {Quantity: TTFT, Value: 200},
		"p99 TTFT <= 200ms":                       {Quantity: TTFT, Value: 200, Of: "p99"},
		"TPOT p50 = 10 ms":                        {Quantity: TPOT, Value: 10, Of: "p50"},
		"mean time per output token: below 10 ms": {Quantity: TPOT, Value: 10, Of: "mean"},
		"ITL p90 30ms":                            {Quantity: ITL, Value: 30, Of: "p90"},
		"average e2e 1.2k ms":                     {Quantity: E2E, Value: 1200, Of: "mean"},
		"TPOT 900 us":                             {Quantity: TPOT, Value: 0.9},
	} {
		want.Text = text
		got, err := Parse(text)
		if want.Text = text; err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s: %v\n%+v, want\n%+v", text, err, got, want)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "found 0 numbers",
		"fast":                   `"fast" isn't understood`,
		"15000":                  "doesn't say of what",
		"15000 tok":              "per second or per minute",
		"15000 tok/s/min":        "per second or per minute",
		"15000 tok/ms":           "per second or per minute",
		"0 tok/s":                "no number above 0",
		"1e9 tok/s":              `"1e9" isn't understood`,
		"-5 tok/s":               `"-5" isn't understood`,
		"15000 to 20000 tok/s":   "found 2 numbers",
		"15000 tok/s at 8 users": "found 2 numbers",
		"15000 tok/s/furlong":    `"furlong" isn't understood`,
		"15 tok/s/gpu/user":      "per GPU and per user",
		"15 total tok/s/user":    "a user's speed is of output tokens",
		"p99 15000 tok/s":        "a throughput has no percentiles",
		"5 req/s/user":           "counted one way",
		"5 output req/s":         "counted one way",
		"5 req tok/s":            "both tokens and requests",
		"output total 5 tok/s":   "both output and total",
		"TTFT 200":               "needs one unit",
		"TTFT TPOT 200 ms":       "both ttft and tpot",
		"TTFT 200 ms/gpu":        "nothing to do with gpu",
		"p50 p99 TTFT 200 ms":    "both p50 and p99",
		"9999999999999 tok/s":    "below 1e12",
	} {
		_, err := Parse(text)
		var usage *scenario.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "a claim is one figure") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// Law: what a figure prints as is read as it, but for digits that it doesn't print.
func TestFiguresReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Figure{Quantity: rapid.SampledFrom([]Quantity{Tokens, Requests, TTFT, TPOT, ITL, E2E}).Draw(t, "quantity"), Value: float64(rapid.IntRange(1, 999).Draw(t, "value"))}
		if !f.Quantity.Latency() {
			f.Scope = rapid.SampledFrom([]Scope{Deployment, GPU, User}).Draw(t, "scope")
			if f.Quantity == Requests && f.Scope == User {
				f.Scope = GPU
			}
		}
		f.Text = f.String()
		if got, err := Parse(f.Text); err != nil || got != f {
			t.Fatalf("%+v prints as %q, which is read as %+v, %v", f, f.Text, got, err)
		}
	})
}

// FuzzParse holds that no claim is read as less than a figure.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"15000 tok/s", "2.5k output tokens/s/GPU", "p99 TTFT <= 200ms", "70 tok/s/user", "µs"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text)
		if err == nil && (!(got.Value > 0 && got.Value < 1e16) || got.Quantity == "" || got.Quantity.Latency() != (got.Scope == "")) {
			t.Errorf("%q: %+v", text, got)
		}
	})
}
