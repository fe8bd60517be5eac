// Package pagerank computes the PageRank of pages from the links between them.
//
// A page's rank is the probability that a reader is there who follows links at random
// (Brin and Page, The Anatomy of a Large-Scale Hypertextual Web Search Engine, 1998,
// 2.1.1). With N pages, the damping d and the share p(s→t) of the links of s that lead
// to t,
//
//	rank(t) = (1 − d)/N + d · ( Σ rank(s)·p(s→t) + lost/N )
//
// All ranks sum to 1. What is lost at pages without links, and by the rules below, is
// spread evenly over all pages.
//
// # Votes
//
//	rule                                                        why, and source
//	several links of a page to another count once               a page has one opinion of another
//	links of a template of one site to a page count together    navigation says where a page is in its
//	as one link, so that each of k counts 1/k                   site, not what its author thinks of the
//	                                                            target (Davison, Recognizing Nepotistic
//	                                                            Links on the Web, 2000; Bar-Yossef and
//	                                                            Rajagopalan, Template Detection via Data
//	                                                            Mining, 2002)
//	a page with less than one link in all passes only that      so that navigation alone is weak
//	part of its rank; the rest is lost
//	all pages of one site give one page at most Cap times the   the voice of a site counts, not the number
//	mean rank, or what the strongest of them gives; the rest    of its pages (Bharat and Henzinger,
//	is lost                                                     Improved Algorithms for Topic Distillation,
//	                                                            1998, 4.1)
//
// A link is one of a template if the page says so, or if more than half of the pages of
// the source's site, and at least sixteen, link to the target.
//
// The last rule makes a farm of links useless (Gyöngyi and Garcia-Molina, Link Spam
// Alliances, 2005). Let b be the rank of a page without votes. If no other site votes for
// the pages of a site, then none of them, however many there are and however they are
// linked, has more than b + d·Cap/N or b/(1 − d), whichever is more: the number of pages
// is in neither. If there is only one site, nobody competes with it, and there is no cap.
//
// # Convergence
//
// A step maps ranks to ranks, keeps their sum, and is monotone apart from the damping: a
// page that gains rank gives no page less, and the lost part does not shrink. Such a map
// moves no two distributions apart (Crandall and Tartar, Some Relations Between
// Nonexpansive and Order Preserving Mappings, 1980). So a step brings any two closer by d
// in the L1 norm, as for plain PageRank: there is one solution, and steps are repeated
// until one changes the ranks by no more than Epsilon.
//
// # Memory
//
// Eight bytes for each link while links are added, then four; forty bytes for each page.
// Sums are in double precision, in an order that depends on the graph alone: the same
// graph gives the same ranks, bit by bit, on any number of processors.
package pagerank
