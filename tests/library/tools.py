"""What tests of the library share: a tool in Python, and a dropped-in program that does what its arguments say."""

import json
from collections.abc import Sequence
from pathlib import Path

from ias import BaseTool, Permission
from ias.domain.messages import JsonObject, JsonValue

# It says line by line what its arguments tell it to; `echo` stands for what it was given.
PLAYER = """\
import json
import sys

given = json.loads(sys.stdin.readline())
line = json.loads(given["params"]["script"])[given["step"]]
if line == "echo":
    line = {"type": "result", "content": "done", "data": given.get("response")}
print(json.dumps(line))
"""
SPEC = """\
name: {name}
desc: Says what it is told
type: {type}
path: player.py
{hosts}
params:
  - {{name: script, required: true, desc: lines to say}}
"""
HOST = "shop.example.com"
GET: JsonObject = {"type": "http", "method": "GET", "url": f"https://{HOST}/orders"}
POST: JsonObject = {
    "type": "http",
    "method": "POST",
    "url": f"https://{HOST}/orders",
    "headers": {"X-Key": "${SHOP_KEY}"},
    "body": "item=7",
}


class Weather(BaseTool):
    """A tool in Python, as a program that embeds ias writes it."""

    @property
    def name(self) -> str:
        return "get_weather"

    @property
    def description(self) -> str:
        return "Current weather of a city"

    @property
    def parameters(self) -> JsonObject:
        return {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

    def required_permissions(self) -> tuple[Permission, ...]:
        return (Permission.NETWORK,)

    async def execute(self, args: JsonObject) -> JsonValue:
        return {"city": args["city"], "temp": 22}


def put_player(top: Path, name: str = "player", *, kind: str = "http") -> Path:
    """Put the program into a folder of tools; gives that folder."""
    specs = top / name / "specs"
    specs.mkdir(parents=True)
    more = f"hosts: [{HOST}]\nsecrets: [SHOP_KEY]" if kind == "http" else "risk_level: low"
    (specs / f"{name}.tool.yaml").write_text(SPEC.format(name=name, type=kind, hosts=more), "utf-8")
    (specs.parent / "player.py").write_text(PLAYER, "utf-8")
    return top


def script(*lines: JsonValue) -> str:
    """Give the arguments that make the program say these lines, as a model writes them."""
    return json.dumps({"script": json.dumps(lines)})


def kinds(events: Sequence[object]) -> list[str]:
    """Give the names of some events."""
    return [type(event).__name__ for event in events]
