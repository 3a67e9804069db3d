package report

import (
	"bytes"
	"errors"
	"testing"

	"servesim/analysis"
)

// documents is one of each kind of document.
func documents(t *testing.T) map[string]*Document {
	t.Helper()
	more := []Member{{"trace", map[string]int{"rows": 200}}}
	return map[string]*Document{
		"run":        {Run: summary(t), Before: "before\n", After: "after\n", Members: more},
		"nothing":    {Run: analysis.NewSummary(analysis.Options{}).Report()},
		"comparison": {Comparison: comparison(t, 300, 40), Before: "before\n", Members: more},
	}
}

// Contract: a format writes every kind of document, the same bytes each time, whole
// lines, with what was given beside the numbers; and says when it can't.
func TestFormats(t *testing.T) {
	for _, f := range Formats() {
		if found, err := FindFormat(f.Name()); err != nil || found != f || f.Title() == "" {
			t.Errorf("%s: %v, %v", f.Name(), found, err)
		}
		for kind, d := range documents(t) {
			var once, again bytes.Buffer
			if err := errors.Join(f.Write(&once, d), f.Write(&again, d)); err != nil {
				t.Errorf("%s of %s: %v", f.Name(), kind, err)
			}
			if !bytes.Equal(once.Bytes(), again.Bytes()) || !bytes.HasSuffix(once.Bytes(), []byte("\n")) {
				t.Errorf("%s of %s: %d bytes, then %d", f.Name(), kind, once.Len(), again.Len())
			}
			if kind != "nothing" && !bytes.Contains(once.Bytes(), []byte("before")) && !bytes.Contains(once.Bytes(), []byte(`"rows": 200`)) {
				t.Errorf("%s of %s tells nothing of what ran", f.Name(), kind)
			}
			if err := f.Write(full{}, d); !errors.Is(err, errFull) {
				t.Errorf("%s of %s on a full disk: %v", f.Name(), kind, err)
			}
		}
	}
	if _, err := FindFormat("yaml"); err == nil || err.Error() != `no format is called "yaml"; allowed are text, json` {
		t.Error(err)
	}
}
