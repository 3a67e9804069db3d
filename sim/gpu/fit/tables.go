package fit

import (
	"fmt"
	"io"
	"io/fs"

	"servesim/sim/gpu"
)

// kernel says whose kernel a row measured.
type kernel struct {
	gpu, engine, format string
}

// The rows of the tables; times are in seconds.
type (
	gemmRow struct {
		kernel
		shape   gpu.GEMMShape
		seconds float64
		cached  bool // the weights of the row fit the L2 cache
	}
	attnRow struct {
		kernel
		shape         gpu.AttnShape
		batch, length int64 // sequences, and the tokens of each
		window        int64 // 0: none
		cached        bool  // the KV cache of the row fits the L2 cache
		seconds       float64
	}
	reduceRow struct {
		kernel
		gpus, bytes int64
		seconds     float64
	}
	moeRow struct {
		kernel
		routing string
		ranks   int64 // of expert parallelism
		shape   gpu.MoEShape
		tokens  int64
		seconds float64
	}
)

// Tables is measured kernel times.
type Tables struct {
	gemm            []gemmRow
	prefill, decode []attnRow
	reduce          []reduceRow
	moe             []moeRow
}

// ReadTables reads the five kernel tables of a folder: kernel_gemm.csv,
// kernel_attn_prefill.csv, kernel_attn_decode.csv, kernel_allreduce.csv and
// kernel_moe.csv. Times are in microseconds. An error names file, line and column.
func ReadTables(folder fs.FS) (*Tables, error) {
	var t Tables
	for _, file := range []struct {
		name string
		read func(name string, r io.Reader) error
	}{
		{"kernel_gemm.csv", t.readGEMM},
		{"kernel_attn_prefill.csv", t.readPrefill},
		{"kernel_attn_decode.csv", t.readDecode},
		{"kernel_allreduce.csv", t.readReduce},
		{"kernel_moe.csv", t.readMoE},
	} {
		f, err := folder.Open(file.name)
		if err != nil {
			return nil, fmt.Errorf("reading the kernel tables: %w", err)
		}
		err = file.read(file.name, f)
		f.Close() // was only read
		if err != nil {
			return nil, err
		}
	}
	return &t, nil
}

func (t *Tables) readGEMM(name string, r io.Reader) error {
	c, err := readTable(name, r, "gpu", "engine", "dtype", "m", "n", "k", "us")
	if err != nil {
		return err
	}
	for i := range c.rows {
		k := kernel{c.text(i, "gpu"), c.text(i, "engine"), c.text(i, "dtype")}
		t.gemm = append(t.gemm, gemmRow{k, gpu.GEMMShape{M: c.count(i, "m", 1), N: c.count(i, "n", 1), K: c.count(i, "k", 1),
			WeightBytes: gpu.Format(k.format).BytesPerWeight()}, c.seconds(i, "us"), false})
	}
	return c.err()
}

func (t *Tables) readPrefill(name string, r io.Reader) error {
	c, err := readTable(name, r, "gpu", "engine", "kv_dtype", "batch", "seq", "heads", "kv_heads", "head_dim", "window", "us")
	if err != nil {
		return err
	}
	for i := range c.rows {
		row := attention(c, i)
		row.length, row.window = c.count(i, "seq", 1), c.count(i, "window", 0)
		t.prefill = append(t.prefill, row)
	}
	return c.err()
}

func (t *Tables) readDecode(name string, r io.Reader) error {
	c, err := readTable(name, r, "gpu", "engine", "kv_dtype", "batch", "kv_len", "heads", "kv_heads", "head_dim", "in_l2", "us")
	if err != nil {
		return err
	}
	for i := range c.rows {
		row := attention(c, i)
		row.length, row.cached = c.count(i, "kv_len", 1), c.count(i, "in_l2", 0) == 1
		t.decode = append(t.decode, row)
	}
	return c.err()
}

// attention reads what the two tables of attention have in common.
func attention(c *table, i int) attnRow {
	k := kernel{c.text(i, "gpu"), c.text(i, "engine"), c.text(i, "kv_dtype")}
	return attnRow{
		kernel: k,
		shape: gpu.AttnShape{Heads: c.count(i, "heads", 1), KVHeads: c.count(i, "kv_heads", 1),
			HeadDim: c.count(i, "head_dim", 1), KV: gpu.Format(k.format)},
		batch:   c.count(i, "batch", 1),
		seconds: c.seconds(i, "us"),
	}
}

func (t *Tables) readReduce(name string, r io.Reader) error {
	c, err := readTable(name, r, "gpu", "engine", "gpus", "bytes", "us")
	if err != nil {
		return err
	}
	for i := range c.rows {
		k := kernel{gpu: c.text(i, "gpu"), engine: c.text(i, "engine")}
		t.reduce = append(t.reduce, reduceRow{k, c.count(i, "gpus", 2), c.count(i, "bytes", 1), c.seconds(i, "us")})
	}
	return c.err()
}

func (t *Tables) readMoE(name string, r io.Reader) error {
	c, err := readTable(name, r, "gpu", "engine", "dtype", "distribution", "tokens", "hidden", "inter", "topk", "experts", "tp", "ep", "us")
	if err != nil {
		return err
	}
	for i := range c.rows {
		k := kernel{c.text(i, "gpu"), c.text(i, "engine"), c.text(i, "dtype")}
		t.moe = append(t.moe, moeRow{
			kernel: k, routing: c.text(i, "distribution"), ranks: c.count(i, "ep", 1),
			shape: gpu.MoEShape{Hidden: c.count(i, "hidden", 1), Width: c.count(i, "inter", 1) / max(1, c.count(i, "tp", 1)),
				Experts: c.count(i, "experts", 1), PerToken: c.count(i, "topk", 1), WeightBytes: expertFormat(k.format).BytesPerWeight()},
			tokens: c.count(i, "tokens", 1), seconds: c.seconds(i, "us"),
		})
	}
	return c.err()
}

// expertFormat returns the format of experts that a table calls name, in which
// the format of mxfp4's activations is told too.
func expertFormat(name string) gpu.Format {
	switch name {
	case "w4a16_mxfp4", "w4a8_mxfp4_mxfp8":
		return gpu.MXFP4
	}
	return gpu.Format(name)
}
