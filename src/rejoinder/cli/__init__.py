"""The command line: `commands` says which commands there are."""

from rejoinder.programs.interpreter import without_collection


def main() -> None:
    with without_collection():
        from rejoinder.cli.commands import app
    app()
