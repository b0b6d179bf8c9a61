"""Small working tools that people begin with: `ias tools new`."""

import re
from dataclasses import dataclass
from pathlib import Path

from ias.cli.exits import UsageError

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

SPEC = """\
# The fields are explained in specs/README.md; `ias tools check` says what is wrong with them.
name: {name}
desc: Says a text back, loudly if asked. Write here what a model should know to choose this tool.
type: local
path: {program}
risk_level: low
timeout_secs: 10
keywords: [{name}]
params:
  - name: text
    required: true
    desc: what to say
  - name: loud
    type: boolean
    default: false
    desc: in capital letters
examples:
  - ask: Say hello
    params: {{text: hello}}
"""

PYTHON = '''\
#!/usr/bin/env python3
"""A tool: one line of JSON in, one line of JSON out."""

import json
import sys


def main(envelope: dict) -> dict:
    """Answer one call. To reach the network, return {"type": "http", "method": "GET", "url": …} instead."""
    text = envelope["params"]["text"]
    return {"type": "result", "content": text.upper() if envelope["params"].get("loud") else text}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.stdin.readline()))))
'''

SHELL = """\
#!/bin/sh
# A tool: one line of JSON in, one line of JSON out. The text is taken as it is written in the line, escapes and all,
# so that it can be put back into JSON unchanged; a text with escapes is therefore never made loud.
IFS= read -r line
text=$(printf '%s\\n' "$line" | sed -n 's/.*"text": *"\\(\\([^"\\\\]\\|\\\\.\\)*\\)".*/\\1/p')
case $line in
  *'"loud": true'* | *'"loud":true'*)
    case $text in
      *\\\\*) ;;
      *) text=$(printf '%s' "$text" | tr '[:lower:]' '[:upper:]') ;;
    esac
    ;;
esac
printf '{"type": "result", "content": "%s"}\\n' "$text"
"""

NODE = """\
#!/usr/bin/env node
// A tool: one line of JSON in, one line of JSON out.
let input = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => (input += piece));
process.stdin.on("end", () => {
  const { params } = JSON.parse(input);
  const content = params.loud ? params.text.toUpperCase() : params.text;
  console.log(JSON.stringify({ type: "result", content }));
});
"""


@dataclass(frozen=True, slots=True)
class Template:
    """A program in one language."""

    suffix: str
    text: str


TEMPLATES = {
    "python": Template(".py", PYTHON),
    "sh": Template(".sh", SHELL),
    "node": Template(".js", NODE),
}


def make_tool(folder: Path, name: str, lang: str) -> tuple[Path, Path]:
    """Write a tool's program and spec.

    Args:
        folder: The tools folder.
        name: The tool's name, its folder's too.
        lang: `python`, `sh` or `node`.

    Returns:
        The program and the spec.

    Raises:
        UsageError: The name or language is not possible, or something is there already.
    """
    template = TEMPLATES.get(lang)
    if template is None:
        raise UsageError(f"--lang {lang!r} is not known; write one of {', '.join(TEMPLATES)}")
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a tool; use small letters, digits and _, beginning with a letter")
    place = folder / name
    if place.exists():
        raise UsageError(f"{str(place)!r} is there already; choose another name")
    program = place / f"{name}{template.suffix}"
    spec = place / "specs" / f"{name}.tool.yaml"
    spec.parent.mkdir(parents=True)
    program.write_text(template.text, encoding="utf-8")
    program.chmod(0o755)
    spec.write_text(SPEC.format(name=name, program=program.name), encoding="utf-8")
    return program, spec
