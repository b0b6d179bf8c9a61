"""Search the web with the first configured service that answers, else without a key."""

import json
import os
import sys
from collections.abc import Mapping
from typing import cast

from search_hits import (
    CHINESE,
    CONTROLS,
    UNREACHED,
    Found,
    Query,
    SearchFailedError,
    as_list,
    as_text,
    rows,
)
from search_keyless import ask_duckduckgo, ask_wikipedia, read_duckduckgo, read_wikipedia
from search_services import SERVICES, Service

FRESHNESS = ("any", "day", "week", "month", "year")
LANGUAGES = ("zh", "en")
MAX_QUERY = 500  # characters; services cut or refuse longer ones
DEFAULT_COUNT = 5
MAX_COUNT = 10
KEYLESS: tuple[Service, ...] = (
    Service(name="duckduckgo", title="DuckDuckGo", setting="", ask=ask_duckduckgo, read=read_duckduckgo),
    Service(name="wikipedia", title="Wikipedia", setting="", ask=ask_wikipedia, read=read_wikipedia),
)
BY_NAME = {service.name: service for service in SERVICES + KEYLESS}
SETTINGS = ", ".join(service.setting for service in SERVICES)


def main(envelope: dict[str, object]) -> dict[str, object]:
    """Take one step: ask the next service, or give the hits of the one that answered.

    `state` is `{"plan": [names still to ask, the asked one first], "tried": [[name, why it failed or ""], …]}`.
    """
    try:
        query = read_query(envelope.get("params"))
    except ValueError as error:
        return {"type": "result", "content": str(error), "is_error": True}
    state = envelope.get("state")
    plan = [name for item in as_list(_get(state, "plan")) if (name := as_text(item)) in BY_NAME]
    tried = [
        (as_text(pair[0]), as_text(pair[1]))
        for item in as_list(_get(state, "tried"))
        if len(pair := as_list(item)) == 2
    ]
    if not plan:
        return ask_next(query, configured(envelope.get("secrets")), tried)
    service = BY_NAME[plan[0]]
    try:
        found = service.read(_object(envelope.get("response")), query)
    except SearchFailedError as error:
        return ask_next(query, plan[1:], [*tried, (service.name, str(error))])
    if found.hits:
        return show(query, service, found, tried)
    return ask_next(query, plan[1:], [*tried, (service.name, "")])


def read_query(params: object) -> Query:
    """Check the arguments.

    Raises:
        ValueError: With a text for the model that says what to write instead.
    """
    given = _object(params)
    text = given.get("query")
    if not isinstance(text, str) or not (text := CONTROLS.sub(" ", text).strip()):
        raise ValueError("query is missing: write what to search for, as text")
    if len(text) > MAX_QUERY:
        raise ValueError(f"query has {len(text)} characters; write at most {MAX_QUERY}")
    count = given.get("count", DEFAULT_COUNT)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_COUNT:
        raise ValueError(f"count is {count!r}; write a whole number from 1 to {MAX_COUNT}")
    freshness = given.get("freshness", "any")
    if freshness not in FRESHNESS:
        raise ValueError(f"freshness is {freshness!r}; write one of {', '.join(FRESHNESS)}")
    lang = given.get("lang") or ("zh" if CHINESE.search(text) else "en")
    if lang not in LANGUAGES:
        raise ValueError(f"lang is {lang!r}; write zh or en")
    # A query is text: it must not name a secret for the host to fill in.
    return Query(text=text.replace("${", "$ {"), count=count, freshness=str(freshness), lang=str(lang))


def configured(secrets: object) -> list[str]:
    """Name the services to ask, in order: those that are set up, then those that need nothing."""
    names = [as_text(name) for name in as_list(secrets)]
    if os.environ.get("SEARXNG_URL", "").strip().startswith(("http://", "https://")):
        names.append("SEARXNG_URL")
    return [service.name for service in SERVICES if service.setting in names] + [service.name for service in KEYLESS]


def ask_next(query: Query, plan: list[str], tried: list[tuple[str, str]]) -> dict[str, object]:
    """Ask the first service of `plan`, or end the call where there is none left."""
    if not plan:
        return give_up(query, tried)
    state = {"plan": plan, "tried": [list(pair) for pair in tried]}
    return {**BY_NAME[plan[0]].ask(query), "state": state}


