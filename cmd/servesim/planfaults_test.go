package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A spoiled is a sweep that was run, and something that happened to its folder since.
type spoiled struct {
	title string
	spoil func(dir, point string) error // of the sweep, and of the file of its first point
	args  string                        // of the next run
	code  int
}

// spoils lists them.
func spoils() []spoiled {
	overwrite := func(path, old, new string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o644)
	}
	return []spoiled{
		{"a plan that changed midway", func(string, string) error { return overwrite("plan.toml", "8192", "4096") }, "", exitUsage},
		{"a scenario that changed midway", func(string, string) error { return overwrite("s.toml", "seed = 3", "seed = 4") }, "", exitUsage},
		{"a point file that can't be read", func(_, point string) error {
			if err := os.Remove(point); err != nil {
				return err
			}
			return os.Mkdir(point, 0o755)
		}, "", exitFailed},
		{"a point file that is damaged, merged", func(_, point string) error { return overwrite(point, "1", "2") }, "--merge", exitFailed},
		{"a point file that is missing, merged", func(_, point string) error { return os.Remove(point) }, "--merge", exitFailed},
		{"a point file of nothing, merged", func(_, point string) error { return os.WriteFile(point, nil, 0o644) }, "--merge", exitFailed},
		{"a folder whose own file is damaged", func(dir, _ string) error { return os.WriteFile(filepath.Join(dir, "sweep.json"), []byte("{"), 0o644) }, "", exitUsage},
		{"a shard out of range", func(string, string) error { return nil }, "--shard 5/4", exitUsage},
	}
}

// firstPoint returns the name of the first point of the sweep in dir.
func firstPoint(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	var rows [2][]string
	for i := range rows {
		if rows[i], err = r.Read(); err != nil {
			t.Fatal(err)
		}
	}
	return rows[1][slices.Index(rows[0], "id")]
}

// TestPlanningFaults holds what is said of everything wrong that is given to the verbs
// that plan, word for word.
func TestPlanningFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("other tests hold the same faults by parts of what is said")
	}
	folder := goldenFolder(t)
	var b strings.Builder
	say := func(title string, o outcome, code int) {
		if o.code != code || o.stdout != "" {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", title, o.code, o.stdout, o.stderr)
		}
		fmt.Fprintf(&b, "# %s\n%s\n", title, o.stderr)
	}
	for _, c := range sweepFaults() {
		inFolder(t, map[string]string{"s.toml": small, "plan.toml": c.plan})
		say("sweep: "+c.title, do(t, append([]string{"sweep", "plan.toml"}, strings.Fields(c.flags)...)...), exitUsage)
	}
	for _, c := range spoils() {
		inFolder(t, map[string]string{"s.toml": small, "plan.toml": sweeping})
		ok(t, "sweep", "plan.toml")
		id := firstPoint(t, "plan.sweep")
		must(c.spoil("plan.sweep", filepath.Join("plan.sweep", "points", id+".json")))
		o := do(t, append([]string{"sweep", "plan.toml"}, strings.Fields(c.args)...)...)
		o.stderr = strings.ReplaceAll(o.stderr, id, "ID") // which every profile and version has a part in
		say("sweep: "+c.title, o, c.code)
	}
	for _, c := range slices.Concat(capacityFaults(), hardwareFaults(), claimFaults()) {
		inFolder(t, c.files)
		say(c.title, do(t, strings.Split(c.args, " ")...), exitUsage)
	}
	goldenIn(t, folder, "planning-faults.txt", b.String())
}
