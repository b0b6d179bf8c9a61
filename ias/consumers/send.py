"""The send queue's handler: one delivery to its channel, at most once per claim."""

import json
from collections.abc import Mapping

from structlog.contextvars import bound_contextvars

from ias.channels.base import Channel, Parcel
from ias.domain.jobs import Delivered, Job, Outcome, Retry, Sent, Settled
from ias.logs import Logs
from ias.store.base import Row, Store, Terms
from ias.store.transactions.deliveries import SendNow, start_delivery


class SendHandler:
    """Sends what `start_delivery` hands out; the commit of `sending` comes before the first byte."""

    def __init__(self, store: Store, channels: Mapping[str, Channel], terms: Terms, logs: Logs) -> None:
        self._store = store
        self._channels = channels
        self._terms = terms
        self._logs = logs

    async def handle(self, job: Job) -> Outcome:
        """Send the delivery that owns the job, if it is still to be sent."""
        with bound_contextvars(conversation_id=job.conversation_id):
            begun = await self._store.run(start_delivery(self._terms, job))
            if not isinstance(begun, SendNow):
                return Settled()
            outcome = await self._send(begun.delivery)
            if outcome.error:
                self._logs.error.error("delivery_failed", tag="channel", text=outcome.error)
            return outcome

    async def _send(self, delivery: Row) -> Delivered | Retry:
        channel = self._channels.get(delivery["channel"])
        if channel is None:
            return Delivered(outcome=Sent.REJECTED, error=f"there is no channel {delivery['channel']!r} in config.yaml")
        return await channel.send(
            Parcel(
                conversation_id=delivery["conversation_id"],
                address=delivery["address"],
                kind=delivery["kind"],
                text=json.loads(delivery["body"]),
                key=f"{delivery['conversation_id']}:{delivery['seq']}",
            )
        )
