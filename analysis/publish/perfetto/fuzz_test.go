package perfetto_test

import (
	"bytes"
	"testing"

	"servesim/analysis/publish/perfetto"
	"servesim/sim/observe"
)

// FuzzRecords writes timelines of files of records that anybody may have made: whatever
// the reader takes, the writer refuses or draws as a trace that is well formed.
func FuzzRecords(f *testing.F) {
	r, _ := simulated(f, "requests=3", "classes=[]", `prompt={dist="uniform", min=600, max=700}`, `output={dist="uniform", min=1, max=4}`, "max_num_batched_tokens=512")
	var file bytes.Buffer
	w, err := observe.NewWriter(&file, r.header)
	if err != nil {
		f.Fatal(err)
	}
	r.replay(f, w)
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes(), "all")
	f.Add(file.Bytes(), "worst=1")
	for _, swap := range [][2]string{{`"replica":0`, `"replica":-1`}, {`"replica":0`, `"replica":2147483647`}, {`"steps":1`, `"steps":9`}, {`"name":""`, `"name":"\u0000\u202e</script>"`}, {`"prompt":600`, `"prompt":0`}} {
		f.Add(bytes.ReplaceAll(file.Bytes(), []byte(swap[0]), []byte(swap[1])), "all")
	}
	f.Fuzz(func(t *testing.T, file []byte, window string) {
		c, err := perfetto.ParseChoice(window)
		if err != nil {
			return
		}
		reader, err := observe.NewReader(bytes.NewReader(file), "records")
		if err != nil {
			return
		}
		r := &record{header: reader.Header()}
		if reader.Replay(r) != nil || r.long() {
			return
		}
		run := perfetto.Run{Header: r.header}
		plan := c.Plan()
		if c.Twice() {
			s := perfetto.NewScout(c, &run.SLO)
			if r.give(s) != nil {
				return
			}
			plan = s.Plan()
		}
		var out bytes.Buffer
		to := perfetto.New(&out, run, plan)
		if r.give(to) != nil {
			return
		}
		if _, err := to.Close(); err != nil {
			return
		}
		if _, err := validate(out.Bytes()); err != nil {
			t.Fatal(err)
		}
	})
}

// long tells whether the steps are more than a quick test writes.
func (r *record) long() bool {
	n := int64(0)
	for _, s := range r.steps {
		if n += s.Steps; s.Steps > 1000 || n > 10_000 {
			return true
		}
	}
	return false
}

// give gives the records to a sink until it refuses one.
func (r *record) give(to observe.Sink) error {
	for _, x := range r.all {
		var err error
		switch x := x.(type) {
		case *observe.StepRun:
			err = to.Step(x)
		case *observe.Request:
			err = to.Request(x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
