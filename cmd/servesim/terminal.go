package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// ofProcess returns the world of the process: what its terminal and its environment
// ask for.
func ofProcess() env {
	terminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	return env{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, tty: terminal(os.Stderr),
		colour: terminal(os.Stdout) && coloured(os.Getenv), blocks: unicodeLocale(os.Getenv),
	}
}

// coloured tells whether the environment lets a terminal have colours: no-color.org
// has NO_COLOR of any value forbid them.
func coloured(get func(string) string) bool { return get("NO_COLOR") == "" && get("TERM") != "dumb" }

// unicodeLocale tells whether the environment's characters are UTF-8, by the first of
// the variables that is set, as POSIX has it.
func unicodeLocale(get func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(get(name)); v != "" {
			return strings.HasSuffix(v, "utf-8") || strings.HasSuffix(v, "utf8")
		}
	}
	return false
}

// A level is how much is said on stderr besides errors.
type level struct{ quiet, verbose bool }

// bind adds the flags of all verbs.
func (l *level) bind(root *cobra.Command) {
	f := root.PersistentFlags()
	f.BoolVarP(&l.quiet, "quiet", "q", false, "say nothing on stderr but errors: no progress, no notes")
	f.BoolVarP(&l.verbose, "verbose", "v", false, "say on stderr what was simulated, and how long it took")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if l.quiet && l.verbose {
			return usagef("--quiet and --verbose ask for opposites; leave one out")
		}
		return nil
	}
}

// A voice is a writer that says nothing to who wants it quiet.
type voice struct {
	out   io.Writer
	level *level
}

// Write implements io.Writer.
func (v *voice) Write(p []byte) (int, error) {
	if v.level.quiet {
		return len(p), nil
	}
	return v.out.Write(p)
}

// took says to who wants to know how long something took, since an instant.
func (e env) took(what string, since time.Time) {
	if e.level != nil && e.level.verbose {
		say(e.stderr, fmt.Sprintf("%s in %.2f s", what, time.Since(since).Seconds()))
	}
}

// verdictColours are the words that stand out on a terminal, with the number of the
// colour of each: green, red, yellow.
func verdictColours() [][2]string {
	return [][2]string{{"PASS", "32"}, {"FAIL", "31"}, {"TOO CLOSE TO CALL", "33"}}
}

// A painter is a writer that colours verdicts in text for people, line by line. What
// begins as JSON it leaves alone.
type painter struct {
	out   io.Writer
	begun bool
	plain bool
	line  []byte
}

// Write implements io.Writer.
func (p *painter) Write(b []byte) (int, error) {
	if !p.begun && len(b) > 0 {
		p.begun, p.plain = true, b[0] == '{' || b[0] == '['
	}
	if p.plain {
		return p.out.Write(b)
	}
	p.line = append(p.line, b...)
	at := bytes.LastIndexByte(p.line, '\n') + 1
	whole := painted(string(p.line[:at]))
	p.line = append(p.line[:0], p.line[at:]...)
	if _, err := io.WriteString(p.out, whole); err != nil {
		return 0, err
	}
	return len(b), nil
}

// flush writes what is left of a last line.
func (p *painter) flush() error {
	if len(p.line) == 0 {
		return nil
	}
	_, err := io.WriteString(p.out, painted(string(p.line)))
	p.line = p.line[:0]
	return err
}

// painted returns text with its verdicts in colour: those that aren't a part of a
// word.
func painted(text string) string {
	for _, v := range verdictColours() {
		var b strings.Builder
		for {
			before, after, found := strings.Cut(text, v[0])
			b.WriteString(before)
			if !found {
				break
			}
			if letter(before, len(before)-1) || letter(after, 0) {
				b.WriteString(v[0])
			} else {
				b.WriteString("\x1b[1;" + v[1] + "m" + v[0] + "\x1b[0m")
			}
			text = after
		}
		text = b.String()
	}
	return text
}

// letter tells whether there is a letter at byte i of text.
func letter(text string, i int) bool {
	return i >= 0 && i < len(text) && (text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z' || text[i] == '_')
}
