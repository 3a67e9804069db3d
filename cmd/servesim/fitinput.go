package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"servesim/analysis/export"
	"servesim/analysis/transcript"
	"servesim/calibrate/vllmlog"
	"servesim/internal/infile"
	"servesim/scenario"
	"servesim/sim/gpu"
	"servesim/sim/gpu/fit"
	"servesim/validate"
)

// The kinds of data of a fit.
const (
	kindKernels = "kernel tables"
	kindRuns    = "measured runs"
	kindLog     = "vLLM log"
	kindExport  = "benchmark export"
)

// A fitInput is one of the files and folders of a fit, read.
type fitInput struct {
	path, kind string
	files      []gpu.OriginInput // with their hashes
	rows, used int               // what is in it, and what the fit is of
	notes      []string

	tables *fit.Tables
	runs   []validate.Row
	log    *vllmlog.Log
	export []exportedRun
}

// An exportedRun is one run of a benchmark tool's export.
type exportedRun struct {
	name  string
	facts transcript.Facts
	calls []transcript.Call
}

// readInputs reads what the arguments name. The error joins the faults of all of it.
func (o *fitOptions) readInputs() ([]*fitInput, error) {
	var inputs []*fitInput
	var faults []error
	seen := map[string]bool{}
	for _, path := range o.data {
		if clean := filepath.Clean(path); seen[clean] {
			faults = append(faults, fmt.Errorf("%s: given twice; each measurement counts once", path))
			continue
		}
		seen[filepath.Clean(path)] = true
		in := &fitInput{path: path}
		if err := o.readInput(in); err != nil {
			faults = append(faults, err)
			continue
		}
		inputs = append(inputs, in)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, &scenario.UsageError{Err: err}
	}
	return inputs, nil
}

// readInput reads one of them.
func (o *fitOptions) readInput(in *fitInput) error {
	if in.path == scenario.StdinPath {
		text, err := io.ReadAll(o.env.stdin)
		if err != nil {
			return err
		}
		return in.read(scenario.StdinName, text)
	}
	info, err := os.Stat(in.path)
	if err != nil {
		return fmt.Errorf("DATA: %w; name a file of measurements, or a folder of kernel tables", err)
	}
	if info.IsDir() {
		return in.readKernels()
	}
	text, err := os.ReadFile(in.path)
	if err != nil {
		return fmt.Errorf("DATA: %w", err)
	}
	return in.read(in.path, text)
}

// readKernels reads a folder of kernel tables.
func (in *fitInput) readKernels() error {
	in.kind = kindKernels
	var err error
	if in.tables, err = fit.ReadTables(os.DirFS(in.path)); err != nil {
		return fmt.Errorf("%s: %w", in.path, err)
	}
	files, err := filepath.Glob(filepath.Join(in.path, "kernel_*.csv"))
	if err != nil {
		return fmt.Errorf("%s: %w", in.path, err)
	}
	for _, f := range files { // sorted
		text, err := os.ReadFile(f)
		if err != nil {
			return fmt.Errorf("%s: %w", in.path, err)
		}
		rows := max(0, bytes.Count(text, []byte("\n"))-1)
		in.rows += rows
		in.files = append(in.files, gpu.OriginInput{File: filepath.Base(f), SHA256: hashOf(text), Kind: kindKernels, Rows: int64(rows)})
	}
	return nil
}

// useKernels notes how many rows of a table a fit is of.
func (in *fitInput) useKernels(e fit.Errors) {
	table := map[string]string{"gemm": "kernel_gemm.csv", "prefill attention": "kernel_attn_prefill.csv", "decode attention": "kernel_attn_decode.csv",
		"all-reduce": "kernel_allreduce.csv", "experts": "kernel_moe.csv"}[e.Operator]
	for i := range in.files {
		if in.files[i].File == table {
			in.files[i].Used += int64(e.Rows)
		}
	}
}

