// Package answer holds the answers of the page in web: each is one call of the library, made from
// what the page's fields state, as a value for JSON. The commands plan, compare, votes describe and
// verify make the same calls, so both show the same figures. Nothing here draws a label: a release
// needs a ledger that outlives the page, and secret coins whose use is written down.
//
// Fields have the names of the commands' flags. Functions keep no state, and are safe for
// concurrent use. Their errors name the parameter that breaks its rule.
package answer
