// Package language identifies the language of a text.
//
// The script decides first: twenty of them have one language, or nearly so.
// Among languages that share a script a linear model over hashed n-grams decides
// (internal/model, which documents the file of weights): telling letters and
// words get great weights of themselves. Indonesian and Malay are told apart by
// their words. Known are
//
//   - Latin: af az ca cs cy da de en eo es et eu fi fr ga gl hr (with bs and sr
//     in Latin letters) hu id is it lt lv ms nl no pl pt ro sk sl sq sv sw tl tr
//     uz vi
//   - Cyrillic: be bg kk ky mk mn ru sr tg uk
//   - Arabic: ar ckb fa ps ug ur
//   - Devanagari: hi mr ne; Bengali: as bn; Hebrew: he yi; Han: zh, and ja if
//     there is no Kana
//   - am bo el gu hy ja ka km kn ko lo ml my or pa si ta te th by their scripts
//
// and, as one class without a name for each script, some forty more, so that
// they are not taken for one of these.
//
// # Training
//
// The weights were made (train) from message catalogues and translated
// documentation in Debian 12: GNOME, MATE, Cinnamon, KDE, LibreOffice, Firefox,
// GIMP, GnuCash, VLC, Evolution, Inkscape, iso-codes and others; the Debian
// handbook, reference, FAQ and installation guide; manual pages, An Anarchist
// FAQ, fortunes, Dasher's training texts; and from some pages of sentences and
// telling words in Indonesian and Malay written for the purpose. They are
// statistics of n-grams and hold none of the texts. Kept out were the Universal
// Declaration of Human Rights and the fixture of the tests.
package language
