package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTimelinePage holds that the commands of the page about timelines print what it
// shows, on stderr too.
func TestTimelinePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/timeline.md")
	if err != nil {
		t.Fatal(err)
	}
	list := blocks(string(page))
	if len(list) == 0 {
		t.Fatal("the page has no command block")
	}
	t.Chdir(t.TempDir())
	for _, b := range list {
		o := do(t, b.args...)
		if got := trimBlank(strings.Split(o.stderr+o.stdout, "\n")); o.code != exitOK || !shown(b.want, got) {
			t.Errorf("docs/timeline.md:%d: %s", b.line, cmp.Diff(b.want, got))
		}
	}
	for line := range strings.Lines(string(page)) { // the others, of a shorter run
		if command, is := strings.CutPrefix(line, "    servesim "); is && !strings.HasPrefix(command, "servesim: ") && !strings.Contains(command, ":") {
			ok(t, append(shellWords(strings.TrimSpace(command)), "--set", "requests=600")...)
		}
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 3 {
		t.Errorf("%v %v", files, err)
	}
}
