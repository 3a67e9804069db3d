package reproduce

import (
	"strings"
	"testing"

	"servesim/internal/strict"
	"servesim/scenario"
)

// small is a claim that is tested in no time.
const small = `schema = 1
says = "s"
source = "o"
setup = "p"
explanation = "It is {ttft} ms, {ratio} times."

[scenario]
engine = { policy = "vllm@0.20", max_model_len = 4096 }
hardware = { gpu = "h100" }
model = { name = "Llama-3.1-8B" }
workload = { requests = 20, arrival = { process = "poisson", rate_per_s = 4 }, prompt = { dist = "constant", value = 1000 }, output = { dist = "constant", value = 20 } }

[[run]]
name = "one"
seeds = 5

[[run]]
name = "two"
seeds = 5
set = { hardware.tensor_parallel_size = 2 }

[[gaps]]
name = "toy"
population = "9 at 1ms, 1 at 11ms"
answer = 10

[[check]]
name = "ttft"
says = "mean TTFT, ms"
of = "one"
column = "ttft_mean_ms"
from = 1

[[check]]
says = "mean gap, ms"
of = "toy"
column = "itl_mean_ms"
prints = "2.0"

[[fact]]
name = "ratio"
says = "TPOT on 1 / on 2"
of = "one"
over = "two"
column = "tpot_mean_ms"
from = 1
to = 2
`

// smallClaim reads small with pieces of its text replaced.
func smallClaim(pairs ...string) (*Claim, error) {
	text := strings.NewReplacer(pairs...).Replace(small)
	c, faults := read("claims/9-small.toml", text, &scenario.Shelf{})
	return c, strict.Join(faults)
}

// TestBrokenClaims holds that each fault of a file is told with its place and what
// to do.
func TestBrokenClaims(t *testing.T) {
	if _, err := smallClaim(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		old, new string
		want     []string
	}{
		{"schema = 1", "schema = 2", []string{"small.toml:1: schema", "2"}},
		{`says = "s"`, `said = "s"`, []string{`small.toml:2: said: unknown key; did you mean "says"`}},
		{`source = "o"`, "", []string{"source: missing; give a sentence"}},
		{"{ttft}", "{tfft}", []string{`{tfft} stands for nothing`, `did you mean "ttft"`}},
		{"[[check]]", "[[fact]]", []string{"check: missing", "[[check]]"}},
		{`name = "two"`, `name = "one"`, []string{`small.toml:18: run[1].name: found "one", which another run, gaps or call has`}},
		{`name = "ratio"`, `name = "ttft"`, []string{`fact[0].name: found "ttft", which another check or fact has`}},
		{`name = "ratio"`, "", []string{"fact[0].name: missing"}},
		{"seeds = 5\nset", "seeds = 3\nset", []string{"run[1].seeds: found 3; must be 1, of a scenario that draws nothing, or from 5 to 1000", "one is divided by the other"}},
		{"seeds = 5\nset", "seeds = 6\nset", []string{`fact[0].over: found "two"; must be a run of as many seeds as one`}},
		{"tensor_parallel_size = 2", "tensor_parallel_sise = 2", []string{"run[1]", "tensor_parallel_sise", "did you mean"}},
		{"tensor_parallel_size = 2", "tensor_parallel_size = 3", []string{"run[1]", "tensor_parallel_size"}},
		{`gpu = "h100"`, `gpu = "h101"`, []string{"run[0]", "h101"}},
		{`column = "ttft_mean_ms"`, `column = "ttft_mean"`, []string{`unknown column "ttft_mean"`, "ttft_mean_ms"}},
		{`column = "itl_mean_ms"`, `column = "ttft_mean_ms"`, []string{`check[1].column: unknown column "ttft_mean_ms"; did you mean "tpot_mean_ms"`}},
		{`of = "toy"`, `of = "toyy"`, []string{`unknown run, gaps or call "toyy"; did you mean "toy"`, `no check or fact is of "toy"`}},
		{`over = "two"`, `over = "tow"`, []string{`fact[0].over: unknown run, gaps or call "tow"`, `no check or fact is of "two"`}},
		{`over = "two"`, `over = "toy"`, []string{`fact[0].over: found "toy"; must be a run`}},
		{`prints = "2.0"`, "", []string{"check[1]: must have one of about, prints, and the bounds from and to"}},
		{`prints = "2.0"`, "prints = \"2.0\"\nabout = 2", []string{"check[1]: must have one of"}},
		{`prints = "2.0"`, `prints = "2e0"`, []string{`check[1].prints: found "2e0"; must be a decimal number`}},
		{`prints = "2.0"`, "about = 0", []string{"check[1].about: found 0; must be more than 0"}},
		{"from = 1\nto = 2", "from = 3\nto = 2", []string{"its bounds are from 3 to 2"}},
		{"9 at 1ms", "9 at 1", []string{"gaps[0].population", "9 at 1"}},
		{"answer = 10", "answer = 0", []string{"gaps[0].answer: found 0"}},
		{"[[gaps]]", "[[call]]\nname = \"c\"\ntokens = 1\nfirst = \"2s\"\nlast = \"fast\"\n[[gaps]]", []string{"call[0].last", "from 2 to 1,000,000 tokens", `no check or fact is of "c"`}},
		{"requests = 20", "requests = \"many\"", []string{"requests"}},
	} {
		_, err := smallClaim(c.old, c.new)
		if err == nil {
			t.Errorf("%q in the place of %q is taken", c.new, c.old)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q in the place of %q: %q lacks %q", c.new, c.old, err, want)
			}
		}
	}
}

func TestUnknownClaims(t *testing.T) {
	_, err := Claims("dialect", "gaps-7-60", "nothing-like-it")
	if err == nil || !strings.Contains(err.Error(), `unknown claim "dialect"; did you mean "dialects"`) || !strings.Contains(err.Error(), `unknown claim "nothing-like-it"`) {
		t.Errorf("%v", err)
	}
	list, err := Claims("p99-itl", "dialects", "p99-itl")
	if err != nil || len(list) != 2 || list[0].Name != "p99-itl" || list[1].Name != "dialects" {
		t.Errorf("%v, %v; want two claims in the order of Names", list, err)
	}
}

// TestEveryClaim holds what every claim has: an explanation with a computed value
// in it, and no key that a scenario lacks.
func TestEveryClaim(t *testing.T) {
	list, err := Claims()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(Names()) || len(list) < 15 {
		t.Fatalf("%d claims of %d", len(list), len(Names()))
	}
	for _, c := range list {
		if !placeholder().MatchString(c.explanation) {
			t.Errorf("%s: its explanation has no computed value", c.Name)
		}
		for _, f := range c.Facts {
			if !strings.Contains(c.explanation, "{"+f.Name+"}") {
				t.Errorf("%s: its explanation doesn't use the fact %s", c.Name, f.Name)
			}
		}
	}
}
