"""Who may come in: allowlist, invite, approve."""

from rejoinder.errors import BadConfiguration
from rejoinder.events import AnswerQuestion, ApprovePairing, ChangeInvitations, EditAllowList
from rejoinder.inbound.commands.command import Arg, Command, CommandCall
from rejoinder.inbound.commands.consent import ALLOW, answer_in
from rejoinder.inbound.ids import Ids, read_ids
from rejoinder.inbound.outcome import Answer
from rejoinder.inbound.pairing import find_request, is_code


def _allowlist(call: CommandCall) -> Answer:
    channel, entry = call.message.inbound.channel, call.args.get("id")
    change = call.args.get("change", "list")
    if change == "list":
        allow = call.message.facts.allow
        people = call.channel.settings.allow if allow is None else _entries(allow, channel)
        listed = ", ".join(people) or "nobody"
        groups = ", ".join(call.channel.settings.allow_groups) or "none"
        return Answer((f"On the list of {channel}: {listed}. Groups: {groups}.",))
    if not entry:
        return Answer((f"Who? {call.command.usage}",))
    try:
        read_ids((entry,), call.channel.place, channels=call.rules.channels, where="allow")
    except BadConfiguration as problem:
        return Answer((str(problem),))
    listed = change == "add"
    now, keep = ("on", "add it to") if listed else ("no longer on", "remove it from")
    said = f"{entry} is {now} the allow-list of {channel}; to make that permanent, {keep} channels.{channel}.allow."
    return Answer((said,), effects=(EditAllowList(channel, entry, listed),))


def _entries(ids: Ids, channel: str) -> list[str]:
    return sorted((*ids.anywhere, *(f"{channel}:{account}:{id}" for account, id in ids.by_account)))


def _approve(call: CommandCall) -> Answer:
    which, option = call.args.get("which", ""), call.args.get("option")
    if (answered := _answered(call, which, option)) is not None:
        return answered
    if is_code(which) and option is None:
        request = find_request(call.message.facts.pairing, which, call.now)
        if request is None:
            return Answer((f"No pairing request has the code {which.upper()}; it may have expired.",))
        return Answer((f"{request.sender} is let in.",), effects=(ApprovePairing(request.code),))
    chosen = option or ALLOW
    answer = AnswerQuestion(which, chosen, _who(call))
    return Answer((f"Request {which}: {chosen}.",), effects=(answer,))


def _answered(call: CommandCall, which: str, option: str | None) -> Answer | None:
    """Answers a question. If only one is open, its name may be left out (TU-34): `/approve`, `/approve deny`, `/approve
    2`."""
    question = call.message.facts.question
    if not which and question is None:
        return Answer(("No single request is waiting for you here. If there are several, name one: /approve <which>",))
    if question is None or option is not None or (which and answer_in(which, question) is None):
        return None
    chosen = answer_in(which, question) or ALLOW
    said = f"Request {question.which}: {chosen}."
    return Answer((said,), effects=(AnswerQuestion(question.which, chosen, _who(call)),))


def _who(call: CommandCall) -> str:
    return call.message.inbound.sender.id


def _invite(call: CommandCall) -> Answer:
    what, who = call.args.get("who", "list"), call.args.get("name", "")
    match what.lower():
        case "list" if not who:
            return Answer((), effects=(ChangeInvitations(),))
        case "revoke" if who:
            return Answer((), effects=(ChangeInvitations("revoke", who),))
        case "revoke":
            return Answer((f"Who? {call.command.usage}",))
        case _ if call.message.in_group:
            return Answer(("Write this in a direct chat: everybody here could use the link.",))
        case _:
            return Answer((), effects=(ChangeInvitations("invite", f"{what} {who}".strip()),))


COMMANDS = (
    Command(
        "allowlist",
        "Who is let in on this channel.",
        "access",
        auth="owner",
        args=(Arg("change", ("list", "add", "remove")), Arg("id")),
        handle=_allowlist,
    ),
    Command(
        "invite",
        "Invite somebody to the chat page by a link with a login of their own; list who is invited, or end a login.",
        "access",
        auth="owner",
        args=(Arg("who", told="<name>|list|revoke"), Arg("name", rest=True)),
        handle=_invite,
    ),
    Command(
        "approve",
        "Approve a pairing code (owner), or answer the agent's request.",
        "access",
        args=(Arg("which"), Arg("option", rest=True, told="allow-once|allow-always|deny|<option>")),
        handle=_approve,
        owner_when=lambda args: is_code(args.get("which", "")) and "option" not in args,
    ),
)
