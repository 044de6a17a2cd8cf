"""The nouns that cross borders: frozen values without behaviour.

vocabulary   words that several rooms speak
inbound      what comes in, and where it is said
effects      what a decision requests from the engine
turn         what an agent receives, and what it asks a person
reply        what the reader of agent output emits
outgoing     what is sent
outcomes     what a platform answers when something is sent
menu         the entries of a platform's own menu of commands
hooks        what happened to a message, and what hooks are told
shards       which process owns which shard
"""

from rejoinder.events.effects import AnswerQuestion as AnswerQuestion
from rejoinder.events.effects import ApprovePairing as ApprovePairing
from rejoinder.events.effects import AskPairing as AskPairing
from rejoinder.events.effects import AskSubagents as AskSubagents
from rejoinder.events.effects import ChangeDebug as ChangeDebug
from rejoinder.events.effects import ChangeInvitations as ChangeInvitations
from rejoinder.events.effects import CompactSession as CompactSession
from rejoinder.events.effects import EditAllowList as EditAllowList
from rejoinder.events.effects import Effect as Effect
from rejoinder.events.effects import ExportSession as ExportSession
from rejoinder.events.effects import Overhear as Overhear
from rejoinder.events.effects import ReportFailure as ReportFailure
from rejoinder.events.effects import ResendParts as ResendParts
from rejoinder.events.effects import ResetBotTurns as ResetBotTurns
from rejoinder.events.effects import ResetSession as ResetSession
from rejoinder.events.effects import RestartGateway as RestartGateway
from rejoinder.events.effects import ReviseMessage as ReviseMessage
from rejoinder.events.effects import RunShell as RunShell
from rejoinder.events.effects import ShowConfig as ShowConfig
from rejoinder.events.effects import ShowContext as ShowContext
from rejoinder.events.effects import SpeakText as SpeakText
from rejoinder.events.effects import StopRun as StopRun
from rejoinder.events.effects import UseTool as UseTool
from rejoinder.events.effects import WriteConfig as WriteConfig
from rejoinder.events.hooks import DeliveryFailed as DeliveryFailed
from rejoinder.events.hooks import JobTicked as JobTicked
from rejoinder.events.hooks import MessageDecided as MessageDecided
from rejoinder.events.hooks import MessageReceived as MessageReceived
from rejoinder.events.hooks import ReplySent as ReplySent
from rejoinder.events.hooks import ReplyStarted as ReplyStarted
from rejoinder.events.hooks import SessionEnded as SessionEnded
from rejoinder.events.hooks import SessionStarted as SessionStarted
from rejoinder.events.hooks import Step as Step
from rejoinder.events.hooks import TurnEnded as TurnEnded
from rejoinder.events.inbound import Attachment as Attachment
from rejoinder.events.inbound import Chat as Chat
from rejoinder.events.inbound import EarlierMessage as EarlierMessage
from rejoinder.events.inbound import Entry as Entry
from rejoinder.events.inbound import Forward as Forward
from rejoinder.events.inbound import Inbound as Inbound
from rejoinder.events.inbound import Invoked as Invoked
from rejoinder.events.inbound import LinkedPage as LinkedPage
from rejoinder.events.inbound import Mention as Mention
from rejoinder.events.inbound import NewThread as NewThread
from rejoinder.events.inbound import Quote as Quote
from rejoinder.events.inbound import ReplyContext as ReplyContext
from rejoinder.events.inbound import Route as Route
from rejoinder.events.inbound import Sender as Sender
from rejoinder.events.menu import MenuCommand as MenuCommand
from rejoinder.events.menu import MenuOption as MenuOption
from rejoinder.events.outgoing import Choice as Choice
from rejoinder.events.outgoing import Entity as Entity
from rejoinder.events.outgoing import EntityType as EntityType
from rejoinder.events.outgoing import Part as Part
from rejoinder.events.outgoing import Rendering as Rendering
from rejoinder.events.outgoing import Reply as Reply
from rejoinder.events.reply import Directive as Directive
from rejoinder.events.reply import Problem as Problem
from rejoinder.events.reply import ReplyEvent as ReplyEvent
from rejoinder.events.reply import Silent as Silent
from rejoinder.events.reply import Text as Text
from rejoinder.events.shards import Shard as Shard
from rejoinder.events.shards import ShardOwners as ShardOwners
from rejoinder.events.turn import Grant as Grant
from rejoinder.events.turn import Option as Option
from rejoinder.events.turn import PromptAudio as PromptAudio
from rejoinder.events.turn import PromptImage as PromptImage
from rejoinder.events.turn import PromptPart as PromptPart
from rejoinder.events.turn import PromptText as PromptText
from rejoinder.events.turn import Question as Question
from rejoinder.events.turn import Turn as Turn
from rejoinder.events.turn import without_sound as without_sound
from rejoinder.events.vocabulary import Ability as Ability
from rejoinder.events.vocabulary import ChatKind as ChatKind
from rejoinder.events.vocabulary import FileKind as FileKind
from rejoinder.events.vocabulary import LengthUnit as LengthUnit
from rejoinder.events.vocabulary import ReplyMode as ReplyMode
from rejoinder.events.vocabulary import ResetCause as ResetCause
from rejoinder.events.vocabulary import Strictness as Strictness
from rejoinder.events.vocabulary import TableStyle as TableStyle
from rejoinder.events.vocabulary import TurnOutcome as TurnOutcome
