package claim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/report"
	"servesim/scenario"
)

// A Quantity is what a figure is a figure of.
type Quantity string

// The quantities.
const (
	Tokens   Quantity = "tokens"   // tokens/s
	Requests Quantity = "requests" // requests/s
	TTFT     Quantity = "ttft"
	TPOT     Quantity = "tpot"
	ITL      Quantity = "itl"
	E2E      Quantity = "e2e"
)

// Latency tells whether less of q is better.
func (q Quantity) Latency() bool { return q != Tokens && q != Requests }

// A Scope is what a rate is a rate of.
type Scope string

// The scopes.
const (
	Deployment Scope = "deployment" // all GPUs together
	GPU        Scope = "gpu"
	User       Scope = "user" // 1/TPOT, the speed at which an answer streams
)

// A Figure is what was claimed.
type Figure struct {
	// Text is the claim as it was written.
	Text     string
	Quantity Quantity
	// Value is in tokens/s, requests/s or, of a latency, milliseconds.
	Value float64
	// Scope is that of a rate.
	Scope Scope
	// Of says which tokens are counted, "output", "total" or "input", or which
	// statistic of a latency or a user's speed is meant, "mean", "p50", "p90" or "p99".
	// It is empty where the claim doesn't say.
	Of string
}

// forms shows what Parse reads.
const forms = `"15000 tok/s", "2.5k output tokens/s/GPU", "70 tok/s/user", "12 req/s", "TTFT 200 ms", "p99 TPOT 10 ms"`

// amount matches a number with what is written onto it.
var amount = regexp.MustCompile(`^([0-9][0-9_]*(?:\.[0-9]+)?)([a-zµ]*)$`)

// thousands matches a comma within a number.
var thousands = regexp.MustCompile(`([0-9]),([0-9]{3})`)

// The kinds of words of a claim.
const (
	wordTokens    = "tokens"
	wordRequests  = "requests"
	wordSecond    = "second"
	wordMinute    = "minute"
	wordMilli     = "millisecond"
	wordMicro     = "microsecond"
	wordGPU       = "gpu"
	wordUser      = "user"
	wordCounted   = "which tokens"
	wordMetric    = "latency"
	wordStatistic = "statistic"
	wordFiller    = "filler"
)

// word returns the kind of a word of a claim and what it stands for, kind being ""
// if it isn't known.
func word(w string) (kind, means string) {
	for _, k := range []struct{ kind, means, words string }{
		{wordTokens, "", "tok toks token tokens tps t"},
		{wordRequests, "", "req reqs request requests rps qps query queries"},
		{wordSecond, "", "s sec secs second seconds"},
		{wordMinute, "", "min minute minutes"},
		{wordMilli, "", "ms msec millisecond milliseconds"},
		{wordMicro, "", "us µs microsecond microseconds"},
		{wordGPU, "", "gpu gpus"},
		{wordUser, "", "user users stream"},
		{wordCounted, "output", "output generated generation decode completion"},
		{wordCounted, "total", "total combined"},
		{wordCounted, "input", "input prompt prefill"},
		{wordMetric, string(TTFT), "ttft"},
		{wordMetric, string(TPOT), "tpot"},
		{wordMetric, string(ITL), "itl"},
		{wordMetric, string(E2E), "e2e e2el"},
		{wordStatistic, "mean", "mean avg average"},
		{wordStatistic, "p50", "median p50"},
		{wordStatistic, "p90", "p90"},
		{wordStatistic, "p99", "p99"},
		{wordFiller, "", "/ per of in at up to about the a throughput under below speed"},
	} {
		if slices.Contains(strings.Fields(k.words), w) {
			return k.kind, k.means
		}
	}
	return "", ""
}

// Parse reads a claim. The error is a scenario.UsageError.
func Parse(text string) (Figure, error) {
	f := Figure{Text: text}
	fault := func(format string, args ...any) (Figure, error) {
		return f, usagef("%q: %s; a claim is one figure, such as %s", text, fmt.Sprintf(format, args...), forms)
	}
	lower := thousands.ReplaceAllString(strings.ToLower(text), "$1$2")
	lower = strings.NewReplacer("time to first token", "ttft", "time per output token", "tpot", "input+output", "total", "/", " / ", "=", " ", ":", " ", "<", " ", ">", " ", "≤", " ", "~", " ").Replace(lower)
	found, numbers := map[string]string{}, 0
	for _, w := range strings.Fields(lower) {
		if m := amount.FindStringSubmatch(w); m != nil {
			numbers++
			var err error
			by, unit := factor(m[2])
			if f.Value, err = number(m[1], by); err != nil {
				return fault("found %s, which is no number above 0 and below 1e12", w)
			}
			if w = unit; w == "" {
				continue
			}
		}
		kind, means := word(w)
		if kind == "" {
			return fault("%q isn't understood", w)
		}
		if before, twice := found[kind]; twice && before != means {
			return fault("it says both %s and %s", before, means)
		}
		found[kind] = means
		if w == "tps" || w == "rps" || w == "qps" {
			found[wordSecond] = ""
		}
	}
	if numbers != 1 {
		return fault("found %s", analysis.Counted(int64(numbers), "number"))
	}
	if why := f.read(found); why != "" {
		return fault("%s", why)
	}
	return f, nil
}