def show(query: Query, service: Service, found: Found, tried: list[tuple[str, str]]) -> dict[str, object]:
    """Write the hits as a numbered list, and say what went wrong before."""
    is_zh = query.lang == "zh"
    head = f"“{query.text}”的搜索结果（来源：{service.title}）："
    if not is_zh:
        head = f"Results for “{query.text}” (source: {service.title}):"
    lines = [head]
    if found.answer:
        lines.append(f"摘要：{found.answer}" if is_zh else f"In short: {found.answer}")
    for number, hit in enumerate(found.hits, start=1):
        extra = ", ".join(part for part in (hit.source, hit.date) if part)
        parts = [part for part in (hit.title, hit.url, hit.snippet) if part]
        lines.append(f"{number}. {' — '.join(parts)}" + (f" ({extra})" if extra else ""))
    notes = explain(tried, is_zh=is_zh)
    if service.name == "wikipedia":
        notes.append(_only_wikipedia(query, is_zh=is_zh))
    lines += [f"注：{note}" if is_zh else f"Note: {note}" for note in notes]
    shown: dict[str, object] = {"provider": service.name, "results": rows(found.hits), "notes": notes}
    if found.answer:
        shown["answer"] = found.answer
    return {"type": "result", "content": "\n".join(lines), "data": shown}


def give_up(query: Query, tried: list[tuple[str, str]]) -> dict[str, object]:
    """End without hits: nothing was found where a web search answered, an error where none did."""
    is_zh = query.lang == "zh"
    notes = explain(tried, is_zh=is_zh)
    nothing: dict[str, object] = {"provider": "", "results": [], "notes": notes}
    has_answered = any(name != "wikipedia" and not reason for name, reason in tried)
    listed = "；".join(notes) if is_zh else "; ".join(notes)
    if has_answered:
        text = f"没有找到“{query.text}”的结果" if is_zh else f"Nothing was found for “{query.text}”"
        text = f"{text}（{listed}）。" if is_zh else f"{text} ({listed})."
        return {"type": "result", "content": text, "data": nothing}
    if is_zh:
        text = f"搜索没有成功：{listed}。可以请管理员配置其中一项后再试：{SETTINGS}。"
    else:
        text = f"The search failed: {listed}. Ask the operator to set one of {SETTINGS}."
    return {"type": "result", "content": text, "is_error": True, "data": nothing}


def explain(tried: list[tuple[str, str]], *, is_zh: bool) -> list[str]:
    """Write for each service that gave no hits why."""
    notes: list[str] = []
    for name, reason in tried:
        title = BY_NAME[name].title if name in BY_NAME else name
        if reason in UNREACHED:
            reason = UNREACHED[reason][0 if is_zh else 1]  # noqa: PLW2901 - the same reason, in words
        if is_zh:
            notes.append(f"{title} 失败（{reason}）" if reason else f"{title} 没有结果")
        else:
            notes.append(f"{title} failed ({reason})" if reason else f"{title} found nothing")
    return notes


def _only_wikipedia(query: Query, *, is_zh: bool) -> str:
    """Say what an answer from Wikipedia alone is not."""
    if is_zh:
        dated = "，不按时间筛选" if query.freshness != "any" else ""
        return f"以上只来自维基百科{dated}；要搜索整个网络，请配置其中一项：{SETTINGS}"
    dated = ", regardless of date" if query.freshness != "any" else ""
    return f"these are from Wikipedia alone{dated}; for the whole web set one of {SETTINGS}"


def _object(value: object) -> Mapping[str, object]:
    """Read a JSON object; an empty one for everything else."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _get(value: object, key: str) -> object:
    """Read a field of what should be an object."""
    return _object(value).get(key)


def run() -> None:
    """Serve one line of standard input; nothing is said at its end."""
    line = sys.stdin.buffer.readline()
    if not line.strip():
        return
    try:
        envelope = json.loads(line)
    except ValueError as error:
        envelope = None
        problem = f"the line is not JSON: {error}"
    else:
        problem = "the line is not a JSON object"
    if isinstance(envelope, dict):
        message = main(cast("dict[str, object]", envelope))
    else:
        message = {"type": "result", "content": problem, "is_error": True}
    print(json.dumps(message))


if __name__ == "__main__":
    run()
