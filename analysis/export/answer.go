package export

import (
	"encoding/json"
	"strings"

	"servesim/analysis/transcript"
	"servesim/sim"
)

// answer puts the chunks of a streamed answer together from its messages, which
// are server-sent events with JSON in them.
type answer struct {
	chunks []transcript.Chunk
	// text is the number of chunks with text.
	text int32
	// made is the number of tokens that the engine has told so far, in usage;
	// counted tells that it told it with every chunk with text.
	prompt, made, cached int32
	told, counted        bool
	// err is an error that came in place of text, odd what was not understood.
	err string
	odd []string
}

// message is what a message may hold, of OpenAI's completions and chat, of
// Triton's generate, and of Hugging Face's.
type message struct {
	Choices []struct {
		Delta, Message *delta
		Text           *string
		FinishReason   *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt  int32 `json:"prompt_tokens"`
		Output  int32 `json:"completion_tokens"`
		Details *struct {
			Cached int32 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	TextOutput    *string         `json:"text_output"`
	GeneratedText *string         `json:"generated_text"`
	Error         json.RawMessage `json:"error"`
}

// delta is a part of a chat's answer.
type delta struct {
	Content          *string
	ReasoningContent *string         `json:"reasoning_content"`
	Reasoning        *string         `json:"reasoning"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
}

// textMessage returns the message of Triton with text.
func textMessage(text string) string {
	quoted, _ := json.Marshal(text) // a string never fails
	return `{"text_output":` + string(quoted) + "}"
}

// splinter cuts off the beginning of a response that is the end of a message.
func splinter(text string) (rest, own string) {
	start := strings.TrimLeft(text, " \r\n")
	for _, mark := range []string{"data:", "event:", ":", "id:", "retry:", "{", "["} {
		if start == "" || strings.HasPrefix(start, mark) {
			return "", text
		}
	}
	if i := strings.Index(text, "data: "); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// response takes in a response, which came at at and may hold several messages.
func (a *answer) response(at sim.Duration, text string) {
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		var data []string
		for line := range strings.SplitSeq(strings.TrimSpace(part), "\n") {
			body, isData := strings.CutPrefix(line, "data:")
			if name, _, _ := strings.Cut(line, ":"); !isData && (name == "event" || name == "id" || name == "retry" || name == "") {
				continue
			}
			data = append(data, strings.TrimSpace(body))
		}
		if body := strings.Join(data, "\n"); body != "" {
			a.message(sim.Time(at), body)
		}
	}
}

// message takes in one message.
func (a *answer) message(at sim.Time, body string) {
	c := transcript.Chunk{At: at, Kind: transcript.Done}
	if body == "[DONE]" {
		a.chunks = append(a.chunks, c)
		return
	}
	var m message
	if body[0] == '[' { // Hugging Face's
		body = strings.TrimSuffix(strings.TrimPrefix(body, "["), "]")
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		a.odd = append(a.odd, "responses that are no JSON, left out")
		return
	}
	if len(m.Error) > 0 && string(m.Error) != "null" {
		a.err = string(m.Error)
		return
	}
	if c.Kind = m.kind(); c.Kind == transcript.Content || c.Kind == transcript.Reasoning || c.Kind == transcript.Tool {
		if a.text == 0 {
			a.counted = true
		}
		a.text++
		c.Tokens = transcript.Unknown
		a.counted = a.counted && m.Usage != nil
	}
	if u := m.Usage; u != nil {
		if c.Tokens == transcript.Unknown {
			c.Tokens = max(u.Output-a.made, 0)
		}
		a.told, a.prompt, a.made = true, u.Prompt, u.Output
		if u.Details != nil {
			a.cached = u.Details.Cached
		}
	}
	a.chunks = append(a.chunks, c)
}

// kind tells what m carries.
func (m *message) kind() transcript.Kind {
	is := func(s *string) bool { return s != nil && *s != "" }
	if is(m.TextOutput) || is(m.GeneratedText) {
		return transcript.Content
	}
	if len(m.Choices) == 0 {
		if m.TextOutput != nil || m.GeneratedText != nil {
			return transcript.Role
		}
		return transcript.Usage
	}
	ch := &m.Choices[0]
	d := ch.Delta
	if d == nil {
		d = ch.Message
	}
	switch {
	case is(ch.Text), d != nil && is(d.Content):
		return transcript.Content
	case d != nil && (is(d.ReasoningContent) || is(d.Reasoning)):
		return transcript.Reasoning
	case d != nil && len(d.ToolCalls) > 0 && string(d.ToolCalls) != "null" && string(d.ToolCalls) != "[]":
		return transcript.Tool
	case is(ch.FinishReason):
		return transcript.Finish
	}
	return transcript.Role
}

// finish gives the chunks and the counts of tokens to a call.
func (a *answer) finish(c *transcript.Call) {
	c.Chunks = a.chunks
	if n := len(a.chunks); n > 0 {
		c.Closed = a.chunks[n-1].At
	}
	if a.told {
		c.Prompt, c.Output, c.Cached = a.prompt, a.made, a.cached
	}
	if a.counted {
		return
	}
	for i := range c.Chunks {
		if k := &c.Chunks[i]; k.Kind == transcript.Content || k.Kind == transcript.Reasoning || k.Kind == transcript.Tool {
			k.Tokens = transcript.Unknown
			if a.told && a.text == a.made {
				k.Tokens = 1
			}
		}
	}
}
