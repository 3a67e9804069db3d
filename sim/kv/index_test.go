package kv

import (
	"testing"

	"pgregory.net/rapid"
)

// TestIndexIsAMap puts contents into an index and a map, and takes them out. Of
// most the tag has few bits, so that they push each other from their homes.
func TestIndexIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, want := newIndex(), map[content]segmentID{}
		var segments []segment
		crowd := rapid.Uint32Range(1, 40).Draw(t, "tags")
		tag := func(c content) uint32 {
			if c.salt == 0 {
				return c.tag() % crowd << 26
			}
			return c.tag()
		}
		for range rapid.IntRange(1, 1500).Draw(t, "operations") {
			r := rapid.Uint64().Draw(t, "content")
			c := content{r % 700, r >> 63}
			at, s := x.find(c, tag(c), segments)
			if w, ok := want[c]; ok != (s != noSegment) || ok && w != s {
				t.Fatalf("%v is segment %d; want %d, %v", c, s, w, ok)
			}
			if s != noSegment {
				x.remove(at)
				delete(want, c)
				continue
			}
			segments = append(segments, segment{content: c})
			want[c] = segmentID(len(segments) - 1)
			x.put(at, tag(c), want[c])
		}
		for c, w := range want {
			if _, s := x.find(c, tag(c), segments); s != w {
				t.Fatalf("%v is segment %d; want %d", c, s, w)
			}
		}
		if x.used != len(want) {
			t.Fatalf("%d are counted; want %d", x.used, len(want))
		}
	})
}
