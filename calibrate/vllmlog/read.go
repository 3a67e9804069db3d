package vllmlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"servesim/internal/infile"
)

// maxLine is the longest line in bytes that is read.
const maxLine = 1 << 20

// A pattern is a line that the reader knows.
type pattern struct {
	// mark stands in every such line, and nothing else has it.
	mark string
	form *regexp.Regexp
	want string // what the line looks like, for faults
	take func(match []string, line int)
}

// A reader is the state of Read.
type reader struct {
	log      *Log
	patterns []pattern
	starts   map[string]int // line of the start of the engine, by its process
	faults   infile.Faults
}

// Read reads the log of one start of a server; name is what errors call it. The
// error is an *infile.Faults, each with its line: a known line whose figures cannot
// be read, a second start. A log without any known line is a fault too.
func Read(r io.Reader, name string) (*Log, error) {
	d := &reader{log: &Log{Name: name}, starts: map[string]int{}}
	d.patterns = append(d.startPatterns(), d.settingPatterns()...)
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	for s.Scan() {
		d.log.Lines++
		d.line(clean(s.Text()), d.log.Lines)
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		d.fault(d.log.Lines+1, "", fmt.Sprintf("a line of more than %d bytes, which no line of vLLM's has", maxLine), "a log", "")
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if d.faults.Len() == 0 && d.log.Start.Empty() && len(d.log.Stats) == 0 {
		d.fault(0, "", "no line of vLLM's",
			"one of its memory, such as \"GPU KV cache size: 420,880 tokens\", or of its statistics, such as \"Avg generation throughput: 512.0 tokens/s, Running: 16 reqs\"",
			"give a server's log at level INFO")
	}
	if err := d.faults.Err(); err != nil {
		return nil, err
	}
	return d.log, nil
}

// fault adds what is wrong with a line, or with the file at line 0, as infile.Fault
// says it.
func (d *reader) fault(line int, field, found, want, fix string) {
	d.faults.Add(&infile.Fault{File: d.log.Name, Line: int64(line), Field: field, Found: found, Want: want, Fix: fix})
}

// line takes one line.
func (d *reader) line(text string, n int) {
	if strings.Contains(text, statsMark) {
		d.stats(text, n)
		return
	}
	for _, p := range d.patterns {
		if !strings.Contains(text, p.mark) {
			continue
		}
		m := p.form.FindStringSubmatch(text)
		if m == nil {
			d.fault(n, "", quote(text[strings.Index(text, p.mark):]), fmt.Sprintf("a line such as %q", p.want), "")
			continue
		}
		p.take(m, n)
	}
}

// clean takes the escape sequences of colours out of a line.
func clean(text string) string {
	for {
		begin := strings.Index(text, "\x1b[")
		if begin < 0 {
			return text
		}
		end := strings.IndexByte(text[begin:], 'm')
		if end < 0 {
			return text
		}
		text = text[:begin] + text[begin+end+1:]
	}
}

// quote quotes the beginning of text for a fault.
func quote(text string) string { return infile.Quote([]byte(text)) }

// number reads a number with commas between thousands.
func number(text string) (float64, error) {
	return strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
}

// process returns the process that a line is of by the last prefix such as
// "(EngineCore_DP0 pid=9)" in what stands before its text, or "". Processes of one
// name, such as actors, are told apart by all of the prefix, but an engine that was
// started again is of the same name.
func process(before string) string {
	end := strings.LastIndexByte(before, ')')
	begin := strings.LastIndexByte(before[:max(0, end)], '(')
	if begin < 0 || !strings.Contains(before[begin:end], "pid=") {
		return ""
	}
	prefix := before[begin+1 : end]
	if name, _, _ := strings.Cut(prefix, " "); strings.HasPrefix(name, "EngineCore") {
		return name
	}
	return prefix
}
