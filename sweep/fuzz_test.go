package sweep

import "testing"

// FuzzReadPlan holds that a plan of any content is either a fault or a plan with
// points, each with a setting for every axis that its part of the plan has.
func FuzzReadPlan(f *testing.F) {
	f.Add(grid)
	f.Add("schema = 1\n[windows]\nwidth = \"30s\"\ncount = 2\n")
	f.Add("schema = 1\n[sample]\nmethod = \"random\"\npoints = 3\n[sample.keys]\nseed = { low = 1, high = 9 }\npolicy = [\"a\"]\n")
	f.Add("schema = 1\n[[list]]\nmodel = { name = \"x\" }\n[grid]\narrival.rates_per_s = [[1, 2], [3]]\n")
	f.Add("schema = 1\n[set]\nnetwork.request = { dist = \"constant\", value = \"1ms\" }\n[grid]\ntrace = [\"a.csv\", \"-\"]\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadPlan("plan.toml", text)
		if err != nil {
			if err.Error() == "" {
				t.Error("a fault without a text")
			}
			return
		}
		n := p.Len()
		if n < 1 || n > maxPoints {
			t.Fatalf("%d points", n)
		}
		for _, i := range []int{0, n - 1} {
			if len(p.settings(i)) == 0 && p.cases == nil {
				t.Errorf("point %d of %d changes nothing", i, n)
			}
		}
	})
}
