package transcript

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
)

// cut returns the chunks of an answer whose tokens come at ms, and when it ends.
func cut(how Streaming, ms ...int64) ([]Chunk, sim.Time) {
	var s stream
	s.begin(&how)
	var last sim.Time
	for _, m := range ms {
		last = at(m)
		s.token(last)
	}
	end := s.end(last, true)
	return s.chunks, end
}

// at is n milliseconds into a run.
func at(n int64) sim.Time { return sim.Time(n) * sim.Time(sim.Millisecond) }

func TestStreamingByHand(t *testing.T) {
	for _, c := range []struct {
		title string
		how   Streaming
		want  []Chunk
		end   int64
	}{
		{"each token by itself", Streaming{}, []Chunk{{At: at(10), Tokens: 1}, {At: at(20), Tokens: 1}, {At: at(25), Tokens: 1}, {At: at(40), Tokens: 1}, {At: at(50), Tokens: 1}, {At: at(60), Tokens: 1}}, 60},
		{"two a chunk, the first alone", Streaming{Interval: 2}, []Chunk{{At: at(10), Tokens: 1}, {At: at(25), Tokens: 2}, {At: at(50), Tokens: 2}, {At: at(60), Tokens: 1}}, 60},
		{"more a chunk than there are", Streaming{Interval: 10}, []Chunk{{At: at(10), Tokens: 1}, {At: at(60), Tokens: 5}}, 60},
		// Each chunk keeps the front end busy until the next token has come.
		{"a front end of 12 ms a chunk", Streaming{Coalesce: 12 * sim.Millisecond}, []Chunk{{At: at(10), Tokens: 1}, {At: at(22), Tokens: 1}, {At: at(34), Tokens: 1}, {At: at(46), Tokens: 1}, {At: at(58), Tokens: 1}, {At: at(70), Tokens: 1}}, 70},
		{"a front end of 20 ms a chunk", Streaming{Coalesce: 20 * sim.Millisecond}, []Chunk{{At: at(10), Tokens: 1}, {At: at(30), Tokens: 2}, {At: at(50), Tokens: 2}, {At: at(70), Tokens: 1}}, 70},
		{"all that isn't text", Streaming{Interval: 9, Role: RoleFirst, Finish: true, Usage: true, DoneDelay: 5 * sim.Millisecond},
			[]Chunk{{At: at(10), Kind: Role}, {At: at(10), Tokens: 1}, {At: at(60), Tokens: 5}, {At: at(60), Kind: Finish}, {At: at(60), Kind: Usage}, {At: at(65), Kind: Done}}, 65},
	} {
		if got, end := cut(c.how, 10, 20, 25, 40, 50, 60); !slices.Equal(got, c.want) || end != at(c.end) {
			t.Errorf("%s: %v until %v, want %v until %d ms", c.title, got, end, c.want, c.end)
		}
	}
	if got, _ := cut(Streaming{}); len(got) > 0 {
		t.Errorf("an answer without tokens has chunks: %v", got)
	}
}

// Law: a stream loses no token, has them in order and none before it was made,
// the first as it is made, and chunks no closer than the front end allows.
func TestStreamingLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		how := Streaming{
			Interval: rapid.Int32Range(0, 5).Draw(t, "stream_interval"),
			Coalesce: sim.Duration(rapid.Int64Range(0, 20).Draw(t, "coalesce")) * sim.Millisecond,
			Role:     rapid.SampledFrom([]RoleChunk{NoRole, RoleFirst}).Draw(t, "role"),
			Finish:   rapid.Bool().Draw(t, "finish"),
		}
		var made []int64
		last := int64(0)
		for range rapid.IntRange(1, 30).Draw(t, "tokens") {
			last += rapid.Int64Range(1, 15).Draw(t, "gap")
			made = append(made, last)
		}
		chunks, end := cut(how, made...)
		tokens, before := 0, Never
		for _, c := range chunks {
			if !c.Text() {
				continue
			}
			if before != Never && c.At.Sub(before) < max(how.Coalesce, 1) {
				t.Fatalf("chunks at %v and %v", before, c.At)
			}
			tokens, before = tokens+int(c.Tokens), c.At
			if newest := at(made[tokens-1]); c.At < newest || c.At > newest.Add(how.Coalesce) {
				t.Fatalf("a chunk at %v ends with a token made at %v", c.At, newest)
			}
		}
		if first := chunks[0]; tokens != len(made) || first.At != at(made[0]) || end < at(last) {
			t.Fatalf("%d tokens of %d from %v until %v", tokens, len(made), first.At, end)
		}
	})
}
