"""The `db` requests of tools, carried out inside the transaction that journals them: exactly once."""

import json
from collections.abc import Mapping

from ias.errors import Code, InvalidArgumentsError
from ias.store.base import Row, Steps
from ias.store.text import pack
from ias.store.transactions.kv import KV_OPERATIONS
from ias.store.transactions.locks import Held
from ias.store.transactions.memories import MEMORY_OPERATIONS
from ias.store.transactions.operation import Caller, Operation, failed

OPERATIONS: Mapping[str, Operation] = {operation.name: operation for operation in (*MEMORY_OPERATIONS, *KV_OPERATIONS)}


def carry_out(held: Held, row: Row, step: Row) -> Steps[str]:
    """Do what the stored bytes of a step say, for the user of the conversation; gives the response's JSON text."""
    request = json.loads(step["request"])
    operation = OPERATIONS.get(request["operation"])
    if operation is None:
        return pack(failed(Code.DB_FAILED, f"there is no operation {request['operation']!r}"))
    try:
        params = operation.check(json.loads(request["params"]))
    except InvalidArgumentsError as error:
        return pack(failed(Code.INVALID_ARGUMENTS, str(error)))
    caller = Caller(
        ids=held.ids,
        user_id=held.conversation["user_id"],
        space=step["space"] or row["tool"],
        now=held.at,
        run_id=row["id"],
    )
    return pack((yield from operation.work(caller, params)))
