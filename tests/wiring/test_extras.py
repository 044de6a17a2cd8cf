"""What a channel needs beyond the gateway itself is loaded where it is configured, and nowhere else."""

import subprocess
import sys

import pytest

from rejoinder.channels import discord

SDKS = ("discord", "slack_sdk", "slack_bolt", "nio")
OPENED = """
import sys
from rejoinder.config.load import read
from rejoinder.wiring.opening import open_channels
text = '[agents.a]\\nkind = "tour"\\n' + sys.argv[1]
opened = open_channels(read(text, "rejoinder.toml", {}))
print(*sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[2:])))
"""
SECTIONS = {
    "": "",
    "discord": '[channels.discord]\ntoken = "x"\n',
    "slack_sdk": '[channels.slack]\nbot_token = "xoxb-1"\napp_token = "xapp-1"\n',
}


@pytest.mark.parametrize("sdk", SECTIONS)
def test_an_sdk_is_imported_only_where_it_is_configured(sdk):
    """CH-6: also not that of another channel; signed events of Slack need none."""
    telegram = '[channels.telegram]\ntoken = "1:x"\n[channels.other]\nkind = "slack"\nbot_token = "x"\n'
    text = f'{telegram}signing_secret = "s"\n{SECTIONS[sdk]}'
    done = subprocess.run([sys.executable, "-c", OPENED, text, *SDKS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ([sdk] if sdk else [])


def test_each_account_of_discord_has_its_own_address():
    """CH-29, CH-4: discord.py has one for the whole process."""
    here, there = "http://127.0.0.1:1/api", "http://127.0.0.1:2/api"
    account = discord.Account(token=discord.Secret("b"), api_root=there)
    settings = discord.Settings(token=discord.Secret("a"), api_root=here, accounts={"work": account})
    opened = {name: discord.open_channel("discord", own, name) for name, own in discord.accounts(settings).items()}
    assert {name: channel._http._root for name, channel in opened.items()} == {
        "default": f"{here}/v10",
        "work": f"{there}/v10",
    }
