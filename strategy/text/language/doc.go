// Package language identifies the language of a text.
//
// The script decides first: each of twenty scripts is used by one language, or nearly so. Other
// scripts are shared by several languages. Between these decides a linear model over hashed n-grams
// (see internal/model, which also documents the file of weights). Only between Indonesian and Malay
// whole words decide. The known languages, by script, are
//
//   - Latin: af az ca cs cy da de en eo es et eu fi fr ga gl hr (with bs and sr
//     in Latin letters) hu id is it lt lv ms nl no pl pt ro sk sl sq sv sw tl tr
//     uz vi
//   - Cyrillic: be bg kk ky mk mn ru sr tg uk
//   - Arabic: ar ckb fa ps ug ur
//   - Devanagari: hi mr ne; Bengali: as bn; Hebrew: he yi; Han: zh, and ja if
//     there is no Kana
//   - scripts of their own: am bo el gu hy ja ka km kn ko lo ml my or pa si ta te th
//
// Some forty other languages were used in training, too. In each script they form one class without
// a name, so that their texts are not taken for one of the known languages.
//
// # Training
//
// The weights were made (by the command train) from message catalogues and translated documentation
// in Debian 12: GNOME, MATE, Cinnamon, KDE, LibreOffice, Firefox, GIMP, GnuCash, VLC, Evolution,
// Inkscape, iso-codes and others; the Debian handbook, reference, FAQ and installation guide;
// manual pages, An Anarchist FAQ, fortunes, Dasher's training texts; and from some pages of
// sentences and characteristic words in Indonesian and Malay written for the purpose. They are
// statistics of n-grams and hold none of the texts. The Universal Declaration of Human Rights and
// the fixture of the tests were not used for training.
package language
