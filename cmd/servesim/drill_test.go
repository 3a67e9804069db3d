package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// killed is a pool of three replicas of which one is killed in the middle, and all are
// restarted later.
const killed = small + `
[pool]
replicas = 3
retry = "all"
retry_delay = "5ms"
wait_for_replica = "1s"

[[pool.failure]]
replica = 1
at = "60s"
restart_after = "30s"

[pool.rolling_restart]
start = "150s"
grace = "10ms"
down = "10s"
`

// TestDrillRun reads what a run says of a drill, that its records hold it, and that it
// is the same again.
func TestDrillRun(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": killed})
	args := strings.Fields("run s.toml --set workload.arrival.rate_per_s=12 --set workload.requests=3000")
	out := ok(t, append(args, "--blame", "--dialect", "all", "--records", "r.jsonl")...)
	for _, want := range []string{"replica 1 fails at 60.00 s for 30.00 s", "rolling restart from 150.0 s on", "while one was out", "0 requests lost", "on a failed replica"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if first := ok(t, args...); first != ok(t, args...) {
		t.Error("two runs of one drill differ")
	}
	var said struct {
		Drill struct {
			From   int64 `json:"from_ps"`
			Out    int64 `json:"out_ps"`
			Again  int64 `json:"tried_again"`
			Phases map[string]struct {
				Requests int64 `json:"requests"`
			} `json:"phases"`
		} `json:"drill"`
	}
	if err := json.Unmarshal([]byte(ok(t, append(args, "--json")...)), &said); err != nil {
		t.Fatal(err)
	}
	d, n := &said.Drill, int64(0)
	for _, p := range d.Phases { // a sum, whatever their order
		n += p.Requests
	}
	if d.From != 60e12 || d.Out < 60e12 || d.Again == 0 || n != 3000 {
		t.Errorf("%+v", said)
	}
	b, err := os.ReadFile("r.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if records := string(b); !strings.Contains(records, `"cut":true`) || !strings.Contains(records, `"attempts":[{"replica":1,`) {
		t.Error("the records have no step that was cut short, or no lost attempt")
	}
	ok(t, "analyze", "r.jsonl")
}

// drillFaults are drills that can't be.
func drillFaults() []faultCase {
	pool := func(title, text string, wants ...string) faultCase {
		return withScenario(title, small+"\n[pool]\nreplicas = 2\n"+text, append([]string{"s.toml:"}, wants...)...)
	}
	return []faultCase{
		pool("a retry that does nothing", `retry = "all"`, "pool.retry", "no replica fails"),
		pool("a rule that there isn't", "retry = \"some\"\n[[pool.failure]]\nreplica = 0\nat = \"1s\"", "pool.retry", `unknown rule "some"`),
		pool("no retries, and a delay of them", "retry = \"none\"\nretry_delay = \"1s\"\n[[pool.failure]]\nreplica = 0\nat = \"1s\"", "pool.retry", "take them out"),
		pool("no times", "max_retries = 0\n[[pool.failure]]\nreplica = 0\nat = \"1s\"", "pool.max_retries", "found 0"),
		pool("a replica that there isn't", "[[pool.failure]]\nreplica = 2\nat = \"1s\"", "pool.failure[0].replica", "found 2", "from 0 to 1"),
		pool("a failure at no time", "[[pool.failure]]\nreplica = 1", "pool.failure[0].at", "missing"),
		pool("a failure of nobody", "[[pool.failure]]\nat = \"1s\"", "pool.failure[0].replica", "missing"),
		pool("back before it went", "[[pool.failure]]\nreplica = 1\nat = \"1s\"\nrestart_after = \"0s\"", "pool.failure[0].restart_after", "found 0s"),
		pool("a failure of what is down", "[[pool.failure]]\nreplica = 1\nat = \"1s\"\n[[pool.failure]]\nreplica = 1\nat = \"2s\"", "pool.failure[1].at", "replica 1 is down then"),
		pool("a restart that takes no time", "[pool.rolling_restart]\nstart = \"1s\"\ndown = \"0s\"", "pool.rolling_restart.down", "found 0;"),
		pool("a restart at no time", "[pool.rolling_restart]\ndown = \"1s\"", "pool.rolling_restart.start", "missing"),
	}
}
