"""`rejoinder config`: the effective configuration without secrets, or the schema of the file."""

from typing import Annotated

import typer

from rejoinder.cli.options import AsJson, File, configuration, print_json

WITHOUT_FILE = "`rejoinder run` adds the chat page, and the agent that `rejoinder doctor` names."


def show_config(
    file: File = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of the file, for editors.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check the configuration and print the settings in effect, without secrets."""
    import os
    import sys

    from rejoinder.config.kinds import unsupported_keys
    from rejoinder.config.load import FILE, load, mistakes
    from rejoinder.config.schema import Settings
    from rejoinder.config.show import as_toml, effective
    from rejoinder.errors import BadConfiguration

    if schema:
        from rejoinder.config.describe import json_schema

        print_json(json_schema())
        return
    try:
        found = configuration(file)
        if found is None:
            print(f"There is no {FILE} here: these are the defaults. {WITHOUT_FILE}", file=sys.stderr)
            settings = Settings()
        else:
            settings = load(found, os.environ)
            if notices := mistakes(found, unsupported_keys(settings)):
                print(f"rejoinder: {BadConfiguration(*notices)}", file=sys.stderr)
    except BadConfiguration as error:
        if as_json:
            print_json({"mistakes": error.mistakes})
        raise
    document = effective(settings)
    if as_json:
        print_json(document)
    else:
        print(as_toml(document).rstrip())
