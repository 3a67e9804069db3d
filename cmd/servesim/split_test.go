package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// arrivalsIn returns the arrivals of the requests of a record file, in order.
func arrivalsIn(t *testing.T, file string) []int64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []int64
	for line := range strings.Lines(string(text)) {
		var r struct {
			Type    string `json:"type"`
			Arrival int64  `json:"arrival_ps"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Type == "request" {
			list = append(list, r.Arrival)
		}
	}
	slices.Sort(list)
	return list
}

// TestSplitPartsMakeTheWhole replays a workload and each part of it.
func TestSplitPartsMakeTheWhole(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	ok(t, "run", "s.toml", "--set", "requests=200", "--records", "all.jsonl")
	for _, part := range []string{"first", "rest"} {
		ok(t, "run", "s.toml", "--set", "requests=200", "--set", "split_fraction=0.25", "--set", "split_part="+part, "--records", part+".jsonl")
	}
	all, first, rest := arrivalsIn(t, "all.jsonl"), arrivalsIn(t, "first.jsonl"), arrivalsIn(t, "rest.jsonl")
	// Binomial: 50 of 200, to five standard deviations.
	if n := len(first); n < 20 || n > 80 {
		t.Errorf("the first part has %d of %d requests, want about 50", n, len(all))
	}
	both := slices.Sorted(slices.Values(slices.Concat(first, rest)))
	if len(all) != 200 || !slices.Equal(both, all) {
		t.Errorf("%d and %d requests aren't the %d of the whole", len(first), len(rest), len(all))
	}
}

func TestSplitFaults(t *testing.T) {
	for text, want := range map[string]string{
		"split_fraction = 1.0\nsplit_part = \"first\"": "s.toml:20: transform.split_fraction: found 1; must be a probability of more than 0 and less than 1",
		"split_fraction = 0.5":                         `transform.split_part: found ""; must say which part to replay, "first" or "rest"`,
		"split_part = \"rest\"":                        "transform.split_fraction: missing beside split_part; give the probability of the first part, such as 0.5",
	} {
		inFolder(t, map[string]string{"s.toml": small + "[transform]\n" + text + "\n"})
		if o := do(t, "run", "s.toml"); o.code != exitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("exit %d, %s; want %s", o.code, o.stderr, want)
		}
	}
}
