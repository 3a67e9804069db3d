package workload

import (
	"io"
	"math"
	"math/bits"
	"math/rand/v2"

	"servesim/sim"
)

// ClosedLoopSpec describes users who each make a call, wait for its end, think,
// and make the next, in a scenario file:
//
//	{ users = 32, think_time = { dist = "exponential", mean = "2s" }, ramp = "10s" }
type ClosedLoopSpec struct {
	// Users is the number of users; LLMPerf's --num-concurrent-requests. It is
	// the most requests that are ever in the system at once.
	Users *int64 `toml:"users"`
	// ThinkTime is the time from the end of a call to the user's next; the
	// default is 0.
	ThinkTime *DelaySpec `toml:"think_time"`
	// RequestsPerUser ends a user after so many calls; the default is no limit.
	RequestsPerUser *int64 `toml:"requests_per_user"`
	// Ramp spreads the users' first calls evenly over this duration: user u of
	// n starts at ramp*u/n. The default is 0: all start at once.
	Ramp *sim.Duration `toml:"ramp"`
	// Turns makes conversations of a user's calls, each of so many: a turn's prompt
	// is what was said before, prompts and answers, and a text whose length prompt
	// says. An answer that was given up counts whole.
	Turns *LengthSpec `toml:"turns"`
	// MaxContext ends a conversation whose next turn would have more tokens, prompt
	// and answer together; the default is no limit.
	MaxContext *int64 `toml:"max_context"`
}

// maxUsers is the most users of a closed loop: each takes about 150 bytes.
const maxUsers = 10_000_000

// closedLoop is a checked ClosedLoopSpec.
type closedLoop struct {
	users   int64
	perUser int64 // math.MaxInt64 without a limit
	think   Delay
	ramp    sim.Duration

	converse bool
	turns    Length
	context  int64 // most tokens of a conversation
}

// closedLoop checks the spec at key.
func (c *specCheck) closedLoop(key string, s *ClosedLoopSpec) *closedLoop {
	l := &closedLoop{perUser: math.MaxInt64}
	l.users = c.whole(sub(key, "users"), s.Users, 1, maxUsers, "a number of users")
	if s.ThinkTime != nil {
		l.think = c.delay(sub(key, "think_time"), s.ThinkTime)
	}
	if s.RequestsPerUser != nil {
		l.perUser = c.whole(sub(key, "requests_per_user"), s.RequestsPerUser, 1, maxRequests, "a number of requests")
	}
	if s.Ramp != nil {
		l.ramp = c.span(sub(key, "ramp"), s.Ramp, 0, sim.MaxDuration, "a duration")
	}
	l.context = MaxTokens
	if l.converse = s.Turns != nil; l.converse {
		l.turns = c.prompt(sub(key, "turns"), s.Turns)
	} else if s.MaxContext != nil {
		c.add(sub(key, "max_context"), "limits conversations, of which there are none; give turns, such as { dist = \"constant\", value = 5 }, or take the line out")
	}
	if s.MaxContext != nil {
		l.context = c.whole(sub(key, "max_context"), s.MaxContext, 1, MaxTokens, "a number of tokens")
	}
	return l
}

// ClosedLoop is a Reactive source of users. The k-th request of a user and the
// think time after it are the same whatever happens to other requests, as each
// user draws from streams of its own.
//
// A limit on the requests of all users counts their first calls before any
// others, and then goes to whoever asks first; so the number of calls of one
// user, unlike their contents, depends on how fast they are served.
//
// IDs from 0 up are the users' first calls, in the order of the users, whether
// Next has yielded them yet or not; Done continues above them. A user whose
// next call would come after sim.MaxTime makes no more.
type ClosedLoop struct {
	plan  plan
	users []user
	next  int64           // user whose first call Next yields
	id    int64           // of the next request that Done yields
	user  map[int64]int32 // by the id of a request in the system
}

// user is one of the users of a ClosedLoop.
type user struct {
	draws draws
	think rand.PCG
	calls int64
	talk  talk
}

// talk is the conversation of a user.
type talk struct {
	turns   rand.PCG
	number  int64 // of this one among the user's
	left    int32 // turns to come
	class   *class
	context int64 // tokens that were said
}

