"""Inline directives such as `/think high`: read once, told apart from prose, removed without touching other bytes."""
