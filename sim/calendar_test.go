package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func ExampleCalendar() {
	var c Calendar[string]
	c.Book(20, Choice, "form a batch")
	c.Book(20, Fact, "a request arrives")
	c.Book(10, Choice, "go idle")
	c.Book(20, Fact, "another arrives")
	err := c.Run(func(what string) error {
		fmt.Println(int64(c.Now()), what)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 10 go idle
	// 20 a request arrives
	// 20 another arrives
	// 20 form a batch
	// <nil>
}

func TestCalendarOrder(t *testing.T) {
	var c Calendar[string]
	for _, b := range []struct {
		at    Time
		turn  Turn
		event string
	}{
		{50, Choice, "l"}, {10, Fact, "c"}, {0, Choice, "b"}, {10, Choice, "f"}, {0, Fact, "a"}, {10, Fact, "d"},
		{MaxTime, Fact, "m"}, {30, Choice, "i"}, {10, Choice, "g"}, {30, Fact, "h"}, {10, Fact, "e"}, {50, Fact, "j"}, {50, Fact, "k"},
	} {
		c.Book(b.at, b.turn, b.event)
	}
	got := ""
	for c.Len() > 0 {
		got += c.Pop()
	}
	if got != "abcdefghijklm" {
		t.Errorf("the events come in the order %s", got)
	}
}

// booking is an event of the model that a Calendar is compared with.
type booking struct {
	at   Time
	turn Turn
	n    int
}

// TestCalendarAgainstSorting does to a calendar and to a sorted list the same.
func TestCalendarAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Calendar[booking]
		var model []booking
		now, n := Time(0), 0
		first := func() booking {
			return slices.MinFunc(model, func(a, b booking) int {
				return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.turn, b.turn), cmp.Compare(a.n, b.n))
			})
		}
		forget := func(b booking) {
			model = slices.DeleteFunc(model, func(x booking) bool { return x.n == b.n })
		}
		check := func(what string, got, want booking) {
			if got != want {
				t.Fatalf("%s gives %v; want %v", what, got, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"book": func(t *rapid.T) {
				b := booking{now + Time(rapid.Int64Range(0, 5).Draw(t, "later")), rapid.SampledFrom([]Turn{Fact, Choice}).Draw(t, "turn"), n}
				n++
				c.Book(b.at, b.turn, b)
				model = append(model, b)
			},
			"pop": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("empty")
				}
				want := first()
				check("Peek", c.Peek(), want)
				check("Pop", c.Pop(), want)
				now = want.at
				forget(want)
			},
			"discard": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("empty")
				}
				forget(first())
				c.Discard()
			},
			"": func(t *rapid.T) {
				if c.Now() != now || c.Len() != len(model) {
					t.Fatalf("now %d with %d booked; want %d with %d", c.Now(), c.Len(), now, len(model))
				}
				at, ok := c.Next()
				if ok != (len(model) > 0) || ok && at != first().at {
					t.Fatalf("Next gives %d, %v with %v booked", at, ok, model)
				}
			},
		})
	})
}

func TestDiscardLeavesNow(t *testing.T) {
	var c Calendar[int]
	c.Book(5, Fact, 1)
	c.Book(9, Fact, 2)
	c.Pop()
	c.Discard()
	if c.Now() != 5 || c.Len() != 0 {
		t.Errorf("now %d with %d booked; want 5 with none", c.Now(), c.Len())
	}
	c.Book(6, Fact, 3) // before what was discarded, and not in the past
	if got := c.Pop(); got != 3 || c.Now() != 6 {
		t.Errorf("%d at %d; want 3 at 6", got, c.Now())
	}
}

func TestBookBeforeNow(t *testing.T) {
	defer func() {
		if got := recover(); got != "sim: booking for 1s, which is before now, 2s" {
			t.Errorf("Book panics with %v", got)
		}
	}()
	var c Calendar[int]
	c.Book(Time(2*Second), Fact, 1)
	c.Pop()
	c.Book(Time(Second), Fact, 2)
	t.Error("Book takes an event of the past")
}

func TestRunStopsAtAnError(t *testing.T) {
	var c Calendar[int]
	full := errors.New("the disk is full")
	for i, at := range []Time{0, Time(1500 * Millisecond), Time(2 * Second)} {
		c.Book(at, Fact, i)
	}
	err := c.Run(func(i int) error {
		if i == 1 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || err.Error() != "at 1.5s: the disk is full" {
		t.Errorf("Run returns %v", err)
	}
	if c.Len() != 1 || c.Peek() != 2 {
		t.Errorf("%d events are left; want the last one", c.Len())
	}
}

func TestRunSeesWhatEventsBook(t *testing.T) {
	var c Calendar[int]
	c.Book(0, Fact, 3)
	var seen []Time
	err := c.Run(func(left int) error {
		seen = append(seen, c.Now())
		if left > 0 {
			c.Book(c.Now().Add(2), Fact, left-1)
		}
		return nil
	})
	if !slices.Equal(seen, []Time{0, 2, 4, 6}) || err != nil {
		t.Errorf("events at %v, %v", seen, err)
	}
}

func TestCalendarDoesNotAllocate(t *testing.T) {
	var c Calendar[[4]int64]
	for i := range 1000 {
		c.Book(Time(i), Fact, [4]int64{})
	}
	if n := testing.AllocsPerRun(1000, func() { c.Book(c.Now()+500, Choice, c.Pop()) }); n != 0 {
		t.Errorf("%v allocations for a Pop and a Book", n)
	}
}

func BenchmarkCalendar(b *testing.B) {
	for _, size := range []int{4, 1_000, 100_000} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			var c Calendar[[3]int64] // as large as an event of the engine
			src := Seed(1).Stream("benchmark")
			for range size {
				c.Book(Time(src.Uint64()>>24), Fact, [3]int64{})
			}
			b.ReportAllocs()
			for b.Loop() {
				e := c.Pop()
				c.Book(c.Now()+Time(src.Uint64()>>24), Fact, e)
			}
		})
	}
}
