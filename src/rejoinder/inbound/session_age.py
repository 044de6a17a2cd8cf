"""When a session has become too old for the next message: by the hour of the day, or after a time without one (IN-41).

Time is a parameter. Instants are UTC; only the daily boundary knows a zone.
"""

from datetime import UTC, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from rejoinder.events import Inbound
from rejoinder.session import ResetPolicy, Session, SessionSettings


def reset_policy(inbound: Inbound, settings: SessionSettings) -> ResetPolicy:
    """The policy for this message: the channel's, otherwise that for threads, groups or direct chats, otherwise the
    general one (IN-41)."""
    reset = settings.reset
    kind = reset.by_type.direct if inbound.chat.kind == "direct" else reset.by_type.group
    thread = reset.by_type.thread if inbound.thread is not None else None
    policy = ResetPolicy(reset.mode, reset.at_hour, reset.zone, reset.idle_minutes)
    for override in (kind, thread, reset.by_channel.get(inbound.channel)):
        if override is not None:
            said = {
                name: value for name in override.__struct_fields__ if (value := getattr(override, name)) is not None
            }
            policy = replace(policy, **said)
    return policy


def grown_old(session: Session, policy: ResetPolicy, now: datetime) -> Literal["daily", "idle"] | None:
    """Why a message that comes now does not belong to the session any more; None if it still does."""
    idle, daily = policy.mode in ("idle", "both"), policy.mode in ("daily", "both")
    if daily and session.touched < last_boundary(policy.at_hour, ZoneInfo(policy.zone), now):
        return "daily"
    if idle and now - session.touched > timedelta(minutes=policy.idle_minutes):
        return "idle"
    return None


def last_boundary(hour: int, zone: ZoneInfo, now: datetime) -> datetime:
    """The latest instant, not after now, at which a day of this zone reached the hour for the first time."""
    # If midnight is repeated, now may be on the day before a boundary that has already passed, and a day can be missing
    # from the calendar. So the neighbouring days are considered too.
    today = now.astimezone(zone).date()
    days = (today + timedelta(days=n) for n in (1, 0, -1, -2))
    # fold=0 is the first of two equal hours; for a skipped hour it is the moment at which the clocks change.
    at_hour = (datetime.combine(day, time(hour), zone).astimezone(UTC) for day in days)
    return max(instant for instant in at_hour if instant <= now)
