package scenario

import (
	"strings"
	"testing"
)

func TestFaultsOfDeclaredPrefixes(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		p    *PrefixSection
		want string
	}{
		{nil, ""},
		{&PrefixSection{SystemTokens: n(900)}, ""},
		{&PrefixSection{SystemTokens: n(900), SystemPrompts: n(3), Sessions: true}, ""},
		{&PrefixSection{Sessions: true}, ""},
		{&PrefixSection{}, "workload.prefix: says nothing; give system_tokens, sessions = true or both"},
		{&PrefixSection{SystemTokens: n(0)}, "workload.prefix.system_tokens: found 0; must be from 1 to 2147483647 tokens"},
		{&PrefixSection{SystemTokens: n(9), SystemPrompts: n(0)}, "workload.prefix.system_prompts: found 0; must be at least 1"},
		{&PrefixSection{SystemPrompts: n(2), Sessions: true},
			"workload.prefix.system_prompts: says how many beginnings there are, but not how long they are; give system_tokens, or take the line out"},
	} {
		var got []string
		for _, f := range c.p.check() {
			got = append(got, f.Key+": "+f.Text)
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.p, text, c.want)
		}
	}
}
