package explain

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/analysis/blame"
	"servesim/report"
	"servesim/sim"
)

// reason says in words what time was spent on.
func reason(c blame.Cause) string {
	switch c {
	case blame.NetworkRequest:
		return "on its way to the engine's queue"
	case blame.InFlight:
		return "waits for the end of the step under way"
	case blame.Ahead:
		return "waits for the step that was planned already"
	case blame.Slots:
		return "queues for a slot: as many sequences run as may"
	case blame.Blocks:
		return "waits for KV blocks: too few are free"
	case blame.Budget:
		return "waits for tokens of the budget: decodes take it"
	case blame.Behind:
		return "waits behind prompts"
	case blame.Order:
		return "queues: the policy admits nobody"
	case blame.Preempted:
		return "is preempted, and waits to be admitted again"
	case blame.LeftOut:
		return "is left out of steps, for want of blocks or budget"
	case blame.NetworkResponse:
		return "the answer is on its way to the client"
	case blame.Failed:
		return "is on a replica that fails, which loses what it did"
	case blame.NoReplica:
		return "waits to be tried again, or for a replica that takes requests"
	case blame.Idle:
		return "nothing runs"
	}
	return c.String()
}

// exactly writes d in ms, to the picosecond.
func exactly(d sim.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	text := fmt.Sprintf("%s%d.%09d", sign, d/sim.Millisecond, d%sim.Millisecond)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// ms writes d in ms for people.
func ms(d sim.Duration) string { return report.Number(d.Milliseconds()) }

// text says what happens in e.
func (e *Event) text(id int64) string {
	p := &e.Parts
	slowed, stalled := p[blame.DecodeSlowed], p[blame.Stalled]
	switch {
	case p[blame.Prefill]+p[blame.PrefillSlowed]+p[blame.Redo] > 0:
		return e.computing(id)
	case e.Batch != nil && stalled > 0:
		return "stands still during a step of " + e.Batch.text(id)
	case e.Batch != nil && slowed > 0:
		return fmt.Sprintf("a token of a step that is %s ms longer for %s", ms(slowed), e.Batch.text(id))
	case p[blame.Decode]+slowed == 0 && stalled > 0:
		return "stands still for prompts in " + analysis.Counted(int64(e.Steps), "step")
	case p[blame.Decode]+slowed+stalled > 0:
		text := "decodes"
		if e.Steps > 0 {
			text += fmt.Sprintf("; of it %s ms for prompts in %s", ms(slowed+stalled), analysis.Counted(int64(e.Steps), "step"))
		}
		return text
	}
	return e.waiting(id)
}

// waiting says what the request waits for in e: each cause and, if there are more, how
// long.
func (e *Event) waiting(id int64) string {
	var words []string
	for c, d := range e.Parts {
		if d <= 0 {
			continue
		}
		text := reason(blame.Cause(c))
		if d < e.Lasts {
			text = ms(d) + " ms " + text
		}
		if e.Batch != nil && blame.Cause(c).Named() {
			text += ": " + e.Batch.text(id)
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

// computing says what of its own prompt the request computes in e.
func (e *Event) computing(id int64) string {
	text := "computes its prompt"
	if e.Parts[blame.Redo] > 0 {
		text = "computes again what the preemption dropped"
	}
	if e.Batch == nil {
		return text
	}
	for _, c := range e.Batch.Prompts {
		if c.ID == id {
			text = fmt.Sprintf("%s, tokens %s to %s", text, grouped(c.From+1), grouped(c.From+c.Tokens))
		}
	}
	var beside []string
	if n := e.Batch.Decodes; n > 0 {
		beside = append(beside, analysis.Counted(int64(n), "decode"))
	}
	if others := e.Batch.text(id); others != "" {
		beside = append(beside, others)
	}
	if beside == nil {
		return text + ", alone"
	}
	return text + ", beside " + strings.Join(beside, " and ")
}

// shownPrompts is the number of prompts of a step that are named.
const shownPrompts = 3

// text names the prompts of b but those of request id.
func (b *Batch) text(id int64) string {
	var words []string
	more := 0
	for _, c := range b.Prompts {
		switch {
		case c.ID == id:
		case len(words) == shownPrompts:
			more++
		case c.Tokens == c.Of:
			words = append(words, fmt.Sprintf("the prompt of %d (%s tokens)", c.ID, grouped(c.Of)))
		default:
			words = append(words, fmt.Sprintf("%s of the %s tokens of %d", grouped(c.Tokens), grouped(c.Of), c.ID))
		}
	}
	if more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}

// sum writes parts as a sum.
func sum(parts *blame.Parts) string {
	var terms []string
	for c, d := range parts {
		if d > 0 {
			terms = append(terms, fmt.Sprintf("%s %s", exactly(d), blame.Cause(c)))
		}
	}
	return strings.Join(terms, " + ")
}

// shownEvents is the most events that are printed whole, half of them at each end.
const shownEvents = 40

// shownCulprits is the number of culprits that are printed.
const shownCulprits = 10

// Write writes the lives for people. The only errors are those of w.
func (l *Lives) Write(w io.Writer) error {
	var b strings.Builder
	for _, f := range l.Result.Facts() {
		b.WriteString(report.Fold(fmt.Sprintf("%-*s%s", report.Hang, f.Name, f.Text), report.Hang) + "\n")
	}
	for i := range l.List {
		b.WriteString("\n")
		l.List[i].write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// write writes one life.
func (l *Life) write(b *strings.Builder) {
	r := &l.Request
	b.WriteString(report.Item("Request", fmt.Sprintf("%d: %s prompt tokens, %s of %s output tokens, %s, arrives at %s s", r.ID,
		grouped(r.Prompt), grouped(r.Output), grouped(r.Wanted), strings.ReplaceAll(r.Outcome.String(), "_", " "), report.Number(r.Arrival.Sub(0).Seconds()))))
	const column = 22
	fmt.Fprintf(b, "%10s  %8s\n", "after ms", "ms")
	told := false
	for i := range l.Events {
		e := &l.Events[i]
		if e.First && !told {
			fmt.Fprintf(b, "%10s  %8s  first token\n", ms(e.After), "")
			told = true
		}
		if n := len(l.Events); n > shownEvents && i >= shownEvents/2 && i < n-shownEvents/2 {
			if i == shownEvents/2 {
				fmt.Fprintf(b, "%10s  %8s  %s more events\n", "...", "...", strconv.Itoa(n-shownEvents))
			}
			continue
		}
		b.WriteString(report.Fold(fmt.Sprintf("%10s  %8s  %s", ms(e.After), ms(e.Lasts), e.text(r.ID)), column) + "\n")
	}
	whole := l.ToFirst.Sum() + l.AfterFirst.Sum()
	fmt.Fprintf(b, "%10s  %8s  end\n\n", ms(whole), "")
	b.WriteString(report.Item("TTFT", l.firstText()))
	if rest := sum(&l.AfterFirst); rest != "" {
		b.WriteString(report.Item("E2E", fmt.Sprintf("%s ms = %s TTFT + %s", exactly(whole), exactly(l.ToFirst.Sum()), rest)))
	}
	if gap := sum(&l.Gap); gap != "" {
		b.WriteString(report.Item("Longest gap", fmt.Sprintf("%s ms = %s", exactly(l.Gap.Sum()), gap)))
	}
	l.culprits(b)
}

// firstText is the time to the first token as a sum.
func (l *Life) firstText() string {
	if l.Request.First < 0 {
		return fmt.Sprintf("none: it ended after %s ms = %s", exactly(l.ToFirst.Sum()), sum(&l.ToFirst))
	}
	return fmt.Sprintf("%s ms = %s", exactly(l.ToFirst.Sum()), sum(&l.ToFirst))
}

// culprits lists whose prompts cost the request most.
func (l *Life) culprits(b *strings.Builder) {
	if len(l.Culprits) == 0 {
		return
	}
	var rows [][]string
	for i, c := range l.Culprits {
		if i == shownCulprits {
			rows = append(rows, []string{fmt.Sprintf("%s more", analysis.Grouped(int64(len(l.Culprits)-i)))})
			break
		}
		rows = append(rows, []string{strconv.FormatInt(c.ID, 10), grouped(c.Prompt), ms(c.Time), c.Cause.String()})
	}
	b.WriteString("\n" + report.Columns([]string{"prompt of", "tokens", "cost it ms", "as"}, 0, rows))
}
