// Package pagerank computes the PageRank of pages from the links between them.
//
// A page's rank is the probability that a reader who follows links at random is at this page. (See
// Brin and Page, The Anatomy of a Large-Scale Hypertextual Web Search Engine, 1998, 2.1.1.) With N
// pages, the damping d (the probability that the reader follows a link) and the share p(s→t) of the
// links of page s that lead to page t,
//
//	rank(t) = (1 − d)/N + d · ( Σ rank(s)·p(s→t) + lost/N )
//
// All ranks sum to 1. The variable lost is the rank that no link passes on: that of pages without
// links, and what the rules below take away. It is spread evenly over all pages.
//
// # Votes
//
// A vote is a link that counts for the rank of its target. These rules are not in plain PageRank:
//
//	rule                                                        why, and source
//	several links of a page to another count once               a page has one opinion of another
//	k links of a template (such as navigation) from one site    navigation says where a page is in its
//	to a page count together as one link, each as 1/k           site, not what its author thinks of the
//	                                                            target (Davison, Recognizing Nepotistic
//	                                                            Links on the Web, 2000; Bar-Yossef and
//	                                                            Rajagopalan, Template Detection via Data
//	                                                            Mining, 2002)
//	if all links of a page together count as x < 1 link, the    so that navigation alone is weak
//	page passes on x times its rank; the rest is lost
//	all pages of one site together give one page at most the    the voice of a site counts, not the number
//	greater of two amounts: Cap times the mean rank, and the    of its pages (Bharat and Henzinger,
//	most that a single page of the site gives it; the rest is   Improved Algorithms for Topic Distillation,
//	lost                                                        1998, 4.1)
//
// A link is part of a template if the page says so. It is also part of one if the target is linked
// by more than half of the pages of the source's site, and by at least sixteen of them.
//
// The last rule makes a farm of links useless (Gyöngyi and Garcia-Molina, Link Spam Alliances,
// 2005). Let b be the rank of a page without votes. If no other site votes for the pages of a site,
// then none of them has a rank of more than the greater of b + d·Cap/N and b/(1 − d). This holds
// however many pages the site has, and however they are linked. If there is only one site, nobody
// competes with it, and there is no cap.
//
// # Convergence
//
// A step computes new ranks from the present ones. Without damping (d = 1), a step has two properties:
// it keeps the sum of the ranks, and it is monotone. Monotone means: if one page had more rank before
// the step, no page would have less after it, nor would less rank be lost. A map with these two
// properties never increases the distance between two distributions of rank (Crandall and Tartar,
// Some Relations Between Nonexpansive and Order Preserving Mappings, 1980). With damping, the
// distance (in the L1 norm) after a step is at most d times the distance before it, as in plain
// PageRank. So each step brings any two distributions closer together, and there is exactly one
// solution. Steps are repeated until one changes the ranks by no more than Epsilon.
//
// # Memory
//
// Forty bytes for each page, and eight for each link of up to four parts of the links while these are added. The
// links themselves are in files, with four bytes for each. Sums are
// in double precision, in an order that depends on the graph alone: the same graph gives the same
// ranks, bit by bit, on any number of processors.
package pagerank