// read reads a file, told by its content.
func (in *fitInput) read(name string, raw []byte) error {
	unwrapped, err := infile.Unwrap(bytes.NewReader(raw))
	if err != nil {
		return unwrapped.Broken(name, 1, err)
	}
	defer unwrapped.Close()
	text, err := io.ReadAll(unwrapped.In)
	if err != nil {
		return unwrapped.Broken(name, 1, err)
	}
	if err := in.readText(name, text); err != nil {
		return err
	}
	in.files[0].SHA256 = hashOf(raw)
	return nil
}

// readText reads a file that is unwrapped.
func (in *fitInput) readText(name string, text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return fmt.Errorf("%s: empty; give measurements", name)
	}
	if head := text[:min(len(text), 64<<10)]; export.Is(head) || bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		return in.readExport(name, text)
	}
	if bytes.IndexByte(text[:min(len(text), 4096)], 0) >= 0 {
		return fmt.Errorf("%s: binary; give a table as CSV, a log as text or an export as JSON", name)
	}
	head, _ := bufio.NewReader(bytes.NewReader(text)).ReadString('\n')
	var err error
	switch columns := strings.Split(strings.TrimSpace(head), ","); {
	case hasAll(columns, "isl", "osl") || hasAll(columns, "id", "split"):
		in.kind = kindRuns
		in.runs, err = validate.Read(bytes.NewReader(text), name)
		in.rows = len(in.runs)
	case hasAll(columns, "gpu", "us"):
		return fmt.Errorf("%s: is a kernel table; give the folder that it and the other kernel tables are in", name)
	case strings.HasPrefix(strings.TrimSpace(head), "schema") || strings.HasPrefix(head, "[") && strings.HasSuffix(strings.TrimSpace(head), "]"):
		return fmt.Errorf("%s: looks like a scenario or a profile, which is no measurement; give a scenario with --scenario, a profile with --gpu", name)
	default:
		in.kind = kindLog
		in.log, err = vllmlog.Read(bytes.NewReader(text), name)
		if err == nil {
			in.rows = max(0, len(in.log.Stats)-1)
		}
	}
	if err != nil {
		return err
	}
	in.files = []gpu.OriginInput{{File: filepath.Base(name), Kind: in.kind}}
	return nil
}

// readExport reads what a benchmark tool left.
func (in *fitInput) readExport(name string, text []byte) error {
	f, err := export.Read(export.Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }})
	if err != nil {
		return err
	}
	in.kind = kindExport
	in.export = make([]exportedRun, len(f.Runs))
	next := 0
	if err := f.Replay(func(r *export.Run) (transcript.Sink, error) {
		x := &in.export[next]
		next++
		x.name, x.facts = name, r.Facts
		if len(f.Runs) > 1 {
			x.name = fmt.Sprintf("%s, run %d", name, next)
		}
		in.notes = append(in.notes, r.Notes...)
		for _, c := range r.Counts {
			in.notes = append(in.notes, fmt.Sprintf("%d %s", c.N, c.What))
		}
		return x, nil
	}); err != nil {
		return err
	}
	for i := range in.export {
		in.rows += len(in.export[i].calls)
	}
	in.files = []gpu.OriginInput{{File: filepath.Base(name), Kind: f.Format.Title}}
	return nil
}

// Call implements transcript.Sink.
func (x *exportedRun) Call(c *transcript.Call) error {
	kept := *c
	kept.Chunks = slices.Clone(c.Chunks)
	x.calls = append(x.calls, kept)
	return nil
}

// hasAll tells whether names are all among columns.
func hasAll(columns []string, names ...string) bool {
	have := map[string]bool{}
	for _, c := range columns {
		have[strings.TrimSpace(c)] = true
	}
	for _, n := range names {
		if !have[n] {
			return false
		}
	}
	return true
}

// hashOf returns the SHA-256 of text, in hexadecimal.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// origin returns the files of in for a profile's provenance.
func (in *fitInput) origin() []gpu.OriginInput {
	if len(in.files) == 1 {
		in.files[0].Rows, in.files[0].Used = int64(in.rows), int64(in.used)
	}
	return in.files
}
