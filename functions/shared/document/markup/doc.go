// Package markup is what the readers of other formats than HTML share: a
// Writer of the HTML that says the same as they do, from which links and text
// are taken as from any page, and a Scanner of XML.
//
// Nothing in it fails, whatever it is given: markup that breaks every rule
// gives what can be read of it, in time linear in its size.
package markup
