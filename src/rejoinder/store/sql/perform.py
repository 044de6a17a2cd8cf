"""The table of verbs: the function that carries out each verb."""

from collections.abc import Callable
from typing import Any

from rejoinder.store import base
from rejoinder.store.base import Lease, Verb
from rejoinder.store.sql import (
    blobs,
    home_requests,
    hook_events,
    inbox,
    jobs,
    leases,
    memory,
    messages,
    outbox,
    questions,
    rooms,
    subagents,
    turns,
    upkeep,
)
from rejoinder.store.sql.connection import SqlConnection

PERFORM: dict[type[Verb[Any]], Callable[[SqlConnection, Any], Any]] = {
    base.Accept: inbox.accept,
    base.MoveCursor: inbox.move_cursor,
    base.MoveEvent: inbox.move_event,
    base.CountEventAttempts: inbox.count_event_attempts,
    base.TakeBackEventAttempts: inbox.take_back_event_attempts,
    base.RouteEvent: inbox.route_event,
    base.PutUnderstood: inbox.put_understood,
    base.QuarantineEvent: inbox.quarantine_event,
    base.RequestEventRerun: inbox.request_event_rerun,
    base.ReadmitEvent: inbox.readmit_event,
    base.SettleEvent: inbox.settle_event,
    base.DropInputs: inbox.drop_inputs,
    base.ReviseInput: inbox.revise_input,
    base.SummariseInputs: inbox.summarise_inputs,
    base.BeginTurn: turns.begin_turn,
    base.ResumeTurn: turns.resume_turn,
    base.CloseTurn: turns.close_turn,
    base.QuarantineTurn: turns.quarantine_turn,
    base.RequestTurnRerun: turns.request_turn_rerun,
    base.ReadmitTurn: turns.readmit_turn,
    base.SteerInputs: turns.steer_inputs,
    base.EndRun: turns.end_run,
    base.ReleaseRun: turns.release_run,
    base.PlanParts: outbox.plan_parts,
    base.ClaimPart: outbox.claim_part,
    base.MarkSent: outbox.mark_sent,
    base.MarkUnknown: outbox.mark_unknown,
    base.RetryPart: outbox.retry_part,
    base.HoldPart: outbox.hold_part,
    base.ResendPart: outbox.resend_part,
    base.BuryPart: outbox.bury_part,
    base.DropPart: outbox.drop_part,
    base.WithdrawParts: outbox.withdraw_parts,
    base.PutSession: memory.put_session,
    base.QuarantineSession: memory.quarantine_session,
    base.PutAgentSession: memory.put_agent_session,
    base.AppendTranscript: memory.append_transcript,
    base.NoteMessages: messages.note_messages,
    base.ForgetMessage: messages.forget_message,
    base.ClearBotTurns: messages.clear_bot_turns,
    base.Trace: memory.trace,
    base.PutPairingRequest: memory.put_pairing_request,
    base.PairSender: memory.approve_pairing,
    base.Unpair: memory.unpair,
    base.EditAllow: memory.edit_allow,
    base.PutJob: jobs.put_job,
    base.CreateOwnEvent: jobs.create_own_event,
    base.SkipTick: jobs.skip_tick,
    base.RecordJobReply: jobs.record_job_reply,
    base.PauseJob: jobs.pause_job,
    base.RequestJobRun: jobs.request_job_run,
    base.PutSubagent: subagents.put_subagent,
    base.WriteOffSubagent: subagents.write_off_subagent,
    base.PutHookEvents: hook_events.put_hook_events,
    base.ClaimHookEvent: hook_events.claim_hook_event,
    base.FreeHookEvents: hook_events.free_hook_events,
    base.EndHookEvent: hook_events.end_hook_event,
    base.RetryHookEvent: hook_events.retry_hook_event,
    base.AskHome: home_requests.ask_home,
    base.EndHomeRequest: home_requests.end_home_request,
    base.PutQuestion: questions.put_question,
    base.BeginBlob: blobs.begin_blob,
    base.AddChunk: blobs.add_chunk,
    base.EndBlob: blobs.end_blob,
    base.DropBlob: blobs.drop_blob,
    base.NameBlobs: blobs.name_blobs,
    base.OpenLog: rooms.open_log,
    base.RecordChanges: rooms.record_changes,
    base.PutFact: rooms.put_fact,
    base.Sweep: upkeep.sweep,
}


def perform(db: SqlConnection, verbs: tuple[Verb[Any], ...], lease: Lease | None = None) -> tuple[Any, ...]:
    """`lease`: that of the writing engine; without it, the verbs are written for no shard."""
    db.act_for(None if lease is None else leases.held(db, lease))
    results: list[Any] = []
    for verb in verbs:  # a comprehension would be one more call for each write
        results.append(PERFORM[type(verb)](db, verb))
    return tuple(results)
