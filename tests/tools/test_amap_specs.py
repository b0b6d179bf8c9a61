"""The specs of the map tool agree with the program."""

from pathlib import Path

import pytest
import yaml

from tests.tools.amap_steps import FOLDER, KEYED, Message, serve

SPECS = sorted((FOLDER / "specs").glob("*.tool.yaml"))


def spec_of(path: Path) -> Message:
    return yaml.safe_load(path.read_text("utf-8"))


def test_there_is_one_spec_for_each_of_the_six_tools() -> None:
    assert sorted(spec_of(path)["name"] for path in SPECS) == [
        "amap_around",
        "amap_distance",
        "amap_geocode",
        "amap_regeocode",
        "amap_route",
        "amap_search",
    ]


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_the_examples_of_a_spec_lead_to_requests_to_its_hosts(path: Path) -> None:
    spec = spec_of(path)
    declared = {param["name"] for param in spec["params"]}

    for example in spec["examples"]:
        assert set(example["params"]) <= declared
        message = serve(spec["command"], {"params": example["params"], "secrets": list(KEYED)})
        requests = message["requests"] if message["type"] == "batch" else [message]
        assert {request["url"].split("/")[2] for request in requests} <= set(spec["hosts"])
