"""Figures, one per module: data(...) -> table, figure(table) -> plotly figure."""
