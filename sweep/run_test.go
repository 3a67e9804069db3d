package sweep

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// TestResultsAreTheSameHoweverTheWorkIsDivided holds that the tables are the same
// bytes for any number of goroutines, shards and interruptions.
func TestResultsAreTheSameHoweverTheWorkIsDivided(t *testing.T) {
	p := read(t, grid)
	want, _ := done(t, p, 1)
	got, _ := done(t, p, 7)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("seven goroutines: %s", diff)
	}
	sharded := t.TempDir()
	for _, i := range []int{2, 0, 1, 0} { // one of them again
		if err := opened(t, p, sharded).Run(t.Context(), Options{Jobs: 2, Shard: Shard{i, 3}}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, results(t, opened(t, p, sharded))); diff != "" {
		t.Errorf("three shards: %s", diff)
	}
	broken := t.TempDir()
	for n := range 12 { // each run is interrupted after its first point
		ctx, cancel := context.WithCancel(t.Context())
		err := opened(t, p, broken).Run(ctx, Options{Jobs: 1, Progress: func(now *Progress) {
			if now.Ran == 1 {
				cancel()
			}
		}})
		cancel()
		var stopped *Interrupted
		if n < 11 && (!errors.As(err, &stopped) || stopped.Done != n+1 || stopped.Points != 12) {
			t.Fatalf("run %d: %v; want to be interrupted after %d of 12", n, err, n+1)
		}
		if n == 11 && err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, results(t, opened(t, p, broken))); diff != "" {
		t.Errorf("interrupted: %s", diff)
	}
}

