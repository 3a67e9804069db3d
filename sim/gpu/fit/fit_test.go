package fit

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim/gpu"
)

// sheet is the datasheet of a round GPU.
func sheet() gpu.Datasheet {
	return gpu.Datasheet{BF16FlopPerS: 1e15, FP8FlopPerS: 2e15, FP4FlopPerS: 4e15, HBMBytes: 1e11, HBMBytesPerS: 4e12, NVLinkBytesPerS: 1e12}
}

// Law: a fit of times that a product's formula gives has that formula's times,
// whatever its coefficients, and so the errors on unseen shapes are nothing.
func TestFitFindsWhatMadeTheRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		between := func(least, most float64, name string) float64 {
			return least * math.Exp(rapid.Float64Range(0, 1).Draw(t, name)*math.Log(most/least))
		}
		truth := gpu.GEMM{
			FixedS: between(1e-6, 2e-5, "fixed"), Per1024KS: between(5e-8, 2e-6, "per k"),
			FlopPerS: between(3e14, 9e14, "flop"), WeightBytesPerS: between(1e12, 3.8e12, "weights"),
			InputBytesPerS: between(3e11, 5e12, "input"), OutputBytesPerS: between(1e12, 1e13, "output"),
		}
		var rows []gemmRow
		for _, m := range []int64{1, 16, 128, 256, 1024, 8192} {
			for _, n := range []int64{1024, 4096, 16384, 65536} {
				for _, k := range []int64{1024, 4096, 16384} {
					s := gpu.GEMMShape{M: m, N: n, K: k, WeightBytes: 2}
					rows = append(rows, gemmRow{shape: s, seconds: truth.Seconds(s)})
				}
			}
		}
		got, err := fitGEMM(rows, sheet(), gpu.BF16)
		if err != nil {
			t.Fatal(err)
		}
		if got.Fit.P90 > 0.01 || got.Fit.HeldOutP90 > 0.02 || got.Fit.Rows != 72 {
			t.Fatalf("rows of %+v are fitted by %+v", truth, got)
		}
	})
}

// Rows faster than the datasheet are fitted as well as the datasheet allows.
func TestFitStaysBelowTheDatasheet(t *testing.T) {
	var rows []reduceRow
	for x := int64(1 << 10); x <= 1<<30; x *= 2 {
		rows = append(rows, reduceRow{gpus: 2, bytes: x, seconds: 3e-6 + float64(x)/2e12})
	}
	c, err := fitReduce(rows, sheet())
	if err != nil {
		t.Fatal(err)
	}
	if c.BytesPerS > 0.5e12 || c.BytesPerS < 0.49e12 {
		t.Errorf("links of 0.5 TB/s in each direction move %g bytes/s", c.BytesPerS)
	}
}

// One row in twenty that took ten times as long moves no prediction by a twentieth.
func TestFitResistsOutliers(t *testing.T) {
	truth := gpu.AllReduce{FixedS: 4e-6, BytesPerS: 3e11, KneeS: 1e-5, KneeBytes: 1e6}
	var rows []reduceRow
	for i := range int64(60) {
		x := int64(256 * math.Pow(1.3, float64(i)))
		rows = append(rows, reduceRow{gpus: 4, bytes: x, seconds: truth.Seconds(x)})
	}
	for i := 7; i < len(rows); i += 20 {
		rows[i].seconds *= 10
	}
	c, err := fitReduce(rows, sheet())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if e := c.Seconds(r.bytes)/truth.Seconds(r.bytes) - 1; math.Abs(e) > 0.05 {
			t.Errorf("%d bytes are off by %.3f", r.bytes, e)
		}
	}
}

// At m = 1 two shapes of three take twice as long as at m = 4, so m = 1 was cold;
// at m = 8 one of three does, which happens.
func TestWarmLeavesOutColdRows(t *testing.T) {
	var rows []gemmRow
	for i, n := range []int64{1024, 2048, 4096} {
		for _, m := range []int64{1, 4, 8, 16} {
			us := 10.0
			if m == 1 && i < 2 || m == 8 && i == 0 {
				us = 20
			}
			rows = append(rows, gemmRow{shape: gpu.GEMMShape{M: m, N: n, K: 1024, WeightBytes: 2}, seconds: us / 1e6})
		}
	}
	got := ""
	for _, r := range warm(rows) {
		got += fmt.Sprintf(" %dx%d", r.shape.M, r.shape.N)
	}
	if want := " 4x1024 8x1024 16x1024 4x2048 8x2048 16x2048 4x4096 8x4096 16x4096"; got != want {
		t.Errorf("warm rows are%s, want%s", got, want)
	}
}

func TestTooFewRows(t *testing.T) {
	_, err := fitDecode(make([]attnRow, 5), sheet())
	if err == nil || err.Error() != "5 rows are too few for 3 coefficients" {
		t.Error(err)
	}
}

// Each fault of a table names file, line, column, what was found and what is allowed.
func TestTableFaults(t *testing.T) {
	const header = "gpu,engine,gpus,bytes,us,source\n"
	for _, c := range []struct{ text, want string }{
		{"", "reading the kernel table kernel_allreduce.csv: EOF"},
		{"gpu,engine,gpus,us\n", "kernel_allreduce.csv:1: has no column bytes; a kernel table of this kind has the columns gpu, engine, gpus, bytes, us"},
		{header + "H100,vllm,2,256,4.29,s13\nH100,vllm,1,x,-1,s13\n", `kernel_allreduce.csv:3: gpus is "1"; want a whole number, at least 2
kernel_allreduce.csv:3: bytes is "x"; want a whole number, at least 1
kernel_allreduce.csv:3: us is "-1"; want microseconds, more than 0`},
		{header + "H100,vllm,2\n", "reading the kernel table kernel_allreduce.csv: record on line 2: wrong number of fields"},
	} {
		var tables Tables
		err := tables.readReduce("kernel_allreduce.csv", strings.NewReader(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: got\n%v\nwant\n%s", c.text, err, c.want)
		}
	}
	if _, err := ReadTables(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "kernel_gemm.csv") {
		t.Errorf("a folder without tables: %v", err)
	}
}

func TestEngineering(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0.0", 3.31079665e-6: "3.31080e-6", 295.258481e-9: "295.258e-9", 1.2e15: "1.20000e15", 12.5e12: "12.5000e12", 5: "5.00000", 0.05: "50.0000e-3", 999.9999e12: "1.00000e15",
	} {
		if got := engineering(x); got != want {
			t.Errorf("%g is written %s, want %s", x, got, want)
		}
	}
}

// What is written into a profile is read back as it was, to six digits.
func TestWrittenKernelsAreReadBack(t *testing.T) {
	p, err := gpu.LoadProfile("b200")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../profiles/b200.toml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), marker)
	b := bytes.NewBufferString(head)
	for _, name := range sortedKeys(p.Kernels) {
		if err := WriteKernels(b, name, p.Kernels[name]); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "again.toml")
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	again, err := gpu.LoadProfile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, again); d != "" {
		t.Errorf("written -, read +\n%s", d)
	}
}
