package dates

import "strings"

// months has the numbers of the months, 1 to 12, by their names in all languages.
var months = monthsByName(namesOfMonths[:])

// namesOfMonths has one string for each language (some languages share one): the names of the months from January
// to December, with spaces between. Forms of the same month have a slash between them: the nominative, the form
// that stands beside a day, abbreviations.
var namesOfMonths = [...]string{
	"january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep/sept october/oct november/nov december/dec",                                                                                                          // English
	"januar/jänner/jan februar/feber/feb märz/maerz/mär/mrz april/apr mai juni/jun juli/jul august/aug september/sep/sept oktober/okt november/nov dezember/dez",                                                                                      // German
	"janvier/janv février/fevrier/févr/fév mars avril/avr mai juin juillet/juil août/aout septembre/sept octobre/oct novembre/nov décembre/decembre/déc",                                                                                              // French
	"enero/ene febrero/feb marzo/mar abril/abr mayo/may junio/jun julio/jul agosto/ago septiembre/setiembre/sep/sept octubre/oct noviembre/nov diciembre/dic",                                                                                         // Spanish
	"janeiro/jan fevereiro/fev março/marco/mar abril/abr maio/mai junho/jun julho/jul agosto/ago setembro/set outubro/out novembro/nov dezembro/dez",                                                                                                  // Portuguese
	"gennaio/gen febbraio/feb marzo/mar aprile/apr maggio/mag giugno/giu luglio/lug agosto/ago settembre/set/sett ottobre/ott novembre/nov dicembre/dic",                                                                                              // Italian
	"januari/jan februari/feb maart/mrt april/apr mei juni/jun juli/jul augustus/aug september/sep oktober/okt november/nov december/dec",                                                                                                             // Dutch
	"januari/jan februari/feb mars/mar april/apr maj juni/jun juli/jul augusti/aug september/sep/sept oktober/okt november/nov december/dec",                                                                                                          // Swedish, Danish
	"januar/jan februar/feb mars/mar april/apr mai juni/jun juli/jul august/aug september/sep/sept oktober/okt november/nov desember/des",                                                                                                             // Norwegian
	"tammikuuta/tammikuu helmikuuta/helmikuu maaliskuuta/maaliskuu huhtikuuta/huhtikuu toukokuuta/toukokuu kesäkuuta/kesäkuu heinäkuuta/heinäkuu elokuuta/elokuu syyskuuta/syyskuu lokakuuta/lokakuu marraskuuta/marraskuu joulukuuta/joulukuu",       // Finnish
	"stycznia/styczeń/sty lutego/luty/lut marca/marzec/mar kwietnia/kwiecień/kwi maja/maj czerwca/czerwiec/cze lipca/lipiec/lip sierpnia/sierpień/sie września/wrzesień/wrz października/październik/paź listopada/listopad/lis grudnia/grudzień/gru", // Polish
	"ledna/leden/led února/únor/úno března/březen/bře dubna/duben/dub května/květen/kvě června/červen/čvn července/červenec/čvc srpna/srpen/srp září/zář října/říjen/říj listopadu/lis prosince/prosinec/pro",                                         // Czech
	"января/январь/янв февраля/февраль/фев/февр марта/март/мар апреля/апрель/апр мая/май июня/июнь/июн июля/июль/июл августа/август/авг сентября/сентябрь/сен/сент октября/октябрь/окт ноября/ноябрь/ноя/нояб декабря/декабрь/дек",                    // Russian
	"січня/січень/січ лютого/лютий/лют березня/березень/бер квітня/квітень/кві травня/травень/тра червня/червень/чер липня/липень/лип серпня/серпень/сер вересня/вересень/вер жовтня/жовтень/жов листопада/листопад/лис грудня/грудень/гру",           // Ukrainian
	"ocak/oca şubat/şub mart/mar nisan/nis mayıs/may haziran/haz temmuz/tem ağustos/ağu eylül/eyl ekim/eki kasım/kas aralık/ara",                                                                                                                      // Turkish
	"január/jan február/febr/feb március/márc április/ápr május/máj június/jún július/júl augusztus/aug szeptember/szept október/okt november/nov december/dec",                                                                                       // Hungarian
	"ianuarie/ian februarie/feb martie/mar aprilie/apr mai iunie/iun iulie/iul august/aug septembrie/sept octombrie/oct noiembrie/nov decembrie/dec",                                                                                                  // Romanian
	"januari/jan februari/feb maret/mar april/apr mei juni/jun juli/jul agustus/agu september/sep oktober/okt november/nov desember/des",                                                                                                              // Indonesian
	"يناير فبراير/شباط مارس/آذار أبريل/ابريل/إبريل/نيسان مايو/أيار يونيو/يونيه/حزيران يوليو/يوليه/تموز أغسطس/اغسطس/آب سبتمبر/أيلول أكتوبر/اكتوبر نوفمبر ديسمبر",                                                                                       // Arabic
}

func monthsByName(languages []string) map[string]int {
	byName := map[string]int{}
	for _, names := range languages {
		for i, forms := range strings.Fields(names) {
			for name := range strings.SplitSeq(forms, "/") {
				byName[name] = i + 1
			}
		}
	}
	return byName
}

// fillers are the words that may stand between the parts of a date: endings of ordinal numbers, and
// words such as "of".
var fillers = wordSet("st nd rd th er º de del of di d den")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// dayOrder says whether a language writes the day or the month first in dates of three numbers with slashes or
// hyphens and the year last, such as 26/11/2026.
type dayOrder int

const (
	unknown    dayOrder = iota // the language does not tell
	dayFirst                   // 26/11/2026
	monthFirst                 // 11/26/2026
)

// orderOf returns the order of the day and the month in a language, given by the two subtags of its tag, such as en
// and gb. English has an order only with a region: 03/04/2026 is a day in March in the United States, and in April
// elsewhere.
func orderOf(language, region string) dayOrder {
	switch language {
	case "en":
		switch region {
		case "us", "ph":
			return monthFirst
		case "gb", "au", "nz", "ie", "in":
			return dayFirst
		}
	case "de", "fr", "es", "pt", "it", "nl", "da", "no", "nb", "nn", "fi", "pl", "cs", "sk", "ru", "uk", "bg", "tr", "ro", "el",
		"id", "ar", "ca", "gl", "vi", "he", "hi":
		return dayFirst
	}
	return unknown
}

// split divides a language tag, in lower case, at its first hyphen or underscore: en-GB into en and gb. The result
// region is "" if there is none. It has all other subtags: hant-tw for zh-Hant-TW.
func split(tag string) (language, region string) {
	language, region, _ = strings.Cut(strings.ReplaceAll(strings.ToLower(tag), "_", "-"), "-")
	return language, region
}