// TestOnlyWhatIsMissingRuns holds that points that are done aren't simulated again,
// and that those whose files are damaged are.
func TestOnlyWhatIsMissingRuns(t *testing.T) {
	want, s := done(t, read(t, grid), 2)
	mended := 0
	ran := func() int {
		var last Progress
		if err := s.Run(t.Context(), Options{Jobs: 2, Progress: func(now *Progress) { last = *now }}); err != nil {
			t.Fatal(err)
		}
		mended = last.Mended
		return last.Ran
	}
	if n := ran(); n != 0 {
		t.Errorf("%d points ran again", n)
	}
	harm := func(i int, how func(text string) string) {
		path := s.folder.path(&s.Points[i])
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(how(string(text))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	harm(0, func(text string) string { return text[:len(text)/2] })
	harm(3, func(text string) string { return strings.Replace(text, `"completed":20`, `"completed":19`, 1) })
	harm(5, func(string) string { return "" })
	if _, err := s.Merge(); err == nil || !strings.Contains(err.Error(), "running the sweep again makes it anew") {
		t.Errorf("merging damaged files: %v", err)
	}
	if err := os.Remove(s.folder.path(&s.Points[7])); err != nil {
		t.Fatal(err)
	}
	if n := ran(); n != 4 || mended != 3 {
		t.Errorf("%d points ran again, %d because of damage; want 4, 3", n, mended)
	}
	if diff := cmp.Diff(want, results(t, s)); diff != "" {
		t.Error(diff)
	}
}

// TestMissingPointsAreNamed holds that merging says what is missing, and which
// shards have it.
func TestMissingPointsAreNamed(t *testing.T) {
	_, s := done(t, read(t, grid), 2)
	for _, i := range []int{1, 6, 9} {
		if err := os.Remove(s.folder.path(&s.Points[i])); err != nil {
			t.Fatal(err)
		}
	}
	table, err := s.Merge()
	var missing *Missing
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "3 of 12 points are not done, the first is number 2, gpu=h100 dtype=bf16 arrival.rate_per_s=2 max_num_batched_tokens=512") {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff([]int{1, 2}, missing.Shards(4)); diff != "" {
		t.Error(diff)
	}
	if len(table.Rows) != 9 {
		t.Errorf("the table has %d rows, want the other 9", len(table.Rows))
	}
}

// TestCommonRandomNumbers holds that points which differ in the engine alone see
// the same requests, unless the plan wants otherwise.
func TestCommonRandomNumbers(t *testing.T) {
	tokens := func(text string) map[string]bool {
		_, s := done(t, read(t, text), 2)
		table, err := s.Merge()
		if err != nil {
			t.Fatal(err)
		}
		k, _ := column("prompt_tokens")
		seen := map[string]bool{}
		for _, r := range table.Rows {
			seen[strconv.FormatFloat(r.at(k), 'g', -1, 64)] = true
		}
		return seen
	}
	if n := len(tokens(grid)); n != 1 {
		t.Errorf("%d different sums of prompt tokens, want 1", n)
	}
	if n := len(tokens(strings.Replace(grid, "schema = 1", "schema = 1\ncommon_random_numbers = false", 1))); n != 12 {
		t.Errorf("%d different sums of prompt tokens with seeds of their own, want 12", n)
	}
}

// TestInfeasiblePoints holds that points that cannot run are rows that say why if
// the plan says so, and keep nothing else from running.
func TestInfeasiblePoints(t *testing.T) {
	text := "schema = 1\nscenario = \"base.toml\"\ninfeasible = \"skip\"\n[grid]\nmodel = [\"Llama-3.1-8B\", \"Llama-3.3-70B\"]\ntransform.limit = [3, 5]\n"
	files, s := done(t, read(t, text), 2)
	rows, err := csv.NewReader(strings.NewReader(files[csvName])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, r := range rows[1:] {
		got = append(got, strings.Contains(r[4], "weights") && r[5] == "")
	}
	if diff := cmp.Diff([]bool{false, false, true, true}, got); diff != "" {
		t.Errorf("%s\n%s", diff, files[csvName])
	}
	if !strings.Contains(strings.Join(strings.Fields(files["text"]), " "), "Infeasible 2 points; the first is point 3, model=Llama-3.3-70B transform.limit=3") {
		t.Error(files["text"])
	}
	if len(s.Points) != 4 {
		t.Errorf("%d points", len(s.Points))
	}
}

// TestTablesAgree holds that CSV, JSON and Parquet have the same values.
func TestTablesAgree(t *testing.T) {
	files, s := done(t, read(t, grid), 2)
	rows, err := csv.NewReader(strings.NewReader(files[csvName])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct{ Points []map[string]any }
	if err := json.Unmarshal([]byte(files[jsonName]), &parsed); err != nil {
		t.Fatal(err)
	}
	text := files[parquetName]
	pq, err := parquet.OpenFile(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	if pq.NumRows() != 12 || len(parsed.Points) != 12 || len(rows) != 13 {
		t.Fatalf("%d rows of Parquet, %d of JSON, %d lines", pq.NumRows(), len(parsed.Points), len(rows))
	}
	reader := parquet.NewReader(pq)
	for i := range s.Points {
		line := map[string]any{}
		if err := reader.Read(&line); err != nil {
			t.Fatal(err)
		}
		for k, name := range rows[0] {
			want := rows[i+1][k]
			for kind, got := range map[string]any{"JSON": parsed.Points[i][name], "Parquet": line[name]} {
				if text := plain(got); text != want {
					t.Errorf("row %d, %s: %s has %q, CSV %q", i, name, kind, text, want)
				}
			}
		}
	}
}

// plain writes a value of JSON or Parquet as CSV has it.
func plain(x any) string {
	switch v := x.(type) {
	case nil:
		return ""
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case int64:
		return strconv.FormatInt(v, 10)
	case []byte:
		return string(v)
	case string:
		return v
	}
	return "?"
}

// TestFrontIsWhatNothingBeats holds that the front is what its definition says.
func TestFrontIsWhatNothingBeats(t *testing.T) {
	up, _ := column("output_tokens_per_s_per_gpu")
	down, _ := column("ttft_p99_ms")
	rapid.Check(t, func(t *rapid.T) {
		table := &Table{}
		for range rapid.IntRange(0, 30).Draw(t, "rows") {
			row := Row{Values: make([]float64, len(Columns()))}
			row.Values[up] = float64(rapid.IntRange(0, 9).Draw(t, "up"))
			row.Values[down] = float64(rapid.IntRange(0, 9).Draw(t, "down"))
			table.Rows, table.Points = append(table.Rows, row), append(table.Points, Point{})
		}
		front, err := table.Front("output_tokens_per_s_per_gpu", "ttft_p99_ms")
		if err != nil {
			t.Fatal(err)
		}
		on := map[[2]float64]int{}
		for _, i := range front {
			on[[2]float64{table.Rows[i].at(up), table.Rows[i].at(down)}]++
		}
		for i := range table.Rows {
			a := [2]float64{table.Rows[i].at(up), table.Rows[i].at(down)}
			beaten := false
			for k := range table.Rows {
				b := [2]float64{table.Rows[k].at(up), table.Rows[k].at(down)}
				beaten = beaten || b != a && b[0] >= a[0] && b[1] <= a[1]
			}
			if want := map[bool]int{true: 0, false: 1}[beaten]; on[a] != want {
				t.Fatalf("%v is on the front %d times, want %d", a, on[a], want)
			}
		}
	})
}

// TestRank holds the order, that of less where less is better, and no data last.
func TestRank(t *testing.T) {
	k, _ := column("ttft_p99_ms")
	table := &Table{}
	for _, x := range []float64{5, math.NaN(), 3, 5, 1} {
		row := Row{Values: make([]float64, len(Columns()))}
		row.Values[k] = x
		table.Rows, table.Points = append(table.Rows, row), append(table.Points, Point{})
	}
	got, err := table.Rank("ttft_p99_ms")
	if diff := cmp.Diff([]int{4, 2, 0, 3, 1}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for name, want := range map[string]string{"ttft_p99": `did you mean "ttft_p99_ms"?`, "x": "servesim list columns", "span_s": "neither better"} {
		if _, err := table.Rank(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKilledWritersLeaveNothing holds that what a killed process was writing goes
// away when the sweep is done.
func TestKilledWritersLeaveNothing(t *testing.T) {
	_, s := done(t, read(t, grid), 2)
	path := filepath.Join(string(s.folder), pointsName, ".x.json.0.tmp")
	if err := os.WriteFile(path, []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	results(t, s)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is there: %v", path, err)
	}
}
