"""Asks a question that is answered with yes or no; after anything else it says what to type, and asks again."""

import typer

YES, NO = ("y", "yes"), ("n", "no")


def ask_yes_or_no(question: str, *, default: bool) -> bool:
    """Enter means the default."""
    while True:
        choices = "Y/n" if default else "y/N"
        said = str(typer.prompt(f"{question} [{choices}]", default="", show_default=False)).strip().lower()
        if not said:
            return default
        if said in YES or said in NO:
            return said in YES
        print("  Type y for yes or n for no.")
