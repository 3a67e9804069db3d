// Package pagecheck holds no code: its test opens the HTML reports of servesim in a
// real browser, Chromium, with scripts and without, light and dark, narrow and wide.
//
// It is a module of its own, so that servesim doesn't depend on a browser's driver.
package pagecheck
