"""Maps: addresses, places, routes and distances from AMap, or OpenStreetMap without a key."""

import json
import sys
from collections.abc import Callable

from addresses import geocode, regeocode
from amap_call import Call, Message, Refusal, read_call, result
from amap_distance import distance
from amap_places import around, search
from amap_route import route

COMMANDS: dict[str, Callable[[Call], Message]] = {
    "geocode": geocode,
    "regeocode": regeocode,
    "search": search,
    "around": around,
    "route": route,
    "distance": distance,
}


def main(envelope: Message) -> Message:
    """Serve one step of the command that is the program's first argument."""
    call = read_call(envelope)
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    serve = COMMANDS.get(command)
    if serve is None:
        names = ", ".join(COMMANDS)
        text = call.say(f"没有命令 {command!r}，可用：{names}", f"no command {command!r}: {names}")
        return result(text, {}, is_error=True)
    try:
        return serve(call)
    except Refusal as refusal:
        return result(call.say(refusal.zh, refusal.en), refusal.facts, is_error=True)


if __name__ == "__main__":
    line = sys.stdin.buffer.readline()
    if line:
        sys.stdout.write(json.dumps(main(json.loads(line))) + "\n")
