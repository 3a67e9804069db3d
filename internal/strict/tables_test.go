package strict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawer has a list that is written a table each.
type drawer struct {
	Sub struct {
		Part
		Tools []tool `toml:"the tools,tables"`
		Last  int    `toml:"last"`
	} `toml:"sub"`
	Next Part `toml:"next"`
}

type tool struct {
	Name  string `toml:"name"`
	Parts []Part `toml:"parts"`
}

// TestTablesOfAList by hand: they follow the keys of their section, and each has
// notes of its own.
func TestTablesOfAList(t *testing.T) {
	var d drawer
	d.Sub.Last, d.Next.Share = 3, 0.5
	d.Sub.Tools = []tool{{Name: "a", Parts: []Part{{0.25}}}, {}, {Name: "c"}}
	want := `
[sub]
last = 3

[[sub."the tools"]]
name = "a"
# parts = [{ share = 0.25 }]  # computed

[[sub."the tools"]]

[[sub."the tools"]]
name = "c"

[next]
share = 0.5
`
	text := EncodeNoted(d, func(key string) string {
		if key == "sub.the tools[0].parts" {
			return "computed"
		}
		return ""
	})
	if diff := cmp.Diff(want, text); diff != "" {
		t.Error(diff)
	}
}

// TestTablesReadBack holds that a list of tables reads back, but for an empty one.
func TestTablesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d drawer
		d.Sub.Share = rapid.Float64().Draw(t, "share")
		d.Sub.Last = rapid.IntRange(0, 9).Draw(t, "last")
		for range rapid.IntRange(0, 3).Draw(t, "tools") {
			x := tool{Name: rapid.String().Draw(t, "name")}
			for _, share := range rapid.SliceOfN(rapid.Float64(), 0, 2).Draw(t, "shares") {
				x.Parts = append(x.Parts, Part{share})
			}
			d.Sub.Tools = append(d.Sub.Tools, x)
		}
		text := Encode(d)
		tree, err := Parse("d.toml", text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		var back drawer
		if faults := Decode(tree, &back, func(string) string { return "" }); len(faults) > 0 {
			t.Fatalf("%v in\n%s", faults, text)
		}
		if diff := cmp.Diff(d, back); diff != "" {
			t.Fatalf("%s\nin\n%s", diff, text)
		}
	})
}
