package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"servesim/sim"
)

// threeRows are an Azure trace of which every variant below must be read alike.
const threeRows = "TIMESTAMP,ContextTokens,GeneratedTokens\n" +
	"2024-05-12 23:59:59.5,374,44\n" +
	"2024-05-13 00:00:00,396,109\n" +
	"2024-05-13 00:00:00,879,55\n"

func threeRequests() []Request {
	return []Request{
		{ID: 0, Line: 2, Arrival: 0, Prompt: 374, Output: 44},
		{ID: 1, Line: 3, Arrival: sim.Time(500 * sim.Millisecond), Prompt: 396, Output: 109},
		{ID: 2, Line: 4, Arrival: sim.Time(500 * sim.Millisecond), Prompt: 879, Output: 55},
	}
}

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

func zstandard(text string) string {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		panic(err)
	}
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

func TestSameTraceInManyFiles(t *testing.T) {
	crlf := strings.ReplaceAll(threeRows, "\n", "\r\n")
	for name, text := range map[string]string{
		"plain":            threeRows,
		"CRLF":             crlf,
		"no final newline": strings.TrimSuffix(threeRows, "\n"),
		"CRLF and neither": strings.TrimSuffix(crlf, "\r\n"),
		"byte order mark":  "\xef\xbb\xbf" + threeRows,
		"blank end":        threeRows + "\n  \n\r\n",
		"semicolons":       strings.ReplaceAll(threeRows, ",", ";"),
		"tabs":             strings.ReplaceAll(threeRows, ",", "\t"),
		"spaces":           strings.ReplaceAll(threeRows, ",", " , "),
		"quotes":           quoteAll(threeRows),
		"other case":       strings.Replace(threeRows, "ContextTokens", "CONTEXTTOKENS", 1),
		"with a T":         strings.ReplaceAll(threeRows, " ", "T"),
		"in UTC":           zoned(threeRows, "Z"),
		"with an offset":   zoned(threeRows, "+00:00"),
		"in India":         zoned(threeRows, "+0530"),
		"gzip":             gzipped(threeRows),
		"gzip in parts":    gzipped(threeRows[:60]) + gzipped(threeRows[60:]),
		"zstd":             zstandard(threeRows),
	} {
		got, report, err := readText(text, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(threeRequests(), got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if report.Format != "azure" || report.Rows != 3 || report.Kept != 3 || report.Ties != 1 ||
			report.Span != 500*sim.Millisecond || report.PromptTokens != 1649 || report.OutputTokens != 208 {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

// quoteAll puts every field of a CSV text in quotes.
func quoteAll(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		b.WriteString(`"` + strings.ReplaceAll(line, ",", `","`) + "\"\n")
	}
	return b.String()
}

// Quoted fields are put together in memory that does not grow with the trace.
func TestQuotedRowsInConstantMemory(t *testing.T) {
	tr, err := Read(strings.NewReader(quoteAll(azureHead+strings.Repeat(first, 1000))), "t.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := drain(tr); err != nil || len(all) != 1000 {
		t.Fatal(len(all), err)
	}
	if n := cap(tr.rows.(*azureRows).plain); n > 10*len(first) {
		t.Errorf("%d bytes are kept for rows of %d", n, len(first))
	}
}

// zoned appends zone to the stamp of every row.
func zoned(text, zone string) string {
	var b strings.Builder
	for i, line := range strings.SplitAfter(text, "\n") {
		if i > 0 {
			line = strings.Replace(line, ",", zone+",", 1)
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestColumnsByNameNotPlace(t *testing.T) {
	got, report, err := readText("GeneratedTokens,cost,TIMESTAMP,ContextTokens\n44,0.1,2023-11-16 18:15:46,374\n", Options{})
	want := []Request{{Line: 2, Prompt: 374, Output: 44}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if diff := cmp.Diff([]string{"cost"}, report.Ignored); diff != "" {
		t.Error(diff)
	}
}

func TestTruncatedGzipNamesFileAndByte(t *testing.T) {
	var rows strings.Builder
	rows.WriteString(azureHead)
	for i := range 100_000 {
		fmt.Fprintf(&rows, "2023-11-16 18:%02d:%02d.%05d,%d,44\n", i/60_000, i/1000%60, i%1000*100, i*i%7919+1)
	}
	whole := gzipped(rows.String())
	cut := whole[:len(whole)/2]
	tr, err := Read(strings.NewReader(cut), "t.csv.gz", Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := drain(tr)
	want := fmt.Sprintf("t.csv.gz:%d: reading stopped at byte %d of the compressed file: unexpected EOF; "+
		"the file is cut off: copy or download it again", len(all)+2, len(cut))
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if len(all) < 10_000 || contract(all) != "" {
		t.Errorf("%d requests before the fault, %s", len(all), contract(all))
	}
	if _, again := tr.Next(); again != err {
		t.Errorf("the fault does not stay: %v", again)
	}
}

func TestBrokenCompression(t *testing.T) {
	flipped := []byte(gzipped(threeRows))
	flipped[len(flipped)-6] ^= 1 // in the checksum
	for name, text := range map[string]string{
		"header cut":     gzipped(threeRows)[:6],
		"checksum":       string(flipped),
		"zstd cut":       zstandard(threeRows)[:30],
		"zstd, not that": "\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		_, _, err := readText(text, Options{})
		var fault *Fault
		if !errors.As(err, &fault) || fault.Err == nil || !strings.Contains(err.Error(), "t.csv:1: reading stopped at byte ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err := readText(gzipped(gzipped(threeRows)), Options{})
	if want := "t.csv: found compressed data inside compressed data, want one layer of gzip or zstd; decompress it once"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestOpenFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(path, []byte(threeRows), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := drain(tr)
	if diff := cmp.Diff(threeRequests(), got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	tr, err = Open("-", Options{Stdin: strings.NewReader(gzipped(threeRows))})
	if err != nil {
		t.Fatal(err)
	}
	if got, err = drain(tr); err != nil || len(got) != 3 || tr.Report().File != "standard input" {
		t.Errorf("%d requests, %v, %+v", len(got), err, tr.Report())
	}
	if _, err := Open("-", Options{}); err == nil || err.Error() != "standard input: found none here, want a file" {
		t.Errorf("got %v", err)
	}
	if _, err := Open(dir, Options{}); err == nil || err.Error() != dir+": is a directory; give a trace file" {
		t.Errorf("got %v", err)
	}
	none := filepath.Join(dir, "none.csv")
	if _, err := Open(none, Options{}); !errors.Is(err, os.ErrNotExist) || err.Error() != none+": no such file or directory" {
		t.Errorf("got %v", err)
	}
}

func TestSortCountsAndIsStable(t *testing.T) {
	text := vidurHead + "3,1,1\n1,2,2\n2,3,3\n1,4,4\n3,5,5\n"
	got, report, err := readText(text, Options{Sort: true})
	want := []Request{
		{ID: 0, Line: 3, Arrival: 0, Prompt: 2, Output: 2},
		{ID: 1, Line: 5, Arrival: 0, Prompt: 4, Output: 4},
		{ID: 2, Line: 4, Arrival: sim.Time(sim.Second), Prompt: 3, Output: 3},
		{ID: 3, Line: 2, Arrival: sim.Time(2 * sim.Second), Prompt: 1, Output: 1},
		{ID: 4, Line: 6, Arrival: sim.Time(2 * sim.Second), Prompt: 5, Output: 5},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if report.OutOfOrder != 3 || report.Ties != 2 {
		t.Errorf("%d out of order and %d ties, want 3 and 2", report.OutOfOrder, report.Ties)
	}
}

func TestZeroRules(t *testing.T) {
	text := vidurHead + "0,0,5\n1,1,1\n2,2,0\n3,0,0\n"
	got, report, err := readText(text, Options{ZeroTokens: ZeroDrop})
	if diff := cmp.Diff([]Request{{Line: 3, Prompt: 1, Output: 1}}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	want := []Count{{"0 num_prefill_tokens", 2}, {"0 num_decode_tokens", 1}}
	if diff := cmp.Diff(want, report.Dropped); diff != "" || report.Rows != 4 || report.Kept != 1 {
		t.Errorf("%+v %s", report, diff)
	}
	got, report, err = readText(text, Options{ZeroTokens: ZeroOne})
	if err != nil || len(got) != 4 || contract(got) != "" || report.Raised != 4 || report.PromptTokens != 5 {
		t.Errorf("%v %v %+v", got, err, report)
	}
}
