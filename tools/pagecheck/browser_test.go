package pagecheck

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// root is the folder of servesim's own module.
const root = "../.."

// TestMain builds the command for the tests, where there is a browser.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		if _, err := exec.LookPath("chromium"); err != nil {
			return m.Run()
		}
		folder, err := os.MkdirTemp("", "pagecheck")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder)
		build := exec.Command("go", "build", "-o", folder, "./cmd/servesim")
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		if err := os.Setenv("SERVESIM", filepath.Join(folder, "servesim")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// written runs servesim with args and --html, and returns the page's path.
func written(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	run := exec.Command(os.Getenv("SERVESIM"), append(args, "--html", path)...)
	run.Dir = root
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("servesim %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return path
}

// browser starts Chromium, and returns a context for its tabs. It skips the test if
// there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium here, in which to open pages")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.UserDataDir(t.TempDir()),
	)
	all, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancelBrowser := chromedp.NewContext(all)
	t.Cleanup(cancelBrowser)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("chromium doesn't start: %v", err)
	}
	return ctx
}

// A tab is a page in a browser, and what it did that it mustn't.
type tab struct {
	ctx   context.Context
	t     *testing.T
	mu    sync.Mutex
	wrong []string
}

// newTab opens the file at path in a window of a size.
func newTab(t *testing.T, ctx context.Context, path string, width, height int64) *tab {
	t.Helper()
	own, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	x := &tab{ctx: own, t: t}
	url := "file://" + path
	if err := chromedp.Listen(own, func(event any) { x.heard(event, url) }); err != nil {
		t.Fatal(err)
	}
	limited, cancelTime := context.WithTimeout(own, time.Minute)
	t.Cleanup(cancelTime)
	x.ctx = limited
	x.do(call(network.Enable, network.EnableParams{}), call(log.Enable, cdp.Empty{}), chromedp.EmulateViewport(width, height), chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS("#main")))
	return x
}

// heard takes down what a page must not do: fail, complain, or ask for anything but
// itself.
func (x *tab) heard(event any, url string) {
	said := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		said = "exception: " + e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		said = "console: " + string(e.Type)
	case *log.EventEntryAdded:
		said = "log: " + e.Entry.Text
	case *network.EventRequestWillBeSent:
		if e.Request.URL != url && !strings.HasPrefix(e.Request.URL, "data:") {
			said = "request: " + e.Request.URL
		}
	}
	if said != "" {
		x.mu.Lock()
		x.wrong = append(x.wrong, said)
		x.mu.Unlock()
	}
}

// call returns a command of the browser's protocol as an action.
func call[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, c, params)
		return none, err
	}
}

// do performs actions.
func (x *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	x.t.Helper()
	if err := chromedp.Do(x.ctx, actions...); err != nil {
		x.t.Fatal(err)
	}
}

// ask returns the value of an expression on the page.
func ask[T any](x *tab, expression string) T {
	x.t.Helper()
	value, err := chromedp.Run(x.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		x.t.Fatal(err)
	}
	return value
}

// expect wants an expression of the page to give "", or what is wrong.
func (x *tab) expect(what, expression string) {
	x.t.Helper()
	if got := ask[string](x, expression); got != "" {
		x.t.Errorf("%s: %s", what, got)
	}
}

// settle waits until the page is laid out and drawn anew.
func (x *tab) settle() {
	x.t.Helper()
	ask[int](x, "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(0))))")
}

// quiet wants that the page did nothing that it mustn't.
func (x *tab) quiet() {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, w := range x.wrong {
		x.t.Error(w)
	}
}

// shot writes a picture of what is seen to the folder that PAGECHECK_SHOTS names, if it
// names one, for people to look at.
func (x *tab) shot(name string, whole bool) {
	x.t.Helper()
	folder := os.Getenv("PAGECHECK_SHOTS")
	if folder == "" {
		return
	}
	action := chromedp.CaptureScreenshot()
	if whole {
		action = chromedp.FullScreenshot(100)
	}
	picture, err := chromedp.Run(x.ctx, action)
	if err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s.png", name)), picture, 0o666); err != nil {
		x.t.Fatal(err)
	}
}
