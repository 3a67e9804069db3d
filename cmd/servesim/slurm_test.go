//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slurm starts a Slurm of one node, or skips the test. Its ports are fixed, so that
// there is one at a time on a machine.
func slurm(t *testing.T) {
	t.Helper()
	if os.Getenv("SERVESIM_SLURM") == "" {
		t.Skip("SERVESIM_SLURM=1 starts a Slurm of one node for it")
	}
	for _, tool := range []string{"sbatch", "slurmctld", "slurmd", "munged", "runuser"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here: on Debian, apt-get install slurmctld slurmd slurm-client munge", tool)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("a Slurm of one's own wants root")
	}
	up, down := shared(t, "tools/slurm/slurm-up.sh"), shared(t, "tools/slurm/slurm-down.sh")
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), "servesim-slurm.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() }) // which ends the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Cleanup(func() {
		var daemons []string
		for _, name := range []string{"slurmctld.pid", "slurmd.pid"} {
			pid, _ := os.ReadFile(filepath.Join(dir, name)) // none if it didn't start
			daemons = append(daemons, strings.TrimSpace(string(pid)))
		}
		if out, err := exec.Command("bash", down, dir).CombinedOutput(); err != nil {
			t.Logf("%s: %v\n%s", down, err, out)
		}
		for end := time.Now().Add(20 * time.Second); slices.ContainsFunc(daemons, alive) && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond) // they write to the folder until they end
		}
	})
	if out, err := exec.Command("bash", up, dir).CombinedOutput(); err != nil {
		t.Skipf("Slurm doesn't start here: %v\n%s", err, out)
	}
	t.Setenv("SLURM_CONF", filepath.Join(dir, "slurm.conf"))
}

// alive tells whether process pid runs: one that nobody waits for is none.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return pid != "" && err == nil && !strings.Contains(string(stat), ") Z ")
}

// said runs a command, which must succeed, and returns what it printed.
func said(t *testing.T, name string, args ...string) string {
	t.Helper()
	var out, err bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); e != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), e, &out, &err)
	}
	return out.String()
}

// asCommand makes the test binary the command servesim, by a script on PATH.
func asCommand(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=\"$*\" exec %s -test.run='^TestAsProcess$'\n", asProcess, self)
	if err := os.WriteFile(filepath.Join(bin, "servesim"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

// eventually waits until ready says so, for two minutes at most.
func eventually(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			logs, _ := filepath.Glob("slurm-*.out")
			for _, l := range logs {
				text, _ := os.ReadFile(l)
				t.Logf("%s:\n%s", l, text)
			}
			queue, _ := exec.Command("scontrol", "show", "job").CombinedOutput()
			t.Fatalf("%s: not in two minutes\n%s", what, queue)
		}
	}
}

// shardProcess returns the process id of the servesim that does shard i, 0 if there
// is none.
func shardProcess(t *testing.T, i int) int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		text, _ := os.ReadFile(d) // it may be gone
		if bytes.Contains(text, fmt.Appendf(nil, "%s=sweep plan.toml --out plan.sweep --shard %d/4", asProcess, i)) {
			pid, _ := strconv.Atoi(strings.Split(d, "/")[2]) // digits, by the pattern
			return pid
		}
	}
	return 0
}

// TestSlurmArray submits the script that --emit writes to a real Slurm, kills one
// of its tasks, has it queued again, and compares what is merged with a sweep that
// was never divided.
func TestSlurmArray(t *testing.T) {
	slurm(t)
	plan := strings.Replace(killing, "requests = 4000", "requests = 20000", 1)
	inFolder(t, map[string]string{"s.toml": small, "plan.toml": plan})
	swept(t, "--out", "whole")
	script := ok(t, "sweep", "plan.toml", "--emit", "slurm", "--shards", "4")
	if err := os.WriteFile("sweep.sh", []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	asCommand(t)
	job := regexp.MustCompile(`batch job (\d+)`).FindStringSubmatch(said(t, "bash", "sweep.sh"))
	if job == nil {
		t.Fatal("the script doesn't say which job merges")
	}
	merge, err := strconv.Atoi(job[1])
	if err != nil {
		t.Fatal(err)
	}
	array := merge - 1 // the merging job is submitted after the array

	eventually(t, "a shard at work", func() bool { return shardProcess(t, 1) != 0 && pointsIn(t, "plan.sweep") > 0 })
	if err := syscall.Kill(shardProcess(t, 1), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	task := fmt.Sprintf("%d_1", array)
	show := func() string {
		out, _ := exec.Command("scontrol", "show", "job", task).CombinedOutput() // it may be between two states
		return string(out)
	}
	eventually(t, "the killed shard is queued again", func() bool {
		return strings.Contains(show(), "Restarts=1") && strings.Contains(show(), "JobState=PENDING")
	})
	// Slurm would let it wait for two minutes, because a node refuses a job that comes
	// back in the second in which it was taken away.
	time.Sleep(3 * time.Second)
	said(t, "scontrol", "update", "JobId="+task, "StartTime=now")
	eventually(t, "the results are merged", func() bool {
		_, err := os.Stat(filepath.Join("plan.sweep", "results.parquet"))
		return err == nil
	})
	for _, name := range []string{"results.csv", "results.json", "results.parquet"} {
		a, errA := os.ReadFile(filepath.Join("whole", name))
		b, errB := os.ReadFile(filepath.Join("plan.sweep", name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is another from Slurm: %v, %v", name, errA, errB)
		}
	}
	text, err := os.ReadFile(fmt.Sprintf("slurm-%d_1.out", array))
	if err != nil || !strings.Contains(string(text), "shard 1/4: 15 of 15 points done") {
		t.Errorf("the log of the killed shard, %v:\n%s", err, text)
	}
}
