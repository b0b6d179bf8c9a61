"""Weather now, by day and by hour: QWeather where it is set up, else Open-Meteo without a key."""

import json
import sys

from weather_fields import Json
from weather_flow import PARTS, take_step
from weather_step import Refusal, read_call, result


def main(envelope: Json) -> Json:
    """Serve one step of the command that is the program's first argument."""
    call = read_call(envelope)
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command not in PARTS:
        names = ", ".join(PARTS)
        text = call.say(f"没有命令 {command!r}，可用：{names}", f"no command {command!r}: {names}")
        return result(text, {}, is_error=True)
    try:
        return take_step(call, command)
    except Refusal as refusal:
        return result(call.say(refusal.zh, refusal.en), refusal.facts, is_error=True)


if __name__ == "__main__":
    line = sys.stdin.buffer.readline()
    if line:
        sys.stdout.write(json.dumps(main(json.loads(line))) + "\n")
