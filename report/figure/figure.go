package figure

// A Figure is what a picture shows.
type Figure struct {
	// Kind is the name that it is asked for by, such as "ccdf".
	Kind string `json:"kind"`
	// Title says in a few words what is shown.
	Title string `json:"title"`
	// Panels are drawn in rows of Columns panels, from the left, each column as wide
	// as its share in Widths. Where Widths is empty columns are as wide as each other.
	Panels  []Panel   `json:"panels"`
	Columns int       `json:"columns"`
	Widths  []float64 `json:"widths,omitempty"`
	// Caption says what the figure rests on: how many requests, gaps, steps.
	Caption string `json:"caption"`
	// Text says what is seen, for those who don't see it.
	Text string `json:"text"`
}

// complete returns f with lists that are empty in the place of those that are missing,
// so that in JSON each is a list.
func (f *Figure) complete() *Figure {
	fill := func(v *[]float64) {
		if *v == nil {
			*v = []float64{}
		}
	}
	for i := range f.Panels {
		p := &f.Panels[i]
		if p.Series == nil {
			p.Series = []Series{}
		}
		if p.Marks == nil {
			p.Marks = []Mark{}
		}
		for k := range p.Series {
			fill(&p.Series[k].X)
			fill(&p.Series[k].Y)
		}
	}
	if f.Panels == nil {
		f.Panels = []Panel{}
	}
	return f
}

// A Panel is a pair of axes and what is drawn in them.
type Panel struct {
	// Title names what is only in this panel, such as a run; it may be empty.
	Title  string   `json:"title"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series"`
	Marks  []Mark   `json:"marks"`
}

// A Scale says how values are laid out along an axis.
type Scale string

// The scales.
const (
	Linear Scale = "linear"
	// Log is logarithmic: all values are above 0.
	Log Scale = "log"
	// Names is a place for each of Axis.Names, from 0.
	Names Scale = "names"
)

// An Axis is one of a panel.
type Axis struct {
	// Label says what values are, and Unit what they are in: "ms", "s", "tokens",
	// "%", or nothing.
	Label string `json:"label"`
	Unit  string `json:"unit"`
	Scale Scale  `json:"scale"`
	// Min and Max are the range to show, Min below Max. Panels of one figure that
	// are to be compared have the same.
	Min float64 `json:"min"`
	Max float64 `json:"max"`
	// Names are the places of an axis of names.
	Names []string `json:"names,omitempty"`
}

// A Shape says how the points of a series are drawn.
type Shape string

// The shapes.
const (
	// Line joins points in order.
	Line Shape = "line"
	// Steps holds the value of each point until the next.
	Steps Shape = "steps"
	// Dots draws each point alone.
	Dots Shape = "dots"
	// Stems draws each point and a line from it down to the axis.
	Stems Shape = "stems"
	// Bars draws a bar from Low to High along the x axis at each point, Y being a
	// place of an axis of names.
	Bars Shape = "bars"
)

// A Role says what a series means, from which drawers choose how it looks.
type Role string

// The roles. Index of a series tells apart those of one role.
const (
	// RoleRun is a run, or a group of runs, of several that are compared.
	RoleRun Role = "run"
	// RolePercentile is one of some statistics of the same runs, the more of the
	// tail the higher its index.
	RolePercentile Role = "percentile"
	// RoleUsual is what is nobody's doing, as gaps without a prompt beside them.
	RoleUsual Role = "usual"
	// RoleStall is gaps that a prompt made longer, the longer the prompt the higher
	// the index.
	RoleStall Role = "stall"
	// RolePrefill and RoleDecode are the two kinds of work of a step.
	RolePrefill Role = "prefill"
	RoleDecode  Role = "decode"
	// RoleCause is a part of a latency; Index is that of the cause in package blame.
	RoleCause Role = "cause"
	// RoleBest is the points that none other beats.
	RoleBest Role = "best"
)

// A Series is points of one meaning.
type Series struct {
	Label string    `json:"label"`
	Role  Role      `json:"role"`
	Index int       `json:"index"`
	Shape Shape     `json:"shape"`
	X     []float64 `json:"x"`
	Y     []float64 `json:"y"`
	// Low and High are the ends of the 95 % interval of each Y, or of each bar; nil
	// if there are none.
	Low  []float64 `json:"low,omitempty"`
	High []float64 `json:"high,omitempty"`
	// Notes say more of each point, and IDs name the request that each is due to, -1
	// where there is none; nil if there is nothing to say.
	Notes []string `json:"notes,omitempty"`
	IDs   []int64  `json:"ids,omitempty"`
	// Tags are written beside points; nil if there are none.
	Tags []string `json:"tags,omitempty"`
}

// A MarkKind says what a mark is of.
type MarkKind string

// The kinds of marks.
const (
	// Percentile is a percentile of what the panel shows.
	Percentile MarkKind = "percentile"
	// Worst is its largest value.
	Worst MarkKind = "worst"
	// Limit is a limit that the run has to keep.
	Limit MarkKind = "limit"
)

// A Mark is a line across a panel.
type Mark struct {
	Kind MarkKind `json:"kind"`
	// Label says what it is and its value, such as "P99 71.5 ms".
	Label string `json:"label"`
	// On is the axis on which Value lies, "x" or "y".
	On    string  `json:"on"`
	Value float64 `json:"value"`
	// Index is that of the run that the mark is of, -1 if it is of all.
	Index int `json:"index"`
}
