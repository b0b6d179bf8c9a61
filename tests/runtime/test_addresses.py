"""Which addresses may be reached, in all the spellings that lead somewhere else than they seem to."""

import socket

import pytest

from ias.domain.urls import parse_url
from ias.errors import Code, ToolError
from ias.runtime.addresses import check_addresses, is_address, is_local, is_public, parse_endpoint

PUBLIC = [
    "93.184.216.34",
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "192.167.1.1",
    "223.255.255.1",
    "2606:2800:220:1:248:1893:25c8:1946",
    "2400:3200::1",
    "::ffff:93.184.216.34",
    "64:ff9b::5db8:d822",
    "2002:5db8:d822::1",
]
NOT_PUBLIC = [
    "0.0.0.0",  # noqa: S104 - an address to refuse, nothing binds to it
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:100.64.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2001::1",
    "2001:db8::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "100::1",
]
# Every one reaches, or once reached, something that is nobody's business, or hides where it goes.
HOSTILE = [
    "http://127.0.0.1/",
    "http://127.0.0.1:8787/api/approvals",
    "http://127.0.0.2/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.01/",
    "http://0/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fec0::1]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[ff02::1]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://[::ffff:169.254.169.254]/",
    "http://100.100.100.200/latest/meta-data/",
    "http://192.0.0.192/opc/v2/instance/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://①②⑦.⓪.⓪.①/",
    "http://\uff11\uff12\uff17.0.0.1/",
    "http://127。0。0。1/",
    "http://127.0.0.1./",
    "http://user@a.example/",
    "http://user:password@127.0.0.1/",
    "http://a.example@127.0.0.1/",
    "http://127.0.0.1\\@a.example/",
    "http://a.example\\.evil.example/",
    "http://evil.example\t.a.example/",
    "http://evil.example\n.a.example/",
    "http://evil.example\x00.a.example/",
    "http://evil.example%00.a.example/",
    "http://a.example%2eevil.example/",
    "http://a.example:0/",
    "http://a.example:/",
    "http://a.example:99999/",
    "http://a.example:80:80/",
    "http:///etc/passwd",
    "http://",
    "//a.example/",
    "a.example",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_INFO",
    "ftp://a.example/",
    "unix:///var/run/docker.sock",
    "javascript:alert(1)",
    "http://[a.example]/",
    "http://[127.0.0.1]/",
    "http://[::1/",
    "http://::1/",
    "http://-a.example/",
    "http://a..example/",
    "http://a .example/",
    f"http://{'a' * 64}.example/",
    f"http://a.example/{'x' * 4096}",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_any_other_address_is_not(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("url", HOSTILE)
def test_a_hostile_url_is_refused_before_anything_is_sent(url: str) -> None:
    assert is_refused(url)


def is_refused(url: str) -> bool:
    try:
        parsed = parse_url(url)
    except ValueError:
        return True
    assert is_address(parsed.host), f"{parsed.host!r} would be looked up"
    try:
        check_addresses(parsed.host, parsed.port, (parsed.host,), allow_private=frozenset(), own_ports=frozenset())
    except ToolError as error:
        return error.code is Code.ADDRESS_NOT_ALLOWED
    return False


def check(host: str, port: int, *addresses: str) -> None:
    check_addresses(
        host,
        port,
        addresses,
        allow_private=frozenset({("nas.home", 5000), ("127.0.0.1", 8787), ("127.0.0.1", 9000)}),
        own_ports=frozenset({8787}),
    )


def test_what_the_operator_names_is_allowed_at_that_port_alone() -> None:
    check("nas.home", 5000, "192.168.1.9")
    check("127.0.0.1", 9000, "127.0.0.1")
    check("a.example", 443, "93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946")

    with pytest.raises(ToolError) as caught:
        check("nas.home", 5001, "192.168.1.9")
    assert str(caught.value) == (
        "the address 192.168.1.9 of 'nas.home' is private; "
        "the operator may add it to http.allow_private as 'nas.home:5001'"
    )


def test_one_private_address_among_public_ones_spoils_them_all() -> None:
    with pytest.raises(ToolError, match=r"^the address 127\.0\.0\.1 of 'a\.example' is private") as caught:
        check("a.example", 443, "93.184.216.34", "127.0.0.1")

    assert caught.value.code is Code.ADDRESS_NOT_ALLOWED


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::", "::1", "::ffff:127.0.0.1"])
def test_ias_itself_is_never_reached_even_if_the_operator_names_it(address: str) -> None:
    with pytest.raises(ToolError) as caught:
        check("127.0.0.1", 8787, address)

    assert str(caught.value) == f"'127.0.0.1' is ias itself ({address}, port 8787); no tool may call it"


def test_an_address_of_this_machine_is_local_whatever_network_it_is_in() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("127.0.0.1", 9))
        own = probe.getsockname()[0]

    assert (
        is_local(own),
        is_local("127.0.0.1"),
        is_local("::"),
        is_local("93.184.216.34"),
        is_local("2400:3200::1"),
    ) == (
        True,
        True,
        True,
        False,
        False,
    )


def test_an_endpoint_is_a_host_and_a_port() -> None:
    assert [parse_endpoint(text) for text in ("NAS.home.:5000", "[::1]:80", "127.0.0.1:1")] == [
        ("nas.home", 5000),
        ("::1", 80),
        ("127.0.0.1", 1),
    ]


@pytest.mark.parametrize(
    "text", ["nas.home", "nas.home:", "nas.home:0", "nas.home:65536", "nas.home:x", "127.1:80", ":80"]
)
def test_anything_else_is_no_endpoint(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be a host and a port|no plain IPv4|has no host"):
        parse_endpoint(text)
