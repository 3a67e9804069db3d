package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"servesim/calibrate/vllmlog"
	"servesim/internal/portable"
	"servesim/sim/gpu"
)

// ServerLog is the lines of statistics of one server.
type ServerLog struct {
	// Name is the file, Stats its lines.
	Name  string
	Stats []vllmlog.Stats
	// Setup is the server's machine; its profile and host times are those of the fit.
	Setup gpu.Setup
	// KVTokens is the number of tokens that its KV cache holds, and MaxNumBatchedTokens
	// the most of a step.
	KVTokens, MaxNumBatchedTokens int64
}

// Stats is lines of statistics as Data. Where the number of running requests stays,
// D, and few tokens of prompts come, p a second, the tokens a second that the line
// gives tell the time T of a decode step:
//
//	generated = D·(1 - p·c)/T(D, context)
//
// with the context that KV cache usage tells, and c, the time of a prompt token
// beside decodes, from the model, known to half of it. They say nothing of TTFT, and
// of one step nothing of what it is made of.
type Stats struct {
	logs   []*intervals
	blocks int
}

// Which intervals a fit is of, and how well they are known.
const (
	mostMove       = 0.05 // by which running requests may change, or one
	mostPrompts    = 0.1  // share of the time that prompts may take
	mostHits       = 0.01 // share of prompt tokens that may come out of the cache
	promptError    = 0.5  // of c
	chunkOfAPrompt = 1024 // tokens for which c is taken
)

// An interval is the time between two lines.
type interval struct {
	running   float64 // on average
	context   float64 // tokens in the KV cache
	prompts   float64 // tokens a second
	generated float64 // tokens a second
}

// intervals is a log's, and cells of those that are alike.
type intervals struct {
	log   *ServerLog
	all   []interval
	moves float64 // variance of running requests for each of them, of a load such as this
	cells [][]int
	block []int // of each cell
}

// NewStats prepares logs for a fit. The error names the log and says why nothing can
// be fitted on it.
func NewStats(logs []ServerLog) (*Stats, []Left, error) {
	s := &Stats{}
	var left []Left
	for i := range logs {
		l := &intervals{log: &logs[i]}
		more := l.take()
		if len(l.all) == 0 {
			return nil, nil, fmt.Errorf("%s: %w", logs[i].Name, noSteady(len(logs[i].Stats), more))
		}
		l.divide()
		s.logs, left = append(s.logs, l), append(left, more...)
		s.blocks = max(s.blocks, l.blocks())
	}
	return s, left, nil
}

// noSteady says why no line of n is of use.
func noSteady(n int, left []Left) error {
	if n < 2 {
		return errors.New("has fewer than two lines of statistics; give the log of some minutes of constant load")
	}
	why := ""
	for _, l := range left {
		why += fmt.Sprintf("; %d %s", l.N, l.Why)
	}
	return fmt.Errorf("none of its %d intervals tells the time of a step%s; give the log of some minutes of constant load", n-1, why)
}

// Parts returns the number of parts of the figures.
func (s *Stats) Parts() int { return s.blocks }

// Used returns the number of intervals of log i that the fit is of.
func (s *Stats) Used(i int) int { return len(s.logs[i].all) }

// Bears implements Data.
func (s *Stats) Bears(key string) bool {
	for _, l := range s.logs {
		switch key {
		case "layer_s", "step_s", "seq_s":
			return true
		case "allreduce_skew_s":
			if l.log.Setup.TP > 1 {
				return true
			}
		case "eager_layer_s":
			if l.log.Setup.EnforceEager {
				return true
			}
		case "kv_bf16_efficiency":
			if l.log.Setup.KV != gpu.FP8 {
				return true
			}
		case "kv_fp8_efficiency":
			if l.log.Setup.KV == gpu.FP8 {
				return true
			}
		}
	}
	return false
}

