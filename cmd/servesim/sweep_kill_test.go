package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asProcess is the variable under which the test binary is servesim.
const asProcess = "SERVESIM_TEST_PROCESS"

// TestAsProcess is servesim, with the arguments of asProcess, if that is set.
func TestAsProcess(t *testing.T) {
	args := os.Getenv(asProcess)
	if args == "" {
		t.Skip("a process of other tests")
	}
	os.Exit(Main(untilSignal(), env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}, strings.Split(args, " ")))
}

// process returns servesim with args as a process of its own.
func process(t *testing.T, args string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestAsProcess$")
	cmd.Env = append(os.Environ(), asProcess+"="+args)
	return cmd
}

// killing is a plan of 60 points that take some milliseconds each.
const killing = `schema = 1
scenario = "s.toml"
[set]
requests = 4000
rate_per_s = 20
[grid]
max_num_batched_tokens = [256, 512, 1024, 2048, 4096, 8192]
seed = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
`

// pointsIn returns how many points of a sweep have files.
func pointsIn(t *testing.T, dir string) int {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "points", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// swept runs a sweep that may last long enough to say how far it is, and returns its
// result. No result of a point may be damaged.
func swept(t *testing.T, args ...string) string {
	t.Helper()
	o := do(t, append([]string{"sweep", "plan.toml"}, args...)...)
	if o.code != exitOK || strings.Contains(o.stderr, "damaged") {
		t.Fatalf("sweep %s: exit %d, stderr %q", strings.Join(args, " "), o.code, o.stderr)
	}
	return o.stdout
}

// TestKilledSweepsGoOn kills a sweep at random moments: what was done is kept, what
// was under way is lost, no file is half there, and the results are in the end
// those of a sweep that nobody killed.
func TestKilledSweepsGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs a sweep again and again")
	}
	inFolder(t, map[string]string{"s.toml": small, "plan.toml": killing})
	swept(t, "--out", "whole")
	kills, before := 0, 0
	for range 60 {
		cmd := process(t, "sweep plan.toml --jobs 2")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		// Any moment of the first points: the seed of it is the test's own.
		want := before + rand.IntN(8)
		for len(ended) == 0 && pointsIn(t, "plan.sweep") < want {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(rand.N(10 * time.Millisecond))
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		err := <-ended
		now := pointsIn(t, "plan.sweep")
		if now < before {
			t.Fatalf("%d points were done, now %d", before, now)
		}
		before = now
		if err == nil {
			break
		}
		if kills++; !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v: %s", err, &out)
		}
	}
	t.Logf("killed %d times, %d of 60 points done", kills, before)
	out := swept(t)
	if !strings.Contains(out, "60 points") {
		t.Error(out)
	}
	for _, name := range []string{"results.csv", "results.json", "results.parquet"} {
		a, errA := os.ReadFile(filepath.Join("whole", name))
		b, errB := os.ReadFile(filepath.Join("plan.sweep", name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is another after kills: %v, %v", name, errA, errB)
		}
	}
	if left, _ := filepath.Glob("plan.sweep/points/.*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestInterruptedSweepFinishesWhatIsUnderWay asks a sweep to end: it says how far it
// is, exits with 1, and the points it counts are there.
func TestInterruptedSweepFinishesWhatIsUnderWay(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "plan.toml": killing})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := process(t, "sweep plan.toml --jobs 1")
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for pointsIn(t, "plan.sweep") < 2 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitFailed {
		t.Fatalf("%v: %s", err, &out)
	}
	if n := pointsIn(t, "plan.sweep"); n == 60 || !strings.Contains(out.String(), "interrupted: ") ||
		!strings.Contains(out.String(), " of 60 points are done and kept; the same command does the rest") {
		t.Errorf("%d points: %s", n, &out)
	}
}
