// Package mainpart finds the main part of a page: the blocks of text for which a
// reader came, without menus, headers, footers, teasers, forms and cookie notices.
//
// Every block gets a vector of features (features.go): its text, its element with
// the groups of words in class and id, its surroundings in the page and among its
// neighbours, what title, description and JSON-LD repeat of it. Boosted decision
// trees (Friedman, Greedy Function Approximation, 2001) turn the vector into the
// probability that the block belongs to the main part. A second model of the same
// form (Wolpert, Stacked Generalization, 1992) corrects it: to the vector are added
// the mean probabilities of the blocks before and after, of those with the same path,
// and of the elements, the section and the page around the block (context.go). The
// blocks are then kept from the likeliest on, as long as the expected F1 of their words
// grows: so a page of doubtful blocks keeps more of them than a clear one.
//
// The trees are trained (train) on judged pages of seven kinds: articles,
// documentation, forums, products, collections, listings and services. The two models
// stand in weights.bin, each with its length, u16, before it:
//
//	offset  bytes
//	0       2      number of trees, u16, big-endian
//	2       1      depth d of all trees
//	3       1      number of features
//	4       4      scale of the leaves, f32
//	8       …      for each tree: 2^d - 1 nodes, level by level: feature u8,
//	               threshold u8 (left if the feature is at most the threshold);
//	               2^d leaves, i8 times the scale, in natural log-odds
//
// The kind of a page, one of seven, is found by a model for each over features of the
// page as a whole (kind.go). They stand in kinds.bin, in the order of Kinds, in the same form.
//
// Finding takes time linear in the page.
package mainpart
