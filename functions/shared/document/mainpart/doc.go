// Package mainpart finds the main part of a page: the blocks of text for which a reader came,
// without menus, headers, footers, teasers, forms and cookie notices.
//
// Every block gets a vector of features (features.go). They describe its text, its element with the
// groups of words in class and id, its surroundings in the page and among its neighbours, and how
// much of it the page's title, description and JSON-LD repeat. Boosted decision trees (Friedman,
// Greedy Function Approximation, 2001) turn the vector into the probability that the block belongs
// to the main part. A second model of the same form corrects this probability (Wolpert, Stacked
// Generalization, 1992). The second model has further features: means of the probabilities that the
// first model gave (context.go). There are means for the blocks before and after, for the blocks
// with the same path (names of the elements around them), and for the elements, the section and the
// page around the block.
//
// Then the likeliest blocks are kept, as many as give the greatest expected F1 of their words. So a
// doubtful block is kept if all others are doubtful, too, but dropped if others are likely.
//
// The trees are trained (command train) on judged pages of seven kinds: articles, documentation,
// forums, products, collections, listings and services. The file weights.bin holds the two models,
// each with its length, u16, before it:
//
//	offset  bytes
//	0       2      number of trees, u16, big-endian
//	2       1      depth d of all trees, 2 to 7
//	3       1      number of features
//	4       4      scale of the leaves, f32
//	8       …      for each tree: 2^d - 1 nodes, level by level: feature u8,
//	               threshold u8 (left if the feature is at most the threshold);
//	               2^d leaves, i8 times the scale, in natural log-odds
//
// The kind of a page, one of the seven, is found by one model for each kind, over features of the
// page as a whole (kind.go). The file kinds.bin holds these models in the order of Kinds, in the
// same form.
//
// Finding the main part takes time linear in the size of the page.
package mainpart
