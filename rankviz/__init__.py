"""rankviz: pairwise learning to rank with kernel approximations, to compute with and to look at."""
