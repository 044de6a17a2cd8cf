"""`/metrics` for Prometheus. Figures from the store are read at each request."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import EVENT_STATES, INPUT_STATES, PART_STATES, TURN_STATES, Deployment
from rejoinder.web.services import PageServices

STATES = {"events": EVENT_STATES, "inputs": INPUT_STATES, "turns": TURN_STATES, "parts": PART_STATES}
"""The tables of a census, and the states their rows can be in."""
SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    def __init__(self) -> None:
        own = self.registry = CollectorRegistry()
        self.received = Counter(
            "rejoinder_messages_received", "Messages that came in, by `channel`.", ["channel"], registry=own
        )
        self.decided = Counter(
            "rejoinder_messages_decided",
            "Messages by `channel` and what became of them (`outcome`).",
            ["channel", "outcome"],
            registry=own,
        )
        self.sent = Counter(
            "rejoinder_messages_sent", "Messages that platforms accepted, by `channel`.", ["channel"], registry=own
        )
        self.turns = Counter(
            "rejoinder_turns", "Turns that ended, by `agent` and `outcome`.", ["agent", "outcome"], registry=own
        )
        self.first_word = Histogram(
            "rejoinder_first_reply_seconds",
            "From a message to the first words that people see.",
            buckets=SECONDS,
            registry=own,
        )
        self.answered = Histogram(
            "rejoinder_answer_seconds",
            "From a message to the end of the turn that answered it.",
            buckets=SECONDS,
            registry=own,
        )
        self._rows = Gauge(
            "rejoinder_store_rows", "Rows of the store by `table` and `state`.", ["table", "state"], registry=own
        )
        self._runs = Gauge("rejoinder_runs", "Agents at work.", registry=own)
        self._sockets = Gauge("rejoinder_web_sockets", "Browsers that are connected.", registry=own)
        self._dropped = Gauge(
            "rejoinder_web_sockets_dropped", "Browsers disconnected for being too slow.", registry=own
        )
        self._up = Gauge("rejoinder_channel_up", "Whether a `channel` listens.", ["channel"], registry=own)
        self._sign = Gauge(
            "rejoinder_channel_last_sign_seconds",
            "Seconds since the platform of a `channel` last gave a sign of life.",
            ["channel"],
            registry=own,
        )
        self._processes = Gauge(
            "rejoinder_processes", "Processes on this store that are alive, by `role`.", ["role"], registry=own
        )
        self._shards = Gauge("rejoinder_shards", "Shards that each `process` holds.", ["process"], registry=own)
        self._lease = Gauge(
            "rejoinder_lease_seconds",
            "Seconds until the leases of a `process` run out; on SQLite they never do.",
            ["process"],
            registry=own,
        )
        self._unowned = Gauge("rejoinder_shards_unowned", "Shards that no process holds.", registry=own)
        self._lag = Gauge(
            "rejoinder_lag_seconds", "Age in seconds of the oldest message that is not decided yet.", registry=own
        )
        self._store = Gauge("rejoinder_store_up", "Whether the store can be read.", registry=own)

    async def text(self, services: PageServices) -> bytes:
        hub = services.channel.hub
        self._sockets.set(len(hub.connections))
        self._dropped.set(hub.dropped)
        for state in services.channels():
            self._up.labels(state.name).set(state.listening)
            if state.silent_for is not None:
                self._sign.labels(state.name).set(state.silent_for)
        try:
            census, deployment = await services.store.count_rows(), await services.store.deployment()
        except StoreUnavailable:
            self._store.set(0)
        else:
            self._store.set(1)
            self._runs.set(census.runs)
            for table, states in STATES.items():
                counted = getattr(census, table)
                for state in states:  # including states that no row is in any more
                    self._rows.labels(table, state).set(counted.get(state, 0))
            self._show(deployment)
        return generate_latest(self.registry)

    def _show(self, deployment: Deployment) -> None:
        self._unowned.set(deployment.unowned)
        self._lag.set(deployment.lag_seconds)
        for each in (self._shards, self._lease):
            each.clear()  # removes processes that have ended
        for role, claims in (("claims shards", True), ("front", False)):
            self._processes.labels(role).set(sum(each.claims is claims for each in deployment.processes))
        for each in deployment.processes:
            self._shards.labels(each.name).set(each.shards)
            if each.lease_seconds is not None:
                self._lease.labels(each.name).set(each.lease_seconds)
