package pagecheck

import (
	"path/filepath"
	"testing"
)

// TestSweep opens the page of the sweep of the examples.
func TestSweep(t *testing.T) {
	ctx := browser(t)
	path := written(t, "sweep", "examples/sweep/chunks.toml", "--out", filepath.Join(t.TempDir(), "out"))
	x := newTab(t, ctx, path, 1440, 900)
	x.shot("sweep", false)
	look(x, "sweep")
	plain(t, x, path, "sweep")
}
