// Package still draws figures as still pictures: SVG, PNG and PDF.
//
// The same figure gives the same bytes. Text in SVG is text, in Liberation Sans or what
// a reader has with the same widths (Arial, Helvetica); in PDF and PNG it is drawn as
// outlines, so that nobody needs a font. Whatever strings a figure has, no control
// character, no bidirectional override and nothing that isn't text comes into a picture.
//
// It decides nothing of what is shown: package figure does. It lays panels out, chooses
// ticks and colours, and keeps labels apart.
package still
