"""The operator's terminal as a channel: what concerns calls that no conversation shows is said there."""

from ias.channels.base import Parcel
from ias.domain.approvals import Safety
from ias.domain.jobs import Delivered, Sent
from ias.logs import Logs


class OperatorChannel:
    """Says notices and questions on the daemon's terminal; a line that comes twice does no harm."""

    name = "operator"
    safety = Safety.REPEAT

    def __init__(self, logs: Logs) -> None:
        self._logs = logs

    async def send(self, parcel: Parcel) -> Delivered:
        """Write the line."""
        self._logs.ops.info("operator_told", text=parcel.text)
        if parcel.kind == "notice":
            self._logs.error.warning("operator_told", tag="channel", text=parcel.text)
        return Delivered(outcome=Sent.SENT)
