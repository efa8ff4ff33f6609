package htmlreport

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/settings"
)

func TestPageInABrowser(t *testing.T) {
	browser := start(t)
	for claim, test := range map[string]func(*testing.T, *tab){
		"it makes no request but for itself":                       onlyItself,
		"it fits a phone":                                          fitsAPhone,
		"it is dark where that is preferred, and readable in both": darkAndReadable,
		"it is worked with the keyboard":                           workedWithTheKeyboard,
		"a link of the grid unfolds its cell":                      linkUnfolds,
		"it is printed with what is folded":                        printed,
	} {
		t.Run(claim, func(t *testing.T) { test(t, open(browser, t)) })
	}
}

// start starts a browser for the test.
func start(t *testing.T) context.Context {
	t.Helper()
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)),
		// The page is our own, and root has no sandbox.
		chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()),
	)...)
	t.Cleanup(cancel)
	browser, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(browser))
	return browser
}

// tab shows the fixture's page.
type tab struct {
	ctx     context.Context
	address string

	mu       sync.Mutex
	requests []string
}

func open(browser context.Context, t *testing.T) *tab {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, Write(&text, Page{Report: fixture(t), Made: time.Now()}))
	path := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(path, text.Bytes(), 0o600))
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{address: (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()}
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		if r, is := event.(*network.EventRequestWillBeSent); is {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.requests = append(b.requests, r.Request.URL)
		}
	}))
	b.ctx, cancel = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(cancel)
	_, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(b.address)))
	return b
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const why = "no chromium was found, so the page is not looked at in a browser"
	s, err := settings.FromEnvironment()
	require.NoError(t, err)
	if s.Require {
		t.Fatal(why + ", and BROKERFAULT_REQUIRE=1 asks for every test to run")
	}
	t.Skip(why)
	return ""
}

// in runs steps and returns what a JavaScript expression is after them.
func in[T any](t *testing.T, b *tab, expression string, steps ...chromedp.Action[chromedp.Void]) T {
	t.Helper()
	require.NoError(t, chromedp.Do(b.ctx, steps...))
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err)
	return got
}

// prefer is the media that the page is shown for.
func prefer(t *testing.T, b *tab, media emulation.SetEmulatedMediaParams) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media)
	require.NoError(t, err)
}

const unfold = `document.querySelectorAll('details').forEach(d => d.open = true), true`

func onlyItself(t *testing.T, b *tab) {
	t.Helper()
	in[bool](t, b, unfold)
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Equal(t, []string{b.address}, b.requests)
	require.False(t, in[bool](t, b, `document.querySelector('script, img') !== null`))
}

func fitsAPhone(t *testing.T, b *tab) {
	t.Helper()
	// Not innerWidth: a phone zooms out until all is in it.
	const width, wide = 360, `document.documentElement.scrollWidth`
	require.LessOrEqual(t, in[int](t, b, wide, chromedp.EmulateViewport(width, 740, chromedp.EmulateMobile)), width)
	require.LessOrEqual(t, in[int](t, b, wide, chromedp.Evaluate[chromedp.Void](unfold)), width, "with everything unfolded")
	require.True(t, in[bool](t, b, `[...document.querySelectorAll('.scroll')].some(e => e.scrollWidth > e.clientWidth)`),
		"the fixture's grid is wider than a phone, or this proves nothing")
}

// contrasts are the ratios of text to background below 4.5, as WCAG 2 reckons them.
const contrasts = `(() => {
	const rgb = s => s.match(/[\d.]+/g).map(Number);
	const light = c => { const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
	const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c } };
	const low = [];
	for (const e of document.querySelectorAll('body *')) {
		if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
		const style = getComputedStyle(e);
		const [a, b] = [light(rgb(e.namespaceURI.endsWith('svg') ? style.fill : style.color)), light(behind(e))];
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (ratio < 4.5) low.push(e.tagName + '.' + e.getAttribute('class') + ' ' + ratio.toFixed(2));
	}
	return low;
})()`

func darkAndReadable(t *testing.T, b *tab) {
	t.Helper()
	const brightness = `Math.max(...getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number))`
	for scheme, dark := range map[string]bool{"light": false, "dark": true} {
		prefer(t, b, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		got := in[int](t, b, brightness)
		assert.Equal(t, dark, got < 60, "%s: brightest channel of the background is %d of 255", scheme, got)
		assert.Empty(t, in[[]string](t, b, contrasts), scheme)
	}
}

func workedWithTheKeyboard(t *testing.T, b *tab) {
	t.Helper()
	const focused = `document.activeElement.className || document.activeElement.tagName`
	require.Equal(t, "skip", in[string](t, b, focused, chromedp.KeyEvent(kb.Tab)))
	require.True(t, in[bool](t, b, `document.activeElement.getBoundingClientRect().left >= 0`), "the skip link is seen once it has the focus")
	const onFolded = `document.activeElement.matches('details:not([open]) > summary')`
	for range 100 {
		if in[bool](t, b, onFolded, chromedp.KeyEvent(kb.Tab)) {
			break
		}
		require.NotEqual(t, "none", in[string](t, b, `getComputedStyle(document.activeElement).outlineStyle`), "the focus is seen")
	}
	require.True(t, in[bool](t, b, onFolded), "the tab key gets to what is folded")
	require.True(t, in[bool](t, b, `document.activeElement.parentElement.open`, chromedp.KeyEvent(kb.Enter)))
}

func linkUnfolds(t *testing.T, b *tab) {
	t.Helper()
	const body = `document.querySelector('#cell-1')`
	require.False(t, in[bool](t, b, body+`.closest('details').open`), "a cell that recovered is folded")
	in[bool](t, b, `document.querySelector('a[href="#cell-1"]').click(), true`)
	require.Equal(t, b.address+"#cell-1", in[string](t, b, `location.href`))
	require.True(t, in[bool](t, b, body+`.closest('details').open && `+body+`.checkVisibility()`))
}

func printed(t *testing.T, b *tab) {
	t.Helper()
	const visible = `document.querySelector('#cell-1').checkVisibility()`
	require.False(t, in[bool](t, b, visible))
	prefer(t, b, emulation.SetEmulatedMediaParams{Media: "print"})
	require.True(t, in[bool](t, b, visible))
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(pdf), "%PDF-"))
}
