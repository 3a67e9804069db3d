package scheduler

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestChunkSizes holds schedules that can be checked by hand.
func TestChunkSizes(t *testing.T) {
	for _, c := range []struct {
		schedule ChunkSchedule
		sizes    []int32
		stage    int32
	}{
		{ChunkSchedule{}, nil, 0},
		{ChunkSchedule{LowChunkSize: 512, HighChunkSize: 2048, MaxTokens: 16384, Stages: 4}, []int32{2048, 1536, 1024, 512}, 4096},
		{ChunkSchedule{LowChunkSize: 512, HighChunkSize: 1024, MaxTokens: 1000, Stages: 1}, []int32{512}, 1000},
		// Equally spaced, and multiples of 32 already.
		{ChunkSchedule{LowChunkSize: 64, HighChunkSize: 160, MaxTokens: 10, Stages: 4}, []int32{160, 128, 96, 64}, 3},
		// 48 is half-way between 32 and 64; the even multiple is 64.
		{ChunkSchedule{LowChunkSize: 32, HighChunkSize: 64, MaxTokens: 9, Stages: 3}, []int32{64, 64, 32}, 3},
	} {
		if got := c.schedule.sizes(); !slices.Equal(got, c.sizes) || c.schedule.stageTokens() != c.stage {
			t.Errorf("%+v: chunks %v over %d tokens each; want %v over %d", c.schedule, got, c.schedule.stageTokens(), c.sizes, c.stage)
		}
	}
}

// TestChunkSizesFall: sizes go from high to low in multiples of 32, and never rise.
func TestChunkSizesFall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := 32 * rapid.Int32Range(1, 64).Draw(t, "low")
		high := low + 32*rapid.Int32Range(0, 64).Draw(t, "more")
		s := ChunkSchedule{low, high, 1 << 16, rapid.Int32Range(2, 20).Draw(t, "stages")}
		sizes := s.sizes()
		if sizes[0] != high || sizes[len(sizes)-1] != low {
			t.Fatalf("%+v: from %d to %d", s, sizes[0], sizes[len(sizes)-1])
		}
		for i, size := range sizes {
			if size%32 != 0 || i > 0 && size > sizes[i-1] {
				t.Fatalf("%+v: %v", s, sizes)
			}
		}
	})
}
