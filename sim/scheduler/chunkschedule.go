package scheduler

import "math"

// chunkUnit is what the sizes of a chunk schedule are multiples of, in tokens.
// Source: _compute_chunk_size_schedule of sarathi_scheduler.py at 96f9911790.
const chunkUnit = 32

// ChunkSchedule (sarathi) makes chunks smaller as a prompt proceeds, since the
// same number of tokens takes longer behind a longer context. Its zero value is
// none. Names are the repository's own options.
type ChunkSchedule struct {
	// LowChunkSize and HighChunkSize are the last and the first chunk's size in
	// tokens, multiples of 32.
	LowChunkSize, HighChunkSize int32
	// MaxTokens is the number of prompt tokens over which the size falls, in
	// Stages equal stages (chunk_schedule_max_tokens, chunk_schedule_stages).
	MaxTokens, Stages int32
}

// on tells that there is a schedule.
func (s ChunkSchedule) on() bool { return s != ChunkSchedule{} }

// sizes returns the chunk size of each stage, nil without a schedule: equally
// spaced from high to low, cut to whole tokens, each rounded to the nearest
// multiple of 32, halves to even ones.
func (s ChunkSchedule) sizes() []int32 {
	if !s.on() {
		return nil
	}
	sizes := make([]int32, s.Stages)
	for i := range sizes {
		size := int64(s.LowChunkSize) // of the last stage, and of a single one
		if last := int64(s.Stages - 1); last > 0 {
			size += (last - int64(i)) * int64(s.HighChunkSize-s.LowChunkSize) / last
		}
		sizes[i] = int32(math.RoundToEven(float64(size)/chunkUnit)) * chunkUnit
	}
	return sizes
}

// stageTokens returns the number of prompt tokens of a stage, 0 without a
// schedule.
func (s ChunkSchedule) stageTokens() int32 {
	if !s.on() {
		return 0
	}
	return (s.MaxTokens + s.Stages - 1) / s.Stages
}

// check reports the faults of s to fault.
func (s ChunkSchedule) check(fault func(string, ...any)) {
	if !s.on() {
		return
	}
	size := func(key string, v int32) {
		if v < chunkUnit || v%chunkUnit != 0 {
			fault("%s: found %d; it must be a multiple of %d tokens", key, v, chunkUnit)
		}
	}
	size("low_chunk_size", s.LowChunkSize)
	size("high_chunk_size", s.HighChunkSize)
	if s.HighChunkSize < s.LowChunkSize {
		fault("high_chunk_size: found %d; it must be at least low_chunk_size, %d", s.HighChunkSize, s.LowChunkSize)
	}
	if s.Stages < 1 {
		fault("chunk_schedule_stages: found %d; it must be at least 1", s.Stages)
	}
	if s.MaxTokens < max(1, s.Stages) {
		fault("chunk_schedule_max_tokens: found %d; it must be at least 1, and chunk_schedule_stages (%d)", s.MaxTokens, s.Stages)
	}
}
