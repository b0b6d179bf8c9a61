"""How a request can fail: certainly unsent, or nobody knows."""

from ias.errors import Code, ToolError


class NotSentError(ToolError):
    """No byte of the request left; trying again is safe."""

    code = Code.HTTP_FAILED


class UnknownOutcomeError(ToolError):
    """Bytes of a request that must not be repeated left, and no answer came: it may have been carried out or not."""

    code = Code.OUTCOME_UNKNOWN


class ExchangeError(ToolError):
    """The request was sent, and no usable answer came back."""

    code = Code.HTTP_FAILED
