package main

import (
	"strings"
	"testing"
)

// TestListKeys holds that list keys says of keys what they are.
func TestListKeys(t *testing.T) {
	out := ok(t, "list", "keys")
	for _, want := range []string{"engine.max_num_seqs", "whole", "sequences", "duration", "10ms"} {
		if !strings.Contains(out, want) {
			t.Errorf("list keys lacks %q", want)
		}
	}
}