// start returns the source of the plan's closed loop, whose streams have names
// that begin with label.
func (l *closedLoop) start(seed sim.Seed, label string, p plan) *ClosedLoop {
	n := min(l.users, p.requests)
	for n > 0 && l.startOf(n-1) >= p.until {
		n--
	}
	s := &ClosedLoop{plan: p, users: make([]user, n), id: n, user: make(map[int64]int32, n)}
	class, prompt, output := seed.Family(label+"class"), seed.Family(label+"prompt"), seed.Family(label+"output")
	cancel, after, think := seed.Family(label+"cancel"), seed.Family(label+"cancel after"), seed.Family(label+"think")
	turns := seed.Family(label + "turns")
	for i := range s.users {
		u, k := &s.users[i], uint64(i)
		class.Reset(&u.draws.class, k)
		prompt.Reset(&u.draws.prompt, k)
		output.Reset(&u.draws.output, k)
		cancel.Reset(&u.draws.cancel, k)
		after.Reset(&u.draws.after, k)
		think.Reset(&u.think, k)
		turns.Reset(&u.talk.turns, k)
	}
	return s
}

// startOf returns the instant of user u's first call: ramp*u/users.
func (l *closedLoop) startOf(u int64) sim.Time {
	hi, lo := bits.Mul64(uint64(l.ramp), uint64(u))
	q, _ := bits.Div64(hi, lo, uint64(l.users)) // hi < users, as u < users and ramp < 2^63
	return sim.Time(q)
}

// Next returns the first call of the next user. The error is io.EOF after the
// last user's.
func (s *ClosedLoop) Next() (Request, error) {
	if s.next == int64(len(s.users)) {
		return Request{}, io.EOF
	}
	u := s.next
	s.next++
	return s.call(u, u, s.plan.loop.startOf(u)), nil
}

// Done tells that request id left the system at t, and returns the next call
// of its user, unless a limit is reached. ok is false also for an id that is
// not in the system.
func (s *ClosedLoop) Done(id int64, t sim.Time) (r Request, ok bool) {
	i, ok := s.user[id]
	if !ok {
		return Request{}, false
	}
	delete(s.user, id)
	u := &s.users[i]
	think := s.plan.loop.think.Draw(&u.think)
	if u.calls >= s.plan.loop.perUser || s.id >= s.plan.requests || think > sim.MaxTime.Sub(t) {
		return Request{}, false
	}
	at := t.Add(think)
	if at >= s.plan.until {
		return Request{}, false
	}
	s.id++
	return s.call(s.id-1, int64(i), at), true
}

// call makes user u's next request. Its Session is u+1, as 0 is none, and of later
// conversations more by multiples of the number of users.
func (s *ClosedLoop) call(id, u int64, at sim.Time) Request {
	s.users[u].calls++
	s.user[id] = int32(u)
	r := Request{ID: id, Arrival: at, Session: u + 1}
	if s.plan.loop.converse {
		s.turn(&s.users[u], &r)
		r.Session += (s.users[u].talk.number - 1) * s.plan.loop.users
		return r
	}
	s.plan.mix.fill(&r, &s.users[u].draws)
	return r
}

// turn makes r the next turn of u's conversation, or the first of another.
func (s *ClosedLoop) turn(u *user, r *Request) {
	k := &u.talk
	if k.left == 0 {
		k.class = s.plan.mix.kind(&u.draws)
		k.begin(s.plan.loop)
	}
	s.plan.mix.fillAs(k.class, r, &u.draws)
	if k.context > 0 && k.context+int64(r.Prompt)+int64(r.Output) > s.plan.loop.context {
		k.begin(s.plan.loop) // with the text of the turn that would be too long
	}
	k.left--
	r.Prompt = int32(k.context + int64(r.Prompt))
	k.context = int64(r.Prompt) + int64(r.Output)
}

// begin begins another conversation of the class that k has.
func (k *talk) begin(l *closedLoop) {
	k.number++
	k.left, k.context = l.turns.Draw(&k.turns, 0), 0
}
