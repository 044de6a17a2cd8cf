"""One conversation of one agent.

keys         to which session a message belongs, and what is owned together
session      what a session remembers, and what survives a new start
settings     the section `[session]`
"""

from rejoinder.session.keys import agent_of as agent_of
from rejoinder.session.keys import deciding_home as deciding_home
from rejoinder.session.keys import entries_for as entries_for
from rejoinder.session.keys import home as home
from rejoinder.session.keys import inherits_from as inherits_from
from rejoinder.session.keys import job_key as job_key
from rejoinder.session.keys import route_home as route_home
from rejoinder.session.keys import session_home as session_home
from rejoinder.session.keys import session_key as session_key
from rejoinder.session.keys import shard_of as shard_of
from rejoinder.session.keys import subagent_key as subagent_key
from rejoinder.session.session import PENDING_EVENTS as PENDING_EVENTS
from rejoinder.session.session import Activation as Activation
from rejoinder.session.session import ExecAsk as ExecAsk
from rejoinder.session.session import ExecChoice as ExecChoice
from rejoinder.session.session import ExecHost as ExecHost
from rejoinder.session.session import ExecSecurity as ExecSecurity
from rejoinder.session.session import Lifetime as Lifetime
from rejoinder.session.session import QueueChoice as QueueChoice
from rejoinder.session.session import QueueDrop as QueueDrop
from rejoinder.session.session import QueueMode as QueueMode
from rejoinder.session.session import Session as Session
from rejoinder.session.session import TtsMode as TtsMode
from rejoinder.session.session import held_by_session as held_by_session
from rejoinder.session.session import is_untouched as is_untouched
from rejoinder.session.session import lifetimes as lifetimes
from rejoinder.session.session import ruled_by as ruled_by
from rejoinder.session.session import start_over as start_over
from rejoinder.session.session import turn_taken as turn_taken
from rejoinder.session.session import with_event as with_event
from rejoinder.session.settings import ResetByType as ResetByType
from rejoinder.session.settings import ResetMode as ResetMode
from rejoinder.session.settings import ResetOverride as ResetOverride
from rejoinder.session.settings import ResetPolicy as ResetPolicy
from rejoinder.session.settings import ResetSettings as ResetSettings
from rejoinder.session.settings import SessionSettings as SessionSettings
from rejoinder.session.settings import TypingMode as TypingMode
