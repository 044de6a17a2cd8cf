"""Inline directives: `/think high` and its kin, read once, told apart from prose, removed to the byte."""
