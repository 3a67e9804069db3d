package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Folding loses no word, and a line is too long only if it is one word.
func TestFoldLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zµ0-9]{1,40}[,;]?`), 1, 30).Draw(t, "words")
		if rapid.Bool().Draw(t, "long") {
			words[len(words)/2] = strings.Repeat("x", 130)
		}
		hang := rapid.IntRange(0, 20).Draw(t, "hang")
		text := strings.Join(words, " ")
		lines := strings.Split(Fold(strings.Repeat(" ", hang)+text, hang), "\n")
		var got []string
		for i, l := range lines {
			if i > 0 && !strings.HasPrefix(l, strings.Repeat(" ", hang)) {
				t.Errorf("line %d isn't indented by %d: %q", i+1, hang, l)
			}
			if n := len(strings.Fields(l)); utf8.RuneCountInString(l) > Width && n > 1 {
				t.Errorf("%d words in %d columns: %q", n, utf8.RuneCountInString(l), l)
			}
			got = append(got, strings.Fields(l)...)
		}
		if diff := cmp.Diff(words, got); diff != "" {
			t.Error(diff)
		}
		if utf8.RuneCountInString(text)+hang <= Width && len(lines) != 1 {
			t.Errorf("a line that fits is folded: %q", lines)
		}
	})
}

func TestItemByHand(t *testing.T) {
	list := "max_num_batched_tokens 8192, max_num_seqs 1024, max_model_len 131072, long_prefill_token_threshold 512, async"
	want := "Engine      max_num_batched_tokens 8192, max_num_seqs 1024,\n" +
		"            max_model_len 131072, long_prefill_token_threshold 512, async\n"
	if diff := cmp.Diff(want, Item("Engine", list)); diff != "" {
		t.Error(diff)
	}
	prose := strings.Repeat("words without any comma ", 6)
	want = "Caution     words without any comma words without any comma words without any\n" +
		"            comma words without any comma words without any comma words without\n" +
		"            any comma\n"
	if diff := cmp.Diff(want, Item("Caution", prose)); diff != "" {
		t.Error(diff)
	}
	waited := strings.Repeat("the last of them waited so long ", 2) + "as all the others do: 95,000 s in the mean"
	want = "Warning     the last of them waited so long the last of them waited so long as\n" +
		"            all the others do: 95,000 s in the mean\n"
	if diff := cmp.Diff(want, Item("Warning", waited)); diff != "" {
		t.Error(diff)
	}
	if got := Item("", ""); got != "\n" {
		t.Errorf("an empty item is %q", got)
	}
}
