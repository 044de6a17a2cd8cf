"""The grid of docs/delivery.md: what it says is explained, and what is explained is said."""

from rejoinder.outbound.tables import MEANINGS, outcome_table


def test_every_word_of_the_grid_is_explained_and_used():
    grid, _ = outcome_table().split("\n\n")
    cells = {cell.strip() for line in grid.splitlines()[2:] for cell in line.split("|")[2:-1]}
    assert cells == set(MEANINGS)
