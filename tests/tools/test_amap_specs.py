"""The specs of the map tool agree with the program."""

import pytest

from tests.tools.host import Message, serve, specs_of

SPECS = specs_of("amap")


def test_there_is_one_spec_for_each_of_the_six_tools() -> None:
    assert sorted(tool["name"] for tool in SPECS) == [
        "amap_around",
        "amap_distance",
        "amap_geocode",
        "amap_regeocode",
        "amap_route",
        "amap_search",
    ]


@pytest.mark.parametrize("tool", SPECS, ids=lambda tool: str(tool["name"]))
def test_the_examples_of_a_spec_lead_to_requests_to_its_hosts(tool: Message) -> None:
    declared = {param["name"] for param in tool["params"]}

    for example in tool["examples"]:
        assert set(example["params"]) <= declared
        message = serve(tool["name"], {"params": example["params"], "secrets": ["AMAP_KEY"]})
        requests = message["requests"] if message["type"] == "batch" else [message]
        assert {request["url"].split("/")[2] for request in requests} <= set(tool["hosts"])
