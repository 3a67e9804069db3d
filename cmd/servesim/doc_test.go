package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// readme is README.md from the tests' folder.
const readme = "../../README.md"

// skipMark is a line of a block that stands for any number of lines.
const skipMark = "..."

// A block is one `$ servesim ...` command of a document and the output below it.
type block struct {
	line    int // of the command, from 1
	args    []string
	want    []string
	command string
}

// blocks returns the command blocks of a Markdown text: in an indented or
// fenced block, a line that begins with "$ servesim " and what follows up to
// the next command or the end of the block.
func blocks(text string) []block {
	var list []block
	open := false
	for i, line := range strings.Split(text, "\n") {
		code, indented := strings.CutPrefix(line, "    ")
		command, isCommand := strings.CutPrefix(code, "$ servesim ")
		switch {
		case indented && isCommand:
			list = append(list, block{line: i + 1, args: shellWords(command), command: command})
			open = true
		case indented && open:
			list[len(list)-1].want = append(list[len(list)-1].want, code)
		case line == "" && open:
			list[len(list)-1].want = append(list[len(list)-1].want, "")
		default:
			open = false
		}
	}
	for i := range list {
		list[i].want = trimBlank(list[i].want)
	}
	return list
}

// shellWords splits a command at spaces outside single and double quotes.
func shellWords(text string) []string {
	var words []string
	word, quote, begun := "", rune(0), false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ':
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	if begun {
		words = append(words, word)
	}
	return words
}

// trimBlank drops empty lines from the end.
func trimBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// shown tells whether got is what a block shows, in which a skipMark stands for
// any number of lines. The first line after a skipMark is the next that is
// equal to it.
func shown(want, got []string) bool {
	skip := false
	for _, w := range want {
		if w == skipMark {
			skip = true
			continue
		}
		for skip && len(got) > 0 && got[0] != w {
			got = got[1:]
		}
		if len(got) == 0 || got[0] != w {
			return false
		}
		got, skip = got[1:], false
	}
	return skip || len(got) == 0
}

// refreshed returns what a block would show of got: its lines with the numbers
// of today, the same ones left out. ok is false if a line isn't there any more.
func refreshed(want, got []string) (lines []string, ok bool) {
	skip := false
	for _, w := range want {
		if w == skipMark {
			lines, skip = append(lines, w), true
			continue
		}
		for skip && len(got) > 0 && withoutNumbers(got[0]) != withoutNumbers(w) {
			got = got[1:]
		}
		if len(got) == 0 {
			return nil, false
		}
		lines, got, skip = append(lines, got[0]), got[1:], false
	}
	if !skip {
		lines = append(lines, got...)
	}
	return lines, true
}

// withoutNumbers returns the words of a line.
func withoutNumbers(line string) string {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("0123456789.,+-<>% ", r) })
	return strings.Join(words, " ")
}

// documents are the files with command blocks, from the tests' folder.
func documents() []string {
	return []string{readme, "../../docs/claim.md", "../../docs/failures.md", "../../docs/prefix-caching.md", enginesPage}
}

// hardwarePage is docs/hardware.md, whose comparisons take half a minute.
const hardwarePage = "../../docs/hardware.md"

// TestHardwarePage holds the same as TestDocuments of hardwarePage.
func TestHardwarePage(t *testing.T) {
	if os.Getenv("SERVESIM_LARGE") == "" {
		t.Skip("set SERVESIM_LARGE=1 to compare the tables of docs/hardware.md")
	}
	shows(t, hardwarePage)
}

// TestDocuments holds that every command in README and the pages prints what they show.
// With -update it rewrites the blocks.
func TestDocuments(t *testing.T) {
	for _, path := range documents() {
		t.Run(filepath.Base(path), func(t *testing.T) { shows(t, path) })
	}
}

// shows holds that every command of a document prints what it shows.
func shows(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	path, err = filepath.Abs(path)
	must(err)
	lines := strings.Split(string(text), "\n")
	list := blocks(string(text))
	if len(list) == 0 {
		t.Fatalf("%s has no command block; it must show what servesim prints", path)
	}
	t.Chdir(filepath.Dir(readme))             // where its reader is
	for _, b := range slices.Backward(list) { // so that lines above stay where they are
		if testing.Short() && b.args[0] == "hardware" {
			continue // a comparison is searches, and those take long under the race detector
		}
		got := trimBlank(strings.Split(ok(t, b.args...), "\n"))
		switch now, ok := refreshed(b.want, got); {
		case shown(b.want, got):
		case *update && ok:
			for i, line := range now {
				now[i] = strings.TrimRight("    "+line, " ")
			}
			lines = slices.Replace(lines, b.line, b.line+len(b.want), now...)
		default:
			t.Errorf("%s:%d: servesim %s prints something else (- the page, + servesim):\n%s", filepath.Base(path), b.line, b.command, cmp.Diff(b.want, got))
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefreshed(t *testing.T) {
	got := []string{"head", "", "TTFT  count  7", "      p50  1,5", "ITL   count  9", "tail"}
	now, ok := refreshed([]string{skipMark, "TTFT  count 12", "      p50 0.3", skipMark, "tail"}, got)
	want := []string{skipMark, "TTFT  count  7", "      p50  1,5", skipMark, "tail"}
	if diff := cmp.Diff(want, now); !ok || diff != "" {
		t.Errorf("%v %s", ok, diff)
	}
	if _, ok := refreshed([]string{skipMark, "gone"}, got); ok {
		t.Error("a line that isn't there was refreshed")
	}
}

func TestShown(t *testing.T) {
	got := []string{"a", "b", "c", "d"}
	for want, ok := range map[string]bool{
		"a b c d": true, "a ... d": true, "... c d": true, "a b ...": true, "...": true, "a ... c d": true, "a ... d ...": true,
		"a b c": false, "a c d": false, "a ... x": false, "... d c": false, "b c d": false, "a b c d e": false,
	} {
		if shown(strings.Fields(want), got) != ok {
			t.Errorf("shown(%q) of a b c d is %v", want, !ok)
		}
	}
}

// TestHelpExamples runs every example of every verb's help. Those that name
// files of the reader's own must only get as far as missing them. In short runs the
// searches that take longest are left out; others search in their place.
func TestHelpExamples(t *testing.T) {
	n := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			command, isCommand := strings.CutPrefix(strings.TrimSpace(line), "servesim ")
			if !isCommand {
				t.Errorf("help of %s: the example %q isn't a servesim command", cmd.Name(), line)
				continue
			}
			n++
			if testing.Short() && (strings.HasPrefix(command, "explain --") || strings.HasPrefix(command, "capacity --")) {
				continue
			}
			inFolder(t, nil)
			o := do(t, shellWords(command)...)
			reads := !strings.Contains(command, "--records") && (strings.Contains(command, ".toml") || strings.Contains(command, ".json") || strings.Contains(command, ".csv") || strings.Contains(command, ".log"))
			if reads {
				if o.code != exitUsage || !strings.Contains(o.stderr, "no such file") {
					t.Errorf("servesim %s: exit %d, stderr %q", command, o.code, o.stderr)
				}
			} else if o.code != exitOK || o.stdout == "" || o.stderr != "" {
				t.Errorf("servesim %s: exit %d, stderr %q", command, o.code, o.stderr)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	root := newRoot(env{})
	visit(root)
	for _, verb := range root.Commands() {
		if verb.Example == "" {
			t.Errorf("help of %s has no example", verb.Name())
		}
	}
	if n < 8 {
		t.Errorf("only %d examples were found", n)
	}
}
