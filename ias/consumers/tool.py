"""The tool queue's handler: it lets the runner advance one run until it ends or must wait."""

from structlog.contextvars import bound_contextvars

from ias.domain.jobs import Job, Outcome
from ias.runtime.runner import Runner


class ToolHandler:
    """Advances the run that owns the job; a run that needs a person is parked and frees the worker."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def handle(self, job: Job) -> Outcome:
        """Work on a run until it is finished, parked or lost."""
        with bound_contextvars(conversation_id=job.conversation_id, run_id=job.owner_id):
            return await self._runner.advance(job)
