package workload

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// drain returns every request of src and the error that ended it, nil for
// io.EOF. Blocks are copied, as the contract of Source demands.
func drain(src Source) ([]Request, error) {
	var all []Request
	for {
		r, err := src.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		r.Blocks = slices.Clone(r.Blocks)
		all = append(all, r)
	}
}

// readText reads a trace called t.csv and returns its requests and its report.
func readText(text string, opt Options) ([]Request, Report, error) {
	tr, err := Read(strings.NewReader(text), "t.csv", opt)
	if err != nil {
		return nil, Report{}, err
	}
	all, err := drain(tr)
	return all, tr.Report(), errors.Join(err, tr.Close())
}

// sharedTrace returns the path of a public trace, or skips the test.
func sharedTrace(tb testing.TB, name string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		tb.Fatal("no go.mod above the test")
	}
	path := filepath.Join(dir, "..", "shared", "traces", name)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("the public trace %s is not here", name)
	}
	return path
}

// openShared reads a whole public trace.
func openShared(tb testing.TB, name string, opt Options) ([]Request, Report) {
	tb.Helper()
	tr, err := Open(sharedTrace(tb, name), opt)
	if err != nil {
		tb.Fatal(err)
	}
	all, err := drain(tr)
	if err := errors.Join(err, tr.Close()); err != nil {
		tb.Fatal(err)
	}
	return all, tr.Report()
}

// contract returns what is wrong with all as the requests of a source, or "".
func contract(all []Request) string {
	for i, r := range all {
		switch {
		case r.ID != int64(i):
			return "the ids do not count up from 0"
		case i == 0 && r.Arrival < 0, i > 0 && r.Arrival < all[i-1].Arrival:
			return "the arrivals are not in order"
		case r.Prompt < 1 || r.Output < 1:
			return "a request has no tokens"
		case r.Blocks != nil && (r.BlockTokens < 1 || len(r.Blocks) > ceilDiv(r.Prompt, r.BlockTokens)):
			return "the prefix blocks do not fit the prompt"
		}
	}
	return ""
}
