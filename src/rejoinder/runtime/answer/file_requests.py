"""Carries out requests to send files: each is checked, stored, and sent with its neighbours (DE-37, OD-52)."""

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from rejoinder.blobs import Blob, Blobs
from rejoinder.channels.base import CanSendFiles
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import FileRefused, StoreUnavailable
from rejoinder.events import Route
from rejoinder.outbound import plan
from rejoinder.outbound.directives.effects import SendFile
from rejoinder.outbound.directives.send_file import is_address
from rejoinder.outbound.plan import AnswerWording, PlannedOperation
from rejoinder.outbound.redact import redact
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.action_log import TOO_MANY, ActionLog
from rejoinder.runtime.answer.context import AnswerContext
from rejoinder.runtime.answer.files import (
    FileGroup,
    StoredFile,
    attached,
    file_key,
    keep,
    keep_content,
    keep_remote,
    unsent,
)
from rejoinder.runtime.answer.shaped_reply import ShapedReply
from rejoinder.runtime.folders import OutboxFolder
from rejoinder.runtime.outbox.conversations import Conversation


class FileRequests:
    def __init__(self, conversation: Conversation, context: AnswerContext, log: ActionLog, reply: ShapedReply) -> None:
        self._conversation = conversation
        self._context = context
        self._log = log
        self._reply = reply
        self._given = 0  # files whose content the agent gave
        self._loaded = 0  # files that the agent named by their address
        self._files: FileGroup | None = None  # the files named last, not sent yet: more may join them

    @property
    def is_waiting(self) -> bool:
        """Whether there are files for `flush` to send."""
        return self._files is not None

    async def send(self, effect: SendFile, name: str, content: bytes | None = None) -> None:
        here, path, folder = self._conversation.route, effect.path, self._context.folder
        what = f"{name} {path}"
        if effect.channel is not None and effect.chat is None:
            return await self._log.fail(what, "failed", "a channel needs a chat")
        elsewhere = effect.chat is not None
        route = Route(effect.channel or here.channel, effect.chat, account=here.account) if effect.chat else here
        outbox = self._conversation.outbox
        channel, delivery = outbox.serving(route), outbox.delivery(route.channel)
        if channel is None or delivery is None:
            return await self._log.fail(what, "failed", f"there is no channel {route.channel!r}")
        if (why := await self._context.out_of_reach(route, self._conversation)) is not None:
            return await self._log.deny(what, why, name)
        if folder is None or not can(channel, CanSendFiles):
            return await self._log.fail(what, "unsupported", f"{route.channel} cannot send files")
        is_remote = content is None and self._context.loads_files is not None and is_address(path)
        key = file_key(self._log.stem, effect)
        if content is not None:  # several may have the same name, or none
            self._given += 1
            key = f"{key}/{self._given}"
        if key in self._log:
            return
        if self._log.is_full():  # before anything is stored
            return await self._log.deny(what, TOO_MANY, name)
        self._log.add(key)
        limits = outbox.file_limits(channel, route)
        try:
            if content is not None:
                blob = await keep_content(key, path, content, outbox.blobs, limits.size)
            elif is_remote:
                blob = await self._load(key, path, outbox.blobs, limits.size)
            else:
                blob = await keep(key, path, folder, outbox.blobs, limits.size)
        except FileRefused as refusal:
            return await self._log.fail(what, "denied" if refusal.denied else "failed", str(refusal))
        except StoreUnavailable as fault:
            return await self._log.fail(what, "failed", str(fault))
        crashpoint("K27")
        wording = AnswerWording(
            author=self._context.agent,
            silent=self._reply.shape.silent,
            only_for=None if elsewhere else self._reply.shape.only_for,
            opens=None if elsewhere else self._context.opens,
            reply_context=None if elsewhere else self._context.reply_context,
        )
        named = StoredFile(what, key, attached(blob, self._kind(effect, blob), limits), redact(effect.caption))
        await self._put_together(FileGroup(route, limits, delivery.options, wording), named)
        if effect.cleanup and not is_remote:
            await self._clean_up(folder, path)

    async def _load(self, key: str, address: str, blobs: Blobs, most: int) -> Blob:
        """Loads a file from an address (OD-58), under the same limits as links from people (DE-38)."""
        loads = self._context.loads_files
        assert loads is not None
        self._loaded += 1
        if self._loaded > loads.most:
            raise FileRefused(f"at most {loads.most} files of an answer are loaded from an address", denied=True)
        return await keep_remote(key, address, loads, blobs, most)

    def _kind(self, effect: SendFile, blob: Blob) -> str | None:
        """With `[[audio_as_voice]]` an audio file becomes a voice note."""
        return "voice" if self._reply.shape.as_voice and blob.mime.startswith("audio/") else effect.kind

    async def _put_together(self, here: FileGroup, named: StoredFile) -> None:
        """Consecutive files share a message, if the platform has room for them."""
        if self._files is not None and not self._files.takes(here, named):
            await self.flush()
        here = self._files or here
        self._files = replace(here, files=(*here.files, named))

    async def flush(self) -> None:
        """Sends the files that were named last, because something else follows now."""
        group, self._files = self._files, None
        if group is None:
            return
        if self._log.run is not None:
            left = await unsent(group, self._log.stem, self._conversation.store)
            for named in group.files:
                if named not in left.files:
                    self._log.outcomes.note(named.what, "done")
            group = left
        if group.files:
            results = self._conversation.outbox.at(group.route).post(group.planned(self._log.stem), self._log.run)
            for named in group.files:
                self._log.follow(named.what, results[:1])
            self._log.follow(group.files[0].what, results[1:])

    async def show_whole(self, path: str) -> Sequence[PlannedOperation]:
        """The message with the file that has the whole answer. If it cannot be sent, there is no message and the file
        stays in its folder."""
        folder, here = self._context.folder, self._conversation
        if folder is None or not can(here.channel, CanSendFiles):
            return ()
        key, limits = f"{self._log.stem}/whole", here.outbox.file_limits(here.channel, here.route)
        try:
            blob = await keep(key, path, folder, here.outbox.blobs, limits.size)
        except (FileRefused, StoreUnavailable) as why:
            self._log.outcomes.note(f"send_file {path}", "failed", str(why))
            return ()
        wording = replace(self._reply.wording(), reply_to=None, silent=True)
        file = attached(blob, "document", limits)
        return plan.show_files((file,), "", here.route, here.settings.delivery.options, wording, key)

    async def _clean_up(self, folder: OutboxFolder, path: str) -> None:
        """The store has its own copy by now, so the file may go; removing an agent's files needs its own grant."""
        what = f"cleanup of {path}"
        if "cleanup" not in self._context.granted:
            return await self._log.fail(what, "denied", "it is not granted here")
        try:
            await asyncio.to_thread(folder.remove, path)
            self._log.outcomes.note(what, "done")
        except FileRefused as refusal:
            await self._log.fail(what, "failed", str(refusal))

    def call_off(self) -> None:
        """Forgets the files that were named last and not sent yet."""
        self._files = None
