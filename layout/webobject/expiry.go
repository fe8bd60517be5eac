package webobject

import "time"

// ExpiryBase is the base of the days that a page is expected to stay valid
// (thesis 2006, section 4.3).
const ExpiryBase int16 = 2

// Lifetime returns how long the pages of an expiry class are expected to stay
// valid: ExpiryBase^exponent days, from about a second to about 45 years.
func Lifetime(exponent int16) time.Duration {
	const day = 24 * time.Hour
	if exponent < 0 {
		return day >> -max(exponent, -16)
	}
	return day << min(exponent, 14)
}
