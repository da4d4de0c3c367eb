"""The NDCG against m page."""
