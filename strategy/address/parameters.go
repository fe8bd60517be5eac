package address

import "sync"

// defaultParameters are patterns for the most frequent parameters of trackers and
// sessions.
var defaultParameters = []string{
	// Campaigns and newsletters.
	"utm_*", "mtm_*", "matomo_*", "pk_campaign", "pk_kwd", "pk_source", "pk_medium", "piwik_*", "hsa_*", "_openstat",
	"mc_cid", "mc_eid", "mkt_tok", "oly_anon_id", "oly_enc_id", "vero_id", "vero_conv", "_hsenc", "_hsmi", "__hstc", "__hssc",
	"__hsfp", "hsctatracking", "s_cid", "wickedid", "_branch_match_id",
	// Clicks.
	"gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "ysclid", "twclid", "ttclid", "li_fat_id",
	"rb_clickid", "igshid", "igsh", "srsltid", "epik",
	// Visitors and referrers.
	"_ga", "_gl", "ref_src", "ref_url", "guce_referrer", "guce_referrer_sig",
	// Sessions.
	"jsessionid", "phpsessid", "aspsessionid*", "cfid", "cftoken", "zenid=session", "oscsid=session", "sid=session",
	"s=session", "sessid=session", "session=session", "session_id=session", "sessionid=session",
}

// DefaultCleaner returns the Cleaner of collections that list no parameters to drop.
var DefaultCleaner = sync.OnceValue(func() Cleaner {
	c, err := NewCleaner(defaultParameters)
	if err != nil {
		panic(err) // a mistake in the list above
	}
	return c
})
