"""The tool queue's handler: it lets the runner advance one run until it ends or must wait."""

from structlog.contextvars import bound_contextvars

from ias.domain.jobs import Job, Outcome, RunEnded
from ias.logs import Logs
from ias.runtime.runner import Runner


class ToolHandler:
    """Advances the run that owns the job; a run that needs a person is parked and frees the worker."""

    def __init__(self, runner: Runner, logs: Logs) -> None:
        self._runner = runner
        self._logs = logs

    async def handle(self, job: Job) -> Outcome:
        """Work on a run until it is finished, parked or lost."""
        with bound_contextvars(conversation_id=job.conversation_id, run_id=job.owner_id):
            outcome = await self._runner.advance(job)
            if isinstance(outcome, RunEnded):
                self._logs.msg.info("tool_result", tag="tool", code=outcome.result.code, text=outcome.result.content)
            return outcome
