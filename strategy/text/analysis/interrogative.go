package analysis

// interrogatives has for each language the words with which questions begin. They are stop words, too. Bluge's
// lists have all of them in some languages, such as English, but lack warum, womit and wann in German. In a
// German manual womit is rare, so that it would count as the most telling word of a question.
var interrogatives = map[string]string{
	"ar": "كيف ما ماذا من متى أين لماذا كم أي هل",
	"bg": "как какво що кой коя кое кои кога къде защо колко чий",
	"ca": "com què qui quin quina quins quines quan on quant quanta quants quantes",
	"cs": "jak co kdo koho komu který která které jaký jaká jaké kdy kde kam odkud proč kolik čí",
	"da": "hvordan hvad hvem hvilken hvilket hvilke hvornår hvor hvorfor",
	"de": "wie was wer wen wem wessen wann wo woher wohin warum wieso weshalb weswegen womit wodurch wofür wozu woran worauf woraus worin worüber wovon welche welcher welches welchen welchem wieviel wieviele",
	"el": "πώς τι ποιος ποια ποιο ποιοι ποιες πότε πού γιατί πόσο πόσα πόσοι πόσες",
	"en": "how what which who whom whose when where why",
	"es": "cómo qué quién quiénes cuál cuáles cuándo dónde adónde cuánto cuánta cuántos cuántas",
	"fa": "چگونه چطور چه چی کی چرا کجا کدام چند آیا",
	"fi": "miten kuinka mikä mitä mitkä minkä mihin missä mistä kuka kenen ketkä kumpi milloin miksi montako",
	"fr": "comment pourquoi quand où que quoi qui quel quelle quels quelles lequel laquelle lesquels lesquelles combien duquel auquel",
	"gl": "como que quen cal cales cando onde",
	"hi": "कैसे क्या कौन किस किसने किसे कब कहाँ कहां क्यों कितना कितने कितनी",
	"hu": "hogyan mi mit ki kit kinek melyik mikor hol hová hova honnan miért mennyi hány milyen",
	"hy": "ինչպես ինչ ով որ երբ որտեղ ինչու քանի",
	"id": "bagaimana apa apakah siapa siapakah kapan kapankah dimana mana kemana mengapa kenapa berapa",
	"it": "come che cosa chi quale quali quando dove perché quanto quanta quanti quante",
	"nl": "hoe wat wie wiens welk welke wanneer waar waarom waarmee waardoor waarvoor waarvan waarheen hoeveel",
	"no": "hvordan hva hvem hvilken hvilket hvilke når hvor hvorfor korleis kva kven kvar kvifor",
	"pl": "jak co kto kogo komu czym który która które jaki jaka jakie kiedy gdzie skąd dokąd dlaczego czemu ile czy czyj",
	"pt": "como que quem qual quais quando onde aonde quanto quanta quantos quantas porque porquê",
	"ro": "cum ce cine care când unde cât câtă câți câte",
	"ru": "как что кто кого кому кем чем какой какая какое какие каком какую каких каким который которая которое которые когда где куда откуда почему зачем сколько чей чья чьё",
	"sv": "hur vad vem vems vilken vilket vilka när var vart varför varifrån",
	"tr": "nasıl ne neden niçin niye kim kime kimin hangi hangisi nerede nereye nereden kaç",
	"uk": "як що хто кого кому ким чим який яка яке які коли де куди звідки чому навіщо скільки чи чий",
}
