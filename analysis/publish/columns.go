package publish

import (
	"strconv"

	"servesim/sim"
	"servesim/sim/observe"
)

// requestRow is a request in a table, under the names of record files. What did
// not come about is null.
type requestRow struct {
	ID          int64  `parquet:"id"`
	Name        string `parquet:"name,dict"`
	Line        int64  `parquet:"line"`
	Class       string `parquet:"class,dict"`
	Session     int64  `parquet:"session"`
	Priority    int32  `parquet:"priority"`
	Replica     int32  `parquet:"replica"`
	Outcome     string `parquet:"outcome,dict"`
	Reason      string `parquet:"reason,dict"`
	Arrival     int64  `parquet:"arrival_ps"`
	Sent        *int64 `parquet:"sent_ps,optional"`
	Queued      *int64 `parquet:"queued_ps,optional"`
	Scheduled   *int64 `parquet:"scheduled_ps,optional"`
	First       *int64 `parquet:"first_ps,optional"`
	Last        *int64 `parquet:"last_ps,optional"`
	End         int64  `parquet:"end_ps"`
	Response    int64  `parquet:"response_ps"`
	Prompt      int32  `parquet:"prompt"`
	Wanted      int32  `parquet:"wanted"`
	Output      int32  `parquet:"output"`
	Cached      int32  `parquet:"cached"`
	Preemptions int32  `parquet:"preemptions"`
	Computed    int64  `parquet:"computed"`
	Recomputed  int64  `parquet:"recomputed"`
	MaxGap      int64  `parquet:"max_gap_ps"`
	Detour      int64  `parquet:"detour_ps"`
	Attempts    int32  `parquet:"lost_attempts"`
}

// requestRowOf returns the row of r.
func requestRowOf(r *observe.Request) requestRow {
	return requestRow{
		ID: r.ID, Name: r.Name, Line: r.Line, Class: r.Class, Session: r.Session, Priority: r.Priority, Replica: r.Replica,
		Outcome: r.Outcome.String(), Reason: r.Reason,
		Arrival: int64(r.Arrival), Sent: known(r.Sent), Queued: known(r.Queued), Scheduled: known(r.Scheduled),
		First: known(r.First), Last: known(r.Last), End: int64(r.End), Response: int64(r.Response),
		Prompt: r.Prompt, Wanted: r.Wanted, Output: r.Output, Cached: r.Cached, Preemptions: r.Preemptions,
		Computed: r.Computed, Recomputed: r.Recomputed, MaxGap: int64(r.MaxGap), Detour: int64(r.Detour), Attempts: int32(len(r.Attempts)),
	}
}

// known returns t, nil for Never.
func known(t sim.Time) *int64 {
	if t == observe.Never {
		return nil
	}
	n := int64(t)
	return &n
}

// column is a column of the CSV table of requests.
type column struct {
	name string
	text func(*requestRow) string
}

// columns returns those of the CSV table: those of the Parquet table, and what a
// client saw of a completed request in ms.
func columns() []column {
	long := func(of func(*requestRow) int64) func(*requestRow) string {
		return func(r *requestRow) string { return strconv.FormatInt(of(r), 10) }
	}
	short := func(of func(*requestRow) int32) func(*requestRow) string {
		return func(r *requestRow) string { return strconv.FormatInt(int64(of(r)), 10) }
	}
	maybe := func(of func(*requestRow) *int64) func(*requestRow) string {
		return func(r *requestRow) string {
			if n := of(r); n != nil {
				return strconv.FormatInt(*n, 10)
			}
			return ""
		}
	}
	return []column{
		{"id", long(func(r *requestRow) int64 { return r.ID })},
		{"name", func(r *requestRow) string { return r.Name }},
		{"line", long(func(r *requestRow) int64 { return r.Line })},
		{"class", func(r *requestRow) string { return r.Class }},
		{"session", long(func(r *requestRow) int64 { return r.Session })},
		{"priority", short(func(r *requestRow) int32 { return r.Priority })},
		{"replica", short(func(r *requestRow) int32 { return r.Replica })},
		{"outcome", func(r *requestRow) string { return r.Outcome }},
		{"reason", func(r *requestRow) string { return r.Reason }},
		{"arrival_ps", long(func(r *requestRow) int64 { return r.Arrival })},
		{"sent_ps", maybe(func(r *requestRow) *int64 { return r.Sent })},
		{"queued_ps", maybe(func(r *requestRow) *int64 { return r.Queued })},
		{"scheduled_ps", maybe(func(r *requestRow) *int64 { return r.Scheduled })},
		{"first_ps", maybe(func(r *requestRow) *int64 { return r.First })},
		{"last_ps", maybe(func(r *requestRow) *int64 { return r.Last })},
		{"end_ps", long(func(r *requestRow) int64 { return r.End })},
		{"response_ps", long(func(r *requestRow) int64 { return r.Response })},
		{"prompt", short(func(r *requestRow) int32 { return r.Prompt })},
		{"wanted", short(func(r *requestRow) int32 { return r.Wanted })},
		{"output", short(func(r *requestRow) int32 { return r.Output })},
		{"cached", short(func(r *requestRow) int32 { return r.Cached })},
		{"preemptions", short(func(r *requestRow) int32 { return r.Preemptions })},
		{"computed", long(func(r *requestRow) int64 { return r.Computed })},
		{"recomputed", long(func(r *requestRow) int64 { return r.Recomputed })},
		{"max_gap_ps", long(func(r *requestRow) int64 { return r.MaxGap })},
		{"detour_ps", long(func(r *requestRow) int64 { return r.Detour })},
		{"lost_attempts", short(func(r *requestRow) int32 { return r.Attempts })},
		{"ttft_ms", inMS(func(r *requestRow) int64 { return *r.First - r.Arrival })},
		{"tpot_ms", func(r *requestRow) string {
			if r.Output < 2 {
				return ""
			}
			return inMS(func(r *requestRow) int64 { return (*r.Last - *r.First + int64(r.Output-1)/2) / int64(r.Output-1) })(r)
		}},
		{"e2e_ms", inMS(func(r *requestRow) int64 { return *r.Last + r.Response - r.Arrival })},
	}
}

// inMS writes a span of a completed request that has tokens in ms, exactly.
func inMS(of func(*requestRow) int64) func(*requestRow) string {
	return func(r *requestRow) string {
		if r.Outcome != observe.Completed.String() || r.First == nil || r.Last == nil {
			return ""
		}
		return string(appendTime(nil, sim.Duration(of(r)), inMilliseconds))
	}
}
