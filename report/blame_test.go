package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"servesim/analysis/blame"
)

// TestBlameOfNothing holds that no data is said to be none.
func TestBlameOfNothing(t *testing.T) {
	r, err := blame.New(blame.Options{}).Report()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Blame(&b, r); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "no data"); n != 37 || !strings.Contains(b.String(), "a request lost 0 ms between") {
		t.Errorf("%d times no data:\n%s", n, b.String())
	}
	b.Reset()
	if err := writeJSON(&b, object{BlameMember(r)}); err != nil || strings.Count(b.String(), "null") != 12 {
		t.Error(err, b.String())
	}
	if err := Blame(full{}, r); !errors.Is(err, errFull) {
		t.Error(err)
	}
}