// factor returns what k or M at the begin of what is written onto a number multiplies it
// by, and the rest.
func factor(suffix string) (by float64, unit string) {
	if kind, _ := word(suffix); kind != "" || suffix == "" {
		return 1, suffix
	}
	switch suffix[0] {
	case 'k':
		return 1e3, suffix[1:]
	case 'm':
		return 1e6, suffix[1:]
	}
	return 1, suffix
}

// number reads digits, which by multiplies.
func number(digits string, by float64) (float64, error) {
	x, err := strconv.ParseFloat(strings.ReplaceAll(digits, "_", ""), 64)
	x *= by
	if err == nil && !(x > 0 && x < 1e12) {
		err = strconv.ErrRange
	}
	return x, err
}

// read makes f what the words of a claim say, and returns what is wrong with them.
func (f *Figure) read(found map[string]string) (why string) {
	has := func(kind string) bool { _, ok := found[kind]; return ok }
	if has(wordMetric) {
		return f.readLatency(found)
	}
	f.Quantity, f.Scope = Requests, Deployment
	if has(wordTokens) {
		f.Quantity, f.Of = Tokens, found[wordCounted]
	}
	switch {
	case !has(wordTokens) && !has(wordRequests):
		return "it doesn't say of what: give tok/s, req/s, TTFT, TPOT, ITL or E2E"
	case has(wordTokens) && has(wordRequests):
		return "it says both tokens and requests"
	case has(wordMinute) == has(wordSecond), has(wordMilli), has(wordMicro):
		return "a rate is per second or per minute"
	case has(wordGPU) && has(wordUser):
		return "it says both per GPU and per user"
	case f.Quantity == Requests && (has(wordUser) || has(wordCounted) || has(wordStatistic)):
		return "requests/s are of a deployment or a GPU, and are counted one way"
	case has(wordUser) && f.Of != "" && f.Of != "output":
		return "a user's speed is of output tokens"
	case !has(wordUser) && has(wordStatistic):
		return "a throughput has no percentiles; those of a speed are of tok/s/user"
	}
	if has(wordMinute) {
		f.Value /= 60
	}
	if has(wordGPU) {
		f.Scope = GPU
	}
	if has(wordUser) {
		f.Scope, f.Of = User, found[wordStatistic]
	}
	return ""
}

// readLatency is read for a latency.
func (f *Figure) readLatency(found map[string]string) (why string) {
	f.Quantity, f.Of = Quantity(found[wordMetric]), found[wordStatistic]
	for _, kind := range []string{wordTokens, wordRequests, wordGPU, wordUser, wordCounted, wordMinute} {
		if _, ok := found[kind]; ok {
			return fmt.Sprintf("%s is a time, in ms or s, and has nothing to do with %s", strings.ToUpper(string(f.Quantity)), kind)
		}
	}
	units := 0
	for _, u := range []struct {
		kind  string
		scale float64 // to ms
	}{{wordSecond, 1000}, {wordMilli, 1}, {wordMicro, 0.001}} {
		if _, ok := found[u.kind]; ok {
			units++
			f.Value *= u.scale
		}
	}
	if units != 1 {
		return fmt.Sprintf("%s needs one unit, ms or s", strings.ToUpper(string(f.Quantity)))
	}
	return ""
}

// Unit is that of Value, as people write it.
func (f *Figure) Unit() string {
	switch {
	case f.Quantity.Latency():
		return "ms"
	case f.Quantity == Requests && f.Scope == GPU:
		return "req/s/GPU"
	case f.Quantity == Requests:
		return "req/s"
	case f.Scope == GPU:
		return "tok/s/GPU"
	case f.Scope == User:
		return "tok/s/user"
	}
	return "tok/s"
}

// String writes the figure as it was understood.
func (f *Figure) String() string {
	text := report.Number(f.Value) + " " + f.Unit()
	if f.Quantity.Latency() {
		return strings.ToUpper(string(f.Quantity)) + " " + text
	}
	return text
}

// usagef returns a scenario.UsageError with a formatted text.
func usagef(format string, args ...any) error {
	return &scenario.UsageError{Err: fmt.Errorf(format, args...)}
}
