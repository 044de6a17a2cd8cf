"""`rejoinder config`: the effective configuration without secrets, or the schema of the file."""

from typing import Annotated

import typer


def show_config(
    file: Annotated[
        str | None,
        typer.Option("--config", "-c", metavar="FILE", help="The file; without it rejoinder.toml, if there is one."),
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of the file, for editors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check the configuration and print what is in effect, without secrets."""
    import os
    import sys

    from rejoinder.config.load import FILE, load, mistakes
    from rejoinder.config.schema import Settings
    from rejoinder.config.show import as_toml, effective
    from rejoinder.errors import BadConfiguration
    from rejoinder.kinds import kinds, to_come

    if schema:
        from rejoinder.config.describe import json_schema

        print(_json(json_schema(kinds())))
        return
    try:
        if file is None and not os.path.exists(FILE):
            print(f"There is no {FILE} here: these are the defaults.", file=sys.stderr)
            settings = Settings()
        else:
            settings = load(file or FILE, os.environ, kinds())
            for each in mistakes(file or FILE, to_come(settings)):
                print(each, file=sys.stderr)
    except BadConfiguration as error:
        if as_json:
            print(_json({"mistakes": error.mistakes}))
        print(error, file=sys.stderr)
        raise typer.Exit(2) from None
    document = effective(settings)
    print(_json(document) if as_json else as_toml(document).rstrip())


def _json(document: object) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