// take keeps the intervals that tell the time of a step.
func (l *intervals) take() []Left {
	last := map[int]vllmlog.Stats{} // by engine
	idle, moved, cached, apart := 0, 0, 0, 0
	usual := l.usual()
	var moves []float64
	for _, now := range l.log.Stats {
		before, ok := last[now.Engine]
		last[now.Engine] = now
		if !ok {
			continue
		}
		if now.At-before.At > 1.5*usual || now.At < before.At { // neither, if a time is not known
			apart++
			continue
		}
		if now.Running == 0 || before.Running == 0 || now.GenerationPerS == 0 {
			idle++
			continue
		}
		move := float64(now.Running - before.Running)
		x := interval{
			running:   float64(now.Running+before.Running) / 2,
			context:   (now.KVUsage + before.KVUsage) / 2 * float64(l.log.KVTokens),
			prompts:   now.PromptPerS,
			generated: now.GenerationPerS,
		}
		moves = append(moves, math.Abs(move)/math.Sqrt(x.running))
		switch {
		case math.Abs(move) > max(1, float64(mostMove*x.running)):
			moved++
		case x.prompts > 0 && now.PrefixHits > mostHits:
			cached++
		default:
			l.all = append(l.all, x)
		}
	}
	if len(moves) > 0 {
		// The median of the changes leaves out those between one load and another. That
		// of a normal variable is 0.6745 of its deviation, a change has two of them.
		median, _ := spreadOf(moves)
		l.moves = float64(median*median) / (2 * 0.6745 * 0.6745)
	}
	var left []Left
	for _, n := range []Left{
		{l.log.Name, "between lines with others missing, by their times", apart},
		{l.log.Name, "in which nothing ran at one end", idle},
		{l.log.Name, "in which the number of running requests changed", moved},
		{l.log.Name, "with prompts from the prefix cache, of which the line does not say how much was computed", cached},
	} {
		if n.N > 0 {
			left = append(left, n)
		}
	}
	return left
}

// usual returns the usual time in seconds between two lines of an engine, NaN if the
// lines do not tell their times.
func (l *intervals) usual() float64 {
	last := map[int]float64{}
	var all []float64
	for _, s := range l.log.Stats {
		if before, ok := last[s.Engine]; ok && s.At >= before {
			all = append(all, s.At-before)
		}
		last[s.Engine] = s.At
	}
	if len(all) == 0 {
		return math.NaN()
	}
	median, _ := spreadOf(all)
	return median
}

// blocks returns the number of blocks of time, each held out once.
func (l *intervals) blocks() int { return min(maxFolds, max(1, len(l.all)/5)) }

// divide puts intervals into cells: by blocks of time, running requests, context.
func (l *intervals) divide() {
	running, context := make([]float64, len(l.all)), make([]float64, len(l.all))
	for i, x := range l.all {
		running[i], context[i] = x.running, x.context/x.running
	}
	loads, long := classes(running, loadClasses), classes(context, contextClasses)
	n, blocks := len(l.all), l.blocks()
	for b := range blocks {
		for class := range loadClasses * contextClasses {
			var cell []int
			for i := b * n / blocks; i < (b+1)*n/blocks; i++ {
				if loads[i]*contextClasses+long[i] == class {
					cell = append(cell, i)
				}
			}
			if len(cell) > 0 {
				l.cells, l.block = append(l.cells, cell), append(l.block, b)
			}
		}
	}
}

// Figures implements Data.
func (s *Stats) Figures(ctx context.Context, p *gpu.Profile) ([]Figure, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var out []Figure
	for _, l := range s.logs {
		setup := l.log.Setup
		setup.Profile, setup.Host = p, gpu.Host{}
		cost, err := gpu.NewCost(setup)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.log.Name, err)
		}
		for k, cell := range l.cells {
			f := Figure{Metric: "generation_tok_s", Part: l.block[k]}
			noise, n := 0.0, 0
			for _, i := range cell {
				if r, v, ok := l.predict(cost, &l.all[i]); ok {
					f.Log += r
					noise += v
					n++
				}
			}
			f.Left = n == 0
			f.Log /= float64(max(1, n))
			f.Spread = math.Sqrt(float64(tpotSpread*tpotSpread)*float64(l.blocks()) + noise/float64(max(1, n*n)))
			out = append(out, f)
		}
	}
	return out, nil
}

// predict returns the logarithm of predicted over logged tokens a second, and the
// variance of its noise; ok is false if prompts took too much of the time.
func (l *intervals) predict(cost *gpu.StepTime, x *interval) (log, variance float64, ok bool) {
	w := gpu.Work{DecodeSeqs: int64(math.Round(x.running)), DecodeKV: int64(x.context)}
	w.Samples = w.DecodeSeqs
	decode := cost.Step(w)
	with := w
	chunk := max(1, min(chunkOfAPrompt, l.log.MaxNumBatchedTokens-w.DecodeSeqs))
	with.AddChunk(0, chunk, true)
	share := x.prompts * (cost.Step(with) - decode).Seconds() / float64(chunk)
	if share > mostPrompts {
		return 0, 0, false
	}
	predicted := x.running * (1 - share) / decode.Seconds()
	error := float64(promptError * share)
	return portable.Log(predicted / x.generated), l.moves/x.running + float64(error*error), true
}
