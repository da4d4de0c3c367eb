"""Widgets, the settings of the sidebar, the address, and the navigation."""
