package main

import (
	"encoding/json"
	"strings"
	"testing"

	"servesim/sim/engine"
)

// pooled are settings of a pool of three replicas at three times the rate of small.
const pooled = " --set pool.replicas=3 --set workload.arrival.rate_per_s=12 --set workload.requests=3000"

// TestPoolRun reads what a run of a pool says of it, under every router.
func TestPoolRun(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	for _, r := range engine.Routers() {
		args := strings.Fields("run s.toml --set pool.router=" + r.Name + pooled)
		out := ok(t, args...)
		for _, want := range []string{"3 replicas (3 GPUs), router " + r.Name, "3 replicas; the levels below are of one of them", "1 x h100"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the output lacks %q:\n%s", r.Name, want, out)
			}
		}
		var said struct {
			Engine struct {
				Replicas int `json:"replicas"`
			} `json:"engine"`
			Throughput struct {
				GPUs   int     `json:"gpus"`
				Output float64 `json:"output_tokens_per_s"`
				PerGPU float64 `json:"output_tokens_per_s_per_gpu"`
			} `json:"throughput"`
		}
		if err := json.Unmarshal([]byte(ok(t, append(args, "--json")...)), &said); err != nil {
			t.Fatal(err)
		}
		if x := said.Throughput; said.Engine.Replicas != 3 || x.GPUs != 3 || x.PerGPU == 0 || x.PerGPU != x.Output/3 {
			t.Errorf("%s: %+v", r.Name, said)
		}
	}
}

// TestPoolIsExplained has blame charge the requests of a pool, and reads its
// records again.
func TestPoolIsExplained(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	ok(t, strings.Fields("run s.toml --blame --dialect all --records r.jsonl"+pooled)...)
	ok(t, "analyze", "r.jsonl")
	if out := ok(t, strings.Fields("explain s.toml --worst ttft"+pooled)...); !strings.Contains(out, "Request ") {
		t.Errorf("no life is told:\n%s", out)
	}
}

// TestIdleReplicasCount has a pool of more replicas than requests.
func TestIdleReplicasCount(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	if out := ok(t, strings.Fields("run s.toml --set pool.replicas=64")...); !strings.Contains(out, "64 replicas; the levels") {
		t.Errorf("replicas that did nothing are left out:\n%s", out)
	}
}

func poolFaults() []faultCase {
	return append(drillFaults(), []faultCase{
		withFlags("no replicas", "--set pool.replicas=0", "pool.replicas", "found 0", "from 1 to 4096"),
		withFlags("many replicas", "--set pool.replicas=1000000", "pool.replicas", "found 1000000"),
		withFlags("half a replica", "--set pool.replicas=1.5", "pool.replicas"),
		withFlags("unknown router", "--set pool.router=leastoutstanding --set pool.replicas=2", "pool.router", `"leastoutstanding"`, "least-outstanding"),
		withScenario("unknown key of a pool", small+"\n[pool]\nreplica = 2\n", "s.toml:", "pool.replica", "replicas"),
	}...)
}
